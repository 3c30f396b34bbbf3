// SPDX-License-Identifier: Apache-2.0
#include "compile/host_compiler.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/files.h"
#include "tests/compile/scratch.h"

namespace wt::compile {
namespace {

using ::testing::HasSubstr;
using HostCompiler = Scratch;

int call(const Module& module) {
  const Result<DynamicLibrary> library = open_host_module(module);
  EXPECT_TRUE(library.ok()) << library.status().message();
  if (!library.ok()) return -1;
  auto* function = reinterpret_cast<int (*)()>(library->find(module.name.c_str()));
  EXPECT_NE(function, nullptr);
  return function ? function() : -1;
}

TEST_F(HostCompiler, MakesAFunctionThatRuns) {
  const Result<Module> module = compile(Backend::kHost, host_source("forty_two", 42));
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(call(*module), 42);
  EXPECT_FALSE(module->from_cache);
  EXPECT_GT(module->resources.compile_seconds, 0);
  EXPECT_EQ(module->resources.registers, kUnknown);
  EXPECT_EQ(module->backend, Backend::kHost);
  EXPECT_TRUE(std::filesystem::exists(module->path));
}

TEST_F(HostCompiler, LoadsFromTheImageWhenTheEntryIsGone) {
  Result<Module> module = compile(Backend::kHost, host_source("survivor", 7));
  ASSERT_TRUE(module.ok()) << module.status().message();
  std::filesystem::remove(module->path);
  EXPECT_EQ(call(*module), 7);
}

TEST_F(HostCompiler, WorksWithTheCacheOff) {
  set("WAVETILE_CACHE_LIMIT_MB", "0");
  for (int i = 0; i < 2; ++i) {
    const Result<Module> module = compile(Backend::kHost, host_source("uncached", 9));
    ASSERT_TRUE(module.ok()) << module.status().message();
    EXPECT_TRUE(module->path.empty());
    EXPECT_FALSE(module->from_cache);
    EXPECT_EQ(call(*module), 9);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "cache"));
}

TEST_F(HostCompiler, WorksWhereTheCacheCannotBeWritten) {
  std::ofstream(folder / "file") << "in the way";
  set("WAVETILE_CACHE_DIR", (folder / "file").string());
  const Result<Module> module = compile(Backend::kHost, host_source("unwritable", 3));
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(call(*module), 3);
}

TEST_F(HostCompiler, TellsTheSourceItsTarget) {
  Source source = host_source("target_value", 0);
  source.text =
      "#include \"config/kernel_config.h\"\n"
      "static_assert(WT_SIM == 1);\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) int target_value() { return WT_SIM_TARGET; }\n"
      "static_assert(wt::Target(WT_SIM_TARGET) == wt::Target::kGfx942);\n";
  source.target = Target::kGfx942;
  const Result<Module> module = compile(Backend::kHost, source);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(call(*module), static_cast<int>(Target::kGfx942));
}

TEST_F(HostCompiler, SyntaxErrorComesWithNameSourcePathAndLog) {
  Source source = host_source("broken_kernel", 1);
  source.text = "extern \"C\" int broken_kernel() { return undeclared_thing; }\n";
  const Result<Module> module = compile(Backend::kHost, source);
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().code(), Code::kCompile);
  EXPECT_THAT(module.status().message(), HasSubstr("kernel broken_kernel for sm_90a did not compile"));
  EXPECT_THAT(module.status().message(), HasSubstr("undeclared_thing"));
  const auto kept = folder / "cache" / "failed" / "broken_kernel.cc";
  EXPECT_THAT(module.status().message(), HasSubstr(kept.string()));
  EXPECT_EQ(*read_file(kept), source.text);
}

TEST_F(HostCompiler, MissingHeaderIsNamed) {
  Source source = host_source("lonely", 1);
  source.text = "#include \"kernel/that_is_not_there.h\"\n" + source.text;
  const Result<Module> module = compile(Backend::kHost, source);
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.status().message(), HasSubstr("kernel/that_is_not_there.h"));
}

TEST_F(HostCompiler, MissingCompilerSaysWhatToSet) {
  set("WAVETILE_CXX", "no-such-compiler");
  const Status status = available(Backend::kHost, Target::kSm90a);
  EXPECT_EQ(status.code(), Code::kCompile);
  EXPECT_THAT(status.message(), HasSubstr("WAVETILE_CXX=no-such-compiler is not an executable file"));
  set("WAVETILE_CXX", "");
  set("PATH", folder.string());
  EXPECT_THAT(available(Backend::kHost, Target::kSm90a).message(),
              HasSubstr("none of c++, g++ and clang++ is on PATH"));
}

TEST_F(HostCompiler, ATimeLimitEndsTheCompiler) {
  // A compiler that answers --version and otherwise sleeps.
  const auto script = folder / "sleeper";
  std::ofstream(script) << "#!/bin/sh\n[ \"$1\" = --version ] && echo sleeper 1 && exit 0\nsleep 60\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  set("WAVETILE_CXX", script.string());
  set("WAVETILE_COMPILE_TIMEOUT", "0.2");
  const Result<Module> module = compile(Backend::kHost, host_source("never", 1));
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.status().message(), HasSubstr("ran longer than 0.2 s"));
}

TEST_F(HostCompiler, OtherFlagsAreAnotherModule) {
  const Result<Module> first = compile(Backend::kHost, host_source("flagged", 1));
  set("WAVETILE_CXX_FLAGS", "-g  -O0");
  const Result<Module> second = compile(Backend::kHost, host_source("flagged", 1));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->key, second->key);
  EXPECT_FALSE(second->from_cache);
}

TEST_F(HostCompiler, RefusesAModuleOfAnotherCompiler) {
  Module module;
  module.name = "foreign";
  EXPECT_THAT(open_host_module(module).status().message(), HasSubstr("foreign was made by nvrtc for sm_80"));
}

}  // namespace
}  // namespace wt::compile
