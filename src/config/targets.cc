// SPDX-License-Identifier: Apache-2.0
// config/targets.cc - the table of targets; what is looked up in it is in target_lookup.cc.
#include "config/targets.h"

#include "base/check.h"

namespace wt {

namespace {

using enum DataType;
using enum MmaPath;

constexpr bool kPortable = true, kOwn = false;
constexpr MmaShape fixed(DataType type, Extent3 shape, MmaPath path, bool portable) {
  return {type, shape, shape.n, path, portable};
}

// NVIDIA: fp8 reaches generic kernels widened to fp16, which is exact. fp32 has no matrix unit.
constexpr MmaShape kSm80Mma[] = {
    fixed(kF16, {16, 8, 16}, kMmaSync, kPortable), fixed(kBf16, {16, 8, 16}, kMmaSync, kPortable),
    fixed(kTf32, {16, 8, 8}, kMmaSync, kPortable), fixed(kF32, {16, 8, 8}, kFma, kPortable)};
constexpr MmaShape kSm90aMma[] = {
    fixed(kF16, {16, 8, 16}, kMmaSync, kPortable), fixed(kBf16, {16, 8, 16}, kMmaSync, kPortable),
    fixed(kTf32, {16, 8, 8}, kMmaSync, kPortable), fixed(kF32, {16, 8, 8}, kFma, kPortable),
    {kF16, {64, 8, 16}, 256, kWgmma, kOwn},        {kBf16, {64, 8, 16}, 256, kWgmma, kOwn},
    {kTf32, {64, 8, 8}, 256, kWgmma, kOwn},        {kE4m3, {64, 8, 32}, 256, kWgmma, kOwn},
    {kE5m2, {64, 8, 32}, 256, kWgmma, kOwn}};
constexpr MmaShape kSm100aMma[] = {
    fixed(kF16, {16, 8, 16}, kMmaSync, kPortable), fixed(kBf16, {16, 8, 16}, kMmaSync, kPortable),
    fixed(kTf32, {16, 8, 8}, kMmaSync, kPortable), fixed(kF32, {16, 8, 8}, kFma, kPortable),
    {kF16, {128, 16, 16}, 256, kTcgen05, kOwn},    {kBf16, {128, 16, 16}, 256, kTcgen05, kOwn},
    {kTf32, {128, 16, 8}, 256, kTcgen05, kOwn},    {kE4m3, {128, 16, 32}, 256, kTcgen05, kOwn},
    {kE5m2, {128, 16, 32}, 256, kTcgen05, kOwn},   {kF16, {256, 32, 16}, 256, kTcgen05, kOwn},
    {kBf16, {256, 32, 16}, 256, kTcgen05, kOwn},   {kTf32, {256, 32, 8}, 256, kTcgen05, kOwn},
    {kE4m3, {256, 32, 32}, 256, kTcgen05, kOwn},   {kE5m2, {256, 32, 32}, 256, kTcgen05, kOwn}};

// CDNA: fp32 has MFMA. tf32 is multiplied as fp32 by generic kernels, which is at least as accurate.
constexpr MmaShape kGfx90aMma[] = {
    fixed(kF16, {16, 16, 16}, kMfma, kPortable),  fixed(kF16, {32, 32, 8}, kMfma, kPortable),
    fixed(kBf16, {16, 16, 16}, kMfma, kPortable), fixed(kBf16, {32, 32, 8}, kMfma, kPortable),
    fixed(kF32, {16, 16, 4}, kMfma, kPortable),   fixed(kTf32, {16, 16, 4}, kMfma, kPortable)};
constexpr MmaShape kGfx942Mma[] = {
    fixed(kF16, {16, 16, 16}, kMfma, kPortable),  fixed(kF16, {32, 32, 8}, kMfma, kPortable),
    fixed(kBf16, {16, 16, 16}, kMfma, kPortable), fixed(kBf16, {32, 32, 8}, kMfma, kPortable),
    fixed(kF32, {16, 16, 4}, kMfma, kPortable),   fixed(kTf32, {16, 16, 4}, kMfma, kPortable),
    fixed(kE4m3, {16, 16, 32}, kMfma, kOwn),      fixed(kE4m3, {32, 32, 16}, kMfma, kOwn)};  // FNUZ encodings
constexpr MmaShape kGfx950Mma[] = {
    fixed(kF16, {16, 16, 16}, kMfma, kPortable),  fixed(kF16, {32, 32, 8}, kMfma, kPortable),
    fixed(kBf16, {16, 16, 16}, kMfma, kPortable), fixed(kBf16, {32, 32, 8}, kMfma, kPortable),
    fixed(kF32, {16, 16, 4}, kMfma, kPortable),   fixed(kTf32, {16, 16, 4}, kMfma, kPortable),
    fixed(kF16, {16, 16, 32}, kMfma, kOwn),       fixed(kF16, {32, 32, 16}, kMfma, kOwn),
    fixed(kBf16, {16, 16, 32}, kMfma, kOwn),      fixed(kBf16, {32, 32, 16}, kMfma, kOwn),
    fixed(kE4m3, {16, 16, 32}, kMfma, kOwn),      fixed(kE4m3, {32, 32, 16}, kMfma, kOwn),
    fixed(kE4m3, {16, 16, 128}, kMfma, kOwn),     fixed(kE4m3, {32, 32, 64}, kMfma, kOwn)};

// RDNA: WMMA for 16-bit types; fp32 and tf32 by multiply-adds.
constexpr MmaShape kGfx1100Mma[] = {
    fixed(kF16, {16, 16, 16}, kWmma, kPortable), fixed(kBf16, {16, 16, 16}, kWmma, kPortable),
    fixed(kF32, {16, 16, 4}, kFma, kPortable), fixed(kTf32, {16, 16, 4}, kFma, kPortable)};
constexpr MmaShape kGfx1201Mma[] = {
    fixed(kF16, {16, 16, 16}, kWmma, kPortable),  fixed(kBf16, {16, 16, 16}, kWmma, kPortable),
    fixed(kF32, {16, 16, 4}, kFma, kPortable),    fixed(kTf32, {16, 16, 4}, kFma, kPortable),
    fixed(kE4m3, {16, 16, 16}, kWmma, kPortable), fixed(kE5m2, {16, 16, 16}, kWmma, kPortable)};
constexpr MmaShape kGfx1250Mma[] = {
    fixed(kF16, {16, 16, 32}, kWmma, kPortable),  fixed(kBf16, {16, 16, 32}, kWmma, kPortable),
    fixed(kF32, {16, 16, 4}, kFma, kPortable),    fixed(kTf32, {16, 16, 4}, kFma, kPortable),
    fixed(kE4m3, {16, 16, 64}, kWmma, kPortable), fixed(kE5m2, {16, 16, 64}, kWmma, kPortable)};

// LLVM's manual of its AMD backend, "Generic processors". Their code objects have version 6.
constexpr std::string_view kGfx11Architectures[] = {"gfx1100", "gfx1101", "gfx1102", "gfx1103",
                                                    "gfx1150", "gfx1151", "gfx1152", "gfx1153"};
constexpr std::string_view kGfx12Architectures[] = {"gfx1200", "gfx1201"};

// What NVIDIA's targets differ in; a multiprocessor has 1 KB of shared memory more than a block may ask for.
struct NvidiaTarget {
  Target target;
  std::string_view name, hardware;
  int shared_kb, threads_per_unit, units;
  std::span<const MmaShape> mma;
  int min_compiler_version;
};
constexpr TargetInfo nvidia(const NvidiaTarget& from) {
  return {.target = from.target,
          .name = from.name,
          .hardware = from.hardware,
          .vendor = Vendor::kNvidia,
          .warp_size = 32,
          .shared_per_block = from.shared_kb * 1024,
          .shared_per_unit = (from.shared_kb + 1) * 1024,
          .registers_per_unit = 65536,
          .registers_per_thread = 255,
          .threads_per_unit = from.threads_per_unit,
          .threads_per_block = 1024,
          .units = from.units,
          .max_cluster = has_bulk_copies(from.target) ? 8 : 1,
          .async_copy = true,
          .bulk_tensor_copy = has_bulk_copies(from.target),
          .mma = from.mma,
          .compiler = "nvrtc",
          .compiler_arch = from.name,
          .min_compiler_version = from.min_compiler_version};
}

constexpr TargetInfo kTargets[] = {
    nvidia({Target::kSm80, "sm_80", "Ampere: A100", 163, 2048, 108, kSm80Mma, 110}),
    nvidia({Target::kSm90a, "sm_90a", "Hopper: H100, H200", 227, 2048, 132, kSm90aMma, 120}),
    nvidia({Target::kSm100a, "sm_100a", "Blackwell: B200", 227, 2048, 148, kSm100aMma, 128}),
    nvidia({Target::kSm103a, "sm_103a", "Blackwell Ultra: B300, GB300", 227, 2048, 152, kSm100aMma, 129}),
    nvidia({Target::kSm110a, "sm_110a", "Blackwell: Thor", 227, 1536, 20, kSm100aMma, 130}),
    nvidia({Target::kSm120a, "sm_120a", "Blackwell: RTX 50, RTX PRO", 99, 1536, 188, kSm80Mma, 128}),
    nvidia({Target::kSm121a, "sm_121a", "Blackwell: GB10", 99, 1536, 48, kSm80Mma, 129}),
    // WHY 512 registers on CDNA: 256 vector and 256 accumulation registers share one file of 512 per lane.
    {.target = Target::kGfx90a,
     .name = "gfx90a",
     .hardware = "CDNA2: MI210, MI250",
     .vendor = Vendor::kAmd,
     .warp_size = 64,
     .shared_per_block = 64 * 1024,
     .shared_per_unit = 64 * 1024,
     .registers_per_unit = 131072,
     .registers_per_thread = 512,
     .threads_per_unit = 2048,
     .threads_per_block = 1024,
     .units = 104,
     .max_cluster = 1,
     .async_copy = true,
     .bulk_tensor_copy = false,
     .mma = kGfx90aMma,
     .compiler = "clang",
     .compiler_arch = "gfx90a",
     .min_compiler_version = 13},
    {.target = Target::kGfx942,
     .name = "gfx942",
     .hardware = "CDNA3: MI300X, MI325X",
     .vendor = Vendor::kAmd,
     .warp_size = 64,
     .shared_per_block = 64 * 1024,
     .shared_per_unit = 64 * 1024,
     .registers_per_unit = 131072,
     .registers_per_thread = 512,
     .threads_per_unit = 2048,
     .threads_per_block = 1024,
     .units = 304,
     .chiplets = 8,
     .max_cluster = 1,
     .async_copy = true,
     .bulk_tensor_copy = false,
     .mma = kGfx942Mma,
     .compiler = "clang",
     .compiler_arch = "gfx942",
     .min_compiler_version = 17},
    {.target = Target::kGfx950,
     .name = "gfx950",
     .hardware = "CDNA4: MI350X, MI355X",
     .vendor = Vendor::kAmd,
     .warp_size = 64,
     .shared_per_block = 160 * 1024,
     .shared_per_unit = 160 * 1024,
     .registers_per_unit = 131072,
     .registers_per_thread = 512,
     .threads_per_unit = 2048,
     .threads_per_block = 1024,
     .units = 256,
     .chiplets = 8,
     .max_cluster = 1,
     .async_copy = true,
     .bulk_tensor_copy = false,
     .mma = kGfx950Mma,
     .compiler = "clang",
     .compiler_arch = "gfx950",
     .min_compiler_version = 20},
    {.target = Target::kGfx1100,
     .name = "gfx1100",
     .hardware = "RDNA3: RX 7900",
     .vendor = Vendor::kAmd,
     .warp_size = 32,
     .shared_per_block = 64 * 1024,
     .shared_per_unit = 128 * 1024,
     .registers_per_unit = 196608,
     .registers_per_thread = 256,
     .threads_per_unit = 2048,
     .threads_per_block = 1024,
     .units = 48,
     .max_cluster = 1,
     .async_copy = false,
     .bulk_tensor_copy = false,
     .mma = kGfx1100Mma,
     .compiler = "clang",
     .compiler_arch = "gfx1100",
     .min_compiler_version = 15},
    {.target = Target::kGfx1201,
     .name = "gfx1201",
     .hardware = "RDNA4: RX 9070",
     .vendor = Vendor::kAmd,
     .warp_size = 32,
     .shared_per_block = 64 * 1024,
     .shared_per_unit = 128 * 1024,
     .registers_per_unit = 196608,
     .registers_per_thread = 256,
     .threads_per_unit = 2048,
     .threads_per_block = 1024,
     .units = 32,
     .max_cluster = 1,
     .async_copy = false,
     .bulk_tensor_copy = false,
     .mma = kGfx1201Mma,
     .compiler = "clang",
     .compiler_arch = "gfx1201",
     .min_compiler_version = 18},
    {.target = Target::kGfx1250,
     .name = "gfx1250",
     .hardware = "gfx1250",
     .vendor = Vendor::kAmd,
     .warp_size = 32,
     .shared_per_block = 320 * 1024,
     .shared_per_unit = 320 * 1024,
     .registers_per_unit = 131072,
     .registers_per_thread = 1024,
     .threads_per_unit = 2048,
     .threads_per_block = 1024,
     .units = 256,
     .max_cluster = 1,
     .async_copy = true,
     .bulk_tensor_copy = false,
     .mma = kGfx1250Mma,
     .compiler = "clang",
     .compiler_arch = "gfx1250",
     .min_compiler_version = 21},
    // Generic ones have the instructions that all their architectures share, so their facts are those of the named one.
    {.target = Target::kGfx11Generic,
     .name = "gfx11-generic",
     .hardware = "RDNA3 and RDNA3.5: RX 7600 to 7800, Radeon 700M and 800M",
     .vendor = Vendor::kAmd,
     .warp_size = 32,
     .shared_per_block = 64 * 1024,
     .shared_per_unit = 128 * 1024,
     .registers_per_unit = 196608,
     .registers_per_thread = 256,
     .threads_per_unit = 2048,
     .threads_per_block = 1024,
     .units = 48,
     .max_cluster = 1,
     .async_copy = false,
     .bulk_tensor_copy = false,
     .mma = kGfx1100Mma,
     .compiler = "clang",
     .compiler_arch = "gfx11-generic",
     .covers = kGfx11Architectures,
     .min_compiler_version = 19},
    {.target = Target::kGfx12Generic,
     .name = "gfx12-generic",
     .hardware = "RDNA4: RX 9060",
     .vendor = Vendor::kAmd,
     .warp_size = 32,
     .shared_per_block = 64 * 1024,
     .shared_per_unit = 128 * 1024,
     .registers_per_unit = 196608,
     .registers_per_thread = 256,
     .threads_per_unit = 2048,
     .threads_per_block = 1024,
     .units = 32,
     .max_cluster = 1,
     .async_copy = false,
     .bulk_tensor_copy = false,
     .mma = kGfx1201Mma,
     .compiler = "clang",
     .compiler_arch = "gfx12-generic",
     .covers = kGfx12Architectures,
     .min_compiler_version = 19},
};

}  // namespace

std::span<const TargetInfo> targets() { return kTargets; }

const TargetInfo& info_of(Target target) {
  const auto index = static_cast<size_t>(target);
  WT_CHECK(index < std::size(kTargets) && kTargets[index].target == target, "target {}", index);
  return kTargets[index];
}

}  // namespace wt
