// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/batch_invariant.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/integers.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/plan/cpu.h"
#include "dispatch/plan/first_rows.h"
#include "dispatch/plan/images.h"
#include "dispatch/plan/transposed.h"
#include "kernels/kind.h"
#include "problem/history.h"
#include "runtime/cpu/provider.h"

namespace wt {
namespace {

Requests requests_of(const PlanOptions& options) {
  return {.deterministic = options.deterministic, .strict_nonfinite = options.strict_nonfinite};
}

// Of the CPU one image: no choice depends on more, and whatever suits it can be had for every batch.
std::vector<int64_t> canonical_images(const DeviceInfo& device, const ConvProblem& problem) {
  if (device.kind == DeviceKind::kCpu) return {1};
  const ConvProblem one = of_images(problem, 1);
  const int64_t elements = std::max<int64_t>(1, std::max(one.x_elements(), one.y_elements()));
  const int64_t most = std::max<int64_t>(1, ((int64_t{1} << 31) - 1) / elements);
  std::vector<int64_t> batches;
  for (const int64_t images : kCanonicalImages) {
    const int64_t reached = std::min(images, most);
    if (std::ranges::find(batches, reached) == batches.end()) batches.push_back(reached);
  }
  return batches;
}

int64_t parts_of(const KernelConfig& config, const View& view, const DeviceInfo& device, int splits) {
  return config.gemm.split_k == SplitK::kNone ? 1 : bind(config, view, device, splits).parts;
}

// Whether some images can be computed after the others: as images_a_range has it.
bool has_ranges(const ConvProblem& problem) {
  return problem.n > 1 && !problem.epilogue.amax && !problem.epilogue.has_text() && !problem.history;
}

// A decision for one count of images becomes the same for another.
class Rebuilt {
 public:
  explicit Rebuilt(const DeviceInfo& device) : device_(device) {}

  // All images at once, or ranges of them where they are too many for the kernel.
  Result<Decision> fitting(const Decision& of, const ConvProblem& problem, const PlanOptions& options) const {
    Result<Decision> all = rebuilt(of, problem, options);
    if (all.ok() || !has_ranges(problem)) return all;
    for (int64_t ranges = 2; ranges < 2 * problem.n; ranges *= 2) {
      const int64_t images = ceil_div(problem.n, std::min(ranges, problem.n)), left = problem.n % images;
      Result<Decision> whole = rebuilt(of, of_images(problem, images), options);
      if (!whole.ok()) continue;
      Decision decision = around(Decision::Kind::kRanges, problem, options, std::move(*whole), 0,
                                 fmt::format("{} ranges of up to {} images", ceil_div(problem.n, images), images));
      decision.ranges = ceil_div(problem.n, images);
      if (left > 0) {
        WT_TRY_ASSIGN(Decision rest, rebuilt(of, of_images(problem, left), options));
        decision.rest = std::make_shared<const Decision>(std::move(rest));
      }
      return decision;
    }
    return all;
  }

 private:
  Result<Decision> rebuilt(const Decision& of, const ConvProblem& problem, const PlanOptions& options) const {
    using Kind = Decision::Kind;
    switch (of.kind) {
      case Kind::kKernel:
        return kernel(of, problem, options);
      case Kind::kCpu:
        return cpu(of, problem, options);
      case Kind::kRanges:  // by another rule than ours
        return rebuilt(*of.inner, problem, options);
      case Kind::kTransposed:
        return transposed(of, problem, options);
      case Kind::kJoined:
        return joined(of, problem, options);
      case Kind::kFirstRows:
        return first_rows(of, problem, options);
      case Kind::kNextHistory: {
        const bool inside = of.inner->problem.new_history;  // the kernel writes the next history too
        WT_TRY_ASSIGN(Decision inner, fitting(*of.inner, inside ? problem : kernel_problem(problem), options));
        const double next_us = inside ? 0 : next_history_us(problem, rates_of(device_));
        return like(of, around(of.kind, problem, options, std::move(inner), next_us, of.reason));
      }
      case Kind::kBiasGradient:
        break;
    }
    WT_CHECK(false, "a decision of kind {} for single images", name_of(of.kind));
    return {Decision()};
  }

  // What was passed over, with the count of images that its times are of.
  static Decision like(const Decision& of, Decision decision) {
    decision.passed_over = of.passed_over;
    if (of.problem.n != decision.problem.n) {
      for (std::string& way : decision.passed_over) way += fmt::format(" for {} images", of.problem.n);
    }
    return decision;
  }

  static Status workspace_too_small(int64_t needed, const PlanOptions& options) {
    return unsupported("it needs {} bytes of workspace, and the limit is {}", needed, *options.workspace_limit);
  }

