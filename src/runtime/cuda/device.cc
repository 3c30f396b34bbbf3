// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/device.cc - the Device interface over one CUDA context.
#include "runtime/cuda/device.h"

#include "runtime/cuda/context.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/tensor_map.h"
#include "runtime/gpu/device.h"
#include "runtime/gpu/driver.h"

namespace wt {
namespace cuda {
namespace {

class CudaDevice final : public gpu::DriverDevice<Context> {
 public:
  explicit CudaDevice(std::shared_ptr<const Context> context) : DriverDevice(std::move(context)) {}

  Result<std::shared_ptr<LoadedModule>> load(const compile::Module& module) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    const std::shared_ptr<void> shield = shield_captures();  // a plan may be made while another stream captures
    return CubinModule::load(context_, module);
  }

  Status launch(const Function& function, const LaunchShape& shape, std::span<const std::byte> params,
                Stream stream) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    return launch_kernel(*context_, gpu::unwrap<Context>(function), shape, params, stream);
  }

  Result<int64_t> resident_blocks(const Function& function, const LaunchShape& shape) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    return cuda::resident_blocks(*context_, gpu::unwrap<Context>(function), shape);
  }

  Status encode_map(const TensorMapSpec& spec, void* base, std::byte* map) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    return encode_tensor_map(*context_, spec, base, map);
  }
};

}  // namespace
}  // namespace cuda

struct CurrentContext::Impl {
  explicit Impl(const cuda::Context& context) : scope(context) {}
  cuda::Scope scope;
};

CurrentContext::CurrentContext(const Device& device) {
  WT_CHECK(device.info().kind == DeviceKind::kCuda, "{} has no CUDA context", device.info().id);
  impl_ = std::make_unique<Impl>(static_cast<const cuda::CudaDevice&>(device).context());
  status_ = impl_->scope.status();
}

CurrentContext::~CurrentContext() = default;

Result<std::shared_ptr<Device>> open_cuda_device(int index) {
  WT_TRY_ASSIGN(std::shared_ptr<cuda::Context> context, cuda::Context::retain(index));
  return std::shared_ptr<Device>(new cuda::CudaDevice(std::move(context)));
}

std::vector<DeviceInfo> list_cuda_devices(std::vector<std::string>* refused) {
  return gpu::list_gpus(cuda::load_driver(), cuda::describe_device, refused);
}

}  // namespace wt
