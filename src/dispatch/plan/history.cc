// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan/history.h"

#include "dispatch/plan/own_memory.h"
#include "dispatch/plan/row_moves.h"

namespace wt {
namespace {

class HistoryPlan final : public Plan {
 public:
  HistoryPlan(const DeviceInfo& device, const ConvProblem& problem, std::shared_ptr<const Plan> inner, JoinIn join_in)
      : problem_(problem),
        inner_(std::move(inner)),
        join_in_(join_in),
        joins_(join_in != JoinIn::kNothing),
        on_host_(device.kind == DeviceKind::kCpu),
        writes_next_(problem.new_history && !inner_->problem().new_history),
        description_(inner_->description()),
        offset_(scratch_bytes(inner_->workspace_bytes())) {}

  Status prepare(const std::shared_ptr<Device>& device, const std::string& reason) {
    description_.reason = fmt::format("{}: {}", reason, inner_->description().reason);
    const Rates rates = rates_of(device->info());
    if (!on_host_ && description_.predicted_us > 0) {
      description_.predicted_us +=
          (joins_ ? join_us(problem_, rates) : 0) + (writes_next_ ? next_history_us(problem_, rates) : 0);
    }
    if (problem_.n == 0) return {};
    if (!on_host_) description_.launches += joins_ + writes_next_;
    WT_TRY_ASSIGN(moves_, RowMoves::make(device, rows_of_x(problem_), problem_.x, joins_ || writes_next_, false));
    description_.compile_seconds += moves_->compile_seconds();
    return {};
  }

  const ConvProblem& problem() const override { return problem_; }
  const PlanDescription& description() const override { return description_; }
  int64_t workspace_bytes() const override {
    return join_in_ == JoinIn::kWorkspace ? offset_ + join_bytes(problem_) : inner_->workspace_bytes();
  }

  Status execute(const TensorPointers& tensors, Stream stream) const override {
    if (problem_.n == 0) return inner_->execute(tensors, stream);
    if (!tensors[Tensor::kHistory] || !tensors[Tensor::kX] ||
        (join_in_ == JoinIn::kWorkspace && !tensors[Tensor::kWorkspace]) ||
        (problem_.new_history && !tensors[Tensor::kNewHistory])) {
      return bad_input("execute needs x, every history and {} bytes of workspace for {}, but a pointer is null",
                       workspace_bytes(), to_text(problem_));
    }
    TensorPointers inner = tensors;
    OwnMemory own;
    if (joins_) {
      if (join_in_ == JoinIn::kOwnMemory) WT_TRY(own.allocate(join_bytes(problem_)));
      inner[Tensor::kX] = own.get() ? own.get() : static_cast<char*>(tensors[Tensor::kWorkspace]) + offset_;
      const int64_t rows = joined_problem(problem_).in[problem_.time()];
      WT_TRY(copy(tensors, 0, rows, false, inner[Tensor::kX], stream));
    }
    WT_TRY(inner_->execute(inner, stream));
    if (!writes_next_) return {};
    // Last, because it may be written over the history.
    return copy(tensors, problem_.in[problem_.time()], problem_.history_length(), true, tensors[Tensor::kNewHistory],
                stream);
  }

 private:
  Status copy(const TensorPointers& tensors, int64_t first, int64_t count, bool in_place, void* out,
              Stream stream) const {
    return moves_->copy({.history = tensors[Tensor::kHistory],
                         .length = problem_.history_length(),
                         .x = tensors[Tensor::kX],
                         .x_rows = problem_.in[problem_.time()],
                         .first = first,
                         .count = count,
                         .out = out,
                         .out_rows = count,
                         .in_place = in_place},
                        stream);
  }

  ConvProblem problem_;
  std::shared_ptr<const Plan> inner_;
  JoinIn join_in_;
  bool joins_, on_host_;
  bool writes_next_;  // after the inner plan, which does not
  PlanDescription description_;
  int64_t offset_;  // of the joined image in the workspace
  std::unique_ptr<RowMoves> moves_;
};

}  // namespace

int64_t join_bytes(const ConvProblem& problem) { return joined_problem(problem).x_elements() * size_of(problem.x); }
double join_us(const ConvProblem& problem, const Rates& rates) {
  return row_moves_us(2 * static_cast<double>(join_bytes(problem)), rates);
}
double next_history_us(const ConvProblem& problem, const Rates& rates) {
  if (!problem.writes_new_history()) return 0;
  return row_moves_us(2 * static_cast<double>(problem.history_elements() * size_of(problem.x)), rates);
}

Result<std::shared_ptr<const Plan>> make_history_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                                      std::shared_ptr<const Plan> inner, JoinIn join_in,
                                                      const std::string& reason) {
  auto plan = std::make_shared<HistoryPlan>(device->info(), problem, std::move(inner), join_in);
  WT_TRY(plan->prepare(device, reason));
  return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace wt
