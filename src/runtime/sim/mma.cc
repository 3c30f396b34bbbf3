// SPDX-License-Identifier: Apache-2.0
// runtime/sim/mma.cc - matrix instructions of one warp: lane layouts from the vendors' manuals, then a plain product.
//
// Sources: PTX ISA "Matrix Fragments for mma.m16n8k16 / m16n8k8"; AMD Instinct MI200 and MI300 instruction set
// architecture, "Matrix core register layouts"; AMD RDNA3 and RDNA4 ISA, "WMMA".
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "runtime/sim/multiply.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"
#include "target/number.h"

namespace wt::sim {
namespace {

enum class Format : uint8_t { kF16, kBf16, kTf32, kF32, kE4m3, kE5m2, kE4m3Fnuz, kI8 };

// Where each element of each lane lies: A (m, k) as an index, B (k, n) and C (m, n) by row and column.
struct Layout {
  struct Place {
    uint8_t row, col;
  };
  Format format;
  int m, n, k, lanes;
  int a_count, b_count, c_count;  // elements of a lane
  std::vector<uint16_t> a;
  std::vector<Place> b, c;
  bool c_pairs = false;  // elements of C come in pairs of one row
};

Layout::Place place(int index, int columns) {
  return {static_cast<uint8_t>(index / columns), static_cast<uint8_t>(index % columns)};
}

template <class A, class B, class C>
Layout make(Format format, int m, int n, int k, int lanes, int a_count, int b_count, int c_count, A a, B b, C c) {
  Layout layout{format, m, n, k, lanes, a_count, b_count, c_count, {}, {}, {}};
  for (int lane = 0; lane < lanes; ++lane) {
    for (int e = 0; e < a_count; ++e) layout.a.push_back(static_cast<uint16_t>(a(lane, e)));
    for (int e = 0; e < b_count; ++e) layout.b.push_back(place(b(lane, e), n));
    for (int e = 0; e < c_count; ++e) layout.c.push_back(place(c(lane, e), n));
  }
  layout.c_pairs = true;
  for (size_t i = 0; i < layout.c.size(); i += 2)
    layout.c_pairs &= layout.c[i].row == layout.c[i + 1].row && layout.c[i].col + 1 == layout.c[i + 1].col;
  return layout;
}

// groupID = lane / 4, threadID_in_group = lane % 4 in NVIDIA's words.
Layout m16n8k16(Format format) {
  return make(
      format, 16, 8, 16, 32, 8, 4, 4,
      [](int lane, int i) {
        const int row = i < 2 || (i >= 4 && i < 6) ? lane / 4 : lane / 4 + 8;
        const int col = lane % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0);
        return row * 16 + col;
      },
      [](int lane, int i) { return (lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0)) * 8 + lane / 4; },
      [](int lane, int i) { return (i < 2 ? lane / 4 : lane / 4 + 8) * 8 + lane % 4 * 2 + (i & 1); });
}

Layout m16n8k32() {
  return make(
      Format::kI8, 16, 8, 32, 32, 16, 8, 4,
      [](int lane, int i) {
        const int row = i < 4 || (i >= 8 && i < 12) ? lane / 4 : lane / 4 + 8;
        const int col = lane % 4 * 4 + (i & 3) + (i >= 8 ? 16 : 0);
        return row * 32 + col;
      },
      [](int lane, int i) { return (lane % 4 * 4 + (i & 3) + (i >= 4 ? 16 : 0)) * 8 + lane / 4; },
      [](int lane, int i) { return (i < 2 ? lane / 4 : lane / 4 + 8) * 8 + lane % 4 * 2 + (i & 1); });
}

Layout m16n8k8() {
  return make(
      Format::kTf32, 16, 8, 8, 32, 4, 2, 4,
      [](int lane, int i) {
        const int row = i == 0 || i == 2 ? lane / 4 : lane / 4 + 8;
        const int col = i < 2 ? lane % 4 : lane % 4 + 4;
        return row * 8 + col;
      },
      [](int lane, int i) { return (i == 0 ? lane % 4 : lane % 4 + 4) * 8 + lane / 4; },
      [](int lane, int i) { return (i < 2 ? lane / 4 : lane / 4 + 8) * 8 + lane % 4 * 2 + (i & 1); });
}

