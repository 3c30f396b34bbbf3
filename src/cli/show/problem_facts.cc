// SPDX-License-Identifier: Apache-2.0
#include "cli/show/problem_facts.h"

#include "cli/show/numbers.h"
#include "problem/gemm_view.h"
#include "problem/tensor_data.h"

namespace wt::cli {

namespace {

constexpr size_t kPhasesShown = 9;

std::string sizes(const Spatial& values, int dims) {
  std::string text;
  for (size_t axis = static_cast<size_t>(kMaxDims - dims); axis < kMaxDims; ++axis)
    text += fmt::format("{}{}", text.empty() ? "" : "x", values[axis]);
  return text;
}

std::string tensor_line(const char* name, const std::string& shape, DataType type, int64_t bytes) {
  return fmt::format("{:<3}{:<28}{:<5} {}", name, shape, name_of(type), bytes_text(static_cast<double>(bytes)));
}

std::string gemm_line(const GemmView& view) {
  std::string text = fmt::format("m {}  n {}  k {}", view.m, view.n, view.k);
  if (view.batch > 1) text += fmt::format("  for each of {} groups", view.batch);
  return text;
}

void add_phases(const ConvProblem& problem, std::vector<Fact>& facts) {
  const std::vector<StridePhase> phases = stride_phases(problem);
  if (phases.size() < 2) return;
  facts.push_back({"phases", fmt::format("{}: pixels of dx that use the same taps of the filter", phases.size())});
  for (size_t i = 0; i < phases.size() && i < kPhasesShown; ++i) {
    const StridePhase& phase = phases[i];
    Spatial offset{};
    for (size_t axis = 0; axis < kMaxDims; ++axis) offset[axis] = phase.dim[axis].offset;
    facts.push_back({"", fmt::format("from pixel {}: {}", sizes(offset, problem.dims),
                                     phase.has_taps() ? gemm_line(phase.gemm) : "no taps, zero")});
  }
  if (phases.size() > kPhasesShown) facts.push_back({"", fmt::format("and {} more", phases.size() - kPhasesShown)});
}

}  // namespace

std::vector<Fact> problem_facts(const ConvProblem& problem) {
  std::vector<Fact> facts;
  facts.push_back({"problem", to_text(problem)});
  facts.push_back({"in full", canonical_text(problem)});
  const int dims = problem.dims;
  facts.push_back({"tensors", tensor_line("x", fmt::format("n{} c{} {}", problem.n, problem.c, sizes(problem.in, dims)),
                                          problem.x, x_bytes(problem))});
  facts.push_back(
      {"", tensor_line("w", fmt::format("k{} c/g{} {}", problem.k, problem.c_per_group(), sizes(problem.filter, dims)),
                       problem.w, w_bytes(problem))});
  facts.push_back({"", tensor_line("y", fmt::format("n{} k{} {}", problem.n, problem.k, sizes(problem.out(), dims)),
                                   problem.y, y_bytes(problem))});
  if (problem.has_scales()) {
    facts.push_back({"", fmt::format("scales of x and w  {} and {} bytes, one for {} channels each", problem.x_scales(),
                                     problem.w_scales(), scale_block(problem.scales))});
  }
  const double bytes = static_cast<double>(x_bytes(problem)) + static_cast<double>(w_bytes(problem)) +
                       static_cast<double>(y_bytes(problem)) +
                       static_cast<double>(problem.x_scales() + problem.w_scales());
  std::string work = fmt::format("{}FLOP over {}", count_text(problem.flops()), bytes_text(bytes));
  if (bytes > 0) work += fmt::format(": {} FLOP per byte", rate_text(problem.flops() / bytes));
  facts.push_back({"work", work});
  facts.push_back({"gemm", gemm_line(gemm_view(problem))});
  if (problem.direction == Direction::kBackwardData) add_phases(problem, facts);
  return facts;
}

}  // namespace wt::cli
