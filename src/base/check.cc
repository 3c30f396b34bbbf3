// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace wt {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  std::fprintf(stderr, "wavetile: internal error at %s:%d: %s%s%s\n", file, line, condition,
               message.empty() ? "" : ": ", message.c_str());
  std::abort();
}

}  // namespace wt
