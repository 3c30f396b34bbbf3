// SPDX-License-Identifier: Apache-2.0
// target/sim/identity.h - how a kernel is declared and which thread this is.
#pragma once

#include "target/sim/entry.h"
#include "target/sim/table.h"

#define WT_DEVICE inline __attribute__((always_inline))
#define WT_OUTLINED inline
#define WT_UNROLL
#define WT_UNROLL_FEW
#define WT_USER_TEXT_BEGIN
#define WT_USER_TEXT_END
#define WT_ROLLED

// The one entry of a generated source: WT_KERNEL(name, class with kThreads, kMinBlocks, Params and run). The library
// calls it once for each thread of the grid.
#define WT_KERNEL(name, ...)                                                                 \
  using name##_kernel = __VA_ARGS__;                                                         \
  extern "C" __attribute__((visibility("default"))) void name(const void* params) {          \
    name##_kernel::run(*static_cast<const typename name##_kernel::Params*>(params));         \
  }                                                                                          \
  extern "C" __attribute__((visibility("default"))) const ::wt::sim::Entry name##_entry;     \
  const ::wt::sim::Entry name##_entry = {name##_kernel::kThreads, name##_kernel::kMinBlocks, \
                                         sizeof(typename name##_kernel::Params)};

namespace wt::sim {

// Set once by wt_sim_bind when the library loads the kernel.
__attribute__((visibility("hidden"))) inline const Table* table = nullptr;

// The library's version, or what this kernel was compiled for when they differ.
extern "C" __attribute__((used, visibility("default"))) inline u32 wt_sim_bind(const Table* library) {
  if (library->version == kTableVersion && library->bytes == sizeof(Table)) table = library;
  return kTableVersion;
}

}  // namespace wt::sim

namespace wt::device {

inline constexpr Target kTarget = static_cast<Target>(WT_SIM_TARGET);
inline constexpr int kWarpSize =
    kTarget == Target::kGfx90a || kTarget == Target::kGfx942 || kTarget == Target::kGfx950 ? 64 : 32;

WT_DEVICE int thread_index() { return sim::table->thread_index(); }
WT_DEVICE int lane_index() { return thread_index() % kWarpSize; }
WT_DEVICE Int3 block_index() { return sim::table->block_index(); }
WT_DEVICE Int3 grid_size() { return sim::table->grid_size(); }

// A value that is the same in all lanes of the warp: an exchange, as on the GPU, that reports lanes which disagree.
WT_DEVICE int uniform(int value, WT_SITE) {
  return static_cast<int>(sim::table->vote(sim::Vote::kUniform, static_cast<u32>(value), 0, site));
}
// WHY no exchange, as on the GPU: it is asked for often, and the value is uniform by itself. That all lanes ask is
// checked where they meet next.
WT_DEVICE int warp_index(WT_SITE) {
  sim::table->note_aligned(site);
  return thread_index() / kWarpSize;
}

}  // namespace wt::device
