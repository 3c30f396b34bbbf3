// SPDX-License-Identifier: Apache-2.0
#include "dispatch/trial/small_problem.h"

#include <array>
#include <string>
#include <vector>

#include "config/enum_names.h"
#include "kernels/constraints.h"
#include "kernels/kind.h"
#include "kernels/shared/small_sizes.h"

namespace wt {
namespace {

// Types by role: x*w>y forward, dy*w>dx and x*dy>dw.
std::string types_of(const KernelConfig& c) {
  const auto text = [](DataType a, DataType b, DataType out) {
    return fmt::format("{}*{}>{}", text_of(a), text_of(b), text_of(out));
  };
  if (c.direction == Direction::kForward) return text(c.x, c.w, c.y);
  return c.direction == Direction::kBackwardData ? text(c.y, c.w, c.x) : text(c.x, c.y, c.w);
}

std::string epilogue_of(const EpilogueConfig& epilogue) {
  std::string text = " ";
  if (epilogue.scale) text += "+scale";
  if (epilogue.bias) text += "+bias";
  if (epilogue.residual) text += "+residual";
  if (epilogue.activation != Activation::kNone) text += fmt::format("+{}", text_of(epilogue.activation));
  if (epilogue.amax) text += "+amax";
  return text;
}

std::string scales_of(const KernelConfig& config) {
  return config.scales == BlockScales::kNone ? "" : fmt::format(" scales={}", text_of(config.scales));
}

// Layers of every shape that kernels ask for which need nothing particular.
std::vector<std::string> usual_sizes(const KernelConfig& config) {
  if (config.family() == Family::kDirect) return small_groups(config);
  struct Size {
    const char *image, *rest;
  };
  // The last two are for weight gradients in one dimension, whose sums are short elsewhere.
  constexpr Size kSizes[] = {{"9", "c64 k64 f3 p1"}, {"8", "c64 k64 f1"},       {"8", "c16 k16 f2 s2"},
                             {"9", "c96 k96 f3 p1"}, {"9", "c64 k64 f3 s2 p1"}, {"9", "c16 k16 f3 p1"},
                             {"9", "c64 k64 f5 p2"}, {"150", "c64 k64 f3 p1"},  {"150", "c64 k64 f1"}};
  std::vector<std::string> sizes;
  for (const Size& size : kSizes) {
    std::string image = size.image;
    for (int i = 1; i < config.dims; ++i) image += fmt::format("x{}", size.image);
    sizes.push_back(fmt::format("g{} i{} {}", int{config.gemm.groups_per_tile}, image, size.rest));
  }
  return sizes;
}

}  // namespace

std::optional<ConvProblem> small_problem_for(const KernelConfig& config) {
  const KernelKind* const kind = kind_of(config);
  std::vector<std::string> sizes;
  if (kind && kind->small_sizes) sizes = kind->small_sizes(config);
  if (sizes.empty()) sizes = usual_sizes(config);
  const char* const layout =
      config.layout == Layout::kChannelsLast ? "" : std::array{"NCW", "NCHW", "NCDHW"}[config.dims - 1];
  for (const std::string& size : sizes) {
    const auto problem = parse_problem(fmt::format("{} {} n1 {} {}{}{}", text_of(config.direction), types_of(config),
                                                   size, layout, scales_of(config), epilogue_of(config.epilogue)));
    if (problem.ok() && accepts(config, *problem, {.deterministic = false})) return *problem;
  }
  return std::nullopt;
}

}  // namespace wt
