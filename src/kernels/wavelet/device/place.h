// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/place.h - a vector of the image: a pixel's row plus a place in the sum.
#pragma once

#include "kernels/wavelet/device/walk.h"

namespace wt {

template <KernelConfig kConfig>
struct ImagePlaces {
  using Arguments = WaveletArguments<wavelet_layout::phases(kConfig)>;
  static constexpr int kBytes = size_of(wavelet_layout::gathered_type(kConfig));

  struct Place {  // relative to a row's pixel
    i32 offset;
    i32 at[3];
  };

  WT_DEVICE static Place at(const Arguments& p, const WaveletTile& tile, const WaveletCursor& cursor) {
    Place result;
    WT_UNROLL for (int i = 0; i < 3; ++i) result.at[i] = cursor.tap[i] * p.tap_step[i];
    result.at[2] += cursor.number;
    result.offset = result.at[0] * p.image_stride[1] + result.at[1] * p.image_stride[2] + result.at[2];
    if (cursor.ended(tile)) result.at[2] = kOutside;
    return result;
  }

  WT_DEVICE static const char* address(const char* image, const WaveletRow& from, const Place& by) {
    return image + static_cast<i64>(from.offset + by.offset) * kBytes;
  }

  WT_DEVICE static bool inside(const Arguments& p, const WaveletRow& from, const Place& by) {
    // WHY not the other form: clang makes branches of it, where AMD's loops want one block.
    if constexpr (is_amd(kConfig.target)) {
      bool result = true;
      WT_UNROLL for (int i = 3 - kConfig.dims; i < 3; ++i) {
        result &= static_cast<u32>(from.at[i] + by.at[i]) < static_cast<u32>(p.limit[i]);
      }
      return result;
    }
    bool result = static_cast<u32>(from.at[2] + by.at[2]) < static_cast<u32>(p.limit[2]);
    if constexpr (kConfig.dims >= 2) {
      result = result && static_cast<u32>(from.at[1] + by.at[1]) < static_cast<u32>(p.limit[1]);
    }
    if constexpr (kConfig.dims >= 3) {
      result = result && static_cast<u32>(from.at[0] + by.at[0]) < static_cast<u32>(p.limit[0]);
    }
    return result;
  }
};

}  // namespace wt
