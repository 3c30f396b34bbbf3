// SPDX-License-Identifier: Apache-2.0
#include "cli/show/trial_json.h"

#include <ctime>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json_rows.h"
#include "base/version.h"

namespace wt::cli {

using Json = OrderedJson;

namespace {

const char* kind_name(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kCuda:
      return "cuda";
    case DeviceKind::kSim:
      return "sim";
    case DeviceKind::kHip:
      return "hip";
  }
  return "";
}

Json verification_json(const TrialResult& trial) {
  const VerifyReport& report = trial.verification;
  return {{"verified", trial.verified},     {"elements", report.elements},
          {"compared", report.compared},    {"wrong", report.wrong},
          {"unwritten", report.unwritten},  {"nan", report.nan},
          {"worst_of_bound", report.worst}, {"rounded_otherwise", report.rounded_otherwise},
          {"same_bits", trial.same + 1}};
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

Json device_json(const DeviceInfo& device) {
  Json json = {{"id", device.id},
               {"kind", kind_name(device.kind)},
               {"name", device.name},
               {"multiprocessors", device.multiprocessors},
               {"memory_bytes", device.memory_bytes},
               {"driver_version", device.driver_version}};
  if (!device.architecture.empty()) json["architecture"] = device.architecture;
  return json;
}

Json trial_json(const TrialResult& trial) {
  Json json = {{"problem", to_text(trial.problem)},
               {"direction", name_of(trial.problem.direction)},
               {"device", trial.device.id},
               {"kernel", trial.plan.kernel},
               {"reason", trial.plan.reason},
               {"registers", trial.plan.registers},
               {"spill_bytes", trial.plan.spill_bytes},
               {"compile_seconds", trial.plan.compile_seconds},
               {"launches", trial.plan.launches},
               {"finite_only", trial.plan.finite_only},
               {"workspace_bytes", trial.workspace_bytes},
               {"flops", trial.problem.flops()},
               {"verification", verification_json(trial)},
               {"first_seconds", trial.first_seconds}};
  if (trial.timing) {
    json["timing"] = {{"median_us", trial.timing->median_us}, {"low_us", trial.timing->low_us},
                      {"high_us", trial.timing->high_us},     {"minimum_us", trial.timing->minimum_us},
                      {"host_us", trial.timing->host_us},     {"runs", trial.timing->runs},
                      {"cold_l2", trial.timing->cold_l2},     {"graph", trial.timing->graph},
                      {"gigaflops", trial.gigaflops()},       {"gigabytes_per_second", trial.gigabytes()}};
  }
  json["replay"] = trial.replay;
  if (!trial.status.ok()) json["error"] = trial.status.message();
  return json;
}

Json document(const std::string& command) {
  return {{"schema", 1}, {"program", fmt::format("wavetile {}", kVersion)}, {"date", utc_now()}, {"command", command}};
}

std::string json_text(const Json& json) { return json_rows(json); }

Status write_json(const std::string& where, const OrderedJson& json) {
  if (where != "-") return write_file(where, json_text(json), FileKind::kDurable);
  fmt::print("{}", json_text(json));
  return {};
}

}  // namespace wt::cli
