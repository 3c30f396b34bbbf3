// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#define SPDLOG_FMT_EXTERNAL  // our own fmt: base/format.cc
#define SPDLOG_HEADER_ONLY
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

namespace wt::log {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::kTrace:
      return spdlog::level::trace;
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarn:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

bool level_from(std::string_view name, spdlog::level::level_enum& level) {
  constexpr std::pair<std::string_view, Level> kNames[] = {{"trace", Level::kTrace}, {"debug", Level::kDebug},
                                                           {"info", Level::kInfo},   {"warn", Level::kWarn},
                                                           {"error", Level::kError}, {"off", Level::kOff}};
  for (const auto& [text, value] : kNames) {
    if (text == name) return level = to_spdlog(value), true;
  }
  return false;
}

std::shared_ptr<spdlog::logger> make_logger() {
  std::shared_ptr<spdlog::sinks::sink> sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  std::string complaint;
  if (const char* path = std::getenv("WAVETILE_LOG_FILE"); path && *path) {
    try {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    } catch (const spdlog::spdlog_ex& failure) {
      complaint = std::string("WAVETILE_LOG_FILE: ") + failure.what() + "; logging to standard error";
    }
  }
  auto logger = std::make_shared<spdlog::logger>("wavetile", sink);
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e wavetile %l: %v");
  logger->flush_on(spdlog::level::trace);
  spdlog::level::level_enum level = spdlog::level::warn;
  if (const char* name = std::getenv("WAVETILE_LOG"); name && *name && !level_from(name, level)) {
    complaint = std::string("WAVETILE_LOG=") + name + " is not a level; use trace, debug, info, warn, error or off";
  }
  logger->set_level(level);
  if (!complaint.empty()) logger->warn(complaint);
  return logger;
}

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = make_logger();
  return *instance;
}

}  // namespace

bool enabled(Level level) { return logger().should_log(to_spdlog(level)); }
void write(Level level, std::string_view message) {
  logger().log(to_spdlog(level), spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace wt::log
