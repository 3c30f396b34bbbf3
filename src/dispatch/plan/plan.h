// SPDX-License-Identifier: Apache-2.0
// dispatch/plan/plan.h - a problem, a device and options become a plan; a plan executes.
//
//   make_plan: what is decided (choice/decision.h) -> module from a pack (choice/packs.h) or compiled -> bound launches
//   execute:   patch pointers, encode tensor maps, launch
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "problem/problem.h"
#include "runtime/device.h"

namespace wt {

class Registry;
struct RankedCandidate;

enum class Tuning : uint8_t {
  kOff,       // the cost model alone
  kCached,    // an entry of the tuning database where there is a valid one, else the cost model
  kFirstUse,  // as kCached, and where there is no entry, the candidates are measured now and the best is remembered
};

// The caller's own choice among the kernels that accept a problem, best first: an index, or -1 for the usual choice.
struct Selector {
  int64_t (*choose)(const Selector& self, const ConvProblem& problem,
                    const std::vector<RankedCandidate>& candidates) = nullptr;  // null: none
  void (*callback)() = nullptr;                                                 // what choose makes of it
  void* user = nullptr;
  bool operator==(const Selector&) const = default;
};

struct PlanOptions {
  bool deterministic = true;
  bool strict_nonfinite = false;           // exclude kernels marked finite_only
  bool batch_invariant = false;            // an image's result has the same bits in every batch (batch_invariant.h)
  std::optional<int64_t> workspace_limit;  // bytes
  Tuning tuning = Tuning::kCached;
  double tuning_seconds = 10;  // limit of kFirstUse
  Stream stream = nullptr;     // where execute will be called; kFirstUse refuses to measure while it captures
  bool fallback = false;       // take the next candidate where the chosen one cannot be compiled or loaded, and say so
  std::string kernel;          // by name, or the JSON of a config; empty: choose
  // Into how many parts kernels that divide their sums do so, as far as they can; 0: as predicted; kSplitsByOccupancy:
  // as many as fill the GPU. Times of before do
  // not hold for another count, so tuning keeps these apart.
  int splits = 0;
  // Kernels of the caller's, beside those that are proposed: of high priority before all others, of normal priority by
  // their predicted time, of low priority where nothing else accepts. Null: none.
  std::shared_ptr<const Registry> kernels;
  Selector select;

  bool operator==(const PlanOptions&) const = default;
};

struct TensorPointers {
  std::array<void*, kTensorCount> at{};
  void*& operator[](Tensor tensor) { return at[static_cast<size_t>(tensor)]; }
  void* operator[](Tensor tensor) const { return at[static_cast<size_t>(tensor)]; }
  bool operator==(const TensorPointers&) const = default;
};

// What a plan will run and why; for people and for logs.
struct PlanDescription {
  std::string kernel;  // config name, or the CPU path
  std::string reason;  // why this one
  int registers = 0;
  int spill_bytes = 0;
  double compile_seconds = 0;
  bool from_cache = false;
  std::string pack;  // the file that the kernel came from; empty: compiled here
  int launches = 0;
  bool finite_only = false;  // a kernel that PlanOptions::strict_nonfinite leaves out
  double predicted_us = 0;   // by the cost model; 0: not asked
  double measured_us = 0;    // by tuning, on this kind of GPU; 0: never
};

// Immutable; execute may be called from several threads at once.
class Plan {
 public:
  virtual ~Plan() = default;
  virtual const ConvProblem& problem() const = 0;
  virtual const PlanDescription& description() const = 0;
  virtual int64_t workspace_bytes() const = 0;
  // Allocates nothing, synchronises nothing, compiles nothing. `tensors` holds what the problem needs; the workspace
  // rides along as Tensor::kWorkspace and is at least workspace_bytes() long and 256-byte aligned.
  virtual Status execute(const TensorPointers& tensors, Stream stream) const = 0;
};

Result<std::shared_ptr<const Plan>> make_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                              const PlanOptions& options);

}  // namespace wt
