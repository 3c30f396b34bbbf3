// SPDX-License-Identifier: Apache-2.0
// runtime/open_device.cc - from what a user writes ("auto", "cpu", "gpu:1", "sim:sm_90a") to a device.
#include <charconv>
#include <string_view>

#include "base/log.h"
#include "config/targets.h"
#include "runtime/cpu/device.h"
#include "runtime/cuda/device.h"
#include "runtime/device.h"
#include "runtime/sim/device.h"

namespace wt {

namespace {

constexpr const char* kForms = "cpu, gpu, gpu:INDEX, sim:TARGET (such as sim:sm_90a) or auto";

Result<std::shared_ptr<Device>> open_auto() {
  std::vector<std::string> refused;
  if (const std::vector<DeviceInfo> gpus = list_cuda_devices(&refused); !gpus.empty()) return open_device(gpus[0].id);
  for (const std::string& reason : refused) log::info("device auto takes the CPU: {}", reason);
  return open_cpu_device();
}

Result<int> parse_index(std::string_view text, const std::string& id) {
  int index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index < 0)
    return bad_input("device {}: '{}' is not the index of a GPU; use gpu:0, gpu:1, ...", id, text);
  return index;
}

}  // namespace

Result<std::shared_ptr<Device>> open_device(const std::string& id) {
  const std::string_view text = id;
  if (text == "auto") return open_auto();
  if (text == "cpu") return open_cpu_device();
  if (text == "gpu") return open_cuda_device(0);
  if (text.starts_with("gpu:")) {
    WT_TRY_ASSIGN(const int index, parse_index(text.substr(4), id));
    return open_cuda_device(index);
  }
  if (text.starts_with("sim:")) {
    WT_TRY_ASSIGN(const TargetName name, parse_target(text));
    return open_sim_device(name.target);
  }
  return bad_input("device '{}' is unknown; use {}", id, kForms);
}

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> devices = {cpu_device_info()};
  for (DeviceInfo& info : list_cuda_devices()) devices.push_back(std::move(info));
  for (DeviceInfo& info : list_sim_devices()) devices.push_back(std::move(info));
  return devices;
}

}  // namespace wt
