// SPDX-License-Identifier: Apache-2.0
// kernels/portable/device/stream_arguments.h - the parameter block of stream.h's two launches.
//
// Freestanding: host (kernels/portable/bind.cc) and device compilers lay this struct out alike.
#pragma once

#include "kernels/wavelet/device/weight_arguments.h"

namespace wt {

inline constexpr int kStreamSumThreads = 256;
inline constexpr int kStreamTreeLevels = 10;  // 2^10 parts of a tile, more than blocks share one

struct PortableStreamArguments {
  WaveletWeightArguments weight;
  u32 whole_tiles;  // that have a block each; the others are streamed
  i64 share;        // k-blocks of a block that streams
  i64 streamed;     // k-blocks of all streamed tiles
  float* parts;     // (2 * streaming blocks, tile.m, tile.n)
};

}  // namespace wt
