// SPDX-License-Identifier: Apache-2.0
// tests/api/handles.h - C handles with an end, and a status that prints its text, for the tests of the C API.
#pragma once

#include <gtest/gtest.h>
#include <wavetile/wavetile.h>

#include <memory>
#include <string>

namespace wavetile_test {

using Device = std::unique_ptr<wavetile_device, decltype(&wavetile_device_close)>;
using Problem = std::unique_ptr<wavetile_problem, decltype(&wavetile_problem_destroy)>;
using Plan = std::unique_ptr<wavetile_plan, decltype(&wavetile_plan_destroy)>;

inline testing::AssertionResult succeeded(wavetile_status status) {
  if (status == WAVETILE_OK) return testing::AssertionSuccess();
  return testing::AssertionFailure() << wavetile_status_name(status) << ": " << wavetile_last_error();
}

inline Device open_device(const char* id = "cpu") {
  wavetile_device* device = nullptr;
  EXPECT_TRUE(succeeded(wavetile_device_open(id, &device)));
  return {device, wavetile_device_close};
}

inline Problem parse(const std::string& text) {
  wavetile_problem* problem = nullptr;
  EXPECT_TRUE(succeeded(wavetile_problem_parse(text.c_str(), &problem))) << text;
  return {problem, wavetile_problem_destroy};
}

inline Plan make_plan(const Device& device, const Problem& problem, const wavetile_plan_options* options = nullptr) {
  wavetile_plan* plan = nullptr;
  EXPECT_TRUE(succeeded(wavetile_plan_create(device.get(), problem.get(), options, &plan)));
  return {plan, wavetile_plan_destroy};
}

template <class Struct>
Struct sized() {
  Struct value{};
  value.struct_size = sizeof(Struct);
  return value;
}

inline wavetile_problem_desc default_desc() {
  wavetile_problem_desc desc;
  wavetile_problem_desc_init(&desc);
  return desc;
}

}  // namespace wavetile_test
