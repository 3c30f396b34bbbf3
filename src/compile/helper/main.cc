// SPDX-License-Identifier: Apache-2.0
// compile/helper/main.cc - wavetile-compile: NVRTC in a process of its own, for compile/nvrtc_helpers.h.
//
//   standard input, a socket: request --nvrtc_build_here--> answer, until the other end closes
//
// WAVETILE_NVRTC names the very library that the parent has loaded.
#include <unistd.h>

#include <cstdio>

#include "compile/nvrtc_helpers.h"

int main() {
  using namespace wt::compile;
  // WHY: files that the parent's program left open to children, a listening socket say, must not live on in here.
  for (int file = 3; file < 4096; ++file) ::close(file);
  if (const wt::Status status = serve_compilations(STDIN_FILENO); !status.ok()) {
    std::fprintf(
        stderr,
        "wavetile-compile: %s\nlibwavetile starts this program to compile kernels beside its own process; it is "
        "not for the command line\n",
        status.message().c_str());
    return 2;
  }
  // WHY: NVRTC's destructors have nothing to do that the end of the process does not.
  ::_exit(0);
}
