// SPDX-License-Identifier: Apache-2.0
// python/aten/aten_kernels.h - aten::convolution and aten::convolution_backward. What Wavetile declines goes to the
// kernels that served before, which Python keeps as wavetile::stock_convolution and
// wavetile::stock_convolution_backward.
#pragma once

#include "python/aten/torch_abi.h"

namespace wt::aten {

void convolution(StableIValue* stack, uint64_t arguments, uint64_t results);
void convolution_backward(StableIValue* stack, uint64_t arguments, uint64_t results);

// Python's text of why a stock kernel failed, on this thread: the next return of a stock call throws it.
void set_stock_error(const char* text);

}  // namespace wt::aten
