// SPDX-License-Identifier: Apache-2.0
#include "config/constraints.h"

#include <algorithm>

#include "config/constraint_rows.h"
#include "kernel/gemm/tma/layout.h"
#include "problem/patch_view.h"

namespace wt {

namespace {

bool trips(const Constraint& row, const Case& at) { return row.applies(at) && !row.holds(at); }

void collect(std::span<const Constraint> rows, const Case& at, std::vector<Decline>& out) {
  for (const Constraint& row : rows) {
    if (!trips(row, at)) continue;
    out.push_back({row.id, row.message(at)});
    // WHY: the rows after it divide by what it looks at.
    if (row.id == "tile-positive") return;
  }
}

bool all_hold(std::span<const Constraint> rows, const Case& at) {
  return std::ranges::none_of(rows, [&](const Constraint& row) { return trips(row, at); });
}

std::vector<Constraint> join(std::initializer_list<std::span<const Constraint>> parts) {
  std::vector<Constraint> rows;
  for (const auto part : parts) rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

// What rows of the problem look at, given to `judge`.
template <class Judge>
auto with_case(const KernelConfig& config, const ConvProblem& problem, const Requests& requests, const Judge& judge) {
  Case at{config, info_of(config.target), &problem, requests, &problem};
  if (!tma_layout::sees_patches(config) || !is_patch(problem)) return judge(at);
  const ConvProblem view = patch_view(problem, tma_layout::packs_patches(config));
  at.problem = &view;
  return judge(at);
}

}  // namespace

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows =
      join({shape_rows(), feature_rows(), tma_rows(), tma_fold_rows(), weight_halo_rows(), weight_few_rows(),
            wavelet_rows(), four_wave_rows(), portable_rows(), taps_rows(), rows_rows(), rows_weight_rows(),
            direct_rows(), direct_matrix_rows()});
  return rows;
}

std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows =
      // WHY folds first: few problems are for them, and a choice asks some hundred kernels.
      join({tma_fold_problem_rows(), general_problem_rows(), tma_problem_rows(), weight_halo_problem_rows(),
            weight_few_problem_rows(), wavelet_problem_rows(), four_wave_problem_rows(), portable_problem_rows(),
            taps_problem_rows(), rows_problem_rows(), rows_weight_problem_rows(), direct_problem_rows(),
            direct_matrix_problem_rows()});
  return rows;
}

std::vector<Decline> declines(const KernelConfig& config) {
  std::vector<Decline> out;
  collect(target_rows(), Case{config, info_of(config.target)}, out);
  return out;
}

std::vector<Decline> declines(const KernelConfig& config, const ConvProblem& problem, const Requests& requests) {
  return with_case(config, problem, requests, [](const Case& at) {
    std::vector<Decline> out;
    collect(target_rows(), at, out);
    if (out.empty()) collect(problem_rows(), at, out);
    return out;
  });
}

bool is_valid(const KernelConfig& config) { return all_hold(target_rows(), Case{config, info_of(config.target)}); }

bool accepts(const KernelConfig& config, const ConvProblem& problem, const Requests& requests) {
  return with_case(config, problem, requests,
                   [](const Case& at) { return all_hold(target_rows(), at) && all_hold(problem_rows(), at); });
}

std::string to_text(std::span<const Decline> declines) {
  std::string text;
  for (const Decline& decline : declines) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {}", decline.id, decline.message);
  }
  return text;
}

}  // namespace wt
