// SPDX-License-Identifier: Apache-2.0
// conformance/product_probes.cc - wgmma through every descriptor form, type pair and N, and the values it reads.
//
// Small integers make every sum exact, so the order in which a unit adds does not show.
#include <bit>
#include <cmath>
#include <cstring>

#include "base/format.h"
#include "config/enum_names.h"
#include "conformance/probe.h"
#include "problem/number.h"
#include "problem/problem.h"

namespace wt::conformance {
namespace {

struct Form {
  DataType a, b;
  int n;
  bool mn_a, mn_b;  // which operand is MN-major
  bool registers;   // A comes from registers
};

std::string_view enumerator(DataType type) { return enum_table<DataType>().names[static_cast<size_t>(type)].cpp; }

// A matrix as the bytes of shared memory, and the descriptor that reads it. PTX manual, "Shared Memory Matrix Layout"
// of wgmma and "Strides".
struct Laid {
  Bytes bytes;
  int leading, stride, step;
};

int swizzled_place(int byte, int swizzle) {
  const int line = byte / 128, piece = byte / 16 % 8, mask = swizzle ? swizzle / 16 - 1 : 0;
  return line * 128 + (piece ^ (line & mask)) * 16 + byte % 16;
}

Laid lay(const std::vector<float>& matrix, int rows, int depth, DataType type, bool mn_major, int swizzle) {
  const int size = size_of(type), wide = swizzle ? swizzle / size : 8;
  const int padded = mn_major ? (rows + wide - 1) / wide * wide : rows;
  Laid laid{Bytes(static_cast<size_t>(padded) * depth * size, 0xff), 16, 0, 0};
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < depth; ++k) {
      const int byte = k * size;
      int place;
      if (!mn_major && swizzle) {  // a row is one span of the swizzle
        place = row * swizzle + byte;
        laid.stride = 8 * swizzle;
        laid.step = 32;
      } else if (!mn_major) {  // 8 rows of 16 bytes, then the next 8 rows; then the next 16 bytes of k
        place = byte / 16 * rows * 16 + row * 16 + byte % 16;
        laid.leading = rows * 16;
        laid.stride = 128;
        laid.step = 2 * rows * 16;
      } else if (swizzle) {  // a span of rows, k after k; then the next rows
        place = row / wide * depth * swizzle + k * swizzle + row % wide * size;
        laid.leading = depth * swizzle;
        laid.stride = 8 * swizzle;
        laid.step = 16 * swizzle;
      } else {  // 8 rows, k after k; then the next rows
        place = row / 8 * depth * 16 + k * 16 + row % 8 * size;
        laid.leading = 128;
        laid.stride = depth * 16;
        laid.step = 256;
      }
      store(type, laid.bytes.data() + swizzled_place(place, swizzle), 0, matrix[static_cast<size_t>(row) * depth + k]);
    }
  }
  return laid;
}

// Each thread's four registers of A, product after product.
Bytes register_fragments(const std::vector<float>& matrix, int depth, DataType type) {
  const int size = size_of(type), steps = depth * size / 32;
  Bytes bytes(static_cast<size_t>(steps) * 128 * 16);
  for (int step = 0; step < steps; ++step) {
    for (int t = 0; t < 128; ++t) {
      for (int byte = 0; byte < 16; byte += size) {
        const int r = byte / 4, row = t / 32 * 16 + t % 32 / 4 + 8 * (r & 1);
        const int k = (step * 32 + t % 4 * 4 + 16 * (r >> 1) + byte % 4) / size;
        store(type, bytes.data() + (step * 128 + t) * 16 + byte, 0, matrix[static_cast<size_t>(row) * depth + k]);
      }
    }
  }
  return bytes;
}

// What the unit multiplies: of a tf32, the upper 19 bits.
float operand_value(DataType type, float value) {
  if (type == DataType::kTf32) return std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0xffffe000u);
  return round_to(type, value);
}

