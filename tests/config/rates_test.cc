// SPDX-License-Identifier: Apache-2.0
#include "launch/rates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "config/signature.h"
#include "config/targets.h"
#include "kernels/depthwise_strips/view.h"
#include "kernels/kind.h"
#include "kernels/shared/split.h"
#include "tests/places.h"

namespace wt {
namespace {

using testing::HasSubstr;

Rates rates_by(std::string_view gpu) {
  const auto row = find_gpu(gpu);
  EXPECT_TRUE(row.ok()) << gpu;
  return rates_of(**row);
}

DeviceInfo device_called(const char* name, Target target) {
  DeviceInfo device;
  device.kind = DeviceKind::kCuda;
  device.name = name;
  device.target = target;
  device.multiprocessors = 100;
  return device;
}

// Dense TFLOP/s of bf16 that the makers' data sheets state, and GB/s.
TEST(Rates, ArePublishedOnes) {
  struct Published {
    const char* gpu;
    double tflops, gigabytes;
  };
  constexpr Published kPublished[] = {
      {"A100", 312, 2039},       {"RTX 3090", 71, 936},    {"RTX 4090", 165.2, 1008}, {"L4", 121, 300},
      {"L40S", 362, 864},        {"H100", 989, 3350},      {"H100 PCIe", 756, 2039},  {"H200", 989, 4800},
      {"B200", 2250, 8000},      {"GB300", 2500, 8000},    {"Thor", 258.4, 273},      {"RTX PRO 6000", 504, 1792},
      {"RTX 5090", 209.5, 1792}, {"MI250X", 191.5, 1638},  {"MI300X", 1307, 5300},    {"MI355X", 2516, 8000},
      {"RX 7900 XTX", 123, 960}, {"RX 9070 XT", 195, 640},
  };
  for (const Published& published : kPublished) {
    const auto row = find_gpu(published.gpu);
    ASSERT_TRUE(row.ok()) << published.gpu;
    const Rates rates = rates_of(**row);
    const double tflops = 2e-6 * rates.macs16 * rates.clock * rates.units;
    // Clocks under load are below those of the data sheets, by up to 6 %.
    EXPECT_NEAR(tflops / published.tflops, 0.98, 0.05) << published.gpu;
    EXPECT_NEAR((*row)->memory_peak, published.gigabytes, 5) << published.gpu;
    EXPECT_LT(rates.memory, 1000 * published.gigabytes) << published.gpu;
  }
}

TEST(Rates, EveryTargetHasAGpu) {
  for (const TargetInfo& target : targets()) {
    const Rates rates = usual_rates(target.target);
    EXPECT_EQ(rates.target, target.target);
    EXPECT_EQ(rates.shared_per_block, target.shared_per_block) << target.name;
    // The table means an MI210 or MI250, which have fewer.
    if (target.target != Target::kGfx90a) {
      EXPECT_EQ(rates.units, target.units) << target.name;
    }
  }
}

TEST(Rates, AreFoundByTheDriversName) {
  const auto gpu = [](const char* name, Target target) { return rates_of(device_called(name, target)).gpu; };
  EXPECT_EQ(gpu("NVIDIA H200", Target::kSm90a), "H200");
  EXPECT_EQ(gpu("NVIDIA H100 80GB HBM3", Target::kSm90a), "H100");
  EXPECT_EQ(gpu("NVIDIA H100 PCIe", Target::kSm90a), "H100 PCIe");
  EXPECT_EQ(gpu("NVIDIA A100-SXM4-80GB", Target::kSm80), "A100");
  EXPECT_EQ(gpu("NVIDIA A100-PCIE-40GB", Target::kSm80), "A100 40GB");
  EXPECT_EQ(gpu("NVIDIA L4", Target::kSm80), "L4");
  EXPECT_EQ(gpu("NVIDIA L40S", Target::kSm80), "L40S");
  EXPECT_EQ(gpu("NVIDIA GeForce RTX 4090", Target::kSm80), "RTX 4090");
  EXPECT_EQ(gpu("NVIDIA B200", Target::kSm100a), "B200");
  EXPECT_EQ(gpu("NVIDIA GB300", Target::kSm103a), "GB300");
  EXPECT_EQ(gpu("NVIDIA Thor", Target::kSm110a), "Thor");
  EXPECT_EQ(gpu("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", Target::kSm120a), "RTX PRO 6000");
  EXPECT_EQ(gpu("NVIDIA GeForce RTX 5090", Target::kSm120a), "RTX 5090");
  EXPECT_EQ(gpu("NVIDIA GB10", Target::kSm121a), "GB10");
  EXPECT_EQ(gpu("AMD Instinct MI300X", Target::kGfx942), "MI300X");
  EXPECT_EQ(gpu("AMD Radeon RX 7900 XTX", Target::kGfx1100), "RX 7900 XTX");
}

TEST(Rates, OfADeviceAreItsOwnAsFarAsTheDriverTells) {
  DeviceInfo device = device_called("NVIDIA H100 80GB HBM3", Target::kSm90a);
  device.shared_bytes_per_block = 200000;
  device.l2_bytes = 1 << 20;
  device.clock_mhz = 1980;
  Rates rates = rates_of(device);
  EXPECT_EQ(rates.units, 100);
  EXPECT_EQ(rates.shared_per_block, 200000);
  EXPECT_EQ(rates.l2_bytes, 1 << 20);
  EXPECT_EQ(rates.clock, 1755) << "the clock under load is the page's";
  // A GPU that the page does not have, and one whose name only looks like it.
  for (const char* name : {"NVIDIA GH200 480GB", "NVIDIA H200 Laptop GPU"}) {
    device.name = name;
    device.clock_mhz = 1500;
    device.memory_peak = 4e6;
    rates = rates_of(device);
    EXPECT_EQ(rates.clock, 1500) << name;
    EXPECT_NEAR(rates.memory, 0.886 * 4e6, 1) << name;
  }
}

TEST(Rates, NamesAreListedWhereOneIsUnknown) {
  const auto found = find_gpu("h100 pcie");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)->gpu, "H100 PCIe");
  EXPECT_THAT(find_gpu("H300").status().message(), HasSubstr("no rates are known of a GPU 'H300'; known are A100, "));
}

