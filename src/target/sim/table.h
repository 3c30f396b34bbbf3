// SPDX-License-Identifier: Apache-2.0
// target/sim/table.h - how a kernel compiled for the simulator reaches the emulation, which lives in the library.
//
//   kernel.so --wt::sim::table--> runtime/sim/*.cc
//
// Freestanding, and read by both sides. WHY a table: the kernel's own source then compiles in a second or two, and one
// library serves kernels of any age whose table has the same version.
#pragma once

#include "target/types.h"

namespace wt::sim {

// Where a primitive was called. Every primitive takes one as its last, defaulted argument.
struct Site {
  const char* file;
  int line;
};
constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }

#define WT_SITE ::wt::sim::Site site = ::wt::sim::here()

// One lane's part of an exchange or of a matrix product; the last lane to come computes for all.
enum class Vote : int { kShuffle, kShuffleXor, kBallot, kUniform };

enum class MmaKind : int {
  kM16n8k16F16,
  kM16n8k16Bf16,
  kM16n8k8Tf32,
  kMfma32x32x8F16,
  kMfma32x32x8Bf16,
  kMfma16x16x16F16,
  kMfma16x16x16Bf16,
  kMfma16x16x4F32,
  kWmma16x16x16F16Gfx11,
  kWmma16x16x16Bf16Gfx11,
  kWmma16x16x16F16Gfx12,
  kWmma16x16x16Bf16Gfx12,
};

struct Table {
  u32 version;
  u32 bytes;

  int (*thread_index)();
  Int3 (*block_index)();
  Int3 (*grid_size)();
  SharedAddress (*shared_base)();

  // Checks an access and says where its bytes are on the host.
  const void* (*read_shared)(SharedAddress address, u32 bytes, u32 alignment, Site site);
  void* (*write_shared)(SharedAddress address, u32 bytes, u32 alignment, Site site);
  const void* (*read_global)(const void* address, u32 bytes, u32 alignment, Site site);
  void* (*write_global)(void* address, u32 bytes, u32 alignment, Site site);

  float (*atomic_add_float)(float* address, float value, Site site);
  u32 (*atomic_add)(u32* address, u32 value, Site site);
  u32 (*atomic_max)(u32* address, u32 value, Site site);
  u32 (*load_acquire)(const u32* address, Site site);
  void (*store_release)(u32* address, u32 value, Site site);

  void (*sync_block)(Site site);
  void (*sync_named)(int id, int threads, Site site);
  void (*arrive_named)(int id, int threads, Site site);
  void (*sync_warp)(Site site);
  u64 (*vote)(Vote kind, u64 value, int lane, Site site);
  void (*mma)(MmaKind kind, float* c, const void* a, const void* b, Site site);
};

inline constexpr u32 kTableVersion = 1;

}  // namespace wt::sim
