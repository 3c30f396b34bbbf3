// SPDX-License-Identifier: Apache-2.0
// A product of 64 x 64 by four warps through two stages of shared memory, for every target's matrix instruction, with
// mistakes to plant; and a probe of the order in which warps run.
#include "target/target.h"

namespace wt::probe {

using namespace wt::device;

struct ProductParams {
  const Bf16* a;  // (64, k)
  const Bf16* b;  // (64, k)
  float* d;       // (64, 64)
  int k;
  int fault;
};

enum Fault : int {
  kNone,
  kNoBarrierAfterStore,
  kNoBarrierBeforeReuse,
  kOneWarpSkipsBarrier,
  kWrongStage,
  kWrongRowOfA,
  kWrongKOfB,
  kSwappedC,
  kNoSwizzleOnRead,
};

template <int kM, int kN, int kK>
struct Product {
  static constexpr int kThreads = 4 * kWarpSize, kMinBlocks = 1;
  static constexpr int kSpan = 64, kTileK = 32, kTileBytes = 64 * kSpan, kStageBytes = 2 * kTileBytes;
  using Params = ProductParams;
  using Instruction = Mma<DataType::kBf16, kM, kN, kK>;
  static constexpr int kTilesM = 32 / kM, kTilesN = 32 / kN;

  WT_DEVICE static u32 swizzled(int row, int byte) {
    const u32 offset = static_cast<u32>(row * kSpan + byte);
    return offset ^ (offset >> 3 & 48);
  }

  WT_DEVICE static void load(const Params& p, int block, SharedAddress stage) {
    for (int i = thread_index(); i < 512; i += kThreads) {
      const int row = i / 4 % 64, chunk = i % 4;
      const Bf16* from = (i < 256 ? p.a : p.b) + row * p.k + block * kTileK + chunk * 8;
      store_shared(stage + (i < 256 ? 0 : kTileBytes) + swizzled(row, chunk * 16),
                   load_global(reinterpret_cast<const Vector<u32, 4>*>(from)));
    }
  }

  WT_DEVICE static Bf16 number(const Params& p, SharedAddress tile, int row, int k) {
    const u32 place = p.fault == kNoSwizzleOnRead ? static_cast<u32>(row * kSpan + 2 * k) : swizzled(row, 2 * k);
    return load_shared<Bf16>(tile + place);
  }

  WT_DEVICE static void run(const Params& p) {
    const int lane = lane_index(), warp = warp_index(), m0 = warp % 2 * 32, n0 = warp / 2 * 32;
    const SharedAddress base = shared_base();
    float c[kTilesM][kTilesN][Instruction::kC] = {};
    load(p, 0, base);
    for (int block = 0; block < p.k / kTileK; ++block) {
      const SharedAddress stage = base + block % 2 * kStageBytes, next = base + (block + 1) % 2 * kStageBytes;
      if (p.fault != kNoBarrierAfterStore && !(p.fault == kOneWarpSkipsBarrier && warp == 1 && block == 1))
        sync_block();
      const SharedAddress read = p.fault == kWrongStage && block == 1 ? next : stage;
      // With one barrier a block, the next stage was read before the barrier above.
      if (p.fault == kNoBarrierBeforeReuse && block + 1 < p.k / kTileK) load(p, block + 1, stage);
      for (int k = 0; k < kTileK; k += kK) {
        typename Instruction::Operand b[kTilesN][Instruction::kB];
        for (int j = 0; j < kTilesN; ++j) {
          for (int e = 0; e < Instruction::kB; ++e) {
            const int at = Instruction::b_k(lane, e) ^ (p.fault == kWrongKOfB ? 1 : 0);
            b[j][e] = number(p, read + kTileBytes, n0 + j * kN + Instruction::b_col(lane, e), k + at);
          }
        }
        for (int i = 0; i < kTilesM; ++i) {
          typename Instruction::Operand a[Instruction::kA];
          for (int e = 0; e < Instruction::kA; ++e) {
            const int row = Instruction::a_row(p.fault == kWrongRowOfA ? lane ^ 4 : lane, e);
            a[e] = number(p, read, m0 + i * kM + row, k + Instruction::a_k(lane, e));
          }
          multiply_row<Instruction>(c[i], a, b);
        }
      }
      if (p.fault != kNoBarrierBeforeReuse && block + 1 < p.k / kTileK) load(p, block + 1, next);
    }
    for (int i = 0; i < kTilesM; ++i) {
      for (int j = 0; j < kTilesN; ++j) {
        for (int e = 0; e < Instruction::kC; ++e) {
          const int row = i * kM + Instruction::c_row(lane, e), col = j * kN + Instruction::c_col(lane, e);
          const bool swapped = p.fault == kSwappedC;
          store_global(p.d + (m0 + (swapped ? col : row)) * 64 + n0 + (swapped ? row : col), c[i][j][e]);
        }
      }
    }
  }
};

// Each lane draws two numbers, with a meeting of the warp between them, before the block's barrier.
struct TurnParams {
  u32* next;
  u32* drawn;  // two per thread
};
struct Turns {
  static constexpr int kThreads = 4 * kWarpSize, kMinBlocks = 1;
  using Params = TurnParams;
  WT_DEVICE static void run(const Params& p) {
    const int thread = thread_index();
    store_global(p.drawn + 2 * thread, atomic_add(p.next, 1u));
    sync_warp();
    store_global(p.drawn + 2 * thread + 1, atomic_add(p.next, 1u));
    sync_block();
  }
};

}  // namespace wt::probe
