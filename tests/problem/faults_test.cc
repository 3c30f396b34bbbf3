// SPDX-License-Identifier: Apache-2.0
// Every fault of a text or of a problem built in code has its own message, with the values and what would help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "problem/problem.h"

namespace wt {
namespace {

struct TextFault {
  const char* text;
  int column;
  const char* message;
};

const TextFault kTextFaults[] = {
    {"", 1, "expected a problem, as in 'fwd bf16 n16 c256 k256 i100x100 f3x3 p1'"},
    {"forward bf16 c8 k8 i8x8 f1", 1, "unknown direction 'forward'; expected fwd, bwd_data or bwd_weight"},
    {"wgrad bf16 c8 k8 i8x8 f1", 1, "unknown direction 'wgrad'; expected fwd, bwd_data or bwd_weight"},
    {"fwd bf16 c8 k8 i8x8 hello", 21,
     "unknown word 'hello'; expected a direction (fwd, bwd_data or bwd_weight), a type"},
    {"v2 fwd bf16 c8 k8 i8x8", 1, "grammar version 'v2' is not known; this build reads v1"},
    {"fwd v1 bf16 c8 k8 i8x8", 5, "the grammar version must be the first word"},
    {"bwd bf16 c8 k8 i8x8", 1, "unknown direction 'bwd'; expected fwd, bwd_data or bwd_weight"},
    {"fwd fwd bf16 c8 k8 i8x8", 5, "the direction was given already; keep one of them"},
    {"fwd bf16 bf16 c8 k8 i8x8", 10, "the type was given already; keep one of them"},
    {"fwd bf16 c8 c8 k8 i8x8", 13, "the count c was given already; keep one of them"},
    {"fwd bf16 c8 k8 i8x8 i8x8", 21, "the sizes i was given already; keep one of them"},
    {"fwd bf16 c8 k8 i8x8 p1 psame", 24, "the padding p was given already; keep one of them"},
    {"fwd bf16 c8 k8 i8x8 NHWC NHWC", 26, "the layout was given already; keep one of them"},
    {"fwd bf16 acc=fp32 acc=fp32 c8 k8 i8x8", 19, "acc was given already; keep one of them"},
    {"fwd bf16*int4>bf16 c8 k8 i8x8", 10,
     "unknown type 'int4'; expected fp32, tf32, fp16, bf16, e4m3, e5m2, e2m1 or int8"},
    {"fwd bf16>fp64 c8 k8 i8x8", 10, "unknown type 'fp64'; expected fp32, tf32, fp16, bf16, e4m3, e5m2, e2m1 or int8"},
    {"fwd e4m3*e5m2 c8 k8 i8x8", 14, "expected '>' and the output type after two input types, as in 'e4m3*e5m2>bf16'"},
    {"fwd bf16>fp32>fp32 c8 k8 i8x8", 14, "expected a space after the output type"},
    {"fwd bf16 acc=int c8 k8 i8x8", 14, "unknown accumulation type 'int'; expected fp32"},
    {"fwd bf16 c k8 i8x8", 11, "expected a number after 'c'"},
    {"fwd bf16 c8 k8 i8x i8", 19, "expected a number after 'x'"},
    {"fwd bf16 c8 k8 i8x8 p1:", 24, "expected a number after ':'"},
    {"fwd bf16 c99999999999999999999 k8 i8x8", 11, "this number does not fit in 64 bits"},
    {"fwd bf16 c8x8 k8 i8x8", 12, "expected a space: c takes one number"},
    {"fwd bf16 n1.5 c8 k8 i8x8", 12, "expected a space: n takes one number"},
    {"fwd bf16 c8 k8 i8y8", 18, "expected 'x', a space or the end after a size"},
    {"fwd bf16 c8 k8 i8x8 p1,2", 23, "expected 'x', ':', a space or the end after a size"},
    {"fwd bf16 c8 k8 i8x8x8x8", 24, "more than three sizes; a convolution has at most d, h and w"},
    {"fwd bf16 c8 k8 i8x8 f3x3x3", 21, "f has 3 sizes where i has 2; give one for all or one for each"},
    {"fwd bf16 c8 k8 i8x8 f3:3", 23, "':' belongs to padding (p1:2); f takes plain sizes"},
    {"fwd bf16 c8 k8 i8x8 NHCW", 21, "unknown layout 'NHCW'; expected NWC, NHWC, NDHWC (channels last), NCW, NCHW or"},
    {"fwd bf16 c8 k8 i8x8 NCW", 21, "this layout has 1 spatial dimension where i has 2; use NCHW"},
    {"fwd n1 c8 k8 i8x8", 18, "expected a type: fp32, tf32, fp16, bf16, e4m3, e5m2, e2m1 or int8"},
    {"fwd bf16 k8 i8x8", 17, "expected c, the number of input channels over all groups"},
    {"fwd bf16 c8 i8x8", 17, "expected k, the number of output channels over all groups"},
    {"fwd bf16 c8 k8 f3x3", 20, "expected i, the input size, as in i100x100"},
    {"fwd bf16 c8 k8 i8x8 s3000000000 psame", 33, "this padding cannot be derived from a size of 3000000000"},
    {"fwd bf16 c8 k8 i8x8 +swish", 22,
     "unknown epilogue step 'swish'; expected alpha, scale, bias, residual, add, one of"},
    {"fwd bf16 c8 k8 i8x8 +relu+bias", 27, "the step 'bias' comes too late; steps are written in the order of"},
    {"fwd bf16 c8 k8 i8x8 +bias+bias", 27, "the step 'bias' was given already"},
    {"fwd bf16 c8 k8 i8x8 +relu+gelu", 27, "'gelu' is a second activation after 'relu'; there is one at most"},
    {"fwd bf16 c8 k8 i8x8 +alpha+bias", 27, "expected '=' and a number after 'alpha', as in alpha=0.5"},
    {"fwd bf16 c8 k8 i8x8 +amax=2", 26, "the step 'amax' takes no value"},
    {"fwd bf16 c8 k8 i8x8 +bias=2", 27, "unknown type '2'; expected fp32, bf16 or fp16"},
    {"fwd bf16 c8 k8 i8x8 +alpha=two", 28, "expected a real number such as 0.5"},
    {"fwd bf16 c8 k8 i8x8 +alpha=1e99", 28, "this number is beyond fp32"},
    {"fwd bf16 c8 k8 i8x8 +clamp=6", 29, "expected ':' and the upper bound of clamp, as in clamp=0:6"},
    {"fwd bf16 c8 k8 i8x8 +f", 23, "expected '=' and C++ in double quotes after 'f'"},
    {"fwd bf16 c8 k8 i8x8 +f=acc", 24, "expected C++ in double quotes"},
    {"fwd bf16 c8 k8 i8x8 +f=\"acc", 24, "this quote has no end"},
    {"fwd bf16 c8 k8 i8x8 +f=\"\"", 24, "expected C++ between the quotes"},
    {"fwd bf16 c8 k8 i8x8 +f=\"\\q\"", 25, "expected \\\\, \\\", \\n, \\t or \\x27 (an apostrophe) after a backslash"},
    {"fwd bf16 c8 k8 i8x8 +aux=5+f=\"acc\"", 26, "expected 1 to 4 tensors"},
    {"fwd bf16 c8 k8 i8x8 +add=1:1:1:1:1", 34, "there are at most 4 numbers here"},
    {"fwd bf16 c8 k8 i8x8 +grad_relu+grad_relu", 32, "'grad_relu' is a second activation after 'relu'"},
    {"fwd int8 c8 k8 i8x8 x_zero=128", 21, "'x_zero=128' is no zero point; expected a whole number from -128 to 127"},
    {"fwd int8 c8 k8 i8x8 y_zero=1.5", 21, "'y_zero=1.5' is no zero point"},
    {"fwd int8 c8 k8 i8x8 x_zero=1 x_zero=2", 30, "x_zero was given already; keep one of them"},
    {"fwd bf16 c8 k8 i8x8 +bias,relu", 26, "expected '+' and the next step, a space or the end"},
};

TEST(Faults, TextsPointAtTheColumn) {
  std::set<std::string> seen;
  for (const TextFault& fault : kTextFaults) {
    const Result<ConvProblem> result = parse_problem(fault.text);
    ASSERT_FALSE(result.ok()) << fault.text;
    EXPECT_EQ(result.status().code(), Code::kBadInput);
    const std::string& message = result.status().message();
    const std::string start = fmt::format("column {}: {}", fault.column, fault.message);
    EXPECT_THAT(message, testing::StartsWith(start)) << fault.text;
    const std::string below = fmt::format("\n  {}\n  {}^", fault.text, std::string(size_t(fault.column - 1), ' '));
    EXPECT_THAT(message, testing::EndsWith(below));
    EXPECT_TRUE(seen.insert(message).second) << "not a message of its own: " << message;
  }
}

TEST(Faults, TabsAndNewlinesKeepTheCaretInPlace) {
  const Result<ConvProblem> result = parse_problem("fwd\tbf16\nc8 kx i8");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().message(), "column 14: expected a number after 'k'\n  fwd bf16 c8 kx i8\n               ^");
}

ConvProblem valid() { return *parse_problem("fwd bf16 n2 c8 k8 g2 i9x9 f3x3 p1"); }
void make_int8(ConvProblem& p) { p = *parse_problem("fwd int8 n2 c8 k8 i9x9 f3x3 p1"); }

struct ProblemFault {
  std::function<void(ConvProblem&)> spoil;
  std::string message;
};

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

const ProblemFault kProblemFaults[] = {
    {[](ConvProblem& p) { p.epilogue.added = 5; }, "added=5, inputs=0 and outputs=0 must be 0 to 4 each"},
    {[](ConvProblem& p) {
       p.epilogue.added = 3, p.epilogue.betas = {1, 1, 1};
       p.epilogue.inputs = 2, p.epilogue.expression = "acc";
     },
     "3 added tensors, 0 saved, 2 inputs and 0 outputs are more than 4 auxiliary tensors in all"},
    {[](ConvProblem& p) { p.epilogue.betas[2] = 3; }, "betas[2]=3 has no tensor; there are 0"},
    {[](ConvProblem& p) { p.epilogue.added = 1; },
     "the factor 0 of added tensor 0 must be finite and not 0; leave the tensor out"},
    {[](ConvProblem& p) { p.epilogue.inputs = 1; }, "aux=1 has no reader; add f"},
    {[](ConvProblem& p) { p.epilogue.outputs = 1; }, "out=1 has no writer; add store"},
    {[](ConvProblem& p) { p.epilogue.scalar_count = 9; }, "9 scalars; there may be 0 to 8"},
    {[](ConvProblem& p) { p.epilogue.scalar_count = 1; }, "scalars have no reader; add f"},
    {[](ConvProblem& p) { p.epilogue.scalars[1] = 2; }, "scalar 1=2 is beyond the 0 given"},
    {[](ConvProblem& p) { p.epilogue.scalars[1] = kInf; }, "scalar 1 is inf; use finite numbers"},
    {[](ConvProblem& p) { p.epilogue.store = " \n"; }, "the text of store is blank"},
    {[](ConvProblem& p) { p.epilogue.expression = std::string(65537, 'a'); },
     "the text of f has 65537 characters; 65536 are enough for any epilogue"},
    {[](ConvProblem& p) {
       p = with_direction(p, Direction::kBackwardWeight);
       p.epilogue.gradient = Activation::kSilu;
     },
     "grad_silu passes a gradient through an activation of pixels; a weight gradient has none"},
    {[](ConvProblem& p) { p.epilogue.activation = p.epilogue.gradient = Activation::kRelu; },
     "relu and grad_relu together are no chain of a network; use one of them"},
    {[](ConvProblem& p) { p.direction = static_cast<Direction>(9); },
     "direction 9 does not exist; use fwd, bwd_data or bwd_weight"},
    {[](ConvProblem& p) { p.dims = 0; }, "dims=0 is not 1, 2 or 3; a convolution has one to three spatial dimensions"},
    {[](ConvProblem& p) { p.dims = 4; }, "dims=4 is not 1, 2 or 3; a convolution has one to three spatial dimensions"},
    {[](ConvProblem& p) { p.layout = static_cast<Layout>(7); },
     "layout 7 does not exist; use channels-last or channels-first"},
    {[](ConvProblem& p) { p.w = static_cast<DataType>(77); },
     "the type 77 of w does not exist; use fp32, tf32, fp16, bf16, e4m3, e5m2, e2m1 or int8"},
    {[](ConvProblem& p) { p.epilogue.activation = static_cast<Activation>(99); },
     "activation 99 does not exist; use none, " + activation_names()},
    {[](ConvProblem& p) { p.epilogue.gradient = static_cast<Activation>(99); },
     "gradient 99 does not exist; use none, " + activation_names()},
    {[](ConvProblem& p) { p.epilogue.bias_type = static_cast<DataType>(77); },
     "the type 77 of bias does not exist; use fp32, tf32, fp16, bf16, e4m3, e5m2, e2m1 or int8"},
    {[](ConvProblem& p) { p.epilogue.scale = true, p.epilogue.scale_type = DataType::kE4m3; },
     "scale=e4m3: a value for each channel is fp32, fp16 or bf16; use one of them"},
    {[](ConvProblem& p) { p.epilogue.bias_type = DataType::kBf16; },
     "bias_type is bf16, but there is no bias; set bias, or leave its type at fp32"},
    {[](ConvProblem& p) { p.acc = DataType::kF16; },
     "acc=fp16: sums are kept in fp32, those of int8 in int32, and nothing else; leave acc out or use acc=fp32"},
    {[](ConvProblem& p) { p.w = DataType::kF16; },
     "input types bf16 and fp16 cannot be multiplied; use the same type for both, or two fp8 types"},
    {[](ConvProblem& p) { p.y = DataType::kTf32; },
     "output type tf32: tf32 is how inputs are multiplied, not a stored type; use fp32 as the output"},
    {[](ConvProblem& p) { p.y = DataType::kE4m3; },
     "output type e4m3 needs fp8 inputs, not bf16; use fp16, bf16 or fp32 as the output"},
    {[](ConvProblem& p) { p.n = -1; }, "n=-1 is negative; use 0 for an empty batch or a positive batch size"},
    {[](ConvProblem& p) { p.g = 0; }, "g=0 must be at least 1; use g1 for a dense convolution"},
    {[](ConvProblem& p) { p.c = 0; }, "c=0 must be at least 1: the input channels, counted over all groups"},
    {[](ConvProblem& p) { p.k = -3; }, "k=-3 must be at least 1: the output channels, counted over all groups"},
    {[](ConvProblem& p) { p.c = 7; },
     "c=7 is not a multiple of g=2; channels are totals over the groups, so use c=8 or another g"},
    {[](ConvProblem& p) { p.k = 9; },
     "k=9 is not a multiple of g=2; channels are totals over the groups, so use k=10 or another g"},
    {[](ConvProblem& p) { p.in[0] = 2; },
     "input size d=2 in a problem of 2 dimensions, which does not use d; set it to 1 or raise dims"},
    {[](ConvProblem& p) { p.filter[0] = 3; },
     "filter d=3 in a problem of 2 dimensions, which does not use d; set it to 1 or raise dims"},
    {[](ConvProblem& p) { p.stride[0] = 2; },
     "stride d=2 in a problem of 2 dimensions, which does not use d; set it to 1 or raise dims"},
    {[](ConvProblem& p) { p.dilation[0] = 2; },
     "dilation d=2 in a problem of 2 dimensions, which does not use d; set it to 1 or raise dims"},
    {[](ConvProblem& p) { p.pad_lower[0] = 1; },
     "lower padding d=1 in a problem of 2 dimensions, which does not use d; set it to 0 or raise dims"},
    {[](ConvProblem& p) { p.pad_upper[0] = 1; },
     "upper padding d=1 in a problem of 2 dimensions, which does not use d; set it to 0 or raise dims"},
    {[](ConvProblem& p) { p.in[1] = 0; }, "input size h=0 must be at least 1"},
    {[](ConvProblem& p) { p.filter[2] = 0; }, "filter size w=0 must be at least 1"},
    {[](ConvProblem& p) { p.stride[1] = 0; }, "stride h=0 must be at least 1; use 1 to visit every pixel"},
    {[](ConvProblem& p) { p.dilation[2] = -1; }, "dilation w=-1 must be at least 1; 1 is a filter without holes"},
    {[](ConvProblem& p) { p.pad_lower[1] = -1; }, "lower padding h=-1 is negative; crop the input instead"},
    {[](ConvProblem& p) { p.pad_upper[1] = -2; }, "upper padding h=-2 is negative; crop the input instead"},
    {[](ConvProblem& p) { p.pad_lower[1] = kHuge; },
     "the padded input h=9+9223372036854775807+1 does not fit in 64 bits; use a smaller input or padding"},
    {[](ConvProblem& p) { p.dilation[1] = kHuge; },
     "the filter's reach h=9223372036854775807*(3-1)+1 does not fit in 64 bits; use a smaller filter or dilation"},
    {[](ConvProblem& p) { p.dilation[1] = 6; },
     "no output pixels: the filter reaches over 13 pixels in h (size 3, dilation 6), the input with its padding has "
     "11; "
     "use a padding of at least 4 in all, a larger input or a smaller filter"},
    {[](ConvProblem& p) { p.n = int64_t{1} << 53; },
     "the bytes of tensor x do not fit in 64 bits; use a smaller batch, image or channel count"},
    {[](ConvProblem& p) { p.n = 0, p.k = int64_t{1} << 58; },
     "the bytes of tensor w do not fit in 64 bits; use a smaller batch, image or channel count"},
    {[](ConvProblem& p) {
       p.n = int64_t{1} << 48, p.k = 1024, p.filter = {1, 1, 1};
     },
     "the bytes of tensor y do not fit in 64 bits; use a smaller batch, image or channel count"},
    {[](ConvProblem& p) { p.n = int64_t{1} << 40, p.k = 1 << 14; },
     "the multiply-adds of the problem do not fit in 64 bits; split it into smaller ones"},
    {[](ConvProblem& p) { p.epilogue.alpha = kNan; }, "alpha=nan is not finite; use a finite factor"},
    {[](ConvProblem& p) { p.epilogue.residual = true, p.epilogue.beta = kInf; },
     "beta=inf is not finite; use a finite factor"},
    {[](ConvProblem& p) { p.epilogue.residual = true, p.epilogue.beta = 0; },
     "beta=0 would read the residual for nothing; leave the residual out"},
    {[](ConvProblem& p) { p.epilogue.beta = 0.5f; },
     "beta=0.5 has no residual to multiply; add the residual or leave beta at 1"},
    {[](ConvProblem& p) { p.epilogue.activation = Activation::kLeakyRelu, p.epilogue.slope = kNan; },
     "leaky_relu slope nan is not finite; 0.01 is usual"},
    {[](ConvProblem& p) { p.epilogue.slope = 0.2f; },
     "slope=0.2 without leaky_relu has no effect; use leaky_relu or leave the slope at 0.01"},
    {[](ConvProblem& p) { p.epilogue.activation = Activation::kClamp, p.epilogue.high = kInf; },
     "clamp bounds 0:inf are not finite; use relu for a lower bound of 0, or large finite bounds"},
    {[](ConvProblem& p) { p.epilogue.activation = Activation::kClamp, p.epilogue.low = 7; },
     "clamp lower bound 7 is above its upper bound 6; swap them"},
    {[](ConvProblem& p) { p.epilogue.high = 1; },
     "bounds 0:1 without clamp have no effect; use clamp or leave them at 0:6"},
    {[](ConvProblem& p) { p.y = DataType::kI8; },
     "output type int8 needs int8 inputs, not bf16; use fp16, bf16 or fp32 as the output"},
    {[](ConvProblem& p) { p.x_zero = 3; },
     "x_zero=3, but x is bf16: zero points belong to int8 tensors; leave it at 0"},
    {[](ConvProblem& p) {
       make_int8(p);
       p.y = DataType::kF32, p.y_zero = 3;
     },
     "y_zero=3, but y is fp32: zero points belong to int8 tensors; leave it at 0"},
    {[](ConvProblem& p) {
       make_int8(p);
       p.x_zero = 128;
     },
     "x_zero=128 is no int8 number; use -128 to 127"},
    {[](ConvProblem& p) {
       make_int8(p);
       p = with_direction(p, Direction::kBackwardData);
     },
     "int8 is for fwd; bwd_data of quantized tensors is that of their real values: use fp16, bf16 or fp32"},
    {[](ConvProblem& p) {
       make_int8(p);
       p.epilogue.gradient = Activation::kRelu;
     },
     "grad_relu belongs to backward passes, which int8 has not"},
    {[](ConvProblem& p) {
       make_int8(p);
       p.epilogue.expression = "acc * 2";
     },
     "f and store of int8 are not offered: their arithmetic would not be the same on every target; store fp32 and use "
     "a "
     "kernel of your own"},
    {[](ConvProblem& p) {
       make_int8(p);
       p.epilogue.amax = true;
     },
     "amax of an int8 output is bounded by its type; take it of an fp32 output to choose scales"},
    {[](ConvProblem& p) {
       make_int8(p);
       p.c = 1 << 17, p.filter = {1, 1, 1}, p.x_zero = -128;
     },
     "131072 int8 products an output with x_zero=-128 may leave int32; there may be 65535: divide the input channels "
     "and "
     "add the parts as fp32"},
    {[](ConvProblem& p) {
       make_int8(p);
       p.dims = 1, p.in = {1, 1, 8}, p.filter = {1, 1, 3}, p.stride = p.dilation = {1, 1, 1};
       p.pad_lower = {0, 0, 2}, p.pad_upper = {0, 0, 0}, p.history = true;
     },
     "history of int8 is not offered; join history and x, and use padding 0"},
};

TEST(Faults, ProblemsSayTheValuesAndTheRemedy) {
  ASSERT_TRUE(validate(valid()).ok());
  std::set<std::string> seen;
  for (const ProblemFault& fault : kProblemFaults) {
    ConvProblem problem = valid();
    fault.spoil(problem);
    const Status status = validate(problem);
    EXPECT_EQ(status.code(), Code::kBadInput) << fault.message;
    EXPECT_EQ(status.message(), fault.message);
    EXPECT_TRUE(seen.insert(status.message()).second) << "not a message of its own: " << status.message();
  }
  EXPECT_GE(seen.size() + std::size(kTextFaults), 80u);
}

TEST(Faults, TextsThatReadWellAreValidatedToo) {
  EXPECT_EQ(parse_problem("fwd bf16 n-1 c8 k8 i8x8").status().message(),
            "n=-1 is negative; use 0 for an empty batch or a positive batch size");
  EXPECT_THAT(parse_problem("fwd bf16 c100 k9 g3 i8x8").status().message(),
              testing::StartsWith("c=100 is not a multiple"));
  EXPECT_THAT(parse_problem("fwd fp16 c8 k8 i8x8 s0 psame").status().message(), testing::StartsWith("stride h=0"));
  EXPECT_THAT(parse_problem("fwd fp16>e5m2 c8 k8 i8x8").status().message(), testing::StartsWith("output type e5m2"));
  EXPECT_THAT(parse_problem("fwd fp32 acc=bf16 c8 k8 i8x8").status().message(), testing::StartsWith("acc=bf16"));
}

TEST(Faults, EmptyAndVeryLargeProblemsAreValid) {
  EXPECT_TRUE(parse_problem("fwd bf16 n0 c8 k8 i8x8 f3x3").ok());
  const Result<ConvProblem> large = parse_problem("fwd bf16 n4096 c1024 k1024 i64x64 f3x3 p1");
  ASSERT_TRUE(large.ok());
  EXPECT_EQ(large->x_elements(), int64_t{1} << 34);
  EXPECT_EQ(large->y_elements(), int64_t{1} << 34);
}

}  // namespace
}  // namespace wt
