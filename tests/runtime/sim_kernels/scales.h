// SPDX-License-Identifier: Apache-2.0
// A product of ones with scales in tensor memory, and one mistake to plant at a time: `fault` 0 and kStored are right.
#include "target/blackwell.h"

namespace wt::probe {

using namespace wt::device;

struct ScalesParams {
  float* out;
  int fault;
};

enum ScalesFault {
  kNone,
  kNotCopied,      // nobody writes the scales of B
  kOtherQuarters,  // each quarter of the lanes has scales of its own
  kSplitPair,      // the first scale of a kind that takes two is an odd one
  kOtherLane,      // the scales start in lane 16
  kOverwritten,    // a warp writes scales while the product may read them
  kOtherType,      // e3m2
  kOtherScales,    // scales of e4m3 for a kind that has powers of two
  kOtherColumns,   // scales in columns that nobody allocated
  kStored,         // warps write the scales, with a fence before all meet
  kUnfenced,       // and without it
  kSigned,         // a scale of e4m3 with a sign
  kTwoInFlight,    // the next scales are copied behind the product that reads the first ones: in order, right
};

struct ScaledProduct {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  static constexpr u32 kColumns = 64, kScalesA = 32, kScalesB = 40;
  using Params = ScalesParams;

  WT_DEVICE static void run(const Params& p) {
    const SharedAddress a = (shared_base() + 1023) & ~1023u, b = a + 128 * 128, scales = b + 32 * 128;
    const SharedAddress done = scales + 2048, address = done + 8;
    const int thread = thread_index(), warp = warp_index();
    for (int i = thread; i < (128 + 32) * 128 / 4; i += kThreads) store_shared(a + 4 * i, 0x38383838u);  // e4m3 ones
    const u32 one = p.fault == kSigned ? 0xb8383838u : 0x7f7f7f7fu;
    for (int i = 0; i < 4; ++i)
      store_shared(scales + 16 * thread + 4 * i, one + (p.fault == kOtherQuarters ? static_cast<u32>(warp) : 0u));
    if (thread == 0) {
      mbarrier_init(done, 1);
      mbarrier_fence_init();
    }
    fence_async_shared();
    sync_block();
    if (warp == 0) {
      tensor_allocate<1>(address, kColumns);
      tensor_relinquish<1>();
    }
    tensor_fence_before();
    sync_block();
    tensor_fence_after();
    const u32 tensor = load_shared<u32>(address), lanes = static_cast<u32>(warp) << 21;
    const bool stores = p.fault == kStored || p.fault == kUnfenced;
    if (stores) {
      store_scales(tensor + lanes + kScalesA);
      store_scales(tensor + lanes + kScalesB);
      tensor_store_wait();
      if (p.fault == kStored) tensor_fence_before();
      sync_block();
      tensor_fence_after();
    }
    if (warp == 0) {
      if (elect()) {
        if (!stores) copy(p, tensor, scales);
        multiply(p, tensor, a, b);
        if (p.fault == kTwoInFlight) {
          copy(p, tensor, scales);
          multiply(p, tensor, a, b);
        }
        tensor_commit<1>(done);
      }
      sync_warp();
    }
    if (p.fault == kOverwritten) {
      sync_block();
      store_scales(tensor + lanes + kScalesA);
      tensor_store_wait();
    }
    mbarrier_wait(done, 0);
    tensor_fence_after();
    float sums[8];
    tensor_load<TensorShape::k32x32>(sums, tensor + lanes);
    tensor_load_wait();
    tensor_hold(sums);
    store_global(p.out + thread, sums[7]);
    tensor_fence_before();
    sync_block();
    tensor_fence_after();
    if (warp == 0) tensor_free<1>(tensor, kColumns);
  }

 private:
  WT_DEVICE static void store_scales(u32 to) {
    float values[8];
    WT_UNROLL for (int i = 0; i < 8; ++i) values[i] = __builtin_bit_cast(float, 0x7f7f7f7fu);
    tensor_store<TensorShape::k32x32>(to, values);
  }

  WT_DEVICE static void copy(const Params& p, u32 tensor, SharedAddress scales) {
    const u64 from = tensor_descriptor(scales, 512, 128, TensorSwizzle::kNone);
    if (p.fault == kOtherQuarters) {
      tensor_copy<TensorCopy::k128x128, 1>(tensor + kScalesA, from);
    } else {
      tensor_copy<TensorCopy::k32x128Four, 1>(tensor + kScalesA, from);
    }
    if (p.fault != kNotCopied) tensor_copy<TensorCopy::k32x128Four, 1>(tensor + kScalesB, from);
  }

  WT_DEVICE static void multiply(const Params& p, u32 tensor, SharedAddress a, SharedAddress b) {
    const u64 in_a = tensor_descriptor(a, 16, 1024, TensorSwizzle::k128);
    const u64 in_b = tensor_descriptor(b, 16, 1024, TensorSwizzle::k128);
    constexpr DataType kType = DataType::kE4m3;
    u32 word = tensor_word_scaled(ScaledKind::kMxf8, kType, kType, 128, 32, 0, 0);
    u32 scales_a = tensor + kScalesA;
    if (p.fault == kOtherType) word |= 4u << 7;
    if (p.fault == kOtherScales) word &= ~(1u << 23);
    if (p.fault == kOtherLane) scales_a += 16u << 16;
    if (p.fault == kOtherColumns) scales_a += 512;
    if (p.fault == kSplitPair) {
      tensor_multiply_scaled<ScaledKind::kMxf4, 1>(tensor, in_a, in_b,
                                                   tensor_word_scaled(ScaledKind::kMxf4, kType, kType, 128, 32, 1, 0),
                                                   scales_a, tensor + kScalesB, false);
    } else if (p.fault == kSigned) {
      tensor_multiply_scaled<ScaledKind::kNvf4, 1>(tensor, in_a, in_b,
                                                   tensor_word_scaled(ScaledKind::kNvf4, kType, kType, 128, 32, 0, 0),
                                                   scales_a, tensor + kScalesB, false);
    } else {
      tensor_multiply_scaled<ScaledKind::kMxf8, 1>(tensor, in_a, in_b, word, scales_a, tensor + kScalesB, false);
    }
  }
};

}  // namespace wt::probe
