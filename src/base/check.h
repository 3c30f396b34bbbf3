// SPDX-License-Identifier: Apache-2.0
// base/check.h - what only a bug can cause: abort, with the condition and the values.
#pragma once

#include "base/format.h"

namespace wt {

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& message);

}  // namespace wt

#define WT_CHECK(condition, ...)                                                         \
  do {                                                                                   \
    if (!(condition)) [[unlikely]]                                                       \
      ::wt::check_failed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
  } while (false)
