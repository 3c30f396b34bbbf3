// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/filter.h"

#include <algorithm>

#include "compile/compiler.h"
#include "config/fields.h"
#include "config/targets.h"
#include "dispatch/choice/batch_invariant.h"
#include "dispatch/choice/packs.h"
#include "dispatch/choice/proven.h"
#include "dispatch/plan/images.h"
#include "kernels/kind.h"
#include "launch/rates.h"

namespace wt {
namespace {

constexpr std::string_view kAbsent = "not-in-packs", kTooLarge = "workspace-limit", kQuarantined = "quarantined",
                           kVarying = "batch-invariant", kUnproven = "unproven-form";

}  // namespace

DeviceInfo usual_device(Target target) { return device_of(usual_gpu(target)); }

bool is_usual_device(const DeviceInfo& device) { return device.id.empty(); }

Status can_compile(const DeviceInfo& device) {
  return is_usual_device(device) ? Status() : compile::available(backend_for(device), device.target);
}

Result<Filter> Filter::make(const DeviceInfo& device, const View& view, const PlanOptions& options) {
  Filter filter(device, view, options);
  if (options.batch_invariant && has_images(view.problem()))
    filter.one_ = View::of(of_images(view.problem(), 1), view.rates());
  if (is_usual_device(device)) return filter;
  WT_TRY_ASSIGN(filter.packs_, installed_packs(device));
  if (has_tensor_memory(device.target)) filter.proven_ = proven_forms(device);
  filter.in_quarantine_ = tuning::quarantined_now(device);
  // Without a compiler only what packs hold can be had.
  if (filter.packs_) filter.compiler_ = compile::available(backend_for(device), device.target);
  return filter;
}

std::optional<Decline> Filter::decline_of(const KernelConfig& config) const {
  if (!compiler_.ok() && !packs_->contains(name_of(config))) {
    return Decline{
        kAbsent,
        fmt::format("no pack has it, neither one of WAVETILE_PACK nor an installed one, and it cannot be compiled: {}",
                    compiler_.message())};
  }
  if (options_->workspace_limit) {
    const int64_t needed = bind(config, *view_, *device_, options_->splits).workspace_bytes;
    if (needed > *options_->workspace_limit)
      return Decline{kTooLarge, fmt::format("it needs {} bytes of workspace, and the limit is {}", needed,
                                            *options_->workspace_limit)};
  }
  if (std::string reason = tuning::quarantine_reason(in_quarantine_, *device_, config); !reason.empty())
    return Decline{kQuarantined, std::move(reason)};
  if (std::string reason = unproven_reason(proven_, config); !reason.empty())
    return Decline{kUnproven, std::move(reason)};
  if (one_) {
    if (std::optional<std::string> why = varies_with_batch(config, *view_, *one_, *device_, *options_))
      return Decline{kVarying, std::move(*why)};
  }
  return std::nullopt;
}

bool Filter::allows(const KernelConfig& config) {
  if (std::ranges::find(failed_, config) != failed_.end()) return false;
  const std::optional<Decline> decline = decline_of(config);
  if (!decline) return true;
  ++(decline->id == kAbsent     ? absent_
     : decline->id == kTooLarge ? too_large_
     : decline->id == kVarying  ? varying_
     : decline->id == kUnproven ? unproven_
                                : quarantined_);
  return false;
}

std::string Filter::note() const {
  std::string text;
  if (absent_) text += fmt::format("; without a compiler only the {} of packs can be had", packs_->size());
  if (too_large_) text += "; others were passed over for the workspace limit";
  if (quarantined_) text += "; others are in quarantine for wrong results";
  if (unproven_) text += "; others rest on what no probe has shown on this GPU";
  if (varying_) text += "; others sum in an order that depends on the batch";
  return text;
}

Status Filter::nothing_left() const {
  const std::string_view target = info_of(device_->target).name;
  if (!compiler_.ok()) {
    return unsupported("none of the {} kernels of packs for {} accepts '{}', and none can be compiled: {}",
                       packs_->size(), target, to_text(view_->problem()), compiler_.message());
  }
  return unsupported("no kernel for {} accepts '{}'{}; 'wavetile explain' says why each declines", target,
                     to_text(view_->problem()), note());
}

}  // namespace wt
