// SPDX-License-Identifier: Apache-2.0
// problem/choice.h - the problem that a thread is choosing a kernel for.
//
//   ChoiceScope(problem) { hundreds of questions } --> LastProblem::is answers by address instead of comparing
//
// What depends on the problem alone is worked out once and remembered (LastProblem); to compare problems field by field
// at every question took a quarter of a choice.
#pragma once

#include <cstdint>

#include "problem/problem.h"

namespace wt {

class ChoiceScope {
 public:
  // `problem` stays where it is and as it is until the scope ends.
  explicit ChoiceScope(const ConvProblem& problem) : outer_(current()) {
    thread_local uint64_t count = 0;
    current() = {&problem, ++count};
  }
  ~ChoiceScope() { current() = outer_; }
  ChoiceScope(const ChoiceScope&) = delete;
  ChoiceScope& operator=(const ChoiceScope&) = delete;

  // The number of the choice that `problem` is the object of; 0: none.
  static uint64_t number_of(const ConvProblem& problem) { return current().problem == &problem ? current().number : 0; }

 private:
  struct Choice {
    const ConvProblem* problem = nullptr;
    uint64_t number = 0;
  };
  static Choice& current() {
    thread_local Choice choice;
    return choice;
  }

  Choice outer_;
};

// The problem that something is remembered of.
class LastProblem {
 public:
  bool is(const ConvProblem& problem) {
    const uint64_t number = ChoiceScope::number_of(problem);
    if (number != 0 && number == number_) return true;
    if (!set_ || !(problem_ == problem)) return false;
    number_ = number;
    return true;
  }
  void set(const ConvProblem& problem) {
    problem_ = problem;
    set_ = true;
    number_ = ChoiceScope::number_of(problem);
  }

 private:
  ConvProblem problem_;
  bool set_ = false;
  uint64_t number_ = 0;
};

}  // namespace wt
