// SPDX-License-Identifier: Apache-2.0
// Problems from text and from the struct: the same thing, with the same tensors.
#include <cstring>
#include <ostream>
#include <vector>

#include "handles.h"

using namespace wavetile_test;

TEST(Problem, StructAndTextGiveTheSameProblem) {
  wavetile_problem_desc desc = default_desc();
  desc.n = 16;
  desc.c = 256;
  desc.k = 36;
  desc.in[0] = 100;
  desc.in[1] = 90;
  desc.filter[0] = desc.filter[1] = 3;
  for (int i = 0; i < 2; ++i) desc.pad_lower[i] = desc.pad_upper[i] = 1;
  desc.bias = 1;
  desc.activation = WAVETILE_ACTIVATION_RELU;
  wavetile_problem* made = nullptr;
  ASSERT_TRUE(succeeded(wavetile_problem_create(&desc, &made)));
  const Problem from_struct(made, wavetile_problem_destroy);
  const Problem from_text = parse("fwd bf16 n16 c256 k36 i100x90 f3x3 p1 +bias+relu");
  EXPECT_STREQ(wavetile_problem_text(from_struct.get()), wavetile_problem_text(from_text.get()));
  EXPECT_STREQ(wavetile_problem_canonical_text(from_struct.get()), wavetile_problem_canonical_text(from_text.get()));
  EXPECT_TRUE(succeeded(wavetile_problem_validate(&desc)));
}

TEST(Problem, EveryFieldSurvivesTheWayThroughAProblem) {
  wavetile_problem_desc desc = default_desc();
  desc.direction = WAVETILE_BACKWARD_DATA;
  desc.dims = 3;
  desc.layout = WAVETILE_CHANNELS_FIRST;
  desc.x_type = WAVETILE_F32;
  desc.w_type = WAVETILE_F16;
  desc.y_type = WAVETILE_F16;
  desc.n = 2;
  desc.g = 2;
  desc.c = 6;
  desc.k = 4;
  const int64_t in[] = {9, 10, 11}, filter[] = {1, 2, 3}, stride[] = {1, 2, 3}, dilation[] = {3, 2, 1};
  const int64_t lower[] = {0, 1, 2}, upper[] = {2, 1, 0};
  for (int i = 0; i < 3; ++i) {
    desc.in[i] = in[i];
    desc.filter[i] = filter[i];
    desc.stride[i] = stride[i];
    desc.dilation[i] = dilation[i];
    desc.pad_lower[i] = lower[i];
    desc.pad_upper[i] = upper[i];
  }
  desc.alpha = 0.5f;
  desc.beta = 2;
  desc.scale = desc.bias = desc.residual = desc.amax = 1;
  desc.scale_type = WAVETILE_F16;
  desc.bias_type = WAVETILE_BF16;
  desc.activation = WAVETILE_ACTIVATION_CLAMP;
  desc.low = -3;
  desc.high = 4;
  wavetile_problem* made = nullptr;
  ASSERT_TRUE(succeeded(wavetile_problem_create(&desc, &made)));
  const Problem problem(made, wavetile_problem_destroy);
  auto back = sized<wavetile_problem_desc>();
  ASSERT_TRUE(succeeded(wavetile_problem_get_desc(problem.get(), &back)));
  EXPECT_EQ(std::memcmp(&desc, &back, sizeof desc), 0);

  // And through the text.
  const Problem again = parse(wavetile_problem_text(problem.get()));
  ASSERT_TRUE(again);
  ASSERT_TRUE(succeeded(wavetile_problem_get_desc(again.get(), &back)));
  EXPECT_EQ(std::memcmp(&desc, &back, sizeof desc), 0) << wavetile_problem_text(problem.get());
}

TEST(Problem, SpatialValuesBeyondTheDimensionsAreIgnored) {
  wavetile_problem_desc desc = default_desc();
  desc.dims = 1;
  desc.in[0] = 7;
  desc.in[1] = -5;
  desc.stride[2] = 0;
  wavetile_problem* made = nullptr;
  ASSERT_TRUE(succeeded(wavetile_problem_create(&desc, &made)));
  const Problem problem(made, wavetile_problem_destroy);
  int64_t size[3] = {0, 0, 0};
  ASSERT_TRUE(succeeded(wavetile_problem_output_size(problem.get(), size)));
  EXPECT_EQ(size[0], 7);
  EXPECT_EQ(size[1], 1);
  EXPECT_EQ(size[2], 1);
}

struct PaddingCase {
  wavetile_padding padding;
  int64_t lower[2], upper[2], out[2];
};

void PrintTo(const PaddingCase& value, std::ostream* out) { *out << "padding " << value.padding; }

class PaddingTest : public testing::TestWithParam<PaddingCase> {};

