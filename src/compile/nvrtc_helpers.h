// SPDX-License-Identifier: Apache-2.0
// compile/nvrtc_helpers.h - NVRTC in several processes at once.
//
//   a thread that compiles --CompileSlot--> this process, one thread at a time
//                                      \--> a helper process (wavetile-compile) --socket--> image and log
//
// WHY processes: NVRTC holds a lock over a part of every compilation, so threads of one process keep only a few cores
// busy (docs/packs.md has figures). A compilation that is alone stays in this process and starts nothing. Helpers are
// started when a second thread compiles, at most one for each further core, and end when no thread compiles any more:
// a program that uses the library has no children of ours between compilations.
//
// WAVETILE_COMPILE_HELPER names the helper; "none" compiles by threads of this process, as does a helper that is not
// installed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compile/toolchain.h"

namespace wt::compile {

class Helper;

// Where one compilation runs, held while it does. Waits until there is room.
class CompileSlot {
 public:
  // `library`: the path of the NVRTC that is loaded here, which a helper must load too.
  explicit CompileSlot(const std::string& library);
  ~CompileSlot();
  CompileSlot(const CompileSlot&) = delete;
  CompileSlot& operator=(const CompileSlot&) = delete;

  bool is_here() const { return !helper_; }

  // In the helper; its resources are not filled in.
  Result<Product> build(const std::vector<std::string>& flags, const Source& source, const HeaderSet& headers);

 private:
  std::unique_ptr<Helper> helper_;
  bool alone_ = false;   // here, and no other thread may be
  bool healthy_ = true;  // the helper may be used again
};

int helpers_started();  // by this process so far

// The helper's side: announces itself, then compiles what it is sent until the other end closes.
Status serve_compilations(int socket);

}  // namespace wt::compile
