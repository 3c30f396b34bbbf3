// SPDX-License-Identifier: Apache-2.0
#include "config/targets.h"

#include "base/check.h"
#include "config/enum_names.h"

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
    {kE5m2, {128, 16, 32}, 256, kTcgen05, kOwn}};

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
    fixed(kE4m3, {16, 16, 32}, kMfma, kOwn),      fixed(kE4m3, {32, 32, 16}, kMfma, kOwn)};

// RDNA: WMMA for 16-bit types; fp32 and tf32 by multiply-adds.
constexpr MmaShape kGfx1100Mma[] = {
    fixed(kF16, {16, 16, 16}, kWmma, kPortable), fixed(kBf16, {16, 16, 16}, kWmma, kPortable),
    fixed(kF32, {16, 16, 4}, kFma, kPortable), fixed(kTf32, {16, 16, 4}, kFma, kPortable)};
constexpr MmaShape kGfx1201Mma[] = {
    fixed(kF16, {16, 16, 16}, kWmma, kPortable), fixed(kBf16, {16, 16, 16}, kWmma, kPortable),
    fixed(kF32, {16, 16, 4}, kFma, kPortable),   fixed(kTf32, {16, 16, 4}, kFma, kPortable),
    fixed(kE4m3, {16, 16, 16}, kWmma, kOwn),     fixed(kE5m2, {16, 16, 16}, kWmma, kOwn)};
constexpr MmaShape kGfx1250Mma[] = {
    fixed(kF16, {16, 16, 32}, kWmma, kOwn),    fixed(kBf16, {16, 16, 32}, kWmma, kOwn),
    fixed(kF32, {16, 16, 4}, kFma, kPortable), fixed(kTf32, {16, 16, 4}, kFma, kPortable),
    fixed(kE4m3, {16, 16, 64}, kWmma, kOwn),   fixed(kE5m2, {16, 16, 64}, kWmma, kOwn)};

constexpr TargetInfo kTargets[] = {
    {.target = Target::kSm80,
     .name = "sm_80",
     .hardware = "Ampere: A100",
     .vendor = Vendor::kNvidia,
     .warp_size = 32,
     .shared_per_block = 163 * 1024,
     .shared_per_unit = 164 * 1024,
     .registers_per_unit = 65536,
     .registers_per_thread = 255,
     .threads_per_unit = 2048,
     .threads_per_block = 1024,
     .units = 108,
     .max_cluster = 1,
     .async_copy = true,
     .bulk_tensor_copy = false,
     .mma = kSm80Mma,
     .compiler = "nvrtc",
     .compiler_arch = "sm_80",
     .min_compiler_version = 110},
    {.target = Target::kSm90a,
     .name = "sm_90a",
     .hardware = "Hopper: H100, H200",
     .vendor = Vendor::kNvidia,
     .warp_size = 32,
     .shared_per_block = 227 * 1024,
     .shared_per_unit = 228 * 1024,
     .registers_per_unit = 65536,
     .registers_per_thread = 255,
     .threads_per_unit = 2048,
     .threads_per_block = 1024,
     .units = 132,
     .max_cluster = 8,
     .async_copy = true,
     .bulk_tensor_copy = true,
     .mma = kSm90aMma,
     .compiler = "nvrtc",
     .compiler_arch = "sm_90a",
     .min_compiler_version = 120},
    {.target = Target::kSm100a,
     .name = "sm_100a",
     .hardware = "Blackwell: B200",
     .vendor = Vendor::kNvidia,
     .warp_size = 32,
     .shared_per_block = 227 * 1024,
     .shared_per_unit = 228 * 1024,
     .registers_per_unit = 65536,
     .registers_per_thread = 255,
     .threads_per_unit = 2048,
     .threads_per_block = 1024,
     .units = 148,
     .max_cluster = 8,
     .async_copy = true,
     .bulk_tensor_copy = true,
     .mma = kSm100aMma,
     .compiler = "nvrtc",
     .compiler_arch = "sm_100a",
     .min_compiler_version = 128},
    // WHY 512 registers on CDNA: 256 vector and 256 accumulation registers share one file of 512 a lane.
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
     .async_copy = false,
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
     .async_copy = false,
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
};

constexpr std::string_view kSimulated = "sim:";

}  // namespace

std::span<const TargetInfo> targets() { return kTargets; }

const TargetInfo& info_of(Target target) {
  const auto index = static_cast<size_t>(target);
  WT_CHECK(index < std::size(kTargets) && kTargets[index].target == target, "target {}", index);
  return kTargets[index];
}

Result<TargetName> parse_target(std::string_view text) {
  TargetName name;
  std::string_view rest = text;
  if (rest.starts_with(kSimulated)) {
    name.simulated = true;
    rest.remove_prefix(kSimulated.size());
  }
  for (const TargetInfo& info : kTargets) {
    if (info.name != rest) continue;
    name.target = info.target;
    return name;
  }
  return bad_input("{} is not a target; choose one of {}, or sim: and one of them for the simulator", text,
                   enum_table<Target>().choices());
}

std::string to_text(const TargetName& name) {
  return fmt::format("{}{}", name.simulated ? kSimulated : "", info_of(name.target).name);
}

std::string compiler_needed(const TargetInfo& info) {
  const int version = info.min_compiler_version;
  if (info.vendor == Vendor::kNvidia) return fmt::format("NVRTC {}.{} or newer", version / 10, version % 10);
  return fmt::format("clang {} or newer", version);
}

std::vector<MmaShape> mma_shapes(const TargetInfo& info, DataType type) {
  std::vector<MmaShape> shapes;
  for (bool portable : {true, false})
    for (const MmaShape& mma : info.mma)
      if (mma.type == type && mma.portable == portable) shapes.push_back(mma);
  return shapes;
}

const MmaShape* find_mma(const TargetInfo& info, DataType type, Extent3 shape) {
  for (const MmaShape& mma : info.mma) {
    const bool n_matches = shape.n >= mma.shape.n && shape.n <= mma.max_n && shape.n % mma.shape.n == 0;
    if (mma.type == type && mma.shape.m == shape.m && mma.shape.k == shape.k && n_matches) return &mma;
  }
  return nullptr;
}

std::string_view name_of(Vendor vendor) { return vendor == Vendor::kNvidia ? "nvidia" : "amd"; }

std::string_view name_of(MmaPath path) {
  switch (path) {
    case kMmaSync:
      return "mma.sync";
    case kWgmma:
      return "wgmma";
    case kTcgen05:
      return "tcgen05";
    case kMfma:
      return "mfma";
    case kWmma:
      return "wmma";
    case kFma:
      return "fma";
  }
  return "";
}

}  // namespace wt
