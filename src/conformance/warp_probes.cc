// SPDX-License-Identifier: Apache-2.0
// conformance/warp_probes.cc - mma.sync, ldmatrix and stmatrix, exchanges, conversions and approximations.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/format.h"
#include "conformance/mma_probe.h"
#include "problem/number.h"

namespace wt::conformance {
namespace {

// One product with 1 in every row: C holds B's numbers as the unit reads them, of a tf32 the upper 19 bits.
Probe tf32_values() {
  using Layout = device::MmaSync16x8x8;
  Probe probe = warp_probe("mma.tf32_16x8x8.values", "tf32_16x8x8", "Multiply<wt::DataType::kTf32, 16, 8, 8>", 32);
  std::vector<uint32_t> b(64);
  const Bytes bits = pattern(256, 24);
  std::memcpy(b.data(), bits.data(), 256);
  for (uint32_t& value : b) value = (value & 0x80ffffffu) | 0x3f000000u;
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < Layout::kA; ++e)
      append(probe.input, Layout::a_row(lane, e) % 8 == Layout::a_k(lane, e) ? 1.f : 0.f);
  }
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < Layout::kB; ++e) append(probe.input, b[Layout::b_col(lane, e) * 8 + Layout::b_k(lane, e)]);
  }
  for (int i = 0; i < 32 * Layout::kC; ++i) append(probe.input, 0.f);
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < Layout::kC; ++e)
      append(probe.expected, b[Layout::c_col(lane, e) * 8 + Layout::c_row(lane, e) % 8] & 0xffffe000u);
  }
  probe.output = Bytes(probe.expected.size(), 0);
  return probe;
}

// The exact fp32 tile of target/fma_tile.h, whose lanes hold whole rows of A and columns of B.
struct FmaLayout {
  static constexpr int kA = 16, kB = 16, kC = 4;
  static int a_row(int lane, int e) { return lane / 4 + 8 * (e / 8); }
  static int a_k(int, int e) { return e % 8; }
  static int b_col(int lane, int e) { return lane % 4 * 2 + e / 8; }
  static int b_k(int, int e) { return e % 8; }
  static int c_row(int lane, int e) { return lane / 4 + 8 * (e / 2); }
  static int c_col(int lane, int e) { return lane % 4 * 2 + e % 2; }
};

// PTX manual, ldmatrix: lane l gives row l % 8 of matrix l / 8; register r of a lane holds two neighbours of row
// lane / 4 of matrix r, transposed two neighbours of a column. visit(lane, r, half, byte of shared memory).
template <class Visit>
void for_matrix(int count, bool transposed, Visit visit) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < count; ++r) {
      for (int half = 0; half < 2; ++half) {
        const int row = transposed ? lane % 4 * 2 + half : lane / 4,
                  column = transposed ? lane / 4 : lane % 4 * 2 + half;
        const int giver = r * 8 + row;
        visit(lane, r, half, giver * 7 % 32 * 16 + column * 2);
      }
    }
  }
}

void add_matrix_probes(std::vector<Probe>& list) {
  for (const bool transposed : {false, true}) {
    for (const int count : {4, 2}) {
      const std::string form = fmt::format("x{}{}", count, transposed ? ".transposed" : "");
      Probe load = warp_probe("ldmatrix." + form, "load_matrix", "LoadMatrix", 32);
      load.params.form = count + (transposed ? 10 : 0);
      load.shape.shared_bytes = 512;
      load.input = pattern(512, 21);
      load.output = Bytes(static_cast<size_t>(128 * count), 0);
      load.expected = load.output;
      for_matrix(count, transposed, [&](int lane, int r, int half, int byte) {
        std::memcpy(&load.expected[(lane * count + r) * 4 + half * 2], &load.input[byte], 2);
      });
      list.push_back(std::move(load));

      Probe kept = warp_probe("stmatrix." + form, "store_matrix", "StoreMatrix", 32);
      kept.since = Target::kSm90a;
      kept.module = "probe_store_matrix";
      kept.params.form = count + (transposed ? 10 : 0);
      kept.shape.shared_bytes = 512;
      kept.input = pattern(static_cast<size_t>(128 * count), 22);
      kept.output = Bytes(512, 0);
      for (int i = 0; i < 128; ++i) append(kept.expected, probe::kUntouched);
      for_matrix(count, transposed, [&](int lane, int r, int half, int byte) {
        std::memcpy(&kept.expected[byte], &kept.input[(lane * count + r) * 4 + half * 2], 2);
      });
      list.push_back(std::move(kept));
    }
  }
}

