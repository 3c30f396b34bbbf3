// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/blackwell_test.cc - kernels that Blackwell shares with Hopper or has by mma.sync: exact in the
// simulator under every completion policy, and predicted within what a B200 can do.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>

#include "config/enum_names.h"
#include "config/quarantine.h"
#include "dispatch/choice/selection.h"
#include "exact_trial.h"
#include "kernels/kind.h"
#include "problem/suite.h"
#include "problem/traffic.h"
#include "runtime/sim/device.h"
#include "tests/places.h"

namespace wt {
namespace {

struct Form {
  Kind kind;
  const char* problem;
};
// Tails of channels, rows and columns; strides, padding that is wider than the reach, steps after the products.
constexpr Form kForms[] = {
    {Kind::kDepthwiseGather, "fwd bf16 n1 c24 k24 g24 i9x7 f3x3 p1 s2"},
    {Kind::kDepthwiseStream, "fwd bf16 n2 c40 k40 g40 i11x9 f3x3 p1 +bias+relu"},
    {Kind::kDepthwiseStream, "bwd_weight bf16 n2 c40 k40 g40 i11x9 f3x3 p1"},
    {Kind::kDepthwiseStrips, "fwd bf16 n1 c40 k40 g40 i12x10 f7x7 p3"},
    {Kind::kDepthwiseBanded, "fwd bf16 n2 c72 k72 g72 i13x20 f3x3 p1"},
    {Kind::kDepthwiseBanded, "bwd_data bf16 n2 c72 k72 g72 i13x20 f5x5 p2"},
    {Kind::kDepthwiseBanded, "bwd_weight bf16 n2 c72 k72 g72 i13x20 f3x3 p1"},
    {Kind::kGroups, "fwd bf16 n2 c48 k48 g6 i9x11 f3x3 p1 +bias+relu"},
    {Kind::kGroups, "bwd_weight bf16 n1 c64 k64 g4 i7x11 f3x3 p1"},
    {Kind::kStacked, "fwd bf16 n1 c80 k80 g5 i5x66 f3x3 p1 +bias+relu"},
    {Kind::kStacked, "fwd bf16 n1 c64 k64 g2 i12x19 f3x3 s2 p1"},
    {Kind::kStacked, "bwd_data fp16 n1 c96 k96 g3 i6x20 f3x3 p1"},
    {Kind::kRows, "fwd bf16 n1 c3 k40 i13x22 f7x7 s2 p3 +bias+relu"},
    {Kind::kRows, "bwd_data bf16 n1 c24 k3 i10x17 f3x3 p1"},
    {Kind::kRowsWeight, "bwd_weight bf16 n2 c3 k40 i13x22 f7x7 s2 p3"},
    {Kind::kTaps, "fwd bf16 n1 c72 k3 i12x70 f3x3 p1"},
    {Kind::kTaps, "fwd bf16 n1 c64 k3 i10x64 f9x9 p4 +bias+relu"},
    {Kind::kTaps, "bwd_data bf16 n2 c3 k64 i17x21 f7x7 s2 p3"},
    {Kind::kWavelet, "fwd bf16 n2 c20 k36 i9x7 f3x3 p1 +bias"},
    {Kind::kWavelet, "bwd_data fp16 n2 c21 k37 i9x7 f3x3 p1"},
    {Kind::kWavelet, "bwd_weight bf16 n2 c21 k37 i9x7 f3x3 p1"},
};

constexpr std::array kPolicies = {sim::Completion::kEarly, sim::Completion::kLate, sim::Completion::kRandom};

const RankedCandidate* first_of(const std::vector<RankedCandidate>& kernels, Kind kind) {
  const auto found =
      std::ranges::find_if(kernels, [&](const RankedCandidate& c) { return c.accepts() && c.config.kind == kind; });
  return found == kernels.end() ? nullptr : &*found;
}

void expect_form_exact(Target target, const Form& form) {
  const ConvProblem problem = problem_of(form.problem);
  const std::vector<RankedCandidate> kernels = rank_candidates(problem, target, {}, Breadth::kAll);
  const RankedCandidate* kernel = first_of(kernels, form.kind);
  ASSERT_TRUE(kernel) << text_of(form.kind) << " has no kernel for " << form.problem;
  for (const sim::Completion completion : kPolicies) {
    sim::Options options;
    options.completion = completion;
    options.seed = 1 + static_cast<uint64_t>(completion);
    const auto device = open_sim_device(target, options);
    ASSERT_TRUE(device.ok()) << device.status().message();
    expect_exact(*device, problem, kernel->config);
  }
}

class BlackwellForms : public ::testing::TestWithParam<Form> {};

TEST_P(BlackwellForms, AreExactOnSm100a) { expect_form_exact(Target::kSm100a, GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, BlackwellForms, ::testing::ValuesIn(kForms));

// Its device code is that of sm_100a, within 99 KB of shared memory.
TEST(BlackwellRtx, HasEachKindWithinItsSharedMemory) {
  std::set<Kind> found;
  for (const Form& form : kForms) {
    const ConvProblem problem = problem_of(form.problem);
    const auto kernels = rank_candidates(problem, Target::kSm120a, {}, Breadth::kAll);
    const RankedCandidate* kernel = first_of(kernels, form.kind);
    if (!kernel) continue;
    found.insert(form.kind);
    const Binding binding = bind(kernel->config, problem, device_of(usual_gpu(Target::kSm120a)));
    for (const Launch& launch : binding.launches) EXPECT_LE(launch.shape.shared_bytes, 99 * 1024) << kernel->name;
  }
  // The stages of these two need more.
  for (const Form& form : kForms)
    EXPECT_EQ(found.contains(form.kind), form.kind != Kind::kStacked && form.kind != Kind::kTaps) << text_of(form.kind);
}

TEST(BlackwellRtx, IsExact) {
  expect_form_exact(Target::kSm120a, {Kind::kRows, "fwd bf16 n1 c3 k40 i13x22 f7x7 s2 p3 +bias+relu"});
  expect_form_exact(Target::kSm120a, {Kind::kDepthwiseBanded, "fwd bf16 n1 c40 k40 g40 i9x20 f3x3 p1"});
}

std::vector<SuiteEntry> layers() {
  std::vector<SuiteEntry> all;
  for (const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(places::kSourceTree) / "bench/suites")) {
    const Result<Suite> suite = read_suite(file.path());
    EXPECT_TRUE(suite.ok()) << suite.status().message();
    if (suite.ok()) all.insert(all.end(), suite->entries.begin(), suite->entries.end());
  }
  return all;
}

std::optional<RankedConfig> best(const ConvProblem& problem, const Rates& rates) {
  return pick(View(problem, rates), {}, [](const KernelConfig& config) { return !unproven_form(config); });
}

// Strides that are wider than the filter leave pixels out.
bool reads_all(const ConvProblem& problem) {
  for (int i = 0; i < kMaxDims; ++i)
    if (problem.stride[static_cast<size_t>(i)] > problem.filter[static_cast<size_t>(i)]) return false;
  return true;
}

bool is_by_wgmma(const KernelConfig& config) {
  return config.kind == Kind::kStacked || (config.family() == Family::kGemm && config.gemm.mma.m == 64);
}

// A B200 moves 7.2 TB/s and multiplies 2.1 PFLOP/s of 16-bit operands. Layers of groups have no kernel that is slower
// than an H200's by more than a fiftieth, but where that one multiplies by wgmma, whose rate mma.sync does not have on
// either.
TEST(BlackwellPredictions, OfTheSuitesAreNeitherSlowerThanAnH200sNorBelowTheLimit) {
  const Rates b200 = usual_rates(Target::kSm100a), h200 = usual_rates(Target::kSm90a);
  int compared = 0, all = 0, slower = 0, slower_by_a_tenth = 0;
  for (const SuiteEntry& entry : layers()) {
    for (const Direction direction : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight}) {
      const ConvProblem problem = with_direction(entry.problem, direction);
      const std::optional<RankedConfig> here = best(problem, b200);
      if (!here || problem.output_elements() == 0) continue;
      ++all;
      const double flops = size_of(problem.x) == 1 ? 4.2e9 : 2.1e9;  // per us
      const double bytes = reads_all(problem) ? tensor_bytes(problem) : 0;
      EXPECT_GE(here->predicted_us, std::max(bytes / 7.2e6, problem.flops() / flops)) << to_text(problem);
      const std::optional<RankedConfig> hopper = best(problem, h200);
      if (!hopper) continue;
      slower += here->predicted_us > hopper->predicted_us;
      slower_by_a_tenth += here->predicted_us > 1.1 * hopper->predicted_us;
      if (problem.g == 1 || is_by_wgmma(*hopper->config)) continue;
      ++compared;
      EXPECT_LE(here->predicted_us, 1.02 * hopper->predicted_us)
          << to_text(problem) << " by " << name_of(*here->config);
    }
  }
  EXPECT_GT(all, 500);
  EXPECT_GT(compared, 100);
  // Of all rows; docs/blackwell.md says which. These may only fall.
  RecordProperty("all", all);
  RecordProperty("slower", slower);
  RecordProperty("slower_by_a_tenth", slower_by_a_tenth);
  EXPECT_LE(slower, 476);
  EXPECT_LE(slower_by_a_tenth, 80);
}

}  // namespace
}  // namespace wt
