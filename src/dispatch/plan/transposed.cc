// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan/transposed.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/integers.h"
#include "compile/compiler.h"
#include "dispatch/choice/packs.h"
#include "kernels/beside/device/transpose_arguments.h"
#include "launch/binding.h"
#include "problem/measures.h"

namespace wt {
namespace {

constexpr int64_t kAlignment = 256;
// Guesses until they are measured: what of the memory's rate a transposition reaches, and its launch.
constexpr double kMemory = 0.517, kLaunch = 0.423;  // of the machine's rates

int64_t aligned(int64_t bytes) { return ceil_div(bytes, kAlignment) * kAlignment; }

// A tensor of the problem as matrices of channels times positions.
struct Matrices {
  Tensor tensor;
  int64_t batch, channels, positions;
  int bytes;  // of an element
  bool output;

  int64_t size() const { return batch * channels * positions * bytes; }
  // One row or one column lies in memory the same either way.
  bool alike() const { return channels == 1 || positions == 1; }
};

Matrices matrices_of(const ConvProblem& p, Tensor tensor, bool output) {
  if (tensor == Tensor::kX) return {tensor, p.n, p.c, pixels(p.in), size_of(p.x), output};
  if (tensor == Tensor::kW) return {tensor, p.k, p.c_per_group(), pixels(p.filter), size_of(p.w), output};
  return {tensor, p.n, p.k, pixels(p.out()), size_of(p.y), output};
}

// Those that must be turned round, the output last.
std::vector<Matrices> turned(const ConvProblem& problem) {
  std::vector<Matrices> list;
  const Tensor output = output_tensor(problem.direction);
  for (const Tensor tensor : {Tensor::kX, Tensor::kW, Tensor::kY})
    if (tensor != output) list.push_back(matrices_of(problem, tensor, false));
  if (problem.epilogue.residual) {
    list.push_back(matrices_of(problem, output, false));
    list.back().tensor = Tensor::kResidual;
  }
  for (int i = 0; i < problem.epilogue.auxiliaries_read(); ++i) {
    list.push_back(matrices_of(problem, output, false));
    list.back().tensor = auxiliary_tensor(i);
  }
  list.push_back(matrices_of(problem, output, true));
  std::erase_if(list, [](const Matrices& m) { return m.alike() || m.size() == 0; });
  return list;
}

std::string entry_name(int bytes) { return fmt::format("transpose_{}_bytes", bytes); }

compile::Source source_of(Target target, const std::vector<Matrices>& list) {
  std::string text = "// SPDX-License-Identifier: Apache-2.0\n#include \"kernels/beside/device/transpose.h\"\n\n";
  for (const int bytes : {1, 2, 4}) {
    if (std::ranges::any_of(list, [&](const Matrices& m) { return m.bytes == bytes; }))
      text += fmt::format("WT_KERNEL({}, wt::Transpose<{}>)\n", entry_name(bytes), bytes);
  }
  return {"transpose", std::move(text), target};
}

class TransposedPlan final : public Plan {
 public:
  TransposedPlan(std::shared_ptr<Device> device, ConvProblem problem, std::shared_ptr<const Plan> inner)
      : device_(std::move(device)),
        problem_(std::move(problem)),
        inner_(std::move(inner)),
        description_(inner_->description()) {}

  Status prepare(const std::string& reason) {
    const std::vector<Matrices> list = turned(problem_);
    std::shared_ptr<LoadedModule>& module = module_;
    if (!list.empty()) {
      compile::Module compiled;
      WT_TRY_ASSIGN(module,
                    compile::compile_and_load(backend_for(device_->info()), source_of(device_->info().target, list),
                                              compiled, [&](const compile::Module& m) { return device_->load(m); }));
      description_.compile_seconds += compiled.resources.compile_seconds;
    }
    int64_t offset = aligned(inner_->workspace_bytes());
    for (const Matrices& matrices : list) {
      WT_TRY_ASSIGN(const Function* function, module->find(entry_name(matrices.bytes)));
      steps_.push_back({matrices, function, offset, shape_of(matrices), arguments_of(matrices)});
      offset += aligned(matrices.size());
    }
    workspace_bytes_ = steps_.empty() ? inner_->workspace_bytes() : offset;
    description_.launches += static_cast<int>(steps_.size());
    description_.reason = fmt::format("{}: {}", reason, inner_->description().reason);
    if (description_.predicted_us > 0)
      description_.predicted_us += transposition_us(problem_, rates_of(device_->info()));
    return {};
  }

