// SPDX-License-Identifier: Apache-2.0
// A kernel that no list of the library has, configured in JSON: asked whether it can, run by itself, and registered so
// that plans take it. Needs no GPU: the AMD target is simulated.
//
//   example_own_kernel [DEVICE CONFIG.json PROBLEM]
#include <wavetile/wavetile.hpp>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

// 64 x 64 x 32 tiles by four waves of gfx942's MFMA, two shared buffers.
constexpr const char* kConfig = R"({"kind": "portable", "target": "gfx942", "x": "fp16", "w": "fp16", "y": "fp16",
  "gemm": {"tile": {"m": 64, "n": 64, "k": 32}, "warps": {"m": 4, "n": 1, "k": 1}, "mma": {"m": 16, "n": 16, "k": 16},
           "pipeline": "compv4", "stages": 2, "double_buffer": true, "staging": "shared",
           "loader_a": "vector", "loader_b": "vector", "vector_a": 8, "vector_b": 4}})";

void run(const std::string& device_id, const std::string& config, const std::string& text) {
  const auto device = wavetile::Device::open(device_id).value();
  const auto problem = wavetile::Problem::parse(text).value();

  wavetile::PlanOptions one;
  one.config = config;
  const auto answer = wavetile::supported(device, problem, one).value();
  std::cout << "supported  " << answer.reason << "\n";
  if (!answer.supported) return;

  wavetile::VerifyOptions exact;
  exact.exact = true;
  const auto plan = wavetile::Plan::create(device, problem, one).value();
  plan.verify(1, exact).value();
  std::cout << "right      " << plan.info().kernel << "\n";

  wavetile::PlanOptions options;
  options.registry = wavetile::Registry::create(device).value();
  options.registry->add(config, wavetile::Priority::kHigh).value();
  std::cout << options.registry->list().value();
  const auto chosen = wavetile::Plan::create(device, problem, options).value();
  std::cout << "chosen     " << chosen.info().reason << "\n";

  options.registry->remove(plan.info().kernel).throw_if_failed();
  const auto usual = wavetile::Plan::create(device, problem, options).value();
  std::cout << "without it " << usual.info().kernel << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::string config = kConfig;
    if (argc > 2) {
      std::ostringstream text;
      text << std::ifstream(argv[2]).rdbuf();
      config = text.str();
    }
    run(argc > 1 ? argv[1] : "sim:gfx942", config, argc > 3 ? argv[3] : "fwd fp16 n1 c16 k24 i7x9 f3x3 p1");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
