// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan/history.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/integers.h"
#include "compile/compiler.h"
#include "dispatch/choice/packs.h"
#include "kernels/beside/device/join_history_arguments.h"
#include "problem/history.h"

namespace wt {
namespace {

constexpr int kTime = kMaxDims - 1;
constexpr int64_t kAlignment = 256;
constexpr int kWideBytes = 16;
constexpr int64_t kJoinPixels = 8;  // of a thread
// Guesses until they are measured: what of the memory's rate joining reaches, and its launch.
constexpr double kMemory = 0.705, kLaunch = 0.423;  // of the machine's rates

bool is_wide(const ConvProblem& p) { return p.layout == Layout::kChannelsLast && p.c * size_of(p.x) % kWideBytes == 0; }
int unit_bytes(const ConvProblem& p) { return is_wide(p) ? kWideBytes : size_of(p.x); }
std::string entry_name(int bytes) { return fmt::format("join_history_{}_bytes", bytes); }

JoinImage image_of(const ConvProblem& p, int64_t units, int64_t pixels) {
  if (p.layout == Layout::kChannelsLast) return {units * pixels, units, 1};
  return {units * pixels, 1, pixels};
}

// Pixels [first, first + count) of the joined image; `whole`: one thread has all pixels of its channels.
JoinHistoryArguments arguments_of(const ConvProblem& p, int64_t first, int64_t count, bool whole) {
  JoinHistoryArguments arguments{};
  arguments.images = p.n;
  arguments.units = is_wide(p) ? p.c * size_of(p.x) / kWideBytes : p.c;
  arguments.length = p.history_length();
  arguments.first = first;
  arguments.count = count;
  arguments.units_apart = p.layout == Layout::kChannelsFirst;
  arguments.pixels = whole ? count : arguments.units_apart ? 1 : kJoinPixels;
  arguments.strips = ceil_div(count, arguments.pixels);
  arguments.from_history = image_of(p, arguments.units, arguments.length);
  arguments.from_x = image_of(p, arguments.units, p.in[kTime]);
  arguments.to = image_of(p, arguments.units, count);
  return arguments;
}

class HistoryPlan final : public Plan {
 public:
  HistoryPlan(std::shared_ptr<Device> device, const ConvProblem& problem, std::shared_ptr<const Plan> inner,
              JoinIn join_in)
      : device_(std::move(device)),
        problem_(problem),
        inner_(std::move(inner)),
        join_in_(join_in),
        joins_(join_in != JoinIn::kNothing),
        on_host_(device_->info().kind == DeviceKind::kCpu),
        description_(inner_->description()),
        offset_(ceil_div(inner_->workspace_bytes(), kAlignment) * kAlignment) {}

  Status prepare(const std::string& reason) {
    description_.reason = fmt::format("{}: {}", reason, inner_->description().reason);
    if (joins_ && description_.predicted_us > 0)
      description_.predicted_us += join_us(problem_, rates_of(device_->info()));
    if (on_host_ || problem_.n == 0) return {};
    description_.launches += joins_ + problem_.new_history;
    if (!joins_ && !problem_.new_history) return {};
    const int bytes = unit_bytes(problem_);
    const std::string name = entry_name(bytes);
    const std::string source = fmt::format(
        "// SPDX-License-Identifier: Apache-2.0\n#include \"kernels/beside/device/join_history.h\"\n\n"
        "WT_KERNEL({}, wt::JoinHistory<{}>)\n",
        name, bytes);
    compile::Module compiled;
    WT_TRY_ASSIGN(module_,
                  compile::compile_and_load(backend_for(device_->info()), {name, source, device_->info().target},
                                            compiled, [&](const compile::Module& m) { return device_->load(m); }));
    WT_TRY_ASSIGN(function_, module_->find(name));
    description_.compile_seconds += compiled.resources.compile_seconds;
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
    HostMemory own(nullptr, &std::free);
    if (joins_) {
      if (join_in_ == JoinIn::kOwnMemory) WT_TRY(allocate(own));
      inner[Tensor::kX] = own ? own.get() : static_cast<char*>(tensors[Tensor::kWorkspace]) + offset_;
      WT_TRY(copy(tensors, 0, joined_problem(problem_).in[kTime], false, inner[Tensor::kX], stream));
    }
    WT_TRY(inner_->execute(inner, stream));
    if (!problem_.new_history) return {};
    // Last, because it may be written over the history.
    return copy(tensors, problem_.in[kTime], problem_.history_length(), true, tensors[Tensor::kNewHistory], stream);
  }

 private:
  using HostMemory = std::unique_ptr<char, decltype(&std::free)>;

  Status allocate(HostMemory& memory) const {
    const auto bytes = static_cast<size_t>(ceil_div(join_bytes(problem_), kAlignment) * kAlignment);
    memory.reset(static_cast<char*>(std::aligned_alloc(kAlignment, bytes)));
    if (memory) return {};
    return failure(Code::kDevice, "no {} bytes of memory to join history and x in; allow a workspace instead", bytes);
  }

  Status copy(const TensorPointers& tensors, int64_t first, int64_t count, bool whole, void* out, Stream stream) const {
    if (on_host_) {
      copy_joined(problem_, tensors[Tensor::kHistory], tensors[Tensor::kX], first, count, out);
      return {};
    }
    JoinHistoryArguments arguments = arguments_of(problem_, first, count, whole);
    arguments.history = tensors[Tensor::kHistory];
    arguments.x = tensors[Tensor::kX];
    arguments.out = out;
    const int64_t threads = arguments.images * arguments.strips * arguments.units;
    const int64_t most = int64_t{device_->info().multiprocessors} * 16;
    const LaunchShape shape{
        .grid = {static_cast<uint32_t>(std::clamp<int64_t>(ceil_div(threads, kJoinThreads), 1, most)), 1, 1},
        .threads = kJoinThreads};
    return device_->launch(*function_, shape, std::as_bytes(std::span(&arguments, 1)), stream);
  }

  std::shared_ptr<Device> device_;
  ConvProblem problem_;
  std::shared_ptr<const Plan> inner_;
  JoinIn join_in_;
  bool joins_, on_host_;
  PlanDescription description_;
  int64_t offset_;  // of the joined image in the workspace
  std::shared_ptr<LoadedModule> module_;
  const Function* function_ = nullptr;
};

}  // namespace

int64_t join_bytes(const ConvProblem& problem) { return joined_problem(problem).x_elements() * size_of(problem.x); }
double join_us(const ConvProblem& problem, const Rates& rates) {
  return kLaunch * rates.launch_us + 2 * static_cast<double>(join_bytes(problem)) / (kMemory * rates.memory);
}

Result<std::shared_ptr<const Plan>> make_history_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                                      std::shared_ptr<const Plan> inner, JoinIn join_in,
                                                      const std::string& reason) {
  auto plan = std::make_shared<HistoryPlan>(device, problem, std::move(inner), join_in);
  WT_TRY(plan->prepare(reason));
  return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace wt
