// SPDX-License-Identifier: Apache-2.0
#include "base/installed_file.h"

#include <dlfcn.h>

#include <filesystem>

namespace wt {

std::vector<std::string> installed_file(const std::string& name) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  const auto add = [&](const fs::path& folder) {
    std::error_code error;
    const fs::path file = (folder / name).lexically_normal();
    if (fs::exists(file, error)) paths.push_back(file.string());
  };
  const auto add_around = [&](const fs::path& folder) {
    add(folder);
    add(folder / "wavetile");
    for (const char* above : {"..", "../.."}) add(folder / above / "lib" / "wavetile");
  };
  Dl_info own;
  std::error_code error;
  if (dladdr(reinterpret_cast<void*>(&installed_file), &own) && own.dli_fname)
    if (const fs::path file = fs::canonical(own.dli_fname, error); !error) add_around(file.parent_path());
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error) add_around(program.parent_path());
#ifdef WAVETILE_PLUGIN_FOLDER
  add(WAVETILE_PLUGIN_FOLDER);
#endif
  return paths;
}

}  // namespace wt
