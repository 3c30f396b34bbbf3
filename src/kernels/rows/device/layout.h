// SPDX-License-Identifier: Apache-2.0
// kernels/rows/device/layout.h - how a rows kernel divides k, its warps and its shared memory.
//
//   filters, one per class of pixels | staging of the output | slots of patches | barriers
//
// Freestanding: the host asks for bytes by the same functions that the kernel lays out by.
#pragma once

#include "kernels/device/gemm/regions.h"
#include "kernels/device/gemm/storage.h"

namespace wt::rows_layout {

// Channels of the source: up to 8, or, where they are up to 16 or no whole vectors, as many as a few filter rows have
// room for, of all planes.
inline constexpr int kMostChannels = 8, kMostVectors = 16, kMostWideRows = 3, kMostNumbers = 128;
inline constexpr int kFiveRows = 5, kMostNumbersOfFive = 264, kMostVectorRows = 25;
inline constexpr int kMostFlat = 240;  // of a unit filter whose pixels are one line
constexpr bool takes_channels(long long channels, long long filter_rows, long long filter_columns) {
  if (channels <= kMostChannels) return true;
  const long long most = filter_rows <= kMostWideRows                                 ? kMostNumbers
                         : filter_rows == kFiveRows                                   ? kMostNumbersOfFive
                         : filter_rows <= kMostVectorRows && channels <= kMostVectors ? kMostNumbers
                                                                                      : 0;
  return (channels % 8 != 0 || channels <= kMostVectors) && channels * filter_columns < most;
}

// k is filter rows of whole octets: the numbers of a filter row follow each other in the image, and what fills the last
// octet, or lies before an odd start, is masked.
inline constexpr int kOctet = 8;
constexpr int filter_rows(const KernelConfig& config) {
  return config.gemm.filter_rows > 0 ? config.gemm.filter_rows : 1;
}
constexpr int steps(const KernelConfig& config) { return config.gemm.tile.k / 16; }
// WHY the division: an odd number of octets leaves half of the last step empty. For one row the number is even.
constexpr int octets_of_row(const KernelConfig& config) { return config.gemm.tile.k / kOctet / filter_rows(config); }

// Whether a filter's rows may be whole vectors: of more than 8 channels, and of patches with an even side. WHY no
// others: code for what does not come makes the start of every block longer.
constexpr bool may_have_vectors(const KernelConfig& config) {
  return octets_of_row(config) > filter_rows(config) || filter_rows(config) % 2 == 0;
}
// Whether outputs may be spread over banks. WHY of long sums alone: their places take some twenty instructions more of
// every fragment, which fewer loads do not make good.
inline constexpr int kLeastSpreadOctets = 48;
constexpr bool may_spread(const KernelConfig& config) {
  return filter_rows(config) * octets_of_row(config) >= kLeastSpreadOctets;
}

constexpr int groups(const KernelConfig& config) { return config.gemm.warps.m / 4; }
constexpr int load_threads(const KernelConfig& config) { return 32 * config.gemm.load_warps; }
constexpr int threads(const KernelConfig& config) { return 128 * groups(config) + load_threads(config); }
// One thread sends bulk tensor copies, or all load warps copy words.
constexpr bool loads_in_bulk(const KernelConfig& config) { return config.gemm.load_warps == 1; }

// WHY by quarters: each of a multiprocessor's four parts has registers of its own, and warps go to them in turns.
constexpr int registers(const KernelConfig& config) {
  const int quarter = (threads(config) / 32 * config.min_blocks + 3) / 4;
  const int even = quarter > 0 ? 512 / quarter / 8 * 8 : 255;
  return even < 255 ? even : 255;
}
// Steps of k whose fragments are in registers together, in sets: one is gathered while others are multiplied.
// WHY more for some epilogues: the compiler keeps the addresses of what they load at places all the time, and a few
// values of scale, bias and an activation.
constexpr bool is_loaded(const EpilogueConfig& epilogue) { return epilogue.placed() || epilogue.amax; }
constexpr bool is_stepped(const EpilogueConfig& epilogue) {
  return epilogue.scale || epilogue.bias ||
         (epilogue.activation != Activation::kNone && epilogue.activation != Activation::kRelu);
}
constexpr bool is_plain(const EpilogueConfig& epilogue) { return !is_loaded(epilogue) && !is_stepped(epilogue); }
constexpr int other_registers(const KernelConfig& config) {
  if (is_loaded(config.epilogue)) return 84 + 12 * config.epilogue.auxiliaries();
  return is_stepped(config.epilogue) ? 64 : 44;
}
constexpr int held_steps(const KernelConfig& config) {
  return (registers(config) - other_registers(config) - config.gemm.tile.n / 2) / 4;
}
constexpr bool holds_all(const KernelConfig& config) { return held_steps(config) >= steps(config); }
constexpr int set_steps(const KernelConfig& config) { return holds_all(config) || held_steps(config) >= 10 ? 4 : 2; }
constexpr int sets(const KernelConfig& config) {
  const int size = set_steps(config), most = (steps(config) + size - 1) / size;
  // WHY two less: registers that are used again are not free at once.
  const int fit = holds_all(config) ? most : (held_steps(config) - 2) / size;
  return fit < 2 ? 2 : fit < most ? fit : most;
}

// The filter along k, in blocks of 64 numbers (128 bytes, swizzled).
constexpr int filter_bytes(const KernelConfig& config) {
  return (config.gemm.tile.k + 63) / 64 * config.gemm.tile.n * 128;
}
constexpr int out_boxes(const KernelConfig& config) { return (config.gemm.tile.n + 63) / 64; }
// Whether the filter's columns lie such that a lane's sums are eight neighbouring outputs, which leave the registers as
// one vector.
constexpr bool stores_octets(const KernelConfig& config) {
  return config.gemm.staging == Staging::kDirect && config.gemm.vector_c == kOctet;
}
// Where a column lies: of 32 columns a lane has pairs in four blocks of 8, and shall have 8 neighbours.
constexpr unsigned place_of(const KernelConfig& config, unsigned column) {
  return stores_octets(config) ? column / 32 * 32 + column % 8 / 2 * 8 + column % 32 / 8 * 2 + column % 2 : column;
}
constexpr int out_bytes(const KernelConfig& config) {
  return config.gemm.staging == Staging::kDirect ? 0 : groups(config) * out_boxes(config) * 64 * 128;
}

// The regions of a block's shared memory: addresses from `base` in the kernel; the host asks for the end, from 0.
struct RegionBytes {
  int filter, staging, stages, ring;
};
constexpr RegionBytes region_bytes(const KernelConfig& config) {
  return {filter_bytes(config), out_bytes(config), config.gemm.stages, ring_bytes(config.gemm.stages)};
}
template <class Address, class Size>
struct SharedLayout {
  Address filter, staging, slots, ring, end;

  constexpr SharedLayout(Address base, RegionBytes bytes, Size classes, Size slot)
      : filter(base),
        staging(filter + classes * bytes.filter),
        slots(staging + bytes.staging),
        ring(slots + bytes.stages * slot),
        end(ring + bytes.ring) {}
};
constexpr long long shared_bytes(const KernelConfig& config, int classes, long long slot) {
  return kSharedAlignment + SharedLayout<long long, long long>(0, region_bytes(config), classes, slot).end;
}

}  // namespace wt::rows_layout
