// SPDX-License-Identifier: Apache-2.0
// kernels/rows_weight/device/layout.h - how a rows kernel of weight gradients divides its warps and its shared memory.
//
//   slots of dy (the sums of other groups at the end) | ring of image rows | barriers
//
// Freestanding: the host asks for bytes by the same functions that the kernel lays out by.
#pragma once

#include "kernels/device/gemm/storage.h"

namespace wt::rows_weight_layout {

// Channels of the image: few, or such as are no vectors, which bulk copies cannot bring.
inline constexpr int kMostChannels = 16, kMostOddChannels = 64;
constexpr bool takes_channels(long long channels) {
  return channels <= kMostChannels || (channels % 8 != 0 && channels <= kMostOddChannels);
}

// Groups of four warps share the window's positions (m) and the units (k).
constexpr int groups_m(const KernelConfig& config) { return config.gemm.warps.m / 4; }
constexpr int groups_k(const KernelConfig& config) { return config.gemm.warps.k; }
constexpr int groups(const KernelConfig& config) { return groups_m(config) * groups_k(config); }
constexpr int load_threads(const KernelConfig& config) { return 32 * config.gemm.load_warps; }
constexpr int threads(const KernelConfig& config) { return 128 * groups(config) + load_threads(config); }
// One thread sends bulk tensor copies of image rows, or all load warps copy words.
constexpr bool loads_in_bulk(const KernelConfig& config) { return config.gemm.load_warps == 1; }
// Whether the load warps bring dy too, through registers: of any number of channels.
constexpr bool loads_gradient_words(const KernelConfig& config) { return config.gemm.loader_b == Loader::kVector; }

// A fragment is 64 positions: 32 words of two.
constexpr int fragments(const KernelConfig& config) { return config.gemm.tile.m / 64; }
constexpr int tile_words(const KernelConfig& config) { return config.gemm.tile.m / 2; }
// A unit's output channels lie in rows of 128 bytes, of which 32 fill the half.
constexpr int box_columns(const KernelConfig& config) { return config.gemm.tile.n < 64 ? config.gemm.tile.n : 64; }
constexpr int blocks_n(const KernelConfig& config) { return (config.gemm.tile.n + 63) / 64; }
// Vectors of four sums: two positions of two output channels.
constexpr int tile_vectors(const KernelConfig& config) { return config.gemm.tile.m * config.gemm.tile.n / 4; }

// Steps of 16 outputs that are read and multiplied together: as many as registers hold beside the sums, at most 4.
// WHY by quarters: each of a multiprocessor's four parts has registers of its own, and warps go to them in turns.
constexpr int set_steps(const KernelConfig& config) {
  constexpr int kOther = 44, kOfFragment = 10;  // words as read, three of a pair where the step is odd, and turned
  const int quarter = (threads(config) / 32 * config.min_blocks + 3) / 4, registers = quarter > 0 ? 512 / quarter : 255;
  const int own = fragments(config) / (groups_m(config) > 0 ? groups_m(config) : 1);
  const int left = (registers < 255 ? registers : 255) - kOther - own * config.gemm.tile.n / 2;
  const int held = own > 0 ? left / (kOfFragment * own) : 1;
  return held >= 4 ? 4 : held >= 2 ? 2 : 1;
}

// The words of a filter in the order of lanes, eight by eight: whole octets of filter rows, then what these leave.
// WHY: eight words of one row lie in different banks for all outputs that a warp reads at once, those of two need not.
struct Word {
  int row, at;  // filter row, and word of it
};
constexpr Word word_of(int filter_rows, int row_words, int index) {
  const int octets = row_words / 8, rest = row_words % 8, whole = filter_rows * octets * 8;
  if (index < whole) return {index / 8 / octets, index / 8 % octets * 8 + index % 8};
  return {(index - whole) / rest, octets * 8 + (index - whole) % rest};
}

constexpr long long slots_bytes(const KernelConfig& config, long long block) {
  const long long slots = config.gemm.stages * blocks_n(config) * block;
  const long long sums = groups_k(config) > 1 ? 16LL * tile_vectors(config) : 0;
  return slots > sums ? slots : sums;
}
// Where the parts begin, counted from an address aligned for bulk copies. `slots`: bytes of dy's slots; `ring`: of
// image rows.
template <class Int>
struct Places {
  Int rows, barriers, end;
};
template <class Int>
constexpr Places<Int> places(const KernelConfig& config, Int slots, Int ring) {
  return {slots, slots + ring, slots + ring + config.gemm.stages * 16};
}
// `block`: bytes of a unit's 64 channels. 1024: to align the first part.
constexpr long long shared_bytes(const KernelConfig& config, long long block, long long ring) {
  return 1024 + places(config, slots_bytes(config, block), ring).end;
}

}  // namespace wt::rows_weight_layout