Bytes expected_accumulators(std::vector<float> a, std::vector<float> b, int depth, const Form& form) {
  for (float& value : a) value = operand_value(form.a, value);
  for (float& value : b) value = operand_value(form.b, value);
  Bytes bytes;
  for (int t = 0; t < 128; ++t) {
    for (int i = 0; i < form.n / 2; ++i) {
      const int row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 2 % 2), column = i / 4 * 8 + t % 4 * 2 + i % 2;
      float sum = 0;
      for (int k = 0; k < depth; ++k) {
        sum += a[static_cast<size_t>(row) * depth + k] * b[static_cast<size_t>(column) * depth + k];
      }
      append(bytes, sum);
    }
  }
  return bytes;
}

Probe product_probe(const Form& form, int swizzle_a, int swizzle_b, int depth, const std::vector<float>& a,
                    const std::vector<float>& b, const char* note) {
  constexpr int kDescriptor[] = {0, 3, 2, 0, 1};  // by swizzle / 32
  const std::string types = fmt::format("{}_{}", name_of(form.a), name_of(form.b));
  const std::string order = fmt::format("{}{}", form.registers ? "R" : form.mn_a ? "M" : "K", form.mn_b ? "N" : "K");
  Probe probe;
  probe.name = fmt::format("wgmma.{}.n{}.{}.swizzle{}{}{}", types, form.n, order, swizzle_a,
                           swizzle_a == swizzle_b ? "" : fmt::format("_{}", swizzle_b), note);
  probe.since = Target::kSm90a;
  probe.needs_wgmma = size_of(form.a) != 2;
  probe.module = fmt::format("probe_wgmma_{}{}", types, form.registers ? "_registers" : "");
  probe.header = "conformance/device/wgmma.h";
  probe.entry = fmt::format("probe_wgmma_{}_n{}_{}", types, form.n, order);
  probe.kernel = fmt::format(
      "wt::probe::Product<wt::DataType::{}, wt::DataType::{}, {}, wt::device::Major::{}, wt::device::Major::{}, {}>",
      enumerator(form.a), enumerator(form.b), form.n, form.mn_a ? "kMn" : "kK", form.mn_b ? "kMn" : "kK",
      form.registers);
  probe.shape.threads = 128;
  Laid in_a{register_fragments(a, depth, form.a), 0, 0, 0};
  if (!form.registers) in_a = lay(a, 64, depth, form.a, form.mn_a, swizzle_a);
  const Laid in_b = lay(b, form.n, depth, form.b, form.mn_b, swizzle_b);
  probe.input = in_a.bytes;
  probe.input.insert(probe.input.end(), in_b.bytes.begin(), in_b.bytes.end());
  probe::Params& p = probe.params;
  p.bytes = static_cast<int>(probe.input.size());
  p.bytes_a = static_cast<int>(in_a.bytes.size());
  p.count = depth * size_of(form.a) / 32;
  p.leading_a = in_a.leading, p.stride_a = in_a.stride, p.step_a = in_a.step;
  p.leading_b = in_b.leading, p.stride_b = in_b.stride, p.step_b = in_b.step;
  p.swizzle_a = kDescriptor[swizzle_a / 32], p.swizzle_b = kDescriptor[swizzle_b / 32];
  probe.shape.shared_bytes = static_cast<uint32_t>(3072 + probe.input.size());
  probe.expected = expected_accumulators(a, b, depth, form);
  probe.output = Bytes(probe.expected.size(), 0);
  return probe;
}

Probe integer_probe(const Form& form, int swizzle_a, int swizzle_b) {
  const int depth = (swizzle_a ? swizzle_a : 64) / size_of(form.a);
  std::vector<float> a(static_cast<size_t>(64) * depth), b(static_cast<size_t>(form.n) * depth);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(static_cast<int>((i + i / 13) * 5 % 13) - 6);
  return product_probe(form, swizzle_a, swizzle_b, depth, a, b, "");
}

