// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#define SPDLOG_FMT_EXTERNAL  // our own fmt: base/format.cc
#define SPDLOG_HEADER_ONLY
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "base/environment.h"
#include "base/printable.h"

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
  if (const char* path = environment_or_null("WAVETILE_LOG_FILE"); path && *path) {
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
  if (const char* name = environment_or_null("WAVETILE_LOG"); name && *name && !level_from(name, level)) {
    complaint = std::string("WAVETILE_LOG=") + name + " is not a level; use trace, debug, info, warn, error or off";
  }
  logger->set_level(level);
  if (!complaint.empty()) logger->warn(complaint);
  return logger;
}

constexpr int kNoReceiver = -1;
std::atomic<int> g_receiver_level{kNoReceiver};
std::mutex g_receiver_mutex;  // of the two below
Receiver g_receiver = nullptr;
void* g_receiver_user = nullptr;

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = make_logger();
  return *instance;
}

}  // namespace

bool enabled(Level level) {
  const int from = g_receiver_level.load(std::memory_order_relaxed);
  return from == kNoReceiver ? logger().should_log(to_spdlog(level)) : static_cast<int>(level) >= from;
}

void set_receiver(Receiver receiver, void* user, Level level) {
  const std::lock_guard lock(g_receiver_mutex);
  g_receiver = receiver;
  g_receiver_user = user;
  g_receiver_level = receiver ? static_cast<int>(level) : kNoReceiver;
}

void write(Level level, std::string_view message) {
  {
    const std::lock_guard lock(g_receiver_mutex);
    if (g_receiver) return g_receiver(g_receiver_user, level, printable(message).c_str());
  }
  logger().log(to_spdlog(level), spdlog::string_view_t(printable(message)));
}

}  // namespace wt::log
