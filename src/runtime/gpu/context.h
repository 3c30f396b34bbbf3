// SPDX-License-Identifier: Apache-2.0
// runtime/gpu/context.h - one GPU as a driver gives it, and how the driver's refusal becomes a Status.
//
//   cuda/context.h, hip/context.h derive from it; device.h, graph.h and kernel.h of this folder call through it
//
// Everything that lives on the GPU (device, modules, events, graphs) shares its context, which goes with the last.
#pragma once

#include <string>

#include "runtime/device.h"
#include "runtime/gpu/call.h"
#include "runtime/gpu/codes.h"
#include "runtime/gpu/faults.h"

namespace wt::gpu {

// DriverTable: a CallTable with describe(code), is_sticky(code) and kLostRemedy.
template <class DriverTable>
class Context {
 public:
  using Driver = DriverTable;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return driver_; }
  const DeviceInfo& info() const { return info_; }

  // Ok, or the failure in the driver's words. A sticky code marks the context as lost.
  template <class... Parameters, class... Arguments>
  Status call(const Call<int(Parameters...)>& call, Arguments... arguments) const {
    return check(call(arguments...), call);
  }
  Status check(int code, const AnyCall& call) const {
    if (code == kSuccess) [[likely]]
      return {};
    return failed(code, call, "");
  }
  Status failed(int code, const AnyCall& call, const std::string& detail) const {
    std::string text = fmt::format("{}: {} failed: {}", info_.id, call.symbol(), driver_.describe(code));
    if (!detail.empty()) text += "; " + detail;
    return Driver::is_sticky(code) ? faults_.lose(std::move(text), Driver::kLostRemedy)
                                   : Status(Code::kDevice, std::move(text));
  }

  void note_launch(const char* kernel, const char* replay) const { faults_.note_launch(kernel, replay); }
  Status usable() const { return faults_.usable(); }

 protected:
  Context(const Driver& driver, DeviceInfo info) : driver_(driver), info_(std::move(info)) {}
  ~Context() = default;

 private:
  const Driver& driver_;
  DeviceInfo info_;
  mutable Faults faults_;
};

// A refusal before there is a context.
template <class Driver>
Status call_failed(const Driver& driver, int code, const AnyCall& call) {
  return failure(Code::kDevice, "{} failed: {}", call.symbol(), driver.describe(code));
}

}  // namespace wt::gpu
