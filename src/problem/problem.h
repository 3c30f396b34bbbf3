// SPDX-License-Identifier: Apache-2.0
// problem/problem.h - what is to be computed: one convolution, in one direction.
//
//   text --parse_problem--> ConvProblem --validate--> every other room
//
// An empty batch (n=0) is valid: x and y hold nothing, and dw is the epilogue of a sum without terms.
// Channel counts are totals over the groups. Spatial values are always kept for three dimensions in the order
// d, h, w; a 1D problem uses w alone and a 2D one h and w, and the unused leading ones hold their neutral values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "problem/enums.h"

namespace wt {

inline constexpr int kMaxDims = 3;
using Spatial = std::array<int64_t, kMaxDims>;  // d, h, w

inline constexpr int kMaxAuxiliary = 4;  // tensors of the output's shape and type beside output and residual
inline constexpr int kMaxScalars = 8;

// What happens to the accumulator before its one rounding to the output type, in fp32, in this order:
//   v = alpha * acc;  v = v * scale[channel] + bias[channel];  v += beta * residual;  v += sum of betas[i] * aux[i];
//   v = activation(v), or v *= derivative of `gradient` at the saved tensor;  v = f(v);  amax = max |v|;  store
// The output is that of the direction: y, dx or dw. scale and bias run over its channels (k, c, and k for dw).
// Auxiliary tensors are numbered in the order of their use: those added, the saved one, the inputs and the outputs.
struct Epilogue {
  float alpha = 1;
  bool scale = false;
  bool bias = false;
  DataType scale_type = DataType::kF32, bias_type = DataType::kF32;  // or bf16 or fp16, where there is such a tensor
  bool residual = false;  // a tensor of the output's shape and type; may be the output itself (accumulation)
  float beta = 1;         // read only where residual is set
  int added = 0;          // more tensors that are added, each with its factor
  std::array<float, kMaxAuxiliary> betas{};
  Activation activation = Activation::kNone;
  // Not of dw: the gradient passes this activation, whose input in the network's forward pass is the saved tensor.
  Activation gradient = Activation::kNone;
  float slope = 0.01f;            // leaky relu
  float low = 0.0f, high = 6.0f;  // clamp
  int inputs = 0;                 // auxiliary tensors that only the user's text reads
  int outputs = 0;                // and that only its store writes
  int scalar_count = 0;           // numbers for the user's text
  std::array<float, kMaxScalars> scalars{};
  std::string expression;  // C++: `float f(float acc, Coord at, Inputs in)`, or its value alone (docs/user-epilogue.md)
  bool amax = false;
  std::string store;  // C++: `void store(float value, Coord at, Outputs out)`, which writes instead of the kernel

  bool has_saved() const { return gradient != Activation::kNone; }
  int auxiliaries_read() const { return added + has_saved() + inputs; }
  int auxiliaries() const { return auxiliaries_read() + outputs; }
  bool has_text() const { return !expression.empty() || !store.empty(); }

  bool operator==(const Epilogue&) const = default;
};

// Which sums over images and pixels a weight gradient gives beside dw: the gradient of a bias, fp32.
enum class BiasGradient : uint8_t {
  kNone,
  kOfY,  // of dy, over k
  kOfX,  // of x, over c: the bias of a transposed convolution, whose output gradient stands there (transposed.h)
};

struct ConvProblem {
  Direction direction = Direction::kForward;
  int dims = 2;  // 1, 2 or 3
  Layout layout = Layout::kChannelsLast;
  DataType x = DataType::kBf16;
  DataType w = DataType::kBf16;
  DataType y = DataType::kBf16;
  DataType acc = DataType::kF32;

  int64_t n = 1;
  int64_t g = 1;
  int64_t c = 1;  // input channels, all groups
  int64_t k = 1;  // output channels, all groups
  Spatial in = {1, 1, 1};
  Spatial filter = {1, 1, 1};
  Spatial stride = {1, 1, 1};
  Spatial dilation = {1, 1, 1};
  Spatial pad_lower = {0, 0, 0};
  Spatial pad_upper = {0, 0, 0};

  Epilogue epilogue;
  BiasGradient bias_gradient = BiasGradient::kNone;  // of bwd_weight
  // Causal problems: what came before x, history_length() rows of the outermost dimension per image, in the layout of
  // x, stands where the padding's zeros would. new_history: the last so many rows of the two are given out for the next
  // call. Backward data goes the other way: it gives out the gradient of the history, and with new_history reads that
  // of the new one.
  bool history = false;
  bool new_history = false;
  // Of both inputs, forward and channels last: x_scales lie as n d h w c/block, w_scales as k d h w (c/g)/block. The
  // scale of number i in memory is scale i / block.
  BlockScales scales = BlockScales::kNone;
  // Zero points of int8 tensors: x holds q for q - x_zero, padding counts as x_zero, and y is rounded to nearest even,
  // then shifted by y_zero and held within int8.
  int x_zero = 0;
  int y_zero = 0;

