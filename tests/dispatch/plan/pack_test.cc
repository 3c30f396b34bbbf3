// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/plan/pack_test.cc - plans whose kernels come from the packs that WAVETILE_PACK names.
#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "base/version.h"
#include "compile/pack.h"
#include "compile/sha256.h"
#include "config/fields.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/choice/decision.h"
#include "dispatch/choice/packs.h"
#include "dispatch/plan/plan.h"
#include "tests/fake_driver/fake_gpu.h"

namespace wt {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kProblem = "fwd bf16 n2 c64 k64 i14x14 f3x3 p1";

// No compiler: WAVETILE_NVRTC names nothing, and a compiler that is named is never passed over for another.
class PackPlan : public FakeGpu {
 protected:
  void SetUp() override {
    FakeGpu::SetUp();
    std::string name = (fs::temp_directory_path() / "wavetile-packs-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    before_ = std::getenv("WAVETILE_NVRTC") ? std::getenv("WAVETILE_NVRTC") : "";
    ::setenv("WAVETILE_NVRTC", (folder_ / "nothing").c_str(), 1);
    ::setenv("WAVETILE_CACHE_DIR", (folder_ / "cache").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("WAVETILE_PACK");
    ::unsetenv("WAVETILE_CACHE_DIR");
    if (before_.empty()) {
      ::unsetenv("WAVETILE_NVRTC");
    } else {
      ::setenv("WAVETILE_NVRTC", before_.c_str(), 1);
    }
    fs::remove_all(folder_);
    FakeGpu::TearDown();
  }

  static std::vector<KernelConfig> accepting(const char* text, Breadth which = Breadth::kFew) {
    std::vector<KernelConfig> configs;
    for (const RankedCandidate& candidate : rank_candidates(*parse_problem(text), Target::kSm90a, {}, which))
      if (candidate.accepts()) configs.push_back(candidate.config);
    return configs;
  }

  // Images are the kernels' names, which is all that the fake driver reads.
  fs::path write(const std::string& file, const std::vector<KernelConfig>& configs, Target target = Target::kSm90a) {
    std::vector<compile::PackInput> inputs;
    for (KernelConfig config : configs) {
      config.target = target;
      compile::Module module = module_with(name_of(config));
      module.name = name_of(config);
      module.target = target;
      module.resources.registers = 77;
      inputs.push_back({config, module});
    }
    const auto info = write_pack(folder_ / file, compile::Backend::kNvrtc, target, "default", inputs);
    EXPECT_TRUE(info.ok()) << info.status().message();
    return folder_ / file;
  }
  static void use(const std::string& files) { ::setenv("WAVETILE_PACK", files.c_str(), 1); }

  Result<std::shared_ptr<const Plan>> plan(const char* text = kProblem, PlanOptions options = {}) {
    if (!device_) device_ = open();
    return make_plan(device_, *parse_problem(text), options);
  }

  fs::path folder_;
  std::shared_ptr<Device> device_;

 private:
  std::string before_;
};

TEST_F(PackPlan, WithoutPackOrCompilerTheMessageNamesBoth) {
  const auto made = plan();
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.status().message(), HasSubstr("NVRTC"));
  EXPECT_THAT(made.status().message(), HasSubstr("use a kernel pack"));
}

TEST_F(PackPlan, RunsFromAPackWithoutACompiler) {
  const KernelConfig first = accepting(kProblem).front();
  use(write("a.wtpack", {first}).string());
  const auto made = plan();
  ASSERT_TRUE(made.ok()) << made.status().message();
  const PlanDescription& description = (*made)->description();
  EXPECT_EQ(description.kernel, name_of(first));
  EXPECT_EQ(description.pack, (folder_ / "a.wtpack").string());
  EXPECT_THAT(description.reason, HasSubstr("from pack " + (folder_ / "a.wtpack").string()));
  EXPECT_EQ(description.registers, 77);
  EXPECT_FALSE(description.from_cache);
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
  TensorPointers tensors;
  for (const Tensor tensor : {Tensor::kX, Tensor::kW, Tensor::kY}) tensors[tensor] = *device_->allocate(1 << 20);
  const Stream stream = *device_->make_stream();
  const Status status = (*made)->execute(tensors, stream);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(fake_launch_count(), description.launches);
}

// The kernel that would be preferred is not in the pack, another that accepts is.
TEST_F(PackPlan, ChoosesAmongWhatThePacksHold) {
  const std::vector<KernelConfig> all = accepting(kProblem, Breadth::kAll);
  ASSERT_GT(all.size(), 3u);
  use(write("a.wtpack", {all.back()}).string());
  const auto made = plan();
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ((*made)->description().kernel, name_of(all.back()));
  EXPECT_THAT((*made)->description().reason, HasSubstr("without a compiler only the 1 of packs can be had"));
}

TEST_F(PackPlan, AKernelAskedForByNameMayComeFromAPack) {
  const std::vector<KernelConfig> configs = accepting(kProblem);
  use(write("a.wtpack", {configs[0], configs[1]}).string());
  const auto made = plan(kProblem, {.kernel = name_of(configs[1])});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT((*made)->description().reason, HasSubstr("asked for by name; from pack"));
}

TEST_F(PackPlan, SeveralPacksAreOneCatalogue) {
  const char* other = "bwd_data fp16 n2 c64 k64 i14x14 f3x3 p1";
  const std::string first = write("a.wtpack", {accepting(kProblem).front()}).string();
  const std::string second = write("b.wtpack", {accepting(other).front()}).string();
  const std::string foreign = write("c.wtpack", {KernelConfig{}}, Target::kSm80).string();
  use(first + ":" + foreign + "::" + second);
  for (const auto& [problem, file] : {std::pair{kProblem, first}, {other, second}}) {
    const auto made = plan(problem);
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_EQ((*made)->description().pack, file);
  }
}

TEST_F(PackPlan, WhatThePacksLackSaysWhatIsMissing) {
  use(write("a.wtpack", {accepting(kProblem).front()}).string());
  const auto made = plan("fwd bf16 n2 c64 k64 i14x14 f3x3 p1 +gelu");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), Code::kUnsupported);
  EXPECT_THAT(made.status().message(), HasSubstr("none of the 1 kernels of packs for sm_90a accepts"));
  EXPECT_THAT(made.status().message(), HasSubstr("NVRTC"));
}

