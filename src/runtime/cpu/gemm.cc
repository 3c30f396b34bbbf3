// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/gemm.h"

#include <algorithm>
#include <cstring>

#include "runtime/cpu/workers.h"

namespace wt::cpu {

namespace {

// Most of a block; with kDepth they fill about half of a 1 MiB second-level cache.
constexpr int64_t kBlockRows = 168;
constexpr int64_t kBlockColumns = 256;
// Buffers of a block on the stack: 28 x 272 + 256 x 32 + 28 x 32 floats are 66 KiB.
constexpr int64_t kSmallRows = 28;
constexpr int64_t kSmallColumns = 32;

int64_t round_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }
int64_t divide_up(int64_t value, int64_t step) { return (value + step - 1) / step; }

}  // namespace

Gemm::Gemm(const ConvProblem& problem, int threads, bool small)
    : problem_(problem),
      geometry_(problem),
      weight_(problem.direction == Direction::kBackwardWeight),
      last_(problem.layout == Layout::kChannelsLast),
      integer_(problem.first_type() == DataType::kI8),
      threads_(threads),
      small_(small) {
  const bool data = problem.direction == Direction::kBackwardData;
  source_channels_ = data ? problem.k_per_group() : problem.c_per_group();
  walked_channels_ = data ? problem.c_per_group() : problem.k_per_group();
  int64_t columns = 0;
  for (const Phase& phase : geometry_.phases) columns = std::max(columns, columns_of(phase));
  const Kernels& set = kernels();
  tile_ = columns <= set.narrow.columns ? &set.narrow : &set.wide;
  choose_blocks();
}

int64_t Gemm::rows_of(const Phase& phase) const {
  if (weight_) return walked_channels_;
  return last_ ? problem_.n * phase.pixels() : walked_channels_;
}

int64_t Gemm::columns_of(const Phase& phase) const {
  if (weight_) return geometry_.taps * source_channels_;
  return last_ ? walked_channels_ : problem_.n * phase.pixels();
}

int64_t Gemm::depth_of(const Phase& phase) const {
  if (weight_) return problem_.n * phase.pixels();
  return static_cast<int64_t>(phase.taps.size()) * source_channels_;
}

int64_t Gemm::block_count(const Phase& phase) const {
  return problem_.g * divide_up(rows_of(phase), block_rows_) * divide_up(columns_of(phase), block_columns_);
}

int64_t Gemm::all_blocks() const {
  int64_t count = 0;
  for (const Phase& phase : geometry_.phases) count += block_count(phase);
  return count;
}

// As large as pays, then smaller until every thread has a few.
void Gemm::choose_blocks() {
  int64_t rows = 1, columns = 1;
  for (const Phase& phase : geometry_.phases) {
    rows = std::max(rows, rows_of(phase));
    columns = std::max(columns, columns_of(phase));
  }
  const int64_t row_step = tile_->rows, column_step = tile_->columns;
  block_rows_ = std::min(round_up(rows, row_step), (small_ ? kSmallRows : kBlockRows) / row_step * row_step);
  block_columns_ =
      std::min(round_up(columns, column_step), (small_ ? kSmallColumns : kBlockColumns) / column_step * column_step);
  while (all_blocks() < 3 * threads_) {
    const bool rows_can = block_rows_ > 2 * row_step, columns_can = block_columns_ > 2 * column_step;
    if (!rows_can && !columns_can) break;
    if (rows_can && (block_rows_ >= block_columns_ || !columns_can)) {
      block_rows_ = round_up(block_rows_ / 2, row_step);
    } else {
      block_columns_ = round_up(block_columns_ / 2, column_step);
    }
  }
}

int64_t Gemm::scratch_bytes() const {
  if (small_) return 0;
  const int64_t sums = (integer_ ? 2 : 1) * block_rows_ * block_columns_;
  return threads_ * (block_rows_ * kRowStride + block_columns_ * kDepth + sums) * static_cast<int64_t>(sizeof(float));
}

Gemm::Block Gemm::block_at(int64_t item) const {
  size_t phase_index = 0;
  while (item >= block_count(geometry_.phases[phase_index])) item -= block_count(geometry_.phases[phase_index++]);
  const Phase& phase = geometry_.phases[phase_index];
  const int64_t row_blocks = divide_up(rows_of(phase), block_rows_);
  const int64_t column_blocks = divide_up(columns_of(phase), block_columns_);
  Block block{.phase = &phase};
  block.column = item % column_blocks * block_columns_;
  block.row = item / column_blocks % row_blocks * block_rows_;
  block.group = item / column_blocks / row_blocks;
  block.rows = std::min(block_rows_, rows_of(phase) - block.row);
  block.columns = std::min(block_columns_, columns_of(phase) - block.column);
  return block;
}

