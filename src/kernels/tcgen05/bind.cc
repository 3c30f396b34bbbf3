// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/bind.cc - launches: those of kernels/tma and kernels/tma_weight, whose arguments the kernels take,
// and behind these the scales of blocks.
#include "kernels/tma/bind.h"

#include <cstddef>
#include <cstring>

#include "base/check.h"
#include "config/fields.h"
#include "kernels/tcgen05/device/arguments.h"
#include "kernels/tcgen05/kind.h"
#include "kernels/tma/seen.h"
#include "problem/image_line.h"
#include "problem/measures.h"

namespace wt {
namespace {

// `problem` as it was asked for: channels are numbers, and not bytes of several.
BlockScaleArguments scale_arguments(const ConvProblem& problem) {
  BlockScaleArguments arguments{};
  for (int i = 0; i < 3; ++i) {
    const ImageLine line = image_line(problem, i);
    arguments.size[i] = static_cast<i32>(problem.in[static_cast<size_t>(i)]);
    arguments.first[i] = static_cast<i32>(line.first);
    arguments.apart[i] = static_cast<i32>(line.apart);
    arguments.all[i] = static_cast<i32>(line.count);
  }
  const int block = scale_block(problem.scales);
  arguments.pixel = static_cast<i32>(problem.c / block);
  arguments.group = static_cast<i32>(problem.c_per_group() / block);
  arguments.filter = static_cast<i32>(pixels(problem.filter) * problem.c_per_group() / block);
  return arguments;
}

Binding with_scales(const KernelConfig& config, const ConvProblem& problem, Binding binding) {
  const std::string name = name_of(config);
  for (Launch& launch : binding.launches) {
    if (launch.kernel != name) continue;
    const size_t at = launch.params.size();
    WT_CHECK(at % alignof(BlockScaleArguments) == 0, "{} bytes of parameters", at);
    const BlockScaleArguments arguments = scale_arguments(problem);
    launch.params.resize(at + sizeof arguments);
    std::memcpy(launch.params.data() + at, &arguments, sizeof arguments);
    launch.pointers.push_back({static_cast<uint32_t>(at + offsetof(BlockScaleArguments, x)), Tensor::kXScales, 0});
    launch.pointers.push_back({static_cast<uint32_t>(at + offsetof(BlockScaleArguments, w)), Tensor::kWScales, 0});
  }
  return binding;
}

}  // namespace

Binding tcgen05_kind::bind(const KernelConfig& config, const View& asked, const DeviceInfo& device, int splits) {
  return bind_seen(config, asked, device, [&](const View& seen) {
    if (config.direction == Direction::kBackwardWeight) return bind_gradient(config, seen, device, splits);
    Binding binding = bind_regions(config, seen, device, splits);
    if (!tcgen05_layout::has_scales(config)) return binding;
    return with_scales(config, seen.asked(), std::move(binding));
  });
}

}  // namespace wt
