// SPDX-License-Identifier: Apache-2.0
// kernels/portable/device/output.h - accumulators on their way to global memory.
//
//   shared: registers --> rows of sums (shared) --epilogue--> 16 bytes of a row --> global      direct: registers -->
//   global
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/portable/device/product.h"

namespace wt {

// A row of the tile in the output: where its first column lies, and which channel the epilogue gives it.
struct PortableLine {
  bool exists;
  i64 offset;
  i64 channel;
  i32 own = 0;  // of merged groups: where the row's own input channels begin among all of them
};

template <KernelConfig kConfig, Direction kDirection = kConfig.direction>
struct PortableLines {
  using Arguments = typename PortableProblem<kConfig>::Arguments;
  static constexpr int kChannelStep = 1;  // columns are channels

  WT_DEVICE static PortableLine line(const Arguments& p, const PortableTask& task, int row) {
    const u32 at = task.tile.row + static_cast<u32>(row);
    const i64 channel = static_cast<i64>(task.tile.group) * p.columns + task.tile.column;
    if (at >= task.tile.rows) return {false, 0, channel};
    return {true, wavelet_out(p, task.tile, at) + channel, channel};
  }
  WT_DEVICE static i32 columns(const Arguments& p, const PortableTask& task) { return p.columns - task.tile.column; }
  // Where a line's column lies in the output; -1: it is not stored.
  WT_DEVICE static i64 place(const Arguments&, const PortableTask&, const PortableLine& line, int column) {
    return line.offset + column;
  }
};

// dw: rows are output channels, columns the numbers of one's filter as they lie. With merged groups only the diagonal
// is stored: the blocks of the product whose row and column are of one group.
template <KernelConfig kConfig>
struct PortableLines<kConfig, Direction::kBackwardWeight> {
  using Arguments = WaveletWeightArguments;
  static constexpr int kChannelStep = 0;
  static constexpr bool kMerged = kConfig.gemm.groups_per_tile > 1;

  WT_DEVICE static PortableLine line(const Arguments& p, const PortableTask& task, int row) {
    const i32 at = static_cast<i32>(task.tile.row) + row;
    const i64 channel = static_cast<i64>(task.tile.group) * p.outputs + at;
    const i64 part = kConfig.gemm.split_k == SplitK::kWorkspace ? task.split * p.elements : 0;
    if constexpr (kMerged) {
      const i32 own = static_cast<i32>(quotient(static_cast<u32>(at), p.diagonal.filters)) * p.diagonal.own_channels;
      return {at < p.walk.columns, part + channel * p.diagonal.own_pitch, channel, own};
    }
    return {at < p.walk.columns, part + channel * p.column_step + task.tile.column, channel};
  }
  WT_DEVICE static i64 place(const Arguments& p, const PortableTask& task, const PortableLine& line, int column) {
    if constexpr (kMerged) {
      const u32 number = static_cast<u32>(task.tile.column + column), tap = quotient(number, p.diagonal.channels);
      const i32 channel = static_cast<i32>(number - tap * p.diagonal.channels.by) - line.own;
      if (channel < 0 || channel >= p.diagonal.own_channels) return -1;
      return line.offset + static_cast<i64>(tap) * p.diagonal.own_channels + channel;
    }
    return line.offset + column;
  }
  WT_DEVICE static i32 columns(const Arguments& p, const PortableTask& task) { return p.numbers - task.tile.column; }
};

template <KernelConfig kConfig>
struct PortableOutput {
  using Problem = PortableProblem<kConfig>;
  using Arguments = typename Problem::Arguments;
  using Lines = PortableLines<kConfig>;
  using Product = PortableProduct<kConfig>;
  using Mma = typename Product::Mma;
  using Sum = wt::Sum<typename Product::Element>;  // fp32, of int8 int32
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  static constexpr bool kAtomic = kConfig.gemm.split_k == SplitK::kAtomic;
  static constexpr bool kSplit = kConfig.gemm.split_k == SplitK::kWorkspace || kAtomic;
  static constexpr int kRows = portable_layout::out_rows(kConfig), kPitch = portable_layout::out_pitch(kConfig);
  static constexpr int kTileN = kConfig.gemm.tile.n, kThreads = portable_layout::threads(kConfig);
  static constexpr int kRounds = Product::kTilesM;
  // Of one store: so many as the config says, where rows of the output are whole vectors, or 16 bytes where they are.
  static constexpr bool kWholeVectors = kConfig.gemm.vector_c > 1;
  static constexpr int kChunk =
      kWholeVectors ? kConfig.gemm.vector_c : 16 / (kSplit ? 4 : static_cast<int>(sizeof(typename Steps::Element)));

