// SPDX-License-Identifier: Apache-2.0
// config/targets.h - the target catalogue: what each GPU architecture has, as data.
//
// targets.cc holds one row per target. Constraints (kernels/constraints.h) read limits here; kernels/kind.h says which
// kernels a target has, launch/rates.h how fast its GPUs are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/kernel_config.h"

namespace wt {

enum class Vendor : uint8_t { kNvidia, kAmd };

// The unit that multiplies. A path decides which device code a shape stands for.
enum class MmaPath : uint8_t {
  kMmaSync,  // NVIDIA, one warp
  kWgmma,    // Hopper, four warps, operands in shared memory
  kTcgen05,  // Blackwell, one thread issues for one or two multiprocessors
  kMfma,     // AMD CDNA, one 64-lane wave
  kWmma,     // AMD RDNA and gfx1250, one 32-lane wave
  kFma,      // ordinary multiply-adds in the shape of a tile
};

// One matrix instruction. n runs from shape.n to max_n in steps of shape.n.
struct MmaShape {
  DataType type;  // of the operands as multiplied
  Extent3 shape;
  short max_n;
  MmaPath path;
  bool portable;  // generic kernels use it; others belong to the target's own pipelines
};

struct TargetInfo {
  Target target;
  std::string_view name;      // sm_90a
  std::string_view hardware;  // Hopper: H100, H200
  Vendor vendor;
  int warp_size;
  int64_t shared_per_block;  // bytes, the most that a block may ask for
  int64_t shared_per_unit;   // bytes of a multiprocessor
  int registers_per_unit;    // 32-bit
  int registers_per_thread;
  int threads_per_unit;
  int threads_per_block;
  int units;              // multiprocessors of the usual part; a device knows its own
  int chiplets = 1;       // that blocks are dealt out to in turns, each with its own L2
  int max_cluster;        // blocks of a cluster; 1: none
  bool async_copy;        // global to shared memory without registers
  bool bulk_tensor_copy;  // TMA
  std::span<const MmaShape> mma;
  std::string_view compiler;                      // nvrtc or clang
  std::string_view compiler_arch;                 // as the compiler's option takes it
  std::span<const std::string_view> covers = {};  // architectures that its machine code runs on; none: its own only
  int min_compiler_version;                       // NVRTC: CUDA major * 10 + minor; clang: major
};

std::span<const TargetInfo> targets();
const TargetInfo& info_of(Target target);

// "sm_90a", or "sim:sm_90a" for the simulated one.
struct TargetName {
  Target target;
  bool simulated = false;
  bool operator==(const TargetName&) const = default;
};
Result<TargetName> parse_target(std::string_view text);
std::string to_text(const TargetName& name);

// The target for AMD's architecture ("gfx1101"): its own where it has one, else one that covers it; null: none.
const TargetInfo* find_architecture(std::string_view architecture);
// The named target whose device code and facts are those of `target`: for a generic one, what the simulator knows.
constexpr Target named_target(Target target) {
  return target == Target::kGfx11Generic   ? Target::kGfx1100
         : target == Target::kGfx12Generic ? Target::kGfx1201
                                           : target;
}
inline bool is_generic(const TargetInfo& info) { return !info.covers.empty(); }
// "gfx942", "gfx1200 and gfx1201 by gfx12-generic"
std::string architectures_text(const TargetInfo& info);

// "NVRTC 11.0 or newer", "clang 20 or newer".
std::string compiler_needed(const TargetInfo& info);

// The shapes for operands multiplied as `type`, portable ones first.
std::vector<MmaShape> mma_shapes(const TargetInfo& info, DataType type);
const MmaShape* find_mma(const TargetInfo& info, DataType type, Extent3 shape);  // null: no such instruction

std::string_view name_of(Vendor vendor);
std::string_view name_of(MmaPath path);

}  // namespace wt