void add_exchange(std::vector<Probe>& list) {
  Probe probe = warp_probe("warp.exchange", "exchange", "Exchange", 64);
  probe.shape.grid = {2, 1, 1};
  std::vector<uint32_t> words(64);
  probe.input = pattern(256, 23);
  std::memcpy(words.data(), probe.input.data(), 256);
  probe.output = Bytes(64 * 72 * 4, 0);
  for (int t = 0; t < 64; ++t) {
    const int base = t / 32 * 32, lane = t % 32;
    const auto real = [&](int l) { return static_cast<float>(words[base + l] & 0xffff); };
    const auto votes = [&](auto vote) {
      uint32_t bits = 0;
      for (int l = 0; l < 32; ++l) bits |= static_cast<uint32_t>(vote(l)) << l;
      return bits;
    };
    for (int mask = 1; mask < 32; ++mask) append(probe.expected, words[base + (lane ^ mask)]);
    for (int l = 0; l < 32; ++l) append(probe.expected, words[base + l]);
    append(probe.expected, real(lane ^ 5));
    append(probe.expected, real(lane * 3 % 32));
    append(probe.expected, votes([&](int l) { return (words[base + l] & 1) != 0; }));
    append(probe.expected, votes([&](int l) { return (words[base + l] & 2) != 0; }));
    append(probe.expected, uint32_t{31});
    append(probe.expected, static_cast<uint32_t>(t / 32 * 100 + 7));
    append(probe.expected, static_cast<uint32_t>(t / 32));
    append(probe.expected, static_cast<uint32_t>(lane));
    append(probe.expected, uint32_t{16});
  }
  probe.shape.grid = {1, 1, 1};
  list.push_back(std::move(probe));
}

// Where an instruction's result may lie: within `bound` of the exact one, relative, and the limits rounded outwards.
// Subnormal results may be zero.
void append_range(Bytes& bytes, double exact, double bound) {
  using Limits = std::numeric_limits<float>;
  const double size = std::fabs(exact);
  const float inner = size < 2.0 * Limits::min() ? 0 : std::nextafter(static_cast<float>(size * (1 - bound)), 0.0f);
  const float outer = std::nextafter(static_cast<float>(size * (1 + bound)), Limits::infinity());
  append(bytes, std::signbit(exact) ? -outer : inner);
  append(bytes, std::signbit(exact) ? -inner : outer);
}

Probe approximations() {
  Probe probe = warp_probe("arithmetic.approximate", "approximate", "Approximate", 256);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {0.0f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  for (uint32_t high = 0x0100; high < 0x7f80; ++high) {  // normal numbers whose reciprocal is normal or nearly so
    const uint32_t mixed = high * 2654435761u >> 16;
    for (const uint32_t sign : {0u, 0x80000000u}) values.push_back(std::bit_cast<float>(sign | high << 16 | mixed));
  }
  for (const float value : values) {
    append(probe.input, value);
    if (std::isnan(value)) {
      for (int i = 0; i < 4; ++i) append(probe.input, value);
      continue;
    }
    append_range(probe.input, std::exp2(static_cast<double>(value)), 0x1p-22);
    append_range(probe.input, 1 / static_cast<double>(value), 0x1p-23);
  }
  probe.params.count = static_cast<int>(values.size());
  probe.shape.grid = {64, 1, 1};
  probe.output = Bytes(values.size() * 8, 0);
  for (size_t i = 0; i < values.size(); ++i) append(probe.expected, uint64_t{0x0000000100000001});
  return probe;
}

}  // namespace

