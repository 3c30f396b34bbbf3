// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/decision.h"

#include <algorithm>
#include <limits>

#include "base/integers.h"
#include "config/fields.h"
#include "config/targets.h"
#include "dispatch/choice/batch_invariant.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/choice/filter.h"
#include "dispatch/choice/kernel_decision.h"
#include "dispatch/choice/selection.h"
#include "dispatch/plan/bias_gradient.h"
#include "dispatch/plan/cpu.h"
#include "dispatch/plan/first_rows.h"
#include "dispatch/plan/history.h"
#include "dispatch/plan/images.h"
#include "dispatch/plan/transposed.h"
#include "kernels/shared/split.h"
#include "problem/history.h"
#include "runtime/cpu/provider.h"

namespace wt {

namespace {

// "wt_fwd_... between transpositions, 12.30 us + 4.00 us": a way that was not taken.
std::string other_way(const Decision& kernel, const std::string& how, double times, double around_us) {
  std::string text = fmt::format("{} {}, {:.2f} us", kernel.kernel, how, times * kernel.expected_us());
  if (around_us > 0) text += fmt::format(" + {:.2f} us", around_us);
  return text;
}

// One device and what was decided on the way.
class Chooser {
 public:
  Chooser(const DeviceInfo& device, tuning::CodeCheck check) : device_(device), check_(check) {}

  Result<Decision> decide(const ConvProblem& problem, const PlanOptions& options) const {
    if (problem.bias_gradient != BiasGradient::kNone) return with_bias_gradient(problem, options);
    if (problem.history) return with_history(problem, options);
    if (device_.kind == DeviceKind::kCpu) return on_cpu(problem, options);
    return choose(problem, options);
  }

 private:
  // What is done beside a kernel is compiled like one.
  Status must_compile(std::string_view what, const ConvProblem& problem) const {
    if (device_.kind == DeviceKind::kCpu) return {};
    const Status can = can_compile(device_);
    if (can.ok()) return can;
    return unsupported("{} of '{}' cannot be compiled here, and no pack holds it: {}", what, to_text(problem),
                       can.message());
  }

  Result<Decision> with_bias_gradient(const ConvProblem& problem, const PlanOptions& options) const {
    WT_TRY_ASSIGN(const std::string sums,
                  channel_summer_name(device_, bias_gradient_tensor(problem, problem.bias_gradient)));
    WT_TRY(must_compile("the bias gradient", problem));
    WT_TRY_ASSIGN(Decision inner, decide(kernel_problem(problem), options));
    return around(Decision::Kind::kBiasGradient, problem, options, std::move(inner), 0,
                  fmt::format("then {} for the bias gradient", sums));
  }

  Result<Decision> on_cpu(const ConvProblem& problem, const PlanOptions& options) const {
    Decision decision;
    decision.kind = Decision::Kind::kCpu;
    decision.problem = problem;
    decision.options = options;
    WT_TRY_ASSIGN(decision.cpu, prepare_cpu_path(problem, options));
    decision.kernel = cpu_path_name(*decision.cpu);
    decision.reason = decision.cpu->reason();
    return decision;
  }

  // On a device with kernels, without a history and a bias gradient. `known`: the problem's own kernel.
  Result<Decision> choose(const ConvProblem& problem, const PlanOptions& options,
                          std::optional<KernelDecision> known = {}) const {
    if (!options.kernel.empty()) return choose_named(problem, options);
    if (!known) {
      WT_TRY_ASSIGN(known, decide_kernel(device_, problem, options, check_));
    }
    std::vector<std::string> passed_over;
    WT_TRY_ASSIGN(std::optional<Decision> ranges, faster_ranges(problem, options, *known, passed_over));
    if (ranges) return std::move(*ranges);
    WT_TRY_ASSIGN(std::optional<Decision> turned, faster_transposed(problem, options, *known, passed_over));
    if (turned) return std::move(*turned);
    if (!known->found) return nothing_else(known->nothing, passed_over);
    known->found->passed_over = std::move(passed_over);
    return std::move(*known->found);
  }

