// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan/kernel.h"

#include <array>
#include <cstring>

#include "base/check.h"
#include "base/log.h"
#include "compile/compiler.h"
#include "config/fields.h"
#include "dispatch/choice/packs.h"
#include "dispatch/choice/split_facts.h"
#include "dispatch/plan/filled_params.h"
#include "generate/source.h"
#include "kernels/kind.h"
#include "kernels/shared/split.h"

namespace wt {
namespace {

constexpr size_t kMaxParams = 4096;

const char* role_name(Tensor tensor) {
  constexpr std::array<const char*, kTensorCount> kNames = {
      "x",           "w",         "y",    "scale", "bias", "residual", "amax",     "bias_gradient", "history",
      "new_history", "workspace", "aux0", "aux1",  "aux2", "aux3",     "x_scales", "w_scales"};
  return kNames[static_cast<size_t>(tensor)];
}

// "pack FILE", or the library of an exported tree.
std::string pack_text(const std::string& file) { return (file.ends_with(".so") ? "library " : "pack ") + file; }

class KernelPlan final : public Plan {
 public:
  KernelPlan(std::shared_ptr<Device> device, ConvProblem problem, PlanDescription description, Binding binding)
      : device_(std::move(device)),
        problem_(std::move(problem)),
        description_(std::move(description)),
        binding_(std::move(binding)) {}

  // Finds the launches' entries in `module`, which the plan keeps.
  Status attach(std::shared_ptr<LoadedModule> module) {
    module_ = std::move(module);
    const char* replay = replay_text(fmt::format("wavetile run --device {} --kernel {} '{}'", device_->info().id,
                                                 description_.kernel, to_text(problem_)));
    for (Launch& launch : binding_.launches) {
      WT_CHECK(launch.params.size() <= kMaxParams, "{} bytes of parameters", launch.params.size());
      launch.shape.replay = replay;
      WT_TRY_ASSIGN(const Function* function, module_->find(launch.kernel));
      functions_.push_back(function);
      filled_.push_back(std::make_unique<FilledParams>(launch.params.size()));
    }
    return {};
  }

  const ConvProblem& problem() const override { return problem_; }
  const PlanDescription& description() const override { return description_; }
  int64_t workspace_bytes() const override { return binding_.workspace_bytes; }

  Status execute(const TensorPointers& tensors, Stream stream) const override {
    for (size_t i = 0; i < binding_.launches.size(); ++i) {
      WT_TRY(send(binding_.launches[i], *functions_[i], *filled_[i], tensors, stream));
    }
    return {};
  }

 private:
  Status send(const Launch& launch, const Function& function, FilledParams& filled, const TensorPointers& tensors,
              Stream stream) const {
    alignas(64) std::array<std::byte, kMaxParams> params;
    if (!filled.recall(tensors, params.data())) {
      WT_TRY(fill(launch, tensors, params.data()));
      filled.remember(tensors, params.data());
    }
    for (const Launch::Zero& zero : launch.zeros) {
      WT_TRY(require(tensors, zero.tensor));
      WT_TRY(device_->fill(static_cast<char*>(tensors[zero.tensor]) + zero.byte_offset, 0, zero.bytes, stream));
    }
    return device_->launch(function, launch.shape, {params.data(), launch.params.size()}, stream);
  }

  Status fill(const Launch& launch, const TensorPointers& tensors, std::byte* params) const {
    std::memcpy(params, launch.params.data(), launch.params.size());
    for (const Launch::Pointer& pointer : launch.pointers) {
      WT_TRY(require(tensors, pointer.tensor));
      const char* address = static_cast<const char*>(tensors[pointer.tensor]) + pointer.byte_offset;
      std::memcpy(params + pointer.offset, &address, sizeof address);
    }
    for (const Launch::Map& map : launch.maps) {
      WT_TRY(require(tensors, map.tensor));
      WT_TRY(device_->encode_map(map.spec, static_cast<char*>(tensors[map.tensor]) + map.byte_offset,
                                 params + map.offset));
    }
    return {};
  }

  Status require(const TensorPointers& tensors, Tensor tensor) const {
    if (tensors[tensor]) return {};
    return bad_input("execute needs the tensor '{}' for {}, but its pointer is null", role_name(tensor),
                     to_text(problem_));
  }

