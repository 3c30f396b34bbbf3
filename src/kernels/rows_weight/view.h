// SPDX-License-Identifier: Apache-2.0
// kernels/rows_weight/view.h - a weight gradient with few channels as its kernel sees it.
//
// The constraint table, the cost model and the binding of launches ask here, so that they agree.
#pragma once

#include <cstdint>

#include "config/kernel_config.h"
#include "kernels/view.h"
#include "problem/problem.h"

namespace wt {

// Whether the output channels are the few ones: dy is the image then, and x takes the outputs' place.
bool rows_weight_turns(const ConvProblem& problem);
// The forward convolution whose weight gradient the kernel computes; its epilogue is empty.
ConvProblem rows_weight_source(const ConvProblem& problem);

struct RowsWeightView {
  // Along w in elements, since the channels of neighbouring pixels are neighbours.
  int64_t run;    // of a filter row
  int64_t step;   // between the windows of neighbouring outputs
  bool odd_step;  // windows start at even and odd elements in turns
  int64_t lead;   // 1 where the first window starts at an odd element
  int64_t shift;  // elements before a filter row in its first word
  int64_t row_words, words;
  int64_t tiles_m, tiles_n;
  // How the outputs are divided; nothing fits shared memory where `strips` is 0.
  int64_t strips, strip;  // along w, whole octets
  int64_t tile_rows;      // of a unit
  int64_t walk_units;     // of a strip
  int64_t units;
  int64_t pitch, chunk_rows;    // of image rows in shared memory: bytes, rows
  int64_t chunks, ring_chunks;  // that a unit's windows touch, and that there are
  int64_t block_bytes;          // of a unit's 64 output channels
  bool paired;                  // every unit has pairs of rows of whole octets, an even number of steps
  double bank_waves;            // of a warp's load: 1 where all lanes read different banks
  int64_t octets() const { return strip / 8; }
  int64_t planes;  // of the filter, each with a ring of its own
  int64_t ring_bytes() const { return ring_chunks * chunk_rows * pitch; }
};

RowsWeightView rows_weight_view(const KernelConfig& config, const View& seen);

// Whether any unit fits shared memory.
bool rows_weight_fits(const KernelConfig& config, const ConvProblem& problem);

// Shared memory of a block, in bytes.
int64_t rows_weight_shared_bytes(const KernelConfig& config, const RowsWeightView& view);

// Into how many parts the units go: as many as are asked for, or one for each block that runs at once, or each unit.
int64_t rows_weight_parts(const KernelConfig& config, const RowsWeightView& view, int multiprocessors, int asked = 0);

// What a multiprocessor spends on 16 outputs, in cycles, while other groups hide its waits.
double rows_weight_step_cycles(const KernelConfig& config, const RowsWeightView& view, const Rates& rates);

}  // namespace wt
