// SPDX-License-Identifier: Apache-2.0
// conformance/scaled_probes.cc - products of tcgen05 with scales for blocks of numbers, of every kind.
#include <bit>

#include "base/format.h"
#include "conformance/probe.h"
#include "conformance/tensor_dump.h"
#include "problem/number.h"
#include "problem/problem.h"
#include "target/tcgen05_words.h"

namespace wt::conformance {
namespace {

using device::ScaledKind;

// A scale by its number, small enough that every sum is exact: a power of two, or an e4m3.
struct Scale {
  uint8_t byte;
  float value;
};
Scale scale_at(ScaledKind kind, size_t i) {
  constexpr Scale kPowers[] = {{127, 1}, {126, 0.5f}, {128, 2}, {129, 4}, {125, 0.25f}};
  constexpr Scale kFp8[] = {{0x38, 1}, {0x30, 0.5f}, {0x3c, 1.5f}, {0x40, 2}, {0x46, 3.5f}};
  return kind == ScaledKind::kNvf4 ? kFp8[i * 3 % 5] : kPowers[i * 3 % 5];
}

// Operands with scales, 128 bytes deep: four products.
Probe scaled_probe(ScaledKind kind, DataType type_a, DataType type_b, int n) {
  constexpr int kRows = 128, kDeepBytes = 128, kSteps = 4, kColumnOfA = 160, kColumnOfB = 192;
  constexpr const char* kNames[] = {"kMxf8", "kMxf4", "kNvf4"};
  constexpr float kE2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, 0, -0.5f, -1, -1.5f, -2, -3, -4, -6};
  const bool packed = kind != ScaledKind::kMxf8;
  const int scales = device::tensor_scales(kind), parts = scales * kSteps / 4;
  const int deep = packed ? 2 * kDeepBytes : kDeepBytes, each = deep / (scales * kSteps);
  Probe probe;
  const std::string kind_name = kNames[static_cast<int>(kind)];
  probe.name = fmt::format("tcgen05.scaled.{}.{}m128n{}", kind_name.substr(1),
                           packed ? "" : fmt::format("{}_{}.", name_of(type_a), name_of(type_b)), n);
  probe.since = Target::kSm100a;
  probe.module = fmt::format("probe_tcgen05_scaled_{}", kind_name);
  probe.header = "conformance/device/tcgen05.h";
  probe.entry = fmt::format("probe_tcgen05_scaled_{}", kind_name);
  probe.kernel = fmt::format("wt::probe::TensorScaledProbe<wt::device::ScaledKind::{}>", kind_name);
  probe.shape.threads = 128;
  probe::Params& p = probe.params;
  p.tap[0] = 512 * parts;

  // Numbers as the unit multiplies them, and their bytes.
  std::vector<float> values[2];
  Bytes bytes, of_scales;
  for (const bool of_b : {false, true}) {
    const int rows = of_b ? n : kRows;
    const DataType type = of_b ? type_b : type_a;
    std::vector<float>& to = values[of_b];
    to.resize(static_cast<size_t>(rows * deep));
    Bytes laid(static_cast<size_t>(rows * kDeepBytes), 0);
    Bytes scale_bytes(static_cast<size_t>(p.tap[0]), of_b ? 0x31 : 0x32);
    for (int row = 0; row < rows; ++row) {
      for (int k = 0; k < deep; ++k) {
        const auto i = static_cast<size_t>(row * deep + k);
        const int at = packed ? k / 2 : k;
        uint8_t& byte = laid[static_cast<size_t>(swizzled_place(row * kDeepBytes + at, 128))];
        if (packed) {
          const size_t code = (i * 7 + i / 61 + (of_b ? 3 : 0)) % 16;
          byte = static_cast<uint8_t>(byte | code << 4 * (k % 2));
          to[i] = kE2m1[code];
        } else {
          to[i] = static_cast<float>(static_cast<int>((i * 7 + i / 61) % 9) - 4);
          store(type, &byte, 0, to[i]);
        }
        const int s = k / each;  // of the row's scales
        const Scale scale = scale_at(kind, static_cast<size_t>(row * 5 + s * 2 + (row / 32) + (of_b ? 1 : 0)));
        to[i] *= scale.value;
        scale_bytes[static_cast<size_t>(s / 4 * 512 + row % 32 * 16 + row / 32 * 4 + s % 4)] = scale.byte;
      }
    }
    bytes.insert(bytes.end(), laid.begin(), laid.end());
    of_scales.insert(of_scales.end(), scale_bytes.begin(), scale_bytes.end());
    if (!of_b) p.bytes_a = static_cast<int>(bytes.size());
  }
  p.bytes = static_cast<int>(bytes.size());
  probe.input = bytes;
  probe.input.insert(probe.input.end(), of_scales.begin(), of_scales.end());
  p.count = kSteps;
  p.form = static_cast<i32>(device::tensor_word_scaled(kind, type_a, type_b, kRows, n, 0, 0));
  p.at[0] = 0, p.at[1] = kColumnOfA, p.at[2] = kColumnOfB;
  probe.shape.shared_bytes = static_cast<uint32_t>(8192 + probe.input.size());
  std::vector<float> d = untouched(1);
  for (int lane = 0; lane < 128; ++lane) {
    for (const bool of_b : {false, true}) {
      for (int column = 0; column < 4 * parts; ++column) {
        uint32_t word = 0;
        for (int i = 0; i < 4; ++i) {
          const int at = (of_b ? p.tap[0] : 0) + column / 4 * 512 + lane % 32 * 16 + column % 4 * 4 + i;
          word |= static_cast<uint32_t>(of_scales[static_cast<size_t>(at)]) << 8 * i;
        }
        d[static_cast<size_t>(lane * kColumns + (of_b ? kColumnOfB : kColumnOfA) + column)] =
            std::bit_cast<float>(word);
      }
    }
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int k = 0; k < deep; ++k)
        sum += values[0][static_cast<size_t>(lane * deep + k)] * values[1][static_cast<size_t>(column * deep + k)];
      d[static_cast<size_t>(lane * kColumns + column)] = sum;
    }
  }
  probe.expected = bytes_of(d);
  probe.output = Bytes(probe.expected.size(), 0);
  return probe;
}

}  // namespace

void add_scaled_probes(std::vector<Probe>& list) {
  using enum DataType;
  for (const int n : {32, 128}) {
    list.push_back(scaled_probe(ScaledKind::kMxf8, kE4m3, kE4m3, n));
    list.push_back(scaled_probe(ScaledKind::kMxf8, kE5m2, kE4m3, n));
    list.push_back(scaled_probe(ScaledKind::kMxf4, kE4m3, kE4m3, n));
    list.push_back(scaled_probe(ScaledKind::kNvf4, kE4m3, kE4m3, n));
  }
}

}  // namespace wt::conformance
