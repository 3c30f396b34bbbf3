// SPDX-License-Identifier: Apache-2.0
// Missing barriers and wrong fragment layouts planted in a product on every simulated target: each is found in every
// run. And how warps take turns, which is what shows the missing barriers.
#include <algorithm>
#include <set>

#include "target/number.h"
#include "tests/runtime/sim_harness.h"

namespace wt::sim_test {
namespace {

struct Instruction {
  Target target;
  int m, n, k;
};
void PrintTo(const Instruction& at, std::ostream* out) {
  *out << info_of(at.target).name << ' ' << at.m << 'x' << at.n << 'x' << at.k;
}

struct Planted {
  int fault;
  const char* name;
  const char* report;  // a part of what is said, or several between bars; "wrong": no report, but a wrong result
};
constexpr Planted kPlanted[] = {
    {1, "NoBarrierAfterStore", "race|uninitialised"},
    {2, "NoBarrierBeforeReuse", "race"},
    {3, "OneWarpSkipsBarrier", "race|uninitialised"},
    {4, "WrongStage", "race|uninitialised"},
    {5, "WrongRowOfA", "wrong"},
    {6, "WrongKOfB", "wrong"},
    {7, "SwappedC", "wrong"},
    {8, "NoSwizzleOnRead", "wrong"},
};

struct Params {
  const uint16_t* a;
  const uint16_t* b;
  float* d;
  int32_t k, fault;
};

std::vector<uint16_t> integers(size_t count, uint32_t seed) {
  std::vector<uint16_t> values(count);
  for (uint16_t& value : values) {
    seed = seed * 1664525 + 1013904223;
    value = number::From<Bf16>::rounded(static_cast<float>(static_cast<int>(seed >> 24) % 11 - 5)).bits;
  }
  return values;
}

std::string run(const Instruction& at, uint64_t seed, int fault) {
  constexpr int kDepth = 128;
  static const std::vector<uint16_t> a = integers(64 * kDepth, 7), b = integers(64 * kDepth, 5);
  static const std::vector<float> right = [] {
    std::vector<float> d(64 * 64);
    for (int i = 0; i < 64 * 64; ++i)
      for (int k = 0; k < kDepth; ++k)
        d[i] += number::to_float(Bf16{a[i / 64 * kDepth + k]}) * number::to_float(Bf16{b[i % 64 * kDepth + k]});
    return d;
  }();
  sim::Options options;
  options.seed = seed;
  Kernel kernel(at.target, options, "product.h", "product",
                fmt::format("wt::probe::Product<{}, {}, {}>", at.m, at.n, at.k));
  Buffer<uint16_t> da(kernel.device(), a), db(kernel.device(), b);
  Buffer<float> dd(kernel.device(), right.size());
  const auto threads = static_cast<uint32_t>(4 * info_of(at.target).warp_size);
  const Status status =
      kernel.run({.threads = threads, .shared_bytes = 16384}, Params{da.get(), db.get(), dd.get(), kDepth, fault});
  return !status.ok() ? status.message() : dd.values() == right ? "" : "wrong";
}

class SimLayoutFault : public testing::TestWithParam<Instruction> {};

TEST_P(SimLayoutFault, IsCleanWithoutOne) {
  for (uint64_t seed = 1; seed <= 4; ++seed) EXPECT_EQ(run(GetParam(), seed, 0), "") << "seed " << seed;
}

TEST_P(SimLayoutFault, EveryOneIsFoundInEveryRun) {
  for (const Planted& planted : kPlanted) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const std::string said = run(GetParam(), seed, planted.fault);
      EXPECT_TRUE(mentions(said, planted.report))
          << planted.name << ", seed " << seed << ": " << (said.empty() ? "not found" : said);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Targets, SimLayoutFault,
    testing::Values(Instruction{Target::kGfx942, 32, 32, 8}, Instruction{Target::kGfx942, 16, 16, 16},
                    Instruction{Target::kGfx1201, 16, 16, 16}, Instruction{Target::kGfx1100, 16, 16, 16},
                    Instruction{Target::kGfx1250, 16, 16, 32}, Instruction{Target::kSm80, 16, 8, 16}));

// Draws of the four warps: in some runs a warp has drawn all its numbers before any other draws its first, and which
// warp that is depends on the seed.
TEST(SimTurns, WarpsRunAloneUpToTheirBarrierInRandomOrder) {
  struct {
    uint32_t* next;
    uint32_t* drawn;
  } params;
  for (const Target target : {Target::kGfx942, Target::kGfx1201, Target::kSm80}) {
    const size_t warp = static_cast<size_t>(info_of(target).warp_size);
    std::set<size_t> alone, first;
    for (uint64_t seed = 1; seed <= 64; ++seed) {
      sim::Options options;
      options.seed = seed;
      Kernel kernel(target, options, "product.h", "turns", "wt::probe::Turns");
      Buffer<uint32_t> next(kernel.device(), std::vector<uint32_t>(1, 0)), drawn(kernel.device(), 8 * warp);
      params = {next.get(), drawn.get()};
      const Status status = kernel.run({.threads = static_cast<uint32_t>(4 * warp)}, params);
      ASSERT_TRUE(status.ok()) << status.message();
      const std::vector<uint32_t> numbers = drawn.values();
      for (size_t w = 0; w < 4; ++w) {
        const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(2 * w * warp);
        const auto [least, most] = std::minmax_element(begin, begin + static_cast<std::ptrdiff_t>(2 * warp));
        if (*least == 0) first.insert(w);
        if (*least == 0 && *most == 2 * warp - 1) alone.insert(w);
      }
    }
    EXPECT_EQ(first.size(), 4u) << info_of(target).name;
    EXPECT_GE(alone.size(), 2u) << info_of(target).name;
  }
}

}  // namespace
}  // namespace wt::sim_test