KernelConfig hopper_config() {
  KernelConfig config = config_for(*parse_problem("fwd bf16 n8 c64 k64 i56x56 f3x3 p1"), Target::kSm90a);
  std::vector<KernelConfig> all;
  propose(config, Breadth::kFew, all);
  for (const KernelConfig& proposal : all)
    if (proposal.kind == Kind::kTma && is_valid(proposal)) return proposal;
  ADD_FAILURE() << "no TMA kernel is proposed";
  return config;
}

TEST(Rates, AnH100IsNotAnH200) {
  const KernelConfig config = hopper_config();
  const Rates h200 = rates_by("H200"), h100 = rates_by("H100"), pcie = rates_by("H100 PCIe");
  // 1x1 filters of few channels wait for memory; many channels of 3x3 multiply.
  const ConvProblem memory = *parse_problem("fwd bf16 n256 c64 k64 i112x112 f1x1");
  EXPECT_GT(predicted_us(config, memory, h100) / predicted_us(config, memory, h200), 1.2);
  const ConvProblem products = *parse_problem("fwd bf16 n32 c512 k512 i28x28 f3x3 p1");
  EXPECT_NEAR(predicted_us(config, products, h100) / predicted_us(config, products, h200), 1, 0.03);
  EXPECT_GT(predicted_us(config, products, pcie) / predicted_us(config, products, h100), 1.1);
}

// Parts are written and read: where memory is slow against products, fewer of them pay.
TEST(Rates, DecideSplitCountsOnEveryTarget) {
  const ConvProblem problem = *parse_problem("bwd_weight bf16 n64 c256 k256 i28x28 f3x3 p1");
  const auto splits = [&](std::string_view gpu) {
    KernelConfig config;
    config.gemm.tile = {128, 128, 64};
    const Rates rates = rates_by(gpu);
    config.target = rates.target;
    const View view(problem, rates);
    return split_count(view, split_input(config, 36, 784, 100, problem.w_elements(), 0));
  };
  EXPECT_GT(splits("A100"), splits("L4"));
  EXPECT_GE(splits("H200"), splits("H100"));
  EXPECT_GT(splits("MI250X"), splits("RX 9070 XT"));
}

// Kernels that size their blocks by the GPU keep to the 99 KB of an L40S; others decline there
// (constraints_general_test).
TEST(Rates, SharedMemoryIsTheGpus) {
  const ConvProblem problem = *parse_problem("fwd bf16 n16 c64 k64 g64 i112x112 f7x7 p3");
  const View a100(problem, rates_by("A100")), l40s(problem, rates_by("L40S"));
  std::vector<KernelConfig> all;
  propose(config_for(problem, Target::kSm80), Breadth::kAll, all);
  int64_t kernels = 0, most = 0;
  for (const KernelConfig& config : all) {
    if (config.kind != Kind::kDepthwiseStrips || !accepts(config, problem)) continue;
    ++kernels;
    most = std::max(most, strips_cut(config, a100)->shared_bytes);
    EXPECT_TRUE(declines(config, l40s).empty()) << to_text(declines(config, l40s));
    EXPECT_LE(strips_cut(config, l40s)->shared_bytes, 99 * 1024);
  }
  EXPECT_GT(kernels, 0);
  EXPECT_GT(most, 99 * 1024);
}

// docs/rates.md shows the page as it is.
TEST(Rates, ArePrintedInTheDocs) {
  const auto tree = std::filesystem::path(places::kSourceTree);
  const Result<std::string> page = read_file(tree / "docs/rates.md");
  ASSERT_TRUE(page.ok()) << page.status().message();
  for (const GpuRow& row : gpu_page()) {
    const Rates rates = rates_of(row);
    const std::string line = fmt::format(
        "| {} | {} | {} | {:.0f} | {:.2f} | {:.2f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {} | {:.0f} "
        "|",
        row.gpu, info_of(row.target).name, row.units, row.clock_mhz, row.memory_peak / 1000, rates.memory / 1e6,
        row.macs16, row.macs8, row.macs_tf32, row.macs32, row.fill, row.fill_all, row.shared_kb, row.l2_mb);
    EXPECT_THAT(*page, HasSubstr(line));
    EXPECT_THAT(*page, HasSubstr(std::string(row.source))) << row.gpu;
  }
}

}  // namespace
}  // namespace wt
