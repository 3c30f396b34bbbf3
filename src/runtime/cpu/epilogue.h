// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/epilogue.h - from fp32 sums to the output tensor: Epilogue's steps in its order, then the one rounding.
#pragma once

#include <array>
#include <cstdint>

#include "launch/launch.h"
#include "problem/user_code.h"
#include "runtime/cpu/tensors.h"

namespace wt::cpu {

// Elements of the output that follow each other by `stride`, from `offset` on; their channels by channel_step.
struct Run {
  int64_t offset;
  int64_t count;
  int64_t stride = 1;
  int64_t channel = 0;
  int64_t channel_step = 0;  // 0 or 1
};

// The epilogue of one execute call. finish() may be called from several threads for different runs.
class Finisher {
 public:
  // `code` is null where the epilogue has no user text.
  Finisher(const ConvProblem& problem, const Tensors& tensors, const UserCode* code);

  // sums[i] belongs to element i of the run; they may lie in the output itself where that is fp32 and stride is 1.
  void finish(const float* sums, const Run& run) const;
  // The whole of one output, from sums in its layout: elements [first, last).
  void finish_range(const float* sums, int64_t first, int64_t last) const;

 private:
  void finish_piece(const float* sums, const Run& run, float& peak) const;
  void read_run(const void* tensor, const Run& run, float* values) const;
  void add_product(float factor, const float* addend, int64_t count, float* values) const;
  void add_auxiliaries(const Run& run, float* values) const;
  void pass_gradient(const Run& run, float* values) const;
  void apply_text(const Run& run, float* values) const;
  void store_text(const Run& run, const float* values) const;

  const Epilogue& epilogue_;
  DataType type_;
  bool integer_;  // the inputs are int8
  float y_zero_;
  void* out_;
  const void* scale_;
  const void* bias_;
  const void* residual_;
  float* amax_;
  std::array<void*, kMaxAuxiliary> aux_{};
  const UserCode* code_;
  user::OutputShape shape_;
  bool copies_;             // the sums are the output
  int64_t channels_;        // of the output
  int64_t channel_extent_;  // elements that share a channel and follow each other; 0: channels are innermost
};

// True where the sums are the output: nothing is left to do for an fp32 output.
bool is_identity(const Epilogue& epilogue);

}  // namespace wt::cpu
