// SPDX-License-Identifier: Apache-2.0
// kernel/epilogue.h - what happens to an accumulator on its way out: fp32 steps, then the one rounding.
//
//   accumulator -> alpha -> scale, bias -> residual -> activation -> amax -> output type
//
// The steps that exist are compile-time (EpilogueConfig); their values are run-time arguments. Order:
// problem/problem.h.
#pragma once

#include "kernel/arguments.h"
#include "kernel/math.h"

namespace wt {

template <Activation kActivation>
WT_DEVICE float activate(float value, const EpilogueArguments& p) {
  if constexpr (kActivation == Activation::kRelu) return math::maximum(value, 0);
  if constexpr (kActivation == Activation::kLeakyRelu) return value >= 0 ? value : value * p.slope;
  if constexpr (kActivation == Activation::kClamp) return math::minimum(math::maximum(value, p.low), p.high);
  if constexpr (kActivation == Activation::kSilu) return value * math::sigmoid(value);
  if constexpr (kActivation == Activation::kGelu) {
    return 0.5f * value * math::complementary_error(value * -0.70710678f);
  }
  if constexpr (kActivation == Activation::kSigmoid) return math::sigmoid(value);
  if constexpr (kActivation == Activation::kTanh) return math::hyperbolic_tangent(value);
  return value;
}

template <EpilogueConfig kSteps, DataType kOut>
struct Epilogue {
  using Element = Storage<kOut>;

  float largest = 0;  // of the values this thread has stored

  // `offset` is the element's place in the output and in the residual; `channel` indexes scale and bias.
  WT_DEVICE Element apply(const EpilogueArguments& p, float accumulator, i64 offset, i64 channel) {
    float scale = 1, bias = 0, residual = 0;
    if constexpr (kSteps.scale) scale = device::load_global(p.scale + channel);
    if constexpr (kSteps.bias) bias = device::load_global(p.bias + channel);
    if constexpr (kSteps.residual)
      residual = device::to_float(device::load_global(static_cast<const Element*>(p.residual) + offset));
    return apply(p, accumulator, scale, bias, residual);
  }

  // The same with what the steps read already loaded; what no step reads is ignored.
  WT_DEVICE Element apply(const EpilogueArguments& p, float accumulator, float scale, float bias, float residual) {
    float value = p.alpha * accumulator;
    if constexpr (kSteps.scale) value *= scale;
    if constexpr (kSteps.bias) value += bias;
    if constexpr (kSteps.residual) value = device::multiply_add(p.beta, residual, value);
    value = activate<kSteps.activation>(value, p);
    if constexpr (kSteps.amax) largest = math::maximum(largest, math::absolute(value));
    return device::from_float<Element>(value);
  }

  // Once a thread, after its last element.
  WT_DEVICE void finish(const EpilogueArguments& p) const {
    if constexpr (kSteps.amax) device::atomic_max(p.amax, number::bits_of(largest));
  }
};

}  // namespace wt
