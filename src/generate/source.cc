// SPDX-License-Identifier: Apache-2.0
#include "generate/source.h"

#include "base/version.h"
#include "config/constraints.h"
#include "config/fields.h"
#include "config/kernels.h"

namespace wt {

Result<std::string> generate_source(const KernelConfig& config) {
  const KernelKind* kind = kind_of(config);
  if (!kind) {
    const Decline decline = no_kernel(config);
    return unsupported("{}: {}", decline.id, decline.message);
  }
  return fmt::format(
      "// SPDX-License-Identifier: Apache-2.0\n"
      "// Wavetile {}: {}\n"
      "#include \"{}\"\n"
      "\n"
      "WT_KERNEL({},\n"
      "          {}<wt::KernelConfig{}>)\n",
      kVersion, instance_string(config), kind->header, name_of(config), kind->class_name,
      initializer_of(config, "\n              "));
}

}  // namespace wt
