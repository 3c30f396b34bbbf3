// SPDX-License-Identifier: Apache-2.0
// Every bit pattern of the small formats against their definition, and every rounding against the two neighbours.
#include "problem/number.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "problem/random.h"

namespace wt {
namespace {

struct Format {
  DataType type;
  int exponent, fraction, bias;
  bool infinity;  // the top exponent is infinity and NaN
  bool saturates;
};
const Format kFormats[] = {{DataType::kF16, 5, 10, 15, true, false},
                           {DataType::kBf16, 8, 7, 127, true, false},
                           {DataType::kE4m3, 4, 3, 7, false, true},
                           {DataType::kE5m2, 5, 2, 15, true, true}};

int bits_of(const Format& f) { return 1 + f.exponent + f.fraction; }

// From the definition: (-1)^s * 1.f * 2^(e - bias), or 0.f * 2^(1 - bias).
double value_of(const Format& f, uint32_t bits) {
  const uint32_t fraction = bits & ((1u << f.fraction) - 1);
  const uint32_t exponent = bits >> f.fraction & ((1u << f.exponent) - 1);
  const uint32_t top = (1u << f.exponent) - 1;
  const double sign = bits >> (f.exponent + f.fraction) & 1 ? -1 : 1;
  if (f.infinity && exponent == top) return fraction ? NAN : sign * INFINITY;
  if (!f.infinity && exponent == top && fraction == (1u << f.fraction) - 1) return NAN;
  const int power = static_cast<int>(exponent ? exponent : 1) - f.bias - f.fraction;
  return sign * std::ldexp(fraction + (exponent ? double(1u << f.fraction) : 0.0), power);
}

float load_bits(const Format& f, uint32_t bits) {
  const uint8_t byte = static_cast<uint8_t>(bits);
  const uint16_t half = static_cast<uint16_t>(bits);
  return bits_of(f) == 8 ? load(f.type, &byte, 0) : load(f.type, &half, 0);
}

uint32_t store_bits(const Format& f, float value) {
  uint16_t half = 0;
  uint8_t byte = 0;
  if (bits_of(f) == 8) {
    store(f.type, &byte, 0, value);
    return byte;
  }
  store(f.type, &half, 0, value);
  return half;
}

TEST(Number, EveryBitPatternReadsAsDefined) {
  for (const Format& f : kFormats) {
    for (uint32_t bits = 0; bits < 1u << bits_of(f); ++bits) {
      const double expected = value_of(f, bits);
      const float got = load_bits(f, bits);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got)) << bits;
      } else {
        ASSERT_EQ(static_cast<double>(got), expected) << bits;
        ASSERT_EQ(std::signbit(got), std::signbit(expected)) << bits;
        if (f.saturates && std::isinf(expected)) continue;
        ASSERT_EQ(store_bits(f, got), bits) << got;
      }
    }
  }
}

// The positive finite values in rising order are the bit patterns in rising order.
TEST(Number, RoundsToTheNearestAndTiesToEven) {
  for (const Format& f : kFormats) {
    const uint32_t sign = 1u << (bits_of(f) - 1);
    for (uint32_t bits = 0; std::isfinite(value_of(f, bits + 1)); ++bits) {
      const double low = value_of(f, bits), high = value_of(f, bits + 1), middle = (low + high) / 2;
      const float tie = static_cast<float>(middle);
      ASSERT_EQ(static_cast<double>(tie), middle);
      const uint32_t even = bits & 1 ? bits + 1 : bits;
      ASSERT_EQ(store_bits(f, tie), even) << tie;
      ASSERT_EQ(store_bits(f, -tie), even | sign) << tie;
      ASSERT_EQ(store_bits(f, std::nextafter(tie, 0.0f)), bits) << tie;
      ASSERT_EQ(store_bits(f, std::nextafter(tie, INFINITY)), bits + 1) << tie;
      ASSERT_EQ(store_bits(f, std::nextafter(-tie, 0.0f)), bits | sign) << tie;
    }
  }
}

