// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/plan/network_slow_test.cc - the gradients of a network of three layers, from end to end.
//
//   x --conv, relu--> --grouped conv, relu--> --1x1 conv--> y;  loss = sum of y * g
//
// Every forward and backward step runs on the device; the same chain through the naive reference, and differences of
// the loss, say what is right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dispatch/plan/plan.h"
#include "problem/random.h"
#include "problem/reference.h"

namespace wt {
namespace {

using Values = std::vector<float>;

constexpr const char* kLayers[] = {"fwd fp32 n2 c3 k8 i9x9 f3x3 s2 p1 +relu", "fwd fp32 n2 g2 c8 k8 i5x5 f3x3 p1 +relu",
                                   "fwd fp32 n2 c8 k4 i5x5 f1x1"};
constexpr size_t kCount = std::size(kLayers);

// x, w and y by role; the direction's output is written.
using Compute = std::function<void(const ConvProblem&, Values& x, Values& w, Values& y)>;

void by_reference(const ConvProblem& problem, Values& x, Values& w, Values& y) {
  HostTensors tensors = make_tensors(problem, Fill::kZero);
  const auto give = [](const Values& from, Buffer& to) { std::ranges::copy(from, to.as<float>().begin()); };
  give(x, tensors.x);
  give(w, tensors.w);
  give(y, tensors.y);
  reference(problem, tensors);
  Values& output = problem.direction == Direction::kForward ? y : problem.direction == Direction::kBackwardData ? x : w;
  std::ranges::copy(output_of(problem, tensors).as<float>(), output.begin());
}

void on_device(const std::shared_ptr<Device>& device, const ConvProblem& problem, Values& x, Values& w, Values& y) {
  const auto plan = make_plan(device, problem, {.tuning = Tuning::kOff});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  TensorPointers tensors;
  for (auto [role, values] : {std::pair{Tensor::kX, &x}, {Tensor::kW, &w}, {Tensor::kY, &y}}) {
    tensors[role] = *device->allocate(values->size() * sizeof(float));
    ASSERT_TRUE(device->copy_in(tensors[role], values->data(), values->size() * sizeof(float)).ok());
  }
  tensors[Tensor::kWorkspace] = *device->allocate(static_cast<size_t>((*plan)->workspace_bytes()) + 1);
  const Status status = (*plan)->execute(tensors, nullptr);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_TRUE(device->synchronize(nullptr).ok());
  for (auto [role, values] : {std::pair{Tensor::kX, &x}, {Tensor::kW, &w}, {Tensor::kY, &y}})
    ASSERT_TRUE(device->copy_out(values->data(), tensors[role], values->size() * sizeof(float)).ok());
  for (void* memory : tensors.at) {
    if (!memory) continue;
    EXPECT_TRUE(device->free(memory).ok());
  }
}

class Network {
 public:
  Network() {
    for (size_t i = 0; i < kCount; ++i) layer_[i] = *parse_problem(kLayers[i]);
    input_ = random(layer_[0].x_elements(), 1);
    for (size_t i = 0; i < kCount; ++i) weights_[i] = random(layer_[i].w_elements(), 2 + i);
    gradient_ = random(layer_[kCount - 1].y_elements(), 9);
  }

  // What each layer gives; its input is what the one before gives.
  std::vector<Values> forward(const Compute& compute) {
    std::vector<Values> outputs;
    for (size_t i = 0; i < kCount; ++i) {
      outputs.emplace_back(layer_[i].y_elements(), NAN);
      compute(layer_[i], i == 0 ? input_ : outputs[i - 1], weights_[i], outputs[i]);
    }
    return outputs;
  }

  // Gradients of the loss by the filters, first layer first, and by the input.
  std::vector<Values> backward(const Compute& compute) {
    std::vector<Values> outputs = forward(compute), gradients(kCount + 1);
    Values dy = gradient_;
    for (size_t i = kCount; i-- > 0;) {
      if (layer_[i].epilogue.activation == Activation::kRelu)
        for (size_t j = 0; j < dy.size(); ++j) dy[j] = outputs[i][j] > 0 ? dy[j] : 0;
      gradients[i].assign(weights_[i].size(), NAN);
      compute(with_direction(layer_[i], Direction::kBackwardWeight), i == 0 ? input_ : outputs[i - 1], gradients[i],
              dy);
      Values dx(layer_[i].x_elements(), NAN);
      compute(with_direction(layer_[i], Direction::kBackwardData), dx, weights_[i], dy);
      dy = dx;
    }
    gradients[kCount] = dy;
    return gradients;
  }

  double loss() {
    const Values y = forward(by_reference).back();
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) sum += double{y[i]} * gradient_[i];
    return sum;
  }
  float& weight(size_t layer, size_t index) { return weights_[layer].at(index); }

 private:
  static Values random(int64_t count, uint64_t seed) {
    Values values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(static_cast<double>(mix64(seed << 32 ^ i) % 2001) / 1000 - 1);
    return values;
  }

  ConvProblem layer_[kCount];
  Values input_, weights_[kCount], gradient_;
};

class NetworkGradient : public ::testing::TestWithParam<const char*> {};

TEST_P(NetworkGradient, IsThatOfTheReference) {
  const auto device = open_device(GetParam());
  ASSERT_TRUE(device.ok()) << device.status().message();
  Network network;
  const std::vector<Values> right = network.backward(by_reference);
  const std::vector<Values> found =
      network.backward([&](const ConvProblem& p, Values& x, Values& w, Values& y) { on_device(*device, p, x, w, y); });
  for (size_t i = 0; i < right.size(); ++i) {
    float largest = 0;
    for (const float value : right[i]) largest = std::max(largest, std::abs(value));
    ASSERT_GT(largest, 0);
    ASSERT_EQ(found[i].size(), right[i].size());
    for (size_t j = 0; j < right[i].size(); ++j)
      EXPECT_NEAR(found[i][j], right[i][j], 1e-5f * largest) << "gradient " << i << " element " << j;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, NetworkGradient, ::testing::Values("cpu", "sim:sm_80", "sim:sm_90a"));

// The reference's own gradients, by what a small step of a weight does to the loss.
TEST(NetworkReference, GradientsAreDerivatives) {
  Network network;
  const std::vector<Values> gradients = network.backward(by_reference);
  constexpr float kStep = 1.0f / 4096;  // WHY so small: a larger one takes some outputs over the edge of relu
  for (size_t layer = 0; layer < kCount; ++layer) {
    for (size_t index = 0; index < gradients[layer].size(); index += gradients[layer].size() / 5) {
      float& weight = network.weight(layer, index);
      const float before = weight;
      weight = before + kStep;
      const double above = network.loss();
      weight = before - kStep;
      const double below = network.loss();
      weight = before;
      EXPECT_NEAR((above - below) / (2 * kStep), gradients[layer][index], 0.05) << layer << " " << index;
    }
  }
}

}  // namespace
}  // namespace wt
