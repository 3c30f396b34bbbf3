// SPDX-License-Identifier: Apache-2.0
// base/log.h - the log. spdlog stays inside log.cc, which is slow to compile.
//
// WAVETILE_LOG sets the level (trace, debug, info, warn, error, off; default warn) and
// WAVETILE_LOG_FILE the destination (default: standard error).
#pragma once

#include "base/format.h"

namespace wt::log {

enum class Level { kTrace, kDebug, kInfo, kWarn, kError, kOff };

bool enabled(Level level);

// Lines go to the receiver, in place of standard error or the file, from the level on; null: as the variables say
// again. It may be called from any thread, one call at a time, and must not log itself.
using Receiver = void (*)(void* user, Level level, const char* line);
void set_receiver(Receiver receiver, void* user, Level level);

void write(Level level, std::string_view message);

template <class... Args>
void debug(fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::kDebug)) write(Level::kDebug, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::kInfo)) write(Level::kInfo, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void warn(fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::kWarn)) write(Level::kWarn, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::kError)) write(Level::kError, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace wt::log
