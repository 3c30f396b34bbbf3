// SPDX-License-Identifier: Apache-2.0
// tests/api/scales_test.cc - numbers with scales of blocks through C++ and C: shapes, tensors, a run, and what is
// refused.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>
#include <wavetile/wavetile.hpp>

namespace {

using wavetile::Scales;
using wavetile::Type;

wavetile::ProblemFields fields_of(Type type, Scales scales) {
  wavetile::ProblemFields fields;
  fields.x = fields.w = type;
  fields.n = 2, fields.c = 64, fields.k = 24;
  fields.in = {7, 5};
  fields.filter = 3;
  fields.pad_lower = 1;
  fields.scales = scales;
  return fields;
}

std::vector<int64_t> shape_of(const wavetile::TensorInfo& info) {
  return std::vector<int64_t>(info.shape, info.shape + info.rank);
}

TEST(Scales, ProblemsHaveThem) {
  const auto problem = wavetile::Problem::create(fields_of(Type::kE4m3, Scales::kMx));
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  EXPECT_EQ(problem->text(), "fwd e4m3>bf16 n2 c64 k24 i7x5 f3x3 p1 scales=mx");
  EXPECT_EQ(problem->desc().scales, WAVETILE_SCALES_MX);
  const wavetile::TensorInfo x = problem->tensor(wavetile::Role::kXScales),
                             w = problem->tensor(wavetile::Role::kWScales);
  EXPECT_EQ(x.use, WAVETILE_READ);
  EXPECT_EQ(x.type, WAVETILE_UE8M0);
  EXPECT_EQ(shape_of(x), (std::vector<int64_t>{2, 7, 5, 2}));
  EXPECT_EQ(x.bytes, 2 * 7 * 5 * 2);
  EXPECT_EQ(shape_of(w), (std::vector<int64_t>{24, 3, 3, 2}));

  const auto pairs = wavetile::Problem::create(fields_of(Type::kE2m1, Scales::kNv));
  ASSERT_TRUE(pairs.ok()) << pairs.status().message();
  EXPECT_EQ(pairs->tensor(wavetile::Role::kXScales).type, WAVETILE_UE4M3);
  EXPECT_EQ(shape_of(pairs->tensor(wavetile::Role::kXScales)), (std::vector<int64_t>{2, 7, 5, 4}));
  EXPECT_EQ(shape_of(pairs->tensor(wavetile::Role::kX)), (std::vector<int64_t>{2, 7, 5, 32}));  // bytes of two
  EXPECT_EQ(pairs->bytes(wavetile::Role::kX), 2u * 7 * 5 * 32);
  const auto plain = wavetile::Problem::parse("fwd e4m3>bf16 n2 c64 k24 i7x5");
  EXPECT_EQ(plain->tensor(wavetile::Role::kXScales).use, WAVETILE_UNUSED);
}

TEST(Scales, RunAndVerify) {
  for (const char* id : {"cpu", "sim:sm_80"}) {
    const auto device = wavetile::Device::open(id);
    ASSERT_TRUE(device.ok()) << device.status().message();
    for (const auto& [type, scales] : {std::pair{Type::kE5m2, Scales::kMx}, {Type::kE2m1, Scales::kNv}}) {
      const auto problem = wavetile::Problem::create(fields_of(type, scales));
      ASSERT_TRUE(problem.ok());
      const auto plan = wavetile::Plan::create(*device, *problem);
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      const auto buffer = [&](wavetile::Role role) {
        return wavetile::Buffer::allocate(*device, problem->bytes(role)).value();
      };
      const auto x = buffer(wavetile::Role::kX), w = buffer(wavetile::Role::kW), y = buffer(wavetile::Role::kY);
      const auto x_scales = buffer(wavetile::Role::kXScales), w_scales = buffer(wavetile::Role::kWScales);
      wavetile::Tensors tensors{.x = x, .w = w, .y = y, .x_scales = x_scales, .w_scales = w_scales};
      // Memory of these devices is the host's.
      ASSERT_TRUE(wavetile::fill_tensors(*problem, tensors, wavetile::Fill::kExact).ok());
      const auto workspace = wavetile::Buffer::allocate(*device, plan->workspace_bytes()).value();
      const auto status = plan->execute(tensors, workspace);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(wavetile::verify(*problem, tensors, {.exact = true}).ok()) << id;
      const auto saved = plan->save();
      ASSERT_TRUE(saved.ok()) << saved.status().message();
      const auto loaded = wavetile::Plan::load(*device, *saved);
      ASSERT_TRUE(loaded.ok()) << loaded.status().message();
      EXPECT_EQ(std::string(loaded->info().kernel), plan->info().kernel);

      tensors.w_scales = nullptr;
      const auto refused = plan->execute(tensors, workspace);
      EXPECT_FALSE(refused.ok());
      EXPECT_NE(refused.message().find("tensor w_scales is NULL"), std::string::npos) << refused.message();
    }
  }
}

TEST(Scales, WhatCannotBeSaysWhy) {
  const auto message_of = [](const wavetile::ProblemFields& fields) {
    const auto problem = wavetile::Problem::create(fields);
    return problem.ok() ? std::string("accepted") : problem.status().message();
  };
  wavetile::ProblemFields fields = fields_of(Type::kE4m3, Scales::kMx);
  fields.c = 60;
  EXPECT_NE(message_of(fields).find("c=60 is no multiple of 32"), std::string::npos);
  fields = fields_of(Type::kE4m3, static_cast<Scales>(3));
  EXPECT_NE(message_of(fields).find("scales=3 is no choice; use 0 (none), 1 (mx) or 2 (nv)"), std::string::npos);
  EXPECT_NE(message_of(fields_of(Type::kUe8m0, Scales::kMx)).find("x_type=8 is no choice"), std::string::npos);
  uint8_t bytes[4];
  const float values[4] = {1, 2, 3, 4};
  EXPECT_EQ(wavetile_from_float(WAVETILE_UE8M0, values, 4, bytes), WAVETILE_BAD_INPUT);
  EXPECT_EQ(wavetile_from_float(WAVETILE_E2M1, values, 3, bytes), WAVETILE_BAD_INPUT);
  EXPECT_EQ(wavetile_from_float(WAVETILE_E2M1, values, 4, bytes), WAVETILE_OK);
  EXPECT_EQ(bytes[0], 0x42);
  EXPECT_EQ(bytes[1], 0x65);
}

}  // namespace
