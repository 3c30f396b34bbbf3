// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave_weight/device/output.h - a wave's quadrants on their way to dw, or to the parts of its sum.
//
//   accumulators --> a quadrant in shared memory, fp32 --> 16 bytes of an output channel's filter --> global
#pragma once

#include "kernels/four_wave/device/output.h"
#include "kernels/four_wave_weight/device/arguments.h"

namespace wt {

template <KernelConfig kConfig>
struct FourWaveWeightOutput {
  using Staged = FourWaveOutput<kConfig>;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  static constexpr bool kSplit = kConfig.gemm.split_k == SplitK::kWorkspace;
  static constexpr int kWidth = kSplit ? 4 : 16 / static_cast<int>(sizeof(Element));  // numbers at once

  // The wave's first output channel and number, of a group.
  WT_DEVICE static void write(const FourWaveWeightArguments& p, u32 group, i32 split, i32 row, i32 column,
                              const typename Staged::Accumulators& c) {
    const SharedAddress own =
        device::shared_base() + static_cast<u32>(device::warp_index() * four_wave_layout::out_bytes(kConfig));
    Steps steps;
    WT_UNROLL for (int q = 0; q < 4; ++q) {
      if (q > 0) device::sync_warp();
      Staged::stage(own, c.at[q / 2][q % 2]);
      device::sync_warp();
      store(p, own, group, split, row + q / 2 * Staged::kHalfM, column + q % 2 * Staged::kHalfN, steps);
    }
    if constexpr (!kSplit) steps.finish(p.epilogue);  // parts are finished by split_sum.h
  }

 private:
  WT_DEVICE static void store(const FourWaveWeightArguments& p, SharedAddress from, u32 group, i32 split, i32 row,
                              i32 column, Steps& steps) {
    constexpr int kAbreast = Staged::kHalfN / kWidth;
    WT_ROLLED for (int index = device::lane_index(); index < Staged::kHalfM * kAbreast;
                   index += four_wave_layout::kWaveSize) {
      const int own_row = index / kAbreast, own_column = index % kAbreast * kWidth;
      const i32 left = p.numbers - column - own_column;
      if (row + own_row >= p.outputs || left <= 0) continue;
      float value[kWidth];
      WT_UNROLL for (int i = 0; i < kWidth; i += 4) {
        const auto four = device::load_shared<Vector<float, 4>>(
            from + static_cast<u32>((own_row * Staged::kPitch + own_column + i) * 4));
        WT_UNROLL for (int j = 0; j < 4; ++j) value[i + j] = four.at[j];
      }
      const i64 channel = static_cast<i64>(group) * p.outputs + row + own_row;
      const i64 at = channel * p.numbers + column + own_column;
      if constexpr (kSplit) {
        store_part(p, p.partials + split * p.elements + at, value, left);
      } else {
        store_run(p, at, channel, value, left, steps);
      }
    }
  }

  WT_DEVICE static void store_part(const FourWaveWeightArguments& p, float* to, const float (&value)[kWidth],
                                   i32 left) {
    if (p.out_vector >= kWidth) {
      device::store_global(reinterpret_cast<Vector<float, 4>*>(to),
                           Vector<float, 4>{{value[0], value[1], value[2], value[3]}});
    } else {
      WT_UNROLL for (int i = 0; i < kWidth; ++i) {
        if (i < left) device::store_global(to + i, value[i]);
      }
    }
  }
  WT_DEVICE static void store_run(const FourWaveWeightArguments& p, i64 at, i64 channel, const float (&value)[kWidth],
                                  i32 left, Steps& steps) {
    auto* out = static_cast<Element*>(p.dw) + at;
    Vector<Element, kWidth> run;
    WT_UNROLL for (int i = 0; i < kWidth; ++i) {
      if (i < left) run.at[i] = steps.apply(p.epilogue, value[i], at + i, channel);
    }
    if (p.out_vector >= kWidth) {
      Steps::write(reinterpret_cast<Vector<Element, kWidth>*>(out), run);
    } else {
      WT_UNROLL for (int i = 0; i < kWidth; ++i) {
        if (i < left) Steps::write(out + i, run.at[i]);
      }
    }
  }
};

}  // namespace wt