// Packs hold no transpositions, joined histories or bias gradients: what needs them is refused before it is built, and
// what does not is taken, whatever the other way promises.
TEST_F(PackPlan, DecidesForNothingBesideKernels) {
  const char* depthwise = "fwd bf16 n4 c256 k256 g256 i64 f4 pcausal history";
  const char* gradient = "bwd_weight bf16 n2 c64 k64 i14x14 f3x3 p1";
  std::vector<KernelConfig> packed = accepting(depthwise, Breadth::kAll);
  ASSERT_FALSE(packed.empty());
  packed.resize(1);
  packed.push_back(accepting(kProblem).front());
  packed.push_back(accepting(gradient).front());
  use(write("a.wtpack", packed).string());
  const DeviceInfo info = open()->info();
  const auto decided = [&](const std::string& text) { return decide(info, *parse_problem(text), {}); };

  const auto reads = decided(depthwise);
  ASSERT_TRUE(reads.ok()) << reads.status().message();
  EXPECT_EQ(reads->kind, Decision::Kind::kNextHistory);
  EXPECT_EQ(reads->leaf().kernel, name_of(packed.front()));
  EXPECT_THAT(reads->passed_over, Contains(HasSubstr("joining cannot be compiled here")));
  EXPECT_TRUE(plan(depthwise).ok());

  const std::pair<std::string, const char*> refused[] = {
      {std::string(depthwise) + " new_history", "the next history of"},
      {"fwd bf16 n4 c64 k64 i64 f4 pcausal history", "joining the history of"},
      {std::string(gradient) + " bias_gradient", "the bias gradient of"},
      {std::string(kProblem) + " NCHW", "nor is there another way: a channels-last kernel between transpositions"},
  };
  for (const auto& [text, why] : refused) {
    EXPECT_EQ(decided(text).status().code(), Code::kUnsupported) << text;
    EXPECT_THAT(decided(text).status().message(), HasSubstr(why)) << text;
    EXPECT_THAT(decided(text).status().message(), HasSubstr("NVRTC")) << text;
    EXPECT_EQ(plan(text.c_str()).status().message(), decided(text).status().message()) << text;
  }
}

TEST_F(PackPlan, WhatIsNamedIsNotPassedOver) {
  use((folder_ / "absent.wtpack").string());
  EXPECT_THAT(plan().status().message(), HasSubstr("absent.wtpack"));

  const fs::path stale = write("stale.wtpack", {accepting(kProblem).front()});
  std::string bytes = *read_file(stale);
  uint64_t begin = 0;  // of the manifest, which is the end of the file
  std::memcpy(&begin, bytes.data() + 16, sizeof begin);
  std::string manifest = bytes.substr(begin);
  const std::string version = "\"wavetile\":\"" + std::string(kVersion) + "\"";
  ASSERT_NE(manifest.find(version), std::string::npos);
  manifest.replace(manifest.find(version), version.size(),
                   "\"wavetile\":\"" + std::string(kVersion.size(), '9') + "\"");
  bytes.replace(begin, manifest.size(), manifest);
  bytes.replace(32, 64, compile::sha256_hex(manifest));
  std::ofstream(stale, std::ios::binary | std::ios::trunc) << bytes;
  use(stale.string());
  EXPECT_THAT(plan().status().message(), HasSubstr("and this is " + std::string(kVersion)));
}

}  // namespace
}  // namespace wt
