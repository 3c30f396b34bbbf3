// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/tuner.h - the fastest right kernel of a problem, by measuring: what `wavetile tune` and plans with
// tuning on first use run.
//
//   selection.h: by predicted time --> compile_ahead.h --> verified (trial.h) --> timed, or given up --> finalists
//   again
//                                                              each result --> database.h
//
// Every result is saved as it comes, so that a tuning that was stopped goes on where it was. A wrong kernel never
// ranks: it is reported loudly and put into quarantine. On a simulator kernels are verified only, and nothing is saved.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/plan/plan.h"
#include "dispatch/tuning/database.h"
#include "rules/rules.h"

namespace wt::tuning {

struct TuneOptions {
  PlanOptions plan;    // what is asked of the kernels: determinism, workspace limit
  double seconds = 0;  // for this problem; 0: no limit. The first candidate is always tried.
  Breadth candidates = Breadth::kAll;
  bool own_only = false;       // only kernels of PlanOptions::kernels
  bool again = false;          // measure anew what the database already holds
  bool exhaustive = false;     // try also what the model says cannot win
  bool precompiled = false;    // try only what a pack or the cache holds, and compile nothing
  bool quick = false;          // few runs of each kernel: a ranking in a fraction of the time, with a wider spread
  uint64_t seed = 1;           // of the data
  std::function<bool()> stop;  // asked between two kernels: an interrupt, say
};

struct TuneRow {
  Measurement measurement;
  double predicted_us = 0;
  bool remembered = false;  // from the database, not measured now
};

struct TuneReport {
  ConvProblem problem;
  Key key;
  std::vector<TuneRow> rows;  // timed ones first, fastest first
  size_t candidates = 0;      // that accept the problem
  size_t cut = 0;             // of these, not tried because the model says that they cannot win
  size_t not_compiled = 0;    // of these, not tried because only compiled ones were asked for
  int wrong = 0, failed = 0;
  bool complete = false;       // nothing was left out for want of time
  std::optional<Entry> entry;  // the best; nothing on a simulator, or where no kernel was right
  Status status;               // a device that was lost, or a database that could not be written
};

// After each kernel, with how many are done of how many there may be.
using TuneProgress = std::function<void(size_t done, size_t total, const TuneRow& row)>;

// `database` may be null: then nothing is remembered or saved.
Result<TuneReport> tune(const std::shared_ptr<Device>& device, const ConvProblem& problem, const TuneOptions& options,
                        Database* database, const TuneProgress& progress = {});

}  // namespace wt::tuning
