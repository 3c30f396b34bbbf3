// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/cuda_calls.h - what the fake CUDA driver's functions share.
#pragma once

#include "runtime/cuda/driver.h"
#include "tests/fake_driver/machine.h"

namespace wt::fake {

using namespace wt::cuda;

constexpr int kSharedLimit = 232448;  // of a block, opt-in

// The handle of a device's one context; all live and die together.
void* context_address(int device = 0);
// Of the current context.
int context_device();
// As enter, for calls that need the context: none current, or one lost to a fault, is an error.
int enter_context(const char* call);

}  // namespace wt::fake

#define ENTER_CONTEXT(call)    \
  std::lock_guard lock(mutex); \
  if (int fault = enter_context(call)) return fault
