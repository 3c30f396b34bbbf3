// SPDX-License-Identifier: Apache-2.0
#include "runtime/cudnn/library.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "base/environment.h"

namespace wt::cudnn {
namespace {

Status bind_all(Library& l) {
  const DynamicLibrary& file = l.file();
  WT_TRY(file.bind(l.create, "cudnnCreate"));
  WT_TRY(file.bind(l.destroy, "cudnnDestroy"));
  WT_TRY(file.bind(l.set_stream, "cudnnSetStream"));
  WT_TRY(file.bind(l.get_version, "cudnnGetVersion"));
  WT_TRY(file.bind(l.get_error_string, "cudnnGetErrorString"));
  WT_TRY(file.bind(l.get_last_error_string, "cudnnGetLastErrorString"));
  WT_TRY(file.bind(l.create_descriptor, "cudnnBackendCreateDescriptor"));
  WT_TRY(file.bind(l.destroy_descriptor, "cudnnBackendDestroyDescriptor"));
  WT_TRY(file.bind(l.set_attribute, "cudnnBackendSetAttribute"));
  WT_TRY(file.bind(l.get_attribute, "cudnnBackendGetAttribute"));
  WT_TRY(file.bind(l.finalize, "cudnnBackendFinalize"));
  return file.bind(l.execute, "cudnnBackendExecute");
}

}  // namespace

Status Library::check(int status, const char* call) const {
  if (status == 0) return {};
  char detail[512] = "";
  get_last_error_string(detail, sizeof detail);
  return failure(Code::kDevice, "{} failed: {}{}{}", call, get_error_string(status), *detail ? ": " : "", detail);
}

Result<const Library*> load() {
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::string, std::unique_ptr<Library>>;
  const char* named = environment_or_null("WAVETILE_CUDNN");
  constexpr const char* kFile = "libcudnn.so.9";
  std::string path = named && *named ? named : kFile;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) path = (std::filesystem::path(path) / kFile).string();
  const std::lock_guard lock(mutex);
  if (const auto found = loaded.find(path); found != loaded.end()) return found->second.get();
  Result<DynamicLibrary> file = DynamicLibrary::open({path});
  if (!file.ok()) {
    return unsupported(
        "no cuDNN 9 to compare with: {}; install it (the Python package nvidia-cudnn-cu13 holds it) and set "
        "WAVETILE_CUDNN to libcudnn.so.9 or its folder",
        file.status().message());
  }
  auto library = std::make_unique<Library>(std::move(*file));
  WT_TRY(bind_all(*library));
  library->version = library->get_version();
  if (library->version < 90000) {
    return unsupported("{} is cuDNN {}; a comparison needs version 9", library->path, library->version);
  }
  return (loaded[path] = std::move(library)).get();
}

}  // namespace wt::cudnn
