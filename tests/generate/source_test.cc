// SPDX-License-Identifier: Apache-2.0
#include "generate/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "config/fields.h"
#include "rules/rules.h"
#include "tests/places.h"

namespace wt {
namespace {

using testing::HasSubstr;

const std::filesystem::path kSourceTree = places::kSourceTree;

TEST(Source, IsShortReadableText) {
  KernelConfig config{.target = Target::kSm90a};
  config.epilogue.bias = true;
  const auto text = generate_source(config);
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_EQ(*text, fmt::format("// SPDX-License-Identifier: Apache-2.0\n"
                               "// {}\n"
                               "#include \"kernels/basic/device/kernel.h\"\n"
                               "\n"
                               "WT_KERNEL(wt_fwd_bf16_nhwc_sm90a_basic_t64x64x32_bias,\n"
                               "          wt::BasicGemm<wt::KernelConfig{{\n"
                               "              .target = wt::Target::kSm90a,\n"
                               "              .epilogue = {{.bias = true}}}}>)\n",
                               instance_string(config)));
}

TEST(Source, StaysUnderFortyLinesForEveryListedKernel) {
  for (const KernelConfig& config : list_kernels({.target = Target::kGfx942, .rule_set = RuleSet::kTests}).kernels) {
    const auto text = generate_source(config);
    ASSERT_TRUE(text.ok());
    EXPECT_LT(std::ranges::count(*text, '\n'), 40);
    EXPECT_THAT(*text, HasSubstr("WT_KERNEL(" + name_of(config) + ",\n"));
  }
}

TEST(Source, RefusesWhatDoesNotExist) {
  KernelConfig config{.target = Target::kSm80};
  config.kind = Kind::kTma;
  const auto text = generate_source(config);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.status().code(), Code::kUnsupported);
  EXPECT_THAT(text.status().message(), HasSubstr("kernel-exists: kind=tma has no kernel for sm_80"));
}

// The compiler reads the template argument as the config it was made from: one static_assert a changed field.
TEST(Source, CompilerReadsTheArgumentAsTheConfig) {
  std::string text = "#include \"config/kernel_config.h\"\n";
  int count = 0;
  const auto add = [&](const KernelConfig& config) {
    text += fmt::format("constexpr wt::KernelConfig kRead{}{};\n", count, initializer_of(config));
    for (const Field& field : fields()) {
      const std::string wanted =
          field.kind == Field::Kind::kEnum
              ? fmt::format("wt::{}::{}", field.names().type,
                            field.names().names[static_cast<size_t>(field.get(config))].cpp)
              : fmt::format("{}{}", field.text(config), field.kind == Field::Kind::kHash ? "ull" : "");
      text += fmt::format("static_assert(kRead{}.{} == {});\n", count, field.path, wanted);
    }
    ++count;
  };
  add(KernelConfig{});
  KernelConfig all;
  for (const Field& field : fields()) {
    KernelConfig config;
    const int64_t value = field.kind == Field::Kind::kBool ? !field.default_value() : field.default_value() + 1;
    field.set(config, field.fits(value) ? value : 0);
    field.set(all, field.fits(value) ? value : 0);
    add(config);
  }
  add(all);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("wt_source_test_{}", getpid());
  ASSERT_TRUE(write_file(folder / "read.cc", text).ok());
  const char* compiler = std::getenv("CXX");
  const std::string command = fmt::format("{} -std=c++20 -fsyntax-only -I{}/src {}/read.cc",
                                          compiler ? compiler : "c++", kSourceTree.string(), folder.string());
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace wt
