// SPDX-License-Identifier: Apache-2.0
#include "python/aten/plans.h"

#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace wt::aten {
namespace {

// WHY so short: many programs set cudnn.benchmark, and a model has a hundred layers; wavetile.torch.tune takes its
// time.
constexpr double kBenchmarkSeconds = 1;

struct Hash {
  size_t operator()(const Request& request) const {
    // WHY by bytes: a request has no padding, every member is eight bytes wide.
    static_assert(sizeof(Request) % sizeof(uint64_t) == 0 && sizeof(Request) == 43 * sizeof(uint64_t));
    const auto* words = reinterpret_cast<const uint64_t*>(&request);
    size_t hash = 1469598103934665603ull;
    for (size_t i = 0; i < sizeof(Request) / sizeof(uint64_t); ++i) hash = (hash ^ words[i]) * 1099511628211ull;
    return hash;
  }
};

struct Fallback {
  std::string what, why;
  int64_t calls = 0;
};

struct Memory {
  std::shared_mutex plans_lock;
  std::unordered_map<Request, std::unique_ptr<Entry>, Hash> plans;
  std::mutex others_lock;
  std::map<std::pair<std::string, std::string>, int64_t> fallbacks;
  std::map<int64_t, wavetile_device*> devices;
  std::vector<std::unique_ptr<Entry>> replaced;  // by tuning; a call may still be using one
};

// WHY never destroyed: torch's threads may call while the process ends.
Memory& memory() {
  static auto& kept = *new Memory;
  return kept;
}

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') out += '\\';
    if (letter == '\n') {
      out += "\\n";
    } else {
      out += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
    }
  }
  return out + '"';
}

void make_bias_gradient(Entry& entry, wavetile_device* device, const wavetile_problem* problem, bool transposed) {
  const wavetile_role role = transposed ? WAVETILE_ROLE_TRANSPOSED_OUTPUT : WAVETILE_ROLE_Y;
  if (wavetile_bias_gradient_create(device, problem, role, &entry.bias_gradient) != WAVETILE_OK) {
    entry.decline = wavetile_last_error();
    return;
  }
  entry.workspace_bytes = wavetile_bias_gradient_workspace_bytes(entry.bias_gradient);
}

void make_plan(Entry& entry, wavetile_device* device, const wavetile_problem* problem, int asked, void* stream) {
  wavetile_plan_options options;
  wavetile_plan_options_init(&options);
  options.fallback = 1;
  options.stream = stream;
  if (asked & kBenchmark) {
    options.tuning = WAVETILE_TUNING_FIRST_USE;
    options.tuning_seconds = kBenchmarkSeconds;
  }
  if (rehearsal().tuning_seconds > 0) {
    options.tuning = WAVETILE_TUNING_FIRST_USE;
    options.tuning_seconds = rehearsal().tuning_seconds;
  }
  if (wavetile_plan_create(device, problem, &options, &entry.plan) != WAVETILE_OK) {
    entry.decline = wavetile_last_error();
    return;
  }
  entry.workspace_bytes = wavetile_plan_workspace_bytes(entry.plan);
}

std::unique_ptr<Entry> make_entry(const Request& request, void* stream) {
  auto entry = std::make_unique<Entry>();
  const int asked = flags(request.device);
  wavetile_problem* problem = nullptr;
  if (make_problem(request, &problem) != WAVETILE_OK) {
    entry->decline = wavetile_last_error();
    return entry;
  }
  entry->text = wavetile_problem_text(problem);
  if (asked & kCapturing) {
    wavetile_problem_destroy(problem);
    fail(("no plan for \"" + entry->text +
          "\" is ready, and none can be compiled while a CUDA graph is captured; call wavetile.torch.prepare(model, "
          "inputs), or run the model once, before the capture")
             .c_str());
  }
  wavetile_device* device = open_device(request.device);
  if (request.pass == static_cast<int64_t>(Pass::kBiasGradient)) {
    entry->text += " (bias gradient alone)";
    make_bias_gradient(*entry, device, problem, request.transposed);
  } else {
    make_plan(*entry, device, problem, asked, stream);
  }
  wavetile_problem_destroy(problem);
  return entry;
}

}  // namespace