  Result<Decision> kernel(const Decision& of, const ConvProblem& problem, PlanOptions options) const {
    const KernelConfig& config = *of.config;
    const Rates rates = rates_of(device_);
    const std::shared_ptr<const View> view = View::of(problem, rates);
    if (const std::vector<Decline> reasons = declines(config, *view, requests_of(options)); !reasons.empty())
      return unsupported("kernel {} declines '{}': {}", of.kernel, to_text(problem), to_text(reasons));
    if (config.gemm.split_k != SplitK::kNone) {
      const int64_t parts = parts_of(config, View(of.problem, rates), device_, of.options.splits);
      options.splits = static_cast<int>(parts);
      if (const int64_t here = parts_of(config, *view, device_, options.splits); here != parts)
        return unsupported("{} has {} parts for '{}', and {} for '{}'", of.kernel, here, to_text(problem), parts,
                           to_text(of.problem));
    }
    if (options.workspace_limit) {
      const int64_t needed = bind(config, *view, device_, options.splits).workspace_bytes;
      if (needed > *options.workspace_limit) return workspace_too_small(needed, options);
    }
    Decision decision = like(of, of);
    decision.problem = problem;
    decision.options = options;
    decision.view = view;
    decision.predicted_us = predicted_us(config, *view, options.splits);
    if (problem.n != of.problem.n) decision.measured_us = 0;
    decision.reason = fmt::format("batch-invariant, as for {} images: {}", of.problem.n, of.reason);
    return decision;
  }

  Result<Decision> cpu(const Decision& of, const ConvProblem& problem, const PlanOptions& options) const {
    Decision decision = of;
    decision.problem = problem;
    decision.options = options;
    WT_TRY_ASSIGN(decision.cpu, prepare_cpu_path(problem, options));
    if (decision.cpu->path() != of.cpu->path())
      return unsupported("{} does not fit the workspace limit for '{}'", cpu_path_name(*of.cpu), to_text(problem));
    decision.reason = decision.cpu->reason();
    return decision;
  }

  Result<Decision> transposed(const Decision& of, const ConvProblem& problem, const PlanOptions& options) const {
    PlanOptions inner_options = options;
    const int64_t bytes = transposition_bytes(problem);
    if (inner_options.workspace_limit && (*inner_options.workspace_limit -= bytes) < 0)
      return workspace_too_small(bytes, options);
    WT_TRY_ASSIGN(Decision inner, rebuilt(*of.inner, channels_last(problem), inner_options));
    return like(of, around(of.kind, problem, options, std::move(inner), transposition_us(problem, rates_of(device_)),
                           of.reason));
  }

  Result<Decision> joined(const Decision& of, const ConvProblem& problem, const PlanOptions& options) const {
    const ConvProblem native = kernel_problem(problem);
    const bool on_host = device_.kind == DeviceKind::kCpu;
    const int64_t bytes = join_bytes(native);
    PlanOptions inner_options = options;
    JoinIn join_in = JoinIn::kWorkspace;
    if (options.workspace_limit && *options.workspace_limit < bytes) {
      if (!on_host) return workspace_too_small(bytes, options);
      join_in = JoinIn::kOwnMemory;
    } else if (inner_options.workspace_limit) {
      *inner_options.workspace_limit -= bytes;
    }
    WT_TRY_ASSIGN(Decision inner, fitting(*of.inner, joined_problem(native), inner_options));
    const Rates rates = rates_of(device_);
    const double join = on_host ? 0 : join_us(native, rates) + next_history_us(problem, rates);
    Decision decision = like(of, around(of.kind, problem, options, std::move(inner), join, of.reason));
    decision.join_in = join_in;
    return decision;
  }

  Result<Decision> first_rows(const Decision& of, const ConvProblem& problem, const PlanOptions& options) const {
    const bool on_host = device_.kind == DeviceKind::kCpu;
    const int64_t bytes = first_rows_bytes(problem);
    PlanOptions inner_options = options;
    JoinIn scratch_in = JoinIn::kWorkspace;
    if (options.workspace_limit && *options.workspace_limit < bytes) {
      if (!on_host) return workspace_too_small(bytes, options);
      scratch_in = JoinIn::kOwnMemory;
    } else if (inner_options.workspace_limit) {
      *inner_options.workspace_limit -= bytes;
    }
    WT_TRY_ASSIGN(Decision main, fitting(*of.inner, main_part(problem), inner_options));
    WT_TRY_ASSIGN(Decision first, fitting(*of.rest, first_part(problem), inner_options));
    const double us = on_host ? 0 : first_rows_us(problem, rates_of(device_));
    Decision decision = like(of, around(of.kind, problem, options, std::move(main), us, of.reason));
    decision.rest = std::make_shared<const Decision>(std::move(first));
    decision.join_in = scratch_in;
    return decision;
  }

