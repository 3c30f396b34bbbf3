// SPDX-License-Identifier: Apache-2.0
// The reference against a second formulation that scatters every product, and against values worked out by hand.
#include "problem/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "problem/number.h"
#include "problem/random_problem.h"

namespace wt {
namespace {

// Visits each product of the convolution once: (x index, w index, y index). The directions differ only in which of the
// three receives.
template <class Body>
void each_product(const ConvProblem& p, const Body& body) {
  const Strides xs = x_strides(p), ws = w_strides(p), ys = y_strides(p);
  const Spatial out = p.out();
  for (int64_t n = 0; n < p.n; ++n) {
    for (int64_t k = 0; k < p.k; ++k) {
      for (int64_t c = 0; c < p.c_per_group(); ++c) {
        const int64_t channel = k / p.k_per_group() * p.c_per_group() + c;
        for (int64_t o = 0; o < out[0] * out[1] * out[2]; ++o) {
          const Spatial to = {o / (out[1] * out[2]), o / out[2] % out[1], o % out[2]};
          for (int64_t t = 0; t < p.filter_taps(); ++t) {
            const Spatial tap = {t / (p.filter[1] * p.filter[2]), t / p.filter[2] % p.filter[1], t % p.filter[2]};
            Spatial from;
            bool inside = true;
            for (int i = 0; i < kMaxDims; ++i) {
              from[i] = to[i] * p.stride[i] - p.pad_lower[i] + tap[i] * p.dilation[i];
              inside = inside && from[i] >= 0 && from[i] < p.in[i];
            }
            if (inside) body(xs.at(n, channel, from), ws.at(k, c, tap), ys.at(n, k, to));
          }
        }
      }
    }
  }
}

TEST(Reference, EqualsTheScatterOfAllProducts) {
  Random random(31);
  RandomLimits limits;
  limits.epilogues = false;
  limits.empty_batch = true;
  limits.max_multiply_adds = 60000;
  for (int round = 0; round < 400; ++round) {
    const ConvProblem p = random_problem(random, limits);
    HostTensors tensors = make_tensors(p, Fill::kExact, static_cast<uint64_t>(round));
    std::vector<double> expected(static_cast<size_t>(p.output_elements()), 0.0);
    std::vector<int64_t> terms(expected.size(), 0);
    each_product(p, [&](int64_t x, int64_t w, int64_t y) {
      const auto add = [&](int64_t to, DataType ta, const Buffer& a, int64_t ia, DataType tb, const Buffer& b,
                           int64_t ib) {
        const double first = static_cast<double>(load(ta, a.data(), ia)) - p.x_zero;
        expected[static_cast<size_t>(to)] += first * load(tb, b.data(), ib);
        ++terms[static_cast<size_t>(to)];
      };
      switch (p.direction) {
        case Direction::kForward:
          add(y, p.x, tensors.x, x, p.w, tensors.w, w);
          break;
        case Direction::kBackwardData:
          add(x, p.y, tensors.y, y, p.w, tensors.w, w);
          break;
        case Direction::kBackwardWeight:
          add(w, p.x, tensors.x, x, p.y, tensors.y, y);
          break;
      }
    });
    reference(p, tensors);
    for (int64_t i = 0; i < p.output_elements(); ++i) {
      const double want = expected[static_cast<size_t>(i)];
      const ReferenceElement one = reference_element(p, tensors, i);
      ASSERT_EQ(one.dot, want) << to_text(p) << " at " << output_position(p, i);
      ASSERT_EQ(one.value, want + p.y_zero);
      ASSERT_EQ(one.terms, terms[static_cast<size_t>(i)]);
      ASSERT_EQ(load(p.output_type(), output_of(p, tensors).data(), i), round_to(p.output_type(), want + p.y_zero))
          << to_text(p);
    }
  }
}

TEST(Reference, EpilogueByHand) {
  const ConvProblem p = *parse_problem("fwd fp32 n1 c2 k2 i2 +alpha=0.5+scale+bias+residual=2+clamp=-10:10+amax");
  HostTensors t = make_tensors(p, Fill::kZero);
  const auto set = [](Buffer& buffer, std::vector<float> values) {
    std::copy(values.begin(), values.end(), buffer.as<float>().begin());
  };
  set(t.x, {1, 2, 3, 4});      // (w, c)
  set(t.w, {1, 10, -1, 100});  // (k, c)
  set(t.scale, {2, 0.5f});
  set(t.bias, {-3, 7});
  set(t.residual, {1, 1, -20, -40});
  reference(p, t);
  // sums 21 199 43 397, halved and scaled 21 49.75 43 99.25, biased 18 56.75 40 106.25, residual 20 58.75 0 26.25
  const std::span<const float> y = t.y.as<float>();
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()), (std::vector<float>{10, 10, 0, 10}));
  EXPECT_EQ(t.amax.as<float>()[0], 10);
  const ReferenceElement e = reference_element(p, t, 1);
  EXPECT_EQ(e.dot, 199);
  EXPECT_EQ(e.square_sum, 1 + 200.0 * 200.0);
  EXPECT_EQ(e.before, 58.75);
  EXPECT_EQ(e.magnitude, 49.75 + 7 + 2);
  EXPECT_EQ(e.gain, 0.25);
}

