// SPDX-License-Identifier: Apache-2.0
#include "launch/rates.h"

#include <cctype>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "config/targets.h"

namespace wt {
namespace {

// What is measured stands in the rows of the H200 alone: 178 timed runs of TMA kernels (bench/results), of which
// launch, first data, fill and memory were fitted. Others have its launch and first data, and its share of the
// published memory rate, as guesses; clocks are the published boost clocks but where the row says otherwise.
// Multiply-adds per cycle are published dense rates, divided by units and clock.
constexpr double kReached = 0.886;  // H200: 4.25 of 4.8 TB/s
constexpr double kLaunchUs = 8300 / 1755.0, kFirstDataUs = 4700 / 1755.0;
constexpr double kFill = 56, kFillAll = 7700;
constexpr double kAmdLaunchUs = 4.3, kAmdFirstDataUs = 2.4;

constexpr std::string_view kAmpere = "NVIDIA A100 data sheet; fill a guess";
constexpr std::string_view kGeForce30 = "NVIDIA GA102 whitepaper: 71 TFLOP/s of bf16 with fp32 sums; fill a guess";
constexpr std::string_view kAda = "NVIDIA Ada whitepaper: 165 TFLOP/s of bf16 with fp32 sums; fill a guess";
constexpr std::string_view kAdaServer = "NVIDIA data sheet, dense rates; fill a guess";
constexpr std::string_view kMeasured = "measured; peak by NVIDIA's H200 data sheet";
constexpr std::string_view kHopper = "NVIDIA H100 data sheet; launch, fill and clock as an H200's";
constexpr std::string_view kHopperPcie =
    "NVIDIA H100 data sheet, at the clock of its 756 TFLOP/s; launch, fill as an H200's";
constexpr std::string_view kBlackwell =
    "NVIDIA B200 data sheet; 7.2 TB/s and 3,900 multiply-adds by published benchmarks";
constexpr std::string_view kBlackwellUltra =
    "NVIDIA GB300 NVL72 data sheet: 2.5 PFLOP/s; multiply-adds as a B200's; fill and memory reached are guesses";
constexpr std::string_view kThor =
    "NVIDIA Jetson T5000 data sheet; multiply-adds as a B200's; fill and memory reached are guesses";
constexpr std::string_view kRtxPro =
    "NVIDIA RTX PRO 6000 data sheet: 504 TFLOP/s of bf16 with fp32 sums; fill and memory reached are guesses";
constexpr std::string_view kGeForce50 =
    "NVIDIA RTX Blackwell whitepaper: 210 TFLOP/s of bf16 with fp32 sums; fill and memory reached are guesses";
constexpr std::string_view kSpark =
    "NVIDIA DGX Spark data sheet for memory; clock, multiply-adds, fill and memory reached are guesses";
constexpr std::string_view kCdna = "AMD data sheet; launch, first data, fill and memory reached are guesses";
constexpr std::string_view kCdna2 = "AMD MI250X data sheet, one of its two dies; the rest as of CDNA 3";
constexpr std::string_view kRdna = "AMD product page; launch, first data, fill and memory reached are guesses";
constexpr std::string_view kGuess = "a guess: no such GPU is published";
constexpr std::string_view kCovered = "a guess: a mean part of those that the target covers";

using enum Target;
// clang-format off
constexpr GpuRow kPage[] = {
    // gpu, words, target, units, MHz | GB/s, reached | macs: 16, 8, tf32, fp32 | fill, all | launch, first | KB, MB
    {"A100", "A100", kSm80, 108, 1410, 2039, kReached, 1024, 0, 512, 64, 48, 5100,
     kLaunchUs, kFirstDataUs, 163, 40, kAmpere},
    {"A100 40GB", "A100 40GB", kSm80, 108, 1410, 1555, kReached, 1024, 0, 512, 64, 48, 5100,
     kLaunchUs, kFirstDataUs, 163, 40, kAmpere},
    {"RTX 3090", "RTX 3090", kSm80, 82, 1695, 936, kReached, 256, 0, 128, 128, 48, 2600,
     kLaunchUs, kFirstDataUs, 99, 6, kGeForce30},
    {"RTX 4090", "RTX 4090", kSm80, 128, 2520, 1008, kReached, 256, 512, 128, 128, 48, 4000,
     kLaunchUs, kFirstDataUs, 99, 72, kAda},
    {"L4", "L4", kSm80, 58, 2040, 300, kReached, 512, 1024, 256, 128, 48, 1800,
     kLaunchUs, kFirstDataUs, 99, 48, kAdaServer},
    {"L40S", "L40S", kSm80, 142, 2520, 864, kReached, 512, 1024, 256, 128, 48, 4500,
     kLaunchUs, kFirstDataUs, 99, 96, kAdaServer},
    {"H200", "H200", kSm90a, 132, 1755, 4800, kReached, 2048, 4096, 1024, 128, kFill, kFillAll,
     kLaunchUs, kFirstDataUs, 227, 60, kMeasured},
    {"H100 PCIe", "H100 PCIe", kSm90a, 114, 1620, 2039, kReached, 2048, 4096, 1024, 128, kFill, 6650,
     kLaunchUs, kFirstDataUs, 227, 50, kHopperPcie},
    {"H100", "H100", kSm90a, 132, 1755, 3352, kReached, 2048, 4096, 1024, 128, kFill, kFillAll,
     kLaunchUs, kFirstDataUs, 227, 50, kHopper},
    {"B200", "B200", kSm100a, 148, 1850, 8000, 0.9, 3900, 7800, 1950, 128, 66, 8900,
     kLaunchUs, kFirstDataUs, 227, 126, kBlackwell},
    {"GB300", "GB300", kSm103a, 152, 2000, 8000, 0.9, 3900, 7800, 1950, 128, 66, 9100,
     kLaunchUs, kFirstDataUs, 227, 126, kBlackwellUltra},
    {"Thor", "Thor", kSm110a, 20, 1575, 273, kReached, 3900, 7800, 1950, 128, 66, 1200,
     kLaunchUs, kFirstDataUs, 227, 32, kThor},
    {"RTX PRO 6000", "RTX PRO 6000 Blackwell", kSm120a, 188, 2617, 1792, kReached, 512, 1024, 256, 128, 48, 6000,
     kLaunchUs, kFirstDataUs, 99, 128, kRtxPro},
    {"RTX 5090", "RTX 5090", kSm120a, 170, 2407, 1792, kReached, 256, 512, 128, 128, 48, 5400,
     kLaunchUs, kFirstDataUs, 99, 96, kGeForce50},
    {"GB10", "GB10", kSm121a, 48, 2400, 273, kReached, 512, 1024, 256, 128, 48, 1500,
     kLaunchUs, kFirstDataUs, 99, 24, kSpark},
    {"MI250X", "MI250X", kGfx90a, 110, 1700, 1638, 0.93, 512, 0, 128, 128, 64, 5000,
     kAmdLaunchUs, kAmdFirstDataUs, 64, 8, kCdna2},
    {"MI300X", "MI300X", kGfx942, 304, 2100, 5300, 0.91, 1024, 2048, 128, 128, 64, 12000,
     kAmdLaunchUs, kAmdFirstDataUs, 64, 32, kCdna},
    {"MI355X", "MI355X", kGfx950, 256, 2400, 8000, 0.9, 2048, 4096, 128, 128, 64, 12000,
     kAmdLaunchUs, kAmdFirstDataUs, 160, 32, kCdna},
    {"RX 7900 XTX", "7900 XTX", kGfx1100, 48, 2500, 960, 0.91, 512, 0, 128, 128, 64, 3000,
     kAmdLaunchUs, kAmdFirstDataUs, 64, 6, kRdna},
    {"RX 9070 XT", "9070 XT", kGfx1201, 32, 2970, 640, 0.91, 1024, 2048, 128, 128, 64, 2000,
     kAmdLaunchUs, kAmdFirstDataUs, 64, 8, kRdna},
    {"gfx1250", "gfx1250", kGfx1250, 256, 2400, 8000, 0.9, 1024, 2048, 128, 128, 64, 12000,
     kAmdLaunchUs, kAmdFirstDataUs, 320, 32, kGuess},
    {"gfx11-generic", "gfx11-generic", kGfx11Generic, 48, 2500, 550, 0.91, 512, 0, 128, 128, 64, 3000,
     kAmdLaunchUs, kAmdFirstDataUs, 64, 6, kCovered},
    {"gfx12-generic", "gfx12-generic", kGfx12Generic, 32, 2900, 415, 0.91, 1024, 2048, 128, 128, 64, 2000,
     kAmdLaunchUs, kAmdFirstDataUs, 64, 8, kCovered},
};
// clang-format on

std::string lower(std::string_view text) {
  std::string low(text);
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return low;
}

// "NVIDIA A100-SXM4-40GB": nvidia, a100, sxm4, 40gb.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : lower(text)) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// The row with the most words that are all in the name. WHY not laptops: their parts share names with larger ones.
const GpuRow* row_of(const DeviceInfo& device) {
  const std::vector<std::string> name = words_of(device.name);
  if (has(name, "laptop")) return nullptr;
  const GpuRow* best = nullptr;
  size_t most = 0;
  for (const GpuRow& row : kPage) {
    if (row.target != device.target) continue;
    const std::vector<std::string> words = words_of(row.words);
    const bool all = std::ranges::all_of(words, [&](const std::string& word) { return has(name, word); });
    if (all && words.size() > most) best = &row, most = words.size();
  }
  return best;
}

}  // namespace

double Rates::macs(DataType type) const {
  if (type == DataType::kF32) return macs32;
  if (type == DataType::kTf32) return macs_tf32;
  return size_of(type) == 1 && macs8 > 0 ? macs8 : macs16;
}

double Rates::product_cycles(DataType type, double rows, double columns, double deep) const {
  if (target == Target::kSm90a && type != DataType::kF32)
    return rows / 64 * (deep * size_of(type) / 32) * wgmma_cycles(columns);
  return rows * columns * deep / macs(type);
}

std::span<const GpuRow> gpu_page() { return kPage; }

const GpuRow& usual_gpu(Target target) {
  for (const GpuRow& row : kPage)
    if (row.target == target) return row;
  WT_CHECK(false, "the page has no GPU of {}", info_of(target).name);
}

Result<const GpuRow*> find_gpu(std::string_view name) {
  std::string known;
  for (const GpuRow& row : kPage) {
    if (lower(row.gpu) == lower(name)) return &row;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.gpu);
  }
  return bad_input("no rates are known of a GPU '{}'; known are {}", name, known);
}

