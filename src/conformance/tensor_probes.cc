// SPDX-License-Identifier: Apache-2.0
// conformance/tensor_probes.cc - tcgen05 through every kind, descriptor form, M, N and group of blocks, the shapes of
// loads and copies, and launch control; scaled_probes.cc has products with scales.
//
// Small integers make every sum exact. Where D's numbers lie: PTX manual, "Data path layout organization" of tcgen05.
#include <bit>

#include "base/format.h"
#include "config/enum_names.h"
#include "conformance/probe.h"
#include "conformance/tensor_dump.h"
#include "problem/number.h"
#include "problem/problem.h"
#include "target/tcgen05_words.h"

namespace wt::conformance {
namespace {

using device::TensorCopy;
using device::TensorKind;
using device::TensorShape;

constexpr const char* kKinds[] = {"kF16", "kTf32", "kF8f6f4", "kI8"};
constexpr const char* kShapes[] = {"k32x32", "k16x64", "k16x128", "k16x256", "k16x32Two"};

struct Form {
  DataType a, b;
  bool integers;
  int m, n, blocks;
  bool mn_a, mn_b;  // which operand lies across k
};

struct Laid {
  Bytes bytes;
  int leading, stride, step;
};

// How the rows of A lie beside the usual: as patches of an image do.
struct Patch {
  int first = 0;      // rows from a repeat of the swizzle to the first
  int pitch = 8;      // rows from a group of 8 to the next
  bool taps = false;  // across k: blocks begin 8 rows of k after each other, and overlap
};

// "Canonical layouts": the same as wgmma's.
Laid lay(const std::vector<float>& matrix, int first_row, int rows, int depth, const Form& form, DataType type,
         bool mn_major, int swizzle, const Patch& patch) {
  const int offset = patch.first * swizzle;
  const int size = size_of(type), wide = (swizzle ? swizzle : 16) / size;
  const int padded = mn_major ? (rows + wide - 1) / wide * wide : (rows / 8 - 1) * (patch.pitch - 8) + rows;
  Laid laid{Bytes(static_cast<size_t>(padded * depth * size + offset), 0xff), 16, 0, 0};
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < depth; ++k) {
      const int byte = k * size;
      int place;
      if (!mn_major && swizzle) {
        place = (row / 8 * patch.pitch + row % 8) * swizzle + byte;
        laid.stride = patch.pitch * swizzle, laid.step = 32;
      } else if (!mn_major) {
        place = byte / 16 * rows * 16 + row * 16 + byte % 16;
        laid.leading = rows * 16, laid.stride = 128, laid.step = 2 * rows * 16;
      } else if (patch.taps) {
        place = (k + 8 * (row / wide)) * swizzle + row % wide * size;
        laid.leading = laid.stride = 8 * swizzle, laid.step = 32 / size * swizzle;
      } else if (swizzle) {
        place = row / wide * depth * swizzle + k * swizzle + row % wide * size;
        laid.leading = depth * swizzle, laid.stride = 8 * swizzle, laid.step = 32 / size * swizzle;
      } else {
        place = row / wide * depth * 16 + k * 16 + row % wide * size;
        laid.leading = 128, laid.stride = depth * 16, laid.step = 32 / size * 16;
      }
      const float value =
          matrix[static_cast<size_t>(first_row + row) * static_cast<size_t>(depth) + static_cast<size_t>(k)];
      uint8_t* to = laid.bytes.data() + swizzled_place(place + offset, swizzle);
      if (form.integers) {
        *to = static_cast<uint8_t>(static_cast<int8_t>(value));
      } else {
        store(type, to, 0, value);
      }
    }
  }
  return laid;
}

// Where D (m, n) lies, in its block of 128 lanes.
size_t place_of(const Form& form, int m, int n, int column) {
  int block = 0, lane = m;
  if (form.blocks == 2 && form.m == 256) {
    block = m / 128, lane = m % 128;
  } else if (form.blocks == 2) {
    block = m / 64, lane = m % 64 + 64 * (n / (form.n / 2)), n %= form.n / 2;
  } else if (form.m == 64) {
    lane = m % 16 + 32 * (m / 16);
  }
  return (static_cast<size_t>(block) * 128 + static_cast<size_t>(lane)) * kColumns + static_cast<size_t>(column + n);
}

