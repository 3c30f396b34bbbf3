// SPDX-License-Identifier: Apache-2.0
// kernel/epilogue.h - what happens to an accumulator on its way out: fp32 steps, then the one rounding.
//
//   accumulator -> alpha -> scale, bias -> residual, added -> activation or gradient -> f -> amax -> output type
//
// The steps that exist are compile-time (EpilogueConfig); their values are run-time arguments. Order:
// problem/problem.h.
#pragma once

#include "kernel/arguments.h"
#include "kernel/math.h"
#include "kernel/user.h"

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

// The gradient `value` of an activation's output, as that of its input, which was `saved`. Where nothing passes, an
// infinity does not either.
template <Activation kActivation>
WT_DEVICE float activation_gradient(float value, float saved, const EpilogueArguments& p) {
  if constexpr (kActivation == Activation::kRelu) return saved > 0 ? value : 0;
  if constexpr (kActivation == Activation::kLeakyRelu) return saved > 0 ? value : value * p.slope;
  if constexpr (kActivation == Activation::kClamp) return saved > p.low && saved < p.high ? value : 0;
  // 1 - sigmoid(v) is sigmoid(-v), without the cancellation.
  const float twice = kActivation == Activation::kTanh ? 2 * saved : saved;
  const float s = math::sigmoid(twice), rest = math::sigmoid(-twice);
  if constexpr (kActivation == Activation::kSilu) return value * (s * device::multiply_add(saved, rest, 1.0f));
  if constexpr (kActivation == Activation::kSigmoid) return value * (s * rest);
  if constexpr (kActivation == Activation::kTanh) return value * (4 * s * rest);
  if constexpr (kActivation == Activation::kGelu) {
    const float below = 0.5f * math::complementary_error(saved * -0.70710678f);
    return value * device::multiply_add(saved * 0.39894228f, math::exponential(-0.5f * saved * saved), below);
  }
  return value;
}

template <EpilogueConfig kSteps, DataType kOut>
struct Epilogue {
  using Element = Storage<kOut>;

  float largest = 0;  // of the values this thread has stored

  // What a kernel does with the result of apply: nothing where the user's store has written.
  template <class T>
  WT_DEVICE static void write(T* to, T value) {
    if constexpr (!kSteps.store) device::store_global(to, value);
  }

  // `offset` is the element's place in the output and in the residual; `channel` indexes scale and bias.
  WT_DEVICE Element apply(const EpilogueArguments& p, float accumulator, i64 offset, i64 channel) {
    float scale = 1, bias = 0, residual = 0;
    if constexpr (kSteps.scale) scale = device::load_global(p.scale + channel);
    if constexpr (kSteps.bias) bias = device::load_global(p.bias + channel);
    if constexpr (kSteps.residual)
      residual = device::to_float(device::load_global(static_cast<const Element*>(p.residual) + offset));
    return apply(p, accumulator, scale, bias, residual, offset);
  }

  // The same with scale, bias and residual already loaded; what no step reads is ignored, as is `offset` where no step
  // is placed.
  WT_DEVICE Element apply(const EpilogueArguments& p, float accumulator, float scale, float bias, float residual,
                          i64 offset) {
    float value = p.alpha * accumulator;
    if constexpr (kSteps.scale) value *= scale;
    if constexpr (kSteps.bias) value += bias;
    if constexpr (kSteps.residual) value = device::multiply_add(p.beta, residual, value);
    WT_UNROLL for (int i = 0; i < kSteps.added; ++i) {
      value = device::multiply_add(p.betas[i], auxiliary(p, i, offset), value);
    }
    value = activate<kSteps.activation>(value, p);
    if constexpr (kSteps.gradient != Activation::kNone)
      value = activation_gradient<kSteps.gradient>(value, auxiliary(p, kSteps.added, offset), p);
    if constexpr (kSteps.expression) {
      user::Inputs in{};
      WT_UNROLL for (int i = 0; i < kSteps.inputs; ++i) in.aux[i] = auxiliary(p, kFirstInput + i, offset);
      WT_UNROLL for (int i = 0; i < user::kMaxNumbers; ++i) in.scalar[i] = p.scalars[i];
      value = UserFunctions<kSteps.user_hash>::f(value, user::coord_of(p.shape, offset), in);
    }
    if constexpr (kSteps.amax) largest = math::maximum(largest, math::absolute(value));
    if constexpr (kSteps.store) {
      user::OutputsOf<kOut> to{p.out, {}, offset};
      WT_UNROLL for (int i = 0; i + kSteps.auxiliaries() < user::kMaxInputs; ++i) to.own[i] =
          p.aux[kSteps.auxiliaries() + i];
      UserFunctions<kSteps.user_hash>::store(value, user::coord_of(p.shape, offset), to);
      return Element{};
    } else {
      return device::from_float<Element>(value);
    }
  }

  // Once a thread, after its last element.
  WT_DEVICE void finish(const EpilogueArguments& p) const {
    if constexpr (kSteps.amax) device::atomic_max(p.amax, number::bits_of(largest));
  }

 private:
  static constexpr int kFirstInput = kSteps.added + (kSteps.gradient != Activation::kNone);

  WT_DEVICE static float auxiliary(const EpilogueArguments& p, int i, i64 offset) {
    return device::to_float(device::load_global(static_cast<const Element*>(p.aux[i]) + offset));
  }
};

}  // namespace wt
