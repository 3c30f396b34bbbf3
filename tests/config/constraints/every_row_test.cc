// SPDX-License-Identifier: Apache-2.0
// One case per row of the constraint table (the other files of this folder): it trips the row and reads the message.
// AllRowsAreTripped fails for a row without a case.
#include "kernels/constraints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "config/fields.h"
#include "config/signature.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/kind.h"
#include "kernels/resources.h"
#include "problem/random_problem.h"
#include "tests/config/row_cases.h"

namespace wt {
namespace {

using testing::HasSubstr;

std::vector<std::string> ids(const std::vector<Decline>& list) {
  std::vector<std::string> out;
  for (const Decline& decline : list) out.emplace_back(decline.id);
  return out;
}

TEST_P(TargetRow, TripsAndSaysWhy) {
  const RowCase& row = GetParam();
  KernelConfig config;
  ASSERT_TRUE(declines(config).empty()) << to_text(declines(config));
  row.change(config);
  const std::vector<Decline> found = declines(config);
  ASSERT_THAT(ids(found), testing::Contains(row.id));
  EXPECT_FALSE(is_valid(config));
  for (const Decline& decline : found) {
    if (decline.id == row.id) {
      EXPECT_THAT(decline.message, HasSubstr(row.message));
    }
  }
}

// Whether the row is one of all kinds, or one of the config's kind.
bool is_asked(const Constraint& row, const KernelConfig& config) {
  const auto has = [&](const KernelKind& kind) {
    if (!kind.problem_rows) return false;
    return std::ranges::any_of(kind.problem_rows(), [&](const Constraint& own) { return own.id == row.id; });
  };
  if (has(kind_of(config.kind))) return true;
  return std::ranges::none_of(kernel_kinds(), [&](const KernelKind* kind) { return has(*kind); });
}

const Constraint* find_row(std::span<const Constraint> rows, std::string_view id) {
  for (const Constraint& row : rows)
    if (row.id == id) return &row;
  return nullptr;
}

// The row is asked directly: kernels that many rows speak of do not exist yet, so declines() stops before them.
TEST_P(ProblemRow, TripsAndSaysWhy) {
  const RowCase& row = GetParam();
  const auto problem = parse_problem(row.problem);
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  const Constraint* constraint = find_row(problem_rows(), row.id);
  ASSERT_NE(constraint, nullptr);
  KernelConfig config = config_for(*problem, Target::kSm80);
  const View view(*problem, usual_rates(Target::kSm90a));
  const Case before{config, info_of(config.target), &*problem, row.requests, &*problem, &view};
  EXPECT_FALSE(is_asked(*constraint, config) && constraint->trips(before)) << "trips without the change";
  row.change(config);
  const Case at{config, info_of(config.target), &*problem, row.requests, &*problem, &view};
  ASSERT_TRUE(is_asked(*constraint, config));
  ASSERT_TRUE(constraint->trips(at));
  EXPECT_THAT(constraint->message(at), HasSubstr(row.message));
}

TEST(Constraints, AllRowsAreTripped) {
  const std::set<std::string_view> tripped(tripped_rows().begin(), tripped_rows().end());
  std::set<std::string_view> rows;
  for (const auto& part : {target_rows(), problem_rows()}) {
    for (const Constraint& row : part) {
      EXPECT_TRUE(rows.insert(row.id).second) << row.id << " stands twice";
      EXPECT_TRUE(tripped.contains(row.id)) << row.id << " has no case";
      EXPECT_FALSE(row.rule.empty());
    }
  }
  EXPECT_EQ(rows.size(), tripped.size());
}

TEST(Constraints, SharedMemoryIsTheKernelsOwnFormula) {
  KernelConfig config;
  for (const short k : {16, 32, 64}) {
    config.gemm.tile = {128, 64, k};
    EXPECT_EQ(shared_bytes_of(config), shared_bytes(config));
  }
  // (128 + 64) rows of 32 + 8 elements of 2 bytes, and a coordinate for each row, column and twice each k.
  config.gemm.tile = {128, 64, 32};
  EXPECT_EQ(shared_bytes_of(config), 192 * 40 * 2 + (192 + 64) * gemm_storage::kCoordinateBytes);
}

TEST(Constraints, ThreadsCountEveryRole) {
  KernelConfig config;
  EXPECT_EQ(threads_of(config), 128);
  config.target = Target::kGfx942;
  EXPECT_EQ(threads_of(config), 256);
  config.gemm.load_warps = 4;
  EXPECT_EQ(threads_of(config), 512);
}

TEST(Constraints, TextJoinsReasons) {
  KernelConfig config;
  config.dims = 0;
  config.gemm.stages = 0;
  EXPECT_THAT(to_text(declines(config)),
              testing::AllOf(HasSubstr("dims-range: dims=0"), HasSubstr("; stages-range: ")));
}

// No valid problem is refused: the generic kernel takes every problem on every target that multiplies its type.
TEST(Constraints, GenericKernelAcceptsEveryProblem) {
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    const ConvProblem problem = random_problem(random, {.scaled = true});
    for (const TargetInfo& target : targets()) {
      KernelConfig config = config_for(problem, target.target);
      const std::vector<MmaShape> shapes = mma_shapes(target, multiply_type(config));
      if (shapes.empty() || !shapes.front().portable) continue;
      config.gemm.mma = shapes.front().shape;
      const std::vector<Decline> reasons = declines(config, problem, {.strict_nonfinite = true});
      ASSERT_TRUE(reasons.empty()) << to_text(problem) << " on " << target.name << ": " << to_text(reasons);
      ASSERT_TRUE(accepts(config, problem));
    }
  }
}

TEST(Constraints, ProblemRowsWaitForAValidConfig) {
  const auto problem = parse_problem("fwd bf16 n1 c8 k8 i8x8 f3x3");
  ASSERT_TRUE(problem.ok());
  KernelConfig config = config_for(*problem, Target::kSm80);
  config.kind = Kind::kPortable;
  config.gemm.pipeline = Pipeline::kCompV6;
  EXPECT_THAT(ids(declines(config, *problem)), testing::Contains("stages-range"));
  EXPECT_THAT(ids(declines(config, *problem)), testing::Not(testing::Contains("k-iterations")));
  EXPECT_FALSE(accepts(config, *problem));
}

TEST(Signature, FollowsTheProblem) {
  const auto problem = parse_problem("bwd_data fp16 n1 c8 k8 i8x8x8 f3x3x3 +bias+relu");
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  const KernelConfig config = config_for(*problem, Target::kGfx942);
  EXPECT_EQ(config.direction, Direction::kBackwardData);
  EXPECT_EQ(config.dims, 3);
  EXPECT_EQ(config.target, Target::kGfx942);
  EXPECT_TRUE(config.epilogue.bias);
  EXPECT_EQ(config.epilogue.activation, Activation::kRelu);
  EXPECT_EQ(signature_difference(config, *problem), "");
}

TEST(Signature, SetTypesFollowsTheDirection) {
  KernelConfig config{.direction = Direction::kBackwardWeight};
  set_types(config, DataType::kE4m3, DataType::kF32);
  EXPECT_EQ(config.x, DataType::kE4m3);
  EXPECT_EQ(config.y, DataType::kE4m3);
  EXPECT_EQ(config.w, DataType::kF32);
  EXPECT_EQ(output_type(config), DataType::kF32);
}

}  // namespace
}  // namespace wt
