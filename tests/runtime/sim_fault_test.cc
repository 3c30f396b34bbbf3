// SPDX-License-Identifier: Apache-2.0
// The checker is checked: kernels with one planted mistake each, every one of which must be found in every run; and the
// same kernels without a mistake, which must run without a report under every seed and completion policy.
#include <cmath>

#include "target/number.h"
#include "tests/runtime/sim_harness.h"
#include "tests/scarce_memory.h"

namespace wt::sim_test {
namespace {

struct Planted {
  int fault;
  const char* name;
  // A part of what must be reported, or several, one of which must be: where the order of events is free, so is which
  // of a mistake's consequences comes first. "wrong": no report, but a wrong result.
  const char* report;
};

std::vector<sim::Options> all_runs(int seeds) {
  std::vector<sim::Options> runs;
  for (int seed = 1; seed <= seeds; ++seed) {
    for (const auto completion : {sim::Completion::kEarly, sim::Completion::kLate, sim::Completion::kRandom}) {
      sim::Options options;
      options.seed = static_cast<uint64_t>(seed);
      options.completion = completion;
      options.step_limit = 20'000'000;
      runs.push_back(options);
    }
  }
  return runs;
}

std::string run_name(const sim::Options& options) {
  return fmt::format("seed {}, completion {}", options.seed, static_cast<int>(options.completion));
}

std::vector<uint16_t> small_bf16(size_t count, uint32_t seed) {
  std::vector<uint16_t> values(count);
  for (uint16_t& value : values) {
    seed = seed * 1664525 + 1013904223;
    value = number::From<Bf16>::rounded(static_cast<float>(static_cast<int>(seed >> 24) % 5 - 2)).bits;
  }
  return values;
}

float bf16(uint16_t bits) { return number::to_float(Bf16{bits}); }

// What a run says: the report, "wrong" for a wrong result without one, or "" when all is well.
std::string outcome(const Status& status, bool right) { return !status.ok() ? status.message() : right ? "" : "wrong"; }

struct alignas(64) Map {
  std::byte bytes[128];
};

// The TMA and wgmma pipeline of sim_kernels/pipeline.h.
struct PipelineParams {
  Map a, b, d;
  void* out;
  int32_t m, k, tiles, fault;
};
constexpr int kTiles = 8, kRows = kTiles * 128 - 40, kDepth = 512;
constexpr uint32_t kPipelineShared = 1024 + 3 * (128 * 128 + 64 * 128) + 2 * 64 * 128 + 16 * 3 + 16 + 128;

TensorMapSpec map_2d(TensorMapSpec::Element element, uint32_t bytes, uint64_t inner, uint64_t outer, uint32_t box_inner,
                     uint32_t box_outer, uint32_t swizzle) {
  TensorMapSpec spec;
  spec.element = element;
  spec.rank = 2;
  spec.size = {inner, outer};
  spec.stride = {bytes, inner * bytes};
  spec.box = {box_inner, box_outer};
  spec.swizzle = swizzle;
  return spec;
}

std::string run_pipeline(const sim::Options& options, int fault) {
  static const std::vector<uint16_t> a = small_bf16(static_cast<size_t>(kRows) * kDepth, 1),
                                     b = small_bf16(64 * kDepth, 2);
  static const std::vector<uint16_t> right = [] {
    std::vector<uint16_t> d(static_cast<size_t>(kRows) * 64);
    std::vector<float> fa, fb;
    for (const uint16_t value : a) fa.push_back(bf16(value));
    for (const uint16_t value : b) fb.push_back(bf16(value));
    for (int m = 0; m < kRows; ++m) {
      for (int n = 0; n < 64; ++n) {
        float sum = 0;
        for (int k = 0; k < kDepth; ++k) sum += fa[m * kDepth + k] * fb[n * kDepth + k];
        d[m * 64 + n] = number::From<Bf16>::rounded(sum).bits;
      }
    }
    return d;
  }();
  Kernel kernel(Target::kSm90a, options, "pipeline.h", "pipeline", "wt::probe::Pipeline");
  Device& device = kernel.device();
  Buffer<uint16_t> da(device, a), db(device, b), dd(device, right.size());
  PipelineParams params{};
  using Element = TensorMapSpec::Element;
  EXPECT_TRUE(device.encode_map(map_2d(Element::kBf16, 2, kDepth, kRows, 64, 128, 128), da.get(), params.a.bytes).ok());
  EXPECT_TRUE(device.encode_map(map_2d(Element::kBf16, 2, kDepth, 64, 64, 64, 128), db.get(), params.b.bytes).ok());
  EXPECT_TRUE(device.encode_map(map_2d(Element::kBf16, 2, 64, kRows, 64, 64, 128), dd.get(), params.d.bytes).ok());
  params.out = dd.get();
  params.m = kRows;
  params.k = kDepth;
  params.tiles = kTiles;
  params.fault = fault;
  const Status status = kernel.run({.grid = {2, 1, 1}, .threads = 288, .shared_bytes = kPipelineShared}, params);
  return outcome(status, dd.values() == right);
}

constexpr Planted kPipelineFaults[] = {
    {1, "NoFullWait", "race|uninitialised"},
    {2, "WrongFullParity", "race|deadlock|uninitialised"},
    {3, "NoEmptyWait", "arrivals of phase|is written by the bulk copy"},
    {4, "EarlyRelease", "race"},
    {5, "NoRelease", "deadlock"},
    {6, "CountHigh", "deadlock"},
    {7, "CountLow", "may still be read by the products of warps|was overwritten by the bulk copy"},
    {8, "BytesLow", "barrier misuse"},
    {9, "BytesHigh", "deadlock"},
    {10, "NoProxyFence", "missing proxy fence"},
    {11, "OneLaneFence", "missing proxy fence"},
    {12, "NoFinalWait",
     "may still be read by the products of warps|was overwritten by the bulk copy|its products are in flight"},
    {13, "NoInitSync", "holds no initialised mbarrier|was initialised by"},
    {14, "NoInitFence", "missing proxy fence"},
    {15, "NoStoreWait", "unfinished at exit"},
    {16, "StagingReuse", "race"},
    {17, "NoWgmmaFence", "no wgmma_fence"},
    {18, "NoStagingSwizzle", "wrong"},
    {19, "DivergentBarrier", "holds no initialised mbarrier|was initialised by|sync_named 1"},
    {20, "BarrierCount", "barrier misuse"},
    {21, "MisalignedBox", "misaligned"},
    {22, "WrongRank", "rank 3 meets a map that is tiled of rank 2"},
    {23, "DescriptorDiverges", "divergence"},
    {24, "OperandOutside", "out of bounds"},
    {25, "AccumulatorTouched", "wrote accumulator 3"},
    {26, "WrongBarrierAddress", "holds no initialised mbarrier"},
    {27, "BarrierOverwritten", "holds no initialised mbarrier"},
    {28, "StoreOutside", "out of bounds"},
    {29, "RawPointerOutside", "out of bounds"},
    {30, "WrongStageOffset", "race|uninitialised"},
    {31, "NoStagingBarrier", "race|uninitialised"},
    {32, "DoubleInit", "initialised twice"},
    {33, "ZeroCoordinate", "wrong"},
    {34, "ReleaseTwice",
     "arrivals of phase|is written by the bulk copy|may still be read by the products of warps|was overwritten by the "
     "bulk copy"},
    {35, "NoGive", "take_registers 240: the block's warps hold"},
    {36, "NoPolicy", "0x0 is no cache policy"},
    {37, "NoStagingOpen",
     "is still read by a bulk store; bulk_wait_read and a barrier must come between|may still be read by warp"},
    {38, "ReleaseUnwaited", "may still be read by the products of warps"},
    {39, "ShiftedStages", "is not a multiple of 1024, where the 128-byte swizzle of the map starts over"},
};

// The cp.async and mma.sync product of sim_kernels/exchange.h.
struct MmaParams {
  const void* a;
  const void* b;
  float* d;
  int32_t k, fault;
};

std::string run_mma(const sim::Options& options, int fault) {
  constexpr int kK = 128;
  const std::vector<uint16_t> a = small_bf16(64 * kK, 3), b = small_bf16(kK * 64, 4);
  std::vector<float> right(64 * 64);
  for (int m = 0; m < 64; ++m) {
    for (int k = 0; k < kK; ++k) {
      for (int n = 0; n < 64; ++n) right[m * 64 + n] += bf16(a[m * kK + k]) * bf16(b[k * 64 + n]);
    }
  }
  Kernel kernel(Target::kSm90a, options, "exchange.h", "mma_product", "wt::probe::MmaSyncProduct");
  Buffer<uint16_t> da(kernel.device(), a), db(kernel.device(), b);
  Buffer<float> dd(kernel.device(), 64 * 64);
  const Status status =
      kernel.run({.threads = 128, .shared_bytes = 16384}, MmaParams{da.get(), db.get(), dd.get(), kK, fault});
  return outcome(status, dd.values() == right);
}

constexpr Planted kMmaFaults[] = {
    {1, "NoCopyWait", "race|uninitialised"},    {2, "NoBarrierAfterCopy", "race|uninitialised"},
    {3, "NoBarrierBeforeReuse", "race"},        {4, "MisalignedCopy", "misaligned"},
    {5, "MisalignedRow", "misaligned"},         {6, "SharedOutside", "out of bounds"},
    {7, "GlobalOutside", "out of bounds"},      {8, "DivergentShuffle", "deadlock"},
    {9, "DivergentBarrier", "deadlock"},        {10, "NotUniform", "divergence"},
    {11, "MisalignedVector", "misaligned"},     {12, "ValidTooBig", "misuse"},
    {13, "ExitInFlight", "unfinished at exit"}, {14, "LoadOutside", "out of bounds"},
};

// The pair of blocks of sim_kernels/exchange.h.
struct PairParams {
  Map in;
  float* out;
  int32_t rounds, fault;
};

std::string run_pair(const sim::Options& options, int fault) {
  constexpr int kPairs = 3, kRounds = 4, kCount = kPairs * kRounds * 32 * 32;
  std::vector<float> in(kCount), right(2 * kPairs);
  for (int i = 0; i < kCount; ++i) in[i] = static_cast<float>((i * 7 + i / 32) % 11 - 5);
  for (int i = 0; i < kCount; ++i) {
    const int pair = i / (kRounds * 1024);
    right[2 * pair] += 2 * in[i];  // what rank 1 sent to rank 0
    right[2 * pair + 1] += in[i];
  }
  Kernel kernel(Target::kSm90a, options, "exchange.h", "pair_sum", "wt::probe::PairSum");
  Buffer<float> din(kernel.device(), in), dout(kernel.device(), right.size());
  PairParams params{};
  EXPECT_TRUE(
      kernel.device()
          .encode_map(map_2d(TensorMapSpec::Element::kF32, 4, 32, kCount / 32, 32, 32, 0), din.get(), params.in.bytes)
          .ok());
  params.out = dout.get();
  params.rounds = kRounds;
  params.fault = fault;
  const Status status = kernel.run(
      {.grid = {2 * kPairs, 1, 1}, .threads = 128, .cluster = {2, 1, 1}, .shared_bytes = 128 + 4096 + 1024 + 64},
      params);
  return outcome(status, dout.values() == right);
}

constexpr Planted kPairFaults[] = {
    {1, "NoClusterSync", "holds no initialised mbarrier|was initialised by"},
    {2, "NoRemoteRelease", "race"},
    {3, "ReleaseWrongRank", "deadlock"},
    {4, "NoExchangeBarrier", "race"},
    {5, "NoFinalBarrier", "unfinished at exit"},
    {6, "MaskTooWide", "mask 0x7"},
    {7, "RankOutside", "rank 2 in a cluster of 2"},
    {8, "ArriveTwice", "arrives twice"},
    {9, "NoInitFence", "was initialised"},
    {10, "NoCountedWait", "race"},
    {11, "CountedElsewhere", "their mbarrier is block"},
    {12, "CountedTooMuch", "more than were announced|deadlock"},
};

using Run = std::string (*)(const sim::Options&, int);

void expect_found(Run run, std::span<const Planted> faults) {
  for (const Planted& planted : faults) {
    for (const sim::Options& options : all_runs(3)) {
      const std::string said = run(options, planted.fault);
      EXPECT_TRUE(mentions(said, planted.report))
          << planted.name << " under " << run_name(options) << ": " << (said.empty() ? "not found" : said);
    }
  }
}

void expect_clean(Run run, int seeds) {
  for (const sim::Options& options : all_runs(seeds)) EXPECT_EQ(run(options, 0), "") << run_name(options);
}

TEST(SimFault, PipelineIsCleanUnderManySeeds) { expect_clean(run_pipeline, 8); }
TEST(SimFault, MmaSyncIsCleanUnderManySeeds) { expect_clean(run_mma, 16); }
TEST(SimFault, PairIsCleanUnderManySeeds) { expect_clean(run_pair, 16); }

TEST(SimFault, EveryPipelineFaultIsFoundInEveryRun) { expect_found(run_pipeline, kPipelineFaults); }
TEST(SimFault, EveryMmaSyncFaultIsFoundInEveryRun) { expect_found(run_mma, kMmaFaults); }
TEST(SimFault, EveryPairFaultIsFoundInEveryRun) { expect_found(run_pair, kPairFaults); }

// Wherever host memory runs out, on the fibre of a simulated thread too, the caller gets an exception that it can
// catch, and the simulator works on.
TEST(SimMemory, ThatRunsOutEndsInAnException) {
  sim::Options options;
  options.threads = 1;
  ASSERT_EQ(run_pipeline(options, 0), "");
  int exhausted = 0;
  bool reached = true;
  for (long nth = 1; reached && nth < 100'000; nth += 1 + nth / 8) {
    const scarce::Memory memory(nth);
    try {
      const std::string said = run_pipeline(options, 0);
      EXPECT_EQ(said, "") << "allocation " << nth;
    } catch (const std::bad_alloc&) {
      ++exhausted;
    }
    reached = memory.ran_out();
  }
  EXPECT_FALSE(reached) << "more allocations than were tried";
  EXPECT_GT(exhausted, 5);
  EXPECT_EQ(run_pipeline(options, 0), "");
}

}  // namespace
}  // namespace wt::sim_test
