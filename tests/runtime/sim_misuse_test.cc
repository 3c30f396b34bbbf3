// SPDX-License-Identifier: Apache-2.0
// What is used wrongly is told with its limit: launches, memory, tensor maps, options, and kernels that would hang or
// crash.
#include <cstdlib>

#include "tests/runtime/sim_harness.h"

namespace wt::sim_test {
namespace {

using testing::HasSubstr;

struct MisuseParams {
  uint32_t* words;
  int32_t what, zero;
};

sim::Options quick() {
  sim::Options options;
  options.step_limit = 100'000;
  options.stall_seconds = 1;
  return options;
}

std::string run_misuse(int what, uint32_t blocks = 1, const sim::Options& options = quick()) {
  Kernel kernel(Target::kSm80, options, "misuse.h", "misuse", "wt::probe::Misuse");
  Buffer<uint32_t> words(kernel.device(), std::vector<uint32_t>(256, 0));
  return kernel.run({.grid = {blocks, 1, 1}, .threads = 64}, MisuseParams{words.get(), what, 0}).message();
}

TEST(SimMisuse, NothingIsReportedOfNothing) { EXPECT_EQ(run_misuse(0), ""); }

TEST(SimMisuse, APollWithoutEndMeetsTheStepLimit) {
  const std::string said = run_misuse(1);
  EXPECT_THAT(said, HasSubstr("simulator: limit: kernel misuse, block (0,0,0)"));
  EXPECT_THAT(said, HasSubstr("the cluster executed 100000 primitives"));
  EXPECT_THAT(said, HasSubstr("WAVETILE_SIM_STEPS"));
}

TEST(SimMisuse, ALoopWithoutPrimitivesIsStopped) {
  const std::string said = run_misuse(2);
  EXPECT_THAT(said, HasSubstr("warp 0, thread 5: a loop after the primitive at sim_kernels/misuse.h:"));
  EXPECT_THAT(said, HasSubstr("1 seconds of computing without a primitive"));
}

#if !defined(__SANITIZE_ADDRESS__)  // WHY: a sanitizer in the kernel tells these itself, and ends the program
TEST(SimMisuse, FaultsOfTheHostBecomeReports) {
  EXPECT_THAT(run_misuse(3), HasSubstr("an integer was divided by zero"));
  EXPECT_THAT(run_misuse(4), HasSubstr("bytes of stack"));
  EXPECT_THAT(run_misuse(5), HasSubstr("out of bounds: kernel misuse, block (0,0,0), warp"));
  EXPECT_THAT(run_misuse(5), HasSubstr("address 0x0: no buffer is near"));
  EXPECT_EQ(run_misuse(0), "") << "the simulator works on after all that";
}
#endif

TEST(SimMisuse, BlocksThatWaitForOthersRunSideBySide) {
  for (const int threads : {1, 2}) {
    sim::Options options;
    options.threads = threads;
    EXPECT_EQ(run_misuse(6, 24, options), "");
  }
}

TEST(SimMisuse, ADeadlockNamesWhoWaitsForWhat) {
  const std::string said = run_misuse(7);
  EXPECT_THAT(said, HasSubstr("simulator: deadlock: kernel misuse, block (0,0,0): no thread can run"));
  EXPECT_THAT(said, HasSubstr("  threads 0-31: sync_named 3, 32 of 64 arrived at sim_kernels/misuse.h:"));
  EXPECT_THAT(said, HasSubstr("  threads 32-63: returned"));
}

TEST(SimMisuse, AShuffleFromNowhere) { EXPECT_THAT(run_misuse(8), HasSubstr("misuse: kernel misuse")); }

TEST(SimMisuse, AWarpIndexThatNotAllLanesAskFor) {
  EXPECT_THAT(run_misuse(9), HasSubstr("not all lanes of the warp executed warp_index at sim_kernels/misuse.h:"));
}

TEST(SimMisuse, LaunchesAreCheckedAgainstTheTarget) {
  Kernel kernel(Target::kSm80, {}, "misuse.h", "misuse", "wt::probe::Misuse");
  const MisuseParams params{};
  const auto said = [&](const LaunchShape& shape) { return kernel.run(shape, params).message(); };
  EXPECT_THAT(said({.threads = 96}), HasSubstr("96 threads, the kernel is compiled for 64"));
  EXPECT_THAT(said({.threads = 64, .shared_bytes = 200 << 10}), HasSubstr("shared memory are more than the 166912"));
  EXPECT_THAT(said({.grid = {1, 70000, 1}, .threads = 64}), HasSubstr("grid[1]=70000 is outside 1 to 65535"));
  EXPECT_THAT(said({.grid = {4, 1, 1}, .threads = 64, .cluster = {2, 1, 1}}), HasSubstr("2 blocks a cluster"));
  EXPECT_THAT(kernel.run({.threads = 64}, int64_t{0}).message(),
              HasSubstr("8 bytes of parameters, the kernel takes 16"));
}

TEST(SimMisuse, MemoryIsChecked) {
  Kernel kernel(Target::kSm80, {}, "misuse.h", "misuse", "wt::probe::Misuse");
  Buffer<uint8_t> buffer(kernel.device(), 100);
  uint8_t host[200] = {};
  EXPECT_THAT(kernel.device().copy_in(buffer.get(), host, 101).message(), HasSubstr("past the end of a buffer of 100"));
  EXPECT_THAT(kernel.device().copy_out(host, host, 1).message(), HasSubstr("not inside a buffer"));
  EXPECT_THAT(kernel.device().free(buffer.get() + 1).message(), HasSubstr("not the start of a buffer"));
  EXPECT_THAT(kernel.device().allocate(size_t{1} << 50).status().message(), HasSubstr("bytes of memory"));
}

TEST(SimMisuse, OnlyKnownTargetsAreSimulated) {
  EXPECT_THAT(open_sim_device(Target::kGfx11Generic, {}).status().message(),
              HasSubstr("there are sim:sm_80, sim:sm_90a"));
  EXPECT_EQ(list_sim_devices().size(), 10u);
}

TEST(SimMisuse, OptionsComeFromTheEnvironment) {
  setenv("WAVETILE_SIM_SEED", "77", 1);
  setenv("WAVETILE_SIM_COMPLETION", "late", 1);
  setenv("WAVETILE_SIM_CHECKS", "0", 1);
  const Result<sim::Options> options = sim::Options::from_environment();
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options.status().message(), "");
  EXPECT_EQ(std::move(options).value().seed, 77u);
  EXPECT_EQ(std::move(options).value().completion, sim::Completion::kLate);
  EXPECT_FALSE(std::move(options).value().checks);
  setenv("WAVETILE_SIM_COMPLETION", "soon", 1);
  EXPECT_THAT(open_sim_device(Target::kSm80).status().message(), HasSubstr("none of early, late, random"));
  setenv("WAVETILE_SIM_SEED", "-1", 1);
  EXPECT_THAT(open_sim_device(Target::kSm80).status().message(), HasSubstr("WAVETILE_SIM_SEED=-1 is not a number"));
  for (const char* name : {"WAVETILE_SIM_SEED", "WAVETILE_SIM_COMPLETION", "WAVETILE_SIM_CHECKS"}) unsetenv(name);
}

// Tensor maps: every limit of the hardware, by its words.
class SimTensorMap : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::shared_ptr<Device>> device = open_sim_device(Target::kSm90a, {});
    ASSERT_TRUE(device.ok());
    device_ = *device;
    memory_ = *device_->allocate(1 << 20);
    spec_.rank = 4;
    spec_.size = {64, 16, 16, 8};
    spec_.stride = {2, 128, 2048, 32768};
    spec_.box = {64, 8, 8, 1};
    spec_.swizzle = 128;
    spec_.channels_per_pixel = 64;
    spec_.pixels_per_column = 128;
  }
  void TearDown() override { ASSERT_TRUE(device_->free(memory_).ok()); }

  std::string said(const TensorMapSpec& spec, int offset = 0) {
    alignas(64) std::byte map[128];
    return device_->encode_map(spec, static_cast<char*>(memory_) + offset, map).message();
  }

  std::shared_ptr<Device> device_;
  void* memory_ = nullptr;
  TensorMapSpec spec_;
};