TEST_P(PaddingTest, IsWorkedOut) {
  wavetile_problem_desc desc = default_desc();
  desc.in[0] = 7;
  desc.in[1] = 8;
  desc.filter[0] = 3;
  desc.filter[1] = 4;
  desc.stride[1] = 2;
  desc.padding = GetParam().padding;
  desc.pad_lower[0] = 100;  // read only where the padding is explicit
  desc.pad_upper[0] = 0;    // not as much above
  wavetile_problem* made = nullptr;
  ASSERT_TRUE(succeeded(wavetile_problem_create(&desc, &made)));
  const Problem problem(made, wavetile_problem_destroy);
  auto back = sized<wavetile_problem_desc>();
  ASSERT_TRUE(succeeded(wavetile_problem_get_desc(problem.get(), &back)));
  int64_t size[3];
  ASSERT_TRUE(succeeded(wavetile_problem_output_size(problem.get(), size)));
  EXPECT_EQ(back.padding, WAVETILE_PADDING_EXPLICIT);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(back.pad_lower[i], GetParam().lower[i]) << i;
    EXPECT_EQ(back.pad_upper[i], GetParam().upper[i]) << i;
    EXPECT_EQ(size[i], GetParam().out[i]) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, PaddingTest,
                         testing::Values(PaddingCase{WAVETILE_PADDING_EXPLICIT, {100, 0}, {0, 0}, {105, 3}},
                                         PaddingCase{WAVETILE_PADDING_SAME, {1, 1}, {1, 1}, {7, 4}},
                                         PaddingCase{WAVETILE_PADDING_VALID, {0, 0}, {0, 0}, {5, 3}},
                                         PaddingCase{WAVETILE_PADDING_CAUSAL, {2, 1}, {0, 1}, {7, 4}}));

struct TensorCase {
  const char* problem;
  wavetile_role role;
  int use;
  int type;
  std::vector<int64_t> shape;
};

void PrintTo(const TensorCase& value, std::ostream* out) { *out << value.problem << " role " << value.role; }

class TensorTest : public testing::TestWithParam<TensorCase> {};

TEST_P(TensorTest, HasItsShape) {
  const TensorCase& expected = GetParam();
  const Problem problem = parse(expected.problem);
  ASSERT_TRUE(problem);
  auto info = sized<wavetile_tensor_info>();
  ASSERT_TRUE(succeeded(wavetile_problem_tensor(problem.get(), expected.role, &info)));
  EXPECT_EQ(info.use, expected.use);
  EXPECT_EQ(std::vector<int64_t>(info.shape, info.shape + info.rank), expected.shape);
  int64_t elements = expected.shape.empty() ? 0 : 1;
  for (const int64_t size : expected.shape) elements *= size;
  EXPECT_EQ(info.elements, elements);
  if (expected.use != WAVETILE_UNUSED) {
    EXPECT_EQ(info.type, expected.type);
    EXPECT_EQ(info.bytes, elements * wavetile_type_size(static_cast<wavetile_type>(expected.type)));
  }
  EXPECT_EQ(wavetile_problem_tensor_bytes(problem.get(), expected.role), info.bytes);
}

constexpr const char* kForward = "fwd bf16 n2 g2 c6 k4 i5x7 f3x3 p1 +bias+residual";
constexpr const char* kNarrow = "fwd fp32 n2 c6 k4 i5x7 f3x3 p1 +scale=fp16+bias=bf16";
constexpr const char* kData = "bwd_data fp32 NCDHW n2 c6 k4 i5x7x9 f1x2x3 +scale";
constexpr const char* kWeight = "bwd_weight fp16 n2 c6 k4 i9 f3 +amax";
INSTANTIATE_TEST_SUITE_P(
    Roles, TensorTest,
    testing::Values(TensorCase{kForward, WAVETILE_ROLE_X, WAVETILE_READ, WAVETILE_BF16, {2, 5, 7, 6}},
                    TensorCase{kForward, WAVETILE_ROLE_W, WAVETILE_READ, WAVETILE_BF16, {4, 3, 3, 3}},
                    TensorCase{kForward, WAVETILE_ROLE_Y, WAVETILE_WRITTEN, WAVETILE_BF16, {2, 5, 7, 4}},
                    TensorCase{kForward, WAVETILE_ROLE_BIAS, WAVETILE_READ, WAVETILE_F32, {4}},
                    TensorCase{kForward, WAVETILE_ROLE_RESIDUAL, WAVETILE_READ, WAVETILE_BF16, {2, 5, 7, 4}},
                    TensorCase{kForward, WAVETILE_ROLE_SCALE, WAVETILE_UNUSED, 0, {}},
                    TensorCase{kNarrow, WAVETILE_ROLE_SCALE, WAVETILE_READ, WAVETILE_F16, {4}},
                    TensorCase{kNarrow, WAVETILE_ROLE_BIAS, WAVETILE_READ, WAVETILE_BF16, {4}},
                    TensorCase{kForward, WAVETILE_ROLE_AMAX, WAVETILE_UNUSED, 0, {}},
                    TensorCase{kData, WAVETILE_ROLE_X, WAVETILE_WRITTEN, WAVETILE_F32, {2, 6, 5, 7, 9}},
                    TensorCase{kData, WAVETILE_ROLE_W, WAVETILE_READ, WAVETILE_F32, {4, 6, 1, 2, 3}},
                    TensorCase{kData, WAVETILE_ROLE_Y, WAVETILE_READ, WAVETILE_F32, {2, 4, 5, 6, 7}},
                    TensorCase{kData, WAVETILE_ROLE_SCALE, WAVETILE_READ, WAVETILE_F32, {6}},
                    TensorCase{kWeight, WAVETILE_ROLE_X, WAVETILE_READ, WAVETILE_F16, {2, 9, 6}},
                    TensorCase{kWeight, WAVETILE_ROLE_W, WAVETILE_WRITTEN, WAVETILE_F16, {4, 3, 6}},
                    TensorCase{kWeight, WAVETILE_ROLE_Y, WAVETILE_READ, WAVETILE_F16, {2, 7, 4}},
                    TensorCase{kWeight, WAVETILE_ROLE_AMAX, WAVETILE_WRITTEN, WAVETILE_F32, {1}}));

