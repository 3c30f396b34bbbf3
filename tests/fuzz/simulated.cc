// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/simulated.h"

#include <stdlib.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

#include "base/check.h"
#include "config/enum_names.h"
#include "config/fields.h"
#include "config/signature.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/choice/selection.h"
#include "dispatch/plan/first_rows.h"
#include "dispatch/plan/kernel.h"
#include "dispatch/plan/transposed.h"
#include "dispatch/trial/small_problem.h"
#include "dispatch/trial/trial.h"
#include "kernels/constraints.h"
#include "kernels/kind.h"
#include "problem/measures.h"
#include "problem/random_problem.h"
#include "runtime/sim/device.h"

namespace wt::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int kProblems = 24;        // per kernel
constexpr int kAttempts = 400;       // to find them
constexpr double kMost = 1 << 22;    // multiply-adds of one problem
constexpr double kTiles = 36;        // of 64x64x64 products
constexpr double kBeyond = 1 << 24;  // of one that shrinking made
constexpr std::string_view kCompletions[] = {"early", "late", "random"};

// Steps that random_problem does not draw; each stays where the problem is valid with it.
void widen(Random& random, ConvProblem& p) {
  const auto keep_if_valid = [&](ConvProblem wider) {
    if (validate(wider).ok()) p = std::move(wider);
  };
  if (random.chance(0.15)) {
    ConvProblem wider = p;
    wider.epilogue.added = static_cast<int>(random.between(1, 2));
    for (int i = 0; i < wider.epilogue.added; ++i)
      wider.epilogue.betas[static_cast<size_t>(i)] = random.pick({1.f, -2.f});
    keep_if_valid(wider);
  }
  if (random.chance(0.15)) {
    ConvProblem wider = p;
    wider.epilogue.activation = Activation::kNone;
    wider.epilogue.gradient = static_cast<Activation>(random.between(1, kActivationCount - 1));
    keep_if_valid(wider);
  }
  if (p.direction == Direction::kBackwardWeight && random.chance(0.2)) {
    ConvProblem wider = p;
    wider.bias_gradient = random.pick({BiasGradient::kOfY, BiasGradient::kOfX});
    keep_if_valid(wider);
  }
}

// Channels that fill the vectors and tiles of kernels, which those of random_problem seldom do.
void round_channels(Random& random, ConvProblem& p) {
  const int64_t per_group = random.pick<int64_t>({1, 2, 4, 8, 8, 16, 16, 32, 48, 64, 64, 96, 128});
  const int64_t other = random.chance(0.5) ? per_group : random.pick<int64_t>({1, 3, 8, 16, 24, 64, 128});
  p.g = random.chance(0.7) ? 1 : random.pick<int64_t>({2, 4, 8, 16});
  p.c = p.g * per_group, p.k = p.g * other;
  if (p.g > 1 && p.c * p.k > 256 * 256) p.c = p.k = p.g * 8;
}

bool fits(const ConvProblem& p) { return validate(p).ok() && p.flops() / 2 <= kMost; }

ConvProblem base_problem(Random& random) {
  while (true) {
    ConvProblem p = random_problem(
        random, {.max_multiply_adds = int64_t{1} << 18, .epilogues = random.chance(0.6), .scaled = true});
    if (random.chance(0.75) && !p.has_scales()) round_channels(random, p);
    if (random.chance(0.2) && !p.has_scales()) {  // depthwise
      p.g = p.c = p.k = random.pick<int64_t>({3, 8, 16, 32, 64, 72});
    }
    widen(random, p);
    if (fits(p)) return p;
  }
}

// Whether the simulator has it in some milliseconds. Kernels of the GEMM family multiply whole tiles, which small
// groups, few channels and few pixels do not fill.
bool affordable(const KernelConfig& config, const ConvProblem& p) {
  if (config.family() == Family::kDirect) return p.flops() / 2 <= kMost;
  const auto tiles = [](int64_t count) { return static_cast<double>((count + 63) / 64); };
  int64_t taps = 1, pixels = p.n;
  for (int i = kMaxDims - p.dims; i < kMaxDims; ++i) {
    taps *= p.filter[i];
    pixels *= p.direction == Direction::kBackwardData ? p.in[i] : p.out()[i];
  }
  return tiles(p.c / p.g) * tiles(p.k / p.g) * tiles(pixels) * static_cast<double>(p.g * taps) <= kTiles;
}

