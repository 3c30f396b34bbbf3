// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan/first_rows.h"

#include <algorithm>
#include <vector>

#include "dispatch/plan/own_memory.h"
#include "dispatch/plan/row_moves.h"
#include "problem/tensor_data.h"

namespace wt {
namespace {

// Tensors of the output's shape that the forward epilogue reads.
std::vector<Tensor> read_beside(const ConvProblem& problem) {
  std::vector<Tensor> tensors;
  if (problem.epilogue.residual) tensors.push_back(Tensor::kResidual);
  for (int i = 0; i < problem.epilogue.auxiliaries_read(); ++i) tensors.push_back(auxiliary_tensor(i));
  return tensors;
}

// What lies in the workspace after the plans' own, in bytes from there.
struct Scratch {
  int64_t image = 0;              // forward: rows of history and x joined; backward: rows of dy
  int64_t result = 0;             // forward: rows of y; backward weight: dw of the history
  std::vector<int64_t> beside{};  // forward: rows of what the epilogue reads
  int64_t bytes = 0;
};

Scratch scratch_of(const ConvProblem& problem, bool one_run) {
  const ConvProblem first = first_part(problem);
  Scratch scratch;
  const auto take = [&](int64_t bytes) {
    const int64_t at = scratch.bytes;
    scratch.bytes += scratch_bytes(bytes);
    return at;
  };
  if (problem.direction == Direction::kForward) {
    scratch.image = take(x_bytes(first));
    if (one_run) return scratch;
    scratch.result = take(y_bytes(first));
    for (size_t i = 0; i < read_beside(problem).size(); ++i) scratch.beside.push_back(take(y_bytes(first)));
  } else {
    scratch.image = take(y_bytes(first));
    if (problem.direction == Direction::kBackwardWeight) scratch.result = take(w_bytes(first));
  }
  return scratch;
}

class FirstRowsPlan final : public Plan {
 public:
  FirstRowsPlan(const DeviceInfo& device, const ConvProblem& problem, std::shared_ptr<const Plan> main,
                std::shared_ptr<const Plan> first, JoinIn scratch_in)
      : problem_(problem),
        main_(std::move(main)),
        first_(std::move(first)),
        own_memory_(scratch_in == JoinIn::kOwnMemory),
        on_host_(device.kind == DeviceKind::kCpu),
        description_(main_->description()),
        one_run_(main_->problem().pad_lower != problem.pad_lower),
        scratch_(scratch_of(problem, one_run_)),
        rows_(problem_.in[problem_.time()]),
        outputs_(problem_.out()[problem_.time()]),
        first_outputs_(history_outputs(problem_)),
        length_(problem_.history_length()),
        offset_(scratch_bytes(std::max(main_->workspace_bytes(), first_->workspace_bytes()))) {}

  Status prepare(const std::shared_ptr<Device>& device, const std::string& reason) {
    const PlanDescription& first = first_->description();
    description_.reason = fmt::format("{}: {}", reason, main_->description().reason);
    description_.compile_seconds += first.compile_seconds;
    description_.finite_only |= first.finite_only;
    const bool known = description_.predicted_us > 0 && first.predicted_us > 0;
    description_.predicted_us = known ? description_.predicted_us + first.predicted_us +
                                            first_rows_us(problem_, rates_of(device->info()), one_run_)
                                      : 0;
    description_.measured_us = 0;
    if (problem_.n == 0) return {};
    description_.launches += first.launches;
    if (!on_host_) description_.launches += moves();
    const bool forward = problem_.direction == Direction::kForward, data = problem_.reads_new_history();
    if (forward || data) {
      WT_TRY_ASSIGN(x_, RowMoves::make(device, rows_of_x(problem_), problem_.x, forward, data));
      description_.compile_seconds += x_->compile_seconds();
    }
    WT_TRY_ASSIGN(y_, RowMoves::make(device, rows_of_y(problem_), problem_.y, true, false));
    description_.compile_seconds += y_->compile_seconds();
    return {};
  }

  const ConvProblem& problem() const override { return problem_; }
  const PlanDescription& description() const override { return description_; }
  int64_t workspace_bytes() const override {
    const int64_t plans = std::max(main_->workspace_bytes(), first_->workspace_bytes());
    return own_memory_ ? plans : offset_ + scratch_.bytes;
  }

  Status execute(const TensorPointers& tensors, Stream stream) const override {
    if (problem_.n == 0) return main_->execute(tensors, stream);
    if (!tensors[Tensor::kHistory] || (problem_.new_history && !tensors[Tensor::kNewHistory]) ||
        (!own_memory_ && !tensors[Tensor::kWorkspace])) {
      return bad_input("execute needs every history and {} bytes of workspace for {}, but a pointer is null",
                       workspace_bytes(), to_text(problem_));
    }
    OwnMemory own;
    if (own_memory_) WT_TRY(own.allocate(scratch_.bytes));
    char* scratch = own_memory_ ? own.get() : static_cast<char*>(tensors[Tensor::kWorkspace]) + offset_;
    switch (problem_.direction) {
      case Direction::kForward:
        return forward(tensors, scratch, stream);
      case Direction::kBackwardData:
        return backward_data(tensors, scratch, stream);
      case Direction::kBackwardWeight:
        return backward_weight(tensors, scratch, stream);
    }
    return {};
  }

