// SPDX-License-Identifier: Apache-2.0
// target/sim/table.h - how a kernel compiled for the simulator reaches the emulation, which lives in the library.
//
//   kernel.so --wt::sim::table--> runtime/sim/*.cc
//
// Freestanding, and read by both sides. WHY a table: the kernel's own source then compiles in a second or two, and one
// library serves kernels of any age whose table has the same version.
#pragma once

#include "target/cache_policy.h"
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
  kMfma32x32x16E4m3Fnuz,
  kMfma16x16x32E4m3Fnuz,
  kMfma32x32x16E4m3,
  kMfma16x16x32E4m3,
  kMfma32x32x16F16,
  kMfma16x16x32F16,
  kMfma32x32x16Bf16,
  kMfma16x16x32Bf16,
  kMfma32x32x64E4m3,
  kMfma16x16x128E4m3,
  kWmma16x16x16E4m3,
  kWmma16x16x16E5m2,
  kWmma16x16x32F16,
  kWmma16x16x32Bf16,
  kM16n8k32I8,
  kMfma32x32x8I8,
  kMfma16x16x16I8,
  kMfma32x32x16I8,
  kMfma16x16x32I8,
  kWmma16x16x16I8Gfx11,
  kWmma16x16x16I8Gfx12,
  kWmma16x16x64E4m3,
  kWmma16x16x64E5m2,
};

// A bulk tensor load. Coordinates and, for im2col, the tap's offsets: innermost first.
struct TmaLoad {
  SharedAddress to;
  const TensorMap* map;
  SharedAddress barrier;
  bool im2col;
  u16 mask;  // of the cluster's blocks; 0: this one
  int rank;
  i32 at[5];
  u16 offset[3];
  CachePolicy policy;
  bool pair = false;  // a barrier of either block of the pair counts, which is an address of the cluster's
};
struct TmaStore {
  const TensorMap* map;
  SharedAddress from;
  bool add;
  int rank;
  i32 at[5];
};

struct WgmmaCall {
  DataType type_a, type_b;
  int n;
  bool mn_major_a, mn_major_b;
  bool accumulate;
  const u32* registers;  // of A; null: descriptor_a
  u64 descriptor_a, descriptor_b;
  float* d;
};

// Registers of one lane to or from tensor memory; shape as device::TensorShape.
struct TensorRegistersCall {
  int shape, count;
  u32 address;
  float* to;          // null: a store
  const float* from;  // null: a load
};
// A product into tensor memory; kind as device::TensorKind.
struct TensorCall {
  int kind, blocks;
  u32 d;
  u64 descriptor_a, descriptor_b;
  u32 word;
  bool accumulate;
  int scaled = -1;  // as device::ScaledKind, whatever `kind` is; -1: without scales
  u32 scales_a = 0, scales_b = 0;
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
  // The same where nobody may have written: the kernel drops what comes of such bytes.
  const void* (*peek_shared)(SharedAddress address, u32 bytes, u32 alignment, Site site);
  void* (*write_shared)(SharedAddress address, u32 bytes, u32 alignment, Site site);
  const void* (*read_global)(const void* address, u32 bytes, u32 alignment, Site site);
  void* (*write_global)(void* address, u32 bytes, u32 alignment, Site site);
  // `bytes` at `offset` of a buffer of `range` bytes from `base` on; zeros for words beyond it.
  void (*read_buffer)(void* to, const void* base, u32 range, u32 offset, u32 bytes, Site site);
  void (*prefetch_global)(const void* address, Site site);
  void (*fence_global)(Site site);
  void (*wait_prerequisites)(Site site);

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
  void (*note_aligned)(Site site);  // the lanes of a warp do this together, or their next meeting is a report
  void (*mma)(MmaKind kind, int count, float* c, const void* a, const void* b, Site site);

  void (*copy_async)(SharedAddress to, const void* from, int bytes, int valid, Site site);
  // Buffer to shared memory: every lane's `bytes`, one after the other from `to` on.
  void (*copy_buffer)(SharedAddress to, const void* base, u32 range, u32 offset, u32 bytes, Site site);
  void (*copy_async_commit)(Site site);
  void (*copy_async_wait)(int pending, Site site);
  void (*copy_async_arrive)(SharedAddress barrier, Site site);
  void (*load_matrix)(u32* to, int count, bool transposed, SharedAddress row, Site site);
  void (*store_matrix)(SharedAddress row, const u32* from, int count, bool transposed, Site site);

  void (*mbarrier_init)(SharedAddress barrier, u32 arrivals, Site site);
  void (*mbarrier_fence_init)(Site site);
  void (*mbarrier_arrive)(SharedAddress barrier, u32 bytes, bool expects, Site site);
  void (*mbarrier_arrive_remote)(SharedAddress barrier, u32 rank, Site site);
  bool (*mbarrier_try_wait)(SharedAddress barrier, u32 parity, Site site);
  void (*mbarrier_wait)(SharedAddress barrier, u32 parity, Site site);

  void (*fence_async_shared)(Site site);
  void (*tma_prefetch)(const TensorMap& map, Site site);
  void (*tma_load)(const TmaLoad& load, Site site);
  void (*tma_store)(const TmaStore& store, Site site);
  void (*bulk_load)(SharedAddress to, const void* from, u32 bytes, SharedAddress barrier, Site site);
  void (*bulk_store)(void* to, SharedAddress from, u32 bytes, Site site);
  void (*bulk_commit)(Site site);
  void (*bulk_wait)(int pending, bool read_only, Site site);

  u32 (*cluster_rank)();
  u32 (*cluster_blocks)();
  void (*cluster_arrive)(bool relaxed, Site site);
  void (*cluster_wait)(Site site);
  u32 (*cluster_address)(SharedAddress local, u32 rank, Site site);
  const void* (*read_cluster)(u32 address, u32 bytes, Site site);
  void* (*write_cluster)(u32 address, u32 bytes, Site site);
  void (*store_counted)(u32 address, const void* from, u32 bytes, u32 barrier, Site site);

  void (*wgmma_fence)(Site site);
  void (*wgmma_commit)(Site site);
  void (*wgmma_wait)(int pending, Site site);
  void (*wgmma)(const WgmmaCall& call, Site site);

  void (*tensor_allocate)(int blocks, SharedAddress to, u32 columns, Site site);
  void (*tensor_free)(int blocks, u32 address, u32 columns, Site site);
  void (*tensor_relinquish)(int blocks, Site site);
  void (*tensor_fence_before)(Site site);
  void (*tensor_fence_after)(Site site);
  void (*tensor_registers)(const TensorRegistersCall& call, Site site);
  void (*tensor_wait)(bool stores, Site site);
  void (*tensor_multiply)(const TensorCall& call, Site site);
  void (*tensor_copy)(int copy, int blocks, u32 to, u64 from, Site site);
  void (*tensor_commit)(int blocks, u32 barrier, u16 mask, Site site);  // mask 0: the barrier's own block
  void (*mbarrier_arrive_expect_remote)(SharedAddress barrier, u32 rank, u32 bytes, Site site);
  void (*take_cluster)(SharedAddress answer, SharedAddress barrier, Site site);
  bool (*taken_cluster)(SharedAddress answer, Int3* first, Site site);

  bool (*elect)(Site site);
  void (*set_registers)(int count, bool take, Site site);
};

inline constexpr u32 kTableVersion = 11;

}  // namespace wt::sim
