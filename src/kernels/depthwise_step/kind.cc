// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_step/kind.cc - a few tokens of many sequences: depthwise causal outputs and the next state.
#include "kernels/depthwise_step/kind.h"

namespace wt::kinds {
namespace {

constexpr Target kTargets[] = {Target::kSm80,    Target::kSm90a,        Target::kSm100a,      Target::kSm103a,
                               Target::kSm110a,  Target::kSm120a,       Target::kSm121a,      Target::kGfx90a,
                               Target::kGfx942,  Target::kGfx950,       Target::kGfx1100,     Target::kGfx1201,
                               Target::kGfx1250, Target::kGfx11Generic, Target::kGfx12Generic};
constexpr Direction kDirections[] = {Direction::kForward};
constexpr std::string_view kReadFields[] = {"fixed.filter_h",    "fixed.dilation_h",  "direct.vector_in",
                                            "direct.vector_out", "direct.block_size", "direct.history"};

bool may_serve(const ConvProblem& problem) { return problem.history; }

std::vector<std::string> small_sizes(const KernelConfig& config) {
  if (config.fixed.filter_h == 0) return {"g16 c16 k16 i2 f5 d2 pcausal history new_history"};
  return {fmt::format("g16 c16 k16 i1 f{} pcausal history new_history", int{config.fixed.filter_h})};
}

}  // namespace

extern const KernelKind kDepthwiseStep = {.id = Kind::kDepthwiseStep,
                                          .header = "kernels/depthwise_step/device/kernel.h",
                                          .class_name = "wt::DepthwiseStep",
                                          .targets = kTargets,
                                          .directions = kDirections,
                                          .fields = kReadFields,
                                          .propose = depthwise_step_kind::propose,
                                          .may_serve = may_serve,
                                          .target_rows = depthwise_step_kind::target_rows,
                                          .problem_rows = depthwise_step_kind::problem_rows,
                                          .predict = depthwise_step_kind::predict,
                                          .bind = depthwise_step_kind::bind,
                                          .small_sizes = small_sizes};

}  // namespace wt::kinds
