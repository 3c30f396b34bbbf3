// SPDX-License-Identifier: Apache-2.0
#include "kernels/view.h"

#include <gtest/gtest.h>

#include <set>

#include "config/signature.h"
#include "kernels/depthwise_strips/view.h"
#include "kernels/kind.h"
#include "problem/patch_view.h"

namespace wt {
namespace {

const Rates kRates = usual_rates(Target::kSm90a);

struct Counted {
  explicit Counted(const View& of) : problem(&of.problem()) { ++made; }
  const ConvProblem* problem;
  static inline int made = 0;
};
struct Other {
  explicit Other(const View&) {}
};

KernelConfig for_patches(Direction direction, bool copies) {
  KernelConfig config;
  config.direction = direction;
  config.kind = direction == Direction::kBackwardWeight ? Kind::kTmaWeight : Kind::kTma;
  config.gemm.pipeline = Pipeline::kTma;
  config.gemm.specialization = Specialization::kPatch;
  config.gemm.aligned_copy = copies;
  return config;
}

TEST(View, MakesAPartOnce) {
  const ConvProblem problem = *parse_problem("fwd bf16 n2 c64 k64 i14x14 f3x3 p1");
  Counted::made = 0;
  const View view(problem, kRates);
  EXPECT_EQ(Counted::made, 0) << "before it is asked for";
  Counted& part = view.part<Counted>();
  EXPECT_EQ(part.problem, &problem);
  view.part<Other>();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(&view.part<Counted>(), &part);
  EXPECT_EQ(Counted::made, 1);
  const View again(problem, kRates);
  EXPECT_NE(&again.part<Counted>(), &part);
}

TEST(View, OfMergedGroupsHasPartsOfItsOwn) {
  const ConvProblem problem = *parse_problem("fwd bf16 n2 c64 k64 g16 i14x14 f3x3 p1");
  const View view(problem, kRates);
  EXPECT_EQ(&view.merged(1), &view);
  const View& merged = view.merged(4);
  EXPECT_EQ(merged.problem().g, 4);
  EXPECT_EQ(merged.asked(), merged.problem());
  EXPECT_EQ(view.merged(8).problem().g, 2);
  EXPECT_EQ(&view.merged(4), &merged);
  EXPECT_EQ(merged.part<Counted>().problem, &merged.problem());
}

// A choice asks for a strips kernel's cut twice: for its time, and for its launches.
TEST(View, KeepsTheCutOfAStripsKernel) {
  const ConvProblem problem = *parse_problem("fwd bf16 n2 c64 k64 g64 i28x28 f5x5 s2 p2");
  std::vector<KernelConfig> all;
  propose(config_for(problem, Target::kSm90a), Breadth::kAll, all);
  const View view(problem, kRates), other(problem, kRates);
  std::set<const void*> cuts;
  for (const KernelConfig& config : all) {
    if (config.kind != Kind::kDepthwiseStrips || !accepts(config, problem)) continue;
    const std::optional<StripsCut>& cut = strips_cut(config, view);
    ASSERT_TRUE(cut);
    EXPECT_EQ(&strips_cut(config, view), &cut);
    EXPECT_TRUE(cuts.insert(&cut).second) << "each kernel has its own";
    EXPECT_NE(&strips_cut(config, other), &cut);
  }
  EXPECT_GT(cuts.size(), 1u);
}

TEST(View, IsOfPatchesForTheKernelsThatSeeThem) {
  const ConvProblem problem = *parse_problem("bwd_weight bf16 n2 c3 k64 i32x32 f4x4 s4");
  const View view(problem, kRates);
  EXPECT_EQ(&view.seen_by(KernelConfig{}), &view);
  const View& patches = view.seen_by(for_patches(Direction::kBackwardWeight, false));
  EXPECT_EQ(patches.problem(), patch_view(problem));
  EXPECT_EQ(&patches.asked(), &problem);
  const View& packed = view.seen_by(for_patches(Direction::kBackwardWeight, true));
  EXPECT_EQ(packed.problem(), patch_view(problem, true));
  EXPECT_EQ(&view.seen_by(for_patches(Direction::kBackwardWeight, false)), &patches);

  const ConvProblem plain = *parse_problem("bwd_weight bf16 n2 c3 k64 i32x32 f3x3 p1");
  const View other(plain, kRates);
  EXPECT_EQ(&other.seen_by(for_patches(Direction::kBackwardWeight, false)), &other);
}

}  // namespace
}  // namespace wt
