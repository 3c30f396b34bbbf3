// SPDX-License-Identifier: Apache-2.0
// kernels/constraints.h - why a config is not possible on its target, or not for a problem: one row per reason.
//
//   KernelConfig (+ ConvProblem) --rows of all kinds, rows of its kind--> declines: id, values, what would help
//
// Rows of all kinds are in shared/*_constraints.cc, those of one kind in its folder (kind.h).
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/kernel_config.h"
#include "config/targets.h"
#include "kernels/view.h"
#include "problem/problem.h"

namespace wt {

struct Decline {
  std::string_view id;  // of the row
  std::string message;  // the values and what would help
};

// What the caller of a plan asks for beside the problem.
struct Requests {
  bool deterministic = true;
  bool strict_nonfinite = false;
};

// What a row looks at. problem, asked and view are null at the level of the target.
struct Case {
  const KernelConfig& config;
  const TargetInfo& target;
  const ConvProblem* problem = nullptr;
  Requests requests;
  // As it was asked for: kernels for patches see another view of it (problem/patch_view.h).
  const ConvProblem* asked = nullptr;
  const View* view = nullptr;  // of problem
};

// For a kernel that is asked about the problem of `view`.
Case case_of(const KernelConfig& config, const View& view, const Requests& requests);

struct Constraint {
  std::string_view id;
  std::string_view rule;                // one sentence for docs
  bool (*applies)(const Case&);         // to this config at all; null: always
  bool (*holds)(const Case&);           // asked only where it applies
  std::string (*message)(const Case&);  // asked only where it does not hold

  bool trips(const Case& at) const { return (!applies || applies(at)) && !holds(at); }
};

std::vector<Constraint> joined(std::initializer_list<std::span<const Constraint>> parts);

// Every row there is, each once: those of all kinds first.
std::span<const Constraint> target_rows();
std::span<const Constraint> problem_rows();
// The first row of the problem that declines, of a config that is valid on its target; null: it accepts. Quick: rows of
// its kind are asked first.
const Constraint* first_problem_decline(const Case& at);

// Every row that does not hold; empty: the config is valid on its target.
std::vector<Decline> declines(const KernelConfig& config);
// As above, and then the rows of the problem; empty: the kernel accepts it. The problem must be valid. Rows of the
// problem are asked only where the config is valid.
std::vector<Decline> declines(const KernelConfig& config, const ConvProblem& problem, const Requests& requests = {});
std::vector<Decline> declines(const KernelConfig& config, const View& view, const Requests& requests = {});

bool is_valid(const KernelConfig& config);
bool accepts(const KernelConfig& config, const ConvProblem& problem, const Requests& requests = {});

// The row for a family, pipeline and target that no kernel implements.
Decline no_kernel(const KernelConfig& config);

// "id: message; id: message" for errors.
std::string to_text(std::span<const Decline> declines);

}  // namespace wt
