// SPDX-License-Identifier: Apache-2.0
// python/aten/operators.h - torch.ops.wavetile: what aten's convolutions cannot say. Derivatives and shapes are in
// Python (python/wavetile/torch/operators.py).
#pragma once

#include <span>

#include "python/aten/torch_abi.h"

namespace wt::aten {

struct Operator {
  const char* name;
  const char* schema;
  Kernel kernel;
};

std::span<const Operator> operators();

}  // namespace wt::aten
