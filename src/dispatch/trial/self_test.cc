// SPDX-License-Identifier: Apache-2.0
#include "dispatch/trial/self_test.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "compile/compiler.h"
#include "config/fields.h"
#include "dispatch/choice/packs.h"
#include "dispatch/plan/kernel.h"
#include "dispatch/trial/small_problem.h"
#include "dispatch/trial/trial.h"
#include "generate/source.h"
#include "kernels/constraints.h"
#include "problem/number.h"
#include "rules/rules.h"

namespace wt {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kPlain = "fwd bf16 n4 c64 k64 i14x14 f3x3 p1";
constexpr const char* kDivided = "bwd_weight bf16 n8 c64 k64 i28x28 f3x3 p1";  // its sum is divided among blocks
constexpr size_t kCompiledAhead = 64;                                          // kernels
constexpr int kRounds = 20;                                                    // of two streams against each other

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class SelfTest {
 public:
  SelfTest(const std::shared_ptr<Device>& device, const SelfTestOptions& options)
      : device_(device), options_(options) {}

  std::vector<SelfTestSection> run() {
    section("kernels", [&](SelfTestSection& part) { kernels(part); });
    section("non-finite values", [&](SelfTestSection& part) { non_finite(part); });
    section("streams", [&](SelfTestSection& part) { streams(part); });
    section("graphs", [&](SelfTestSection& part) { graphs(part); });
    section("memory", [&](SelfTestSection& part) { memory(part); });
    return std::move(sections_);
  }

 private:
  bool stopped() const { return lost_ || (options_.stop && options_.stop()); }

  template <class Body>
  void section(const char* name, const Body& body) {
    if (stopped()) return;
    SelfTestSection part;
    part.name = name;
    const auto start = Clock::now();
    body(part);
    part.seconds = since(start);
    sections_.push_back(std::move(part));
  }

  // Counts a check; what failed becomes a row, and a device that no longer answers ends the test.
  void check(SelfTestSection& part, const std::string& what, const Status& status, const std::string& repeat = "") {
    ++part.checks;
    if (status.ok()) return;
    part.faults.push_back({what, status.message(), repeat});
    if (status.code() == Code::kDevice && !device_->synchronize(nullptr).ok()) lost_ = true;
  }

  using Work = std::vector<std::pair<KernelConfig, ConvProblem>>;

  // A sample of each kind and form: exact small integers, then random numbers, the same bits three times.
  void kernels(SelfTestSection& part) {
    const auto start = Clock::now();
    Work work = in_turn(device_->info().target);
    const size_t kinds = kinds_of(work);
    if (options_.most_kernels > 0) work.resize(std::min(work.size(), static_cast<size_t>(options_.most_kernels)));
    size_t done = 0;
    // WHY in parts: the time is for compiling them too.
    while (done < work.size() && !stopped() && since(start) < options_.seconds) {
      const size_t end = std::min(work.size(), done + kCompiledAhead);
      compile_ahead({work.begin() + static_cast<long>(done), work.begin() + static_cast<long>(end)}, done, work.size());
      for (; done < end && !stopped() && since(start) < options_.seconds; ++done) {
        const auto& [config, problem] = work[done];
        if (options_.progress)
          options_.progress(static_cast<int>(done), static_cast<int>(work.size()), name_of(config));
        for (const bool exact : {true, false}) try_kernel(part, config, problem, exact);
      }
    }
    part.skipped = static_cast<int>(work.size() - done);
    work.resize(done);
    part.note = fmt::format("kernels of {} of {} kinds", kinds_of(work), kinds);
  }

  // Those of the target that a small problem fits, one of each kind first, then one of each direction and type of a
  // kind, and so on: wherever time ends, every kind had its turn.
  static Work in_turn(Target target) {
    struct Item {
      int of_kind, of_form;  // how many of its kind, and of its form, stand before it
      KernelConfig config;
      ConvProblem problem;
    };
    std::map<Kind, int> kinds;
    std::map<std::tuple<Kind, Direction, DataType, Pipeline, Loader>, int> forms;
    std::vector<Item> items;
    for (const KernelConfig& config : list_kernels({.target = target, .rule_set = RuleSet::kTests}).kernels) {
      const std::optional<ConvProblem> problem = small_problem_for(config);
      if (!problem) continue;
      int& form = forms[{config.kind, config.direction, config.x, config.gemm.pipeline, config.gemm.loader_a}];
      items.push_back({kinds[config.kind]++ > 0, form++, config, *problem});
    }
    std::ranges::stable_sort(items, {}, [](const Item& item) { return std::pair(item.of_kind, item.of_form); });
    Work work;
    for (Item& item : items) work.emplace_back(item.config, std::move(item.problem));
    return work;
  }

  static size_t kinds_of(const Work& work) {
    std::set<Kind> kinds;
    for (const auto& [config, problem] : work) kinds.insert(config.kind);
    return kinds.size();
  }

  void compile_ahead(const Work& work, size_t before, size_t total) {
    std::vector<compile::Source> sources;
    for (const auto& [config, problem] : work) {
      Result<std::string> text = generate_source(config);
      if (text.ok()) sources.push_back({name_of(config), std::move(*text), config.target});
    }
    // A source that does not compile is reported by the trial that needs it.
    compile::compile_all(backend_for(device_->info()), sources,
                         [&](size_t, const compile::Source& source, const Result<compile::Module>&) {
                           if (!options_.progress) return;
                           options_.progress(static_cast<int>(before), static_cast<int>(total),
                                             "compiling " + source.name);
                         });
  }

  void try_kernel(SelfTestSection& part, const KernelConfig& config, const ConvProblem& problem, bool exact) {
    TrialOptions trial;
    trial.exact = exact;
    trial.seed = 11;
    trial.time = false;
    trial.plan.kernel = name_of(config);
    trial.plan.deterministic = accepts(config, problem);
    trial.same = trial.plan.deterministic ? 3 : 1;
    const std::string repeat = replay_command(problem, device_->info().id, trial);
    const std::string what = fmt::format("{} on '{}'", name_of(config), to_text(problem));
    const auto plan = make_kernel_plan(device_, problem, config, "tried by the self-test");
    if (!plan.ok()) return check(part, what, plan.status(), repeat);
    const auto tensors = TrialTensors::make(device_, problem, exact, trial.seed);
    if (!tensors.ok()) return check(part, what, tensors.status(), repeat);
    check(part, what, run_trial(**tensors, **plan, trial).status, repeat);
  }

  // A NaN and an infinity in the input reach every output that depends on them, and no other.
  void non_finite(SelfTestSection& part) {
    for (const char* type : {"bf16", "fp16", "tf32", "fp32"}) {
      for (const char* sizes : {"n2 c16 k16 i6x7 f3x3 p1", "n2 c64 k64 g64 i6x7 f3x3 p1", "n2 c16 k16 i6x7 f1x1"}) {
        for (const char* direction : {"fwd", "bwd_data", "bwd_weight"}) {
          const Result<ConvProblem> problem = parse_problem(fmt::format("{} {} {}", direction, type, sizes));
          if (!problem.ok()) continue;
          for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
            check(part, fmt::format("{} in '{}'", std::isnan(value) ? "NaN" : "infinity", to_text(*problem)),
                  plant(*problem, value));
        }
      }
    }
  }

  Status plant(const ConvProblem& problem, float value) {
    PlanOptions strict;
    strict.strict_nonfinite = true;
    WT_TRY_ASSIGN(const auto plan, make_plan(device_, problem, strict));
    WT_TRY_ASSIGN(const auto tensors, TrialTensors::make(device_, problem, true, 7));
    WT_TRY(tensors->reserve_workspace(plan->workspace_bytes()));
    HostTensors host = make_tensors(problem, Fill::kExact, 7);
    const bool forward = problem.direction == Direction::kForward;
    Buffer& input = forward ? host.x : host.y;
    store(forward ? problem.x : problem.y, input.data(), 37, value);
    WT_TRY(device_->copy_in(tensors->pointers()[forward ? Tensor::kX : Tensor::kY], input.data(), input.size()));
    WT_TRY(plan->execute(tensors->pointers(), nullptr));
    WT_TRY(tensors->fetch_outputs());
    const Buffer& output = output_of(problem, tensors->host());
    const DataType type = problem.output_type();
    std::vector<ReferenceElement> elements;
    int64_t most = 0;  // products of an output that meets no padding
    for (int64_t i = 0; i < static_cast<int64_t>(output.size()) / size_of(type); ++i) {
      elements.push_back(reference_element(problem, host, i));
      most = std::max(most, elements.back().terms);
    }
    for (size_t i = 0; i < elements.size(); ++i) {
      const double right = elements[i].value;
      const float got = load(type, output.data(), static_cast<int64_t>(i));
      // Zeros of the padding are multiplied too, and zero times a NaN or infinity is a NaN.
      if (std::isfinite(right) == std::isfinite(got) || (elements[i].terms < most && std::isnan(got))) continue;
      return failure(Code::kVerificationFailed, "{} is {} instead of {} by {}",
                     output_position(problem, static_cast<int64_t>(i)), got, right, plan->description().kernel);
    }
    return {};
  }

  // Two streams run the same plans at once, on tensors of their own; the bits are those of a run alone.
  void streams(SelfTestSection& part) {
    if (!is_gpu(device_->info().kind)) return void(part.note = "only a GPU has streams");
    for (const char* text : {kPlain, kDivided}) check(part, fmt::format("two streams, '{}'", text), race(text));
  }

  struct Side {
    std::unique_ptr<TrialTensors> tensors;
    Stream stream = nullptr;
    std::string alone;  // the output's bytes of a run alone
  };

  Status race(const char* text) {
    WT_TRY_ASSIGN(const ConvProblem problem, parse_problem(text));
    WT_TRY_ASSIGN(const auto plan, make_plan(device_, problem, {}));
    std::vector<Side> sides(2);
    uint64_t seed = 1;
    for (Side& side : sides) {
      WT_TRY_ASSIGN(side.tensors, TrialTensors::make(device_, problem, false, seed++));
      WT_TRY(side.tensors->reserve_workspace(plan->workspace_bytes()));
      WT_TRY(plan->execute(side.tensors->pointers(), nullptr));
      WT_TRY_ASSIGN(side.alone, output(*side.tensors, nullptr));
    }
    for (Side& side : sides) {
      WT_TRY_ASSIGN(side.stream, device_->make_stream());
    }
    const Status status = race(*plan, sides);
    for (const Side& side : sides) WT_TRY(device_->destroy_stream(side.stream));
    return status;
  }

  Status race(const Plan& plan, std::vector<Side>& sides) {
    for (int round = 0; round < kRounds; ++round) {
      for (Side& side : sides) {
        WT_TRY(side.tensors->poison_outputs(side.stream));
        WT_TRY(plan.execute(side.tensors->pointers(), side.stream));
      }
    }
    for (Side& side : sides) {
      WT_TRY_ASSIGN(const std::string bytes, output(*side.tensors, side.stream));
      if (bytes != side.alone) {
        return failure(Code::kVerificationFailed, "a stream beside another one gives other bits than a run alone");
      }
    }
    return {};
  }

  // What lies in the output once the stream has come to its end.
  Result<std::string> output(TrialTensors& tensors, Stream stream) {
    WT_TRY(device_->synchronize(stream));
    WT_TRY(tensors.fetch_outputs());
    const Buffer& buffer = output_of(tensors.problem(), tensors.host());
    return std::string(reinterpret_cast<const char*>(buffer.data()), buffer.size());
  }

  // A captured plan gives the same bits at each replay.
  void graphs(SelfTestSection& part) {
    if (!is_gpu(device_->info().kind)) return void(part.note = "only a GPU has graphs");
    for (const char* text : {kPlain, kDivided}) check(part, fmt::format("a graph of '{}'", text), replay(text));
  }

  Status replay(const char* text) {
    WT_TRY_ASSIGN(const ConvProblem problem, parse_problem(text));
    WT_TRY_ASSIGN(const auto plan, make_plan(device_, problem, {}));
    WT_TRY_ASSIGN(const auto tensors, TrialTensors::make(device_, problem, false, 3));
    WT_TRY(tensors->reserve_workspace(plan->workspace_bytes()));
    WT_TRY(plan->execute(tensors->pointers(), nullptr));
    WT_TRY_ASSIGN(const std::string right, output(*tensors, nullptr));
    WT_TRY_ASSIGN(const Stream stream, device_->make_stream());
    const Status status = replay_on(stream, *plan, *tensors, right);
    WT_TRY(device_->destroy_stream(stream));
    return status;
  }

  Status replay_on(Stream stream, const Plan& plan, TrialTensors& tensors, const std::string& right) {
    WT_TRY_ASSIGN(const auto graph, device_->capture(stream, [&] { return plan.execute(tensors.pointers(), stream); }));
    for (int i = 0; i < 3; ++i) {
      WT_TRY(tensors.poison_outputs(stream));
      WT_TRY(graph->replay(stream));
      WT_TRY_ASSIGN(const std::string bytes, output(tensors, stream));
      if (bytes != right)
        return failure(Code::kVerificationFailed, "replay {} gives other bits than a direct run", i + 1);
    }
    return {};
  }

  // What cannot be had is refused with a message and leaves the device working; plans keep to a workspace limit.
  void memory(SelfTestSection& part) {
    const size_t too_much = static_cast<size_t>(std::max<int64_t>(device_->info().memory_bytes, 1)) * 64;
    const Result<void*> refused = device_->allocate(too_much);
    check(part, "more memory than there is",
          refused.ok() ? failure(Code::kVerificationFailed, "{} bytes were given", too_much) : Status());
    if (refused.ok()) check(part, "freeing it", device_->free(*refused));
    TrialOptions trial;
    trial.time = false;
    trial.plan.workspace_limit = 0;
    const Result<ConvProblem> problem = parse_problem(kDivided);
    const TrialResult result = run_trial(device_, *problem, trial);
    check(part, fmt::format("'{}' without a workspace", kDivided), result.status, result.replay);
    if (result.workspace_bytes > 0)
      check(part, "the limit", failure(Code::kVerificationFailed, "{} bytes of workspace", result.workspace_bytes));
  }

  std::shared_ptr<Device> device_;
  const SelfTestOptions& options_;
  std::vector<SelfTestSection> sections_;
  bool lost_ = false;
};

}  // namespace

std::vector<SelfTestSection> self_test(const std::shared_ptr<Device>& device, const SelfTestOptions& options) {
  return SelfTest(device, options).run();
}

}  // namespace wt
