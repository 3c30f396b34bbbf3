// SPDX-License-Identifier: Apache-2.0
// tests/api/gemm_test.cc - matrix products through the public interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <wavetile/wavetile.hpp>

#include <vector>

namespace wavetile {
namespace {

using ::testing::HasSubstr;

std::string error_of(wavetile_status status) { return status == WAVETILE_OK ? "" : wavetile_last_error(); }

// Small integers, which every order of a sum gives alike.
std::vector<float> numbers(size_t count, int step) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(static_cast<int>(i * static_cast<size_t>(step) % 7) - 3);
  return values;
}

// Two products of 3 x 4 by 4 x 5 (nn), the usual strides of a batch, with two added tensors.
TEST(GemmApi, ComputesABatchWithMultipleD) {
  constexpr size_t kBatch = 2, kRows = 3, kColumns = 5, kDeep = 4;
  const auto problem = Problem::gemm(
      {.form = GemmForm::kNn, .a = Type::kF32, .b = Type::kF32, .d = Type::kF32, .m = 3, .n = 5, .k = 4, .batch = 2},
      {.betas = {1, 0.5f}});
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  EXPECT_EQ(problem->text(), "gemm fp32 m3 n5 k4 b2 nn +add=1:0.5");
  const std::vector<float> a = numbers(kBatch * kRows * kDeep, 3), b = numbers(kBatch * kDeep * kColumns, 5),
                           d0 = numbers(kBatch * kRows * kColumns, 2), d1 = numbers(kBatch * kRows * kColumns, 4);
  for (const char* id : {"cpu", "sim:sm_80"}) {
    std::vector<float> d(kBatch * kRows * kColumns, -99);
    const auto device = Device::open(id);
    ASSERT_TRUE(device.ok()) << device.status().message();
    const auto plan = Plan::create(*device, *problem);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const auto workspace = Buffer::allocate(*device, plan->workspace_bytes());
    ASSERT_TRUE(workspace.ok());
    std::vector<Buffer> there;
    const std::vector<float>& poisoned = d;
    for (const std::vector<float>* here : {&a, &b, &d0, &d1, &poisoned}) {
      there.push_back(Buffer::allocate(*device, here->size() * sizeof(float)).value());
      ASSERT_TRUE(there.back().copy_in(here->data()).ok());
    }
    Tensors tensors = gemm_tensors(*problem, there[0], there[1], there[4]);
    tensors.aux = {there[2], there[3]};
    const Status status = plan->execute(tensors, *workspace);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(there[4].copy_out(d.data()).ok());
    for (size_t batch = 0; batch < kBatch; ++batch)
      for (size_t row = 0; row < kRows; ++row)
        for (size_t column = 0; column < kColumns; ++column) {
          const size_t at = (batch * kRows + row) * kColumns + column;
          float right = d0[at] + 0.5f * d1[at];
          for (size_t i = 0; i < kDeep; ++i)
            right += a[(batch * kRows + row) * kDeep + i] * b[(batch * kDeep + i) * kColumns + column];
          EXPECT_EQ(d[at], right) << id << " " << at;
        }
  }
}

TEST(GemmApi, TellsTheRolesOfItsMatrices) {
  const auto roles = [](const char* text) { return Problem::parse(text).value().gemm_roles().value(); };
  EXPECT_EQ(roles("gemm bf16 m4 n8 k16"), (std::array{Role::kX, Role::kW, Role::kY}));
  EXPECT_EQ(roles("gemm bf16 m4 n8 k16 tn"), (std::array{Role::kY, Role::kX, Role::kW}));
  EXPECT_EQ(roles("gemm bf16 m4 n8 k16 b2 nn"), (std::array{Role::kW, Role::kX, Role::kY}));
  const auto other = Problem::parse("fwd bf16 c8 k8 i8x8 f3x3 p1").value().gemm_roles();
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.status().message(), HasSubstr("is no product of matrices"));
}

TEST(GemmApi, RefusesWhatIsNone) {
  wavetile_gemm_desc desc;
  wavetile_gemm_desc_init(&desc);
  wavetile_problem* problem = nullptr;
  desc.k = 0;
  EXPECT_THAT(error_of(wavetile_problem_create_gemm(&desc, nullptr, &problem)), HasSubstr("k=0 of a gemm"));
  desc.k = 8;
  desc.form = 3;
  EXPECT_THAT(error_of(wavetile_problem_create_gemm(&desc, nullptr, &problem)), HasSubstr("form=3 is no choice"));
  desc.form = WAVETILE_GEMM_TN;
  wavetile_problem_desc epilogue;
  wavetile_problem_desc_init(&epilogue);
  epilogue.bias = 1;
  EXPECT_THAT(error_of(wavetile_problem_create_gemm(&desc, &epilogue, &problem)), HasSubstr("columns of D"));
  desc.struct_size = 4;
  EXPECT_THAT(error_of(wavetile_problem_create_gemm(&desc, nullptr, &problem)), HasSubstr("wavetile_gemm_desc_init"));
  EXPECT_EQ(wavetile_problem_create_gemm(nullptr, nullptr, &problem), WAVETILE_BAD_INPUT);
  EXPECT_EQ(problem, nullptr);
}

}  // namespace
}  // namespace wavetile
