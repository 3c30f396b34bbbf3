// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/trial/gpu_verify_test.cc - the reference on the device against the one on the host, on a simulated
// GPU.
#include "dispatch/trial/gpu_verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compile/compiler.h"
#include "dispatch/trial/trial.h"
#include "launch/binding.h"
#include "problem/number.h"
#include "runtime/sim/device.h"

namespace wt {
namespace {

using ::testing::HasSubstr;

// A problem whose output, made by the host's reference, lies on a simulated GPU.
class OnDevice {
 public:
  OnDevice(const std::string& text, bool exact, const DeviceVerifyOptions& options = {}) {
    auto parsed = parse_problem(text);
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    problem = *parsed;
    device = *open_sim_device(Target::kSm80);
    tensors = *TrialTensors::make(device, problem, exact, 7);
    auto made = DeviceReference::make(device, problem, tensors->pointers(), options);
    EXPECT_TRUE(made.ok()) << made.status().message();
    reference = std::move(made).value();
    host = make_tensors(problem, exact ? Fill::kExact : Fill::kRandom, 7);
    wt::reference(problem, host);
    upload();
  }

  void upload() {
    const Buffer& output = output_of(problem, host);
    ASSERT_TRUE(device->copy_in(pointer(), output.data(), output.size()).ok());
    if (!problem.epilogue.amax) return;
    ASSERT_TRUE(device->copy_in(tensors->pointers()[Tensor::kAmax], host.amax.data(), host.amax.size()).ok());
  }
  void* pointer() const { return tensors->pointers()[output_tensor(problem.direction)]; }

  VerifyReport compare(bool exact) {
    auto report = reference->compare(tensors->pointers(), {.exact = exact});
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : VerifyReport{.wrong = -1};
  }
  void set(int64_t index, float value) { store(problem.output_type(), output_of(problem, host).data(), index, value); }

