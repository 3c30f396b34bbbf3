// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/tensor_map.h - a TensorMapSpec and an address to the hardware's 128 bytes.
#pragma once

#include <cstddef>

#include "runtime/cuda/context.h"

namespace wt::cuda {

// About a microsecond on the host; needs no device memory. A refusal says which limit the spec breaks.
Status encode_tensor_map(const Context& context, const TensorMapSpec& spec, void* base, std::byte* map);

// Which of the hardware's limits the spec breaks, with the values; empty where none is known.
std::string broken_limit(const TensorMapSpec& spec, const void* base);

}  // namespace wt::cuda