  const ConvProblem& problem() const override { return problem_; }
  const PlanDescription& description() const override { return description_; }
  int64_t workspace_bytes() const override { return workspace_bytes_; }

  Status execute(const TensorPointers& tensors, Stream stream) const override {
    TensorPointers inner = tensors;
    for (const Step& step : steps_) {
      const Tensor tensor = step.matrices.tensor;
      if (!tensors[tensor] || !tensors[Tensor::kWorkspace])
        return bad_input("execute needs every tensor of {} and {} bytes of workspace, but a pointer is null",
                         to_text(problem_), workspace_bytes_);
      inner[tensor] = static_cast<char*>(tensors[Tensor::kWorkspace]) + step.offset;
      if (!step.matrices.output) WT_TRY(transpose(step, tensors[tensor], inner[tensor], stream));
    }
    WT_TRY(inner_->execute(inner, stream));
    if (!steps_.empty() && steps_.back().matrices.output) {
      const Tensor tensor = steps_.back().matrices.tensor;
      WT_TRY(transpose(steps_.back(), inner[tensor], tensors[tensor], stream));
    }
    return {};
  }

 private:
  struct Step {
    Matrices matrices;
    const Function* function;
    int64_t offset;  // in the workspace
    LaunchShape shape;
    TransposeArguments arguments;
  };

  // Inputs come as (channels, positions), the output leaves as (positions, channels).
  static TransposeArguments arguments_of(const Matrices& m) {
    TransposeArguments arguments{};
    arguments.rows = m.output ? m.positions : m.channels;
    arguments.pitch = arguments.rows;
    arguments.columns = m.output ? m.channels : m.positions;
    arguments.tiles_rows = ceil_div(arguments.rows, transpose_edge(m.bytes));
    arguments.tiles_columns = ceil_div(arguments.columns, transpose_edge(m.bytes));
    arguments.tiles = m.batch * arguments.tiles_rows * arguments.tiles_columns;
    return arguments;
  }

  LaunchShape shape_of(const Matrices& m) const {
    const int64_t most = int64_t{device_->info().multiprocessors} * 8;
    return {.grid = {static_cast<uint32_t>(std::min<int64_t>(arguments_of(m).tiles, most)), 1, 1},
            .threads = kTransposeThreads,
            .shared_bytes = static_cast<uint32_t>(transpose_shared_bytes(m.bytes))};
  }

  Status transpose(const Step& step, const void* from, void* to, Stream stream) const {
    TransposeArguments arguments = step.arguments;
    arguments.in = from;
    arguments.out = to;
    return device_->launch(*step.function, step.shape, std::as_bytes(std::span(&arguments, 1)), stream);
  }

  std::shared_ptr<Device> device_;
  ConvProblem problem_;
  std::shared_ptr<const Plan> inner_;
  PlanDescription description_;
  std::shared_ptr<LoadedModule> module_;
  std::vector<Step> steps_;
  int64_t workspace_bytes_ = 0;
};

}  // namespace

ConvProblem channels_last(const ConvProblem& problem) {
  ConvProblem last = problem;
  last.layout = Layout::kChannelsLast;
  return last;
}

size_t transposition_count(const ConvProblem& problem) { return turned(problem).size(); }

int64_t transposition_bytes(const ConvProblem& problem) {
  int64_t bytes = 0;
  for (const Matrices& matrices : turned(problem)) bytes += aligned(matrices.size());
  return bytes;
}

double transposition_us(const ConvProblem& problem, const Rates& rates) {
  double us = 0;
  for (const Matrices& matrices : turned(problem))
    us += kLaunch * rates.launch_us + 2 * static_cast<double>(matrices.size()) / (kMemory * rates.memory);
  return us;
}

Result<std::shared_ptr<const Plan>> make_transposed_plan(const std::shared_ptr<Device>& device,
                                                         const ConvProblem& problem, std::shared_ptr<const Plan> inner,
                                                         const std::string& reason) {
  WT_CHECK(problem.epilogue.store.empty(), "a store of the user's between transpositions");
  auto plan = std::make_shared<TransposedPlan>(device, problem, std::move(inner));
  WT_TRY(plan->prepare(reason));
  return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace wt