DeviceInfo device_of(const GpuRow& row) {
  DeviceInfo device;
  device.kind = DeviceKind::kSim;
  device.name = row.gpu;
  device.target = row.target;
  device.multiprocessors = row.units;
  device.shared_bytes_per_block = int64_t{row.shared_kb} * 1024;
  return device;
}

Rates rates_of(const GpuRow& row) {
  Rates rates;
  rates.gpu = row.gpu;
  rates.target = row.target;
  rates.units = row.units;
  rates.clock = row.clock_mhz;
  rates.launch_us = row.launch_us;
  rates.first_data_us = row.first_data_us;
  rates.memory = row.memory_peak * row.memory_reached * 1000;
  rates.fill = row.fill;
  rates.fill_all = row.fill_all;
  rates.macs16 = row.macs16;
  rates.macs8 = row.macs8;
  rates.macs_tf32 = row.macs_tf32;
  rates.macs32 = row.macs32;
  rates.shared_per_block = int64_t{row.shared_kb} * 1024;
  rates.l2_bytes = static_cast<int64_t>(row.l2_mb * (1 << 20));
  return rates;
}

Rates rates_of(const DeviceInfo& device) {
  const GpuRow* row = row_of(device);
  const GpuRow& known = row ? *row : usual_gpu(device.target);
  Rates rates = rates_of(known);
  if (!row && device.clock_mhz > 0) rates.clock = device.clock_mhz;
  if (!row && device.memory_peak > 0) rates.memory = device.memory_peak * known.memory_reached;
  rates.fill_all *= static_cast<double>(device.multiprocessors) / rates.units;
  rates.units = device.multiprocessors;
  if (device.shared_bytes_per_block > 0) rates.shared_per_block = device.shared_bytes_per_block;
  if (device.l2_bytes > 0) rates.l2_bytes = device.l2_bytes;
  return rates;
}

Rates usual_rates(Target target) { return rates_of(usual_gpu(target)); }

}  // namespace wt
