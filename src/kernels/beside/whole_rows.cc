// SPDX-License-Identifier: Apache-2.0
#include "kernels/beside/whole_rows.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/check.h"
#include "config/fields.h"
#include "kernels/beside/device/whole_rows_arguments.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/tma/device/layout.h"
#include "problem/patch_view.h"

namespace wt {
namespace {

constexpr int64_t kChunkBytes = 16;
constexpr int64_t kAlignment = 256;  // of a copy; maps need 16 bytes

// An input whose rows are copied.
struct Rows {
  Tensor tensor;
  int64_t count, row_bytes, whole_bytes;
  int64_t copies = 1, shift = 0;  // each behind so many more zeros
  int64_t bytes() const { return ceil_div(copies * count * whole_bytes, kAlignment) * kAlignment; }
};

void add_rows(std::vector<Rows>& list, Tensor tensor, DataType type, int64_t elements, int64_t all) {
  const int64_t bytes = elements * size_of(type);
  if (bytes % kChunkBytes == 0 || all == 0) return;
  list.push_back({tensor, all / elements, bytes, whole_row_bytes(bytes)});
}

// The rows of the tensors that the direction reads, but for patches that are read where they lie.
std::vector<Rows> rows_of(const KernelConfig& config, const ConvProblem& p) {
  std::vector<Rows> list;
  if (tma_layout::packs_patches(config) && p.x_elements() > 0) {
    const int64_t bytes = p.c * size_of(p.x);
    list.push_back({Tensor::kX, p.x_elements() / p.c, bytes, whole_row_bytes(bytes)});
  } else if (p.direction != Direction::kBackwardData && !tma_layout::raw_patches(config)) {
    add_rows(list, Tensor::kX, p.x, p.c, p.x_elements());
  }
  if (p.direction != Direction::kForward) add_rows(list, Tensor::kY, p.y, p.k, p.y_elements());
  // A turned filter has whole rows of its own.
  if (p.direction != Direction::kBackwardWeight && !tma_layout::turns_filter(config))
    add_rows(list, Tensor::kW, p.w, p.c_per_group(), p.w_elements());
  if (tma_layout::raw_patches(config) && !list.empty()) {
    const RawPatches patches = raw_patches(p);
    list.back().whole_bytes = patches.depth * size_of(p.w);
    list.back().copies = patches.shifts;
    list.back().shift = patches.step;
  }
  return list;
}

void set_patches(WholeRowsArguments::Copy& job, const ConvProblem& patches) {
  const int64_t row = patches.in[2] * patches.c;
  job.run = static_cast<i32>(patch_runs(patches).length);
  job.beside = static_cast<i32>(row / job.run);
  job.apart = row;
  job.line = row * patches.filter[1];
}

}  // namespace

int64_t whole_row_bytes(int64_t bytes) { return ceil_div(bytes, kChunkBytes) * kChunkBytes; }

int64_t whole_rows_bytes(const KernelConfig& config, const ConvProblem& problem) {
  int64_t bytes = 0;
  for (const Rows& rows : rows_of(config, problem)) bytes += rows.bytes();
  return bytes;
}

double whole_rows_traffic(const KernelConfig& config, const ConvProblem& problem) {
  double bytes = 0;
  for (const Rows& rows : rows_of(config, problem))
    bytes += static_cast<double>(rows.count) * static_cast<double>(rows.row_bytes + rows.copies * rows.whole_bytes);
  return bytes;
}

Binding with_whole_rows(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device,
                        const ConvProblem& asked, Binding binding) {
  const std::vector<Rows> list = rows_of(config, problem);
  if (binding.launches.empty() || list.empty()) return binding;
  WT_CHECK(list.size() <= kWholeRowsMost, "{} inputs to copy in room for {}", list.size(), kWholeRowsMost);
  WholeRowsArguments arguments{};
  Launch copy;
  copy.kernel = name_of(config) + kWholeRowsSuffix;
  copy.shape.threads = kWholeRowsThreads;
  int64_t at = ceil_div(binding.workspace_bytes, kAlignment) * kAlignment, most = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const Rows& rows = list[i];
    WholeRowsArguments::Copy& job = arguments.copies[i];
    job.row = static_cast<i32>(rows.row_bytes / 2);  // the kernel moves 16 bits at a time
    job.chunks = static_cast<i32>(rows.whole_bytes / kChunkBytes);
    job.rows = rows.count;
    job.once = rows.count * job.chunks;
    job.count = rows.copies * job.once;
    job.shift = static_cast<i32>(rows.shift);
    if (tma_layout::packs_patches(config) && rows.tensor == Tensor::kX) set_patches(job, asked);
    most = std::max<int64_t>(most, job.count);
    const auto offset =
        static_cast<uint32_t>(offsetof(WholeRowsArguments, copies) + i * sizeof(WholeRowsArguments::Copy));
    copy.pointers.push_back({offset + static_cast<uint32_t>(offsetof(WholeRowsArguments::Copy, in)), rows.tensor, 0});
    copy.pointers.push_back({offset + static_cast<uint32_t>(offsetof(WholeRowsArguments::Copy, out)),
                             Tensor::kWorkspace, static_cast<uint64_t>(at)});
    for (Launch& launch : binding.launches) {
      for (Launch::Map& map : launch.maps) {
        if (map.tensor != rows.tensor) continue;
        map.tensor = Tensor::kWorkspace;
        // Every outer distance is whole rows.
        const auto copied = [&](uint64_t bytes) {
          return bytes / static_cast<uint64_t>(rows.row_bytes) * static_cast<uint64_t>(rows.whole_bytes);
        };
        map.byte_offset = copied(map.byte_offset) + static_cast<uint64_t>(at);
        for (int rank = 1; rank < map.spec.rank; ++rank) {
          uint64_t& stride = map.spec.stride[static_cast<size_t>(rank)];
          stride = copied(stride);
        }
      }
    }
    at += rows.bytes();
  }
  copy.shape.grid[0] = static_cast<uint32_t>(
      std::clamp<int64_t>(ceil_div(most, kWholeRowsThreads), 1, int64_t{device.multiprocessors} * 8));
  set_params(copy, arguments);
  // WHY not behind zeros: they are written between the launches. Nor the launch that turns a filter, which does not
  // wait.
  Launch& reader = binding.launches.front();
  if (!tma_layout::turns_filter(config)) reader.shape.programmatic = reader.zeros.empty();  // tma/device/roles.h waits
  binding.launches.insert(binding.launches.begin(), std::move(copy));
  binding.workspace_bytes = at;
  return binding;
}

}  // namespace wt
