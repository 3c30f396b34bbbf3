// SPDX-License-Identifier: Apache-2.0
// examples/training_step.cpp - one training step of a layer: forward, backward data, backward weight.
//
// The three directions are three problems over the same tensors: the gradient of y stands in the place of y, and so on.
// This program learns a filter by gradient descent, and uses exceptions (value(), throw_if_failed()) to stay short.
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>
#include <wavetile/wavetile.hpp>

namespace {

using wavetile::Direction;
using wavetile::Role;

// One direction of the layer, ready to run.
struct Step {
  wavetile::Plan plan;
  wavetile::Buffer workspace;

  static Step make(const wavetile::Device& device, wavetile::ProblemFields layer, Direction direction) {
    layer.direction = direction;
    auto problem = wavetile::Problem::create(layer).value();
    auto plan = wavetile::Plan::create(device, problem).value();
    auto workspace = wavetile::Buffer::allocate(device, plan.workspace_bytes()).value();
    return {std::move(plan), std::move(workspace)};
  }
  void operator()(const wavetile::Tensors& tensors) const { plan.execute(tensors, workspace).throw_if_failed(); }
};

std::vector<float> fetch(const wavetile::Device& device, const wavetile::Buffer& buffer) {
  std::vector<float> values(buffer.size() / sizeof(float));
  device.synchronize().throw_if_failed();
  buffer.copy_out(values.data()).throw_if_failed();
  return values;
}

double mean_square(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return sum / static_cast<double>(values.size());
}

int train(const char* device_id) {
  const auto device = wavetile::Device::open(device_id).value();
  const wavetile::ProblemFields layer{.x = wavetile::Type::kF32,
                                      .w = wavetile::Type::kF32,
                                      .y = wavetile::Type::kF32,
                                      .n = 4,
                                      .c = 3,
                                      .k = 8,
                                      .in = {12, 12},
                                      .filter = 3,
                                      .padding = wavetile::Padding::kSame};
  const Step forward = Step::make(device, layer, Direction::kForward);
  const Step backward_data = Step::make(device, layer, Direction::kBackwardData);
  const Step backward_weight = Step::make(device, layer, Direction::kBackwardWeight);

  // An input, a filter to be found, and the output that it gives.
  const auto problem = wavetile::Problem::create(layer).value();
  std::vector<float> x(problem.bytes(Role::kX) / sizeof(float)), target_w(problem.bytes(Role::kW) / sizeof(float));
  wavetile::fill_tensors(problem, {.x = x.data(), .w = target_w.data()}).throw_if_failed();
  const auto allocate = [&](Role role) { return wavetile::Buffer::allocate(device, problem.bytes(role)).value(); };
  const auto device_x = wavetile::Buffer::from(device, x.data(), problem.bytes(Role::kX)).value();
  const auto device_w = wavetile::Buffer::from(device, target_w.data(), problem.bytes(Role::kW)).value();
  const auto device_y = allocate(Role::kY);
  forward({.x = device_x.data(), .w = device_w.data(), .y = device_y.data()});
  const std::vector<float> target_y = fetch(device, device_y);

  // Start from zero and descend along dw.
  std::vector<float> w(target_w.size(), 0.0f);
  const auto device_dx = allocate(Role::kX), device_dw = allocate(Role::kW), device_dy = allocate(Role::kY);
  double first_loss = 0, loss = 0;
  for (int step = 0; step < 30; ++step) {
    device_w.copy_in(w.data()).throw_if_failed();
    forward({.x = device_x.data(), .w = device_w.data(), .y = device_y.data()});

    std::vector<float> dy = fetch(device, device_y);  // the gradient of half the squared distance
    for (size_t i = 0; i < dy.size(); ++i) dy[i] -= target_y[i];
    loss = mean_square(dy);
    if (step == 0) first_loss = loss;
    if (step % 10 == 0) std::printf("step %2d: mean square error %.6f\n", step, loss);
    device_dy.copy_in(dy.data()).throw_if_failed();

    // dx is what a layer before this one would get.
    backward_data({.x = device_dx.data(), .w = device_w.data(), .y = device_dy.data()});
    backward_weight({.x = device_x.data(), .w = device_dw.data(), .y = device_dy.data()});

    const std::vector<float> dw = fetch(device, device_dw);
    double x_square = mean_square(x) * static_cast<double>(x.size()) / layer.c;  // scales the step to the data
    for (size_t i = 0; i < w.size(); ++i) w[i] -= static_cast<float>(0.5 / x_square) * dw[i];
  }
  std::printf("step 30: mean square error %.6f; input gradient %.6f\n", loss, mean_square(fetch(device, device_dx)));
  return loss < 0.1 * first_loss ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return train(argc > 1 ? argv[1] : "auto");
  } catch (const wavetile::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