TEST(Number, OverflowInfinityAndNan) {
  for (const Format& f : kFormats) {
    const float largest = static_cast<float>(largest_of(f.type));
    EXPECT_EQ(round_to(f.type, largest), largest);
    const float step = static_cast<float>(largest_of(f.type) * epsilon_of(f.type) / (2 - epsilon_of(f.type)));
    EXPECT_EQ(round_to(f.type, std::nextafter(largest + step / 2, 0.0f)), largest);
    const float beyond = f.saturates ? largest : INFINITY;
    const float far = f.type == DataType::kBf16 ? std::numeric_limits<float>::max() : largest * 3;
    EXPECT_EQ(round_to(f.type, far), beyond);
    EXPECT_EQ(round_to(f.type, -far), -beyond);
    EXPECT_EQ(round_to(f.type, INFINITY), beyond);
    EXPECT_EQ(round_to(f.type, -INFINITY), -beyond);
    for (const uint32_t nan : {0x7f800001u, 0x7fc00000u, 0xff800001u, 0x7fffffffu, 0xffffffffu}) {
      const float converted = round_to(f.type, std::bit_cast<float>(nan));
      EXPECT_TRUE(std::isnan(converted)) << nan;
      EXPECT_EQ(store_bits(f, std::bit_cast<float>(nan)) >> (bits_of(f) - 1), nan >> 31);
    }
  }
}

// A slow model of rounding for any float: the neighbours by search over all bit patterns.
TEST(Number, DenseFloatsRoundToTheNearestOfAllValues) {
  Random random(1);
  for (const Format& f : kFormats) {
    const uint32_t top = 1u << (bits_of(f) - 1);
    std::vector<double> values;
    for (uint32_t bits = 0; bits < top && std::isfinite(value_of(f, bits)); ++bits) values.push_back(value_of(f, bits));
    for (int i = 0; i < 200000; ++i) {
      const float value = std::bit_cast<float>(static_cast<uint32_t>(random.next()) & 0x7fffffff);
      if (!(value < values.back())) continue;
      const auto above = std::upper_bound(values.begin(), values.end(), static_cast<double>(value));
      const size_t high = static_cast<size_t>(above - values.begin()), low = high - 1;
      const double down = value - values[low], up = values[high] - value;
      const size_t nearest = down < up ? low : up < down ? high : low & 1 ? high : low;
      ASSERT_EQ(store_bits(f, value), nearest) << value;
      ASSERT_EQ(static_cast<double>(round_to(f.type, static_cast<double>(value))), values[nearest]);
    }
  }
}

TEST(Number, FromDoubleRoundsOnce) {
  // Just above a tie of the small type, too close for fp32 to see: rounding twice would fall back to even.
  for (const Format& f : kFormats) {
    const double one = 1, next = 1 + epsilon_of(f.type), tie = 1 + epsilon_of(f.type) / 2;
    EXPECT_EQ(round_to(f.type, tie), one);
    EXPECT_EQ(round_to(f.type, tie + 0x1p-40), next);
    EXPECT_EQ(round_to(f.type, -tie - 0x1p-40), -next);
    EXPECT_EQ(round_to(f.type, tie - 0x1p-40), one);
    const double odd_tie = 1 + epsilon_of(f.type) * 1.5;  // between an odd and an even number
    EXPECT_EQ(round_to(f.type, odd_tie), 1 + 2 * epsilon_of(f.type));
    EXPECT_EQ(round_to(f.type, odd_tie - 0x1p-40), next);
    EXPECT_EQ(round_to(f.type, 1e-300), 0.0f);
    EXPECT_EQ(round_to(f.type, 1e300), f.saturates ? static_cast<float>(largest_of(f.type)) : INFINITY);
    EXPECT_TRUE(std::isnan(round_to(f.type, std::numeric_limits<double>::quiet_NaN())));
  }
  EXPECT_EQ(round_to(DataType::kF32, 1 + 0x1p-25), 1.0f);
}

