// SPDX-License-Identifier: Apache-2.0
// kernels/portable/device/movement.h - both operands of a k-block from global to shared memory: through registers, or
// without.
//
//   fetch: global -> words held in registers      place: words -> shared      copy: global -> shared, asynchronously
#pragma once

#include "kernels/portable/device/columns.h"

namespace wt {

// What rows.h and columns.h offer.
template <class T>
concept PortableSource = requires(T source, const T& fixed, const typename T::Arguments& p, const PortableTask& task,
                                  const typename T::Block& block, bool& inside) {
  T::kCount;    // chunks of a thread and k-block
  T::kVectors;  // of a chunk
  source.start(p, task, 0);
  fixed.block(p, task);
  fixed.source(p, block, 0, 0, inside);
  fixed.address(0);
  T::origin(p);  // the tensor
  source.next(p, task);
};

// One operand. kType: what its numbers are rounded to on their way. kAims: loads without branches.
template <PortableSource Source, DataType kType, bool kAims>
struct OperandMovement {
  using Arguments = typename Source::Arguments;
  static constexpr int kCount = Source::kCount, kVectorBytes = Source::kVector * Source::kBytes;

  struct Held {
    ChunkWords chunk[kCount];
  };

  // Bytes of each vector behind the tensor's start, or device::kOutside.
  struct Aim {
    u32 offset[kCount][Source::kVectors];
  };

  Source source;

  // Which vectors the source's k-block is; the source moves on.
  WT_DEVICE void aim(const Arguments& p, const PortableTask& task, Aim& at) {
    const typename Source::Block block = source.block(p, task);
    const char* const origin = static_cast<const char*>(Source::origin(p));
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      WT_UNROLL for (int v = 0; v < Source::kVectors; ++v) {
        bool inside;
        const char* from = source.source(p, block, i, v, inside);
        at.offset[i][v] = inside ? static_cast<u32>(from - origin) : device::kOutside;
      }
    }
    source.next(p, task);
  }
  WT_DEVICE static void load(const Arguments& p, const Aim& at, Held& held) {
    using Raw = typename RawOf<kVectorBytes>::Type;
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      held.chunk[i].clear();
      WT_UNROLL for (int v = 0; v < Source::kVectors; ++v) {
        held.chunk[i].template put<kVectorBytes>(v, device::load_or_zero<Raw>(Source::origin(p), at.offset[i][v]));
      }
    }
  }

  // The numbers of the source's k-block into registers; the source moves on.
  WT_DEVICE void fetch(const Arguments& p, const PortableTask& task, Held& held) {
    if constexpr (kAims) {
      Aim at;
      aim(p, task, at);
      load(p, at, held);
      return;
    }
    const typename Source::Block block = source.block(p, task);
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      held.chunk[i].clear();
      WT_UNROLL for (int v = 0; v < Source::kVectors; ++v) {
        bool inside;
        const char* from = source.source(p, block, i, v, inside);
        held.chunk[i].template load<kVectorBytes>(v, from, inside);
      }
    }
    source.next(p, task);
  }
  WT_DEVICE void place(Held& held, SharedAddress tile) const {
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      held.chunk[i].template round<kType>();
      held.chunk[i].store(tile + source.address(i));
    }
  }
  WT_DEVICE void copy(const Arguments& p, const PortableTask& task, SharedAddress tile) {
    const typename Source::Block block = source.block(p, task);
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      WT_UNROLL for (int v = 0; v < Source::kVectors; ++v) {
        bool inside;
        const char* from = source.source(p, block, i, v, inside);
        device::copy_async<kVectorBytes>(tile + source.address(i) + v * kVectorBytes, from, inside ? kVectorBytes : 0);
      }
    }
    source.next(p, task);
  }
  // The same by waves of CDNA, whose chunks are whole.
  WT_DEVICE void copy_waves(const Arguments& p, const PortableTask& task, SharedAddress tile) {
    static_assert(Source::kVectors == 1, "a lane brings 16 bytes");
    const typename Source::Block block = source.block(p, task);
    const char* const origin = static_cast<const char*>(Source::origin(p));
    const u32 before = static_cast<u32>(device::lane_index() * portable_layout::kChunkBytes);
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      bool inside;
      const char* from = source.source(p, block, i, 0, inside);
      device::copy_wave(tile + source.address(i) - before, origin, static_cast<u32>(from - origin), inside);
    }
    source.next(p, task);
  }
};