  int64_t c_per_group() const { return c / g; }
  int64_t k_per_group() const { return k / g; }
  Spatial out() const;  // output size; a component is <= 0 where the filter does not fit (validate refuses that)

  int64_t x_elements() const;
  int64_t w_elements() const;
  int64_t y_elements() const;
  int64_t output_elements() const;              // of the direction's output
  int64_t output_channels() const;              // length of scale and bias: k, c, and k for dw
  int time() const { return kMaxDims - dims; }  // the outermost dimension, along which a history lies
  int64_t history_length() const { return dilation[time()] * (filter[time()] - 1); }  // rows of that dimension
  int64_t history_elements() const;
  // The tensors of a problem with a history that are read and written.
  bool reads_history() const { return history && direction != Direction::kBackwardData; }
  bool writes_history() const { return history && direction == Direction::kBackwardData; }
  bool reads_new_history() const { return new_history && direction == Direction::kBackwardData; }
  bool writes_new_history() const { return new_history && direction == Direction::kForward; }
  bool has_scales() const { return scales != BlockScales::kNone; }
  int64_t x_scales() const { return has_scales() ? x_elements() / scale_block(scales) : 0; }
  int64_t w_scales() const { return has_scales() ? w_elements() / scale_block(scales) : 0; }
  int64_t bias_gradient_channels() const;  // 0: none
  int64_t filter_taps() const;             // product of the filter's sizes
  int64_t terms() const;                   // most products that one output element sums (the K of tolerances)

  // Types by role, which is how the text spells them (first*second>output):
  // fwd x*w>y, bwd_data y*w>x, bwd_weight x*y>w.
  DataType first_type() const;
  DataType second_type() const;
  DataType output_type() const;
  double flops() const;  // 2 * multiply-adds of the direct algorithm, padding counted as work

  bool operator==(const ConvProblem&) const = default;
};

// Element strides of a tensor. `outer` is n for x and y and k for w; `channel` runs over all channels of x and y, and
// over the c/g channels of one filter of w.
struct Strides {
  int64_t outer = 0;
  int64_t channel = 0;
  Spatial spatial = {0, 0, 0};

  int64_t at(int64_t outer_index, int64_t channel_index, const Spatial& position) const {
    return outer_index * outer + channel_index * channel + position[0] * spatial[0] + position[1] * spatial[1] +
           position[2] * spatial[2];
  }
};
Strides x_strides(const ConvProblem& problem);
Strides w_strides(const ConvProblem& problem);
Strides y_strides(const ConvProblem& problem);

// One message a fault, with the values and the remedy. Everything else in the library takes validated problems.
Status validate(const ConvProblem& problem);

// The one text of a problem (docs/problem-text.md). parse_problem validates too; to_text(parse_problem(t)) is the
// canonical short form, canonical_text spells out every default (the tuning database's key).
Result<ConvProblem> parse_problem(std::string_view text);
std::string to_text(const ConvProblem& problem);
std::string canonical_text(const ConvProblem& problem);

// The grammar that canonical_text names in its first word. A change that gives an old text a new meaning raises it.
inline constexpr int kTextVersion = 1;

// The same convolution in another direction: sizes, layout and the types by role stay (inputs and output keep their
// types). The epilogue, a bias gradient and history belong to one direction, so a change of direction starts without.
ConvProblem with_direction(const ConvProblem& problem, Direction direction);

// Padding helpers; they set pad_lower and pad_upper from the other fields.
void set_same_padding(ConvProblem& problem);    // output = ceil(in / stride); the odd element goes above
void set_valid_padding(ConvProblem& problem);   // none
void set_causal_padding(ConvProblem& problem);  // everything below the outermost used dimension, "same" elsewhere

const char* name_of(Direction direction);          // fwd, bwd_data, bwd_weight
const char* name_of(DataType type);                // fp32, tf32, fp16, bf16, e4m3, e5m2, e2m1, int8
const char* name_of(BlockScales scales);           // none, mx, nv
const char* name_of(Activation activation);        // none, relu, ..: activations.h
const char* layout_name(Layout layout, int dims);  // NHWC, NCDHW, ...

std::optional<Direction> direction_from(std::string_view name);
std::optional<DataType> data_type_from(std::string_view name);
std::optional<BlockScales> block_scales_from(std::string_view name);  // not "none"
std::optional<Activation> activation_from(std::string_view name);     // not "none"

// All activations but none, for messages: "relu, leaky_relu, .. or gelu_tanh".
std::string activation_names(std::string_view between = ", ", std::string_view last = " or ");

}  // namespace wt
