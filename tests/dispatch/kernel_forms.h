// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernel_forms.h - lists of problems with the kernel that each is for, run exactly in the simulator.
#pragma once

#include <span>

#include "tests/dispatch/exact_trial.h"

namespace wt {

struct KernelForm {
  const char* problem;
  const char* what;  // that it shows
  bool (*wanted)(const KernelConfig&);
};

// For each form the first kernel that is wanted, among those that `serves` knows; `change` is made to the problem
// before.
template <class Serves, class Change>
void expect_forms_exact(std::span<const KernelForm> forms, Serves serves, Change change) {
  const auto device = simulated_hopper();
  for (const KernelForm& form : forms) {
    SCOPED_TRACE(form.what);
    ConvProblem problem = problem_of(form.problem);
    change(problem);
    const auto wanted = [&](const KernelConfig& c) { return serves(c) && form.wanted(c); };
    expect_exact(device, problem, first_kernel(problem, wanted));
  }
}
template <class Serves>
void expect_forms_exact(std::span<const KernelForm> forms, Serves serves) {
  expect_forms_exact(forms, serves, [](ConvProblem&) {});
}

}  // namespace wt