void add_conversions(std::vector<Probe>& list) {
  list.push_back(approximations());
  // Every sign and exponent with many fractions, among them the ties of each format.
  Probe narrow = warp_probe("convert.from_float", "narrow", "Narrow", 256);
  std::vector<float> values;
  for (uint32_t high = 0; high < 65536; ++high) {
    if ((high & 0x7f80) == 0x7f80) continue;  // infinite or NaN
    const uint32_t mixed = high * 2654435761u >> 16;
    for (const uint32_t low : {0u, 0x1000u, 0x3000u, 0x8000u, mixed})
      values.push_back(std::bit_cast<float>(high << 16 | low));
  }
  for (const uint32_t bits : {0x7f800000u, 0xff800000u}) values.push_back(std::bit_cast<float>(bits));
  narrow.params.count = static_cast<int>(values.size());
  narrow.shape.grid = {64, 1, 1};
  narrow.input.resize(values.size() * 4);
  std::memcpy(narrow.input.data(), values.data(), narrow.input.size());
  narrow.output = Bytes(values.size() * 16, 0);
  for (const float value : values) {
    append(narrow.expected, float_to_bf16(value));
    append(narrow.expected, float_to_fp16(value));
    append(narrow.expected, float_to_e4m3(value));
    append(narrow.expected, float_to_e5m2(value));
    append(narrow.expected, uint16_t{0});
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    // Ties away from zero, as cvt.rna does.
    append(narrow.expected, std::isfinite(value) ? (bits + 0x1000u) & 0xffffe000u : bits);
    append(narrow.expected, std::sqrt(value < 0 ? -value : value));
  }
  list.push_back(std::move(narrow));

  Probe widen = warp_probe("convert.to_float", "widen", "Widen", 256);
  widen.shape.grid = {64, 1, 1};
  widen.output = Bytes(65536 * 16, 0);
  const auto put = [&](float value) {
    append(widen.expected, std::isnan(value) ? 0x7fffffffu : std::bit_cast<uint32_t>(value));
  };
  for (uint32_t i = 0; i < 65536; ++i) {
    put(bf16_to_float(static_cast<uint16_t>(i)));
    put(fp16_to_float(static_cast<uint16_t>(i)));
    put(e4m3_to_float(static_cast<uint8_t>(i)));
    put(e5m2_to_float(static_cast<uint8_t>(i)));
  }
  list.push_back(std::move(widen));
}

void add_warp_probes(std::vector<Probe>& list) {
  using namespace device;
  list.push_back(mma_probe<MmaSync16x8x16<Bf16>>("bf16_16x8x16", DataType::kBf16,
                                                 "Multiply<wt::DataType::kBf16, 16, 8, 16>", 16, 8, 16, false));
  list.push_back(mma_probe<MmaSync16x8x16<F16>>("fp16_16x8x16", DataType::kF16,
                                                "Multiply<wt::DataType::kF16, 16, 8, 16>", 16, 8, 16, false));
  list.push_back(mma_probe<MmaSync16x8x8>("tf32_16x8x8", DataType::kTf32, "Multiply<wt::DataType::kTf32, 16, 8, 8>", 16,
                                          8, 8, false));
  list.push_back(
      mma_probe<FmaLayout>("fp32_16x8x8", DataType::kF32, "Multiply<wt::DataType::kF32, 16, 8, 8>", 16, 8, 8, true));
  list.push_back(mma_probe<MmaSync16x8x32<I8>>("int8_16x8x32", DataType::kI8, "Multiply<wt::DataType::kI8, 16, 8, 32>",
                                               16, 8, 32, false));
  list.push_back(tf32_values());
  add_matrix_probes(list);
  add_exchange(list);
  add_conversions(list);
}

}  // namespace wt::conformance
