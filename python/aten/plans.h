// SPDX-License-Identifier: Apache-2.0
// python/aten/plans.h - the plans of a process by request, what was declined and why, and the process's switches.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "python/aten/request.h"

namespace wt::aten {

// What torch's flags ask for, read through Python when a plan is made or a type depends on it.
enum Flag : int { kTf32 = 1, kBenchmark = 2, kCapturing = 4 };
using FlagsCallback = int (*)(int device);

// Begins a range of this thread in a profiler's time line, or with null ends it.
using RangeCallback = void (*)(const char* name);

struct Switches {
  std::atomic<bool> serving{false};  // aten's own convolutions
  std::atomic<bool> strict{false};   // a convolution that we decline is an error
  std::atomic<FlagsCallback> flags{nullptr};
  std::atomic<RangeCallback> range{nullptr};  // null: no ranges are wanted
};
Switches& switches();
int flags(int64_t device);

// What this thread's calls do: run; make plans and compute nothing; or tune them, and compute nothing.
struct Rehearsal {
  bool on = false;
  double tuning_seconds = 0;  // above 0: measure the candidates of each problem for so long, and replace its plan
};
Rehearsal& rehearsal();

// One request's plan, or why there is none. Entries live for ever, so that calls in flight need no lock.
struct Entry {
  wavetile_plan* plan = nullptr;
  wavetile_bias_gradient* bias_gradient = nullptr;
  int64_t workspace_bytes = 0;
  std::string text;     // of the problem
  std::string decline;  // "" where there is a plan
  bool tuned = false;   // by a rehearsal
  std::atomic<int64_t> calls{0};
};

// The entry of a request, made when it is met first. `stream` is where it will run.
Entry& entry_of(const Request& request, void* stream);

// Counts a convolution that torch's own kernel served.
void note_fallback(const std::string& what, const std::string& why);

// Everything so far as a JSON object: {"plans": [...], "fallbacks": [...]}.
std::string report_json();
void clear_report();  // the counts; plans stay

// The process's handle of a device: -1 is the CPU. Throws where it cannot be opened.
wavetile_device* open_device(int64_t index);

}  // namespace wt::aten