 private:
  // Launches that move rows.
  int moves() const {
    if (one_run_) return 1 + problem_.new_history;
    if (problem_.direction == Direction::kForward)
      return 2 + static_cast<int>(scratch_.beside.size()) + problem_.new_history;
    if (problem_.direction == Direction::kBackwardWeight) return copies_dy();
    return copies_dy() + (problem_.new_history ? 1 + (rows_ < length_) : 0);
  }
  // All of dy is first rows where x is short.
  bool copies_dy() const { return first_outputs_ < outputs_; }

  Status forward(const TensorPointers& tensors, char* scratch, Stream stream) const {
    TensorPointers first = tensors;
    first[Tensor::kX] = scratch + scratch_.image;
    const int64_t joined = first_->problem().in[problem_.time()];
    WT_TRY(x_->copy(joined_rows(tensors, 0, joined, first[Tensor::kX], false), stream));
    if (one_run_) {
      WT_TRY(first_->execute(first, stream));
      WT_TRY(main_->execute(after_first_rows(tensors), stream));
    } else {
      WT_TRY(forward_over_all(tensors, first, scratch, stream));
    }
    if (!problem_.new_history) return {};
    // Last, because it may be written over the history.
    return x_->copy(joined_rows(tensors, rows_, length_, tensors[Tensor::kNewHistory], true), stream);
  }

  // Every tensor where the main plan's rows begin.
  TensorPointers after_first_rows(const TensorPointers& tensors) const {
    TensorPointers rest = tensors;
    const auto move = [&](Tensor tensor, const Rows& rows, int64_t count, DataType type) {
      rest[tensor] = static_cast<char*>(rest[tensor]) + count * rows.elements * size_of(type);
    };
    move(Tensor::kX, rows_of_x(problem_), rows_ - main_->problem().in[problem_.time()], problem_.x);
    const Rows y = rows_of_y(problem_);
    move(Tensor::kY, y, first_outputs_, problem_.y);
    for (const Tensor tensor : read_beside(problem_)) move(tensor, y, first_outputs_, problem_.y);
    return rest;
  }

  Status forward_over_all(const TensorPointers& tensors, TensorPointers first, char* scratch, Stream stream) const {
    first[Tensor::kY] = scratch + scratch_.result;
    // Before the main plan, which may write y over them.
    const std::vector<Tensor> beside = read_beside(problem_);
    for (size_t i = 0; i < beside.size(); ++i) {
      first[beside[i]] = scratch + scratch_.beside[i];
      WT_TRY(y_->copy(first_of_y(tensors[beside[i]], outputs_, first[beside[i]], first_outputs_), stream));
    }
    WT_TRY(first_->execute(first, stream));
    WT_TRY(main_->execute(tensors, stream));
    return y_->copy(first_of_y(first[Tensor::kY], first_outputs_, tensors[Tensor::kY], outputs_), stream);
  }

  Status backward_data(const TensorPointers& tensors, char* scratch, Stream stream) const {
    TensorPointers first = tensors;
    first[Tensor::kX] = tensors[Tensor::kHistory];
    WT_TRY(copy_dy(tensors, scratch, first, stream));
    WT_TRY(first_->execute(first, stream));
    WT_TRY(main_->execute(tensors, stream));
    if (!problem_.new_history) return {};
    // Row i of the new history is row rows_ + i of history and x joined.
    const int64_t in_history = std::max<int64_t>(0, length_ - rows_);
    WT_TRY(x_->add({.from = tensors[Tensor::kNewHistory],
                    .from_rows = length_,
                    .to = tensors[Tensor::kHistory],
                    .to_rows = length_,
                    .to_first = rows_,
                    .count = in_history},
                   stream));
    return x_->add({.from = tensors[Tensor::kNewHistory],
                    .from_rows = length_,
                    .from_first = in_history,
                    .to = tensors[Tensor::kX],
                    .to_rows = rows_,
                    .to_first = rows_ - (length_ - in_history),
                    .count = length_ - in_history},
                   stream);
  }

  Status backward_weight(const TensorPointers& tensors, char* scratch, Stream stream) const {
    TensorPointers first = tensors, main = tensors;
    first[Tensor::kX] = tensors[Tensor::kHistory];
    first[Tensor::kW] = main[Tensor::kResidual] = scratch + scratch_.result;
    WT_TRY(copy_dy(tensors, scratch, first, stream));
    WT_TRY(first_->execute(first, stream));
    return main_->execute(main, stream);
  }