  ConvProblem problem;
  std::shared_ptr<Device> device;
  std::unique_ptr<TrialTensors> tensors;
  std::unique_ptr<DeviceReference> reference;
  HostTensors host;
};

class GpuVerifyProblem : public ::testing::TestWithParam<const char*> {};

TEST_P(GpuVerifyProblem, AgreesWithTheHostOnExactAndRandomData) {
  for (const bool exact : {true, false}) {
    OnDevice on(GetParam(), exact);
    const VerifyReport report = on.compare(exact);
    EXPECT_TRUE(report.passed()) << report.summary();
    EXPECT_EQ(report.compared, on.problem.output_elements());
    EXPECT_LE(report.worst, 1e-3) << "sums in double differ by no more than their order";

    // One wrong element is found, and named.
    const int64_t at = on.problem.output_elements() * 2 / 3;
    const float right = load(on.problem.output_type(), output_of(on.problem, on.host).data(), at);
    on.set(at, right + std::max(2.0f, std::fabs(right)));
    on.upload();
    const VerifyReport wrong = on.compare(exact);
    EXPECT_EQ(wrong.wrong, 1);
    ASSERT_EQ(wrong.first.size(), 1u);
    EXPECT_EQ(wrong.first[0].index, at);
    EXPECT_EQ(wrong.first[0].position, output_position(on.problem, at));
    EXPECT_EQ(wrong.first[0].expected, right);
  }
}

INSTANTIATE_TEST_SUITE_P(Problems, GpuVerifyProblem,
                         ::testing::Values("fwd bf16 n2 c5 k6 i7x6 f3x3 p1",                  //
                                           "bwd_data bf16 n2 c6 k4 g2 i7x9 f3x2 s2 p1",       //
                                           "bwd_weight fp16 n2 c4 k6 g2 i9x7 f3x3 s2 p1 d2",  //
                                           "fwd fp32 NCHW n1 c4 k3 i6x5 f2x3 s2x1",           //
                                           "bwd_weight bf16 NCHW n40 c2 k3 i8x8 f3x3 p1",     // long sums, in parts
                                           "bwd_data tf32 n1 c3 k5 i11 f4 s3 p2",             //
                                           "fwd e4m3 n1 c6 k4 i3x4x5 f2x2x2 p1"));

TEST(GpuVerify, EpiloguesAreTheHostsOwn) {
  for (const char* text : {"fwd bf16 n2 c5 k6 i5x6 f3x3 p1 +scale+bias+residual+relu+amax",
                           "bwd_data fp32 NCHW n2 c6 k4 i5x4 f3x3 p1 +scale=bf16+bias=fp16+gelu",
                           "bwd_weight bf16 n2 c4 k6 i5x5 f3x3 +scale+residual"}) {
    OnDevice on(text, false);
    const VerifyReport report = on.compare(false);
    EXPECT_TRUE(report.passed()) << text << ": " << report.summary();
  }
}

TEST(GpuVerify, UnwrittenElementsAndNans) {
  OnDevice on("fwd bf16 n2 c5 k6 i7x6 f3x3 p1", true);
  Buffer& output = output_of(on.problem, on.host);
  output.as<uint16_t>()[17] = 0xffff;
  on.upload();
  VerifyReport report = on.compare(true);
  EXPECT_EQ(report.unwritten, 1);
  EXPECT_EQ(report.nan, 0);
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.summary(), HasSubstr("never written"));
  output.as<uint16_t>()[17] = 0x7fc0;
  on.upload();
  report = on.compare(true);
  EXPECT_EQ(report.unwritten, 0);
  EXPECT_EQ(report.nan, 1);
}

TEST(GpuVerify, AWrongAmaxIsFound) {
  OnDevice on("fwd bf16 n2 c5 k6 i7x6 f3x3 p1 +amax", true);
  EXPECT_TRUE(on.compare(true).passed()) << on.compare(true).summary();
  on.host.amax.as<float>()[0] += 1;
  on.upload();
  EXPECT_THAT(on.compare(true).amax_fault, HasSubstr("but the largest output is"));
}

TEST(GpuVerify, LargeOutputsAreSampled) {
  DeviceVerifyOptions options;
  options.whole_limit = 100;
  options.work_limit = 20000;
  OnDevice on("fwd bf16 n2 c5 k6 i17x16 f3x3 p1", true, options);
  const VerifyReport report = on.compare(true);
  EXPECT_TRUE(report.passed()) << report.summary();
  EXPECT_TRUE(report.sampled());
  EXPECT_EQ(report.compared, on.reference->compared_elements());
  EXPECT_GT(report.compared, 64);
  on.set(0, 1e4f);  // the first element is always in the sample
  on.upload();
  EXPECT_EQ(on.compare(true).wrong, 1);
}

#if WT_HAVE_NVRTC
TEST(GpuVerify, TheKernelsCompileForGpus) {
  const std::pair<const char*, const char*> kernels[] = {
      {"conv.h", "ConvSums<wt::Direction::kBackwardData, wt::DataType::kBf16, wt::DataType::kE5m2>"},
      {"conv.h", "ConvSums<wt::Direction::kBackwardWeight, wt::DataType::kE4m3, wt::DataType::kF16>"},
      {"inspect.h", "Scan<wt::DataType::kF16>"},
      {"inspect.h", "Gather<wt::DataType::kTf32>"}};
  for (const auto& [header, kernel] : kernels) {
    const std::string text =
        fmt::format("#include \"kernels/naive/device/{}\"\nWT_KERNEL(naive_test, wt::naive::{})\n", header, kernel);
    auto module = compile::compile(compile::Backend::kNvrtc, {"naive_test", text, Target::kSm90a});
    ASSERT_TRUE(module.ok()) << module.status().message();
    EXPECT_EQ(module->resources.spill_bytes, 0);
  }
}
#endif

}  // namespace
}  // namespace wt
