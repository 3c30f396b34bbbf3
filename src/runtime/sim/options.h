// SPDX-License-Identifier: Apache-2.0
// runtime/sim/options.h - how a simulation runs. docs/simulator.md says what each setting is for.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace wt::sim {

// When an asynchronous operation really happens: as soon as it is issued, as late as it may, or by the seed.
enum class Completion : uint8_t { kEarly, kLate, kRandom };

struct Options {
  uint64_t seed = 1;                            // WAVETILE_SIM_SEED
  Completion completion = Completion::kRandom;  // WAVETILE_SIM_COMPLETION: early, late, random
  bool checks = true;                           // WAVETILE_SIM_CHECKS: 0, 1; shadow state of shared memory
  int threads = 0;                              // WAVETILE_SIM_THREADS: of the host; 0: all cores
  uint64_t step_limit = 4'000'000'000;          // WAVETILE_SIM_STEPS: primitives that one cluster may execute
  int stall_seconds = 60;                       // WAVETILE_SIM_STALL: without a primitive before a thread is stopped

  static Result<Options> from_environment();
};

}  // namespace wt::sim
