// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn.h"

#include <cstdlib>

#include "base/dynamic_library.h"
#include "base/environment.h"
#include "base/installed_file.h"
#include "base/log.h"

namespace wt::cpu {

namespace {

constexpr const char* kFile = "libwavetile_onednn.so";
constexpr const char* kRemedy =
    "install oneDNN (Debian and Ubuntu: libdnnl2 to run, libdnnl-dev to build the plug-in) and build wavetile again, "
    "or "
    "set WAVETILE_ONEDNN_PROVIDER to libwavetile_onednn.so; the built-in path is used instead";

Status check_version(const WavetileOnednnProvider* provider, const std::string& path) {
  if (!provider) return failure(Code::kDevice, "{} gave no provider", path);
  if (provider->abi_version != WAVETILE_ONEDNN_ABI_VERSION || provider->struct_size != sizeof(WavetileOnednnProvider))
    return failure(Code::kDevice, "{} has interface version {} ({} bytes), this library needs version {} ({} bytes)",
                   path, provider->abi_version, provider->struct_size, WAVETILE_ONEDNN_ABI_VERSION,
                   sizeof(WavetileOnednnProvider));
  return {};
}

}  // namespace

std::vector<std::string> onednn_search_path() {
  if (const char* asked = environment_or_null("WAVETILE_ONEDNN_PROVIDER"); asked && *asked) return {asked};
  return installed_file(kFile);
}

Result<OnednnPlugin> load_onednn(const std::vector<std::string>& paths) {
  if (paths.empty()) return failure(Code::kDevice, "oneDNN provider {} not found: {}", kFile, kRemedy);
  std::string answers;
  for (const std::string& path : paths) {
    Result<DynamicLibrary> library = DynamicLibrary::open({path});
    Status status = library.status();
    if (library.ok()) {
      WavetileOnednnEntry entry = reinterpret_cast<WavetileOnednnEntry>(library->find(WAVETILE_ONEDNN_ENTRY));
      const WavetileOnednnProvider* provider = entry ? entry() : nullptr;
      status = entry ? check_version(provider, path)
                     : failure(Code::kDevice, "{} has no symbol {}", path, WAVETILE_ONEDNN_ENTRY);
      if (status.ok()) {
        // Kept open for good, see the header; and in reach, so that a leak checker can tell.
        static std::vector<DynamicLibrary>& kept = *new std::vector<DynamicLibrary>;
        kept.push_back(std::move(*library));
        return OnednnPlugin{provider, path, ""};
      }
    }
    answers += (answers.empty() ? "" : "; ") + status.message();
  }
  return failure(Code::kDevice, "oneDNN provider could not be loaded ({}): {}", answers, kRemedy);
}

const OnednnPlugin& onednn_plugin() {
  static const OnednnPlugin plugin = [] {
    Result<OnednnPlugin> loaded = load_onednn(onednn_search_path());
    if (loaded.ok()) return *loaded;
    log::warn("{}", loaded.status().message());
    return OnednnPlugin{nullptr, "", loaded.status().message()};
  }();
  return plugin;
}

}  // namespace wt::cpu
