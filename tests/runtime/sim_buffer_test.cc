// SPDX-License-Identifier: Apache-2.0
// Loads through buffer descriptors: what lies beyond the range is zero, and their limits are reported by name. And the
// number format of gfx942's fp8 matrix unit.
#include <cmath>

#include "target/number.h"
#include "tests/runtime/sim_harness.h"

namespace wt::sim_test {
namespace {

constexpr int kLanes = 64;
constexpr uint32_t kOutside = 1u << 31;

struct Params {
  const uint8_t* from;
  const uint32_t* offsets;
  uint32_t* to;
  uint32_t bytes;
};

struct Answer {
  Status status;
  std::vector<uint32_t> words;
};

// One load of `size` bytes per lane from a buffer of `bytes`; memory behind it holds 0xee.
Answer load(int size, uint32_t bytes, const std::vector<uint32_t>& offsets, size_t shift = 0) {
  Kernel kernel(Target::kGfx942, {}, "buffer.h", "buffer_probe", fmt::format("wt::probe::BufferProbe<{}>", size));
  std::vector<uint8_t> memory(1024, 0xee);
  for (size_t i = 0; i < 256; ++i) memory[i] = static_cast<uint8_t>(i);
  Buffer<uint8_t> from(kernel.device(), memory);
  Buffer<uint32_t> at(kernel.device(), offsets), to(kernel.device(), std::vector<uint32_t>(4 * kLanes, 7));
  Status status = kernel.run({.threads = kLanes}, Params{from.get() + shift, at.get(), to.get(), bytes});
  return {std::move(status), to.values()};
}

uint32_t word_at(uint32_t offset, int bytes) {
  uint32_t word = 0;
  for (int i = 0; i < bytes; ++i) word |= (offset + static_cast<uint32_t>(i)) % 256 << 8 * i;
  return word;
}

TEST(SimBuffer, WordsBeyondTheRangeAreZero) {
  for (const int size : {1, 2, 4, 8, 16}) {
    const int word = std::min(size, 4);
    std::vector<uint32_t> offsets(kLanes);
    for (int i = 0; i < kLanes; ++i) offsets[i] = static_cast<uint32_t>(i * word);
    offsets[60] = 200;         // past the end
    offsets[61] = kOutside;    // the halo's offset
    offsets[62] = 0xfffffff0;  // does not wrap around
    const uint32_t bytes = 120;
    const Answer answer = load(size, bytes, offsets);
    ASSERT_TRUE(answer.status.ok()) << answer.status.message();
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 0; i < (size + 3) / 4; ++i) {
        const uint64_t at = uint64_t{offsets[lane]} + 4 * static_cast<uint64_t>(i);
        const uint32_t right = at >= bytes ? 0 : word_at(static_cast<uint32_t>(at), word);
        EXPECT_EQ(answer.words[4 * lane + i], right) << size << " bytes, lane " << lane << ", word " << i;
      }
    }
  }
}

TEST(SimBuffer, LimitsAreReported) {
  const std::vector<uint32_t> zeros(kLanes, 0), odd(kLanes, 2);
  EXPECT_THAT(load(16, 64, odd).status.message(),
              testing::HasSubstr("offset 2 of a load of 16 bytes is not a multiple of 4"));
  EXPECT_THAT(load(4, kOutside + 1, zeros).status.message(), testing::HasSubstr("at most 2147483648 bytes"));
  EXPECT_THAT(load(4, 64, zeros, 2).status.message(), testing::HasSubstr("buffers start at a multiple of 4"));
  EXPECT_THAT(load(4, 2, zeros).status.message(), testing::HasSubstr("starts inside the buffer's 2 bytes"));
  // A range that is longer than the tensor is found where it is used.
  EXPECT_THAT(load(4, 4096, std::vector<uint32_t>(kLanes, 1024)).status.message(), testing::HasSubstr("out of bounds"));
}

TEST(Fnuz, HalvesEveryE4m3NumberExactly) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    const float value = number::to_float(E4m3{static_cast<u8>(bits)});
    for (int place = 0; place < 4; ++place) {
      // The neighbours are numbers that carry most.
      const uint32_t others = 0x7f80ff00u & ~(0xffu << 8 * place);
      const uint32_t halved = number::halved_to_fnuz(others | bits << 8 * place);
      const float half = number::to_float(E4m3Fnuz{static_cast<u8>(halved >> 8 * place)});
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(half)) << bits;
      } else {
        EXPECT_EQ(half * 2, value) << bits;
        EXPECT_FALSE(half == 0 && std::signbit(half)) << bits;
      }
    }
  }
}

TEST(Fnuz, RoundsThereAndBack) {
  EXPECT_EQ(number::to_float(E4m3Fnuz{0x7f}), 240.f);
  EXPECT_EQ(number::to_float(E4m3Fnuz{0x01}), 0x1p-10f);
  EXPECT_TRUE(std::isnan(number::to_float(E4m3Fnuz{0x80})));
  for (uint32_t bits = 0; bits < 256; ++bits) {
    const E4m3Fnuz value{static_cast<u8>(bits)};
    EXPECT_EQ(number::From<E4m3Fnuz>::rounded(number::to_float(value)).bits, bits);
  }
  EXPECT_EQ(number::From<E4m3Fnuz>::rounded(-0.f).bits, 0);
  EXPECT_EQ(number::From<E4m3Fnuz>::rounded(-1000.f).bits, 0xff);
  EXPECT_EQ(number::From<E4m3Fnuz>::rounded(9.5f).bits, number::From<E4m3Fnuz>::rounded(10.f).bits);
}

}  // namespace
}  // namespace wt::sim_test
