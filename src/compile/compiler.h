// SPDX-License-Identifier: Apache-2.0
// compile/compiler.h - source text to a loadable module, whatever the compiler, through the disk cache.
//
//   Source --compile()--> cache.h: hit, or nvrtc.h / host_compiler.h / clang.h --> Module
//
// All functions may be called from several threads; those that want the same kernel share one compilation (flights.h).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "config/kernel_config.h"

namespace wt::compile {

enum class Backend : unsigned char {
  kNvrtc,  // cubin for an NVIDIA target
  kHost,   // shared object for the simulator
  kClang,  // code object for an AMD target
};

struct Source {
  std::string name;  // of the one entry
  std::string text;  // includes headers of src/kernel and src/target by their path below src/
  Target target;
};

inline constexpr int kUnknown = -1;

// What the compiler says of the entry; kUnknown where it says nothing (the host compiler says nothing of registers).
struct Resources {
  int registers = kUnknown;              // a thread; AMD: vector registers, accumulation registers included
  int scalar_registers = kUnknown;       // a wave; AMD only
  int accumulator_registers = kUnknown;  // of `registers`; AMD only
  int spill_bytes = kUnknown;            // a thread, stores plus loads (AMD: registers spilled times 4)
  int stack_bytes = kUnknown;            // a thread, local arrays and spilled values
  int static_shared_bytes = kUnknown;    // a block
  double compile_seconds = 0;            // when it was compiled, not when it was found in the cache

  bool operator==(const Resources&) const = default;
};

struct Module {
  Backend backend = Backend::kNvrtc;
  Target target = Target::kSm80;
  std::string name;
  std::string image;     // cubin, shared object or code object, as bytes
  std::string path;      // of the cache entry; empty where the cache is off. Load shared objects with open_host_module.
  std::string key;       // content key: source, headers, target, compiler version, flags
  std::string compiler;  // name and version
  Resources resources;
  std::string log;
  bool from_cache = false;
};

const char* name_of(Backend backend);        // nvrtc, host, clang
std::string architecture_of(Target target);  // as compilers spell it: sm_90a, gfx942

// The backend that makes modules for `target` on a real device; the simulator asks for kHost itself.
Backend backend_of(Target target);

// Whether `backend` can compile for `target` here and now; the failure says what is missing and how to get it.
Status available(Backend backend, Target target);

// Name and version of the compiler, e.g. "NVRTC 13.0".
Result<std::string> compiler_version(Backend backend);

// A refused source comes back as Code::kCompile with the kernel's name, the path of its source and the compiler's log.
Result<Module> compile(Backend backend, const Source& source);

// The content key that compile() gives the module of `source`; compiles nothing.
Result<std::string> content_key(Backend backend, const Source& source);

// Whether compile() would find the module of `source` in the cache.
bool is_cached(Backend backend, const Source& source);

// To be called where `module` came from the cache and cannot be loaded: its entry is removed as damaged.
void forget(const Module& module, const Status& why);

// Compiles `source` into `module` and gives what `load(module)` does. Where a module of the cache cannot be loaded, it
// counts as damaged and is compiled again, once.
template <class Load>
auto compile_and_load(Backend backend, const Source& source, Module& module, const Load& load)
    -> decltype(load(module)) {
  WT_TRY_ASSIGN(module, compile(backend, source));
  auto loaded = load(module);
  if (loaded.ok() || !module.from_cache) return loaded;
  forget(module, loaded.status());
  WT_TRY_ASSIGN(module, compile(backend, source));
  return load(module);
}

// Called after each source, one call at a time: how many are done, and what became of this one.
using CompileProgress = std::function<void(size_t done, const Source& source, const Result<Module>& result)>;

// All of `sources`, on hardware_threads() threads, for NVRTC with as many processes (nvrtc_helpers.h). Results are in
// the order of the sources; one failure does not stop the others.
std::vector<Result<Module>> compile_all(Backend backend, std::span<const Source> sources,
                                        const CompileProgress& progress = {});

}  // namespace wt::compile
