// SPDX-License-Identifier: Apache-2.0
#include "dispatch/trial/naive_kernel.h"

namespace wt {

compile::Source naive_source(Target target, const std::string& name, const char* header, const std::string& kernel) {
  return {
      name,
      fmt::format("// SPDX-License-Identifier: Apache-2.0\n#include \"kernels/naive/device/{}\"\n\nWT_KERNEL({}, {})\n",
                  header, name, kernel),
      target};
}

Result<NaiveKernel> NaiveKernel::make(Device& device, const compile::Source& source) {
  const compile::Backend backend =
      device.info().kind == DeviceKind::kSim ? compile::Backend::kHost : compile::backend_of(source.target);
  compile::Module module;
  NaiveKernel kernel;
  WT_TRY_ASSIGN(kernel.module_, compile::compile_and_load(backend, source, module,
                                                          [&](const compile::Module& m) { return device.load(m); }));
  WT_TRY_ASSIGN(kernel.function_, kernel.module_->find(source.name));
  return kernel;
}

}  // namespace wt
