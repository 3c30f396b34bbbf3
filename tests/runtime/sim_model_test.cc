// SPDX-License-Identifier: Apache-2.0
// Mistakes that a GPU forgives most of the time, one to a kernel: each must be reported, in these words, under every
// seed and completion policy, and the kernel without it must stay silent and right.
#include "tests/runtime/sim_harness.h"

namespace wt::sim_test {
namespace {

using testing::MatchesRegex;

struct ModelParams {
  const float* in;
  float* out;
  int32_t count, fault;
};

struct Case {
  const char* type;
  LaunchShape shape;
  bool hopper = false;
  int launches = 1;  // each reads what the one before wrote
};

std::vector<sim::Options> all_runs() {
  std::vector<sim::Options> runs;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    for (const auto completion : {sim::Completion::kEarly, sim::Completion::kLate, sim::Completion::kRandom}) {
      sim::Options options;
      options.seed = seed;
      options.completion = completion;
      runs.push_back(options);
    }
  }
  return runs;
}

constexpr size_t kNumbers = 512;

struct Answer {
  Status status;
  std::vector<float> out;
};

Answer run(const Case& what, Target target, const sim::Options& options, int fault) {
  Kernel kernel(target, options, "model.h", "model", std::string("wt::probe::") + what.type,
                what.hopper ? "#define WT_MODEL_HOPPER 1\n" : "");
  std::vector<float> in(kNumbers), zeros(kNumbers);
  for (size_t i = 0; i < kNumbers; ++i) in[i] = static_cast<float>(i % 37);
  Buffer<float> first(kernel.device(), in), second(kernel.device(), zeros);
  Buffer<float>*from = &first, *to = &second;
  Status status;
  for (int launch = 0; launch < what.launches && status.ok(); ++launch) {
    LaunchShape shape = what.shape;
    shape.programmatic = launch > 0;
    status = kernel.run(shape, ModelParams{from->get(), to->get(), static_cast<int32_t>(kNumbers), fault});
    std::swap(from, to);
  }
  return {status, from->values()};
}

void expect_report(const Case& what, Target target, int fault, const std::string& report) {
  for (const sim::Options& options : all_runs()) {
    const Status status = run(what, target, options, fault).status;
    EXPECT_THAT(status.message(), MatchesRegex("simulator: " + report))
        << "fault " << fault << ", seed " << options.seed << ", completion " << static_cast<int>(options.completion);
  }
}

void expect_clean(const Case& what, Target target, const std::vector<float>& right) {
  for (const sim::Options& options : all_runs()) {
    const Answer answer = run(what, target, options, 0);
    EXPECT_EQ(answer.status.message(), "");
    EXPECT_EQ(std::vector<float>(answer.out.begin(), answer.out.begin() + static_cast<std::ptrdiff_t>(right.size())),
              right);
  }
}

// How a report starts: kind, place and operation.
std::string at(const std::string& kind, const std::string& operation) {
  return kind + ": kernel model, block \\([0-9]+,0,0\\), warp [0-9]+, thread [0-9]+: " + operation +
         " at sim_kernels/model.h:[0-9]+: ";
}
const std::string kShared = "shared address 0x[0-9a-f]+ \\(byte [0-9]+ of [0-9]+\\)";
const std::string kGlobal = "global address 0x[0-9a-f]+ \\(inside a buffer of 2048 bytes, [0-9]+ before its end\\)";

// Which of two accesses comes first is free: a missing order shows at either, or as a read of what is not there yet.
const std::string kEarlyRead = kShared +
                               " is read before anybody wrote it: the write is missing, or what orders it "
                               "before this read";
std::string missing_order(const std::string& operations, const std::string& write, const std::string& read,
                          const std::string& fix = "") {
  return "(" + at("uninitialised", operations) + kEarlyRead + "|" + at("race", operations) + kShared +
         " is written by " + write + ", and nothing orders that write before this (read|one)" + fix + "|" +
         at("race", operations) + kShared + " may still be read by " + read +
         ": nothing orders that read before this write" + fix + ")";
}

constexpr Target kTargets[] = {Target::kSm80, Target::kSm90a, Target::kGfx942, Target::kGfx1100};

TEST(SimModel, LanesExchangeThroughSharedMemoryOnlyAfterTheyMet) {
  for (const Target target : kTargets) {
    const int warp = info_of(target).warp_size;
    const Case what{"LaneExchange", {.threads = static_cast<uint32_t>(2 * warp), .shared_bytes = 4096}};
    std::vector<float> right;
    for (int i = 0; i < 4 * warp; ++i) {
      const int from = i / warp % 2 * warp + warp - 1 - i % warp;
      right.push_back(static_cast<float>(from % 37 + i / (2 * warp)));
    }
    expect_clean(what, target, right);
    for (const int fault : {1, 2}) {
      expect_report(what, target, fault,
                    missing_order("(load|store)_shared", "lane [0-9]+ of warp [01]", "other lanes of this warp",
                                  "; sync_warp must come between"));
    }
  }
}

TEST(SimModel, SharedMemoryThatNobodyWroteIsNotRead) {
  for (const Target target : kTargets) {
    const auto threads = static_cast<uint32_t>(2 * info_of(target).warp_size);
    expect_report({"LaneExchange", {.threads = threads, .shared_bytes = 4096}}, target, 3,
                  at("uninitialised", "load_shared") + kShared +
                      " is read before anybody wrote it: the write is missing, or what orders it before this read");
  }
}

TEST(SimModel, PlainReadModifyWriteOfSeveralBlocksIsARace) {
  for (const Target target : kTargets) {
    const Case what{"Largest", {.grid = {4, 1, 1}, .threads = static_cast<uint32_t>(info_of(target).warp_size)}};
    expect_clean(what, target, {3});
    expect_report(what, target, 1,
                  at("race", "(load|store)_global") + kGlobal +
                      " is written by another block \\(number [0-3]\\), and nothing orders that write before this "
                      "(read|one)");
  }
}

TEST(SimModel, WarpsTakeTurnsAtAWordOfGlobalMemoryBehindBarriers) {
  for (const Target target : kTargets) {
    const Case what{"Turnwise", {.threads = static_cast<uint32_t>(4 * info_of(target).warp_size)}};
    expect_clean(what, target, {6});
    expect_report(what, target, 1,
                  at("race", "load_global") + kGlobal +
                      " is written by warp [0-3], and nothing orders that write before this read");
  }
}

TEST(SimModel, TheLastBlockReadsBehindFences) {
  for (const Target target : kTargets) {
    const Case what{"LastBlock", {.grid = {4, 1, 1}, .threads = static_cast<uint32_t>(info_of(target).warp_size)}};
    expect_clean(what, target, {6, 0, 1, 2, 3});
    expect_report(
        what, target, 1,
        at("race", "load_global") + kGlobal +
            " is written by another block \\(number [0-3]\\), and nothing orders that write before this read");
  }
}

TEST(SimModel, AccumulatorsAreCleared) {
  const struct {
    Target target;
    const char* type;
    int count;
    float right;
    const char* operation;
  } kinds[] = {
      {Target::kSm80, "Accumulate<16, 8, 16>", 4, 16, "mma.m16n8k16.bf16"},
      {Target::kGfx942, "Accumulate<32, 32, 8>", 16, 8, "mfma.32x32x8.bf16"},
      {Target::kGfx1100, "Accumulate<16, 16, 16>", 8, 16, "wmma.16x16x16.bf16"},
  };
  for (const auto& kind : kinds) {
    const Case what{kind.type, {.threads = static_cast<uint32_t>(info_of(kind.target).warp_size)}};
    expect_clean(what, kind.target, {kind.right});
    expect_report(what, kind.target, 1,
                  at("uninitialised", kind.operation) +
                      fmt::format("the product is added to {} accumulators of lane [0-9]+ that were never set: clear "
                                  "them first",
                                  kind.count));
  }
}

TEST(SimModel, LaunchesThatOverlapWaitForTheOneBefore) {
  const Case what{"Doubled", {.grid = {2, 1, 1}, .threads = 32}, true, 2};
  expect_clean(what, Target::kSm90a, {0, 4, 8, 12});
  expect_report(what, Target::kSm90a, 1,
                at("race", "load_global") + kGlobal +
                    " was written by the launch before, which may not be over: wait_prerequisites must come before "
                    "this read");
  // A launch that does not overlap needs no wait.
  EXPECT_TRUE(run({"Doubled", {.grid = {2, 1, 1}, .threads = 32}, true, 1}, Target::kSm90a, {}, 1).status.ok());
}

TEST(SimModel, LoadersEndBehindTheirCopies) {
  const Case what{"Loader", {.threads = 64, .shared_bytes = 256}, true};
  expect_clean(what, Target::kSm90a, {31, 30, 29});
  for (const int fault : {1, 2}) {
    expect_report(what, Target::kSm90a, fault,
                  at("unfinished at exit", "copy_async") + "the thread returns while its copy to " + kShared +
                      " may be in flight; copy_async_commit and copy_async_wait<0> must come before");
  }
}

TEST(SimModel, EveryLaneThatWroteFencesBeforeOneArrives) {
  const Case what{"FencedRow", {.threads = 64, .shared_bytes = 512}, true};
  expect_clean(what, Target::kSm90a, {0, 1, 2, 3});
  const std::string unfenced = at("missing proxy fence", "bulk_store") + kShared +
                               " was written by ordinary stores of lane [0-9]+ of warp 0 without fence_async_shared "
                               "after them";
  expect_report(what, Target::kSm90a, 1, unfenced);
  expect_report(what, Target::kSm90a, 2, unfenced);
  expect_report(what, Target::kSm90a, 3,
                "(" + missing_order("(bulk_store|store_shared)", "lane [0-9]+ of warp 0", "warp 1") + "|" +
                    at("race", "store_shared") + kShared +
                    " is still read by a bulk store; bulk_wait_read and a barrier must come between)");
}

TEST(SimModel, WaitingForProductsIsNoBarrierOfTheirWarps) {
  const Case what{"SharedOperand", {.threads = 128, .shared_bytes = 1024 + 80 * 128 + 512}, true};
  std::vector<float> right(128, 64);
  right.resize(256, 128);
  expect_clean(what, Target::kSm90a, right);
  expect_report(what, Target::kSm90a, 1,
                missing_order("(wgmma|store_shared)", "lane [0-9]+ of warp [0-3]", "the products of warps 0 to 3"));
  expect_report(what, Target::kSm90a, 2,
                missing_order("(load|store)_shared", "lane [0-9]+ of warp [0-3]", "warp [0-3]"));
  expect_report(what, Target::kSm90a, 3,
                at("uninitialised", "wgmma") +
                    "the product is added to 8 accumulators of lane [0-9]+ that were never set: clear them first");
}

}  // namespace
}  // namespace wt::sim_test