  std::shared_ptr<Device> device_;
  ConvProblem problem_;
  PlanDescription description_;
  Binding binding_;
  std::shared_ptr<LoadedModule> module_;
  std::vector<const Function*> functions_;
  std::vector<std::unique_ptr<FilledParams>> filled_;  // of each launch
};

Result<std::shared_ptr<const Plan>> plan_with(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                              const KernelConfig& config, const compile::Module& module,
                                              PlanDescription description, Binding binding) {
  description.kernel = name_of(config);
  description.finite_only = config.finite_only;
  description.registers = module.resources.registers;
  description.spill_bytes = module.resources.spill_bytes;
  description.compile_seconds = module.resources.compile_seconds;
  description.from_cache = module.from_cache;
  description.launches = static_cast<int>(binding.launches.size());
  log::info("plan for '{}' on {}: {} ({})", to_text(problem), device->info().id, description.kernel,
            description.reason);

  auto plan = std::make_shared<KernelPlan>(device, problem, std::move(description), std::move(binding));
  Result<std::shared_ptr<LoadedModule>> loaded = device->load(module);
  if (!loaded.ok() && module.from_cache) {
    compile::forget(module, loaded.status());
    std::string pack;
    WT_TRY_ASSIGN(const compile::Module again, module_for(device->info(), config, pack));
    loaded = device->load(again);
  }
  WT_TRY(loaded.status());
  WT_TRY(plan->attach(std::move(*loaded)));
  return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace

Result<compile::Module> module_for(const DeviceInfo& device, const KernelConfig& config, std::string& pack,
                                   const Registry* own) {
  const std::string name = name_of(config);
  if (own && own->contains(name)) {
    WT_TRY_ASSIGN(const RegisteredKernel* kernel, own->find(name));
    if (kernel->providers.front().origin != Origin::kGenerated) pack = kernel->providers.front().detail;
    return own->module(*kernel);
  }
  WT_TRY_ASSIGN(const std::shared_ptr<const Registry> packs, installed_packs(device));
  if (packs && packs->contains(name)) {
    WT_TRY_ASSIGN(const RegisteredKernel* kernel, packs->find(name));
    pack = kernel->providers.front().detail;
    return packs->module(*kernel);
  }
  WT_TRY_ASSIGN(std::string source, generate_source(config));
  return compile::compile(backend_for(device), {name, std::move(source), config.target});
}

bool is_compiled(const DeviceInfo& device, const KernelConfig& config) {
  const std::string name = name_of(config);
  const Result<std::shared_ptr<const Registry>> packs = installed_packs(device);
  if (packs.ok() && *packs && (*packs)->contains(name)) return true;
  Result<std::string> source = generate_source(config);
  return source.ok() && compile::is_cached(backend_for(device), {name, std::move(*source), config.target});
}

Result<std::shared_ptr<const Plan>> make_kernel_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                                     const KernelConfig& config, std::string reason,
                                                     const PlanTimes& times, int splits, const View* view,
                                                     const Registry* own) {
  PlanDescription description;
  description.reason = std::move(reason);
  description.predicted_us = times.predicted_us;
  description.measured_us = times.measured_us;
  WT_TRY_ASSIGN(const compile::Module module, module_for(device->info(), config, description.pack, own));
  if (!description.pack.empty()) description.reason += "; from " + pack_text(description.pack);
  const DeviceInfo& info = device->info();
  if (splits == kSplitsByOccupancy && config.gemm.split_k != SplitK::kNone) {
    const std::shared_ptr<const View> made = view ? nullptr : View::of(problem, rates_of(info));
    splits = parts_by_occupancy(config, view ? *view : *made, module.resources.registers);
    description.reason += fmt::format("; {} parts by occupancy", splits);
  }
  return plan_with(device, problem, config, module, std::move(description),
                   view ? bind(config, *view, info, splits) : bind(config, problem, info, splits));
}

Result<std::shared_ptr<const Plan>> make_kernel_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                                     const KernelConfig& config, const compile::Module& module,
                                                     std::string reason, Binding binding) {
  PlanDescription description;
  description.reason = std::move(reason);
  return plan_with(device, problem, config, module, std::move(description), std::move(binding));
}

Result<std::shared_ptr<const Plan>> make_kernel_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                                     const KernelConfig& config, const compile::Module& module,
                                                     std::string reason, int splits) {
  return make_kernel_plan(device, problem, config, module, std::move(reason),
                          bind(config, problem, device->info(), splits));
}

}  // namespace wt