// A[i][k]: lane = i + 32 * (k / run), item k % run. C[i][j]: lane = j + 32 * ((i / 4) % 2), item i % 4 + 4 * (i / 8).
Layout mfma32x32(Format format, int k, int run) {
  return make(
      format, 32, 32, k, 64, run, run, 16, [=](int lane, int e) { return (lane & 31) * k + (lane >> 5) * run + e; },
      [=](int lane, int e) { return ((lane >> 5) * run + e) * 32 + (lane & 31); },
      [](int lane, int e) { return ((e >> 2) * 8 + (lane >> 5) * 4 + (e & 3)) * 32 + (lane & 31); });
}

// A[i][k]: lane = i + 16 * (k / run), item k % run. C[i][j]: lane = j + 16 * (i / 4), item i % 4.
Layout mfma16x16(Format format, int k, int run) {
  return make(
      format, 16, 16, k, 64, run, run, 4, [=](int lane, int e) { return (lane & 15) * k + (lane >> 4) * run + e; },
      [=](int lane, int e) { return ((lane >> 4) * run + e) * 16 + (lane & 15); },
      [](int lane, int e) { return ((lane >> 4) * 4 + e) * 16 + (lane & 15); });
}

// RDNA3: lanes 16 to 31 repeat A and B of lanes 0 to 15; C rows alternate between the halves.
Layout wmma_gfx11(Format format) {
  return make(
      format, 16, 16, 16, 32, 16, 16, 8, [](int lane, int e) { return (lane & 15) * 16 + e; },
      [](int lane, int e) { return e * 16 + (lane & 15); },
      [](int lane, int e) { return (e * 2 + (lane >> 4)) * 16 + (lane & 15); });
}

// RDNA4: lanes 16 to 31 hold k from 8 on, and rows of C from 8 on.
Layout wmma_gfx12(Format format) {
  return make(
      format, 16, 16, 16, 32, 8, 8, 8, [](int lane, int e) { return (lane & 15) * 16 + (lane >> 4) * 8 + e; },
      [](int lane, int e) { return ((lane >> 4) * 8 + e) * 16 + (lane & 15); },
      [](int lane, int e) { return ((lane >> 4) * 8 + e) * 16 + (lane & 15); });
}

// gfx1250: lanes 0 to 15 hold k 0 to 7, 16 to 23 and so on, the others the eights between; C as RDNA4.
Layout wmma_gfx1250(Format format, int k) {
  const auto k_of = [](int lane, int e) { return ((e >> 3) * 2 + (lane >> 4)) * 8 + (e & 7); };
  return make(
      format, 16, 16, k, 32, k / 2, k / 2, 8, [=](int lane, int e) { return (lane & 15) * k + k_of(lane, e); },
      [=](int lane, int e) { return k_of(lane, e) * 16 + (lane & 15); },
      [](int lane, int e) { return ((lane >> 4) * 8 + e) * 16 + (lane & 15); });
}

struct Instruction {
  const char* name;
  Layout layout;
};

