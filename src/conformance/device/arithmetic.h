// SPDX-License-Identifier: Apache-2.0
// conformance/device/arithmetic.h - probes that every vendor's GPUs run: matrix instructions on raw fragments,
// conversions, atomics.
#pragma once

#include "conformance/device/arguments.h"
#include "target/target.h"

namespace wt::probe {

using namespace wt::device;

// Each lane's fragments of A, then of B, then of C as they lie in registers; out: each lane's C.
template <DataType kType, int kM, int kN, int kK>
struct Multiply {
  static constexpr int kThreads = kWarpSize, kMinBlocks = 1;
  using Params = probe::Params;
  using Instruction = Mma<kType, kM, kN, kK>;
  using Operand = typename Instruction::Operand;
  WT_DEVICE static void run(const Params& p) {
    const int lane = lane_index();
    const auto* in_a = reinterpret_cast<const Operand*>(p.in);
    const Operand* in_b = in_a + kWarpSize * Instruction::kA;
    const auto* in_c = reinterpret_cast<const Sum<Operand>*>(in_b + kWarpSize * Instruction::kB);
    Operand a[Instruction::kA], b[Instruction::kB];
    Sum<Operand> c[Instruction::kC];
    WT_UNROLL for (int e = 0; e < Instruction::kA; ++e) a[e] = load_global(in_a + lane * Instruction::kA + e);
    WT_UNROLL for (int e = 0; e < Instruction::kB; ++e) b[e] = load_global(in_b + lane * Instruction::kB + e);
    WT_UNROLL for (int e = 0; e < Instruction::kC; ++e) c[e] = load_global(in_c + lane * Instruction::kC + e);
    Instruction::multiply(c, a, b);
    auto* out = reinterpret_cast<Sum<Operand>*>(p.out) + lane * Instruction::kC;
    WT_UNROLL for (int e = 0; e < Instruction::kC; ++e) store_global(out + e, c[e]);
  }
};

// In: `count` floats. Out, 16 bytes each: bf16, fp16, e4m3, e5m2 bits (with two bytes of zero), tf32, square root.
struct Narrow {
  static constexpr int kThreads = 256, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    for (int i = block_index().x * kThreads + thread_index(); i < p.count; i += kThreads * grid_size().x) {
      const float value = load_global(reinterpret_cast<const float*>(p.in) + i);
      u32* out = reinterpret_cast<u32*>(p.out) + 4 * i;
      store_global(out, static_cast<u32>(from_float<Bf16>(value).bits) | static_cast<u32>(from_float<F16>(value).bits)
                                                                             << 16);
      store_global(out + 1, static_cast<u32>(from_float<E4m3>(value).bits) |
                                static_cast<u32>(from_float<E5m2>(value).bits) << 8);
      store_global(out + 2, __builtin_bit_cast(u32, round_tf32(value)));
      store_global(out + 3, __builtin_bit_cast(u32, square_root(value < 0 ? -value : value)));
    }
  }
};

// In, five floats each: a number, and the least and the largest result of 2^x and of 1/x; NaN where the result is. Out,
// two words each: whether the result lies there.
struct Approximate {
  static constexpr int kThreads = 256, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static u32 lies(float value, float least, float largest) {
    return least != least ? value != value : value >= least && value <= largest;
  }
  WT_DEVICE static void run(const Params& p) {
    for (int i = block_index().x * kThreads + thread_index(); i < p.count; i += kThreads * grid_size().x) {
      const float* in = reinterpret_cast<const float*>(p.in) + 5 * i;
      const float x = load_global(in);
      u32* out = reinterpret_cast<u32*>(p.out) + 2 * i;
      store_global(out, lies(approximate_exp2(x), load_global(in + 1), load_global(in + 2)));
      store_global(out + 1, lies(approximate_reciprocal(x), load_global(in + 3), load_global(in + 4)));
    }
  }
};

// Every pattern of 16 and of 8 bits as a float: bf16, fp16, then e4m3 and e5m2 for the low byte. NaNs as one NaN.
struct Widen {
  static constexpr int kThreads = 256, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static u32 bits(float value) { return value == value ? __builtin_bit_cast(u32, value) : 0x7fffffffu; }
  WT_DEVICE static void run(const Params& p) {
    for (int i = block_index().x * kThreads + thread_index(); i < 65536; i += kThreads * grid_size().x) {
      u32* out = reinterpret_cast<u32*>(p.out) + 4 * i;
      store_global(out, bits(to_float(Bf16{static_cast<u16>(i)})));
      store_global(out + 1, bits(to_float(F16{static_cast<u16>(i)})));
      store_global(out + 2, bits(to_float(E4m3{static_cast<u8>(i)})));
      store_global(out + 3, bits(to_float(E5m2{static_cast<u8>(i)})));
    }
  }
};

// Out: a sum, a maximum and a float sum over all threads of the grid, from zero; then a counter's final value.
struct Atomics {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const u32 all = static_cast<u32>(block_index().x * kThreads + thread_index());
    auto* out = reinterpret_cast<u32*>(p.out);
    atomic_add(out, all * 3 + 1);
    atomic_max(out + 1, (all * 2654435761u) >> 3);
    atomic_add(reinterpret_cast<float*>(out + 2), static_cast<float>(all % 64) * 0.5f);
    fence_global();
    if (atomic_add(out + 3, 1u) == static_cast<u32>(grid_size().x * kThreads - 1)) {
      store_release(out + 4, load_acquire(out) ^ 0xffffffffu);
    }
  }
};

}  // namespace wt::probe
