// SPDX-License-Identifier: Apache-2.0
// kernels/view.h - a problem as kernels see it: what constraint rows, predictions and launches work out of it, once.
//
//   ConvProblem, Rates --> View --part<Facts>(), seen_by(), merged()--> made at the first question, kept with the view
//
// A choice makes one view and asks hundreds of kernels about it. A view belongs to one thread.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "config/kernel_config.h"
#include "launch/rates.h"
#include "problem/problem.h"

namespace wt {

class View {
 public:
  // On a GPU of these rates. `problem` stays where it is and as it is.
  View(const ConvProblem& problem, const Rates& rates) : problem_(problem), asked_(problem), rates_(rates) {}
  // With a copy of the problem, for whoever outlives it.
  static std::shared_ptr<const View> of(ConvProblem problem, const Rates& rates) {
    return std::shared_ptr<const View>(new View(std::move(problem), nullptr, rates));
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const ConvProblem& problem() const { return problem_; }
  const Rates& rates() const { return rates_; }
  // Before it was seen as patches.
  const ConvProblem& asked() const { return asked_; }

  // As the kernel's device code computes it: kernels for patches see the easier problem that these are, where they are
  // (problem/patch_view.h), copies of bytes with several numbers see channels of bytes, and others the view itself.
  const View& seen_by(const KernelConfig& config) const;
  // The problem with so many groups as one (shared/merged_problem.h); the view itself of one.
  const View& merged(int groups) const;

  // What a kernel or several remember of the problem: Part(const View&).
  template <class Part>
  Part& part() const {
    for (const auto& [type, known] : parts_)
      if (type == &kType<Part>) return *static_cast<Part*>(known.get());
    return *static_cast<Part*>(parts_.emplace_back(&kType<Part>, std::make_shared<Part>(*this)).second.get());
  }

 private:
  template <class Part>
  static constexpr char kType = 0;  // its address tells parts apart

  // For a problem that it keeps; asked for as it is, or as `asked`.
  View(ConvProblem own, const ConvProblem* asked, const Rates& rates)
      : own_(std::move(own)), problem_(*own_), asked_(asked ? *asked : *own_), rates_(rates) {}

  std::optional<ConvProblem> own_;
  const ConvProblem& problem_;
  const ConvProblem& asked_;
  const Rates rates_;
  mutable std::vector<std::pair<const void*, std::shared_ptr<void>>> parts_;
  mutable std::vector<std::pair<int, std::unique_ptr<const View>>> merged_;
  mutable std::optional<bool> is_patch_;
  mutable std::unique_ptr<const View> patches_[2];  // as they lie, and packed
  mutable std::unique_ptr<const View> packed_;      // bytes of several numbers as one channel each
};

}  // namespace wt