Switches& switches() {
  static auto& kept = *new Switches;
  return kept;
}

Rehearsal& rehearsal() {
  static thread_local Rehearsal own;
  return own;
}

int flags(int64_t device) {
  const FlagsCallback ask = switches().flags.load(std::memory_order_acquire);
  return ask ? ask(static_cast<int>(device)) : 0;
}

wavetile_device* open_device(int64_t index) {
  const std::lock_guard hold(memory().others_lock);
  wavetile_device*& device = memory().devices[index];
  if (!device) {
    const std::string id = index < 0 ? "cpu" : "gpu:" + std::to_string(index);
    if (wavetile_device_open(id.c_str(), &device) != WAVETILE_OK) fail(wavetile_last_error());
  }
  return device;
}

Entry& entry_of(const Request& request, void* stream) {
  Memory& all = memory();
  const bool tuning = rehearsal().tuning_seconds > 0;
  {
    const std::shared_lock hold(all.plans_lock);
    const auto found = all.plans.find(request);
    if (found != all.plans.end() && (!tuning || found->second->tuned)) return *found->second;
  }
  // WHY without the lock: compiling takes a second, and other threads compile other plans meanwhile. Where two make the
  // same one, the library's own memory gives both the same, and the first stays.
  std::unique_ptr<Entry> made = make_entry(request, stream);
  made->tuned = tuning;
  const std::unique_lock hold(all.plans_lock);
  std::unique_ptr<Entry>& place = all.plans[request];
  if (place && !tuning) return *place;
  if (place) {
    made->calls = place->calls.load();
    all.replaced.push_back(std::move(place));
  }
  place = std::move(made);
  return *place;
}

void note_fallback(const std::string& what, const std::string& why) {
  const std::lock_guard hold(memory().others_lock);
  ++memory().fallbacks[{what, why}];
}

std::string report_json() {
  std::string plans, fallbacks;
  {
    const std::shared_lock hold(memory().plans_lock);
    for (const auto& [request, entry] : memory().plans) {
      if (!entry->plan && !entry->bias_gradient) continue;
      wavetile_plan_info info{.struct_size = sizeof info};
      if (entry->plan && wavetile_plan_get_info(entry->plan, &info) != WAVETILE_OK) continue;
      if (!plans.empty()) plans += ',';
      plans += "{\"problem\":" + json_string(entry->text) + ",\"device\":" + std::to_string(request.device) +
               ",\"calls\":" + std::to_string(entry->calls.load()) +
               ",\"kernel\":" + json_string(info.kernel ? info.kernel : "channel sums") +
               ",\"reason\":" + json_string(info.reason ? info.reason : "") +
               ",\"predicted_us\":" + std::to_string(info.predicted_us) +
               ",\"measured_us\":" + std::to_string(info.measured_us) +
               ",\"workspace_bytes\":" + std::to_string(entry->workspace_bytes) + "}";
    }
  }
  const std::lock_guard hold(memory().others_lock);
  for (const auto& [key, calls] : memory().fallbacks) {
    if (!fallbacks.empty()) fallbacks += ',';
    fallbacks += "{\"problem\":" + json_string(key.first) + ",\"why\":" + json_string(key.second) +
                 ",\"calls\":" + std::to_string(calls) + "}";
  }
  return "{\"plans\":[" + plans + "],\"fallbacks\":[" + fallbacks + "]}";
}

void clear_report() {
  {
    const std::shared_lock hold(memory().plans_lock);
    for (const auto& [request, entry] : memory().plans) entry->calls = 0;
  }
  const std::lock_guard hold(memory().others_lock);
  memory().fallbacks.clear();
}

}  // namespace wt::aten