  // Every thread of the block calls this, after the last barrier of its pipeline. `group`: which of the
  // tile's sums (portable_layout::sums) it holds a part of; -1: none.
  WT_DEVICE static void store(const Arguments& p, const PortableTask& task, const Product& product, int group) {
    Steps steps;
    if constexpr (kConfig.gemm.staging == Staging::kShared) {
      each_round(product, group, [&](int round) { copy_out(p, task, round, steps); });
    } else {
      if (group == 0) store_direct(p, task, product, steps);
    }
    if constexpr (!kSplit) steps.finish(Problem::walk(p).epilogue);  // parts are finished by split_sum.h
  }

  // The whole tile as it is, (tile.m, tile.n) fp32: a part of a sum that other blocks share.
  WT_DEVICE static void store_part(float* part, const Product& product, int group) {
    each_round(product, group, [&](int round) {
      constexpr int kAcross = kTileN / 4;
      for (int index = device::thread_index(); index < kRows * kAcross; index += kThreads) {
        const int staged = index / kAcross, column = index % kAcross * 4;
        device::store_global(reinterpret_cast<Vector<float, 4>*>(part + row_of(round, staged) * kTileN + column),
                             device::load_shared<Vector<float, 4>>(staged_at(staged, column)));
      }
    });
  }

  // kChunk columns of a line, or as many of them as there are.
  WT_DEVICE static void store_columns(const Arguments& p, const PortableTask& task, const PortableLine& line,
                                      int column, const Sum (&value)[kChunk], Steps& steps) {
    const i32 columns = Lines::columns(p, task);
    if (!line.exists || column >= columns) return;
    // WHY not atomically: single numbers are added anyway, and where two paths end in the same addition clang joins
    // them and forgets that it is one instruction (target/amd/memory.h).
    const bool whole = kWholeVectors || (!kAtomic && Problem::walk(p).out_vector % kChunk == 0);
    if (whole) {  // chunks are aligned and end with the row
      const i64 at = Lines::place(p, task, line, column);
      if (at >= 0) store_chunk(p, line, at, column, value, steps);
    } else {
      WT_UNROLL for (int i = 0; i < kChunk; ++i) {
        if (column + i >= columns) continue;
        const i64 at = Lines::place(p, task, line, column + i);
        if (at >= 0) store_one(p, line, at, column + i, value[i], steps);
      }
    }
  }

 private:
  using Element = typename Steps::Element;

  // Stages the rows of each matrix instruction in turn and has `copy` take them away.
  template <class Copy>
  WT_DEVICE static void each_round(const Product& product, int group, Copy&& copy) {
    WT_UNROLL for (int round = 0; round < kRounds; ++round) {
      if (round > 0) device::sync_block();
      if (group == 0) stage<false>(product, round);
      device::sync_block();
      WT_UNROLL for (int other = 1; other < portable_layout::sums(kConfig); ++other) {
        if (group == other) stage<true>(product, round);
        device::sync_block();
      }
      copy(round);
    }
  }
  WT_DEVICE static SharedAddress staged_at(int row, int column) {
    return device::shared_base() + static_cast<u32>((row * kPitch + column) * 4);
  }

  // The round-th matrix instruction's rows of this warp to shared memory, or added to what is there.
  template <bool kAdd>
  WT_DEVICE static void stage(const Product& product, int round) {
    const int lane = device::lane_index(), m0 = Product::warp() % kConfig.gemm.warps.m * kConfig.gemm.mma.m;
    const int n0 = Product::origin_n();
    WT_UNROLL for (int j = 0; j < Product::kTilesN; ++j) {
      WT_UNROLL for (int e = 0; e < Mma::kC; ++e) {
        const int row = m0 + Mma::c_row(lane, e), column = n0 + Product::column_of(j, Mma::c_col(lane, e));
        const SharedAddress to = staged_at(row, column);
        Sum value = product.c[round][j][e];
        if constexpr (kAdd) value += device::load_shared<Sum>(to);
        device::store_shared(to, value);
      }
    }
  }