  const DeviceInfo& device_;
};

// Of the choices for several batches the one whose predicted times for all of them have the least product. A tuned one
// for the first of them, or the caller's own, is taken as it is.
Result<Decision> choose_for_all(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options,
                                const Choose& choose) {
  const std::vector<int64_t> batches = canonical_images(device, problem);
  PlanOptions untuned = options;
  untuned.tuning = Tuning::kOff;
  std::vector<Decision> choices;
  Status nothing;
  for (const int64_t images : batches) {
    const bool first = images == batches.front();
    Result<Decision> choice = choose(of_images(problem, images), first ? options : untuned);
    if (!choice.ok()) {
      if (choice.status().code() != Code::kUnsupported) return choice.status();
      if (nothing.ok()) nothing = choice.status();
      continue;
    }
    const bool settled = batches.size() == 1 || options.select.choose || choice->leaf().measured_us > 0;
    if (first && settled) return choice;
    choices.push_back(std::move(*choice));
  }
  if (choices.empty()) return nothing;
  const Rebuilt rebuilt(device);
  const auto logarithms = [&](const Decision& choice) {
    double sum = 0;
    for (const int64_t images : batches) {
      const Result<Decision> decision = rebuilt.fitting(choice, of_images(problem, images), untuned);
      sum += decision.ok() && decision->expected_us() > 0 ? std::log(decision->expected_us()) : 1e9;
    }
    return sum;
  };
  return std::move(*std::ranges::min_element(choices, {}, logarithms));
}

}  // namespace

std::optional<std::string> varies_with_batch(const KernelConfig& config, const View& view, const View& one,
                                             const DeviceInfo& device, const PlanOptions& options) {
  const GemmConfig& gemm = config.gemm;
  if (gemm.stream_k != StreamK::kOff)
    return "stream-K cuts sums by the number of tiles, which grows with the batch; use a kernel without";
  if (gemm.split_k == SplitK::kAtomic) return "the parts of a sum are added in no fixed order; use another split_k";
  if (const auto by_place = kind_of(config.kind).sums_by_place; by_place && by_place(one.seen_by(config)))
    return "the order of an image's sums depends on its place in the batch";
  // What takes many images and not one could not serve every batch.
  if (const std::vector<Decline> reasons = declines(config, one, requests_of(options)); !reasons.empty())
    return "of a batch of one image: " + to_text(reasons);
  const int64_t parts = parts_of(config, view, device, options.splits);
  if (const int64_t other = parts_of(config, one, device, static_cast<int>(parts)); other != parts)
    return fmt::format("sums of {} parts would have {} in a batch of one image", parts, other);
  return std::nullopt;
}

Result<Decision> decide_batch_invariant(const DeviceInfo& device, const ConvProblem& problem, PlanOptions options,
                                        bool with_price, const Choose& choose) {
  if (!options.deterministic)
    return bad_input(
        "batch_invariant asks for one order of sums, and deterministic=0 allows any; leave one of them out");
  if (!has_images(problem)) return choose(problem, options);
  if (options.tuning == Tuning::kFirstUse) {
    return bad_input(
        "tuning on first use measures kernels for the batch at hand, and a batch-invariant plan takes that of another; "
        "use tuning=cached, after 'wavetile tune' for {} images",
        canonical_images(device, problem).front());
  }
  if (options.fallback)
    return bad_input(
        "a fallback takes another kernel for one plan alone, so that it is not batch-invariant; leave it out");
  PlanOptions free = options;
  free.batch_invariant = false;
  // WHY: a NaN of another image must not reach this one.
  options.strict_nonfinite = true;
  WT_TRY_ASSIGN(const Decision of, choose_for_all(device, problem, options, choose));
  WT_TRY_ASSIGN(Decision decision, Rebuilt(device).fitting(of, problem, options));
  BatchInvariance& invariance = decision.invariance.emplace();
  invariance.images = of.problem.n;
  invariance.us = decision.expected_us();
  const bool own_choice = !free.kernel.empty() || free.select.choose;
  if (!with_price || own_choice || device.kind == DeviceKind::kCpu) return decision;
  if (const Result<Decision> other = choose(problem, free); other.ok()) {
    invariance.free_kernel = other->leaf().kernel;
    invariance.free_us = other->expected_us();
  }
  return decision;
}

std::string to_text(const BatchInvariance& invariance) {
  std::string text = fmt::format("decided as for {} image{}", invariance.images, invariance.images == 1 ? "" : "s");
  if (invariance.us > 0) text += fmt::format("; {:.2f} us", invariance.us);
  if (invariance.us > 0 && invariance.free_us > 0) {
    text += fmt::format(", and {:.2f} us by the free choice ({:.2f} of its speed), {}", invariance.free_us,
                        invariance.free_us / invariance.us, invariance.free_kernel);
  }
  return text;
}

}  // namespace wt
