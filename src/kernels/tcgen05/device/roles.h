// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/device/roles.h - what all kernels on tensor memory begin and end with: barriers, tensor memory, a
// role for each warp, and nobody's leaving before the others are done.
#pragma once

#include "kernels/tcgen05/device/shared.h"

namespace wt {

template <KernelConfig kConfig>
struct TensorRoles {
  using Shared = Tcgen05Shared<kConfig>;
  static constexpr int kBlocks = Shared::kBlocks, kTensorBarrier = 2;

  // store(shared, tensor) by each of four warps, load(shared), multiply(shared, tensor), others(shared, warp);
  // prefetch() by one thread; clear(shared) by the store warps, before the first product.
  template <class Prefetch, class Clear, class Store, class Load, class Multiply, class Others>
  WT_DEVICE static void run(Prefetch&& prefetch, Clear&& clear, Store&& store, Load&& load, Multiply&& multiply,
                            Others&& others) {
    const Shared shared = Shared::here();
    const int warp = device::warp_index();
    if (warp == tcgen05_layout::kLoadWarp) {
      if (device::lane_index() == 0) {
        prefetch();
        shared.init();
        device::mbarrier_fence_init();
        device::fence_async_shared();
      }
      device::sync_warp();
    }
    Shared::meet();
    u32 tensor = 0;
    if (warp == tcgen05_layout::kMultiplyWarp) {
      device::tensor_allocate<kBlocks>(shared.tensor(), tcgen05_layout::tensor_columns(kConfig));
      device::tensor_relinquish<kBlocks>();
    }
    if (warp < tcgen05_layout::kStoreWarps) clear(shared);
    if (warp == tcgen05_layout::kMultiplyWarp || warp < tcgen05_layout::kStoreWarps) {
      device::tensor_fence_before();
      device::sync_named(kTensorBarrier, 32 * (tcgen05_layout::kStoreWarps + 1));
      device::tensor_fence_after();
      tensor = device::load_shared<u32>(shared.tensor());
    }
    if (warp < tcgen05_layout::kStoreWarps) {
      store(shared, tensor);
    } else if (warp == tcgen05_layout::kLoadWarp) {
      if constexpr (tma_layout::copies_rows(kConfig)) device::wait_prerequisites();
      load(shared);
    } else if (warp == tcgen05_layout::kMultiplyWarp) {
      multiply(shared, tensor);
    } else {
      others(shared, warp);
    }
    // Nobody uses tensor memory, or another block's shared memory, from here on.
    device::tensor_fence_before();
    Shared::meet();
    device::tensor_fence_after();
    if (warp == tcgen05_layout::kMultiplyWarp)
      device::tensor_free<kBlocks>(tensor, tcgen05_layout::tensor_columns(kConfig));
  }
};

// Zeros to [from, end), whole 16 bytes; by the store warps, who do this while the first copies are on their way.
WT_DEVICE void clear_rows(SharedAddress from, SharedAddress end) {
  using Chunk = Vector<u32, 4>;
  for (SharedAddress at = from + device::thread_index() * 16; at < end; at += 32 * tcgen05_layout::kStoreWarps * 16)
    device::store_shared(at, Chunk{});
}

}  // namespace wt
