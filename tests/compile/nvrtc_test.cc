// SPDX-License-Identifier: Apache-2.0
#include "compile/nvrtc.h"

#include <gmock/gmock.h>

#include <cstring>

#include "base/files.h"
#include "compile/elf.h"
#include "tests/compile/scratch.h"
#include "tests/places.h"

namespace wt::compile {
namespace {

using ::testing::HasSubstr;
using Nvrtc = Scratch;

TEST_F(Nvrtc, AbsentLibrarySaysWhatToInstall) {
  set("WAVETILE_NVRTC", (folder / "libnvrtc.so").string());
  const Status status = available(Backend::kNvrtc, Target::kSm90a);
  EXPECT_EQ(status.code(), Code::kCompile);
  EXPECT_THAT(status.message(), HasSubstr("NVRTC, which compiles kernels for NVIDIA GPUs, was not found"));
  EXPECT_THAT(status.message(), HasSubstr("set WAVETILE_NVRTC"));
}

TEST_F(Nvrtc, OfPythonWheelsIsFoundBesideThePackage) {
  EXPECT_TRUE(nvrtc_of_wheels(folder).empty());
  for (const char* path : {"nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "nvidia/cu13/lib/libnvrtc.so.13",
                           "nvidia/cu13/lib/libcudart.so.13", "nvidia/cudnn/lib/libcudnn.so.9"}) {
    std::filesystem::create_directories((folder / path).parent_path());
    ASSERT_TRUE(write_file(folder / path, "").ok());
  }
  EXPECT_THAT(nvrtc_of_wheels(folder),
              ::testing::ElementsAre((folder / "nvidia/cu13/lib/libnvrtc.so.13").string(),
                                     (folder / "nvidia/cuda_nvrtc/lib/libnvrtc.so.12").string()));
}

TEST_F(Nvrtc, DoesNotCompileForAmd) {
  EXPECT_THAT(available(Backend::kNvrtc, Target::kGfx942).message(),
              HasSubstr("nvrtc does not compile for gfx942; use clang"));
}

TEST(DriverCheck, NamesBothVersions) {
  EXPECT_TRUE(check_driver_understands(13000, 13000).ok());
  EXPECT_TRUE(check_driver_understands(13020, 13000).ok());  // same major: minor version compatibility
  EXPECT_TRUE(check_driver_understands(12080, 13000).ok());
  const Status status = check_driver_understands(13000, 12080);
  EXPECT_EQ(status.code(), Code::kDevice);
  EXPECT_THAT(status.message(), HasSubstr("NVRTC 13.0"));
  EXPECT_THAT(status.message(), HasSubstr("CUDA 12.8"));
  EXPECT_THAT(check_driver_understands(13000, 0).message(), HasSubstr("none is installed"));
}

TEST(PtxasResources, SayUnknownWhereNothingIsKnown) {
  EXPECT_EQ(ptxas_resources("", "f"), Resources{});
  // Another kernel whose name begins the same is another kernel.
  const std::string log =
      "ptxas info    : Compiling entry function 'f2' for 'sm_90a'\n"
      "ptxas info    : Function properties for f2\n"
      "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers\n"
      "ptxas info    : Compiling entry function 'f3' for 'sm_90a'\n"
      "ptxas info    : Function properties for f3\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 10 registers, used 1 barriers, 1024 bytes smem, 360 bytes cmem[0]\n";
  EXPECT_EQ(ptxas_resources(log, "f"), Resources{});
  EXPECT_EQ(ptxas_resources(log, "f2"),
            (Resources{.registers = 40, .spill_bytes = 16, .stack_bytes = 8, .static_shared_bytes = 0}));
  EXPECT_EQ(ptxas_resources(log, "f3"),
            (Resources{.registers = 10, .spill_bytes = 0, .stack_bytes = 0, .static_shared_bytes = 1024}));
}

#if WT_HAVE_NVRTC

Source copy_source(Target target) {
  return {"copy_swapped",
          "#include \"problem/enums.h\"\n"
          "static_assert(wt::size_of(wt::DataType::kBf16) == 2);\n"
          "extern \"C\" __global__ void copy_swapped(float* p) {\n"
          "  __shared__ float s[256];\n"
          "  s[threadIdx.x] = p[threadIdx.x];\n"
          "  __syncthreads();\n"
          "  p[threadIdx.x] = s[threadIdx.x ^ 1];\n"
          "}\n",
          target};
}

class NvrtcTargets : public Scratch, public ::testing::WithParamInterface<Target> {};

// The register count in the cubin itself: attribute 0x2f (EIATTR_REGCOUNT) of section .nv.info, a symbol and a number.
int registers_in_cubin(std::string_view cubin) {
  const auto sections = elf_sections(cubin);
  const ElfSection* info = sections.ok() ? find_section(*sections, ".nv.info") : nullptr;
  if (!info) return -1;
  for (std::string_view rest = info->contents; rest.size() >= 4;) {
    uint16_t size = 0;
    std::memcpy(&size, rest.data() + 2, 2);
    const bool sized = rest[0] == 4;  // other formats hold their value in place of the size
    if (sized && rest[1] == 0x2f && rest.size() >= 12) {
      uint32_t count = 0;
      std::memcpy(&count, rest.data() + 8, 4);
      return static_cast<int>(count);
    }
    rest.remove_prefix(std::min<size_t>(rest.size(), 4 + (sized ? size : 0)));
  }
  return -1;
}

TEST_P(NvrtcTargets, MakeACubinWithItsResources) {
  const Result<Module> module = compile(Backend::kNvrtc, copy_source(GetParam()));
  ASSERT_TRUE(module.ok()) << module.status().message();
  const auto sections = elf_sections(module->image);
  ASSERT_TRUE(sections.ok()) << sections.status().message();
  EXPECT_NE(find_section(*sections, ".text.copy_swapped"), nullptr);
  EXPECT_GT(module->resources.registers, 0);
  EXPECT_EQ(module->resources.registers, registers_in_cubin(module->image)) << module->log;
  EXPECT_EQ(module->resources.static_shared_bytes, 1024);
  EXPECT_EQ(module->resources.spill_bytes, 0);
  EXPECT_EQ(module->resources.stack_bytes, 0);
  EXPECT_THAT(module->compiler, HasSubstr("NVRTC "));
}

TEST_P(NvrtcTargets, ReportSpills) {
  // 64 live values in a kernel that is promised 8 blocks of 256 threads: at most 32 registers per thread.
  const Source source{"spilling",
                      "extern \"C\" __global__ void __launch_bounds__(256, 8) spilling(float* p, int n) {\n"
                      "  float v[64];\n"
                      "  for (int i = 0; i < 64; ++i) v[i] = p[i * 256 + threadIdx.x];\n"
                      "  for (int r = 0; r < n; ++r) {\n"
                      "    for (int i = 0; i < 64; ++i) v[i] = v[i] * v[(i * 7 + 3) % 64] + v[63 - i];\n"
                      "    __syncthreads();\n"
                      "  }\n"
                      "  for (int i = 0; i < 64; ++i) p[i * 256 + threadIdx.x] = v[i];\n"
                      "}\n",
                      GetParam()};
  const Result<Module> module = compile(Backend::kNvrtc, source);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_LE(module->resources.registers, 32);
  EXPECT_GT(module->resources.spill_bytes, 100) << module->log;
  EXPECT_GT(module->resources.stack_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(All, NvrtcTargets, ::testing::Values(Target::kSm80, Target::kSm90a, Target::kSm100a),
                         [](const auto& test) { return architecture_of(test.param); });

TEST_F(Nvrtc, SyntaxErrorComesWithNameSourcePathAndLog) {
  Source source = copy_source(Target::kSm90a);
  source.text.insert(source.text.rfind('}'), "p[0] = missing_name;\n");
  const Result<Module> module = compile(Backend::kNvrtc, source);
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().code(), Code::kCompile);
  EXPECT_THAT(module.status().message(), HasSubstr("kernel copy_swapped for sm_90a did not compile with NVRTC"));
  EXPECT_THAT(module.status().message(), HasSubstr("\"missing_name\" is undefined"));
  EXPECT_THAT(module.status().message(), HasSubstr("copy_swapped.cu(8)"));
  EXPECT_EQ(*read_file(folder / "cache" / "failed" / "copy_swapped.cu"), source.text);
}

TEST_F(Nvrtc, SecondCompilationComesFromTheCache) {
  const Result<Module> first = compile(Backend::kNvrtc, copy_source(Target::kSm90a));
  const Result<Module> second = compile(Backend::kNvrtc, copy_source(Target::kSm90a));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_FALSE(first->from_cache);
  EXPECT_TRUE(second->from_cache);
  EXPECT_EQ(first->image, second->image);
  EXPECT_EQ(first->resources, second->resources);
  EXPECT_EQ(first->log, second->log);
  const Result<Module> other = compile(Backend::kNvrtc, copy_source(Target::kSm80));
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->from_cache);
}

TEST_F(Nvrtc, ALibraryFolderCanBeNamed) {
  set("WAVETILE_NVRTC", std::filesystem::path(places::kNvrtc).parent_path().string());
  EXPECT_TRUE(available(Backend::kNvrtc, Target::kSm90a).ok());
  EXPECT_GE(*nvrtc_version(), 12000);
}

#endif  // WT_HAVE_NVRTC

}  // namespace
}  // namespace wt::compile
