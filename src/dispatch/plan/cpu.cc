// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan/cpu.h"

#include "runtime/cpu/provider.h"

namespace wt {

namespace {

class CpuPlan final : public Plan {
 public:
  CpuPlan(std::shared_ptr<Device> device, std::shared_ptr<const CpuConvolution> convolution)
      : device_(std::move(device)), convolution_(std::move(convolution)) {
    description_.kernel = cpu_path_name(*convolution_);
    description_.reason = convolution_->reason();
  }

  const ConvProblem& problem() const override { return convolution_->problem(); }
  const PlanDescription& description() const override { return description_; }
  int64_t workspace_bytes() const override { return convolution_->workspace_bytes(); }
  Status execute(const TensorPointers& tensors, Stream) const override {
    return convolution_->execute(tensors.at, tensors[Tensor::kWorkspace]);
  }

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<const CpuConvolution> convolution_;
  PlanDescription description_;
};

Result<CpuPath> parse_path(const std::string& kernel) {
  if (kernel.empty()) return CpuPath::kAuto;
  // Both the word and the name that a description shows.
  if (kernel == "onednn" || kernel == "cpu_onednn") return CpuPath::kOnednn;
  if (kernel == "builtin" || kernel.starts_with("cpu_builtin")) return CpuPath::kBuiltin;
  return bad_input("kernel '{}' is not one of the CPU's; use onednn or builtin, or leave it out", kernel);
}

}  // namespace

Result<std::shared_ptr<const CpuConvolution>> prepare_cpu_path(const ConvProblem& problem, const PlanOptions& options) {
  WT_TRY_ASSIGN(const CpuPath path, parse_path(options.kernel));
  return prepare_cpu(
      problem, {.path = path, .workspace_limit = options.workspace_limit, .batch_invariant = options.batch_invariant});
}

std::string cpu_path_name(const CpuConvolution& convolution) { return "cpu_" + convolution.path(); }

std::shared_ptr<const Plan> make_cpu_plan(std::shared_ptr<Device> device,
                                          std::shared_ptr<const CpuConvolution> convolution) {
  return std::make_shared<CpuPlan>(std::move(device), std::move(convolution));
}

}  // namespace wt