Probe product_probe(const Form& form, int swizzle, TensorShape shape, int column, bool adds, const Patch& patch = {}) {
  const TensorKind kind = form.integers ? TensorKind::kI8 : device::tensor_kind(form.a);
  const int size = size_of(form.a), depth = (swizzle ? swizzle : 64) / size;
  const auto deep = static_cast<size_t>(depth);
  std::vector<float> a(static_cast<size_t>(form.m) * deep), b(static_cast<size_t>(form.n) * deep);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
  // Overlapping blocks hold each other's numbers.
  for (size_t i = 0; patch.taps && i < a.size(); ++i) {
    const size_t m = i / deep, wide = static_cast<size_t>(swizzle / size), k = i % deep + 8 * (m / wide);
    a[i] = static_cast<float>(static_cast<int>((m % wide * 5 + k * 3) % 11) - 5);
  }
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(static_cast<int>((i + i / 13) * 5 % 13) - 6);
  Probe probe;
  const std::string types = form.integers ? "int8" : fmt::format("{}_{}", name_of(form.a), name_of(form.b));
  probe.name =
      fmt::format("tcgen05.{}.m{}n{}.blocks{}.{}{}.swizzle{}.{}{}{}", types, form.m, form.n, form.blocks,
                  form.mn_a ? "M" : "K", form.mn_b ? "N" : "K", swizzle,
                  std::string_view(kShapes[static_cast<int>(shape)]).substr(1), adds ? ".added" : "",
                  (patch.first ? fmt::format(".row{}", patch.first) : "") +
                      (patch.pitch != 8 ? fmt::format(".pitch{}", patch.pitch) : "") + (patch.taps ? ".taps" : ""));
  probe.since = Target::kSm100a;
  probe.module = fmt::format("probe_tcgen05_{}_{}", kKinds[static_cast<int>(kind)], form.blocks);
  probe.header = "conformance/device/tcgen05.h";
  probe.entry = fmt::format("probe_tcgen05_{}_{}_{}", kKinds[static_cast<int>(kind)], form.blocks,
                            kShapes[static_cast<int>(shape)]);
  probe.kernel =
      fmt::format("wt::probe::TensorProductProbe<wt::device::TensorKind::{}, {}, wt::device::TensorShape::{}>",
                  kKinds[static_cast<int>(kind)], form.blocks, kShapes[static_cast<int>(shape)]);
  probe.shape.threads = 128;
  probe.shape.grid[0] = probe.shape.cluster[0] = static_cast<uint32_t>(form.blocks);
  probe::Params& p = probe.params;
  for (int block = 0; block < form.blocks; ++block) {
    const int rows = form.m / form.blocks, columns = form.n / form.blocks;
    const Laid in_a = lay(a, block * rows, rows, depth, form, form.a, form.mn_a, swizzle, patch);
    const Laid in_b = lay(b, block * columns, columns, depth, form, form.b, form.mn_b, swizzle, {});
    probe.input.insert(probe.input.end(), in_a.bytes.begin(), in_a.bytes.end());
    probe.input.insert(probe.input.end(), in_b.bytes.begin(), in_b.bytes.end());
    p.bytes_a = static_cast<int>(in_a.bytes.size());
    p.bytes = p.bytes_a + static_cast<int>(in_b.bytes.size());
    p.leading_a = in_a.leading, p.stride_a = in_a.stride, p.step_a = in_a.step;
    p.leading_b = in_b.leading, p.stride_b = in_b.stride, p.step_b = in_b.step;
  }
  p.step = patch.first * swizzle;
  p.count = depth * size / 32;
  constexpr int kCodes[] = {0, 6, 4, 0, 2};  // by swizzle / 32
  p.swizzle_a = p.swizzle_b = kCodes[swizzle / 32];
  p.form = static_cast<i32>(form.integers ? device::tensor_word_i8(form.m, form.n)
                                          : device::tensor_word(form.a, form.b, form.m, form.n, form.mn_a, form.mn_b));
  p.at[0] = column;
  p.at[1] = adds;
  probe.shape.shared_bytes = static_cast<uint32_t>(4096 + p.bytes);
  std::vector<float> d = untouched(form.blocks);
  for (int m = 0; m < form.m; ++m) {
    for (int n = 0; n < form.n; ++n) {
      float sum = 0;
      for (size_t k = 0; k < deep; ++k)
        sum += a[static_cast<size_t>(m) * deep + k] * b[static_cast<size_t>(n) * deep + k];
      float& at = d[place_of(form, m, n, column)];
      at = form.integers ? std::bit_cast<float>(static_cast<int32_t>(sum)) : adds ? at + sum : sum;
    }
  }
  probe.expected = bytes_of(d);
  probe.output = Bytes(probe.expected.size(), 0);
  return probe;
}

