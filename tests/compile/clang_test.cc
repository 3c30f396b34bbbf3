// SPDX-License-Identifier: Apache-2.0
#include "compile/clang.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "base/format.h"
#include "compile/elf.h"
#include "tests/compile/scratch.h"

namespace wt::compile {
namespace {

using ::testing::HasSubstr;
using Clang = Scratch;

TEST_F(Clang, AbsentCompilerSaysWhatToInstall) {
  set("WAVETILE_CLANG", "no-such-clang");
  const Status status = available(Backend::kClang, Target::kGfx942);
  EXPECT_EQ(status.code(), Code::kCompile);
  EXPECT_THAT(status.message(), HasSubstr("WAVETILE_CLANG=no-such-clang is not an executable file"));
  EXPECT_THAT(status.message(), HasSubstr("gfx942 need clang 1"));
}

TEST_F(Clang, DoesNotCompileForNvidia) {
  EXPECT_THAT(available(Backend::kClang, Target::kSm90a).message(),
              HasSubstr("clang does not compile for sm_90a; use nvrtc"));
}

TEST(CountInstruction, CountsWholeWords) {
  const char* text = "\tv_mfma_f32_16x16x16_f16 v[0:3]\n\tv_mfma_f32_16x16x16_f16_e64 v0\n; v_mfma_f32_16x16x16_f16\n";
  EXPECT_EQ(count_instruction(text, "v_mfma_f32_16x16x16_f16"), 1u);
  EXPECT_EQ(count_instruction(text, "v_mfma_f32"), 0u);
}

TEST(CodeObject, DamagedImagesAreRefused) {
  EXPECT_THAT(code_object_resources("nonsense", "k").status().message(), HasSubstr("not a 64-bit ELF file"));
  EXPECT_FALSE(code_object_resources(std::string("\x7f"
                                                 "ELF\x02") +
                                         std::string(100, '\xff'),
                                     "k")
                   .ok());
}

#if WT_HAVE_CLANG

constexpr const char* kPrologue =
    "#define __device__ __attribute__((device))\n"
    "#define __global__ __attribute__((global))\n"
    "#define __shared__ __attribute__((shared))\n"
    "typedef float F4 __attribute__((ext_vector_type(4)));\n"
    "typedef float F8 __attribute__((ext_vector_type(8)));\n"
    "typedef _Float16 H4 __attribute__((ext_vector_type(4)));\n"
    "typedef _Float16 H16 __attribute__((ext_vector_type(16)));\n";

Source mfma_source(Target target) {
  return {"mfma",
          std::string(kPrologue) +
              "extern \"C\" __global__ void mfma(float* p, H4* q) {\n"
              "  __shared__ float s[64];\n"
              "  const int t = __builtin_amdgcn_workitem_id_x();\n"
              "  s[t] = p[t];\n"
              "  __builtin_amdgcn_s_barrier();\n"
              "  F4 acc = {0, 0, 0, 0};\n"
              "  acc = __builtin_amdgcn_mfma_f32_16x16x16f16(q[t], q[t + 64], acc, 0, 0, 0);\n"
              "  p[t] = acc[0] + s[t ^ 1];\n"
              "}\n",
          target};
}

// A clang that crashes on the first `crashes` sources it is given, as clang 22 does now and then.
std::string crashing_clang(const std::string& real, const std::string& folder, int crashes) {
  const std::string program = folder + "/clang++";
  const std::string script = fmt::format(
      "#!/bin/sh\ncase \"$*\" in *.hip*)\n  echo crash >>'{0}/tries'\n  if [ \"$(wc -l <'{0}/tries')\" -le {1} ]; "
      "then\n"
      "    echo 'clang++: error: clang frontend command failed with exit code 70 (use -v to see invocation)'\n    exit "
      "1\n"
      "  fi ;;\nesac\nexec {2} \"$@\"\n",
      folder, crashes, real);
  EXPECT_TRUE(write_file(program, script).ok());
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  return program;
}

TEST_F(Clang, ACompilerThatCrashesIsStartedAgain) {
  const std::string real = clang_toolchain(Target::kGfx942)->program;
  set("WAVETILE_CACHE_LIMIT_MB", "0");
  for (const int crashes : {2, 3}) {
    const std::string place = fmt::format("{}/{}", folder.string(), crashes);
    std::filesystem::create_directories(place);
    set("WAVETILE_CLANG", crashing_clang(real, place, crashes));
    const Result<Module> module = compile(Backend::kClang, mfma_source(Target::kGfx942));
    EXPECT_EQ(module.ok(), crashes == 2) << module.status().message();
    if (crashes == 3) {
      EXPECT_THAT(module.status().message(), HasSubstr("clang frontend command failed"));
    }
  }
}

TEST_F(Clang, MakesACodeObjectWithItsResources) {
  const Result<Module> module = compile(Backend::kClang, mfma_source(Target::kGfx942));
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(module->resources.static_shared_bytes, 256);
  EXPECT_GT(module->resources.registers, 3);
  EXPECT_LT(module->resources.registers, 64);
  EXPECT_GT(module->resources.scalar_registers, 3);
  EXPECT_EQ(module->resources.accumulator_registers, 0);
  EXPECT_EQ(module->resources.spill_bytes, 0);
  EXPECT_EQ(module->resources.stack_bytes, 0);
  EXPECT_TRUE(elf_sections(module->image).ok());
  const Result<Module> again = compile(Backend::kClang, mfma_source(Target::kGfx942));
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->from_cache);
}

TEST_F(Clang, GenericTargetsMakeCodeObjectsOfVersionSix) {
  const Source source{"generic",
                      std::string(kPrologue) +
                          "struct P { float* p; int n; };\n"
                          "extern \"C\" __global__ void generic(const P a) {\n"
                          "  a.p[__builtin_amdgcn_workitem_id_x()] = a.n;\n"
                          "}\n",
                      Target::kGfx11Generic};
  const Result<Module> module = compile(Backend::kClang, source);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(module->image[8], 4) << "ELFABIVERSION_AMDGPU_HSA_V6";
  EXPECT_EQ(code_object_arguments(module->image), (std::map<std::string, int64_t>{{"generic", 16}}));
  EXPECT_TRUE(code_object_arguments("no ELF file").empty());
}

TEST_F(Clang, BuildsTheSameBytesTwice) {
  const Result<Module> first = compile(Backend::kClang, mfma_source(Target::kGfx90a));
  set("WAVETILE_CACHE_DIR", (folder / "second").string());
  const Result<Module> second = compile(Backend::kClang, mfma_source(Target::kGfx90a));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_FALSE(second->from_cache);
  EXPECT_EQ(first->image, second->image);
}

TEST_F(Clang, AssemblyShowsTheMatrixInstruction) {
  const Result<std::string> mfma = clang_assembly(mfma_source(Target::kGfx942));
  ASSERT_TRUE(mfma.ok()) << mfma.status().message();
  EXPECT_EQ(count_instruction(*mfma, "v_mfma_f32_16x16x16_f16"), 1u);
  EXPECT_EQ(count_instruction(*mfma, "v_wmma_f32_16x16x16_f16"), 0u);
  const Source wmma{"wmma",
                    std::string(kPrologue) +
                        "extern \"C\" __global__ void wmma(F8* p, H16* q) {\n"
                        "  const int t = __builtin_amdgcn_workitem_id_x();\n"
                        "  p[t] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(q[t], q[t + 32], p[t]);\n"
                        "}\n",
                    Target::kGfx1100};
  const Result<std::string> text = clang_assembly(wmma);
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_EQ(count_instruction(*text, "v_wmma_f32_16x16x16_f16"), 1u);
}

TEST_F(Clang, ReportsSpills) {
  // 200 live values in a kernel that may use few registers.
  const Source source{
      "spilling",
      std::string(kPrologue) +
          "extern \"C\" __global__ __attribute__((amdgpu_num_vgpr(32))) void spilling(float* p, int n) {\n"
          "  const int t = __builtin_amdgcn_workitem_id_x();\n"
          "  float v[200];\n"
          "  #pragma unroll\n"
          "  for (int i = 0; i < 200; ++i) v[i] = p[i * 64 + t];\n"
          "  for (int r = 0; r < n; ++r) {\n"
          "    #pragma unroll\n"
          "    for (int i = 0; i < 200; ++i) v[i] = v[i] * v[(i * 7 + 3) % 200] + v[199 - i];\n"
          "  }\n"
          "  #pragma unroll\n"
          "  for (int i = 0; i < 200; ++i) p[i * 64 + t] = v[i];\n"
          "}\n",
      Target::kGfx1100};
  const Result<Module> module = compile(Backend::kClang, source);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_LE(module->resources.registers, 32);
  EXPECT_GT(module->resources.spill_bytes, 400);
  EXPECT_GT(module->resources.stack_bytes, 0);
}

TEST_F(Clang, SyntaxErrorComesWithNameAndLog) {
  Source source = mfma_source(Target::kGfx942);
  source.text += "extern \"C\" __global__ void bad() { nothing_here(); }\n";
  const Result<Module> module = compile(Backend::kClang, source);
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.status().message(), HasSubstr("kernel mfma for gfx942 did not compile"));
  EXPECT_THAT(module.status().message(), HasSubstr("nothing_here"));
}

TEST_F(Clang, AnEntryOfAnotherNameIsAnError) {
  Source source = mfma_source(Target::kGfx942);
  source.name = "other";
  const Result<Module> module = compile(Backend::kClang, source);
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.status().message(), HasSubstr("has no kernel other"));
}

TEST_F(Clang, ATargetThatThisClangDoesNotKnowNamesTheCompilerItNeeds) {
  const Status status = available(Backend::kClang, Target::kGfx1250);
  if (status.ok()) {
    EXPECT_TRUE(
        compile(Backend::kClang, {"empty", "extern \"C\" __attribute__((global)) void empty() {}", Target::kGfx1250})
            .ok());
  } else {
    EXPECT_THAT(status.message(), HasSubstr("does not know gfx1250, which needs clang"));
  }
}

#endif  // WT_HAVE_CLANG

}  // namespace
}  // namespace wt::compile
