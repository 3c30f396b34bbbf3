// SPDX-License-Identifier: Apache-2.0
// The exported tree builds by itself: CMake and the host compiler for the simulator, nvcc where it is present.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "compile/nvrtc.h"
#include "compile/source_headers.h"
#include "config/fields.h"
#include "generate/exported_kernel.h"
#include "tests/generate/export_fixture.h"

namespace wt {
namespace {

namespace fs = std::filesystem;

class ExportBuild : public ExportFixture {
 protected:
  // Output goes to a file beside the tree, shown on failure.
  testing::AssertionResult run(const std::string& command) const {
    const fs::path log = folder().parent_path() / "log.txt";
    if (std::system(fmt::format("{} > {} 2>&1", command, log.string()).c_str()) == 0)
      return testing::AssertionSuccess();
    const auto text = read_file(log);
    return testing::AssertionFailure() << command << "\n" << (text.ok() ? *text : "");
  }
  fs::path build() const { return folder().parent_path() / "build"; }
};

// The `tests` rule set of a target, narrowed to what compiles in reasonable time: every direction, one type each.
std::vector<KernelConfig> sample(Target target, size_t count) {
  std::vector<KernelConfig> all = list_kernels({.target = target, .rule_set = RuleSet::kTests}).kernels;
  std::vector<KernelConfig> kernels;
  for (size_t i = 0; i < count; ++i) kernels.push_back(all[i * all.size() / count]);
  return kernels;
}

TEST_F(ExportBuild, HostCompilerMakesALibraryThatAnswers) {
  for (const Target target : {Target::kSm80, Target::kGfx942, Target::kGfx1100}) {
    fs::remove_all(build());
    ExportRequest request = tiny_request();
    request.target = {target, true};
    request.kernels = sample(target, 6);
    ASSERT_TRUE(export_kernels(request).ok());
    ASSERT_TRUE(run(fmt::format("cmake -S {} -B {} -DCMAKE_BUILD_TYPE=Release", folder().string(), build().string())));
    ASSERT_TRUE(run(fmt::format("cmake --build {} -j2", build().string())));
    void* library = dlopen((build() / "libwavetile_kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto kernels =
        reinterpret_cast<decltype(&wavetile_exported_kernels)>(dlsym(library, "wavetile_exported_kernels"));
    ASSERT_NE(kernels, nullptr);
    int count = 0;
    const wavetile_exported::Kernel* const* list = kernels(&count);
    ASSERT_EQ(count, static_cast<int>(request.kernels.size()));
    std::set<std::string> names;
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(list[i]->format, wavetile_exported::kFormat);
      EXPECT_TRUE(list[i]->simulated);
      EXPECT_EQ(list[i]->target, text_of(target));
      EXPECT_EQ(reinterpret_cast<void*>(list[i]->entry), dlsym(library, list[i]->name));
      const auto config = config_from_json(list[i]->config);
      ASSERT_TRUE(config.ok());
      EXPECT_EQ(name_of(*config), list[i]->name);
      EXPECT_GT(list[i]->params_bytes, 0u);
      names.insert(list[i]->name);
    }
    for (const KernelConfig& config : request.kernels) EXPECT_TRUE(names.contains(name_of(config)));
    dlclose(library);
    // Nothing changed, so nothing compiles.
    ASSERT_TRUE(export_kernels(request).ok());
    ASSERT_TRUE(run(fmt::format("cmake --build {}", build().string())));
    const auto log = read_file(folder().parent_path() / "log.txt");
    EXPECT_THAT(*log, testing::Not(testing::HasSubstr("Building CXX")));
  }
}

// One source may hold every kernel of a direction, or select a single one by name.
TEST_F(ExportBuild, IncludeAllAndSingleKernelModesCompile) {
  ExportRequest request = tiny_request();
  request.kernels = sample(Target::kSm80, 3);
  ASSERT_TRUE(export_kernels(request).ok());
  const std::string direction(text_of(request.kernels[0].direction)), name = name_of(request.kernels[0]);
  ASSERT_TRUE(write_file(folder() / "all.cc", fmt::format("#include \"include_all_{}.h\"\n", direction)).ok());
  ASSERT_TRUE(write_file(folder() / "one.cc",
                         fmt::format("#define WAVETILE_SINGLE_KERNEL\n#include \"kernels/{}.h\"\n"
                                     "static_assert(wavetile_selected_kernel::kThreads > 0);\n"
                                     "const char* selected() {{ return wavetile_selected_kernel_name; }}\n",
                                     name))
                  .ok());
  for (const char* source : {"all.cc", "one.cc"})
    EXPECT_TRUE(run(fmt::format("c++ -std=c++20 -fsyntax-only -DWT_SIM=1 -DWT_SIM_TARGET=0 -I{0} -I{0}/device {0}/{1}",
                                folder().string(), source)));
}

#if WT_HAVE_NVRTC
// The tree's own sources and headers, and no others, make machine code for Hopper.
TEST_F(ExportBuild, NvrtcCompilesTheTreeForHopper) {
  ExportRequest request = tiny_request();
  request.target = {Target::kSm90a, false};
  for (const KernelConfig& config : list_kernels({.target = Target::kSm90a, .rule_set = RuleSet::kTiny}).kernels)
    if (config.kind == Kind::kTma || config.kind == Kind::kTmaWeight) request.kernels = {config};
  ASSERT_EQ(request.kernels.size(), 1u);
  ASSERT_TRUE(export_kernels(request).ok());
  compile::HeaderSet headers;
  const fs::path device = folder() / "device";
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(device)) {
    if (entry.is_regular_file())
      headers.headers.push_back({fs::relative(entry.path(), device).string(), *read_file(entry.path())});
  }
  ASSERT_FALSE(headers.headers.empty());
  const std::string name = name_of(request.kernels[0]);
  const auto toolchain = compile::nvrtc_toolchain(Target::kSm90a);
  ASSERT_TRUE(toolchain.ok()) << toolchain.status().message();
  const auto product = compile::nvrtc_build_here(
      toolchain->flags, {name, *read_file(folder() / "kernels" / (name + ".h")), Target::kSm90a}, headers);
  ASSERT_TRUE(product.ok()) << product.status().message();
  EXPECT_THAT(product->image, testing::HasSubstr(name));
}
#endif

TEST_F(ExportBuild, NvccMakesCubins) {
  ExportRequest request = tiny_request();
  request.target = {Target::kSm80, false};
  request.kernels = sample(Target::kSm80, 2);
  ASSERT_TRUE(export_kernels(request).ok());
  if (!fs::exists("/usr/local/cuda/bin/nvcc") && std::system("command -v nvcc > /dev/null") != 0)
    GTEST_SKIP() << "no nvcc here; the host compiler's build is tested above";
  ASSERT_TRUE(run(fmt::format("cmake -S {} -B {}", folder().string(), build().string())));
  ASSERT_TRUE(run(fmt::format("cmake --build {} -j2", build().string())));
  for (const KernelConfig& config : request.kernels) {
    const auto cubin = read_file(build() / "kernels" / (name_of(config) + ".cubin"));
    ASSERT_TRUE(cubin.ok());
    EXPECT_THAT(*cubin, testing::HasSubstr(name_of(config)));
  }
}

}  // namespace
}  // namespace wt