// The problem that a kernel of this config sees: a channels-last kernel serves others between transpositions, and one
// that reads no history those with one, for all rows but the first.
ConvProblem seen_by(const KernelConfig& config, const ConvProblem& problem) {
  const bool apart = problem.history && !config.direct.history;
  const ConvProblem own = apart ? main_part(kernel_problem(problem)) : kernel_problem(problem);
  return own.layout != config.layout && config.layout == Layout::kChannelsLast ? channels_last(own) : own;
}

bool serves(const KernelConfig& config, const ConvProblem& problem, bool deterministic) {
  const ConvProblem seen = seen_by(config, problem);
  return signature_difference(config, seen).empty() && accepts(config, seen, {.deterministic = deterministic});
}

// A problem and a kernel that takes it, or takes it with other sizes.
struct Pair {
  ConvProblem problem;
  KernelConfig kernel;
};

template <class T>
const T& one_of(Random& random, const std::vector<T>& some) {
  return some[static_cast<size_t>(random.between(0, static_cast<int64_t>(some.size()) - 1))];
}

// One of the kernels that take a random problem, every kind as often as the others.
std::optional<Pair> kernel_of_problem(Random& random, const ConvProblem& problem, Target target) {
  PlanOptions options;
  options.deterministic = false;
  options.tuning = Tuning::kOff;
  ConvProblem seen = kernel_problem(problem);
  if (seen.layout == Layout::kChannelsFirst && random.chance(0.4)) seen = channels_last(seen);
  std::map<Kind, std::vector<const KernelConfig*>> kinds;
  for (const RankedConfig& ranked : rank(seen, usual_rates(target), options))
    kinds[ranked.config->kind].push_back(ranked.config);
  if (kinds.size() > 1 && random.chance(0.8)) kinds.erase(Kind::kBasic);  // which takes everything
  if (kinds.empty()) return std::nullopt;
  const auto& some = std::next(kinds.begin(), random.between(0, static_cast<int64_t>(kinds.size()) - 1))->second;
  return Pair{problem, *one_of(random, some)};
}

// A kernel of the kind with the signature of a random problem, and a problem of sizes that its kind asks for. WHY: most
// kinds take few of all problems, so that few random problems meet them.
std::optional<Pair> problem_of_kernel(Random& random, const ConvProblem& problem, Target target, Kind kind) {
  ConvProblem seen = kernel_problem(problem);
  if (random.chance(0.8)) seen = channels_last(seen);
  if (kind == Kind::kDepthwiseStep) seen.history = seen.dims == 1 && seen.direction == Direction::kForward;
  std::vector<KernelConfig> all, some;
  propose(config_for(seen, target), Breadth::kAll, all);
  std::ranges::copy_if(all, std::back_inserter(some), [&](const KernelConfig& c) { return c.kind == kind; });
  if (some.empty()) return std::nullopt;
  const KernelConfig& config = one_of(random, some);
  if (!is_valid(config)) return std::nullopt;
  KernelConfig plain = config;
  plain.epilogue = {};
  std::optional<ConvProblem> sizes = small_problem_for(plain);
  if (!sizes) return std::nullopt;
  sizes->epilogue = seen.epilogue;
  sizes->bias_gradient = problem.bias_gradient;
  if (!validate(*sizes).ok() || !serves(config, *sizes, false)) return std::nullopt;
  if (random.chance(0.15)) sizes->layout = Layout::kChannelsFirst;
  return Pair{*sizes, config};
}

// The same problem going on from a history, for a kernel that serves it so too.
Pair with_history(Random& random, const Pair& plain) {
  ConvProblem p = plain.problem;
  const int time = p.time();
  if (p.history || p.filter[time] == 1 || p.bias_gradient == BiasGradient::kOfX) return plain;
  p.pad_lower[time] = p.history_length();
  p.pad_upper[time] = 0;
  p.history = true;
  p.new_history = p.direction != Direction::kBackwardWeight && p.in[time] % p.stride[time] == 0 && random.chance(0.5);
  return fits(p) && serves(plain.kernel, p, false) ? Pair{p, plain.kernel} : plain;
}

