// SPDX-License-Identifier: Apache-2.0
// compile/compiler.h - source text to a loadable module, whatever the compiler, through the disk cache.
//
//   Source --compile()--> cache.h: hit, or nvrtc.h / host_compiler.h / clang.h --> Module
#pragma once

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

// What the compiler says of the entry.
struct Resources {
  int registers = 0;      // a thread; 0: unknown (host)
  int spill_bytes = 0;    // a thread, loads plus stores
  int static_shared_bytes = 0;
  double compile_seconds = 0;  // when it was compiled, not when it was found in the cache
};

struct Module {
  Backend backend;
  Target target;
  std::string name;
  std::string image;  // cubin, shared object or code object, as bytes
  std::string path;   // of the cache entry that holds `image`, where there is one (dlopen needs it)
  std::string key;    // content key: source, headers, target, compiler version, flags
  Resources resources;
  std::string log;
  bool from_cache = false;
};

// The backend that makes modules for `target` on a real device; the simulator asks for kHost itself.
Backend backend_of(Target target);

// Whether `backend` can compile for `target` here and now; the failure says what is missing and how to get it.
Status available(Backend backend, Target target);

// Name and version of the compiler, e.g. "NVRTC 13.0".
Result<std::string> compiler_version(Backend backend);

Result<Module> compile(Backend backend, const Source& source);

}  // namespace wt::compile
