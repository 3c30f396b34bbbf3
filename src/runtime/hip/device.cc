// SPDX-License-Identifier: Apache-2.0
// runtime/hip/device.cc - the Device interface over one AMD GPU.
#include "runtime/hip/device.h"

#include "runtime/gpu/device.h"
#include "runtime/gpu/driver.h"
#include "runtime/hip/context.h"
#include "runtime/hip/module.h"

namespace wt {
namespace hip {
namespace {

class HipDevice final : public gpu::DriverDevice<Context> {
 public:
  explicit HipDevice(std::shared_ptr<const Context> context) : DriverDevice(std::move(context)) {}

  Result<std::shared_ptr<LoadedModule>> load(const compile::Module& module) override {
    const Scope scope(*context_);
    WT_TRY(scope.status());
    const std::shared_ptr<void> shield = shield_captures();  // a plan may be made while another stream captures
    return CodeObjectModule::load(context_, module);
  }

  Status launch(const Function& function, const LaunchShape& shape, std::span<const std::byte> params,
                Stream stream) override {
    const Scope scope(*context_);
    WT_TRY(scope.status());
    return launch_kernel(*context_, gpu::unwrap<Context>(function), shape, params, stream);
  }

  Result<int64_t> resident_blocks(const Function& function, const LaunchShape& shape) override {
    const Scope scope(*context_);
    WT_TRY(scope.status());
    return hip::resident_blocks(*context_, gpu::unwrap<Context>(function), shape);
  }

  Status encode_map(const TensorMapSpec&, void*, std::byte*) override {
    return unsupported("{} has no tensor maps; only NVIDIA GPUs since sm_90a do", info().id);
  }
};

}  // namespace
}  // namespace hip

Result<std::shared_ptr<Device>> open_hip_device(int index) {
  WT_TRY_ASSIGN(std::shared_ptr<hip::Context> context, hip::Context::open(index));
  return std::shared_ptr<Device>(new hip::HipDevice(std::move(context)));
}

std::vector<DeviceInfo> list_hip_devices(std::vector<std::string>* refused) {
  return gpu::list_gpus(hip::load_driver(), hip::describe_device, refused);
}

}  // namespace wt