  Status copy_dy(const TensorPointers& tensors, char* scratch, TensorPointers& first, Stream stream) const {
    if (!copies_dy()) return {};
    first[Tensor::kY] = scratch + scratch_.image;
    return y_->copy(first_of_y(tensors[Tensor::kY], outputs_, first[Tensor::kY], first_outputs_), stream);
  }

  RowCopy joined_rows(const TensorPointers& tensors, int64_t first, int64_t count, void* out, bool in_place) const {
    return {.history = tensors[Tensor::kHistory],
            .length = length_,
            .x = tensors[Tensor::kX],
            .x_rows = rows_,
            .first = first,
            .count = count,
            .out = out,
            .out_rows = count,
            .in_place = in_place};
  }
  RowCopy first_of_y(const void* from, int64_t from_rows, void* to, int64_t to_rows) const {
    return {.x = from, .x_rows = from_rows, .count = first_outputs_, .out = to, .out_rows = to_rows};
  }

  ConvProblem problem_;
  std::shared_ptr<const Plan> main_, first_;
  bool own_memory_, on_host_;
  PlanDescription description_;
  bool one_run_;
  Scratch scratch_;
  int64_t rows_, outputs_, first_outputs_, length_;
  int64_t offset_;  // of the scratch in the workspace
  std::unique_ptr<RowMoves> x_, y_;
};

}  // namespace

std::string first_rows_obstacle(const ConvProblem& problem) {
  const Epilogue& e = problem.epilogue;
  switch (problem.direction) {
    case Direction::kForward:
      if (e.amax) return "amax is one number of all rows";
      if (e.has_text()) return "a user's text counts the rows of y";
      if (history_outputs(problem) == problem.out()[problem.time()]) return "the history meets every row of y";
      return {};
    case Direction::kBackwardData:
      return {};
    case Direction::kBackwardWeight:
      if (problem.w != DataType::kF32)
        return fmt::format("two sums of dw would be rounded to {} apart", name_of(problem.w));
      if (e.residual) return "the epilogue's residual is taken";
      if (problem.n == 0) return "there is no image";
      if (e.has_text()) return "a user's text counts one sum of dw";
      return {};
  }
  return {};
}

bool has_one_run(const ConvProblem& problem) {
  // WHY: kernels take tensors that are aligned so.
  constexpr int64_t kAlignment = 16;
  const auto aligned = [](const Rows& rows, DataType type) { return rows.elements * size_of(type) % kAlignment == 0; };
  return problem.direction == Direction::kForward && problem.n == 1 && problem.layout == Layout::kChannelsLast &&
         first_rows_obstacle(problem).empty() && aligned(rows_of_x(problem), problem.x) &&
         aligned(rows_of_y(problem), problem.y);
}

ConvProblem main_part(const ConvProblem& problem, bool one_run) {
  ConvProblem main = without_history(problem);
  if (one_run) {
    const int time = problem.time();
    main.in[time] -= history_outputs(problem) * problem.stride[time] - problem.history_length();
    main.pad_lower[time] = 0;
  }
  if (problem.direction == Direction::kBackwardWeight) main.epilogue.residual = true;
  return main;
}

ConvProblem first_part(const ConvProblem& problem) {
  ConvProblem first = first_rows_problem(problem);
  if (problem.direction == Direction::kForward) return first;
  const Epilogue& whole = problem.epilogue;
  first.epilogue = {.alpha = whole.alpha};
  if (problem.direction == Direction::kBackwardWeight)
    first.epilogue.scale = whole.scale, first.epilogue.scale_type = whole.scale_type;
  return first;
}

int64_t first_rows_bytes(const ConvProblem& problem, bool one_run) { return scratch_of(problem, one_run).bytes; }

double first_rows_us(const ConvProblem& problem, const Rates& rates, bool one_run) {
  const ConvProblem first = first_part(problem);
  const auto y = static_cast<double>(2 * y_bytes(first));
  if (problem.direction == Direction::kForward) {
    const auto x = static_cast<double>(2 * x_bytes(first));
    if (one_run) return row_moves_us(x, rates) + next_history_us(problem, rates);
    return row_moves_us(x, rates) + (1 + static_cast<double>(read_beside(problem).size())) * row_moves_us(y, rates) +
           next_history_us(problem, rates);
  }
  const double dy = history_outputs(problem) < problem.out()[problem.time()] ? row_moves_us(y, rates) : 0;
  return dy + (problem.reads_new_history() ? row_moves_us(3 * static_cast<double>(history_bytes(problem)), rates) : 0);
}

Result<std::shared_ptr<const Plan>> make_first_rows_plan(const std::shared_ptr<Device>& device,
                                                         const ConvProblem& problem, std::shared_ptr<const Plan> main,
                                                         std::shared_ptr<const Plan> first, JoinIn scratch_in,
                                                         const std::string& reason) {
  auto plan = std::make_shared<FirstRowsPlan>(device->info(), problem, std::move(main), std::move(first), scratch_in);
  WT_TRY(plan->prepare(device, reason));
  return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace wt