// In the order of MmaKind.
const Instruction& instruction(MmaKind kind) {
  static const std::array<Instruction, 35> all = {{
      {"mma.m16n8k16.f16", m16n8k16(Format::kF16)},
      {"mma.m16n8k16.bf16", m16n8k16(Format::kBf16)},
      {"mma.m16n8k8.tf32", m16n8k8()},
      {"mfma.32x32x8.f16", mfma32x32(Format::kF16, 8, 4)},
      {"mfma.32x32x8.bf16", mfma32x32(Format::kBf16, 8, 4)},
      {"mfma.16x16x16.f16", mfma16x16(Format::kF16, 16, 4)},
      {"mfma.16x16x16.bf16", mfma16x16(Format::kBf16, 16, 4)},
      {"mfma.16x16x4.f32", mfma16x16(Format::kF32, 4, 1)},
      {"wmma.16x16x16.f16", wmma_gfx11(Format::kF16)},
      {"wmma.16x16x16.bf16", wmma_gfx11(Format::kBf16)},
      {"wmma.16x16x16.f16", wmma_gfx12(Format::kF16)},
      {"wmma.16x16x16.bf16", wmma_gfx12(Format::kBf16)},
      {"mfma.32x32x16.fp8 (fnuz)", mfma32x32(Format::kE4m3Fnuz, 16, 8)},
      {"mfma.16x16x32.fp8 (fnuz)", mfma16x16(Format::kE4m3Fnuz, 32, 8)},
      {"mfma.32x32x16.fp8", mfma32x32(Format::kE4m3, 16, 8)},
      {"mfma.16x16x32.fp8", mfma16x16(Format::kE4m3, 32, 8)},
      {"mfma.32x32x16.f16", mfma32x32(Format::kF16, 16, 8)},
      {"mfma.16x16x32.f16", mfma16x16(Format::kF16, 32, 8)},
      {"mfma.32x32x16.bf16", mfma32x32(Format::kBf16, 16, 8)},
      {"mfma.16x16x32.bf16", mfma16x16(Format::kBf16, 32, 8)},
      {"mfma.32x32x64.f8f6f4 (fp8)", mfma32x32(Format::kE4m3, 64, 32)},
      {"mfma.16x16x128.f8f6f4 (fp8)", mfma16x16(Format::kE4m3, 128, 32)},
      {"wmma.16x16x16.fp8", wmma_gfx12(Format::kE4m3)},
      {"wmma.16x16x16.bf8", wmma_gfx12(Format::kE5m2)},
      {"wmma.16x16x32.f16", wmma_gfx1250(Format::kF16, 32)},
      {"wmma.16x16x32.bf16", wmma_gfx1250(Format::kBf16, 32)},
      {"mma.m16n8k32.s8", m16n8k32()},
      {"mfma.32x32x8.i8", mfma32x32(Format::kI8, 8, 4)},
      {"mfma.16x16x16.i8", mfma16x16(Format::kI8, 16, 4)},
      {"mfma.32x32x16.i8", mfma32x32(Format::kI8, 16, 8)},
      {"mfma.16x16x32.i8", mfma16x16(Format::kI8, 32, 8)},
      {"wmma.16x16x16.iu8", wmma_gfx11(Format::kI8)},
      {"wmma.16x16x16.iu8", wmma_gfx12(Format::kI8)},
      {"wmma.16x16x64.fp8", wmma_gfx1250(Format::kE4m3, 64)},
      {"wmma.16x16x64.bf8", wmma_gfx1250(Format::kE5m2, 64)},
  }};
  return all[static_cast<size_t>(kind)];
}

struct Call {
  MmaKind kind;
  int count;  // products that share A; their B and C follow one another
  float* c;
  const void* a;
  const void* b;
};

constexpr int kMostColumns = 256;  // of the products that are computed at once

// Every lane's elements of A, and of B for `count` products from `first`, to their places in float matrices.
template <class T, class Widen>
void gather(const Layout& layout, void** lanes, int first, int count, float* a, float* b, Widen widen) {
  const uint16_t* place_a = layout.a.data();
  const int pitch = layout.n * count;
  for (int lane = 0; lane < layout.lanes; ++lane) {
    const Call& call = *static_cast<const Call*>(lanes[lane]);
    const T* from_a = static_cast<const T*>(call.a);
    const T* from_b = static_cast<const T*>(call.b) + first * layout.b_count;
    for (int e = 0; e < layout.a_count; ++e) a[*place_a++] = widen(from_a[e]);
    const Layout::Place* places = &layout.b[static_cast<size_t>(lane) * layout.b_count];
    for (int j = 0; j < count; ++j) {
      for (int e = 0; e < layout.b_count; ++e)
        b[places[e].row * pitch + j * layout.n + places[e].col] = widen(*from_b++);
    }
  }
}

// Copies C of `count` products from `first` between the lanes and the tile. kWidth neighbours of a lane are neighbours
// in a row of the tile.
template <int kWidth, bool kToLanes>
void move_c(const Layout& layout, void** lanes, int first, int count, float* c) {
  const int pitch = layout.n * count;
  for (int lane = 0; lane < layout.lanes; ++lane) {
    float* own = static_cast<const Call*>(lanes[lane])->c + first * layout.c_count;
    const Layout::Place* places = &layout.c[static_cast<size_t>(lane) * layout.c_count];
    for (int e = 0; e < layout.c_count; e += kWidth) {
      float* tile = c + places[e].row * pitch + places[e].col;
      for (int j = 0; j < count; ++j) {
        float* mine = own + j * layout.c_count + e;
        std::memcpy(kToLanes ? mine : tile + j * layout.n, kToLanes ? tile + j * layout.n : mine, kWidth * 4);
      }
    }
  }
}

template <bool kToLanes>
void move_c(const Layout& layout, void** lanes, int first, int count, float* c) {
  if (layout.c_pairs) return move_c<2, kToLanes>(layout, lanes, first, count, c);
  move_c<1, kToLanes>(layout, lanes, first, count, c);
}

