// SPDX-License-Identifier: Apache-2.0
// kernels/device/gemm/part_sum.h - adds the parts of a weight gradient in a fixed order, then the epilogue.
//
//   workspace (parts, tiles, vectors of four sums as the lanes hold them) fp32 --sum, epilogue--> dw
//
// The second launch of Hopper's weight gradients; it takes the same parameter block. Parts lie
// in the order of registers: a part leaves by one wide store for each four sums, and what a sum is, is found here,
// once. WHY it matters: code that runs once comes from memory, and addresses made for each pair of sums took longer
// than the stores. Where parts are many, the threads of a block share them.
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/device/gemm/part_sum_layout.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/device/overlap.h"
#include "target/hopper.h"

namespace wt {

// What four sums of a thread are: elements of dw, none where less than zero, and their output channels.
struct PartSums {
  i64 at[4];
  i32 channel[4];
};

// `Places` tells them: Params, kVectors of a tile, tiles(p) and sums(p, tile, vector).
template <KernelConfig kConfig, class Places>
struct PartSum {
  using Params = typename Places::Params;
  static constexpr int kThreads = part_sum::kThreads;
  static constexpr int kMinBlocks = 5;  // their loads together fill the way to the L2

  WT_DEVICE static void run(const Params& p) {
    const int thread = device::thread_index(), lanes = kThreads / p.sum_slices, slice = thread / lanes;
    const u32 place = static_cast<u32>(device::block_index().x) * lanes + (thread - slice * lanes);
    const u32 tile = place / kVectors;
    const PartSums sums = Places::sums(p, tile, static_cast<int>(place - tile * kVectors));
    const bool exist = sums.at[0] >= 0 || sums.at[1] >= 0 || sums.at[2] >= 0 || sums.at[3] >= 0;
    wait_for_parts<kConfig>();
    Four total{};
    if (exist) total = add_slice(p, place, slice);
    // A tree, always of the same shape.
    const SharedAddress own = device::shared_base() + 16 * thread;
    WT_ROLLED for (int half = p.sum_slices / 2; half > 0; half /= 2) {
      if (slice >= half && slice < 2 * half) device::store_shared(own, total);
      device::sync_block();
      if (slice < half) add(total, device::load_shared<Four>(own + 16 * half * lanes));
    }
    if (slice == 0) store(p, sums, total);
  }

 private:
  using Four = Vector<float, 4>;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  static constexpr u32 kVectors = Places::kVectors;
  static constexpr int kBatch = part_sum::kBatch;

  WT_DEVICE static void add(Four& total, const Four& part) {
    WT_UNROLL for (int i = 0; i < 4; ++i) total.at[i] += part.at[i];
  }

  // Parts slice, slice + slices, ..
  WT_DEVICE static Four add_slice(const Params& p, u32 place, i32 slice) {
    const i64 step = static_cast<i64>(Places::tiles(p)) * kVectors;
    const auto* from = reinterpret_cast<const Four*>(p.partials) + slice * step + place;
    Four total{};
    WT_ROLLED for (i32 first = slice; first < p.splits; first += kBatch * p.sum_slices) {
      Four part[kBatch];
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        part[i] = first + i * p.sum_slices < p.splits ? device::load_global(from) : Four{};
        from += step * p.sum_slices;
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) add(total, part[i]);
    }
    return total;
  }

  WT_DEVICE static void store(const Params& p, const PartSums& sums, const Four& total) {
    Steps steps;
    auto* dw = static_cast<Element*>(p.dw);
    WT_UNROLL for (int i = 0; i < 4; i += 2) {
      const i64 low = sums.at[i], high = sums.at[i + 1];
      Vector<Element, 2> pair{};
      if (low >= 0) pair.at[0] = steps.apply(p.epilogue, total.at[i], low, sums.channel[i]);
      if (high >= 0) pair.at[1] = steps.apply(p.epilogue, total.at[i + 1], high, sums.channel[i + 1]);
      if (low >= 0 && high == low + 1 && low % 2 == 0) {
        Steps::write(reinterpret_cast<Vector<Element, 2>*>(dw + low), pair);
      } else {
        if (low >= 0) Steps::write(dw + low, pair.at[0]);
        if (high >= 0) Steps::write(dw + high, pair.at[1]);
      }
    }
    steps.finish(p.epilogue);
  }
};

}  // namespace wt
