// SPDX-License-Identifier: Apache-2.0
// runtime/open_device.cc - from what a user writes ("auto", "cpu", "gpu:1", "hip:0", "sim:sm_90a") to a device.
#include <charconv>
#include <string_view>

#include "base/log.h"
#include "config/targets.h"
#include "runtime/cpu/device.h"
#include "runtime/cuda/device.h"
#include "runtime/device.h"
#include "runtime/hip/device.h"
#include "runtime/sim/device.h"

namespace wt {

namespace {

constexpr const char* kForms =
    "cpu, gpu, gpu:INDEX (NVIDIA), hip, hip:INDEX (AMD), sim:TARGET (such as sim:sm_90a) or auto";

// In the order in which "auto" asks.
struct Maker {
  std::string_view prefix;
  Result<std::shared_ptr<Device>> (*open)(int index);
  std::vector<DeviceInfo> (*list)(std::vector<std::string>* refused);
};
constexpr Maker kMakers[] = {{"gpu", open_cuda_device, list_cuda_devices}, {"hip", open_hip_device, list_hip_devices}};

Result<std::shared_ptr<Device>> open_auto() {
  std::vector<std::string> refused;
  for (const Maker& maker : kMakers)
    if (const std::vector<DeviceInfo> gpus = maker.list(&refused); !gpus.empty()) return open_device(gpus[0].id);
  for (const std::string& reason : refused) log::info("device auto takes the CPU: {}", reason);
  return open_cpu_device();
}

// The number in "gpu:1", where `text` is what follows `prefix`; 0 for the prefix alone.
Result<int> parse_index(std::string_view prefix, std::string_view text, const std::string& id) {
  if (text.empty()) return 0;
  if (text[0] == ':') text.remove_prefix(1);
  int index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index < 0)
    return bad_input("device {}: '{}' is not the index of a GPU; use {}:0, {}:1, ...", id, text, prefix, prefix);
  return index;
}

}  // namespace

Result<std::shared_ptr<Device>> open_device(const std::string& id) {
  const std::string_view text = id;
  if (text == "auto") return open_auto();
  if (text == "cpu") return open_cpu_device();
  for (const Maker& maker : kMakers) {
    if (text != maker.prefix && !text.starts_with(fmt::format("{}:", maker.prefix))) continue;
    WT_TRY_ASSIGN(const int index, parse_index(maker.prefix, text.substr(maker.prefix.size()), id));
    return maker.open(index);
  }
  if (text.starts_with("sim:")) {
    WT_TRY_ASSIGN(const TargetName name, parse_target(text));
    return open_sim_device(name.target);
  }
  return bad_input("device '{}' is unknown; use {}", id, kForms);
}

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> devices = {cpu_device_info()};
  for (const Maker& maker : kMakers)
    for (DeviceInfo& info : maker.list(nullptr)) devices.push_back(std::move(info));
  for (DeviceInfo& info : list_sim_devices()) devices.push_back(std::move(info));
  return devices;
}

}  // namespace wt
