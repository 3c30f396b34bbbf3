// SPDX-License-Identifier: Apache-2.0
// compile/amd_loops.h - the loops in AMD machine code, and what their instructions cost a SIMD.
//
//   disassembly --parse--> instructions --backward branches--> loops --published rates--> cycles of one wave
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/kernel_config.h"

namespace wt::compile {

// What a pass through a loop is made of, for one wave. Cycles are those of the SIMD.
struct LoopCost {
  size_t matrix = 0;  // instructions: MFMA or WMMA
  size_t vector = 0, scalar = 0, shared = 0, global = 0;
  double matrix_cycles = 0;
  double issue_cycles = 0;   // of vector and scalar instructions, the issue of matrix instructions among them
  int64_t shared_bytes = 0;  // read and written
  double alone_cycles = 0;   // of a pass when the wave has its SIMD for itself: issue, matrix unit and waits
};

struct LoopReport {
  LoopCost math;             // the loop with most matrix instructions that holds no other with some
  LoopCost load;             // of those without any but with a barrier in the same kernel, the one that loads most
  size_t flat = 0;           // flat_ instructions of the whole kernel
  size_t accumulator = 0;    // moves between the halves of the register file in loops
  size_t invalidations = 0;  // of caches, in loops
};

// Text as `llvm-objdump -d` writes it, of one kernel.
LoopReport read_loops(Target target, std::string_view text);

// Waves of a block by role, and how many blocks share a compute unit.
struct LoopShares {
  int math_waves = 4, load_waves = 0;
  int64_t blocks = 1;
};

// Cycles that the blocks of a compute unit need for one pass each, by what limits them.
struct Utilisation {
  double matrix = 0;     // of a SIMD's matrix unit
  double issue = 0;      // vector and scalar issue of a SIMD's waves
  double shared = 0;     // of the unit's shared memory, 128 bytes per cycle
  double waits = 0;      // the slowest wave alone, its waits included
  double share() const;  // matrix / the largest
};
Utilisation utilisation(const LoopReport& loops, const LoopShares& shares);

}  // namespace wt::compile