  // Why no kernel takes the problem as it is, and why the other ways are closed too.
  static Status nothing_else(const Status& nothing, const std::vector<std::string>& passed_over) {
    if (passed_over.empty()) return nothing;
    std::string text = nothing.message() + "; nor is there another way:";
    for (const std::string& way : passed_over) text += " " + way + ";";
    text.pop_back();
    return failure(nothing.code(), "{}", text);
  }

  // The kernel that the caller named; a channels-last one serves a channels-first problem between transpositions.
  Result<Decision> choose_named(const ConvProblem& problem, const PlanOptions& options) const {
    Result<Decision> own = named_kernel(device_, problem, options);
    if (own.ok()) return own;
    if (images_a_range(problem) != problem.n) return ranges_of(problem, options, {});
    if (problem.layout == Layout::kChannelsLast || problem.history) return own.status();
    Result<Decision> inner = named_kernel(device_, channels_last(problem), options);
    if (!inner.ok()) return own.status();
    if (!problem.epilogue.store.empty()) {
      return unsupported("a user's store writes where it likes, which no transposition can follow; use a kernel for {}",
                         layout_name(problem.layout, problem.dims));
    }
    return transposed(problem, options, std::move(*inner));
  }

  // Ranges of images, each within a kernel's indices, where that should be faster than a kernel that reaches all.
  Result<std::optional<Decision>> faster_ranges(const ConvProblem& problem, const PlanOptions& options,
                                                const KernelDecision& own,
                                                std::vector<std::string>& passed_over) const {
    const std::optional<Decision> no;
    const int64_t images = images_a_range(problem);
    if (images == problem.n) return no;
    WT_TRY_ASSIGN(KernelDecision part, decide_kernel(device_, of_images(problem, images), options, check_));
    if (!part.found) {
      passed_over.push_back(fmt::format("{}: {}", ranges_text(problem, images), part.nothing.message()));
      return no;
    }
    const auto ranges = static_cast<double>(ceil_div(problem.n, images));
    if (own.found && ranges * part.found->expected_us() >= own.found->expected_us()) {
      passed_over.push_back(other_way(*part.found, ranges_text(problem, images), ranges, 0));
      return no;
    }
    WT_TRY_ASSIGN(Decision decision, ranges_of(problem, options, std::move(part)));
    if (own.found) decision.passed_over.push_back(other_way(*own.found, "for all images at once", 1, 0));
    return std::optional(std::move(decision));
  }

  static std::string ranges_text(const ConvProblem& problem, int64_t images) {
    return fmt::format("{} ranges of up to {} images", ceil_div(problem.n, images), images);
  }

  Result<Decision> ranges_of(const ConvProblem& problem, const PlanOptions& options,
                             std::optional<KernelDecision> part) const {
    const int64_t images = images_a_range(problem), left = problem.n % images;
    WT_TRY_ASSIGN(Decision whole, choose(of_images(problem, images), options, std::move(part)));
    Decision decision =
        around(Decision::Kind::kRanges, problem, options, std::move(whole), 0, ranges_text(problem, images));
    decision.ranges = ceil_div(problem.n, images);
    if (left > 0) {
      WT_TRY_ASSIGN(Decision rest, choose(of_images(problem, left), options));
      decision.rest = std::make_shared<const Decision>(std::move(rest));
    }
    return decision;
  }