template <class T>
constexpr std::array<float, 256> widened() {
  std::array<float, 256> values{};
  for (int bits = 0; bits < 256; ++bits) values[bits] = number::to_float(T{static_cast<u8>(bits)});
  return values;
}
constexpr std::array<float, 256> kWideE4m3 = widened<E4m3>(), kWideE5m2 = widened<E5m2>(),
                                 kWideE4m3Fnuz = widened<E4m3Fnuz>();

struct Tiles {
  float a[32 * 64], b[128 * kMostColumns], c[32 * kMostColumns];
};

// int32 sums, which wrap. The products of one instruction are exact in fp32: 32 of at most 2^14.
void add_integers(int m, int n, int k, Tiles& tiles) {
  static thread_local const auto products = std::make_unique<std::array<float, std::size(Tiles().c)>>();
  std::fill_n(products->begin(), m * n, 0.0f);
  multiply_small(m, n, k, tiles.a, tiles.b, products->data());
  for (int i = 0; i < m * n; ++i) {
    const auto sum = std::bit_cast<uint32_t>(tiles.c[i]) + static_cast<uint32_t>(static_cast<int32_t>((*products)[i]));
    tiles.c[i] = std::bit_cast<float>(sum);
  }
}

void execute(Warp&, void** lanes) {
  const Call& call = *static_cast<const Call*>(lanes[0]);
  const Layout& layout = instruction(call.kind).layout;
  // WHY on the heap: a library loaded late, into Python say, finds only a kilobyte or two of thread-local storage.
  static thread_local const std::unique_ptr<Tiles> tiles = std::make_unique<Tiles>();
  auto& [a, b, c] = *tiles;
  const int step = kMostColumns / layout.n;
  for (int first = 0; first < call.count; first += step) {
    const int count = std::min(step, call.count - first);
    switch (layout.format) {
      case Format::kF16:
        gather<uint16_t>(layout, lanes, first, count, a, b, [](uint16_t v) { return widen_f16(v); });
        break;
      case Format::kBf16:
        gather<uint16_t>(layout, lanes, first, count, a, b, [](uint16_t v) { return widen_bf16(v); });
        break;
      case Format::kTf32:  // the unit reads the upper 19 bits
        gather<uint32_t>(layout, lanes, first, count, a, b,
                         [](uint32_t v) { return std::bit_cast<float>(v & 0xffffe000u); });
        break;
      case Format::kE4m3:
        gather<uint8_t>(layout, lanes, first, count, a, b, [](uint8_t v) { return kWideE4m3[v]; });
        break;
      case Format::kE5m2:
        gather<uint8_t>(layout, lanes, first, count, a, b, [](uint8_t v) { return kWideE5m2[v]; });
        break;
      case Format::kE4m3Fnuz:
        gather<uint8_t>(layout, lanes, first, count, a, b, [](uint8_t v) { return kWideE4m3Fnuz[v]; });
        break;
      case Format::kF32:
        gather<float>(layout, lanes, first, count, a, b, [](float value) { return value; });
        break;
      case Format::kI8:
        gather<int8_t>(layout, lanes, first, count, a, b, [](int8_t value) { return static_cast<float>(value); });
        break;
    }
    move_c<false>(layout, lanes, first, count, c);
    if (layout.format == Format::kI8) {
      add_integers(layout.m, layout.n * count, layout.k, *tiles);
    } else {
      multiply_small(layout.m, layout.n * count, layout.k, a, b, c);
    }
    move_c<true>(layout, lanes, first, count, c);
  }
}

}  // namespace

void check_cleared(const float* accumulators, int count, const char* operation, Site site) {
  if (!std::all_of(accumulators, accumulators + count, never_set)) return;
  fail(Fault::kUninitialised, operation, site,
       fmt::format("the product is added to {} accumulators of lane {} that were never set: clear them first", count,
                   current->lane));
}

void mma(MmaKind kind, int count, float* c, const void* a, const void* b, Site site) {
  Call call{kind, count, c, a, b};
  const Instruction& what = instruction(kind);
  if (current->warp->lanes != what.layout.lanes) {
    fail(Fault::kUse, what.name, site,
         fmt::format("needs a full warp of {} lanes, this one has {}", what.layout.lanes, current->warp->lanes));
  }
  for (int i = 0; i < count; ++i) {
    const float* own = c + i * what.layout.c_count;
    if (never_set(own[0])) [[unlikely]]
      check_cleared(own, what.layout.c_count, what.name, site);
  }
  collective(what.name, &call, site, execute);
}

}  // namespace wt::sim