TEST_F(SimTensorMap, TiledLimits) {
  EXPECT_EQ(said(spec_), "");
  const auto with = [&](auto change) {
    TensorMapSpec spec = spec_;
    change(spec);
    return said(spec);
  };
  EXPECT_THAT(said(spec_, 8), HasSubstr("is not a multiple of 16"));
  EXPECT_THAT(with([](auto& s) { s.rank = 6; }), HasSubstr("rank 6 is outside 1 to 5"));
  EXPECT_THAT(with([](auto& s) { s.size[1] = 0; }), HasSubstr("size[1]=0 is outside 1 to 2^32"));
  EXPECT_THAT(with([](auto& s) { s.stride[1] = 136; }), HasSubstr("stride[1]=136 bytes is not a multiple of 16"));
  EXPECT_THAT(with([](auto& s) { s.box[1] = 257; }), HasSubstr("box[1]=257 is outside 1 to 256"));
  EXPECT_THAT(with([](auto& s) { s.box[0] = 4; }), HasSubstr("box[0]=4 is 8 bytes, not a multiple of 16"));
  EXPECT_THAT(with([](auto& s) { s.box[0] = 128; }), HasSubstr("more than the swizzle of 128 bytes"));
  EXPECT_THAT(with([](auto& s) { s.element_stride[2] = 9; }), HasSubstr("element_stride[2]=9 is outside 1 to 8"));
  EXPECT_THAT(with([](auto& s) { s.swizzle = 48; }), HasSubstr("swizzle=48"));
  EXPECT_THAT(with([](auto& s) { s.l2_promotion = 32; }), HasSubstr("l2_promotion=32"));
  EXPECT_THAT(with([](auto& s) { s.size[3] = 33; }), HasSubstr("do not lie in one buffer"));
}

