// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/conformance.h"

#include <fnmatch.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.h"
#include "base/json_value.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/show/progress.h"
#include "cli/show/table.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "config/targets.h"
#include "conformance/isolated.h"
#include "conformance/run.h"
#include "dispatch/choice/proven.h"
#include "runtime/sim/device.h"

namespace wt::cli {
namespace {

using conformance::Bytes;
using conformance::Probe;
using conformance::Suite;
using Json = OrderedJson;

struct Completion {
  const char* name;
  sim::Completion when;
};
constexpr Completion kCompletions[] = {
    {"early", sim::Completion::kEarly}, {"late", sim::Completion::kLate}, {"random", sim::Completion::kRandom}};

struct Row {
  std::string name;
  size_t bytes = 0;
  std::string simulator;  // what is wrong with its bytes; empty: nothing
  std::string device;     // how the GPU's differ from the simulator's; empty: not at all
  bool compared = false;  // with a GPU
  bool good() const { return simulator.empty() && device.empty(); }
};

// The device that is asked for, and the simulator of its target.
struct Devices {
  std::optional<DeviceInfo> gpu;  // empty: the simulator alone
  Target target = Target::kSm90a;
  std::string without;  // why there is no GPU
};

Result<Devices> find_devices(const std::string& id) {
  Devices devices;
  Result<DeviceInfo> info = conformance::isolated_info(id == "auto" ? "gpu" : id);
  if (!info.ok() && id == "auto") {
    const std::string no_nvidia = info.status().message();
    info = conformance::isolated_info("hip");
    if (!info.ok()) {
      devices.without = no_nvidia + "; " + info.status().message();
      return devices;
    }
  }
  if (!info.ok()) return info.status();
  if (info->kind == DeviceKind::kCpu) {
    std::string known;
    for (const DeviceInfo& simulator : list_sim_devices())
      known += (known.empty() ? "" : ", ") + std::string(info_of(simulator.target).name);
    return unsupported("there are no probes for {}; they exist for GPUs and simulators of {}", info->id, known);
  }
  devices.target = info->target;
  if (is_gpu(info->kind)) {
    devices.gpu = *info;
  } else {
    devices.without = "the simulator was asked for";
  }
  return devices;
}

// The simulator under every completion policy.
class Simulators {
 public:
  static Result<Simulators> prepare(Target target, const std::vector<Probe>& probes, bool progress) {
    Simulators simulators;
    Progress bar(static_cast<int>(conformance::sources_of(probes, target).size()), progress);
    for (const Completion& completion : kCompletions) {
      WT_TRY_ASSIGN(sim::Options options, sim::Options::from_environment());
      options.completion = completion.when;
      WT_TRY_ASSIGN(auto device, open_sim_device(target, options));
      WT_TRY_ASSIGN(Suite suite, Suite::prepare(device, probes, [&](size_t done, const auto& source, const auto&) {
                      bar.show(static_cast<int>(done), "compiling " + source.name);
                    }));
      simulators.suites_.push_back(std::move(suite));
    }
    return simulators;
  }

  // What is wrong with the simulator's answer; the bytes it left go to `bytes`.
  std::string fault_in(const Probe& probe, Bytes& bytes) {
    for (size_t i = 0; i < suites_.size(); ++i) {
      const Result<Bytes> result = suites_[i].run(probe);
      std::string fault;
      if (!probe.refused.empty()) {
        if (result.ok()) fault = fmt::format("no report, but one that says '{}' is due", probe.refused);
        if (!result.ok() && result.status().message().find(probe.refused) == std::string::npos)
          fault = fmt::format("not the report that is due ('{}'): {}", probe.refused, result.status().message());
      } else if (result.ok()) {
        bytes = *result;
        fault = to_text(conformance::compare(bytes, probe.expected), bytes.size(), "simulated", "right");
      } else {
        fault = result.status().message();
      }
      if (!fault.empty()) return fmt::format("{} (completion {})", fault, kCompletions[i].name);
    }
    return "";
  }

