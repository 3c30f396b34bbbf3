// SPDX-License-Identifier: Apache-2.0
#include "problem/problem.h"

#include <gtest/gtest.h>

#include <set>

#include "problem/random_problem.h"

namespace wt {
namespace {

TEST(Problem, SizesCountTotals) {
  const ConvProblem p = *parse_problem("fwd bf16 n2 c12 k18 g6 i10x11 f3x2 s2x1 p1x0");
  EXPECT_EQ(p.out(), (Spatial{1, 5, 10}));
  EXPECT_EQ(p.x_elements(), 2 * 12 * 110);
  EXPECT_EQ(p.w_elements(), 18 * 2 * 6);
  EXPECT_EQ(p.y_elements(), 2 * 18 * 50);
  EXPECT_EQ(p.filter_taps(), 6);
  EXPECT_EQ(p.flops(), 2.0 * (2 * 18 * 50) * (2 * 6));
  EXPECT_EQ(p.terms(), 2 * 6);
  EXPECT_EQ(with_direction(p, Direction::kBackwardData).terms(), 3 * 6);
  EXPECT_EQ(with_direction(p, Direction::kBackwardWeight).terms(), 2 * 50);
  EXPECT_EQ(with_direction(p, Direction::kBackwardData).output_elements(), p.x_elements());
  EXPECT_EQ(with_direction(p, Direction::kBackwardWeight).output_elements(), p.w_elements());
  EXPECT_EQ(with_direction(p, Direction::kBackwardData).output_channels(), 12);
  EXPECT_EQ(with_direction(p, Direction::kBackwardWeight).output_channels(), 18);
}

TEST(Problem, AFilterThatDoesNotFitHasNoOutput) {
  ConvProblem p;
  p.in = {1, 1, 2};
  p.filter = {1, 1, 4};
  p.stride = {1, 1, 2};
  EXPECT_EQ(p.out()[2], 0);
  p.in[2] = 3;
  EXPECT_EQ(p.out()[2], 0);
  p.in[2] = 4;
  EXPECT_EQ(p.out()[2], 1);
}

TEST(Problem, DirectionsKeepTheTypesByRole) {
  const ConvProblem fwd = *parse_problem("fwd e4m3*e5m2>bf16 n2 c8 k8 i8 +bias");
  const ConvProblem data = with_direction(fwd, Direction::kBackwardData);
  EXPECT_EQ(data.first_type(), DataType::kE4m3);
  EXPECT_EQ(data.second_type(), DataType::kE5m2);
  EXPECT_EQ(data.output_type(), DataType::kBf16);
  EXPECT_EQ(data.epilogue, Epilogue{});
  EXPECT_EQ(with_direction(fwd, Direction::kForward), fwd);
  EXPECT_TRUE(validate(data).ok());
  Random random(3);
  for (int i = 0; i < 500; ++i) {
    const ConvProblem p = random_problem(random);
    if (p.x == DataType::kI8) continue;  // has one direction
    for (const Direction d : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight}) {
      ConvProblem turned = with_direction(p, d);
      EXPECT_TRUE(validate(turned).ok()) << to_text(turned);
      turned = with_direction(turned, p.direction);
      turned.epilogue = p.epilogue;
      EXPECT_EQ(turned, p);
    }
  }
}

// Strides visit every element once, in memory order for the layout's name.
void expect_dense(const Strides& strides, int64_t outer, int64_t channels, const Spatial& size, bool channels_last) {
  int64_t expected = 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t c0 = 0; c0 < (channels_last ? 1 : channels); ++c0) {
      for (int64_t d = 0; d < size[0]; ++d) {
        for (int64_t h = 0; h < size[1]; ++h) {
          for (int64_t w = 0; w < size[2]; ++w) {
            for (int64_t c1 = 0; c1 < (channels_last ? channels : 1); ++c1) {
              ASSERT_EQ(strides.at(o, c0 + c1, {d, h, w}), expected++);
            }
          }
        }
      }
    }
  }
}

TEST(Problem, StridesFollowTheLayout) {
  for (const Layout layout : {Layout::kChannelsLast, Layout::kChannelsFirst}) {
    ConvProblem p = *parse_problem("fwd bf16 n2 c6 k4 g2 i3x4x5 f2x3x1");
    p.layout = layout;
    const bool last = layout == Layout::kChannelsLast;
    expect_dense(x_strides(p), p.n, p.c, p.in, last);
    expect_dense(w_strides(p), p.k, p.c_per_group(), p.filter, last);
    expect_dense(y_strides(p), p.n, p.k, p.out(), last);
  }
}