// x of a weight gradient: gathered under the taps, or as it lies where there is one that meets every pixel.
template <KernelConfig kConfig, bool kExplicit = kConfig.gemm.explicit_gemm>
struct WeightImage {
  using Type = GatheredColumns<kConfig>;
};
template <KernelConfig kConfig>
struct WeightImage<kConfig, true> {
  using Type = PlainColumns<kConfig, false>;
};

// Which tensors are A and B: architecture's table of the three directions.
template <KernelConfig kConfig, Direction kDirection = kConfig.direction>
struct SourcesOf {
  using A = GatheredRows<kConfig>;
  using B = FilterRows<kConfig>;
};
template <KernelConfig kConfig>
struct SourcesOf<kConfig, Direction::kBackwardData> {
  using A = GatheredRows<kConfig>;
  using B = FilterColumns<kConfig>;
};
template <KernelConfig kConfig>
struct SourcesOf<kConfig, Direction::kBackwardWeight> {
  using A = PlainColumns<kConfig, true>;
  using B = typename WeightImage<kConfig>::Type;
};

// A tile of both operands in shared memory.
struct PortableBuffer {
  SharedAddress a, b;
};

template <KernelConfig kConfig>
struct Movement {
  using Arguments = typename PortableProblem<kConfig>::Arguments;
  using SourceA = typename SourcesOf<kConfig>::A;
  using SourceB = typename SourcesOf<kConfig>::B;
  using A = OperandMovement<SourceA, operand_a(kConfig), portable_layout::aims(kConfig, SourceA::kVectors)>;
  using B = OperandMovement<SourceB, operand_b(kConfig), portable_layout::aims(kConfig, SourceB::kVectors)>;

  struct Held {
    typename A::Held a;
    typename B::Held b;
  };

  const Arguments& p;
  const PortableTask& task;
  A a;
  B b;

  static constexpr int kWaveCopies = A::kCount + B::kCount;  // of a k-block
  static constexpr int kStores = A::kCount + B::kCount;
  static constexpr int kLoads = A::kCount * SourceA::kVectors + B::kCount * SourceB::kVectors;

  struct Aim {
    typename A::Aim a;
    typename B::Aim b;
  };

  WT_DEVICE Movement(const Arguments& arguments, const PortableTask& of, int thread) : p(arguments), task(of) {
    a.source.start(p, task, thread);
    b.source.start(p, task, thread);
  }

  WT_DEVICE void fetch(Held& held) {
    a.fetch(p, task, held.a);
    b.fetch(p, task, held.b);
  }
  // fetch in two steps, the second of which is nothing but loads.
  WT_DEVICE void aim(Aim& at) {
    a.aim(p, task, at.a);
    b.aim(p, task, at.b);
  }
  WT_DEVICE void load(const Aim& at, Held& held) const {
    A::load(p, at.a, held.a);
    B::load(p, at.b, held.b);
  }
  WT_DEVICE void place(Held& held, const PortableBuffer& buffer) const {
    a.place(held.a, buffer.a);
    b.place(held.b, buffer.b);
  }
  WT_DEVICE void copy(const PortableBuffer& buffer) {
    if constexpr (portable_layout::copies_waves(kConfig)) {
      a.copy_waves(p, task, buffer.a);
      b.copy_waves(p, task, buffer.b);
    } else {
      a.copy(p, task, buffer.a);
      b.copy(p, task, buffer.b);
    }
  }
  WT_DEVICE void skip() {
    a.source.next(p, task);
    b.source.next(p, task);
  }

  WT_DEVICE static PortableBuffer buffer(int index) {
    constexpr int kA = portable_layout::a_bytes(kConfig), kB = portable_layout::b_bytes(kConfig);
    const SharedAddress a = device::shared_base() + static_cast<u32>(index * (kA + kB));
    return {a, a + kA};
  }
};

}  // namespace wt
