// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/selftest.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json_value.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/show/progress.h"
#include "cli/show/table.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "compile/compiler.h"
#include "config/targets.h"
#include "conformance/isolated.h"
#include "conformance/run.h"
#include "dispatch/choice/packs.h"
#include "dispatch/trial/self_test.h"

namespace wt::cli {
namespace {

using Json = OrderedJson;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Each primitive against the bytes that are right, and misuse that must fault, in child processes: a fault costs a
// process its GPU.
std::vector<SelfTestSection> primitives(const std::string& id, Target target, bool progress) {
  SelfTestSection right{.name = "primitives"}, faults{.name = "faults"};
  const auto start = Clock::now();
  const std::vector<conformance::Probe> probes = conformance::probes(target);
  Progress bar(static_cast<int>(probes.size()), progress);
  const auto results = conformance::run_isolated(
      id, probes, [&](size_t done) { bar.show(static_cast<int>(done), "primitives and faults"); });
  bar.clear();
  if (!results.ok()) right.faults.push_back({"primitives", results.status().message(), ""});
  for (size_t i = 0; results.ok() && i < probes.size(); ++i) {
    const conformance::Probe& probe = probes[i];
    SelfTestSection& part = probe.refused.empty() ? right : faults;
    ++part.checks;
    const Result<conformance::Bytes>& bytes = (*results)[i];
    std::string fault;
    if (!probe.refused.empty()) {
      if (bytes.ok()) fault = "misuse that must fault went unnoticed";
    } else if (bytes.ok()) {
      fault = to_text(conformance::compare(*bytes, probe.expected), bytes->size(), "here", "right");
    } else {
      fault = bytes.status().message();
    }
    if (fault.empty()) continue;
    part.faults.push_back(
        {probe.name, fault, fmt::format("wavetile conformance --device {} --filter '{}'", id, probe.name)});
  }
  right.seconds = since(start);
  return {std::move(right), std::move(faults)};
}

void print(const std::vector<SelfTestSection>& sections) {
  const Table table(
      {{"part", 18}, {"checks", 6, true}, {"failed", 6, true}, {"seconds", 7, true}, {"", 60, false, true}},
      output_columns());
  fmt::print("{}", table.header());
  for (const SelfTestSection& part : sections) {
    std::string note = part.note;
    if (part.skipped > 0) note += fmt::format("; {} kernels were left out: the time was up", part.skipped);
    fmt::print("{}", table.row({part.name, fmt::format("{}", part.checks), fmt::format("{}", part.faults.size()),
                                fmt::format("{:.1f}", part.seconds), note}));
  }
  for (const SelfTestSection& part : sections) {
    for (const SelfTestFault& fault : part.faults) {
      fmt::print("FAILED {}: {}\n", fault.what, fault.detail);
      if (!fault.repeat.empty()) fmt::print("  repeat with: {}\n", fault.repeat);
    }
  }
}

Json to_json(const DeviceInfo& device, const std::vector<SelfTestSection>& sections, bool passed) {
  Json json = document("selftest");
  json["device"] = device_json(device);
  const Result<std::string> compiler = compile::compiler_version(backend_for(device));
  json["compiler"] = compiler.ok() ? *compiler : compiler.status().message();
  json["passed"] = passed;
  json["sections"] = Json::array();
  for (const SelfTestSection& part : sections) {
    Json item = {{"name", part.name}, {"checks", part.checks}, {"skipped", part.skipped}, {"seconds", part.seconds}};
    if (!part.note.empty()) item["note"] = part.note;
    item["faults"] = Json::array();
    for (const SelfTestFault& fault : part.faults)
      item["faults"].push_back({{"what", fault.what}, {"detail", fault.detail}, {"repeat", fault.repeat}});
    json["sections"].push_back(std::move(item));
  }
  return json;
}

Result<bool> selftest(const SelftestOptions& options) {
  // WHY before the device is opened: children that open a GPU must be forked from a process without one.
  WT_TRY_ASSIGN(const DeviceInfo info, conformance::isolated_info(options.device));
  if (info.kind == DeviceKind::kCpu)
    return unsupported(
        "the self-test is for GPUs and simulators; 'wavetile bench quick --device cpu' verifies the CPU");
  const InterruptGuard guard;
  std::vector<SelfTestSection> sections;
  if (is_gpu(info.kind)) sections = primitives(info.id, info.target, options.progress);
  WT_TRY_ASSIGN(const std::shared_ptr<Device> device, open_device(options.device));
  SelfTestOptions test;
  test.seconds = options.minutes * 60;
  test.most_kernels = options.kernels;
  test.stop = interrupted;
  Progress bar(100, options.progress);
  test.progress = [&](int done, int total, const std::string& what) {
    bar.show(100 * done / std::max(total, 1), what);
  };
  for (SelfTestSection& part : self_test(device, test)) sections.push_back(std::move(part));
  bar.clear();
  const bool passed =
      !interrupted() && std::ranges::all_of(sections, [](const auto& part) { return part.faults.empty(); });
  print(sections);
  WT_TRY(write_file(options.output, json_text(to_json(info, sections, passed)), FileKind::kDurable));
  fmt::print("{}: {} ({}); the result is in {}\n", passed ? "passed" : "FAILED", info.name, info.id, options.output);
  return passed;
}

}  // namespace

int run_selftest(const SelftestOptions& options) {
  const Result<bool> passed = selftest(options);
  if (!passed.ok()) return report_failure(passed.status());
  return *passed ? kExitGood : kExitVerificationFailed;
}

}  // namespace wt::cli