TEST(Problem, OutputRoleFollowsTheDirection) {
  EXPECT_EQ(wavetile_problem_output_role(parse(kForward).get()), WAVETILE_ROLE_Y);
  EXPECT_EQ(wavetile_problem_output_role(parse(kData).get()), WAVETILE_ROLE_X);
  EXPECT_EQ(wavetile_problem_output_role(parse(kWeight).get()), WAVETILE_ROLE_W);
}

TEST(Problem, SizesBeyond32BitsAreCounted) {
  const Problem problem = parse("fwd bf16 n1024 c4096 k8 i2048x2048 f1x1");
  EXPECT_EQ(wavetile_problem_tensor_bytes(problem.get(), WAVETILE_ROLE_X), int64_t{2} * 1024 * 4096 * 2048 * 2048);
  EXPECT_DOUBLE_EQ(wavetile_problem_flops(problem.get()), 2.0 * 1024 * 2048 * 2048 * 8 * 4096);
}

TEST(Structs, ASmallerOlderStructIsUnderstood) {
  // All of the first version is required, so an older caller's struct can only be a prefix of a later one; a larger one
  // whose extra bytes are zero comes from a newer header and must work too.
  struct Newer {
    wavetile_problem_desc desc;
    int64_t later_field;
  } newer{default_desc(), 0};
  newer.desc.struct_size = sizeof newer;
  EXPECT_TRUE(succeeded(wavetile_problem_validate(&newer.desc)));
  newer.later_field = 1;
  EXPECT_EQ(wavetile_problem_validate(&newer.desc), WAVETILE_UNSUPPORTED);
  EXPECT_NE(std::string(wavetile_last_error()).find("update the library"), std::string::npos);
}

TEST(Structs, ALargerStructIsFilledWithZerosBeyondWhatIsKnown) {
  struct Newer {
    wavetile_tensor_info info;
    int64_t later_field;
  } newer{{}, 77};
  newer.info.struct_size = sizeof newer;
  ASSERT_TRUE(succeeded(wavetile_problem_tensor(parse(kForward).get(), WAVETILE_ROLE_X, &newer.info)));
  EXPECT_EQ(newer.info.struct_size, sizeof newer);
  EXPECT_EQ(newer.info.rank, 4);
  EXPECT_EQ(newer.later_field, 0);
}

TEST(Numbers, RoundTripAndRoundToNearestEven) {
  const float values[] = {0.0f, 1.0f, -2.5f, 1.0f + 0x1p-8f, 1.0f + 0x1.8p-7f, 1e30f};
  uint16_t bf16[6];
  float back[6];
  ASSERT_TRUE(succeeded(wavetile_from_float(WAVETILE_BF16, values, 6, bf16)));
  ASSERT_TRUE(succeeded(wavetile_to_float(WAVETILE_BF16, bf16, 6, back)));
  EXPECT_EQ(back[0], 0.0f);
  EXPECT_EQ(back[1], 1.0f);
  EXPECT_EQ(back[2], -2.5f);
  EXPECT_EQ(back[3], 1.0f);            // a tie, to even below
  EXPECT_EQ(back[4], 1.0f + 0x1p-6f);  // a tie, to even above
  uint8_t e4m3;
  ASSERT_TRUE(succeeded(wavetile_from_float(WAVETILE_E4M3, &values[5], 1, &e4m3)));
  ASSERT_TRUE(succeeded(wavetile_to_float(WAVETILE_E4M3, &e4m3, 1, back)));
  EXPECT_EQ(back[0], 448.0f);
  EXPECT_EQ(wavetile_type_size(WAVETILE_TF32), 4);
  EXPECT_EQ(wavetile_type_size(static_cast<wavetile_type>(10)), 0);
}
