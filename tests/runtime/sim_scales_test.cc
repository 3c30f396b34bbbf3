// SPDX-License-Identifier: Apache-2.0
// Products with scales in tensor memory: what is right is exact, and each mistake is told under every completion
// policy.
#include "tests/runtime/sim_harness.h"

namespace wt::sim_test {
namespace {

struct ScalesParams {
  float* out;
  int32_t fault;
};

constexpr sim::Completion kPolicies[] = {sim::Completion::kEarly, sim::Completion::kLate, sim::Completion::kRandom};

// What the simulator says; or "wrong" where every sum is not that of 32 ones.
std::string run_scales(int fault, sim::Completion completion) {
  sim::Options options;
  options.completion = completion;
  Kernel kernel(Target::kSm100a, options, "scales.h", "scales", "wt::probe::ScaledProduct");
  Buffer<float> out(kernel.device(), std::vector<float>(128, -1.f));
  LaunchShape shape{.threads = 128};
  shape.shared_bytes = 32 * 1024;
  const std::string said = kernel.run(shape, ScalesParams{out.get(), fault}).message();
  if (!said.empty()) return said;
  return out.values() == std::vector<float>(128, 32.f) ? "" : "wrong";
}

struct Mistake {
  int fault;
  const char* says;  // some of these, between bars
};
// In the order of ScalesFault in sim_kernels/scales.h.
constexpr Mistake kMistakes[] = {
    {1, "has the scales of B of lanes 0 to 15, and nobody wrote it"},
    {2, "every quarter of the lanes has the same"},
    {3, "the first scale of A is byte 1, and a product of kind mxf4 has 2 together"},
    {4, "the scales of A start in lane 16, and not in 0"},
    {5, "may still be read by"},
    {6, "type 4 in the word of the product is none that the simulator knows of kind mxf8f6f4"},
    {7, "the word of the product names scales of type 0; kind mxf8f6f4 has 1"},
    {8, "of tensor memory lie in no allocation"},
    {10, "has the scales of A, which"},
    {11, "of row 0 of A have signs, which an e4m3 scale has not"},
};

TEST(SimScales, WhatIsRightIsExact) {
  for (const sim::Completion completion : kPolicies)
    for (const int fault : {0, 9, 12}) EXPECT_EQ(run_scales(fault, completion), "") << fault;
}

TEST(SimScales, EveryMistakeIsTold) {
  for (const sim::Completion completion : kPolicies) {
    for (const Mistake& mistake : kMistakes) {
      const std::string said = run_scales(mistake.fault, completion);
      EXPECT_TRUE(mentions(said, mistake.says)) << mistake.fault << ": " << said;
    }
  }
}

}  // namespace
}  // namespace wt::sim_test
