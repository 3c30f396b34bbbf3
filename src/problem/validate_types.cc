// SPDX-License-Identifier: Apache-2.0
#include "problem/validate_types.h"

#include <limits>
#include <utility>

#include "problem/measures.h"

namespace wt {
namespace {

Status validate_channel_type(const char* name, bool present, DataType type) {
  if (type != DataType::kF32 && type != DataType::kF16 && type != DataType::kBf16) {
    return bad_input("{}={}: a value for each channel is fp32, fp16 or bf16; use one of them", name, name_of(type));
  }
  if (!present && type != DataType::kF32) {
    return bad_input("{0}_type is {1}, but there is no {0}; set {0}, or leave its type at fp32", name, name_of(type));
  }
  return {};
}

// Which numbers have scales, and what comes of them.
Status validate_scaled_types(const ConvProblem& p) {
  if (!p.has_scales()) {
    for (const DataType type : {p.first_type(), p.second_type(), p.output_type()}) {
      if (type != DataType::kE2m1) continue;
      return bad_input("e2m1 numbers have a scale for each block; add scales=mx (of 32) or scales=nv (of 16)");
    }
    return {};
  }
  if (p.direction != Direction::kForward) {
    return bad_input("scales={} are of fwd; {} would need them along other channels; widen the numbers first",
                     name_of(p.scales), name_of(p.direction));
  }
  if (p.layout != Layout::kChannelsLast) {
    return bad_input("scales={} belong to blocks of channels that lie side by side; use {}, not {}", name_of(p.scales),
                     layout_name(Layout::kChannelsLast, p.dims), layout_name(p.layout, p.dims));
  }
  const bool pairs = p.x == DataType::kE2m1 && p.w == DataType::kE2m1;
  const bool bytes = is_fp8(p.x) && is_fp8(p.w);
  if (p.scales == BlockScales::kNv && !pairs) {
    return bad_input("scales=nv belong to e2m1, not {} and {}; use e2m1 for both, or scales=mx", name_of(p.x),
                     name_of(p.w));
  }
  if (!pairs && !bytes) {
    return bad_input("scales=mx belong to e4m3 and e5m2, or to e2m1 for both inputs, not to {} and {}", name_of(p.x),
                     name_of(p.w));
  }
  if (is_narrow(p.y)) {
    return bad_input(
        "output type {} with scales={}: outputs with scales are not made; use bf16, fp16 or fp32, as in "
        "{}>bf16",
        name_of(p.y), name_of(p.scales), name_of(p.x));
  }
  if (p.history) return bad_input("history has no scales, and x has scales={}; join history and x", name_of(p.scales));
  return {};
}

}  // namespace

Status validate_types(const ConvProblem& p) {
  if (p.acc != DataType::kF32) {
    return bad_input(
        "acc={}: sums are kept in fp32, those of int8 in int32, and nothing else; leave acc out or use acc=fp32",
        name_of(p.acc));
  }
  WT_TRY(validate_channel_type("scale", p.epilogue.scale, p.epilogue.scale_type));
  WT_TRY(validate_channel_type("bias", p.epilogue.bias, p.epilogue.bias_type));
  const DataType first = p.first_type(), second = p.second_type(), output = p.output_type();
  WT_TRY(validate_scaled_types(p));
  if (first != second && !(is_fp8(first) && is_fp8(second))) {
    return bad_input("input types {} and {} cannot be multiplied; use the same type for both, or two fp8 types",
                     name_of(first), name_of(second));
  }
  if (output == DataType::kTf32) {
    return bad_input("output type tf32: tf32 is how inputs are multiplied, not a stored type; use fp32 as the output");
  }
  if (is_fp8(output) && !is_fp8(first)) {
    return bad_input("output type {} needs fp8 inputs, not {}; use fp16, bf16 or fp32 as the output", name_of(output),
                     name_of(first));
  }
  if (output == DataType::kI8 && first != DataType::kI8) {
    return bad_input("output type int8 needs int8 inputs, not {}; use fp16, bf16 or fp32 as the output",
                     name_of(first));
  }
  return {};
}

Status validate_int8(const ConvProblem& p) {
  const std::pair<const char*, std::pair<int, DataType>> zeros[] = {{"x", {p.x_zero, p.x}}, {"y", {p.y_zero, p.y}}};
  for (const auto& [name, zero] : zeros) {
    if (zero.first != 0 && zero.second != DataType::kI8) {
      return bad_input("{0}_zero={1}, but {0} is {2}: zero points belong to int8 tensors; leave it at 0", name,
                       zero.first, name_of(zero.second));
    }
    if (zero.first < -128 || zero.first > 127) {
      return bad_input("{}_zero={} is no int8 number; use -128 to 127", name, zero.first);
    }
  }
  if (p.first_type() != DataType::kI8) return {};
  if (p.direction != Direction::kForward) {
    return bad_input("int8 is for fwd; {} of quantized tensors is that of their real values: use fp16, bf16 or fp32",
                     name_of(p.direction));
  }
  if (p.history) return bad_input("history of int8 is not offered; join history and x, and use padding 0");
  const Epilogue& e = p.epilogue;
  if (e.has_saved()) return bad_input("grad_{} belongs to backward passes, which int8 has not", name_of(e.gradient));
  if (e.has_text()) {
    return bad_input(
        "f and store of int8 are not offered: their arithmetic would not be the same on every target; "
        "store fp32 and use a kernel of your own");
  }
  if (e.amax && p.y == DataType::kI8) {
    return bad_input("amax of an int8 output is bounded by its type; take it of an fp32 output to choose scales");
  }
  const int64_t most = std::numeric_limits<int32_t>::max() / largest_int8_product(p.x_zero);
  if (p.terms() > most) {
    return bad_input(
        "{} int8 products an output with x_zero={} may leave int32; there may be {}: divide the input "
        "channels and add the parts as fp32",
        p.terms(), p.x_zero, most);
  }
  return {};
}

}  // namespace wt