 private:
  std::vector<Suite> suites_;
};

// How the GPU's answer differs from the simulator's.
std::string gpu_fault(const Probe& probe, const Result<Bytes>& gpu, const Bytes& simulated) {
  if (!probe.refused.empty()) return gpu.ok() ? "the GPU runs it, though the simulator knows a limit" : "";
  if (!gpu.ok()) return gpu.status().message();
  if (simulated.empty()) {
    return to_text(conformance::compare(*gpu, probe.expected), gpu->size(), "on the GPU", "right");
  }
  return to_text(conformance::compare(*gpu, simulated), gpu->size(), "on the GPU", "simulated");
}

Json row_json(const Row& row) {
  Json json = {{"probe", row.name}, {"bytes", row.bytes}, {"compared_with_gpu", row.compared}, {"equal", row.good()}};
  if (!row.simulator.empty()) json["simulator"] = row.simulator;
  if (!row.device.empty()) json["gpu"] = row.device;
  return json;
}

Json report_json(const Devices& devices, const std::vector<Row>& rows, const std::string& command) {
  Json json = document(command);
  json["target"] = std::string(info_of(devices.target).name);
  if (devices.gpu) {
    json["device"] = device_json(*devices.gpu);
  } else {
    json["without_gpu"] = devices.without;
  }
  Json compilers = Json::object();
  for (const auto backend : {compile::Backend::kHost, compile::backend_of(devices.target)}) {
    if (backend != compile::Backend::kHost && !devices.gpu) continue;
    if (const auto version = compile::compiler_version(backend); version.ok()) compilers[name_of(backend)] = *version;
  }
  json["compilers"] = std::move(compilers);
  size_t failed = 0, compared = 0;
  Json list = Json::array();
  for (const Row& row : rows) {
    failed += !row.good();
    compared += row.compared;
    list.push_back(row_json(row));
  }
  json["probes"] = rows.size();
  json["compared_with_gpu"] = compared;
  json["failed"] = failed;
  json["rows"] = std::move(list);
  return json;
}

void print_summary(const Devices& devices, const std::vector<Row>& rows, int columns) {
  size_t failed = 0, bytes = 0;
  for (const Row& row : rows) {
    failed += !row.good();
    bytes += row.bytes;
  }
  const std::string count = fmt::format("{} probes, {} bytes each way", rows.size(), bytes);
  if (devices.gpu) {
    const DeviceInfo& info = *devices.gpu;
    fmt::print("\n{}: {}, driver {}.{}, {}\n", count, info.name, info.driver_version / 1000,
               info.driver_version % 1000 / 10,
               failed ? fmt::format("{} DIFFER", failed) : "and the simulator agree bit for bit");
    return;
  }
  fmt::print("\n{}: {}\n", count,
             failed ? fmt::format("{} FAILED", failed) : "the simulator leaves what the manuals say");
  fmt::print(
      "{}", wrap(fmt::format("NOT compared with a GPU: {}. Expected bytes were computed on the host.", devices.without),
                 columns, ""));
}

// Forms of kernels that rest on what the probes of this GPU have shown may be chosen from now on, or no longer.
Status record_forms(const DeviceInfo& gpu, const std::vector<Row>& rows, bool quiet) {
  std::vector<ProbeResult> results;
  for (const Row& row : rows) results.push_back({row.name, row.good() && row.compared});
  std::vector<std::string> known;
  for (const Probe& probe : conformance::probes(gpu.target)) known.push_back(probe.name);
  WT_TRY_ASSIGN(const std::set<std::string> proven, record_probes(gpu, results, known));
  if (quiet) return {};
  for (const std::string& form : proven) fmt::print("form {} is proven on this GPU; its kernels may be chosen\n", form);
  return {};
}

Status run_all(const ConformanceOptions& options, int& code) {
  WT_TRY_ASSIGN(const Devices devices, find_devices(options.device));
  std::vector<Probe> probes = conformance::probes(devices.target);
  if (!options.filter.empty()) {
    std::erase_if(probes, [&](const Probe& p) { return ::fnmatch(options.filter.c_str(), p.name.c_str(), 0) != 0; });
    if (probes.empty()) {
      return bad_input("no probe's name matches '{}'; wavetile conformance --list shows them", options.filter);
    }
  }
  if (options.list) {
    for (const Probe& probe : probes) fmt::print("{}\n", probe.name);
    return {};
  }
  const bool quiet = options.json == "-";  // standard output is the document's
  // WHY the GPU first: its probes run in children, which must be made before this process has threads.
  std::vector<Result<Bytes>> gpu;
  if (devices.gpu) {
    Progress bar(static_cast<int>(probes.size()), options.progress);
    bar.show(0, "compiling");
    WT_TRY_ASSIGN(gpu, conformance::run_isolated(devices.gpu->id, probes, [&](size_t done) {
                    bar.show(static_cast<int>(done), probes[done - 1].name);
                  }));
  }
  const InterruptGuard guard;
  WT_TRY_ASSIGN(Simulators simulators, Simulators::prepare(simulated_as(devices.target), probes, options.progress));

  size_t widest = 0;
  for (const Probe& probe : probes) widest = std::max(widest, probe.name.size());
  const Table table({{"probe", static_cast<int>(widest), false, true}, {"bytes", 8, true}, {"result", 40, false, true}},
                    output_columns());
  if (!quiet) fmt::print("{}", table.header());
  std::vector<Row> rows;
  for (const Probe& probe : probes) {
    if (interrupted()) {
      code = kExitInterrupted;
      break;
    }
    Bytes simulated;
    Row row{probe.name, probe.refused.empty() ? probe.output.size() : 0, simulators.fault_in(probe, simulated), "",
            false};
    if (devices.gpu) {
      row.device = gpu_fault(probe, gpu[rows.size()], simulated);
      row.compared = !probe.refused.empty() || (gpu[rows.size()].ok() && !simulated.empty());
    }
    rows.push_back(row);
    if (!row.good()) code = kExitVerificationFailed;
    if (quiet) continue;
    const char* good = !probe.refused.empty() ? "refused" : row.compared ? "equal" : "as expected";
    fmt::print("{}", table.row({row.name, fmt::format("{}", row.bytes), row.good() ? good : "DIFFERS"}));
    if (!row.simulator.empty()) fmt::print("  simulator: {}\n", row.simulator);
    if (!row.device.empty()) fmt::print("  gpu: {}\n", row.device);
  }
  if (!quiet) print_summary(devices, rows, output_columns());
  if (devices.gpu) WT_TRY(record_forms(*devices.gpu, rows, quiet));
  if (options.json.empty()) return {};
  const std::string text = json_text(report_json(devices, rows, "wavetile conformance --device " + options.device));
  if (quiet) {
    fmt::print("{}", text);
    return {};
  }
  return write_file(options.json, text);
}

}  // namespace

int run_conformance(const ConformanceOptions& options) {
  int code = kExitGood;
  if (const Status status = run_all(options, code); !status.ok()) return report_failure(status);
  return code;
}

}  // namespace wt::cli
