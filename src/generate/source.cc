// SPDX-License-Identifier: Apache-2.0
#include "generate/source.h"

#include "config/constraints.h"
#include "config/fields.h"
#include "config/kernels.h"
#include "kernel/split_sum_arguments.h"

namespace wt {

Result<std::string> generate_source(const KernelConfig& config) {
  const KernelKind* kind = kind_of(config);
  if (!kind) {
    const Decline decline = no_kernel(config);
    return unsupported("{}: {}", decline.id, decline.message);
  }
  const std::string name = name_of(config), config_text = initializer_of(config, "\n              ");
  std::string text = fmt::format(
      "// SPDX-License-Identifier: Apache-2.0\n"
      "// {}\n"
      "#include \"{}\"\n"
      "\n"
      "WT_KERNEL({},\n"
      "          {}<wt::KernelConfig{}>)\n",
      instance_string(config), kind->header, name, kind->class_name, config_text);
  if (config.gemm.split_k == SplitK::kWorkspace) {
    text +=
        fmt::format("WT_KERNEL({}{},\n          wt::SplitSum<wt::KernelConfig{}>)\n", name, kSumSuffix, config_text);
  }
  return text;
}

}  // namespace wt
