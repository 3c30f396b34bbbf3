// SPDX-License-Identifier: Apache-2.0
// Probes of the primitives that every target has.
#include "target/target.h"

namespace wt::probe {

using namespace wt::device;

struct Params {
  const float* in;
  float* out;
  u32* words;
  int count;
  int fault;
};

// Reverses each block's part of `in` through shared memory.
struct Reverse {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index(), at = block_index().x * kThreads;
    const SharedAddress base = shared_base();
    store_shared(base + 4 * t, load_global(p.in + at + t));
    if (p.fault != 1) sync_block();
    store_global(p.out + at + t, load_shared<float>(base + 4 * (kThreads - 1 - t)));
  }
};

// Sums of warps and of the block, votes and shuffles.
struct Reduce {
  static constexpr int kThreads = 256, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index(), lane = lane_index(), warp = warp_index();
    float sum = load_global(p.in + block_index().x * kThreads + t);
    const u64 even = ballot(t % 2 == 0);
    for (int mask = kWarpSize / 2; mask; mask /= 2) sum += shuffle_xor(sum, mask);
    const float first = shuffle(static_cast<float>(t), 3);
    const SharedAddress base = shared_base();
    if (lane == 0) store_shared(base + 4 * warp, sum);
    sync_block();
    if (t == 0) {
      float total = 0;
      for (int w = 0; w < kThreads / kWarpSize; ++w) total += load_shared<float>(base + 4 * w);
      atomic_add(p.out, total);
      atomic_add(p.words, 1u);
      atomic_max(p.words + 1, static_cast<u32>(block_index().x));
      if (block_index().x == 0) store_global(p.words + 2, static_cast<u32>(even));
    }
    if (t == kThreads - 1 && block_index().x == 0) store_global(p.out + 1, first);
  }
};

// C (kM, kN) += A (kM, kK) * B (kN, kK)^T by one warp, by the layouts that kernels use.
struct MmaProbeParams {
  const float* a;
  const float* b;
  float* c;
};
template <DataType kType, int kM, int kN, int kK>
struct MmaProbe {
  static constexpr int kThreads = kWarpSize, kMinBlocks = 1;
  using Params = MmaProbeParams;
  using Instruction = Mma<kType, kM, kN, kK>;
  using Operand = typename Instruction::Operand;
  WT_DEVICE static void run(const Params& p) {
    const int lane = lane_index();
    Operand a[Instruction::kA], b[Instruction::kB];
    Sum<Operand> c[Instruction::kC];
    for (int e = 0; e < Instruction::kA; ++e) {
      a[e] = from_float<Operand>(load_global(p.a + Instruction::a_row(lane, e) * kK + Instruction::a_k(lane, e)));
    }
    for (int e = 0; e < Instruction::kB; ++e) {
      b[e] = from_float<Operand>(load_global(p.b + Instruction::b_col(lane, e) * kK + Instruction::b_k(lane, e)));
    }
    for (int e = 0; e < Instruction::kC; ++e) {
      c[e] =
          static_cast<Sum<Operand>>(load_global(p.c + Instruction::c_row(lane, e) * kN + Instruction::c_col(lane, e)));
    }
    Instruction::multiply(c, a, b);
    for (int e = 0; e < Instruction::kC; ++e) {
      store_global(p.c + Instruction::c_row(lane, e) * kN + Instruction::c_col(lane, e), static_cast<float>(c[e]));
    }
  }
};

// Formats there and back: words[i] holds float bits, then what from_float and to_float make of them.
struct Convert {
  static constexpr int kThreads = 64, kMinBlocks = 1;
  using Params = probe::Params;
  template <class T>
  WT_DEVICE static void one(const Params& p, int format) {
    for (int i = thread_index(); i < p.count; i += kThreads) {
      store_global(p.out + format * p.count + i, to_float(from_float<T>(load_global(p.in + i))));
    }
  }
  WT_DEVICE static void run(const Params& p) {
    one<Bf16>(p, 0);
    one<F16>(p, 1);
    one<E4m3>(p, 2);
    one<E5m2>(p, 3);
  }
};

}  // namespace wt::probe
