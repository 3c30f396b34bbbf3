// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.h"

#include <cstdio>

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
  fmt::print(stderr, "wavetile: {}\n", status.message());
  return exit_code(status);
}

}  // namespace wt::cli
