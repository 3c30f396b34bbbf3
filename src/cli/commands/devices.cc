// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/devices.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json_value.h"
#include "cli/exit_code.h"
#include "cli/show/numbers.h"
#include "cli/show/table.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "compile/compiler.h"
#include "config/targets.h"
#include "runtime/cpu/provider.h"
#include "runtime/device.h"

namespace wt::cli {

namespace {

struct CompilerRow {
  const char* use;  // what it is for
  compile::Backend backend;
  Target target;  // asked for its presence
  const char* label;
};

constexpr CompilerRow kCompilers[] = {
    {"NVIDIA kernels", compile::Backend::kNvrtc, Target::kSm90a, "nvrtc"},
    {"simulator kernels", compile::Backend::kHost, Target::kSm90a, "host"},
    {"AMD kernels", compile::Backend::kClang, Target::kGfx942, "clang"},
};

std::string detail(const DeviceInfo& device) {
  switch (device.kind) {
    case DeviceKind::kCpu:
      return fmt::format("{} threads", device.multiprocessors);
    case DeviceKind::kCuda:
      return fmt::format("{}, {} multiprocessors, {}, driver {}.{}", info_of(device.target).name,
                         device.multiprocessors, bytes_text(static_cast<double>(device.memory_bytes)),
                         device.driver_version / 1000, device.driver_version % 1000 / 10);
    case DeviceKind::kHip: {
      const std::string_view target = info_of(device.target).name;
      const std::string of =
          target == device.architecture ? device.architecture : fmt::format("{} by {}", device.architecture, target);
      return fmt::format("{}, {} {}, {}, HIP {}.{}", of, device.multiprocessors,
                         info_of(device.target).warp_size == 64 ? "compute units" : "workgroup processors",
                         bytes_text(static_cast<double>(device.memory_bytes)), device.driver_version / 1000,
                         device.driver_version % 1000 / 10);
    }
    case DeviceKind::kSim:
      return fmt::format("{} lanes per warp", info_of(device.target).warp_size);
  }
  return "";
}

std::vector<std::string> cache_lines() {
  std::vector<std::string> lines;
  const auto line = [&](const char* what, const Result<std::filesystem::path>& folder) {
    lines.push_back(fmt::format("{:<14}{}", what, folder.ok() ? folder->string() : folder.status().message()));
  };
  line("kernel cache", cache_folder());
  line("data folder", data_folder());
  return lines;
}

void print_text(const std::vector<DeviceInfo>& devices) {
  const int columns = output_columns();
  size_t id = 0;
  size_t name = 0;
  size_t details = 0;
  bool gpu = false;
  for (const DeviceInfo& device : devices) {
    id = std::max(id, device.id.size());
    name = std::max(name, device.name.size());
    details = std::max(details, detail(device).size());
    gpu = gpu || is_gpu(device.kind);
  }
  const Table table({{"device", static_cast<int>(id)},
                     {"name", static_cast<int>(name), false, true},
                     {"details", static_cast<int>(details), false, true}},
                    columns);
  fmt::print("{}", table.header());
  for (const DeviceInfo& device : devices) fmt::print("{}", table.row({device.id, device.name, detail(device)}));
  if (!gpu) {
    for (const auto& [maker, device] : {std::pair("NVIDIA", "gpu"), std::pair("AMD", "hip")})
      fmt::print("\nNo {} GPU:\n{}", maker, wrap(open_device(device).status().message(), columns, "  "));
  }

  fmt::print("\nCPU provider:\n{}", wrap(cpu_provider_description(), columns, "  "));

  std::vector<std::string> labels;
  std::string missing;
  size_t label_width = 0;
  for (const CompilerRow& row : kCompilers) {
    const Status present = compile::available(row.backend, row.target);
    const Result<std::string> version = compile::compiler_version(row.backend);
    labels.push_back(present.ok() && version.ok() ? *version : fmt::format("{}: missing", row.label));
    label_width = std::max(label_width, labels.back().size());
    if (!present.ok()) missing += fmt::format("\nNo {}:\n{}", row.use, wrap(present.message(), columns, "  "));
  }
  const Table compilers({{"for", 17}, {"compiler", static_cast<int>(label_width), false, true}}, columns);
  fmt::print("\n{}", compilers.header());
  for (size_t i = 0; i < labels.size(); ++i) fmt::print("{}", compilers.row({kCompilers[i].use, labels[i]}));
  fmt::print("{}\n", missing);
  for (const std::string& line : cache_lines()) fmt::print("{}\n", line);
}

Status print_json(const std::string& where, const std::vector<DeviceInfo>& devices) {
  OrderedJson json = document("wavetile devices");
  OrderedJson list = OrderedJson::array();
  for (const DeviceInfo& device : devices) list.push_back(device_json(device));
  json["devices"] = std::move(list);
  OrderedJson compilers = OrderedJson::array();
  for (const CompilerRow& row : kCompilers) {
    const Status present = compile::available(row.backend, row.target);
    const Result<std::string> version = compile::compiler_version(row.backend);
    OrderedJson entry = {{"id", row.label}, {"for", row.use}, {"present", present.ok()}};
    if (version.ok()) entry["version"] = *version;
    if (!present.ok()) entry["missing"] = present.message();
    compilers.push_back(std::move(entry));
  }
  json["compilers"] = std::move(compilers);
  json["cpu_provider"] = cpu_provider_description();
  if (const auto folder = cache_folder(); folder.ok()) json["cache_folder"] = folder->string();
  if (const auto folder = data_folder(); folder.ok()) json["data_folder"] = folder->string();
  return write_json(where, json);
}

}  // namespace

int run_devices(const DevicesOptions& options) {
  const std::vector<DeviceInfo> devices = list_devices();
  if (!options.json.empty()) {
    const Status written = print_json(options.json, devices);
    if (!written.ok()) return report_failure(written);
  }
  if (options.json != "-") print_text(devices);
  return kExitGood;
}

}  // namespace wt::cli
