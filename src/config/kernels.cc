// SPDX-License-Identifier: Apache-2.0
#include "config/kernels.h"

#include <algorithm>

#include "config/fields.h"
#include "kernel/gemm/portable/layout.h"

namespace wt {

extern const KernelKind kGemmTma;         // config/kernels/gemm_tma.cc
extern const KernelKind kGemmWavelet;     // config/kernels/gemm_wavelet.cc
extern const KernelKind kGemmTaps;        // config/kernels/gemm_taps.cc
extern const KernelKind kGemmRows;        // config/kernels/gemm_rows.cc
extern const KernelKind kGemmRowsWeight;  // config/kernels/gemm_rows_weight.cc
extern const KernelKind kGemmPortable;    // config/kernels/gemm_portable.cc
extern const KernelKind kGemmPortableWavelet;
extern const KernelKind kGemmFourWave;   // config/kernels/gemm_four_wave.cc
extern const KernelKind kGemmBasic;      // config/kernels/gemm_basic.cc
extern const KernelKind kDirectStream;   // config/kernels/direct_stream.cc
extern const KernelKind kDirectBanded;   // config/kernels/direct_banded.cc
extern const KernelKind kDirectGroups;   // config/kernels/direct_groups.cc
extern const KernelKind kDirectGather;   // config/kernels/direct_gather.cc
extern const KernelKind kDirectStacked;  // config/kernels/direct_stacked.cc

namespace {

constexpr const KernelKind* kKinds[] = {
    &kGemmTma,      &kGemmWavelet,         &kGemmTaps,     &kGemmRows,     &kGemmRowsWeight,
    &kGemmPortable, &kGemmPortableWavelet, &kGemmFourWave, &kGemmBasic,    &kDirectStream,
    &kDirectBanded, &kDirectStacked,       &kDirectGroups, &kDirectGather,
};

// What every kernel's device code reads.
constexpr std::string_view kSignature[] = {"direction", "family", "target", "x",          "w",       "y",
                                           "acc",       "layout", "dims",   "min_blocks", "epilogue"};

bool covers(std::string_view field, std::string_view path) {
  return path.starts_with(field) && (path.size() == field.size() || path[field.size()] == '.');
}

}  // namespace

std::span<const KernelKind* const> kernel_kinds() { return kKinds; }

const KernelKind* kind_of(const KernelConfig& config) {
  for (const KernelKind* kind : kKinds) {
    if (kind->family != config.family) continue;
    if (!kind->pipelines.empty() && std::ranges::find(kind->pipelines, config.gemm.pipeline) == kind->pipelines.end())
      continue;
    if (!kind->designs.empty() && std::ranges::find(kind->designs, config.direct.design) == kind->designs.end())
      continue;
    if (!kind->targets.empty() && std::ranges::find(kind->targets, config.target) == kind->targets.end()) continue;
    if (!kind->directions.empty() && std::ranges::find(kind->directions, config.direction) == kind->directions.end())
      continue;
    // Hopper has two of pipeline wavelet, by warpgroups and by warps.
    if (kind == &kGemmWavelet && portable_layout::serves(config)) continue;
    return kind;
  }
  return nullptr;
}

void propose(const KernelKind& kind, KernelConfig base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (std::ranges::find(kind.fields, std::string_view("direct.history")) == kind.fields.end()) {
    base.direct.history = false;
  }
  // WHY: packs hold no kernels with a history, so all that there are may be proposed.
  if (base.direct.history) breadth = Breadth::kAll;
  kind.propose(base, info_of(base.target), breadth, configs);
}

std::string_view unread_field(const KernelKind& kind, const KernelConfig& config) {
  for (const Field& field : fields()) {
    if (field.get(config) == field.default_value()) continue;
    const auto reads = [&](std::string_view read) { return covers(read, field.path); };
    if (std::ranges::any_of(kSignature, reads) || std::ranges::any_of(kind.fields, reads)) continue;
    return field.path;
  }
  return {};
}

}  // namespace wt
