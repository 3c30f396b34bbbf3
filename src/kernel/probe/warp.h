// SPDX-License-Identifier: Apache-2.0
// kernel/probe/warp.h - what one warp does: matrix instructions on raw fragments, ldmatrix, exchanges, conversions.
#pragma once

#include "kernel/probe/arguments.h"
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
    const auto* in_c = reinterpret_cast<const float*>(in_b + kWarpSize * Instruction::kB);
    Operand a[Instruction::kA], b[Instruction::kB];
    float c[Instruction::kC];
    WT_UNROLL for (int e = 0; e < Instruction::kA; ++e) a[e] = load_global(in_a + lane * Instruction::kA + e);
    WT_UNROLL for (int e = 0; e < Instruction::kB; ++e) b[e] = load_global(in_b + lane * Instruction::kB + e);
    WT_UNROLL for (int e = 0; e < Instruction::kC; ++e) c[e] = load_global(in_c + lane * Instruction::kC + e);
    Instruction::multiply(c, a, b);
    auto* out = reinterpret_cast<float*>(p.out) + lane * Instruction::kC;
    WT_UNROLL for (int e = 0; e < Instruction::kC; ++e) store_global(out + e, c[e]);
  }
};

// Lane l names row l * 7 % 32 of 32 rows of 16 bytes.
WT_DEVICE SharedAddress row_of_lane() { return shared_base() + static_cast<u32>(lane_index() * 7 % 32) * 16; }

// 512 bytes of input to shared memory; out: each lane's registers. form: count of matrices, + 10 where transposed.
struct LoadMatrix {
  static constexpr int kThreads = 32, kMinBlocks = 1;
  using Params = probe::Params;
  template <bool kTransposed, int kCount>
  WT_DEVICE static void one(const Params& p) {
    u32 registers[kCount];
    load_matrix<kTransposed>(registers, row_of_lane());
    WT_UNROLL for (int r = 0; r < kCount; ++r)
        store_global(reinterpret_cast<u32*>(p.out) + lane_index() * kCount + r, registers[r]);
  }
  WT_DEVICE static void run(const Params& p) {
    for (int i = lane_index(); i < 128; i += kThreads)
      store_shared(shared_base() + 4 * i, load_global(reinterpret_cast<const u32*>(p.in) + i));
    sync_warp();
    if (p.form == 4) one<false, 4>(p);
    if (p.form == 2) one<false, 2>(p);
    if (p.form == 14) one<true, 4>(p);
    if (p.form == 12) one<true, 2>(p);
  }
};

// Each lane's registers from the input; out: the 512 bytes of shared memory.
struct StoreMatrix {
  static constexpr int kThreads = 32, kMinBlocks = 1;
  using Params = probe::Params;
  template <bool kTransposed, int kCount>
  WT_DEVICE static void one(const Params& p) {
    u32 registers[kCount];
    WT_UNROLL for (int r = 0; r < kCount; ++r) registers[r] =
        load_global(reinterpret_cast<const u32*>(p.in) + lane_index() * kCount + r);
    store_matrix<kTransposed>(row_of_lane(), registers);
  }
  WT_DEVICE static void run(const Params& p) {
    for (int i = lane_index(); i < 128; i += kThreads) store_shared(shared_base() + 4 * i, kUntouched);
    sync_warp();
    if (p.form == 4) one<false, 4>(p);
    if (p.form == 2) one<false, 2>(p);
    if (p.form == 14) one<true, 4>(p);
    if (p.form == 12) one<true, 2>(p);
    sync_warp();
    for (int i = lane_index(); i < 128; i += kThreads)
      store_global(reinterpret_cast<u32*>(p.out) + i, load_shared<u32>(shared_base() + 4 * i));
  }
};

// In: one word a thread. Out, 72 words a thread: shuffle_xor by 1 to 31, shuffle from every lane, the same as floats
// from four lanes, votes, a uniform value, the warp's index.
struct Exchange {
  static constexpr int kThreads = 64, kMinBlocks = 1, kWords = 72;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index();
    const u32 own = load_global(reinterpret_cast<const u32*>(p.in) + t);
    u32* out = reinterpret_cast<u32*>(p.out) + t * kWords;
    for (int mask = 1; mask < 32; ++mask) store_global(out++, shuffle_xor(own, mask));
    for (int lane = 0; lane < 32; ++lane) store_global(out++, shuffle(own, lane));
    const float real = static_cast<float>(own & 0xffff);
    store_global(out++, __builtin_bit_cast(u32, shuffle_xor(real, 5)));
    store_global(out++, __builtin_bit_cast(u32, shuffle(real, lane_index() * 3 % 32)));
    store_global(out++, static_cast<u32>(ballot((own & 1) != 0)));
    store_global(out++, static_cast<u32>(ballot((own & 2) != 0)));
    store_global(out++, static_cast<u32>(ballot(lane_index() < 5)));
    store_global(out++, static_cast<u32>(uniform(t / 32 * 100 + 7)));
    store_global(out++, static_cast<u32>(warp_index()));
    store_global(out++, static_cast<u32>(lane_index()));
    store_global(out++, static_cast<u32>(block_index().x + 16 * grid_size().x));
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

}  // namespace wt::probe
