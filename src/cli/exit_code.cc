// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.h"

#include <algorithm>
#include <cstdio>

#include "base/printable.h"
#include "cli/show/terminal.h"

namespace wt::cli {

int exit_code(const Status& status) {
  switch (status.code()) {
    case Code::kOk:
      return kExitGood;
    case Code::kVerificationFailed:
      return kExitVerificationFailed;
    case Code::kBadInput:
      return kExitBadInput;
    case Code::kUnsupported:
      return kExitUnsupported;
    case Code::kDevice:
    case Code::kCompile:
      return kExitDevice;
    case Code::kIo:
      return kExitBadInput;  // files and folders are those that the user named, to read or to write
  }
  return kExitDevice;
}

namespace {

int gravity(int code) {
  switch (code) {
    case kExitGood:
      return 0;
    case kExitBadInput:
      return 1;
    case kExitUnsupported:
      return 2;
    case kExitDevice:
      return 3;
    case kExitVerificationFailed:
      return 4;
    default:
      return 5;
  }
}

}  // namespace

int graver(int a, int b) { return gravity(a) >= gravity(b) ? a : b; }

int report_failure(const Status& status) {
  std::fflush(stdout);
  const std::string message = "wavetile: " + printable(status.message());
  const int columns = error_columns();
  for (size_t at = 0; at < message.size();) {
    const size_t end = std::min(message.find('\n', at), message.size());
    const std::string line = message.substr(at, end - at);
    // A terminal gets lines that end between words, but for what is indented, and commands, which will be copied.
    const bool kept = line.starts_with(' ') || line.find("wavetile run '") != std::string::npos;
    fmt::print(stderr, "{}", columns > 0 && !kept ? wrap(line, columns, "") : line + "\n");
    at = end + 1;
  }
  return exit_code(status);
}

int report_kernels(int wrong, int failed) {
  std::fflush(stdout);
  const auto kernels = [](int count) { return fmt::format("{} kernel{}", count, count == 1 ? "" : "s"); };
  if (wrong > 0) fmt::print(stderr, "wavetile: {} gave WRONG RESULTS\n", kernels(wrong));
  if (failed > 0) fmt::print(stderr, "wavetile: {} FAILED to compile or run\n", kernels(failed));
  return wrong > 0 ? kExitVerificationFailed : failed > 0 ? kExitDevice : kExitGood;
}

}  // namespace wt::cli