TEST(Reference, ScaleAndBiasInTypesOfTheirOwn) {
  const ConvProblem p = *parse_problem("fwd fp32 n1 c1 k2 i2 +scale=bf16+bias=fp16");
  HostTensors t = make_tensors(p, Fill::kZero);
  for (int64_t i = 0; i < 2; ++i) {
    store(DataType::kF32, t.x.data(), i, static_cast<float>(i + 3));
    store(DataType::kF32, t.w.data(), i, 1);
    store(DataType::kBf16, t.scale.data(), i, i == 0 ? 1.5f : -2);
    store(DataType::kF16, t.bias.data(), i, i == 0 ? 0.25f : 1000);
  }
  reference(p, t);
  const std::span<const float> y = t.y.as<float>();
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()), (std::vector<float>{4.75f, 994, 6.25f, 992}));
}

TEST(Reference, ScaleAndBiasRunOverTheOutputsChannels) {
  for (const char* text : {"bwd_data fp32 n2 c3 k2 i4 +bias", "bwd_weight fp32 n2 c3 k2 i4 f2 +bias"}) {
    for (const Layout layout : {Layout::kChannelsLast, Layout::kChannelsFirst}) {
      ConvProblem p = *parse_problem(text);
      p.layout = layout;
      HostTensors t = make_tensors(p, Fill::kZero);
      for (size_t i = 0; i < t.bias.as<float>().size(); ++i) t.bias.as<float>()[i] = static_cast<float>(i + 1);
      reference(p, t);
      const bool weight = p.direction == Direction::kBackwardWeight;
      const Strides strides = weight ? w_strides(p) : x_strides(p);
      for (int64_t outer = 0; outer < 2; ++outer) {
        for (int64_t c = 0; c < 3; ++c) {
          const float got = load(DataType::kF32, output_of(p, t).data(), strides.at(outer, c, {0, 0, 1}));
          EXPECT_EQ(got, static_cast<float>((weight ? outer : c) + 1));
        }
      }
    }
  }
}

TEST(Reference, Activations) {
  const auto at = [](Activation activation, double v) {
    return activate(Epilogue{.activation = activation, .slope = 0.5f}, v);
  };
  EXPECT_EQ(at(Activation::kNone, -2), -2);
  EXPECT_EQ(at(Activation::kRelu, -2), 0);
  EXPECT_EQ(at(Activation::kRelu, 2), 2);
  EXPECT_EQ(at(Activation::kLeakyRelu, -2), -1);
  EXPECT_EQ(at(Activation::kLeakyRelu, 2), 2);
  EXPECT_EQ(at(Activation::kClamp, -2), 0);
  EXPECT_EQ(at(Activation::kClamp, 9), 6);
  EXPECT_EQ(at(Activation::kSigmoid, 0), 0.5);
  EXPECT_EQ(at(Activation::kTanh, 0), 0);
  EXPECT_DOUBLE_EQ(at(Activation::kSilu, 1), 1 / (1 + std::exp(-1.0)));
  EXPECT_DOUBLE_EQ(at(Activation::kGelu, 1), 0.84134474606854293);  // the normal distribution at 1
  EXPECT_TRUE(std::isnan(at(Activation::kRelu, NAN)));
  EXPECT_TRUE(std::isnan(at(Activation::kClamp, NAN)));
}

TEST(Reference, AnEmptyBatchLeavesZeroWeights) {
  const ConvProblem p = *parse_problem("bwd_weight bf16 n0 c4 k4 i8x8 f3x3 p1 +bias+amax");
  HostTensors t = make_tensors(p, Fill::kExact);
  reference(p, t);
  float largest = 0;
  for (int64_t i = 0; i < p.w_elements(); ++i) {
    const float bias = t.bias.as<float>()[static_cast<size_t>(i / (4 * 9))];
    ASSERT_EQ(load(p.w, t.w.data(), i), bias);
    largest = std::max(largest, std::fabs(bias));
  }
  EXPECT_EQ(t.amax.as<float>()[0], largest);
}

TEST(Reference, NamesPositions) {
  EXPECT_EQ(output_position(*parse_problem("fwd bf16 n2 c4 k8 i4x5"), 8 * 20 + 8 * 7 + 3), "n=1 k=3 h=1 w=2");
  EXPECT_EQ(output_position(*parse_problem("bwd_data bf16 n2 c4 k8 i4x5 NCHW"), 4 * 20 + 20 + 7), "n=1 c=1 h=1 w=2");
  EXPECT_EQ(output_position(*parse_problem("bwd_weight bf16 c4 k8 i9 f3"), 4 * 3 * 5 + 4 * 2 + 1), "k=5 c=1 w=2");
}

}  // namespace
}  // namespace wt