  // A channels-last kernel between transpositions, where that should be faster than any channels-first kernel and fits
  // the workspace.
  Result<std::optional<Decision>> faster_transposed(const ConvProblem& problem, const PlanOptions& options,
                                                    const KernelDecision& own,
                                                    std::vector<std::string>& passed_over) const {
    const std::optional<Decision> no;
    // A history in channels-first order is turned round once it is joined.
    if (problem.layout == Layout::kChannelsLast || problem.history) return no;
    constexpr const char* kHow = "between transpositions";
    if (!problem.epilogue.store.empty()) {
      passed_over.push_back(fmt::format("a channels-last kernel {}: they cannot follow a user's store", kHow));
      return no;
    }
    if (const Status can = can_compile(device_); !can.ok()) {
      passed_over.push_back(
          fmt::format("a channels-last kernel {}: they cannot be compiled here: {}", kHow, can.message()));
      return no;
    }
    PlanOptions inner = options;
    if (inner.workspace_limit && (*inner.workspace_limit -= transposition_bytes(problem)) < 0) {
      passed_over.push_back(
          fmt::format("a channels-last kernel {}: they take {} bytes of workspace, {} more than the limit", kHow,
                      transposition_bytes(problem), -*inner.workspace_limit));
      return no;
    }
    const ConvProblem last = channels_last(problem);
    WT_TRY_ASSIGN(KernelDecision kernel, decide_kernel(device_, last, inner, check_));
    if (!kernel.found) {
      passed_over.push_back(fmt::format("a channels-last kernel {}: {}", kHow, kernel.nothing.message()));
      return no;
    }
    const double turns_us = transposition_us(problem, rates_of(device_));
    if (own.found && own.found->expected_us() <= kernel.found->expected_us() + turns_us) {
      passed_over.push_back(other_way(*kernel.found, kHow, 1, turns_us));
      return no;
    }
    WT_TRY_ASSIGN(Decision chosen, choose(last, inner, std::move(kernel)));
    Decision decision = transposed(problem, options, std::move(chosen));
    if (own.found) decision.passed_over.push_back(other_way(*own.found, "on channels-first tensors", 1, 0));
    return std::optional(std::move(decision));
  }

  Decision transposed(const ConvProblem& problem, const PlanOptions& options, Decision inner) const {
    return around(Decision::Kind::kTransposed, problem, options, std::move(inner),
                  transposition_us(problem, rates_of(device_)),
                  fmt::format("channels-last kernel between {} transpositions", transposition_count(problem)));
  }

  // By a kernel that reads the history, by any over history and x joined, or by any over x alone with the rows that the
  // history meets apart: what should be the fastest of them.
  Result<Decision> with_history(const ConvProblem& problem, const PlanOptions& options) const {
    if (problem.direction == Direction::kBackwardData) return first_rows(problem, options);
    std::vector<Decision> ways;
    std::vector<std::string> closed;
    Status first_closed;
    // A kernel that the caller named may be one of another way.
    const bool named = !options.kernel.empty();
    const auto add = [&](Result<Decision> way, const char* what) -> Status {
      if (way.ok()) {
        ways.push_back(std::move(*way));
        return {};
      }
      if (way.status().code() != Code::kUnsupported && !named) return way.status();
      if (first_closed.ok()) first_closed = way.status();
      closed.push_back(fmt::format("{}: {}", what, way.status().message()));
      return {};
    };
    WT_TRY(add(joined_or_read(problem, options), "history and x joined"));
    if (device_.kind != DeviceKind::kCpu) {
      if (problem.new_history) WT_TRY(add(choose_step(problem, options), "a kernel that writes the next history too"));
      if (const std::string obstacle = first_rows_obstacle(problem); obstacle.empty()) {
        WT_TRY(add(first_rows(problem, options), "the first rows apart"));
      } else {
        closed.push_back(fmt::format("the first rows apart: {}", obstacle));
      }
    }
    if (ways.empty()) {
      if (named) return first_closed;
      return nothing_else(unsupported("nothing runs '{}'", to_text(problem)), closed);
    }
    const auto best = std::ranges::min_element(ways, {}, [](const Decision& way) {
      return way.expected_us() > 0 ? way.expected_us() : std::numeric_limits<double>::max();
    });
    Decision decision = std::move(*best);
    for (auto way = ways.begin(); way != ways.end(); ++way) {
      if (way != best)
        closed.push_back(fmt::format("{}: {}, {:.2f} us", way->reason, way->leaf().kernel, way->expected_us()));
    }
    decision.passed_over.insert(decision.passed_over.end(), closed.begin(), closed.end());
    return decision;
  }