// The row that a lane gets, by the manual's figures of tcgen05.cp's multicasts.
int row_of_lane(TensorCopy copy, int lane) {
  constexpr int kApart[] = {0, 1, 0, 1}, kNear[] = {0, 0, 1, 1};
  const int quarter = lane / 32, in_quarter = lane % 32;
  if (copy == TensorCopy::k32x128Four) return in_quarter;
  if (copy == TensorCopy::k64x128Apart) return 32 * kApart[quarter] + in_quarter;
  if (copy == TensorCopy::k64x128Near) return 32 * kNear[quarter] + in_quarter;
  return lane;
}

Probe copy_probe(TensorCopy copy, const char* name, int rows, int words) {
  Probe probe;
  probe.name = fmt::format("tcgen05.copy.{}", name + 1);
  probe.since = Target::kSm100a;
  probe.module = "probe_tcgen05_copy";
  probe.header = "conformance/device/tcgen05.h";
  probe.entry = fmt::format("probe_tcgen05_copy_{}", name);
  probe.kernel = fmt::format("wt::probe::TensorCopyProbe<wt::device::TensorCopy::{}>", name);
  probe.shape.threads = 128;
  const int padded = std::max(rows, 8);
  std::vector<uint32_t> bits(static_cast<size_t>(padded * words));
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = 0x3f000000u + static_cast<uint32_t>(i) * 12345u;
  // Groups of 8 rows of 16 bytes; the next 16 bytes of a row behind all rows.
  probe.input = Bytes(bits.size() * 4);
  for (int row = 0; row < padded; ++row) {
    for (int word = 0; word < words; ++word) {
      const size_t at = static_cast<size_t>(word / 4 * padded * 16 + row * 16 + word % 4 * 4);
      const uint32_t value = bits[static_cast<size_t>(row * words + word)];
      for (size_t i = 0; i < 4; ++i) probe.input[at + i] = static_cast<uint8_t>(value >> 8 * i);
    }
  }
  probe.params.bytes = static_cast<int>(probe.input.size());
  probe.params.leading_a = padded * 16;
  probe.params.stride_a = 128;
  probe.params.at[0] = 32;
  probe.shape.shared_bytes = static_cast<uint32_t>(4096 + probe.input.size());
  std::vector<float> d = untouched(1);
  for (int lane = 0; lane < (rows == 4 ? rows : 128); ++lane) {
    for (int word = 0; word < words; ++word) {
      d[static_cast<size_t>(lane * kColumns + 32 + word)] =
          std::bit_cast<float>(bits[static_cast<size_t>(row_of_lane(copy, lane) * words + word)]);
    }
  }
  probe.expected = bytes_of(d);
  probe.output = Bytes(probe.expected.size(), 0);
  return probe;
}

Probe launch_control_probe(int blocks) {
  constexpr int kClusters = 400;
  Probe probe;
  probe.name = fmt::format("launch_control.blocks{}", blocks);
  probe.since = Target::kSm100a;
  probe.module = "probe_launch_control";
  probe.header = "conformance/device/tcgen05.h";
  probe.entry = fmt::format("probe_launch_control_{}", blocks);
  probe.kernel = fmt::format("wt::probe::LaunchControlProbe<{}>", blocks);
  probe.shape.threads = 32;
  probe.shape.grid[0] = static_cast<uint32_t>(kClusters * blocks);
  probe.shape.cluster[0] = static_cast<uint32_t>(blocks);
  probe.shape.shared_bytes = 128;
  probe.input = Bytes(16);
  probe.output = Bytes(kClusters * 4, 0);
  for (int i = 0; i < kClusters; ++i) append(probe.expected, uint32_t{1});
  return probe;
}

}  // namespace

