// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/hip_calls.h - what the fake HIP's functions share. With WT_FAKE_HIP_5 it is one of HIP 5: without
// hipGetDevicePropertiesR0600, and with names for texts.
#pragma once

#include "runtime/hip/driver.h"
#include "tests/fake_driver/machine.h"

namespace wt::fake {

using namespace wt::hip;

constexpr int kLdsLimit = 65536;  // of a workgroup

// As enter, for calls on the current device: a fault that took it is every call's answer.
inline int enter_device(const char* call) {
  if (int code = enter(call)) return code;
  if (current_device() < 0 || current_device() >= state.hip_count) return kInvalidDevice;
  return state.sticky;
}

}  // namespace wt::fake

#define ENTER_DEVICE(call)     \
  std::lock_guard lock(mutex); \
  if (int fault = enter_device(call)) return fault