  // One launch that reads the history and writes the next one.
  Result<Decision> choose_step(const ConvProblem& problem, const PlanOptions& options) const {
    if (!options.kernel.empty()) {
      WT_TRY_ASSIGN(Decision named, named_kernel(device_, problem, options));
      return next_history_inside(problem, options, std::move(named));
    }
    WT_TRY_ASSIGN(KernelDecision step, decide_kernel(device_, problem, options, check_));
    if (!step.found) return step.nothing;
    return next_history_inside(problem, options, std::move(*step.found));
  }

  static Decision next_history_inside(const ConvProblem& problem, const PlanOptions& options, Decision step) {
    return around(Decision::Kind::kNextHistory, problem, options, std::move(step), 0,
                  "reads the history and writes the next one in the same launch");
  }

  // x alone, and apart from it the rows that the history meets.
  Result<Decision> first_rows(const ConvProblem& problem, const PlanOptions& options) const {
    const bool on_host = device_.kind == DeviceKind::kCpu;
    WT_TRY(must_compile("moving rows beside the history", problem));
    const bool one_run = has_one_run(problem) && !options.batch_invariant;
    const int64_t bytes = first_rows_bytes(problem, one_run);
    PlanOptions inner_options = options;
    JoinIn scratch_in = JoinIn::kWorkspace;
    if (options.workspace_limit && *options.workspace_limit < bytes && on_host) {
      scratch_in = JoinIn::kOwnMemory;
    } else if (inner_options.workspace_limit && (*inner_options.workspace_limit -= bytes) < 0) {
      return unsupported("the rows that the history of '{}' meets take {} bytes of workspace, {} more than the limit",
                         to_text(problem), bytes, -*inner_options.workspace_limit);
    }
    WT_TRY_ASSIGN(Decision main, decide(main_part(problem, one_run), inner_options));
    // The caller's kernel is for the image; the rows are another problem.
    PlanOptions first_options = inner_options;
    if (!on_host) first_options.kernel.clear();
    WT_TRY_ASSIGN(Decision first, decide(first_part(problem), first_options));
    const double us = on_host ? 0 : first_rows_us(problem, rates_of(device_), one_run);
    std::string reason = fmt::format(
        "x alone, and {} of {} output rows, which the history meets, apart by {} ({} bytes of rows "
        "are copied)",
        history_outputs(problem), problem.out()[problem.time()], first.leaf().kernel, bytes);
    Decision decision = around(Decision::Kind::kFirstRows, problem, options, std::move(main), us, std::move(reason));
    decision.rest = std::make_shared<const Decision>(std::move(first));
    decision.join_in = scratch_in;
    return decision;
  }

