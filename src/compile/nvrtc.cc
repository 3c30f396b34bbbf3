// SPDX-License-Identifier: Apache-2.0
#include "compile/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "base/dynamic_library.h"
#include "base/environment.h"
#include "compile/nvrtc_helpers.h"
#include "compile/process.h"

namespace wt::compile {
namespace {

using Program = void*;

// The part of NVRTC's interface that is used, bound by name: no CUDA header is needed to build this library.
struct Nvrtc {
  explicit Nvrtc(DynamicLibrary&& loaded) : library(std::move(loaded)) {}
  DynamicLibrary library;
  int major = 0, minor = 0;
  std::string file;  // the real one, whose name tells patch releases apart
  std::vector<int> architectures;

  const char* (*error_string)(int) = nullptr;
  int (*version)(int*, int*) = nullptr;
  int (*architecture_count)(int*) = nullptr;
  int (*architecture_list)(int*) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*ptx_size)(Program, size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
};

std::vector<std::string> library_names() {
  const std::string asked = environment("WAVETILE_NVRTC");
  std::error_code error;
  if (!asked.empty() && std::filesystem::is_directory(asked, error)) {
    return {asked + "/libnvrtc.so.13", asked + "/libnvrtc.so.12"};
  }
  if (!asked.empty()) return {asked};
  std::vector<std::string> names;
  Dl_info own{};
  if (dladdr(reinterpret_cast<void*>(&nvrtc_of_wheels), &own) != 0 && own.dli_fname) {
    names = nvrtc_of_wheels(std::filesystem::absolute(own.dli_fname, error).parent_path().parent_path());
  }
  const std::string toolkit = "/usr/local/cuda/lib64/";
  names.insert(names.end(),
               {"libnvrtc.so.13", toolkit + "libnvrtc.so.13", "libnvrtc.so.12", toolkit + "libnvrtc.so.12"});
  return names;
}

Status check(const Nvrtc& nvrtc, int code, const char* call) {
  if (code == 0) return {};
  return failure(Code::kCompile, "{} of {} failed: {}", call, nvrtc.library.path(), nvrtc.error_string(code));
}

Status bind(Nvrtc& nvrtc) {
  const DynamicLibrary& library = nvrtc.library;
  WT_TRY(library.bind(nvrtc.error_string, "nvrtcGetErrorString"));
  WT_TRY(library.bind(nvrtc.version, "nvrtcVersion"));
  WT_TRY(library.bind(nvrtc.architecture_count, "nvrtcGetNumSupportedArchs"));
  WT_TRY(library.bind(nvrtc.architecture_list, "nvrtcGetSupportedArchs"));
  WT_TRY(library.bind(nvrtc.create, "nvrtcCreateProgram"));
  WT_TRY(library.bind(nvrtc.destroy, "nvrtcDestroyProgram"));
  WT_TRY(library.bind(nvrtc.compile, "nvrtcCompileProgram"));
  WT_TRY(library.bind(nvrtc.log_size, "nvrtcGetProgramLogSize"));
  WT_TRY(library.bind(nvrtc.log, "nvrtcGetProgramLog"));
  WT_TRY(library.bind(nvrtc.cubin_size, "nvrtcGetCUBINSize"));
  WT_TRY(library.bind(nvrtc.cubin, "nvrtcGetCUBIN"));
  WT_TRY(library.bind(nvrtc.ptx_size, "nvrtcGetPTXSize"));
  WT_TRY(library.bind(nvrtc.ptx, "nvrtcGetPTX"));
  WT_TRY(check(nvrtc, nvrtc.version(&nvrtc.major, &nvrtc.minor), "nvrtcVersion"));
  int count = 0;
  WT_TRY(check(nvrtc, nvrtc.architecture_count(&count), "nvrtcGetNumSupportedArchs"));
  nvrtc.architectures.resize(static_cast<size_t>(std::max(count, 0)));
  WT_TRY(check(nvrtc, nvrtc.architecture_list(nvrtc.architectures.data()), "nvrtcGetSupportedArchs"));
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(nvrtc.version), &info) != 0 && info.dli_fname) {
    std::error_code error;
    nvrtc.file = std::filesystem::canonical(info.dli_fname, error).string();
  }
  return {};
}

