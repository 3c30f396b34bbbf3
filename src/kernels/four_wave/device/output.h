// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/device/output.h - a wave's quadrants on their way to global memory.
//
//   accumulators --> a quadrant in shared memory, fp32 --> 16 bytes of a pixel's channels --epilogue--> global
//
// Each wave has its own part of shared memory, so waves do not wait for each other.
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/four_wave/device/arguments.h"
#include "kernels/four_wave/device/layout.h"
#include "target/cdna.h"

namespace wt {

template <KernelConfig kConfig>
struct FourWaveOutput {
  using Mma = device::Mma<operand_a(kConfig), kConfig.gemm.mma.m, kConfig.gemm.mma.n, kConfig.gemm.mma.k>;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  using Arguments = FourWaveArguments<four_wave_layout::phases(kConfig)>;
  static constexpr int kEdge = kConfig.gemm.mma.m;
  static constexpr int kHalfM = four_wave_layout::quadrant_m(kConfig), kBlocksM = kHalfM / kEdge;
  static constexpr int kHalfN = four_wave_layout::quadrant_n(kConfig), kBlocksN = kHalfN / kEdge;

  struct Accumulators {
    float at[2][2][kBlocksN][kBlocksM][Mma::kC];  // [half of pixels][half of channels]

    WT_DEVICE void clear() {
      WT_UNROLL for (int q = 0; q < 4; ++q) {
        WT_UNROLL for (int n = 0; n < kBlocksN; ++n) {
          WT_UNROLL for (int m = 0; m < kBlocksM; ++m) {
            WT_UNROLL for (int e = 0; e < Mma::kC; ++e) at[q / 2][q % 2][n][m][e] = 0;
          }
        }
      }
    }
  };

  static constexpr int kPitch = four_wave_layout::out_pitch(kConfig);

  // Rows of an instruction's result are channels; four of them follow each other in a lane.
  WT_DEVICE static void stage(SharedAddress to, const float (&c)[kBlocksN][kBlocksM][Mma::kC]) {
    const int lane = device::lane_index();
    WT_UNROLL for (int n = 0; n < kBlocksN; ++n) {
      WT_UNROLL for (int m = 0; m < kBlocksM; ++m) {
        WT_UNROLL for (int e = 0; e < Mma::kC; e += 4) {
          const int at = (m * kEdge + Mma::c_col(lane, e)) * kPitch + n * kEdge + Mma::c_row(lane, e);
          device::store_shared(to + static_cast<u32>(at * 4),
                               Vector<float, 4>{{c[n][m][e], c[n][m][e + 1], c[n][m][e + 2], c[n][m][e + 3]}});
        }
      }
    }
  }

  // The wave's first pixel and channel, of a group.
  WT_DEVICE static void write(const Arguments& p, const FourWavePhase& phase, u32 group, u32 pixel, u32 channel,
                              const Accumulators& c) {
    const SharedAddress own =
        device::shared_base() + static_cast<u32>(device::warp_index() * four_wave_layout::out_bytes(kConfig));
    Steps steps;
    WT_UNROLL for (int q = 0; q < 4; ++q) {
      if (q > 0) device::sync_warp();
      stage(own, c.at[q / 2][q % 2]);
      device::sync_warp();
      store(p, phase, own, group, pixel + q / 2 * kHalfM, static_cast<i32>(channel) + q % 2 * kHalfN, steps);
    }
    steps.finish(p.epilogue);
  }

 private:
  static constexpr int kWidth = sizeof(Element) >= 2 ? 16 / static_cast<int>(sizeof(Element)) : 8;  // channels at once
  // Both operands were halved on their way (chunk.h).
  static constexpr float kFactor = kSame<typename Mma::Operand, E4m3Fnuz> ? 4 : 1;

  WT_DEVICE static void store(const Arguments& p, const FourWavePhase& phase, SharedAddress from, u32 group, u32 pixel,
                              i32 channel, Steps& steps) {
    constexpr int kAbreast = kHalfN / kWidth;
    WT_ROLLED for (int index = device::lane_index(); index < kHalfM * kAbreast; index += four_wave_layout::kWaveSize) {
      const int row = index / kAbreast, column = index % kAbreast * kWidth;
      if (pixel + static_cast<u32>(row) >= phase.pixels || channel + column >= p.columns) continue;
      float value[kWidth];
      WT_UNROLL for (int i = 0; i < kWidth; i += 4) {
        const auto four =
            device::load_shared<Vector<float, 4>>(from + static_cast<u32>((row * kPitch + column + i) * 4));
        WT_UNROLL for (int j = 0; j < 4; ++j) value[i + j] = four.at[j] * kFactor;
      }
      const i64 first = static_cast<i64>(group) * p.columns + channel + column;  // of all groups' channels
      store_run(p, value, out_pixel(p, phase, pixel + static_cast<u32>(row)) * p.out_pitch + first, first,
                p.columns - channel - column, steps);
    }
  }

  // Pixel of the phase -> of the output.
  WT_DEVICE static i64 out_pixel(const Arguments& p, const FourWavePhase& phase, u32 pixel) {
    if constexpr (four_wave_layout::phases(kConfig) == 1) return pixel;
    if (p.phase_count == 1) return pixel;
    u32 at[3];
    WT_UNROLL for (int d = 2; d >= 0; --d) {
      const u32 outer = quotient(pixel, phase.out_size[d]);
      at[d] =
          static_cast<u32>(phase.first[d]) + (pixel - outer * phase.out_size[d].by) * static_cast<u32>(p.out_step[d]);
      pixel = outer;
    }
    WT_UNROLL for (int d = 0; d < 3; ++d) pixel = pixel * static_cast<u32>(p.out_in[d]) + at[d];
    return pixel;
  }

  // kWidth channels of a pixel, of which `left` exist.
  WT_DEVICE static void store_run(const Arguments& p, const float (&value)[kWidth], i64 offset, i64 channel, i32 left,
                                  Steps& steps) {
    auto* out = static_cast<Element*>(p.out) + offset;
    Vector<Element, kWidth> run;
    WT_UNROLL for (int i = 0; i < kWidth; ++i) {
      if (i < left) run.at[i] = steps.apply(p.epilogue, value[i], offset + i, channel + i);
    }
    if (p.out_vector >= kWidth) {
      Steps::write(reinterpret_cast<Vector<Element, kWidth>*>(out), run);
    } else if (kWidth > 4 && p.out_vector >= 4) {
      WT_UNROLL for (int i = 0; i < kWidth; i += 4) {
        if (i >= left) break;
        Steps::write(reinterpret_cast<Vector<Element, 4>*>(out + i),
                     Vector<Element, 4>{{run.at[i], run.at[i + 1], run.at[i + 2], run.at[i + 3]}});
      }
    } else {
      WT_UNROLL for (int i = 0; i < kWidth; ++i) {
        if (i < left) Steps::write(out + i, run.at[i]);
      }
    }
  }
};

}  // namespace wt
