// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/cost.h - what predictions of the kernels on tensor memory share.
#pragma once

#include "kernels/tma/cost.h"

namespace wt::tcgen05_model {

// Of one instruction: 32 bytes deep, 128 or 256 rows. Published: N = 64, 128, 256 take 63, 80, 141 cycles in one block
// and 52, 70, 134 in a pair, none takes fewer than 52, and below N = 128 what is read from shared memory counts.
double instruction_cycles(double n, bool pair);

// The tiles of a problem, and the stages that they sum.
struct Tiles {
  int64_t count = 0;
  double mean = 0, longest = 0;
};

// One stage of the ring, of one block: products, copies and shared memory, whichever takes longest.
struct Stage {
  double products = 0;  // cycles
  double filled = 0;    // bytes that copies bring
  double shared = 0;    // bytes of shared memory that copies write and products read
  double cycles(const Rates& rates, double blocks_at_work) const;
};

// Forward and backward data by kernels/tcgen05/device/kernel.h, and the number of parts that takes the least.
double cycles_of(const KernelConfig& config, const View& seen, const Tiles& tiles, const Stage& stage, int splits);
int64_t best_splits(const KernelConfig& config, const View& seen, const Tiles& tiles, const Stage& stage, int asked);

// Of weight gradients, rates to a multiprocessor and to all as on Hopper (kernels/tma_weight/cost.cc), by 400 timed
// runs on an H200: a guess here.
double gradient_fill(const Rates& rates, double blocks_at_work);

// Weight gradients in `splits` parts of the pixels.
struct Gradient {
  int64_t tiles = 0, deep = 0;  // of dw, and stages of a tile's whole sum
  Stage stage;
  double stored = 0;  // bytes of a tile, by as many cycles as on Hopper
};
double cycles_of(const KernelConfig& config, const View& seen, const Gradient& gradient, int64_t splits);

}  // namespace wt::tcgen05_model