Result<const Nvrtc*> load() {
  static std::mutex mutex;
  // WHY: kept until the process ends, and never unloaded: NVRTC's own threads and destructors may outlive us.
  static auto& loaded = *new std::map<std::string, std::unique_ptr<const Nvrtc>>;
  const std::lock_guard lock(mutex);
  const std::string asked = environment("WAVETILE_NVRTC");
  if (const auto found = loaded.find(asked); found != loaded.end()) return found->second.get();
  Result<DynamicLibrary> library = DynamicLibrary::open(library_names());
  if (!library.ok()) {
    return failure(Code::kCompile,
                   "NVRTC, which compiles kernels for NVIDIA GPUs, was not found: {}; install the CUDA toolkit's NVRTC "
                   "(12 or 13), set WAVETILE_NVRTC to libnvrtc or its folder, or use a kernel pack",
                   library.status().message());
  }
  auto nvrtc = std::make_unique<Nvrtc>(std::move(*library));
  if (Status status = bind(*nvrtc); !status.ok()) return Status(Code::kCompile, status.message());
  return (loaded[asked] = std::move(nvrtc)).get();
}

// "sm_90a" -> 90
int architecture_number(Target target) {
  const std::string name = architecture_of(target);
  int number = 0;
  for (const char letter : name) {
    if (letter >= '0' && letter <= '9') number = number * 10 + (letter - '0');
  }
  return number;
}

// The number that stands right before the first `unit` in `text`.
int number_before(std::string_view text, std::string_view unit) {
  const size_t end = text.find(unit);
  if (end == std::string_view::npos) return kUnknown;
  size_t begin = end;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  int value = kUnknown;
  std::from_chars(text.data() + begin, text.data() + end, value);
  return value;
}

class ProgramOwner {
 public:
  explicit ProgramOwner(const Nvrtc& nvrtc) : nvrtc_(nvrtc) {}
  ProgramOwner(const ProgramOwner&) = delete;
  ProgramOwner& operator=(const ProgramOwner&) = delete;
  ~ProgramOwner() {
    if (program) nvrtc_.destroy(&program);
  }
  Program program = nullptr;

 private:
  const Nvrtc& nvrtc_;
};

std::string read_log(const Nvrtc& nvrtc, Program program) {
  size_t size = 0;
  if (nvrtc.log_size(program, &size) != 0 || size <= 1) return {};
  std::string log(size, '\0');
  if (nvrtc.log(program, log.data()) != 0) return {};
  while (!log.empty() && log.back() == '\0') log.pop_back();
  return log;
}

// Compiles into `owner`; the log, or as a failure what is wrong with the source.
Result<std::string> build(const Nvrtc& nvrtc, const std::vector<std::string>& options, const Source& source,
                          const HeaderSet& headers, ProgramOwner& owner) {
  std::vector<const char*> names, texts, flags;
  for (const Header& header : headers.headers) {
    names.push_back(header.name.c_str());
    texts.push_back(header.text.c_str());
  }
  for (const std::string& flag : options) flags.push_back(flag.c_str());
  WT_TRY(check(nvrtc,
               nvrtc.create(&owner.program, source.text.c_str(), (source.name + ".cu").c_str(),
                            static_cast<int>(names.size()), texts.data(), names.data()),
               "nvrtcCreateProgram"));
  const int code = nvrtc.compile(owner.program, static_cast<int>(flags.size()), flags.data());
  std::string log = read_log(nvrtc, owner.program);
  if (code != 0) return failure(Code::kCompile, "{}\n{}", nvrtc.error_string(code), log);
  return log;
}

}  // namespace

std::vector<std::string> nvrtc_of_wheels(const std::filesystem::path& site_packages) {
  std::vector<std::string> found;
  for (const char* file : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
    std::vector<std::string> same;
    std::error_code error;
    for (const auto& package : std::filesystem::directory_iterator(site_packages / "nvidia", error)) {
      const std::filesystem::path library = package.path() / "lib" / file;
      if (std::filesystem::exists(library, error)) same.push_back(library.string());
    }
    std::sort(same.begin(), same.end());
    found.insert(found.end(), same.begin(), same.end());
  }
  return found;
}

Result<Toolchain> nvrtc_toolchain(Target target) {
  WT_TRY_ASSIGN(const Nvrtc* nvrtc, load());
  const std::string version = fmt::format("NVRTC {}.{}", nvrtc->major, nvrtc->minor);
  const auto& known = nvrtc->architectures;
  if (std::find(known.begin(), known.end(), architecture_number(target)) == known.end()) {
    return failure(Code::kCompile, "{} ({}) does not know {}; its newest is sm_{}. Install a newer NVRTC", version,
                   nvrtc->library.path(), architecture_of(target), known.empty() ? 0 : known.back());
  }
  Toolchain toolchain;
  toolchain.program = nvrtc->library.path();
  const std::string file_name = std::filesystem::path(nvrtc->file).filename().string();
  toolchain.version = file_name.empty() ? version : version + " (" + file_name + ")";
  // WHY -default-device: headers shared with the host have constexpr functions without annotations.
  toolchain.flags = {std::string("--gpu-architecture=") + architecture_of(target), "-std=c++20", "-default-device",
                     "--ptxas-options=-v"};
  append_flags(toolchain.flags, "WAVETILE_NVRTC_FLAGS");
  return toolchain;
}