void Gemm::run(const Inputs& inputs, const Finisher& finisher, void* scratch) const {
  const int64_t slot_floats = scratch_bytes() / static_cast<int64_t>(sizeof(float)) / threads_;
  for_each_item(all_blocks(), threads_, [&](int64_t item, int slot) {
    if (small_) {
      alignas(64) float memory[kSmallRows * kRowStride + kSmallColumns * kDepth + kSmallRows * kSmallColumns];
      float* columns = memory + kSmallRows * kRowStride;
      int32_t whole[kSmallRows * kSmallColumns];
      compute(block_at(item), inputs, finisher, {memory, columns, columns + kSmallColumns * kDepth, whole});
      return;
    }
    float* memory = static_cast<float*>(scratch) + slot * slot_floats;
    float* columns = memory + block_rows_ * kRowStride;
    float* sums = columns + block_columns_ * kDepth;
    compute(block_at(item), inputs, finisher,
            {memory, columns, sums, reinterpret_cast<int32_t*>(sums + block_rows_ * block_columns_)});
  });
}

void Gemm::compute(const Block& block, const Inputs& inputs, const Finisher& finisher, const Buffers& buffers) const {
  const int64_t rows = round_up(block.rows, tile_->rows), columns = round_up(block.columns, tile_->columns);
  const int64_t sums = rows * block_columns_;
  std::memset(buffers.sums, 0, static_cast<size_t>(sums) * sizeof(float));
  if (integer_) std::memset(buffers.whole, 0, static_cast<size_t>(sums) * sizeof(int32_t));
  // Rows beyond the block are multiplied too, for nothing; zeros keep stale denormals from slowing that down.
  for (int64_t r = block.rows; r < rows; ++r) std::memset(buffers.rows + r * kRowStride, 0, kDepth * sizeof(float));

  const int64_t depth = depth_of(*block.phase);
  for (int64_t from = 0; from < depth; from += kDepth) {
    const int64_t step = std::min(kDepth, depth - from);
    pack_rows(block, inputs, from, step, buffers.rows);
    pack_columns(block, inputs, from, step, buffers.columns);
    for (int64_t column = 0; column < columns; column += tile_->columns)
      for (int64_t row = 0; row < rows; row += tile_->rows)
        tile_->multiply(step, buffers.rows + row * kRowStride, buffers.columns + column * kDepth,
                        buffers.sums + row * block_columns_ + column, block_columns_);
    if (!integer_) continue;
    for (int64_t i = 0; i < sums; ++i) {
      buffers.whole[i] += static_cast<int32_t>(buffers.sums[i]);
      buffers.sums[i] = 0;
    }
  }
  if (integer_)
    for (int64_t i = 0; i < sums; ++i) buffers.sums[i] = static_cast<float>(buffers.whole[i]);
  write_back(block, finisher, buffers.sums);
}

void Gemm::write_back(const Block& block, const Finisher& finisher, const float* sums) const {
  const Phase& phase = *block.phase;
  const int64_t channels = walked_channels_ * problem_.g;
  const Spatial& size = geometry_.walked;
  const int64_t image = size[0] * size[1] * size[2];
  const auto position = [&](int64_t d, int64_t h, int64_t w) {
    return ((phase.origin[0] + d * phase.spacing[0]) * size[1] + phase.origin[1] + h * phase.spacing[1]) * size[2] +
           phase.origin[2] + w * phase.spacing[2];
  };
  for (int64_t r = 0; r < block.rows; ++r, sums += block_columns_) {
    const int64_t row = block.row + r;
    if (weight_) {
      const int64_t k = block.group * walked_channels_ + row;
      finisher.finish(
          sums, {.offset = k * geometry_.taps * source_channels_ + block.column, .count = block.columns, .channel = k});
    } else if (last_) {
      const int64_t w = row % phase.count[2], h = row / phase.count[2] % phase.count[1];
      const int64_t d = row / phase.count[2] / phase.count[1] % phase.count[0], n = row / phase.pixels();
      const int64_t channel = block.group * walked_channels_ + block.column;
      finisher.finish(sums, {.offset = (n * image + position(d, h, w)) * channels + channel,
                             .count = block.columns,
                             .channel = channel,
                             .channel_step = 1});
    } else {
      const int64_t channel = block.group * walked_channels_ + row;
      for (int64_t j = 0; j < block.columns;) {
        const int64_t pixel = block.column + j;
        const int64_t w = pixel % phase.count[2], h = pixel / phase.count[2] % phase.count[1];
        const int64_t d = pixel / phase.count[2] / phase.count[1] % phase.count[0], n = pixel / phase.pixels();
        // A row of pixels; without phases the whole image follows in memory.
        const int64_t left =
            phase.spacing == Spatial{1, 1, 1} ? phase.pixels() - pixel % phase.pixels() : phase.count[2] - w;
        const int64_t count = std::min(left, block.columns - j);
        finisher.finish(sums + j, {.offset = (n * channels + channel) * image + position(d, h, w),
                                   .count = count,
                                   .stride = phase.spacing[2],
                                   .channel = channel});
        j += count;
      }
    }
  }
}

}  // namespace wt::cpu
