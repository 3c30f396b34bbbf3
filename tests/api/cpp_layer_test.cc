// SPDX-License-Identifier: Apache-2.0
// The C++ layer: fields, results, owners, and exceptions only for those who ask.
#include <gtest/gtest.h>

#include <vector>
#include <wavetile/wavetile.hpp>

using wavetile::Direction;
using wavetile::Role;

TEST(Cpp, FieldsAndTextAgree) {
  const auto fields = wavetile::Problem::create({.direction = Direction::kBackwardWeight,
                                                 .layout = wavetile::Layout::kChannelsFirst,
                                                 .x = wavetile::Type::kF16,
                                                 .w = wavetile::Type::kF16,
                                                 .y = wavetile::Type::kF16,
                                                 .n = 2,
                                                 .g = 2,
                                                 .c = 8,
                                                 .k = 6,
                                                 .in = {9, 10},
                                                 .filter = 3,
                                                 .stride = {1, 2},
                                                 .pad_lower = 1});
  ASSERT_TRUE(fields) << fields.status().message();
  const auto text = wavetile::Problem::parse(fields->text());
  ASSERT_TRUE(text) << text.status().message();
  EXPECT_EQ(text->canonical_text(), fields->canonical_text());
  EXPECT_EQ(fields->output(), Role::kW);
  EXPECT_EQ(fields->output_size(), (std::vector<int64_t>{9, 5}));
  EXPECT_EQ(fields->bytes(Role::kW), 6u * 4 * 9 * 2);
  EXPECT_EQ(fields->tensor(Role::kX).rank, 4);
  EXPECT_EQ(fields->desc().pad_upper[1], 1);  // as pad_lower
  EXPECT_GT(fields->flops(), 0);
}

TEST(Cpp, OneSpatialValueServesAllDimensionsAndAMismatchIsRefused) {
  const auto problem = wavetile::Problem::create({.in = {5, 6, 7}, .filter = 2});
  ASSERT_TRUE(problem) << problem.status().message();
  EXPECT_EQ(problem->output_size(), (std::vector<int64_t>{4, 5, 6}));
  const auto mismatch = wavetile::Problem::create({.in = {5, 6}, .filter = {3, 3, 3}});
  ASSERT_FALSE(mismatch);
  EXPECT_EQ(mismatch.status().code(), wavetile::Code::kBadInput);
  EXPECT_NE(mismatch.status().message().find("filter has 3 values and in has 2"), std::string::npos);
  EXPECT_FALSE(wavetile::Problem::create({.in = {5, 6, 7, 8}}));
  EXPECT_FALSE(wavetile::Problem::create({.in = {}}));
}

TEST(Cpp, PlanRunsFromEndToEnd) {
  const auto device = wavetile::Device::open("cpu").value();
  EXPECT_EQ(device.info().kind, WAVETILE_DEVICE_CPU);
  const auto problem = wavetile::Problem::parse("fwd fp32 n1 c2 k1 i1x1 f1x1").value();
  const auto plan = wavetile::Plan::create(device, problem, {.tuning = wavetile::Tuning::kOff}).value();
  const float x[] = {3, 4}, w[] = {10, 100};
  float y = 0;
  const auto device_x = wavetile::Buffer::from(device, x, sizeof x).value();
  auto device_w = wavetile::Buffer::from(device, w, sizeof w).value();
  const auto device_y = wavetile::Buffer::allocate(device, sizeof y).value();
  const auto workspace = wavetile::Buffer::allocate(device, plan.workspace_bytes()).value();
  ASSERT_TRUE(plan.execute({.x = device_x.data(), .w = device_w.data(), .y = device_y.data()}, workspace));
  ASSERT_TRUE(device.synchronize());
  ASSERT_TRUE(device_y.copy_out(&y));
  EXPECT_EQ(y, 430);

  const wavetile::Buffer moved = std::move(device_w);
  EXPECT_EQ(device_w.data(), nullptr);  // NOLINT: what a moved-from buffer holds is part of its contract
  EXPECT_EQ(moved.size(), sizeof w);
  EXPECT_NE(std::string(plan.info().kernel), "");
  EXPECT_NE(plan.json().find("\"kernel\""), std::string::npos);
  const auto report = plan.verify(7, {.exact = true, .exhaustive = true});
  ASSERT_TRUE(report) << report.status().message();
  EXPECT_EQ(report->compared, 1);
  const auto why = wavetile::explain(device, problem);
  ASSERT_TRUE(why) << why.status().message();
  EXPECT_FALSE(why->empty());
}

TEST(Cpp, ABufferOutlivesTheDeviceObjectItCameFrom) {
  auto buffer = [] {
    const auto device = wavetile::Device::open("cpu").value();
    return wavetile::Buffer::allocate(device, 64).value();
  }();
  std::vector<char> host(64, 'x');
  EXPECT_TRUE(buffer.copy_in(host.data()));
}

TEST(Cpp, FailuresAreValuesUnlessAskedToThrow) {
  auto device = wavetile::Device::open("no_such_device");
  ASSERT_FALSE(device.ok());
  EXPECT_NE(device.status().message().find("no_such_device"), std::string::npos);
  try {
    device.value();
    FAIL() << "value() of a failure returned";
  } catch (const wavetile::Error& error) {
    EXPECT_EQ(error.code(), device.status().code());
    EXPECT_EQ(std::string(error.what()), device.status().message());
  }
  EXPECT_THROW(device.status().throw_if_failed(), wavetile::Error);
  EXPECT_NO_THROW(wavetile::Status().throw_if_failed());
}

TEST(Cpp, TuningIsTextAndATextWithAFaultIsRefused) {  // tests/python/test_core.py carries entries
  const auto text = wavetile::export_tuning();
  ASSERT_TRUE(text);
  EXPECT_NE(text.value().find("entries"), std::string::npos);
  EXPECT_EQ(wavetile::import_tuning("[]").status().code(), wavetile::Code::kBadInput);
}

TEST(Cpp, ListAndCapabilitiesAnswer) {
  const auto devices = wavetile::Device::list();
  ASSERT_TRUE(devices);
  EXPECT_GE(devices->size(), 1u);
  const auto nvrtc = wavetile::capability(wavetile::Part::kNvrtc);
  ASSERT_TRUE(nvrtc);
  EXPECT_FALSE(nvrtc->detail.empty());
  EXPECT_EQ(wavetile::version(), wavetile_version_string());
}
