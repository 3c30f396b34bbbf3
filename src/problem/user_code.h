// SPDX-License-Identifier: Apache-2.0
// problem/user_code.h - the user's epilogue text as functions of this process: what the reference and the CPU call.
//
// compile/user_code.h makes one from a problem; this room only calls it.
#pragma once

#include <memory>

#include "problem/problem.h"
#include "problem/user_types.h"

namespace wt {

struct UserCode {
  std::shared_ptr<void> library;  // keeps the functions
  float (*expression)(float value, const user::Coord* at, const user::Inputs* in) = nullptr;
  // `offset` is the element's place in `output`; `own` are the store's own tensors.
  void (*store)(float value, const user::Coord* at, long long offset, void* output, void* const* own) = nullptr;
};

// The direction's output as its memory is laid out.
user::OutputShape output_shape(const ConvProblem& problem);

// f of `value`. `aux` holds every auxiliary tensor's number at the element.
float apply_expression(const Epilogue& epilogue, const UserCode& code, float value, const user::Coord& at,
                       const std::array<float, kMaxAuxiliary>& aux);

}  // namespace wt
