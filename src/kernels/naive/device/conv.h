// SPDX-License-Identifier: Apache-2.0
// kernels/naive/device/conv.h - convolution sums by their definition, in double: the reference that runs where the
// tensors are.
//
//   x, w, y --ConvSums--> Sums of chosen output elements --dispatch/trial/gpu_verify.h--> verdict
//
// One thread sums one part of one element. It shares nothing with the kernels that it judges but the number formats.
#pragma once

#include "kernels/naive/device/arguments.h"
#include "target/target.h"

namespace wt::naive {

// Where an element of the output lies: n and channel of x or y, k and c/g of w.
struct Position {
  i64 outer;
  i64 channel;
  i32 at[3];
};

WT_DEVICE Position position_of(i64 index, i64 channels, const i32 (&size)[3], bool channels_last) {
  Position position;
  if (channels_last) {
    position.channel = index % channels;
    index /= channels;
  }
  for (int i = 2; i >= 0; --i) {
    position.at[i] = static_cast<i32>(index % size[i]);
    index /= size[i];
  }
  if (!channels_last) {
    position.channel = index % channels;
    index /= channels;
  }
  position.outer = index;
  return position;
}

template <Direction kDirection, DataType kFirst, DataType kSecond>
struct ConvSums {
  static constexpr int kThreads = naive::kThreads;
  static constexpr int kMinBlocks = 1;
  using Params = SumsParams;
  using First = Storage<kFirst>;
  using Second = Storage<kSecond>;

  WT_DEVICE static void run(const Params& p) {
    const i64 jobs = p.count * p.parts;
    const i64 step = static_cast<i64>(device::grid_size().x) * kThreads;
    for (i64 job = static_cast<i64>(device::block_index().x) * kThreads + device::thread_index(); job < jobs;
         job += step) {
      const i64 element = job % p.count;
      const i64 index = p.indices ? device::load_global(p.indices + element) : p.first_index + element;
      device::store_global(p.sums + job, sum_of(p, index, job / p.count));
    }
  }

 private:
  // The products of an element as rows of products with constant strides.
  struct Row {
    const First* first;
    const Second* second;
    i64 first_step, second_step;
    bool exists;  // false: padding
  };

  WT_DEVICE static Sums sum_of(const Params& p, i64 index, i64 part) {
    const ConvShape& s = p.shape;
    i64 rows, length;  // rows of a sum, products of a row
    Position at;
    if constexpr (kDirection == Direction::kForward) {
      at = position_of(index, static_cast<i64>(s.groups) * s.k, s.out, p.channels_last);
      rows = static_cast<i64>(s.filter[0]) * s.filter[1] * s.filter[2], length = s.c;
    } else if constexpr (kDirection == Direction::kBackwardData) {
      at = position_of(index, static_cast<i64>(s.groups) * s.c, s.in, p.channels_last);
      rows = static_cast<i64>(s.filter[0]) * s.filter[1] * s.filter[2], length = s.k;
    } else {
      at = position_of(index, s.c, s.filter, p.channels_last);
      rows = s.n * s.out[0] * s.out[1], length = s.out[2];
    }
    const i64 begin = rows * length * part / p.parts, end = rows * length * (part + 1) / p.parts;
    Sums sums{0, 0, 0};
    for (i64 done = begin; done < end;) {
      const i64 row = done / length, skip = done % length;
      const i64 count = end - done < length - skip ? end - done : length - skip;
      add(row_of(p, at, row), skip, count, p, at, sums);
      done += count;
    }
    return sums;
  }

  WT_DEVICE static void add(const Row& row, i64 skip, i64 count, const Params& p, const Position& at, Sums& sums) {
    if (!row.exists) return;
    const First* first = row.first + skip * row.first_step;
    const Second* second = row.second + skip * row.second_step;
    for (i64 i = skip; i < skip + count; ++i, first += row.first_step, second += row.second_step) {
      if constexpr (kDirection == Direction::kBackwardWeight) {
        const i64 from = source(p.shape, 2, i, at.at[2]);
        if (from < 0 || from >= p.shape.in[2]) continue;
      }
      const double product = (static_cast<double>(device::to_float(device::load_global(first))) - p.zero) *
                             static_cast<double>(device::to_float(device::load_global(second)));
      sums.total += product;
      sums.squares += product * product;
      ++sums.terms;
    }
  }

  // The input coordinate that output coordinate `out` reads through tap `tap`.
  WT_DEVICE static i64 source(const ConvShape& s, int i, i64 out, i64 tap) {
    return out * s.stride[i] + tap * s.dilation[i] - s.pad[i];
  }

  WT_DEVICE static Row row_of(const Params& p, const Position& at, i64 row) {
    const ConvShape& s = p.shape;
    const First* first = static_cast<const First*>(p.first);
    const Second* second = static_cast<const Second*>(p.second);
    if constexpr (kDirection == Direction::kBackwardWeight) {
      // A row of output pixels: dw[k, c, r] += x[n, c, p * stride + r * dilation - pad] * dy[n, k, p]
      const i64 h = row % s.out[1], d = row / s.out[1] % s.out[0], n = row / s.out[1] / s.out[0];
      const i64 group = at.outer / s.k;
      const i64 from_d = source(s, 0, d, at.at[0]), from_h = source(s, 1, h, at.at[1]);
      const bool exists = from_d >= 0 && from_d < s.in[0] && from_h >= 0 && from_h < s.in[1];
      first += n * p.x.n + group * p.x.g + at.channel * p.x.channel + from_d * p.x.spatial[0] +
               from_h * p.x.spatial[1] + source(s, 2, 0, at.at[2]) * p.x.spatial[2];
      second += n * p.y.n + group * p.y.g + at.outer % s.k * p.y.channel + d * p.y.spatial[0] + h * p.y.spatial[1];
      return {first, second, p.x.spatial[2] * s.stride[2], p.y.spatial[2], exists};
    } else {
      const i64 tap[3] = {row / s.filter[2] / s.filter[1], row / s.filter[2] % s.filter[1], row % s.filter[2]};
      bool exists = true;
      i64 from[3];
      for (int i = 0; i < 3; ++i) {
        if constexpr (kDirection == Direction::kForward) {
          from[i] = source(s, i, at.at[i], tap[i]);
          exists = exists && from[i] >= 0 && from[i] < s.in[i];
        } else {
          const i64 reach = at.at[i] + s.pad[i] - tap[i] * s.dilation[i];
          from[i] = reach / s.stride[i];
          exists = exists && reach >= 0 && reach % s.stride[i] == 0 && from[i] < s.out[i];
        }
        second += tap[i] * p.w.spatial[i];
      }
      const bool forward = kDirection == Direction::kForward;
      const TensorStrides& from_strides = forward ? p.x : p.y;
      const i64 per_group = forward ? s.k : s.c;
      const i64 group = at.channel / per_group, inner = at.channel % per_group;
      first += at.outer * from_strides.n + group * from_strides.g;
      for (int i = 0; i < 3; ++i) first += from[i] * from_strides.spatial[i];
      second += group * p.w.g + inner * (forward ? p.w.n : p.w.channel);
      return {first, second, from_strides.channel, forward ? p.w.channel : p.w.n, exists};
    }
  }
};

}  // namespace wt::naive
