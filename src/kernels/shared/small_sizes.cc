// SPDX-License-Identifier: Apache-2.0
#include "kernels/shared/small_sizes.h"

#include "base/format.h"

namespace wt {

std::vector<std::string> small_groups(const KernelConfig& config, const SmallGroups& layer) {
  const auto in_dims = [&](int d, int h, int w) {
    if (config.dims == 1) return fmt::format("{}", layer.one_row_when_1d ? w : h);
    return config.dims == 2 ? fmt::format("{}x{}", h, w) : fmt::format("{}x{}x{}", d, h, w);
  };
  const auto or_else = [](int size, int free) { return size ? size : free; };
  const FixedSizes& fixed = config.fixed;
  const int h = or_else(fixed.filter_h, 3), w = or_else(fixed.filter_w, 3);
  const int image = layer.image * (config.direct.images == 1 ? 9 : 8);  // images=16 is for up to 8 columns of output
  const int channels = layer.groups * layer.channels;
  return {fmt::format("i{} c{} k{} g{} f{} s{} p{}", in_dims(image, image, image), channels, channels, layer.groups,
                      in_dims(3, h, w), in_dims(1, or_else(fixed.stride_h, 1), or_else(fixed.stride_w, 1)),
                      in_dims(1, h / 2, w / 2))};
}

}  // namespace wt
