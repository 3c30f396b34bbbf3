// SPDX-License-Identifier: Apache-2.0
#include "kernels/constraints.h"

#include <algorithm>

#include "kernels/kind.h"
#include "kernels/shared/constraint_rows.h"

namespace wt {

namespace {

std::span<const Constraint> general_target_rows() {
  static const std::vector<Constraint> rows = joined({shape_rows(), feature_rows()});
  return rows;
}

using Rows = std::span<const Constraint> (*)();

std::span<const Constraint> own_rows(const KernelConfig& config, Rows KernelKind::*rows) {
  const Rows own = kind_of(config.kind).*rows;
  return own ? own() : std::span<const Constraint>();
}

// False: the rows after the last one divide by what it looks at.
bool collect(std::span<const Constraint> rows, const Case& at, std::vector<Decline>& out) {
  for (const Constraint& row : rows) {
    if (!row.trips(at)) continue;
    out.push_back({row.id, row.message(at)});
    if (row.id == "tile-positive") return false;
  }
  return true;
}

void collect_target(const Case& at, std::vector<Decline>& out) {
  if (collect(general_target_rows(), at, out)) collect(own_rows(at.config, &KernelKind::target_rows), at, out);
}

bool all_hold(std::span<const Constraint> rows, const Case& at) {
  return std::ranges::none_of(rows, [&](const Constraint& row) { return row.trips(at); });
}

bool is_valid(const Case& at) {
  return all_hold(general_target_rows(), at) && all_hold(own_rows(at.config, &KernelKind::target_rows), at);
}

std::vector<Constraint> every_row(std::span<const Constraint> general, Rows KernelKind::*rows) {
  std::vector<Constraint> all(general.begin(), general.end());
  for (const KernelKind* kind : kernel_kinds()) {
    if (!(kind->*rows)) continue;
    for (const Constraint& row : (kind->*rows)()) {
      const auto same = [&](const Constraint& known) { return known.id == row.id; };
      if (std::ranges::none_of(all, same)) all.push_back(row);
    }
  }
  return all;
}

}  // namespace

std::vector<Constraint> joined(std::initializer_list<std::span<const Constraint>> parts) {
  std::vector<Constraint> rows;
  for (const auto part : parts) rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows = every_row(general_target_rows(), &KernelKind::target_rows);
  return rows;
}

std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = every_row(general_problem_rows(), &KernelKind::problem_rows);
  return rows;
}

const Constraint* first_problem_decline(const Case& at) {
  for (const auto rows : {own_rows(at.config, &KernelKind::problem_rows), general_problem_rows()})
    for (const Constraint& row : rows)
      if (row.trips(at)) return &row;
  return nullptr;
}

std::vector<Decline> declines(const KernelConfig& config) {
  std::vector<Decline> out;
  collect_target(Case{config, info_of(config.target)}, out);
  return out;
}

Case case_of(const KernelConfig& config, const View& view, const Requests& requests) {
  const View& seen = view.seen_by(config);
  return {config, info_of(config.target), &seen.problem(), requests, &seen.asked(), &seen};
}

std::vector<Decline> declines(const KernelConfig& config, const ConvProblem& problem, const Requests& requests) {
  return declines(config, View(problem, usual_rates(config.target)), requests);
}

std::vector<Decline> declines(const KernelConfig& config, const View& view, const Requests& requests) {
  const Case at = case_of(config, view, requests);
  std::vector<Decline> out;
  collect_target(at, out);
  if (!out.empty()) return out;
  collect(general_problem_rows(), at, out);
  collect(own_rows(at.config, &KernelKind::problem_rows), at, out);
  return out;
}

bool is_valid(const KernelConfig& config) { return is_valid(Case{config, info_of(config.target)}); }

bool accepts(const KernelConfig& config, const ConvProblem& problem, const Requests& requests) {
  const View view(problem, usual_rates(config.target));
  const Case at = case_of(config, view, requests);
  return is_valid(at) && !first_problem_decline(at);
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
