// SPDX-License-Identifier: Apache-2.0
#include "problem/channel_sums.h"

#include <algorithm>

#include "base/parallel.h"
#include "problem/number.h"

namespace wt {
namespace {

int64_t pixels_of(const Spatial& size) { return size[0] * size[1] * size[2]; }

// Lines of memory that belong together: a pixel's channels, or a channel's pixels of one image.
struct Lines {
  int64_t count, length;
};

void add_lines(const ChannelTensor& t, const void* data, const Lines& lines, int64_t first, int64_t end,
               std::vector<ChannelSum>& sums) {
  std::vector<float> line(static_cast<size_t>(lines.length));
  const auto* bytes = static_cast<const std::byte*>(data);
  for (int64_t i = first; i < end; ++i) {
    to_float(t.type, bytes + i * lines.length * size_of(t.type), line.data(), lines.length);
    for (int64_t j = 0; j < lines.length; ++j) {
      const double value = line[static_cast<size_t>(j)];
      ChannelSum& sum = sums[static_cast<size_t>(t.layout == Layout::kChannelsLast ? j : i % t.channels)];
      sum.total += value;
      sum.square_sum += value * value;
    }
  }
}

}  // namespace

ChannelTensor bias_gradient_tensor(const ConvProblem& problem, BiasGradient which) {
  if (which == BiasGradient::kOfX) return {problem.x, problem.layout, problem.n, problem.c, pixels_of(problem.in)};
  return {problem.y, problem.layout, problem.n, problem.k, pixels_of(problem.out())};
}

std::vector<ChannelSum> channel_sums(const ChannelTensor& tensor, const void* data) {
  const bool last = tensor.layout == Layout::kChannelsLast;
  const Lines lines =
      last ? Lines{tensor.terms(), tensor.channels} : Lines{tensor.images * tensor.channels, tensor.pixels};
  constexpr int64_t kMostParts = 64;
  const int64_t parts = std::clamp<int64_t>(lines.count, 1, kMostParts), span = (lines.count + parts - 1) / parts;
  std::vector<std::vector<ChannelSum>> sums(static_cast<size_t>(parts));
  parallel_for(parts, [&](int64_t part) {
    std::vector<ChannelSum>& own = sums[static_cast<size_t>(part)];
    own.resize(static_cast<size_t>(tensor.channels));
    add_lines(tensor, data, lines, part * span, std::min(lines.count, (part + 1) * span), own);
  });
  for (size_t part = 1; part < sums.size(); ++part) {
    for (size_t i = 0; i < sums[0].size(); ++i) {
      sums[0][i].total += sums[part][i].total;
      sums[0][i].square_sum += sums[part][i].square_sum;
    }
  }
  return std::move(sums[0]);
}

}  // namespace wt