// Kinds of the target in turn; most kernels of a kind that few problems meet.
std::optional<Pair> draw(Random& random, Target target) {
  if (random.chance(0.25)) return kernel_of_problem(random, base_problem(random), target);
  std::vector<Kind> kinds;
  for (const KernelKind* kind : kernel_kinds())
    if (kind->is_for(target) && kind->id != Kind::kBasic) kinds.push_back(kind->id);
  const Kind kind = one_of(random, kinds);
  for (int i = 0; i < 40; ++i)
    if (std::optional<Pair> pair = problem_of_kernel(random, base_problem(random), target, kind)) return pair;
  return std::nullopt;
}

// The same signature with other sizes.
ConvProblem varied(Random& random, const ConvProblem& base) {
  ConvProblem p = base;
  if (random.chance(0.5)) p.n = random.between(1, 4);
  const int64_t step = std::max<int64_t>(1, random.pick<int64_t>({1, 8, 16}));
  if (random.chance(0.4)) p.c = std::max<int64_t>(1, p.c / p.g + step * random.between(-3, 4)) * p.g;
  if (random.chance(0.4)) p.k = std::max<int64_t>(1, p.k / p.g + step * random.between(-3, 4)) * p.g;
  if (base.c == base.g && base.k % base.g == 0) p.c = p.g, p.k = p.g * (base.k / base.g);
  if (random.chance(0.1) && p.g > 1) {
    const int64_t groups = random.between(1, 2 * p.g);
    p.c = p.c / p.g * groups, p.k = p.k / p.g * groups, p.g = groups;
  }
  for (int i = kMaxDims - p.dims; i < kMaxDims; ++i) {
    if (random.chance(0.6)) p.in[i] = random.chance(0.1) ? random.between(1, 70) : random.between(1, 20);
    if (random.chance(0.15)) p.filter[i] = random.between(1, 7);
    if (random.chance(0.15)) p.stride[i] = random.between(1, 4);
    if (random.chance(0.15)) p.dilation[i] = random.between(1, 3);
    const int64_t reach = p.dilation[i] * (p.filter[i] - 1) + 1;
    if (random.chance(0.3)) p.pad_lower[i] = random.between(0, reach);
    if (random.chance(0.3)) p.pad_upper[i] = random.chance(0.5) ? p.pad_lower[i] : random.between(0, reach);
  }
  if (p.history) {
    const int time = p.time();
    p.pad_lower[time] = p.history_length();
    p.pad_upper[time] = 0;
    p.new_history = p.new_history && p.in[time] % p.stride[time] == 0;
  }
  return p;
}

std::optional<KernelConfig> kernel_called(const std::string& name, const ConvProblem& problem, Target target) {
  PlanOptions options;
  options.deterministic = false;
  std::vector<ConvProblem> all = {kernel_problem(problem)};
  if (problem.history) all.push_back(main_part(all.front()));
  for (size_t i = all.size(); i-- > 0;) all.push_back(channels_last(all[i]));
  for (const ConvProblem& seen : all)
    for (const RankedConfig& ranked : rank(seen, usual_rates(target), options))
      if (name_of(*ranked.config) == name) return *ranked.config;
  return std::nullopt;
}

// WHY not always by its name through make_plan: that looks at every other kernel too, which takes longer than the
// simulation.
TrialResult trial(const std::shared_ptr<Device>& device, const ConvProblem& problem, const KernelConfig& config,
                  const TrialOptions& options) {
  const bool turned = problem.layout != config.layout;
  if (!serves(config, problem, false) || turned || problem.bias_gradient != BiasGradient::kNone || problem.history)
    return run_trial(device, problem, options);
  TrialResult result;
  const auto plan = make_kernel_plan(device, problem, config, "fuzzed");
  const auto tensors = TrialTensors::make(device, problem, options.exact, options.seed);
  if (plan.ok() && tensors.ok()) return run_trial(**tensors, **plan, options);
  result.status = plan.ok() ? tensors.status() : plan.status();
  return result;
}

struct Header {
  std::string device, completion, data, kind, kernel;
  uint64_t seed = 0;
  int same = 1;
};

std::optional<Header> parse_header(const std::string& line) {
  std::istringstream words(line);
  Header h;
  std::string seed, same, by;
  words >> h.device >> seed >> h.seed >> h.completion >> h.data >> same >> h.same >> by >> h.kind >> h.kernel;
  if (!words || seed != "seed" || same != "same" || by != "by" || !h.device.starts_with("sim:")) return std::nullopt;
  return h;
}

}  // namespace

