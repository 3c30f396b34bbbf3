// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/add_rows.h - adds rows of one image to rows of another, which are rounded once more.
//
//   the gradient of a new history --> the last rows of dx, and of the history's gradient where x is short
#pragma once

#include "kernels/beside/device/join_rows_arguments.h"
#include "kernels/device/gemm/storage.h"
#include "target/target.h"

namespace wt {

template <DataType kType>
struct AddRows {
  using Element = Storage<kType>;
  using Params = AddRowsArguments;
  static constexpr int kThreads = kRowThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) {
    const i64 all = p.images * p.count * p.elements, step = static_cast<i64>(device::grid_size().x) * kThreads;
    for (i64 i = static_cast<i64>(device::block_index().x) * kThreads + device::thread_index(); i < all; i += step) {
      const i64 row = i / p.elements, element = i % p.elements, image = row / p.count, at = row % p.count;
      const auto* from =
          static_cast<const Element*>(p.from) + (image * p.from_rows + p.from_first + at) * p.elements + element;
      auto* to = static_cast<Element*>(p.to) + (image * p.to_rows + p.to_first + at) * p.elements + element;
      const float sum = device::to_float(device::load_global(static_cast<const Element*>(to))) +
                        device::to_float(device::load_global(from));
      device::store_global(to, device::from_float<Element>(sum));
    }
  }
};

}  // namespace wt
