// SPDX-License-Identifier: Apache-2.0
// examples/forward.cpp - a convolution with bias and relu on the default device, verified and timed.
//
//   example_forward            the first GPU, or the CPU where there is none
//   example_forward sim:sm_90a the kernel of a Hopper GPU in the simulator
#include <cstdio>
#include <vector>
#include <wavetile/wavetile.hpp>

namespace {

int failed(const char* step, const wavetile::Status& status) {
  std::fprintf(stderr, "%s: %s\n", step, status.message().c_str());
  return static_cast<int>(status.code());
}

}  // namespace

int main(int argc, char** argv) {
  // Where: "auto" is the first GPU, else the CPU.
  auto device = wavetile::Device::open(argc > 1 ? argv[1] : "auto");
  if (!device) return failed("open", device.status());

  // What: a 3x3 convolution over an NHWC image. Channel counts are totals; what is not named has its default.
  auto problem = wavetile::Problem::create({
      .n = 2,
      .c = 32,
      .k = 48,
      .in = {14, 14},
      .filter = 3,
      .padding = wavetile::Padding::kSame,
      .bias = true,
      .activation = wavetile::Activation::kRelu,
  });
  if (!problem) return failed("problem", problem.status());

  // How: a plan chooses a kernel, compiles it and binds it. It is made once and executed often.
  auto plan = wavetile::Plan::create(*device, *problem);
  if (!plan) return failed("plan", plan.status());
  std::printf("%s\non %s\nby %s (%s)\n", problem->text().c_str(), device->info().name, plan->info().kernel,
              plan->info().reason);

  // Data on the host. A program of your own has its own; here the library makes some.
  using wavetile::Role;
  std::vector<std::byte> x(problem->bytes(Role::kX)), w(problem->bytes(Role::kW)), y(problem->bytes(Role::kY));
  std::vector<std::byte> bias(problem->bytes(Role::kBias));
  const wavetile::Tensors host{.x = x.data(), .w = w.data(), .y = y.data(), .bias = bias.data()};
  if (auto status = wavetile::fill_tensors(*problem, host); !status) return failed("fill", status);

  // The same on the device, and the scratch memory that the plan asks for.
  auto device_x = wavetile::Buffer::from(*device, x.data(), x.size());
  auto device_w = wavetile::Buffer::from(*device, w.data(), w.size());
  auto device_bias = wavetile::Buffer::from(*device, bias.data(), bias.size());
  auto device_y = wavetile::Buffer::allocate(*device, y.size());
  auto workspace = wavetile::Buffer::allocate(*device, plan->workspace_bytes());
  for (const auto* buffer : {&device_x, &device_w, &device_bias, &device_y, &workspace}) {
    if (!*buffer) return failed("allocate", buffer->status());
  }

  // Execute between two events. The first call is the warm-up.
  auto start = wavetile::Event::create(*device);
  auto stop = wavetile::Event::create(*device);
  if (!start || !stop) return failed("event", start ? stop.status() : start.status());
  const wavetile::Tensors tensors{
      .x = device_x->data(), .w = device_w->data(), .y = device_y->data(), .bias = device_bias->data()};
  for (int run = 0; run < 2; ++run) {
    if (auto status = start->record(); !status) return failed("record", status);
    if (auto status = plan->execute(tensors, *workspace); !status) return failed("execute", status);
    if (auto status = stop->record(); !status) return failed("record", status);
  }
  const auto microseconds = stop->since(*start);
  if (!microseconds) return failed("time", microseconds.status());

  // Check the result against plain loops in double.
  if (auto status = device_y->copy_out(y.data()); !status) return failed("copy", status);
  const auto report = wavetile::verify(*problem, host);
  if (!report) return failed("verify", report.status());
  std::printf("%.1f us; %lld of %lld elements compared, worst error %.2f of what is allowed\n", *microseconds,
              static_cast<long long>(report->compared), static_cast<long long>(report->elements), report->worst);
  return 0;
}
