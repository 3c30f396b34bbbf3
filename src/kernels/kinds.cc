// SPDX-License-Identifier: Apache-2.0
// kernels/kinds.cc - the descriptors of the kernels that config/kinds.h lists.
#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "config/enum_names.h"
#include "config/fields.h"
#include "kernels/kind.h"

namespace wt {

namespace kinds {
#define WT_DECLARE(Name, name, family) extern const KernelKind k##Name;
WT_KERNEL_KINDS(WT_DECLARE)
#undef WT_DECLARE
extern const KernelKind kTrial __attribute__((weak));  // null where nothing is linked in
}  // namespace kinds

namespace {

// By id; null where a kind is not there.
#define WT_ADDRESS(Name, name, family) &kinds::k##Name,
const KernelKind* const kKinds[] = {WT_KERNEL_KINDS(WT_ADDRESS)};
#undef WT_ADDRESS

// What every kernel's device code reads.
constexpr std::string_view kSignature[] = {"kind", "direction", "target", "x",          "w",        "y",
                                           "acc",  "layout",    "dims",   "min_blocks", "epilogue", "scales"};

bool covers(std::string_view field, std::string_view path) {
  return path.starts_with(field) && (path.size() == field.size() || path[field.size()] == '.');
}

template <class T>
bool lists(std::span<const T> list, const T& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

}  // namespace

std::span<const KernelKind* const> kernel_kinds() {
  static const auto there = [] {
    std::vector<const KernelKind*> kinds;
    std::ranges::copy_if(kKinds, std::back_inserter(kinds), [](const KernelKind* kind) { return kind != nullptr; });
    return kinds;
  }();
  return there;
}

bool KernelKind::is_for(Target target) const { return lists(targets, target); }

const KernelKind& kind_of(Kind id) {
  const KernelKind* kind = kKinds[static_cast<size_t>(id)];
  WT_CHECK(kind != nullptr && kind->id == id, "kind {} is not there", text_of(id));
  return *kind;
}

const KernelKind* kind_of(const KernelConfig& config) {
  const KernelKind* kind = kKinds[static_cast<size_t>(config.kind)];
  const bool serves = kind && kind->is_for(config.target) && lists(kind->directions, config.direction) &&
                      lists(kind->pipelines, config.gemm.pipeline);
  return serves ? kind : nullptr;
}

Kind kind_with(Pipeline pipeline, Target target, Direction direction) {
  for (const KernelKind* kind : kernel_kinds()) {
    if (family_of(kind->id) != Family::kGemm || !kind->is_for(target) || !lists(kind->directions, direction)) continue;
    if (lists(kind->pipelines, pipeline)) return kind->id;
  }
  return Kind::kPortable;
}

void propose(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  for (const KernelKind* kind : kernel_kinds()) {
    if (!kind->is_for(base.target) || !lists(kind->directions, base.direction)) continue;
    if (base.scales != BlockScales::kNone && !kind->scaled) continue;
    KernelConfig own = base;
    own.kind = kind->id;
    if (std::ranges::find(kind->fields, std::string_view("direct.history")) == kind->fields.end()) {
      own.direct.history = false;
    }
    // WHY: packs hold no kernels with a history, so all that there are may be proposed.
    kind->propose(own, info_of(base.target), own.direct.history ? Breadth::kAll : breadth, configs);
  }
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

Binding bind(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device, int splits) {
  return bind(config, View(problem, rates_of(device)), device, splits);
}

Binding bind(const KernelConfig& config, const View& view, const DeviceInfo& device, int splits) {
  return kind_of(config.kind).bind(config, view, device, splits);
}

double predicted_us(const KernelConfig& config, const ConvProblem& problem, const Rates& rates, int splits) {
  return predicted_us(config, View(problem, rates), splits);
}

double predicted_us(const KernelConfig& config, const View& view, int splits) {
  return kind_of(config.kind).predict(config, view, splits);
}

}  // namespace wt
