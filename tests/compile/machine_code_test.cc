// SPDX-License-Identifier: Apache-2.0
// tests/compile/machine_code_test.cc - equal for sources that compile to the same instructions, and only for them.
#include "compile/machine_code.h"

#include <gtest/gtest.h>

#include "compile/compiler.h"

namespace wt::compile {
namespace {

// `text` compiled for `target`; empty where its compiler is not here.
std::string code_of(Backend backend, Target target, const std::string& name, const std::string& text) {
  const Result<Module> module = compile(backend, {name, text, target});
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? machine_code_of(module->image) : "";
}

void check(Backend backend, Target target, const std::string& attributes, const std::string& index) {
  if (const Status here = available(backend, target); !here.ok()) GTEST_SKIP() << here.message();
  const auto kernel = [&](const std::string& name, const std::string& value) {
    return fmt::format("{} void {}(float* p) {{ p[{}] = {}; }}\n", attributes, name, index, value);
  };
  const std::string plain = code_of(backend, target, "wt_one", kernel("wt_one", "2.5f"));
  EXPECT_EQ(plain.size(), 32u);
  EXPECT_EQ(plain, code_of(backend, target, "wt_one", "// a comment\n\n" + kernel("wt_one", "2.5f")));
  EXPECT_EQ(plain, code_of(backend, target, "wt_two", kernel("wt_two", "2.5f"))) << "another name";
  EXPECT_NE(plain, code_of(backend, target, "wt_one", kernel("wt_one", "3.5f"))) << "another constant";
  EXPECT_NE(plain, code_of(backend, target, "wt_one", kernel("wt_one", "p[1] * 2.5f"))) << "another instruction";
}

TEST(MachineCode, OfCubins) { check(Backend::kNvrtc, Target::kSm90a, "extern \"C\" __global__", "threadIdx.x"); }

TEST(MachineCode, OfCodeObjects) {
  check(Backend::kClang, Target::kGfx942, "extern \"C\" __attribute__((global))", "__builtin_amdgcn_workitem_id_x()");
}

TEST(MachineCode, WhatIsNoElfFileCountsWhole) {
  EXPECT_EQ(machine_code_of("one"), machine_code_of("one"));
  EXPECT_NE(machine_code_of("one"), machine_code_of("two"));
}

}  // namespace
}  // namespace wt::compile