  // The row of the tile that row `staged` of a round holds.
  WT_DEVICE static int row_of(int round, int staged) {
    constexpr int kM = kConfig.gemm.mma.m;
    return staged / kM * (Product::kTilesM * kM) + Product::row_of(round, staged % kM);
  }

  WT_DEVICE static void copy_out(const Arguments& p, const PortableTask& task, int round, Steps& steps) {
    constexpr int kAcross = kTileN / kChunk;
    for (int index = device::thread_index(); index < kRows * kAcross; index += kThreads) {
      const int staged = index / kAcross, column = index % kAcross * kChunk;
      Sum value[kChunk];
      constexpr int kRead = kChunk < 4 ? kChunk : 4;
      WT_UNROLL for (int i = 0; i < kChunk; i += kRead) {
        const auto some = device::load_shared<Vector<Sum, kRead>>(staged_at(staged, column + i));
        WT_UNROLL for (int j = 0; j < kRead; ++j) value[i + j] = some.at[j];
      }
      store_columns(p, task, Lines::line(p, task, row_of(round, staged)), column, value, steps);
    }
  }

  WT_DEVICE static void store_chunk(const Arguments& p, const PortableLine& line, i64 at, int column,
                                    const Sum (&value)[kChunk], Steps& steps) {
    if constexpr (kSplit) {
      device::store_global(reinterpret_cast<Vector<float, 4>*>(p.partials + at),
                           Vector<float, 4>{{value[0], value[1], value[2], value[3]}});
    } else {
      const EpilogueArguments& e = Problem::walk(p).epilogue;
      using Out = Vector<Element, kChunk>;
      Out out, residual{};
      if constexpr (kConfig.epilogue.residual) {
        residual = device::load_global(reinterpret_cast<const Out*>(static_cast<const Element*>(e.residual) + at));
      }
      Sum sum[kChunk];
      correct(e, line, at, column, value, sum);
      WT_UNROLL for (int i = 0; i < kChunk; ++i) {
        const i64 channel = line.channel + (column + i) * Lines::kChannelStep;
        out.at[i] = steps.apply(e, sum[i], Steps::scale_of(e, channel), Steps::bias_of(e, channel),
                                device::to_float(residual.at[i]), at + i);
      }
      Steps::write(reinterpret_cast<Out*>(static_cast<Element*>(Problem::walk(p).out) + at), out);
    }
  }

  // The chunk's channels are all of one pixel.
  WT_DEVICE static void correct(const EpilogueArguments& e, const PortableLine& line, i64 at, int column,
                                const Sum (&value)[kChunk], Sum (&sum)[kChunk]) {
    WT_UNROLL for (int i = 0; i < kChunk; ++i) sum[i] = value[i];
    if constexpr (kConfig.epilogue.x_zero) {
      const i32* corrections = Steps::corrections_at(e, at) + line.channel + column;
      WT_UNROLL for (int i = 0; i < kChunk; ++i) sum[i] -= device::load_global(corrections + i);
    }
  }

  WT_DEVICE static void store_one(const Arguments& p, const PortableLine& line, i64 at, int column, Sum value,
                                  Steps& steps) {
    if constexpr (kAtomic) {
      device::atomic_add(p.partials + at, value);
    } else if constexpr (kSplit) {
      device::store_global(p.partials + at, value);
    } else {
      Steps::write(static_cast<Element*>(Problem::walk(p).out) + at,
                   steps.apply(Problem::walk(p).epilogue, value, at, line.channel + column * Lines::kChannelStep));
    }
  }

  WT_DEVICE static void store_direct(const Arguments& p, const PortableTask& task, const Product& product,
                                     Steps& steps) {
    const int lane = device::lane_index(), m0 = Product::origin_m(), n0 = Product::origin_n();
    const i32 columns = Lines::columns(p, task);
    WT_UNROLL for (int i = 0; i < Product::kTilesM; ++i) {
      WT_UNROLL for (int e = 0; e < Mma::kC; ++e) {
        const PortableLine line = Lines::line(p, task, m0 + Product::row_of(i, Mma::c_row(lane, e)));
        WT_UNROLL for (int j = 0; j < Product::kTilesN; ++j) {
          const int column = n0 + Product::column_of(j, Mma::c_col(lane, e));
          if (!line.exists || column >= columns) continue;
          const i64 at = Lines::place(p, task, line, column);
          if (at >= 0) store_one(p, line, at, column, product.c[i][j][e], steps);
        }
      }
    }
  }
};

}  // namespace wt
