// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/warm_test.cc - which operands are brought into the L2 before a kernel's first copies.
#include "kernels/shared/warm.h"

#include <gtest/gtest.h>

namespace wt {
namespace {

struct Warm {
  WarmArguments arguments;
  Launch launch;
};

Warm warm(const char* text) {
  const auto problem = parse_problem(text);
  EXPECT_TRUE(problem.ok()) << problem.status().message();
  Warm warm;
  warm.arguments = bind_warm(warm.launch, *problem, 64);
  return warm;
}

TEST(Warm, SmallOperandsAreWhole) {
  const Warm forward = warm("fwd bf16 n1 c24 k40 i7x7 f3x3 p1");
  EXPECT_EQ(forward.arguments.lines[0], 7 * 7 * 24 * 2 / 128);  // whole lines alone: nothing past the end is asked for
  EXPECT_EQ(forward.arguments.lines[1], 40 * 9 * 24 * 2 / 128);
  ASSERT_EQ(forward.launch.pointers.size(), 2u);
  EXPECT_EQ(forward.launch.pointers[0].tensor, Tensor::kX);
  EXPECT_EQ(forward.launch.pointers[1].tensor, Tensor::kW);
  EXPECT_EQ(forward.launch.pointers[1].offset, forward.launch.pointers[0].offset + 8);
  const Warm backward = warm("bwd_data bf16 n1 c24 k40 i7x7 f3x3 p1");
  EXPECT_EQ(backward.arguments.lines[0], 7 * 7 * 40 * 2 / 128);
  EXPECT_EQ(backward.launch.pointers[0].tensor, Tensor::kY);
}

TEST(Warm, WeightGradientsReadBothImages) {
  const Warm weight = warm("bwd_weight bf16 n1 c24 k40 i7x7 f3x3 p1");
  EXPECT_EQ(weight.arguments.lines[0], 7 * 7 * 24 * 2 / 128);
  EXPECT_EQ(weight.arguments.lines[1], 7 * 7 * 40 * 2 / 128);
  ASSERT_EQ(weight.launch.pointers.size(), 2u);
  EXPECT_EQ(weight.launch.pointers[0].tensor, Tensor::kX);
  EXPECT_EQ(weight.launch.pointers[1].tensor, Tensor::kY);
}

TEST(Warm, LargeOnesAreLeft) {
  const Warm filter = warm("fwd bf16 n1 c1024 k1024 i7x7 f3x3 p1");  // 18 MB
  EXPECT_EQ(filter.arguments.lines[0], 0);
  EXPECT_EQ(filter.arguments.lines[1], 0);
  EXPECT_TRUE(filter.launch.pointers.empty());
}

}  // namespace
}  // namespace wt
