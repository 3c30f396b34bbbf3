// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/pack.cc - the packing half of gemm.h: blocks of the tensors as fp32 rows and panels of columns.
//
// The reduction runs over (tap, source channel) for channels-last and (source channel, tap) for channels-first, the
// order of the weights in memory; for backward weight over the pixels of dy.
#include <algorithm>
#include <cstring>

#include "runtime/cpu/gemm.h"

namespace wt::cpu {

namespace {

constexpr int64_t kMaxColumns = 256;  // of a block

void zero(float* to, int64_t count) { std::memset(to, 0, static_cast<size_t>(count) * sizeof(float)); }

bool inside(int64_t at, int64_t size) { return at >= 0 && at < size; }

// Elements index + i * step for pixels [0, count) of a row, zero outside of [range).
void read_row(const Source& source, int64_t index, int64_t step, Range range, int64_t count, float* to) {
  zero(to, range.lower);
  zero(to + range.upper, count - range.upper);
  if (step == 1) {
    read(source, index + range.lower, to + range.lower, range.upper - range.lower);
  } else if (size_of(source.type) == 4) {
    const float* from = static_cast<const float*>(source.data) + index;
    for (int64_t i = range.lower; i < range.upper; ++i) to[i] = from[i * step];
  } else {
    for (int64_t i = range.lower; i < range.upper; ++i) to[i] = read_one(source, index + i * step);
  }
}

// Walks pixels [first, first + count) of all images in pieces of one row: body(n, d, h, w, offset, length).
template <class Body>
void for_each_row(const Phase& phase, int64_t first, int64_t count, Body body) {
  for (int64_t done = 0; done < count;) {
    const int64_t pixel = first + done;
    const int64_t w = pixel % phase.count[2], row = pixel / phase.count[2];
    const int64_t length = std::min(phase.count[2] - w, count - done);
    body(row / phase.rows(), row / phase.count[1] % phase.count[0], row % phase.count[1], w, done, length);
    done += length;
  }
}

}  // namespace

int64_t Gemm::weight_offset(int64_t k, int64_t filter, int64_t c) const {
  const int64_t channels = problem_.c_per_group();
  return last_ ? (k * geometry_.taps + filter) * channels + c : (k * channels + c) * geometry_.taps + filter;
}

void Gemm::pack_rows(const Block& block, const Inputs& inputs, int64_t from, int64_t depth, float* to) const {
  if (weight_) return rows_of_gradient(block, inputs.y, from, depth, to);
  if (!last_) return rows_of_weights(block, inputs.w, from, depth, to);
  rows_of_pixels(block, problem_.direction == Direction::kForward ? inputs.x : inputs.y, from, depth, to);
}

void Gemm::pack_columns(const Block& block, const Inputs& inputs, int64_t from, int64_t depth, float* to) const {
  if (weight_) return columns_of_patches(block, inputs.x, from, depth, to);
  if (last_) return columns_of_weights(block, inputs.w, from, depth, to);
  columns_of_pixels(block, problem_.direction == Direction::kForward ? inputs.x : inputs.y, from, depth, to);
}

// One row of the columns operand into its place in every panel; what a panel has beyond the block becomes zero.
void Gemm::put_row(const float* row, int64_t columns, int64_t at, float* to) const {
  const int64_t width = tile_->columns;
  for (int64_t column = 0; column < columns; column += width) {
    float* panel = to + column * kDepth + at * width;
    const int64_t count = std::min(width, columns - column);
    std::memcpy(panel, row + column, static_cast<size_t>(count) * sizeof(float));
    zero(panel + count, width - count);
  }
}

// Channels-last: row m is a pixel, and every tap of it a run of channels.
void Gemm::rows_of_pixels(const Block& block, const Source& source, int64_t from, int64_t depth, float* to) const {
  const Phase& phase = *block.phase;
  const int64_t channels = source_channels_ * problem_.g;
  const Spatial& size = geometry_.source;
  for_each_row(phase, block.row, block.rows,
               [&](int64_t n, int64_t d, int64_t h, int64_t w, int64_t offset, int64_t length) {
                 for (int64_t at = 0; at < depth;) {
                   const Tap& tap = phase.taps[static_cast<size_t>((from + at) / source_channels_)];
                   const int64_t c = (from + at) % source_channels_;
                   const int64_t run = std::min(source_channels_ - c, depth - at);
                   const int64_t sd = tap.base[0] + d * phase.step[0], sh = tap.base[1] + h * phase.step[1];
                   const bool row_inside = inside(sd, size[0]) && inside(sh, size[1]);
                   for (int64_t i = 0; i < length; ++i) {
                     const int64_t sw = tap.base[2] + (w + i) * phase.step[2];
                     float* target = to + (offset + i) * kRowStride + at;
                     if (row_inside && inside(sw, size[2])) {
                       const int64_t pixel = ((n * size[0] + sd) * size[1] + sh) * size[2] + sw;
                       read(source, pixel * channels + block.group * source_channels_ + c, target, run);
                     } else {
                       zero(target, run);
                     }
                   }
                   at += run;
                 }
               });
}

// Channels-first: row m is a channel of the output.
void Gemm::rows_of_weights(const Block& block, const Source& source, int64_t from, int64_t depth, float* to) const {
  const Phase& phase = *block.phase;
  const int64_t taps = static_cast<int64_t>(phase.taps.size());
  for (int64_t r = 0; r < block.rows; ++r, to += kRowStride) {
    if (problem_.direction == Direction::kForward) {
      const int64_t k = block.group * walked_channels_ + block.row + r;
      read(source, weight_offset(k, 0, 0) + from, to, depth);
      continue;
    }
    int64_t k = block.group * source_channels_ + from / taps, t = from % taps;
    int64_t base = weight_offset(k, 0, block.row + r);
    for (int64_t at = 0; at < depth; ++at) {
      const int64_t index = base + phase.taps[static_cast<size_t>(t)].filter;
      to[at] = size_of(source.type) == 4 ? static_cast<const float*>(source.data)[index] : read_one(source, index);
      if (++t == taps) t = 0, base = weight_offset(++k, 0, block.row + r);
    }
  }
}

// Backward weight: row m is a channel of dy, along its pixels.
void Gemm::rows_of_gradient(const Block& block, const Source& source, int64_t from, int64_t depth, float* to) const {
  const Phase& phase = *block.phase;
  const int64_t first = block.group * walked_channels_ + block.row;
  if (last_) {
    float run[kMaxColumns];
    for (int64_t at = 0; at < depth; ++at) {
      read(source, (from + at) * problem_.k + first, run, block.rows);
      for (int64_t r = 0; r < block.rows; ++r) to[r * kRowStride + at] = run[r];
    }
    return;
  }
  for (int64_t r = 0; r < block.rows; ++r, to += kRowStride)
    for (int64_t at = 0; at < depth;) {
      const int64_t n = (from + at) / phase.pixels(), pixel = (from + at) % phase.pixels();
      const int64_t run = std::min(phase.pixels() - pixel, depth - at);
      read(source, (n * problem_.k + first + r) * phase.pixels() + pixel, to + at, run);
      at += run;
    }
}

// Channels-first: the columns are pixels, one row of them for each (source channel, tap).
void Gemm::columns_of_pixels(const Block& block, const Source& source, int64_t from, int64_t depth, float* to) const {
  const Phase& phase = *block.phase;
  const int64_t taps = static_cast<int64_t>(phase.taps.size());
  const int64_t channels = source_channels_ * problem_.g;
  const Spatial& size = geometry_.source;
  float row[kMaxColumns];
  for (int64_t at = 0; at < depth; ++at) {
    const int64_t channel = block.group * source_channels_ + (from + at) / taps;
    const Tap& tap = phase.taps[static_cast<size_t>((from + at) % taps)];
    for_each_row(phase, block.column, block.columns,
                 [&](int64_t n, int64_t d, int64_t h, int64_t w, int64_t offset, int64_t length) {
                   const int64_t sd = tap.base[0] + d * phase.step[0], sh = tap.base[1] + h * phase.step[1];
                   if (!inside(sd, size[0]) || !inside(sh, size[1])) return zero(row + offset, length);
                   const int64_t base = tap.base[2] + w * phase.step[2];
                   const int64_t index = (((n * channels + channel) * size[0] + sd) * size[1] + sh) * size[2] + base;
                   read_row(source, index, phase.step[2], valid_range(base, phase.step[2], size[2], 0, length), length,
                            row + offset);
                 });
    put_row(row, block.columns, at, to);
  }
}

// Channels-last: the columns are channels of the output, one row of them for each (tap, source channel).
void Gemm::columns_of_weights(const Block& block, const Source& source, int64_t from, int64_t depth, float* to) const {
  const Phase& phase = *block.phase;
  float row[kMaxColumns];
  if (problem_.direction == Direction::kBackwardData) {
    for (int64_t at = 0; at < depth; ++at) {
      const Tap& tap = phase.taps[static_cast<size_t>((from + at) / source_channels_)];
      const int64_t k = block.group * source_channels_ + (from + at) % source_channels_;
      read(source, weight_offset(k, tap.filter, block.column), row, block.columns);
      put_row(row, block.columns, at, to);
    }
    return;
  }
  // Forward takes every tap in order, so that a column runs along memory.
  static_assert(kMaxColumns >= kDepth);
  const int64_t width = tile_->columns;
  for (int64_t column = 0; column < (block.columns + width - 1) / width * width; ++column) {
    float* panel = to + column / width * width * kDepth + column % width;
    if (column < block.columns) {
      const int64_t k = block.group * walked_channels_ + block.column + column;
      read(source, weight_offset(k, 0, 0) + from, row, depth);
    } else {
      zero(row, depth);
    }
    for (int64_t at = 0; at < depth; ++at) panel[at * width] = row[at];
  }
}

// Backward weight: the columns are the elements of one filter, one row of them for each pixel of dy.
void Gemm::columns_of_patches(const Block& block, const Source& source, int64_t from, int64_t depth, float* to) const {
  const Phase& phase = *block.phase;
  const int64_t channels = source_channels_ * problem_.g;
  const Spatial& size = geometry_.source;
  float row[kMaxColumns];
  if (last_) {
    for_each_row(phase, from, depth, [&](int64_t n, int64_t d, int64_t h, int64_t w, int64_t offset, int64_t length) {
      for (int64_t i = 0; i < length; ++i) {
        for (int64_t j = 0; j < block.columns;) {
          const Tap& tap = phase.taps[static_cast<size_t>((block.column + j) / source_channels_)];
          const int64_t c = (block.column + j) % source_channels_;
          const int64_t run = std::min(source_channels_ - c, block.columns - j);
          const int64_t sd = tap.base[0] + d * phase.step[0], sh = tap.base[1] + h * phase.step[1];
          const int64_t sw = tap.base[2] + (w + i) * phase.step[2];
          if (inside(sd, size[0]) && inside(sh, size[1]) && inside(sw, size[2])) {
            const int64_t pixel = ((n * size[0] + sd) * size[1] + sh) * size[2] + sw;
            read(source, pixel * channels + block.group * source_channels_ + c, row + j, run);
          } else {
            zero(row + j, run);
          }
          j += run;
        }
        put_row(row, block.columns, offset + i, to);
      }
    });
    return;
  }
  const int64_t width = tile_->columns;
  for (int64_t column = 0; column < (block.columns + width - 1) / width * width; ++column) {
    float* panel = to + column / width * width * kDepth + column % width;
    if (column < block.columns) {
      const int64_t channel = block.group * source_channels_ + (block.column + column) / geometry_.taps;
      const Tap& tap = phase.taps[static_cast<size_t>((block.column + column) % geometry_.taps)];
      for_each_row(phase, from, depth, [&](int64_t n, int64_t d, int64_t h, int64_t w, int64_t offset, int64_t length) {
        const int64_t sd = tap.base[0] + d * phase.step[0], sh = tap.base[1] + h * phase.step[1];
        if (!inside(sd, size[0]) || !inside(sh, size[1])) return zero(row + offset, length);
        const int64_t base = tap.base[2] + w * phase.step[2];
        const int64_t index = (((n * channels + channel) * size[0] + sd) * size[1] + sh) * size[2] + base;
        read_row(source, index, phase.step[2], valid_range(base, phase.step[2], size[2], 0, length), length,
                 row + offset);
      });
    } else {
      zero(row, depth);
    }
    for (int64_t at = 0; at < depth; ++at) panel[at * width] = row[at];
  }
}

}  // namespace wt::cpu