  // By a kernel that reads the history, or by any over history and x joined.
  Result<Decision> joined_or_read(const ConvProblem& problem, const PlanOptions& options) const {
    const ConvProblem native = kernel_problem(problem);
    std::optional<KernelDecision> own;
    std::vector<std::string> passed_over;
    bool joins = device_.kind == DeviceKind::kCpu;
    if (!joins) {
      WT_TRY_ASSIGN(joins, joins_history(native, options, own, passed_over));
    }
    const Rates rates = rates_of(device_);
    const double next_us = device_.kind == DeviceKind::kCpu ? 0 : next_history_us(problem, rates);
    if (joins || problem.new_history) WT_TRY(must_compile(joins ? "joining the history" : "the next history", problem));
    if (!joins) {
      WT_TRY_ASSIGN(Decision inner, choose(native, options, std::move(own)));
      Decision decision =
          around(Decision::Kind::kNextHistory, problem, options, std::move(inner), next_us,
                 problem.new_history ? "reads the history, and writes the next one after it" : "reads the history");
      decision.passed_over = std::move(passed_over);
      return decision;
    }
    const bool on_host = device_.kind == DeviceKind::kCpu;
    PlanOptions inner_options = options;
    JoinIn join_in = JoinIn::kWorkspace;
    if (options.workspace_limit && *options.workspace_limit < join_bytes(native) && on_host) {
      join_in = JoinIn::kOwnMemory;
    } else if (inner_options.workspace_limit && (*inner_options.workspace_limit -= join_bytes(native)) < 0) {
      return unsupported(
          "no kernel that reads a history accepts '{}', and joining history and x takes {} bytes of workspace, {} more "
          "than the limit",
          to_text(problem), join_bytes(native), -*inner_options.workspace_limit);
    }
    WT_TRY_ASSIGN(Decision inner, decide(joined_problem(problem), inner_options));
    const double join = on_host ? 0 : join_us(native, rates) + next_us;
    Decision decision = around(Decision::Kind::kJoined, problem, options, std::move(inner), join,
                               fmt::format("history and x joined before ({} bytes are copied)", join_bytes(native)));
    decision.join_in = join_in;
    decision.passed_over = std::move(passed_over);
    return decision;
  }

  // Whether a kernel over history and x joined should be faster than `own`, which reads the history and is found here.
  Result<bool> joins_history(const ConvProblem& native, const PlanOptions& options, std::optional<KernelDecision>& own,
                             std::vector<std::string>& passed_over) const {
    constexpr const char* kHow = "over history and x joined";
    if (!options.kernel.empty()) return !named_kernel(device_, native, options).ok();
    WT_TRY_ASSIGN(own, decide_kernel(device_, native, options, check_));
    if (!own->found) return true;
    const auto closed = [&](const std::string& why) {
      passed_over.push_back(fmt::format("a kernel {}: {}", kHow, why));
      return false;
    };
    if (const Status can = can_compile(device_); !can.ok())
      return closed(fmt::format("joining cannot be compiled here: {}", can.message()));
    PlanOptions inner = options;
    if (inner.workspace_limit && (*inner.workspace_limit -= join_bytes(native)) < 0) {
      return closed(fmt::format("joining takes {} bytes of workspace, {} more than the limit", join_bytes(native),
                                -*inner.workspace_limit));
    }
    WT_TRY_ASSIGN(const KernelDecision joined, decide_kernel(device_, joined_problem(native), inner, check_));
    if (!joined.found) return closed(joined.nothing.message());
    const bool faster = joined.found->expected_us() + join_us(native, rates_of(device_)) < own->found->expected_us();
    passed_over.push_back(faster ? other_way(*own->found, "that reads the history", 1, 0)
                                 : other_way(*joined.found, kHow, 1, join_us(native, rates_of(device_))));
    return faster;
  }

  const DeviceInfo& device_;
  tuning::CodeCheck check_;
};

}  // namespace

Result<Decision> decide(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options,
                        tuning::CodeCheck check) {
  WT_TRY(validate(problem));
  if (options.splits < kSplitsByOccupancy || options.splits > kMaxSplits) {
    return bad_input(
        "splits={} is no count of parts; use 1 to {}, 0 to have it predicted, or {} for as many as fill the GPU",
        options.splits, kMaxSplits, kSplitsByOccupancy);
  }
  const Chooser chooser(device, check);
  if (!options.batch_invariant) return chooser.decide(problem, options);
  // A plan has no use for the price.
  return decide_batch_invariant(
      device, problem, options, check == tuning::CodeCheck::kKnown,
      [&](const ConvProblem& some, const PlanOptions& wanted) { return chooser.decide(some, wanted); });
}

}  // namespace wt
