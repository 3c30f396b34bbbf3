// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_taps/device/entries.h - the kernel and the sum of its parts.
#pragma once

#include "kernels/depthwise_taps/device/kernel.h"
#include "kernels/device/direct/sum.h"