TEST_F(SimTensorMap, Im2colLimits) {
  spec_.kind = TensorMapSpec::Kind::kIm2col;
  EXPECT_EQ(said(spec_), "");
  const auto with = [&](auto change) {
    TensorMapSpec spec = spec_;
    change(spec);
    return said(spec);
  };
  EXPECT_THAT(with([](auto& s) { s.rank = 2; }), HasSubstr("im2col needs rank 3 to 5, not 2"));
  EXPECT_THAT(with([](auto& s) { s.lower[0] = -129; }),
              HasSubstr("corner -129 of spatial dimension 0 is outside -128 to 127"));
  EXPECT_THAT(with([](auto& s) { s.upper[1] = 128; }), HasSubstr("corner 128 of spatial dimension 1"));
  EXPECT_THAT(with([](auto& s) { s.upper[0] = -20; }), HasSubstr("bounding box of spatial dimension 0 is empty"));
  EXPECT_THAT(with([](auto& s) { s.channels_per_pixel = 0; }), HasSubstr("channels_per_pixel=0 is outside 1 to 256"));
  EXPECT_THAT(with([](auto& s) { s.pixels_per_column = 1025; }),
              HasSubstr("pixels_per_column=1025 is outside 1 to 1024"));
}

TEST_F(SimTensorMap, OnlyHopperHasThem) {
  Result<std::shared_ptr<Device>> ampere = open_sim_device(Target::kSm80, {});
  ASSERT_TRUE(ampere.ok());
  std::byte map[128];
  EXPECT_THAT((*ampere)->encode_map(spec_, memory_, map).message(), HasSubstr("sm_80 has no tensor maps"));
}

}  // namespace
}  // namespace wt::sim_test