TEST(Problem, SamePaddingGivesCeilInOverStride) {
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    ConvProblem p = random_problem(random);
    set_same_padding(p);
    const Spatial out = p.out();
    for (int d = 0; d < kMaxDims; ++d) {
      EXPECT_EQ(out[d], (p.in[d] + p.stride[d] - 1) / p.stride[d]) << to_text(p);
      // Where no padding is needed there is none, else the odd pixel lies above.
      EXPECT_LE(p.pad_lower[d], p.pad_upper[d]);
      EXPECT_LE(p.pad_upper[d] - p.pad_lower[d], 1);
    }
  }
}

TEST(Problem, CausalPaddingSeesNoFuture) {
  ConvProblem p = *parse_problem("fwd bf16 c4 k4 i20x8x8 f3x3x3 d2x1x1 pcausal");
  EXPECT_EQ(p.pad_lower, (Spatial{4, 1, 1}));
  EXPECT_EQ(p.pad_upper, (Spatial{0, 1, 1}));
  EXPECT_EQ(p.out(), p.in);
}

TEST(Problem, NamesReadBack) {
  for (const Direction d : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight}) {
    EXPECT_EQ(direction_from(name_of(d)), d);
  }
  for (int t = 0; t <= static_cast<int>(DataType::kI8); ++t) {
    EXPECT_EQ(data_type_from(name_of(static_cast<DataType>(t))), static_cast<DataType>(t));
  }
  for (const ActivationFacts& facts : kActivations) {
    if (facts.activation == Activation::kNone) continue;
    EXPECT_EQ(activation_from(name_of(facts.activation)), facts.activation);
  }
  EXPECT_EQ(activation_from("none"), std::nullopt);
  EXPECT_EQ(data_type_from("fp8"), std::nullopt);
  EXPECT_STREQ(layout_name(Layout::kChannelsFirst, 3), "NCDHW");
  EXPECT_STREQ(layout_name(Layout::kChannelsLast, 1), "NWC");
}

TEST(RandomProblem, HoldsItsLimitsAndReachesEveryChoice) {
  Random random(11);
  RandomLimits limits;
  limits.empty_batch = true;
  limits.max_multiply_adds = 50000;
  std::set<int> directions, types, dims, layouts, activations;
  bool empty = false, grouped = false, asymmetric = false;
  for (int i = 0; i < 3000; ++i) {
    const ConvProblem p = random_problem(random, limits);
    ASSERT_TRUE(validate(p).ok());
    ASSERT_LE(p.flops() / 2, 50000);
    ASSERT_LE(p.c, limits.max_channels);
    ASSERT_LE(p.k, limits.max_channels);
    directions.insert(static_cast<int>(p.direction));
    types.insert(static_cast<int>(p.first_type()));
    dims.insert(p.dims);
    layouts.insert(static_cast<int>(p.layout));
    activations.insert(static_cast<int>(p.epilogue.activation));
    empty |= p.n == 0;
    grouped |= p.g > 1 && p.c_per_group() > 1;
    asymmetric |= p.pad_lower != p.pad_upper;
  }
  EXPECT_EQ(directions.size(), 3u);
  EXPECT_EQ(types.size(), 7u);
  EXPECT_EQ(dims.size(), 3u);
  EXPECT_EQ(layouts.size(), 2u);
  EXPECT_EQ(activations.size(), static_cast<size_t>(kActivationCount));
  EXPECT_TRUE(empty && grouped && asymmetric);
  limits.types = {DataType::kE4m3};
  limits.directions = {Direction::kBackwardData};
  limits.dims = {3};
  limits.epilogues = limits.mixed_types = limits.empty_batch = false;
  for (int i = 0; i < 300; ++i) {
    const ConvProblem p = random_problem(random, limits);
    EXPECT_EQ(to_text(p).substr(0, 14), "bwd_data e4m3 ");
    EXPECT_EQ(p.dims, 3);
    EXPECT_EQ(p.epilogue, Epilogue{});
  }
}

}  // namespace
}  // namespace wt