TEST(Number, Tf32KeepsTenBitsOfFraction) {
  Random random(2);
  for (int i = 0; i < 200000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random.next()));
    const float rounded = round_to_tf32(value);
    if (!std::isfinite(value)) {
      ASSERT_EQ(std::bit_cast<uint32_t>(rounded), std::bit_cast<uint32_t>(value));
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint32_t>(rounded) & 0x1fff, 0u);
    if (!std::isfinite(rounded)) continue;
    const float step =
        std::bit_cast<float>((std::bit_cast<uint32_t>(rounded) & 0x7fffffff) + 0x2000) - std::fabs(rounded);
    ASSERT_LE(std::fabs(rounded - value), step / 2) << value;
  }
  EXPECT_EQ(round_to_tf32(1 + 0x1p-11f), 1.0f);             // a tie, to even
  EXPECT_EQ(round_to_tf32(1 + 3 * 0x1p-11f), 1 + 0x1p-9f);  // a tie, to even
  EXPECT_EQ(round_to_tf32(std::numeric_limits<float>::max()), INFINITY);
}

TEST(Number, BulkEqualsOneByOne) {
  std::vector<float> floats;
  Random random(3);
  for (int i = 0; i < 100003; ++i) {
    const uint32_t bits = static_cast<uint32_t>(random.next());
    floats.push_back(i % 3 ? std::bit_cast<float>(bits) : static_cast<float>(static_cast<int32_t>(bits)) * 0x1p-26f);
  }
  for (uint32_t bits = 0; bits < 65536; ++bits) floats.push_back(fp16_to_float(static_cast<uint16_t>(bits)));
  const int64_t count = static_cast<int64_t>(floats.size());
  for (int t = 0; t <= static_cast<int>(DataType::kI8); ++t) {
    const DataType type = static_cast<DataType>(t);
    const size_t size = static_cast<size_t>(size_of(type));
    std::vector<uint8_t> bulk(floats.size() * size), parallel(bulk), single(bulk);
    from_float(type, floats.data(), bulk.data(), count);
    parallel_from_float(type, floats.data(), parallel.data(), count, 3);
    for (int64_t i = 0; i < count; ++i) store(type, single.data(), i, floats[static_cast<size_t>(i)]);
    EXPECT_EQ(bulk, single) << t;
    EXPECT_EQ(parallel, single) << t;
    std::vector<float> back(floats.size()), parallel_back(floats.size()), one(floats.size());
    to_float(type, bulk.data(), back.data(), count);
    parallel_to_float(type, bulk.data(), parallel_back.data(), count, 3);
    for (int64_t i = 0; i < count; ++i) one[static_cast<size_t>(i)] = load(type, bulk.data(), i);
    EXPECT_EQ(std::memcmp(back.data(), one.data(), floats.size() * 4), 0) << t;
    EXPECT_EQ(std::memcmp(parallel_back.data(), one.data(), floats.size() * 4), 0) << t;
  }
}

TEST(Number, BulkReadsEveryBitPattern) {
  for (const Format& f : kFormats) {
    std::vector<uint8_t> bytes;
    const uint32_t patterns = 1u << bits_of(f);
    for (uint32_t bits = 0; bits < patterns; ++bits) {
      bytes.push_back(static_cast<uint8_t>(bits));
      if (bits_of(f) == 16) bytes.push_back(static_cast<uint8_t>(bits >> 8));
    }
    std::vector<float> values(patterns);
    to_float(f.type, bytes.data(), values.data(), patterns);
    for (uint32_t bits = 0; bits < patterns; ++bits) {
      const float one = load_bits(f, bits);
      ASSERT_EQ(std::bit_cast<uint32_t>(values[bits]), std::bit_cast<uint32_t>(one)) << bits;
    }
  }
}

TEST(Number, BulkTakesAnyAlignmentAndLength) {
  for (int64_t count = 0; count < 40; ++count) {
    for (const size_t shift : {0u, 1u, 3u}) {
      std::vector<float> source(50, 0.0f), back(50, -1.0f);
      for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<float>(i) - 20;
      std::vector<uint16_t> target(60, 0xabcd);
      from_float(DataType::kF16, source.data() + shift, target.data() + shift, count);
      to_float(DataType::kF16, target.data() + shift, back.data() + shift, count);
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(back[shift + static_cast<size_t>(i)], source[shift + static_cast<size_t>(i)]);
      ASSERT_EQ(target[shift + static_cast<size_t>(count)], 0xabcd);
      ASSERT_EQ(back[shift + static_cast<size_t>(count)], -1.0f);
    }
  }
}

}  // namespace
}  // namespace wt