void add_tensor_probes(std::vector<Probe>& list) {
  using enum DataType;
  // Each kind along k, one block and pairs, every M.
  for (const DataType type : {kBf16, kF16, kTf32, kE4m3, kE5m2}) {
    for (const int swizzle : {0, 32, 64, 128}) {
      list.push_back(
          product_probe({type, type, false, 128, 64, 1, false, false}, swizzle, TensorShape::k32x32, 0, false));
      list.push_back(
          product_probe({type, type, false, 256, 64, 2, false, false}, swizzle, TensorShape::k32x32, 0, false));
    }
    list.push_back(product_probe({type, type, false, 64, 40, 1, false, false}, 128, TensorShape::k32x32, 16, false));
    list.push_back(product_probe({type, type, false, 128, 96, 2, false, false}, 128, TensorShape::k32x32, 32, false));
  }
  list.push_back(product_probe({kE4m3, kE5m2, false, 128, 48, 1, false, false}, 128, TensorShape::k32x32, 0, false));
  list.push_back(product_probe({kE5m2, kE4m3, false, 256, 96, 2, false, false}, 128, TensorShape::k32x32, 0, false));
  list.push_back(product_probe({kE4m3, kE4m3, true, 128, 64, 1, false, false}, 128, TensorShape::k32x32, 0, false));
  // Across k.
  for (const DataType type : {kBf16, kF16, kE4m3, kE5m2}) {
    for (const int swizzle : {32, 64, 128}) {
      for (const int blocks : {1, 2}) {
        list.push_back(product_probe({type, type, false, 128 * blocks, 128, blocks, false, true}, swizzle,
                                     TensorShape::k32x32, 0, false));
        list.push_back(product_probe({type, type, false, 128 * blocks, 128, blocks, true, true}, swizzle,
                                     TensorShape::k32x32, 0, false));
      }
    }
  }
  // Every N, and every shape of loads.
  for (int n = 16; n <= 256; n += 16) {
    const auto shape = static_cast<TensorShape>(n / 16 % 5);
    list.push_back(product_probe({kBf16, kBf16, false, 128, n, 1, false, false}, 128, shape, 0, true));
    if (n % 32 == 0) list.push_back(product_probe({kBf16, kBf16, false, 256, n, 2, false, false}, 128, shape, 0, true));
  }
  // Starts off a repeat of the swizzle, which the patches of halo kernels would have.
  for (const int row : {1, 2, 3, 5}) {
    for (const int pitch : {8, 10}) {
      list.push_back(product_probe({kBf16, kBf16, false, 128, 64, 1, false, false}, 128, TensorShape::k32x32, 0, false,
                                   {.first = row, .pitch = pitch}));
    }
  }
  // And blocks of channels that overlap, which the taps of weight gradients are.
  for (const int swizzle : {64, 128}) {
    list.push_back(product_probe({kBf16, kBf16, false, 128, 64, 1, true, true}, swizzle, TensorShape::k32x32, 0, false,
                                 {.taps = true}));
  }
  add_scaled_probes(list);
  list.push_back(copy_probe(TensorCopy::k128x256, "k128x256", 128, 8));
  list.push_back(copy_probe(TensorCopy::k128x128, "k128x128", 128, 4));
  list.push_back(copy_probe(TensorCopy::k32x128Four, "k32x128Four", 32, 4));
  list.push_back(copy_probe(TensorCopy::k4x256, "k4x256", 4, 8));
  list.push_back(copy_probe(TensorCopy::k64x128Apart, "k64x128Apart", 64, 4));
  list.push_back(copy_probe(TensorCopy::k64x128Near, "k64x128Near", 64, 4));
  list.push_back(launch_control_probe(1));
  list.push_back(launch_control_probe(2));
}

}  // namespace wt::conformance
