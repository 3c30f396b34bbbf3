// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/options.h"

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/environment.h"

namespace wt::sim {
namespace {

Result<uint64_t> number(const char* variable, uint64_t otherwise, uint64_t low, uint64_t high) {
  const char* text = environment_or_null(variable);
  if (!text || !*text) return otherwise;
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text, &end, 0);
  if (*end || errno || *text == '-' || value < low || value > high) {
    return bad_input("{}={} is not a number from {} to {}", variable, text, low, high);
  }
  return static_cast<uint64_t>(value);
}

}  // namespace

Result<Options> Options::from_environment() {
  Options options;
  WT_TRY_ASSIGN(options.seed, number("WAVETILE_SIM_SEED", options.seed, 0, UINT64_MAX));
  WT_TRY_ASSIGN(const uint64_t checks, number("WAVETILE_SIM_CHECKS", options.checks, 0, 1));
  WT_TRY_ASSIGN(const uint64_t threads, number("WAVETILE_SIM_THREADS", 0, 0, 1024));
  WT_TRY_ASSIGN(options.step_limit, number("WAVETILE_SIM_STEPS", options.step_limit, 1, UINT64_MAX));
  WT_TRY_ASSIGN(const uint64_t stall, number("WAVETILE_SIM_STALL", 60, 1, 86400));
  options.checks = checks != 0;
  options.threads = static_cast<int>(threads);
  options.stall_seconds = static_cast<int>(stall);
  if (const char* text = environment_or_null("WAVETILE_SIM_COMPLETION"); text && *text) {
    const std::string_view value = text;
    if (value == "early") {
      options.completion = Completion::kEarly;
    } else if (value == "late") {
      options.completion = Completion::kLate;
    } else if (value == "random") {
      options.completion = Completion::kRandom;
    } else {
      return bad_input("WAVETILE_SIM_COMPLETION={} is none of early, late, random", value);
    }
  }
  return options;
}

}  // namespace wt::sim
