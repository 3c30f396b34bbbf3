// SPDX-License-Identifier: Apache-2.0
#include "rules/selection.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "kernels/device/gemm/storage.h"

namespace wt {

namespace {

auto category(const KernelConfig& config) {
  return std::tuple(config.direction, operand_a(config), config.dims, config.family(), config.gemm.pipeline,
                    config.gemm.scheduler, config.kind);
}

// Marks positions, so that every selection keeps the order of its input.
std::vector<KernelConfig> take(const std::vector<KernelConfig>& configs, const std::vector<bool>& taken) {
  std::vector<KernelConfig> out;
  for (size_t i = 0; i < configs.size(); ++i)
    if (taken[i]) out.push_back(configs[i]);
  return out;
}

void fill_up(std::vector<bool>& taken, size_t count) {
  auto have = static_cast<size_t>(std::ranges::count(taken, true));
  for (size_t i = 0; i < taken.size() && have < count; ++i) {
    if (taken[i]) continue;
    taken[i] = true;
    ++have;
  }
}

// What a test should have seen: each property is a small number.
enum Property {
  kDirection,
  kTypes,
  kLayoutDims,
  kFamilyPipeline,
  kTile,
  kWarpsMma,
  kEpilogue,
  kSplit,
  kSpecial,
  kForm,
  kProperties
};
using Properties = std::array<uint64_t, kProperties>;

uint64_t pack(const Extent3& extent) {
  return static_cast<uint64_t>(extent.m) << 32 | static_cast<uint64_t>(extent.n) << 16 |
         static_cast<uint64_t>(extent.k);
}
template <class... Values>
uint64_t pack_all(Values... values) {
  uint64_t packed = 0;
  ((packed = packed << 8 | static_cast<uint8_t>(values)), ...);
  return packed;
}

// What an AMD kernel can be, apart from its tile, warps and widths of access.
uint64_t amd_form_of(const KernelConfig& config) {
  const GemmConfig& gemm = config.gemm;
  const DirectConfig& direct = config.direct;
  uint64_t form = 1;
  for (const int digit : {static_cast<int>(config.kind),
                          static_cast<int>(gemm.pipeline),
                          static_cast<int>(gemm.scheduler),
                          int{gemm.stages},
                          int{gemm.load_warps},
                          int{gemm.double_buffer},
                          static_cast<int>(gemm.staging),
                          static_cast<int>(gemm.loader_a),
                          static_cast<int>(gemm.loader_b),
                          static_cast<int>(gemm.split_k),
                          static_cast<int>(gemm.stream_k),
                          int{gemm.stream_k_persistent},
                          int{gemm.groups_per_tile > 1},
                          static_cast<int>(gemm.specialization),
                          int{gemm.mma.m},
                          int{gemm.mma.k},
                          int{config.fixed.filter_h},
                          int{gemm.aligned_copy},
                          int{config.fixed.filter_w},
                          int{config.fixed.stride_w},
                          int{direct.group_channels},
                          int{direct.history}})
    form = form * 257 + static_cast<uint64_t>(digit);
  return form;
}

// What a kernel that no GPU of its target has run can be: the one on tensor memory, apart from its columns and stages,
// and AMD's. Their tests are all there is. 0: another kernel.
uint64_t form_of(const KernelConfig& config) {
  const GemmConfig& gemm = config.gemm;
  if (is_amd(config.target)) return amd_form_of(config);
  if (config.gemm.pipeline != Pipeline::kTcgen05) return 0;
  uint64_t form = 1 + (config.kind == Kind::kTcgen05Halo);
  for (const int digit : {gemm.mma.m / 128, int{gemm.persistent}, int{gemm.double_buffer}, int{gemm.cluster_m},
                          int{gemm.cluster_n}, static_cast<int>(gemm.split_k), static_cast<int>(gemm.specialization),
                          int{gemm.groups_per_tile > 1}, int{gemm.aligned_copy}, static_cast<int>(gemm.loader_a),
                          static_cast<int>(gemm.loader_b), static_cast<int>(gemm.staging)})
    form = form << 4 | static_cast<uint64_t>(digit);
  return form;
}

Properties properties(const KernelConfig& config) {
  const GemmConfig& gemm = config.gemm;
  const EpilogueConfig& epilogue = config.epilogue;
  return {pack_all(config.direction),
          pack_all(operand_a(config), operand_b(config), output_type(config), config.scales),
          pack_all(config.layout, config.dims),
          pack_all(config.family(), gemm.pipeline, gemm.scheduler, gemm.loader_a, gemm.loader_b, gemm.staging,
                   config.kind, gemm.split_k),
          pack(gemm.tile),
          pack(gemm.warps) * 31 + pack(gemm.mma),
          pack_all(epilogue.scale, epilogue.bias, epilogue.residual, epilogue.activation, epilogue.amax),
          pack_all(gemm.split_k, gemm.stream_k),
          pack_all(gemm.specialization, gemm.groups_per_tile > 1, config.fixed.filter_w > 0),
          form_of(config)};
}

using Pair = std::tuple<int, int, uint64_t, uint64_t>;

// What `tests` must show at least once: everything but shapes in every direction, every type in every layout, and every
// form of what no GPU has run with every type in every direction.
std::vector<Pair> needed_pairs(const KernelConfig& config) {
  const Properties values = properties(config);
  std::vector<Pair> list;
  for (const int i : {kDirection, kTypes, kLayoutDims, kFamilyPipeline, kEpilogue, kSplit, kSpecial})
    list.emplace_back(kDirection, i, values[kDirection], values[static_cast<size_t>(i)]);
  list.emplace_back(kTypes, kLayoutDims, values[kTypes], values[kLayoutDims]);
  if (values[kForm] != 0)
    list.emplace_back(kTypes, kForm, pack_all(config.direction, operand_a(config), operand_b(config), config.scales),
                      values[kForm]);
  return list;
}

// What it shows as far as there is room: shapes in every direction.
std::vector<Pair> shape_pairs(const KernelConfig& config) {
  const Properties values = properties(config);
  return {{kDirection, kTile, values[kDirection], values[kTile]},
          {kDirection, kWarpsMma, values[kDirection], values[kWarpsMma]}};
}

// Takes configurations that show a new pair until `limit` are taken; those that show the most come first, so that the
// limit, where it bites, costs the least. What shows nothing that the ones taken after it do not show too is given
// back.
void take_showing(const std::vector<KernelConfig>& configs, std::vector<Pair> (*pairs)(const KernelConfig&),
                  size_t limit, std::vector<bool>& taken) {
  std::vector<std::vector<Pair>> shows;
  shows.reserve(configs.size());
  for (const KernelConfig& config : configs) shows.push_back(pairs(config));
  std::map<Pair, int> seen;  // by how many
  size_t have = 0;
  for (size_t i = 0; i < configs.size(); ++i) {
    if (!taken[i]) continue;
    ++have;
    for (const Pair& pair : shows[i]) ++seen[pair];
  }
  std::vector<size_t> order;
  for (size_t want = kProperties; want > 0; --want) {
    for (size_t i = 0; i < configs.size(); ++i) {
      if (taken[i]) continue;
      const auto fresh = std::ranges::count_if(shows[i], [&](const Pair& pair) { return !seen.contains(pair); });
      if (static_cast<size_t>(fresh) < want) continue;
      taken[i] = true;
      order.push_back(i);
      for (const Pair& pair : shows[i]) ++seen[pair];
    }
  }
  std::erase_if(order, [&](size_t i) {
    if (!std::ranges::all_of(shows[i], [&](const Pair& pair) { return seen[pair] > 1; })) return false;
    for (const Pair& pair : shows[i]) --seen[pair];
    taken[i] = false;
    return true;
  });
  for (size_t at = limit > have ? limit - have : 0; at < order.size(); ++at) taken[order[at]] = false;
}

}  // namespace

std::vector<KernelConfig> stratified_fifth(const std::vector<KernelConfig>& configs) {
  constexpr int kEvery = 5;
  std::vector<bool> taken(configs.size());
  std::map<decltype(category(configs.front())), int> seen;
  for (size_t i = 0; i < configs.size(); ++i) taken[i] = seen[category(configs[i])]++ % kEvery == 0;
  fill_up(taken, kMinTinyKernels);
  return take(configs, taken);
}

std::vector<KernelConfig> first_of_each(const std::vector<KernelConfig>& configs, size_t count) {
  std::vector<bool> taken(configs.size());
  std::set<std::pair<int, uint64_t>> seen;
  for (size_t i = 0; i < configs.size(); ++i) {
    const Properties values = properties(configs[i]);
    bool shows_more = false;
    for (const int property : {int{kDirection}, int{kLayoutDims}})
      shows_more |= seen.emplace(property, values[static_cast<size_t>(property)]).second;
    shows_more |= seen.emplace(kFamilyPipeline, pack_all(configs[i].family(), configs[i].gemm.pipeline,
                                                         configs[i].gemm.scheduler, configs[i].kind))
                      .second;
    shows_more |= seen.emplace(kTypes, pack_all(operand_a(configs[i]))).second;
    taken[i] = shows_more;
  }
  fill_up(taken, count);
  return take(configs, taken);
}

std::vector<KernelConfig> cover(const std::vector<KernelConfig>& configs, size_t limit) {
  std::vector<bool> taken(configs.size());
  take_showing(configs, needed_pairs, configs.size(), taken);
  take_showing(configs, shape_pairs, limit, taken);
  return take(configs, taken);
}

}  // namespace wt
