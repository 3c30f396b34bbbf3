// SPDX-License-Identifier: Apache-2.0
// examples/fused_expression.cpp - an epilogue of one's own: y = (conv(x, w) + bias) * sigmoid(gate) + shift, in one
// kernel.
//
//   example_fused_expression            the first GPU, or the CPU where there is none
//   example_fused_expression sim:sm_90a the kernel of a Hopper GPU in the simulator
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
  auto device = wavetile::Device::open(argc > 1 ? argv[1] : "auto");
  if (!device) return failed("open", device.status());

  // The expression sees the value after the bias, one auxiliary tensor of the output's shape and one number.
  auto problem = wavetile::Problem::create({
      .n = 2,
      .c = 32,
      .k = 48,
      .in = {14, 14},
      .filter = 3,
      .padding = wavetile::Padding::kSame,
      .bias = true,
      .inputs = 1,
      .scalars = {0.25f},
      .expression = "acc * sigmoid(in.aux[0]) + in.scalar[0]",
  });
  if (!problem) return failed("problem", problem.status());

  // The text is compiled into the kernel here; a fault in it is a status with the compiler's words.
  auto plan = wavetile::Plan::create(*device, *problem);
  if (!plan) return failed("plan", plan.status());
  std::printf("%s\non %s\nby %s\n", problem->text().c_str(), device->info().name, plan->info().kernel);

  using wavetile::Role;
  std::vector<std::byte> x(problem->bytes(Role::kX)), w(problem->bytes(Role::kW)), y(problem->bytes(Role::kY));
  std::vector<std::byte> bias(problem->bytes(Role::kBias)), gate(problem->bytes(Role::kAux0));
  wavetile::Tensors host{.x = x.data(), .w = w.data(), .y = y.data(), .bias = bias.data()};
  host.aux[0] = gate.data();
  if (auto status = wavetile::fill_tensors(*problem, host); !status) return failed("fill", status);

  auto device_x = wavetile::Buffer::from(*device, x.data(), x.size());
  auto device_w = wavetile::Buffer::from(*device, w.data(), w.size());
  auto device_bias = wavetile::Buffer::from(*device, bias.data(), bias.size());
  auto device_gate = wavetile::Buffer::from(*device, gate.data(), gate.size());
  auto device_y = wavetile::Buffer::allocate(*device, y.size());
  auto workspace = wavetile::Buffer::allocate(*device, plan->workspace_bytes());
  for (const auto* buffer : {&device_x, &device_w, &device_bias, &device_gate, &device_y, &workspace}) {
    if (!*buffer) return failed("allocate", buffer->status());
  }
  wavetile::Tensors tensors{
      .x = device_x->data(), .w = device_w->data(), .y = device_y->data(), .bias = device_bias->data()};
  tensors.aux[0] = device_gate->data();
  if (auto status = plan->execute(tensors, *workspace); !status) return failed("execute", status);

  // The reference calls the same text.
  if (auto status = device_y->copy_out(y.data()); !status) return failed("copy", status);
  const auto report = wavetile::verify(*problem, host);
  if (!report) return failed("verify", report.status());
  std::printf("%lld of %lld elements compared, worst error %.2f of what is allowed\n",
              static_cast<long long>(report->compared), static_cast<long long>(report->elements), report->worst);
  return 0;
}
