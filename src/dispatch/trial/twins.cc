// SPDX-License-Identifier: Apache-2.0
#include "dispatch/trial/twins.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/format.h"
#include "config/fields.h"
#include "dispatch/choice/filter.h"
#include "dispatch/trial/small_problem.h"
#include "kernels/constraints.h"
#include "kernels/kind.h"

namespace wt {
namespace {

// A problem has one signature, so kernels of two never stand beside each other in a choice.
KernelConfig signature_of(const KernelConfig& config) {
  KernelConfig signature;
  signature.direction = config.direction;
  signature.target = config.target;
  signature.x = config.x;
  signature.w = config.w;
  signature.y = config.y;
  signature.layout = config.layout;
  signature.dims = config.dims;
  signature.scales = config.scales;
  signature.epilogue = config.epilogue;
  return signature;
}

// A small problem of the config, and the same with more tiles than a device has room for, where grids that depend on
// the device part.
std::vector<ConvProblem> problems_of(const KernelConfig& config) {
  std::vector<ConvProblem> problems;
  const std::optional<ConvProblem> small = small_problem_for(config);
  if (!small) return problems;
  problems.push_back(*small);
  ConvProblem wide = *small;
  wide.c *= 16;
  wide.k *= 16;
  ConvProblem many = wide;
  many.n = 24;
  problems.push_back(many);
  many.n = 1;
  for (int64_t& size : many.in)
    if (size > 1) size *= 5;
  problems.push_back(many);
  return problems;
}

auto shape_of(const Launch& launch) {
  const LaunchShape& shape = launch.shape;
  return std::tuple(shape.grid, shape.threads, shape.cluster, shape.shared_bytes, shape.programmatic);
}

auto facts_of(const TensorMapSpec& map) {
  return std::tuple(map.kind, map.element, map.rank, map.size, map.stride, map.box, map.element_stride, map.lower,
                    map.upper, map.channels_per_pixel, map.pixels_per_column, map.swizzle, map.l2_promotion);
}

bool is_alike(const Launch& a, const Launch& b) {
  const auto same_pointer = [](const Launch::Pointer& p, const Launch::Pointer& q) {
    return p.offset == q.offset && p.tensor == q.tensor && p.byte_offset == q.byte_offset;
  };
  const auto same_zero = [](const Launch::Zero& p, const Launch::Zero& q) {
    return p.tensor == q.tensor && p.byte_offset == q.byte_offset && p.bytes == q.bytes;
  };
  const auto same_map = [](const Launch::Map& p, const Launch::Map& q) {
    return p.offset == q.offset && p.tensor == q.tensor && p.byte_offset == q.byte_offset &&
           facts_of(p.spec) == facts_of(q.spec);
  };
  return shape_of(a) == shape_of(b) && a.params == b.params && std::ranges::equal(a.maps, b.maps, same_map) &&
         std::ranges::equal(a.pointers, b.pointers, same_pointer) && std::ranges::equal(a.zeros, b.zeros, same_zero);
}

bool is_alike(const Binding& a, const Binding& b) {
  return a.workspace_bytes == b.workspace_bytes &&
         std::ranges::equal(a.launches, b.launches, [](const Launch& p, const Launch& q) { return is_alike(p, q); });
}

}  // namespace

bool are_launched_alike(const KernelConfig& a, const KernelConfig& b) {
  const DeviceInfo device = usual_device(a.target);
  for (const KernelConfig* of : {&a, &b}) {
    for (const ConvProblem& problem : problems_of(*of)) {
      const Requests requests{.deterministic = false};
      if (!accepts(a, problem, requests) || !accepts(b, problem, requests)) continue;
      if (!is_alike(bind(a, problem, device), bind(b, problem, device))) return false;
    }
  }
  return true;
}

void find_twins(std::vector<CodeCheck>& checks) {
  std::map<std::pair<std::string, std::string>, std::vector<CodeCheck*>> by_code;
  for (CodeCheck& check : checks) {
    if (check.machine_code.empty()) continue;
    auto& same = by_code[{key_of(signature_of(check.config)), check.machine_code}];
    for (const CodeCheck* first : same) {
      if (!are_launched_alike(first->config, check.config)) continue;
      check.faults.push_back(fmt::format("the same machine code and launches as {}; one of the names says nothing",
                                         name_of(first->config)));
      break;
    }
    same.push_back(&check);
  }
}

}  // namespace wt
