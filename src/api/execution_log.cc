// SPDX-License-Identifier: Apache-2.0
// api/execution_log.cc - executions in the log: at info each as a command that repeats it, at debug with its time too.
#include <chrono>

#include "api/handles.h"
#include "base/log.h"

namespace wt::api {
namespace {

// Between two events, for which the host waits; a stream that is being captured must not be waited for.
Result<double> timed_on_gpu(Device& device, Stream stream, const std::function<Status()>& body) {
  WT_TRY_ASSIGN(const std::unique_ptr<Event> start, device.make_event());
  WT_TRY_ASSIGN(const std::unique_ptr<Event> stop, device.make_event());
  WT_TRY(start->record(stream));
  WT_TRY(body());
  WT_TRY(stop->record(stream));
  WT_TRY(stop->wait());
  return device.elapsed_us(*start, *stop);
}

}  // namespace

Status execute_logged(Device& device, const std::string& replay, const std::string& kernel, Stream stream,
                      const std::function<Status()>& body) {
  if (!log::enabled(log::Level::kDebug)) {
    log::info("{}  # {}", replay, kernel);
    return body();
  }
  if (is_gpu(device.info().kind)) {
    WT_TRY_ASSIGN(const bool capturing, device.is_capturing(stream));
    if (capturing) {
      log::info("{}  # {}, captured into a graph", replay, kernel);
      return body();
    }
    WT_TRY_ASSIGN(const double microseconds, timed_on_gpu(device, stream, body));
    log::info("{}  # {}, {:.2f} us", replay, kernel, microseconds);
    return {};
  }
  const auto start = std::chrono::steady_clock::now();
  WT_TRY(body());
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  log::info("{}  # {}, {:.2f} us", replay, kernel, took.count());
  return {};
}

}  // namespace wt::api