Simulated::Simulated() {
  std::string name = (fs::temp_directory_path() / "wavetile_fuzz_cache.XXXXXX").string();
  WT_CHECK(::mkdtemp(name.data()) != nullptr, "no folder can be made in {}", fs::temp_directory_path().string());
  cache_ = name;
  ::setenv("WAVETILE_CACHE_DIR", name.c_str(), 1);
  ::setenv("WAVETILE_CACHE_LIMIT_MB", "64", 1);
  ::setenv("WAVETILE_CXX_FLAGS", "-O1", 0);
}

Simulated::~Simulated() {
  std::error_code error;
  fs::remove_all(cache_, error);
}

std::string Simulated::generate(Random& random) const {
  const std::vector<DeviceInfo> devices = list_sim_devices();
  while (true) {
    const DeviceInfo& device =
        devices[static_cast<size_t>(random.between(0, static_cast<int64_t>(devices.size()) - 1))];
    const std::optional<Pair> pair = draw(random, device.target);
    if (!pair) continue;
    const Pair drawn = random.chance(0.15) ? with_history(random, *pair) : *pair;
    const ConvProblem& base = drawn.problem;
    const KernelConfig* const config = &drawn.kernel;
    bool deterministic = true;
    std::vector<std::string> problems;
    for (int i = 0; i < kAttempts && static_cast<int>(problems.size()) < kProblems; ++i) {
      const ConvProblem p = i == 0 ? base : varied(random, base);
      if (!fits(p) || !affordable(*config, p) || !serves(*config, p, false)) continue;
      const std::string text = to_text(p);
      if (std::ranges::find(problems, text) != problems.end()) continue;
      problems.push_back(text);
      deterministic = deterministic && serves(*config, p, true);
    }
    if (problems.empty()) continue;
    std::string input =
        fmt::format("{} seed {} {} {} same {} by {} {}\n", device.id, random.between(1, 1 << 30),
                    kCompletions[random.between(0, 2)], random.chance(0.7) ? "exact" : "random",
                    deterministic && random.chance(0.25) ? 2 : 1, text_of(config->kind), name_of(*config));
    for (const std::string& text : problems) input += text + "\n";
    return input;
  }
}

std::string Simulated::run(const std::string& input) const {
  account_.clear();
  const std::string nothing = demanding_ ? "nothing of this case could be run: is its kernel still proposed?" : "";
  std::istringstream lines(input);
  std::string line;
  std::getline(lines, line);
  const std::optional<Header> header = parse_header(line);
  if (!header) return nothing;  // shrinking goes through such
  const auto target = from_text<Target>(header->device.substr(4));
  if (!target) return nothing;
  sim::Options simulation;
  simulation.seed = header->seed;
  const auto completion = std::ranges::find(kCompletions, header->completion);
  if (completion == std::end(kCompletions)) return nothing;
  simulation.completion = static_cast<sim::Completion>(completion - std::begin(kCompletions));
  simulation.threads = 1;  // the same run again
  const auto device = open_sim_device(*target, simulation);
  if (!device.ok()) return nothing;
  TrialOptions options;
  options.exact = header->data == "exact";
  options.seed = header->seed;
  options.time = false;
  options.same = header->same;
  options.plan.deterministic = false;
  options.plan.tuning = Tuning::kOff;
  options.plan.kernel = header->kernel;
  int right = 0, declined = 0;
  std::optional<KernelConfig> config;
  while (std::getline(lines, line)) {
    const Result<ConvProblem> problem = parse_problem(line);
    if (!problem.ok() || problem->flops() / 2 > kBeyond) continue;
    if (!config) config = kernel_called(header->kernel, *problem, *target);
    if (!config) break;
    const TrialResult result = trial(*device, *problem, *config, options);
    if (result.status.code() == Code::kUnsupported || result.status.code() == Code::kBadInput) {
      ++declined;
    } else if (!result.status.ok() || !result.verified) {
      return fmt::format("{} on '{}': {}", header->kernel, line, result.status.message());
    } else {
      ++right;
    }
  }
  if (right == 0 && demanding_) return nothing;
  uint64_t hash = 0;
  for (const char c : header->kernel) hash = mix64(hash ^ static_cast<unsigned char>(c));
  account_ = fmt::format("{} {} {:08x} {} {}", text_of(*target), header->kind, hash >> 32, right, declined);
  return "";
}

}  // namespace wt::fuzz
