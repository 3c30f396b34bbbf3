// SPDX-License-Identifier: Apache-2.0
// tests/config/odd_configs_test.cc - the constraint table answers for any configuration that a user may write down.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "config/fields.h"
#include "kernels/constraints.h"
#include "kernels/kind.h"

namespace wt {
namespace {

// Every pipeline and kind with nothing else said, and a proposal of every kind.
std::vector<KernelConfig> bases(Target target, Direction direction) {
  KernelConfig base;
  base.target = target;
  base.direction = direction;
  std::vector<KernelConfig> configs;
  for (int i = 0; i <= static_cast<int>(Pipeline::kRows); ++i) {
    configs.push_back(base);
    configs.back().kind = Kind::kPortable;
    configs.back().gemm.pipeline = static_cast<Pipeline>(i);
  }
  for (int i = 0; i <= static_cast<int>(Kind::kStacked); ++i) {
    configs.push_back(base);
    configs.back().kind = static_cast<Kind>(i);
    if (static_cast<Kind>(i) != Kind::kPortable) configs.back().gemm.pipeline = only_pipeline(static_cast<Kind>(i));
  }
  std::vector<KernelConfig> proposed;
  propose(base, Breadth::kAll, proposed);
  std::set<Kind> seen;
  for (const KernelConfig& config : proposed)
    if (seen.insert(config.kind).second) configs.push_back(config);
  return configs;
}

// A division by a field that is zero, say, would end the program.
TEST(OddConfigs, AreDeclinedInWords) {
  int64_t declined = 0;
  for (const Direction direction : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight}) {
    ConvProblem problem;
    problem.direction = direction;
    problem.c = problem.k = 64;
    problem.in = {1, 9, 9};
    problem.filter = {1, 3, 3};
    for (const Target target : {Target::kSm80, Target::kSm90a, Target::kGfx942}) {
      for (const KernelConfig& base : bases(target, direction)) {
        for (const Field& field : fields()) {
          if (field.kind != Field::Kind::kInteger || field.path == "dims") continue;
          for (const int64_t value : {0, 1, 3, 127}) {
            KernelConfig config = base;
            if (!field.fits(value)) continue;
            field.set(config, value);
            for (const Decline& decline : declines(config)) {
              EXPECT_FALSE(decline.message.empty()) << key_of(config);
              ++declined;
            }
            if (declines(config).empty()) declined += static_cast<int64_t>(declines(config, problem, {}).size());
          }
        }
      }
    }
  }
  EXPECT_GT(declined, 10000);
}

}  // namespace
}  // namespace wt
