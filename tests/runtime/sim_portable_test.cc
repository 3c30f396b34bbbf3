// SPDX-License-Identifier: Apache-2.0
// The primitives that every target has, on every simulated target.
#include "problem/number.h"
#include "tests/runtime/sim_harness.h"

namespace wt::sim_test {
namespace {

struct Params {
  const float* in;
  float* out;
  uint32_t* words;
  int count;
  int fault;
};

std::vector<float> ramp(int count) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = static_cast<float>(i % 97);
  return values;
}

class SimPortable : public testing::TestWithParam<Target> {};

TEST_P(SimPortable, ReversesThroughSharedMemoryUnderManySeeds) {
  constexpr int kBlocks = 3, kCount = kBlocks * 128;
  const std::vector<float> in = ramp(kCount);
  for (uint64_t seed = 0; seed < 16; ++seed) {
    sim::Options options;
    options.seed = seed;
    Kernel kernel(GetParam(), options, "portable.h", "reverse", "wt::probe::Reverse");
    Buffer<float> from(kernel.device(), in), to(kernel.device(), kCount);
    const Status status = kernel.run({.grid = {kBlocks, 1, 1}, .threads = 128, .shared_bytes = 512},
                                     Params{from.get(), to.get(), nullptr, kCount, 0});
    ASSERT_TRUE(status.ok()) << status.message();
    const std::vector<float> out = to.values();
    for (int i = 0; i < kCount; ++i) ASSERT_EQ(out[i], in[i / 128 * 128 + 127 - i % 128]) << i;
  }
}

TEST_P(SimPortable, ReducesByShufflesAndAtomics) {
  constexpr int kBlocks = 5, kCount = kBlocks * 256;
  const std::vector<float> in = ramp(kCount);
  Kernel kernel(GetParam(), {}, "portable.h", "reduce", "wt::probe::Reduce");
  Buffer<float> from(kernel.device(), in), to(kernel.device(), std::vector<float>(2, 0.f));
  Buffer<uint32_t> words(kernel.device(), std::vector<uint32_t>(3, 0));
  const Status status = kernel.run({.grid = {kBlocks, 1, 1}, .threads = 256, .shared_bytes = 64},
                                   Params{from.get(), to.get(), words.get(), kCount, 0});
  ASSERT_TRUE(status.ok()) << status.message();
  float sum = 0;
  for (const float value : in) sum += value;
  const int warp = info_of(GetParam()).warp_size;
  EXPECT_EQ(to.values(), (std::vector<float>{sum, static_cast<float>(256 - warp + 3)}));
  EXPECT_EQ(words.values(), (std::vector<uint32_t>{kBlocks, kBlocks - 1, 0x55555555u}));
}

TEST_P(SimPortable, FindsAMissingBarrierUnderEverySeed) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    sim::Options options;
    options.seed = seed;
    Kernel kernel(GetParam(), options, "portable.h", "reverse", "wt::probe::Reverse");
    Buffer<float> from(kernel.device(), ramp(128)), to(kernel.device(), 128);
    const Status status =
        kernel.run({.threads = 128, .shared_bytes = 512}, Params{from.get(), to.get(), nullptr, 128, 1});
    ASSERT_FALSE(status.ok());
    EXPECT_TRUE(mentions(status.message(),
                         "simulator: race: kernel reverse, block (0,0,0), warp |"
                         "simulator: uninitialised: kernel reverse, block (0,0,0), warp "))
        << status.message();
    EXPECT_NE(status.message().find("at sim_kernels/portable.h:"), std::string::npos) << status.message();
  }
}

const char* type_text(DataType type) {
  switch (type) {
    case DataType::kF32:
      return "kF32";
    case DataType::kTf32:
      return "kTf32";
    case DataType::kF16:
      return "kF16";
    case DataType::kBf16:
      return "kBf16";
    case DataType::kE4m3:
      return "kE4m3";
    case DataType::kE5m2:
      return "kE5m2";
    case DataType::kI8:
      return "kI8";
    case DataType::kE2m1:
      return "kE2m1";
  }
  return "";
}

// The layouts that kernels are compiled with against the emulation's own reading of the manuals.
TEST_P(SimPortable, EveryMatrixInstructionOfOneWarpMultiplies) {
  int tested = 0;
  for (const MmaShape& mma : info_of(GetParam()).mma) {
    if (!mma.portable && mma.path != MmaPath::kMfma) continue;
    const int m = mma.shape.m, n = mma.shape.n, k = mma.shape.k;
    std::vector<float> a(m * k), b(n * k), c(m * n), right(m * n);
    // e5m2 has three digits: what it would round is rounded before.
    for (int i = 0; i < m * k; ++i) a[i] = round_to(mma.type, static_cast<float>(i * 7 % 23 - 11));
    for (int i = 0; i < n * k; ++i) b[i] = round_to(mma.type, static_cast<float>(i * 5 % 19 - 9));
    for (int i = 0; i < m * n; ++i) {
      c[i] = right[i] = static_cast<float>(i % 29);
      for (int x = 0; x < k; ++x) right[i] += a[i / n * k + x] * b[i % n * k + x];
    }
    struct {
      const float* a;
      const float* b;
      float* c;
    } params;
    const std::string type =
        fmt::format("wt::probe::MmaProbe<wt::DataType::{}, {}, {}, {}>", type_text(mma.type), m, n, k);
    Kernel kernel(GetParam(), {}, "portable.h", "mma_probe", type);
    Buffer<float> da(kernel.device(), a), db(kernel.device(), b), dc(kernel.device(), c);
    params = {da.get(), db.get(), dc.get()};
    const Status status = kernel.run({.threads = static_cast<uint32_t>(info_of(GetParam()).warp_size)}, params);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(dc.values(), right) << type;
    ++tested;
  }
  EXPECT_GE(tested, 4);
}

INSTANTIATE_TEST_SUITE_P(Targets, SimPortable,
                         testing::Values(Target::kSm80, Target::kSm90a, Target::kSm100a, Target::kSm120a,
                                         Target::kGfx90a, Target::kGfx942, Target::kGfx950, Target::kGfx1100,
                                         Target::kGfx1201, Target::kGfx1250),
                         [](const auto& tested) { return std::string(info_of(tested.param).name); });

}  // namespace
}  // namespace wt::sim_test