Result<Product> nvrtc_build(const Toolchain& toolchain, const Source& source, const HeaderSet& headers) {
  WT_TRY_ASSIGN(const Nvrtc* nvrtc, load());
  CompileSlot slot(nvrtc->file.empty() ? nvrtc->library.path() : nvrtc->file);
  WT_TRY_ASSIGN(Product product, slot.is_here() ? nvrtc_build_here(toolchain.flags, source, headers)
                                                : slot.build(toolchain.flags, source, headers));
  product.resources = ptxas_resources(product.log, source.name);
  return product;
}

Result<Product> nvrtc_build_here(const std::vector<std::string>& flags, const Source& source,
                                 const HeaderSet& headers) {
  WT_TRY_ASSIGN(const Nvrtc* nvrtc, load());
  ProgramOwner owner(*nvrtc);
  Product product;
  WT_TRY_ASSIGN(product.log, build(*nvrtc, flags, source, headers, owner));
  size_t size = 0;
  WT_TRY(check(*nvrtc, nvrtc->cubin_size(owner.program, &size), "nvrtcGetCUBINSize"));
  product.image.resize(size);
  WT_TRY(check(*nvrtc, nvrtc->cubin(owner.program, product.image.data()), "nvrtcGetCUBIN"));
  return product;
}

Result<std::string> nvrtc_assembly(const Source& source) {
  WT_TRY_ASSIGN(const Nvrtc* nvrtc, load());
  WT_TRY_ASSIGN(Toolchain toolchain, nvrtc_toolchain(source.target));
  WT_TRY_ASSIGN(const HeaderSet headers, headers_for(source.text));
  // PTX is made for a virtual architecture: sm_90a becomes compute_90a.
  toolchain.flags.front().replace(toolchain.flags.front().find("sm_"), 3, "compute_");
  ProgramOwner owner(*nvrtc);
  WT_TRY_ASSIGN(const std::string log, build(*nvrtc, toolchain.flags, source, headers, owner));
  size_t size = 0;
  WT_TRY(check(*nvrtc, nvrtc->ptx_size(owner.program, &size), "nvrtcGetPTXSize"));
  std::string text(size, '\0');
  WT_TRY(check(*nvrtc, nvrtc->ptx(owner.program, text.data()), "nvrtcGetPTX"));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

Result<int> nvrtc_version() {
  WT_TRY_ASSIGN(const Nvrtc* nvrtc, load());
  return nvrtc->major * 1000 + nvrtc->minor * 10;
}

Status check_driver_understands(int nvrtc_version, int driver_version) {
  const auto text = [](int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); };
  if (driver_version <= 0) {
    return failure(Code::kDevice, "kernels compiled by NVRTC {} need an NVIDIA driver and none is installed",
                   text(nvrtc_version));
  }
  if (nvrtc_version / 1000 <= driver_version / 1000) return {};
  return failure(Code::kDevice,
                 "NVRTC {} makes kernels that this driver, which knows CUDA {}, cannot load; install a driver for CUDA "
                 "{} or set WAVETILE_NVRTC to an NVRTC of CUDA {}",
                 text(nvrtc_version), text(driver_version), nvrtc_version / 1000, driver_version / 1000);
}

Resources ptxas_resources(std::string_view log, const std::string& name) {
  Resources resources;
  const std::string heading = "Function properties for " + name + "\n";
  const size_t at = log.find(heading);
  if (at == std::string_view::npos) return resources;
  std::string_view report = log.substr(at + heading.size());
  report = report.substr(0, report.find("Compiling entry function"));
  resources.stack_bytes = number_before(report, " bytes stack frame");
  const int stores = number_before(report, " bytes spill stores"), loads = number_before(report, " bytes spill loads");
  if (stores != kUnknown && loads != kUnknown) resources.spill_bytes = stores + loads;
  resources.registers = number_before(report, " registers");
  if (resources.registers != kUnknown) {
    resources.static_shared_bytes = std::max(0, number_before(report, " bytes smem"));  // left out where it is 0
  }
  return resources;
}

}  // namespace wt::compile
