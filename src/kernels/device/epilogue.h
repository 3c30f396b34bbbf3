// SPDX-License-Identifier: Apache-2.0
// kernels/device/epilogue.h - what happens to an accumulator on its way out: fp32 steps, then the one rounding.
//
//   accumulator -> alpha -> scale, bias -> residual, added -> activation or gradient -> f -> amax -> output type
//
// An int32 accumulator is that of int8: corrected by x's zero point it becomes fp32, and each step is rounded by
// itself, so that every target computes the same bits. The steps that exist are compile-time (EpilogueConfig); their
// values are run-time arguments. Order: problem/problem.h.
#pragma once

#include "kernels/device/activation.h"
#include "kernels/device/arguments.h"
#include "kernels/device/math.h"
#include "kernels/device/user.h"

namespace wt {

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
  template <class Accumulator>
  WT_DEVICE Element apply(const EpilogueArguments& p, Accumulator accumulator, i64 offset, i64 channel) {
    float residual = 0;
    if constexpr (kSteps.residual)
      residual = device::to_float(device::load_global(static_cast<const Element*>(p.residual) + offset));
    return apply(p, corrected(p, accumulator, offset, channel), scale_of(p, channel), bias_of(p, channel), residual,
                 offset);
  }

  // The same with scale, bias and residual already loaded, and the accumulator corrected; what no step reads is
  // ignored, as is `offset` where no step is placed.
  template <class Accumulator>
  WT_DEVICE Element apply(const EpilogueArguments& p, Accumulator accumulator, float scale, float bias, float residual,
                          i64 offset) {
    constexpr bool kInteger = kSame<Accumulator, i32>;
    float value = product<kInteger>(p.alpha, static_cast<float>(accumulator));
    if constexpr (kSteps.scale) value = product<kInteger>(value, scale);
    if constexpr (kSteps.bias) value += bias;
    if constexpr (kSteps.residual) value = device::multiply_add(p.beta, residual, value);
    WT_UNROLL for (int i = 0; i < kSteps.added; ++i) {
      value = device::multiply_add(p.betas[i], auxiliary(p, i, offset), value);
    }
    value = activation_value<kSteps.activation, DeviceMath>(value, p);
    if constexpr (kSteps.gradient != Activation::kNone)
      value = activation_gradient<kSteps.gradient, DeviceMath>(value, auxiliary(p, kSteps.added, offset), p);
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
    } else if constexpr (kOut == DataType::kI8) {
      return number::quantized(value, p.y_zero);
    } else {
      return device::from_float<Element>(value);
    }
  }

  // An int8 sum without x's zero point: of the padding too, which counts as that and adds nothing.
  template <class Accumulator>
  WT_DEVICE static Accumulator corrected(const EpilogueArguments& p, Accumulator sum, i64 offset, i64 channel) {
    if constexpr (kSteps.x_zero) {
      return sum - device::load_global(corrections_at(p, offset) + channel);
    } else {
      return sum;
    }
  }
  // Those of all channels for the pixel of `offset`.
  WT_DEVICE static const i32* corrections_at(const EpilogueArguments& p, i64 offset) {
    const Correction& c = p.correction;
    // WHY asked first: filters that no padding reaches have one class, and divisions take long.
    const auto classes = [&](int dimension) { return correction_classes(c, dimension, p.shape.size[dimension]); };
    if (classes(0) * classes(1) * classes(2) == 1) return c.table;
    const user::Coord at = user::coord_of(p.shape, offset);
    const i32 place = (correction_class(c, 0, at.d) * classes(1) + correction_class(c, 1, at.h)) * classes(2) +
                      correction_class(c, 2, at.w);
    return c.table + static_cast<i64>(place) * p.shape.channels;
  }

  // Neighbours of a row; `offset` is a multiple of their count, so that one load has their residuals. The first one's
  // channel is `channel`, the next one's `channel_step` further on.
  template <int kCount>
  WT_DEVICE Vector<Element, kCount> apply_run(const EpilogueArguments& p, const float (&sums)[kCount], i64 offset,
                                              i64 channel, int channel_step = 1) {
    using Run = Vector<Element, kCount>;
    Run residual{}, run;
    if constexpr (kSteps.residual)
      residual = device::load_global(reinterpret_cast<const Run*>(static_cast<const Element*>(p.residual) + offset));
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      const i64 at = channel + channel_step * i;
      run.at[i] = apply(p, sums[i], scale_of(p, at), bias_of(p, at), device::to_float(residual.at[i]), offset + i);
    }
    return run;
  }

  // The values of a channel; what no step reads is not loaded.
  WT_DEVICE static float scale_of(const EpilogueArguments& p, i64 channel) {
    if constexpr (kSteps.scale) return channel_value<kSteps.scale_type>(p.scale, channel);
    return 1;
  }
  WT_DEVICE static float bias_of(const EpilogueArguments& p, i64 channel) {
    if constexpr (kSteps.bias) return channel_value<kSteps.bias_type>(p.bias, channel);
    return 0;
  }

  // Once a thread, after its last element.
  WT_DEVICE void finish(const EpilogueArguments& p) const {
    if constexpr (kSteps.amax) device::atomic_max(p.amax, number::bits_of(largest));
  }

 private:
  template <DataType kType>
  WT_DEVICE static float channel_value(const void* values, i64 channel) {
    return device::to_float(device::load_global(static_cast<const Storage<kType>*>(values) + channel));
  }

  template <bool kRounded>
  WT_DEVICE static float product(float a, float b) {
    if constexpr (kRounded) return device::multiply(a, b);
    return a * b;
  }

  static constexpr int kFirstInput = kSteps.added + (kSteps.gradient != Activation::kNone);

  WT_DEVICE static float auxiliary(const EpilogueArguments& p, int i, i64 offset) {
    return device::to_float(device::load_global(static_cast<const Element*>(p.aux[i]) + offset));
  }
};

}  // namespace wt