// Row m of A is 1 at k = m and 0 elsewhere, so that D holds B's numbers one by one as the unit reads them.
Probe value_probe(const Form& form) {
  const int depth = 128 / size_of(form.a), size = size_of(form.b);
  std::vector<float> a(static_cast<size_t>(64) * depth), b(static_cast<size_t>(form.n) * depth);
  for (int m = 0; m < 64; ++m) a[static_cast<size_t>(m) * depth + m % depth] = 1;
  const Bytes bits = pattern(b.size() * static_cast<size_t>(size), 17);
  for (size_t i = 0; i < b.size(); ++i) {
    b[i] = load(form.b, bits.data(), static_cast<int64_t>(i));
    if (!std::isfinite(b[i])) b[i] = 0.5f;
  }
  return product_probe(form, 128, 128, depth, a, b, ".values");
}

}  // namespace

void add_products(std::vector<Probe>& list) {
  using enum DataType;
  // Every N once at least, spread over the forms.
  const Form forms[] = {
      {kBf16, kBf16, 8, false, false, false},   {kBf16, kBf16, 128, false, false, false},
      {kBf16, kBf16, 256, false, false, false}, {kBf16, kBf16, 64, false, true, false},
      {kBf16, kBf16, 192, false, true, false},  {kBf16, kBf16, 16, true, false, false},
      {kBf16, kBf16, 104, true, false, false},  {kBf16, kBf16, 32, true, true, false},
      {kBf16, kBf16, 200, true, true, false},   {kBf16, kBf16, 24, false, false, true},
      {kBf16, kBf16, 224, false, false, true},  {kBf16, kBf16, 160, false, true, true},
      {kF16, kF16, 40, false, false, false},    {kF16, kF16, 248, false, false, false},
      {kF16, kF16, 72, false, true, false},     {kF16, kF16, 56, true, false, false},
      {kF16, kF16, 96, true, true, false},      {kF16, kF16, 48, false, false, true},
      {kF16, kF16, 144, false, true, true},     {kF16, kF16, 232, false, true, true},
      {kTf32, kTf32, 80, false, false, false},  {kTf32, kTf32, 240, false, false, false},
      {kTf32, kTf32, 88, false, false, true},   {kE4m3, kE4m3, 112, false, false, false},
      {kE4m3, kE4m3, 208, false, false, false}, {kE4m3, kE4m3, 120, false, false, true},
      {kE4m3, kE5m2, 136, false, false, false}, {kE4m3, kE5m2, 152, false, false, true},
      {kE5m2, kE4m3, 168, false, false, false}, {kE5m2, kE4m3, 176, false, false, true},
      {kE5m2, kE5m2, 184, false, false, false}, {kE5m2, kE5m2, 216, false, false, true},
  };
  for (const Form& form : forms) {
    for (const int swizzle : {0, 32, 64, 128}) list.push_back(integer_probe(form, swizzle, swizzle));
  }
  // Operands of different swizzles: the depth is the K-major one's span.
  list.push_back(integer_probe({kBf16, kBf16, 64, false, true, false}, 64, 128));
  list.push_back(integer_probe({kBf16, kBf16, 64, false, true, false}, 128, 0));
  list.push_back(integer_probe({kBf16, kBf16, 32, true, true, false}, 128, 32));
  list.push_back(integer_probe({kBf16, kBf16, 32, true, true, false}, 0, 64));

  list.push_back(value_probe({kBf16, kBf16, 256, false, false, false}));
  list.push_back(value_probe({kF16, kF16, 248, false, false, false}));
  list.push_back(value_probe({kTf32, kTf32, 240, false, false, false}));
  list.push_back(value_probe({kE4m3, kE4m3, 208, false, false, false}));
  list.push_back(value_probe({kE5m2, kE5m2, 184, false, false, false}));
}

}  // namespace wt::conformance
