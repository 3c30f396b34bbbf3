// SPDX-License-Identifier: Apache-2.0
#include "generate/source.h"

#include "config/fields.h"
#include "config/user_text.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/kind.h"

namespace wt {
Result<std::string> generate_source(const KernelConfig& config) {
  const KernelKind* kind = kind_of(config);
  if (!kind) {
    const Decline decline = no_kernel(config);
    return unsupported("{}: {}", decline.id, decline.message);
  }
  const std::string name = name_of(config), config_text = initializer_of(config, "\n              ");
  WT_TRY_ASSIGN(const std::string user, user_section(config.epilogue, output_type(config)));
  std::string text = fmt::format(
      "// SPDX-License-Identifier: Apache-2.0\n"
      "// {}\n"
      "{}#include \"{}\"\n"
      "\n"
      "WT_KERNEL({},\n"
      "          {}<wt::KernelConfig{}>)\n",
      instance_string(config), user, kind->header, name, kind->class_name, config_text);
  if (!kind->entries) return text;
  for (const LaunchEntry& entry : kind->entries(config)) {
    text += entry.of_config ? fmt::format("WT_KERNEL({}{},\n          {}<wt::KernelConfig{}>)\n", name, entry.suffix,
                                          entry.type, config_text)
                            : fmt::format("WT_KERNEL({}{}, {})\n", name, entry.suffix, entry.type);
  }
  return text;
}

}  // namespace wt
