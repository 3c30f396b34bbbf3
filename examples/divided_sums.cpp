// SPDX-License-Identifier: Apache-2.0
// How the long sum of a weight gradient is divided: whole, in two stages (parts in the workspace, then a launch that
// adds them) and by stream-K; and a batched GEMM that adds several tensors. A selection function picks the form by its
// name.
//
//   example_divided_sums [DEVICE]
#include <wavetile/wavetile.hpp>

#include <cstdio>
#include <cstring>
#include <iostream>

namespace {

void run(const wavetile::Device& device, const char* what, const std::string& text, const std::string& form,
         int splits = 0) {
  const auto problem = wavetile::Problem::parse(text).value();
  wavetile::PlanOptions options;
  options.splits = splits;
  bool found = form.empty();
  options.select = [&](const std::string&, const std::vector<const wavetile::Candidate*>& candidates) -> int64_t {
    for (size_t i = 0; i < candidates.size() && !form.empty(); ++i) {
      const bool divided =
          std::strstr(candidates[i]->kernel, "_split_") || std::strstr(candidates[i]->kernel, "_stream_");
      if (form == "whole" ? divided : !std::strstr(candidates[i]->kernel, form.c_str())) continue;
      found = true;
      return static_cast<int64_t>(i);
    }
    return -1;
  };
  const auto plan = wavetile::Plan::create(device, problem, options).value();
  if (!found) throw std::runtime_error("no kernel is " + form);
  wavetile::VerifyOptions exact;
  exact.exact = true;
  plan.verify(1, exact).value();
  std::cout << what << ": right, " << plan.workspace_bytes() << " bytes of workspace, " << plan.info().launches
            << " launches\n    " << plan.info().kernel << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto device = wavetile::Device::open(argc > 1 ? argv[1] : "sim:gfx942").value();
    const std::string gradient = "bwd_weight fp16 n2 c16 k24 i9x9 f3x3 p1";
    run(device, "one stage", gradient, "whole");
    run(device, "two stages, four parts", gradient, "_split_workspace", 4);
    run(device, "stream-K, linear", gradient, "_stream_linear");
    run(device, "stream-K, tree", gradient, "_stream_tree");
    // Four products of 64 x 16 by 16 x 16 with two added tensors (D), stacked and with their rows interleaved.
    run(device, "batched GEMM, multiple D", "gemm fp16 m64 n16 k16 b4 +add=1:1", "");
    run(device, "interleaved", "gemm fp16 m64 n16 k16 b4 interleaved +add=1:1", "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
