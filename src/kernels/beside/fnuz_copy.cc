// SPDX-License-Identifier: Apache-2.0
#include "kernels/beside/fnuz_copy.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/integers.h"
#include "config/fields.h"
#include "kernels/shared/conv_arguments.h"

namespace wt {
namespace {

constexpr int64_t kAlignment = 256;  // of a copy
constexpr int64_t kBlocksAUnit = 8;

}  // namespace

Binding with_fnuz_copies(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device,
                         Binding binding) {
  if (binding.launches.empty()) return binding;
  std::vector<std::pair<Tensor, int64_t>> tensors;
  if (problem.direction == Direction::kForward) {
    tensors = {{Tensor::kX, problem.x_elements()}, {Tensor::kW, problem.w_elements()}};
  } else {
    tensors = {{Tensor::kY, problem.y_elements()}};
  }
  const std::string reader = name_of(config);
  FnuzCopyArguments arguments{};
  Launch copy;
  copy.kernel = reader + kFnuzSuffix;
  copy.shape.threads = kFnuzThreads;
  int64_t at = ceil_div(binding.workspace_bytes, kAlignment) * kAlignment, most = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto [tensor, count] = tensors[i];
    arguments.copies[i].count = count;
    most = std::max(most, count);
    const auto offset =
        static_cast<uint32_t>(offsetof(FnuzCopyArguments, copies) + i * sizeof(FnuzCopyArguments::Copy));
    copy.pointers.push_back({offset + static_cast<uint32_t>(offsetof(FnuzCopyArguments::Copy, in)), tensor, 0});
    copy.pointers.push_back({offset + static_cast<uint32_t>(offsetof(FnuzCopyArguments::Copy, out)), Tensor::kWorkspace,
                             static_cast<uint64_t>(at)});
    for (Launch& launch : binding.launches) {
      if (launch.kernel != reader) continue;
      for (Launch::Pointer& pointer : launch.pointers) {
        if (pointer.tensor != tensor) continue;
        pointer.tensor = Tensor::kWorkspace;
        pointer.byte_offset += static_cast<uint64_t>(at);
      }
    }
    at += ceil_div(count, kAlignment) * kAlignment;
  }
  copy.shape.grid[0] = static_cast<uint32_t>(std::clamp<int64_t>(ceil_div(most, int64_t{kFnuzThreads} * kFnuzChunk), 1,
                                                                 int64_t{device.multiprocessors} * kBlocksAUnit));
  set_params(copy, arguments);
  binding.launches.insert(binding.launches.begin(), std::move(copy));
  binding.workspace_bytes = at;
  return binding;
}

}  // namespace wt
