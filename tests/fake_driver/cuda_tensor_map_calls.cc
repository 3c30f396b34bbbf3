// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/cuda_tensor_map_calls.cc - tensor maps, checked against the limits that the manual gives.
#include <algorithm>

#include "tests/fake_driver/cuda_calls.h"

using namespace wt::fake;

namespace {

// The limits that the manual gives for both kinds of tensor map.
bool within_limits(const FakeTensorMap& map) {
  if (map.rank < 1 || map.rank > 5 || reinterpret_cast<uintptr_t>(map.base) % 16) return false;
  for (unsigned d = 0; d < map.rank; ++d) {
    if (map.sizes[d] == 0 || map.sizes[d] > (1ull << 32)) return false;
    if (map.element_strides[d] == 0 || map.element_strides[d] > 8) return false;
    if (d + 1 < map.rank && (map.strides[d] % 16 || map.strides[d] >= (1ull << 40))) return false;
  }
  const int widths[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4};
  if (map.type < 0 || map.type > 11) return false;
  const uint64_t inner = uint64_t{map.im2col ? map.channels : map.box[0]} * static_cast<unsigned>(widths[map.type]);
  const uint64_t spans[] = {0, 32, 64, 128};
  if (map.swizzle < 0 || map.swizzle > 3 || (map.swizzle && inner > spans[map.swizzle]) || inner % 16) return false;
  if (!map.im2col) {
    for (unsigned d = 0; d < map.rank; ++d)
      if (map.box[d] == 0 || map.box[d] > 256) return false;
    return true;
  }
  if (map.rank < 3 || map.channels == 0 || map.channels > 256 || map.pixels == 0 || map.pixels > 1024) return false;
  const int reach = map.rank == 3 ? 1 << 15 : map.rank == 4 ? 1 << 7 : 1 << 4;
  for (unsigned d = 0; d + 2 < map.rank; ++d)
    for (int corner : {map.lower[d], map.upper[d]})
      if (corner < -reach || corner >= reach) return false;
  return true;
}

int encode(TensorMapBytes* out, FakeTensorMap map) {
  if (reinterpret_cast<uintptr_t>(out) % 128 || !within_limits(map)) return kInvalidValue;
  state.maps.push_back(map);
  // Recognisable bytes: the number of the map, then the address.
  *out = {};
  out->opaque[0] = 0x7e4501d000000000ull | state.maps.size();
  out->opaque[1] = reinterpret_cast<uintptr_t>(map.base);
  return kSuccess;
}

}  // namespace

EXPORT int cuTensorMapEncodeTiled(TensorMapBytes* out, int type, unsigned rank, void* base, const uint64_t* sizes,
                                  const uint64_t* strides, const uint32_t* box, const uint32_t* element_strides,
                                  int interleave, int swizzle, int promotion, int fill) {
  ENTER("cuTensorMapEncodeTiled");
  FakeTensorMap map{.type = type, .rank = rank, .base = base};
  if (rank < 1 || rank > 5) return kInvalidValue;
  std::copy_n(sizes, rank, map.sizes);
  std::copy_n(strides, rank - 1, map.strides);
  std::copy_n(box, rank, map.box);
  std::copy_n(element_strides, rank, map.element_strides);
  map.interleave = interleave, map.swizzle = swizzle, map.promotion = promotion, map.fill = fill;
  return encode(out, map);
}
EXPORT int cuTensorMapEncodeIm2col(TensorMapBytes* out, int type, unsigned rank, void* base, const uint64_t* sizes,
                                   const uint64_t* strides, const int* lower, const int* upper, uint32_t channels,
                                   uint32_t pixels, const uint32_t* element_strides, int interleave, int swizzle,
                                   int promotion, int fill) {
  ENTER("cuTensorMapEncodeIm2col");
  FakeTensorMap map{.im2col = 1, .type = type, .rank = rank, .base = base};
  if (rank < 3 || rank > 5) return kInvalidValue;
  std::copy_n(sizes, rank, map.sizes);
  std::copy_n(strides, rank - 1, map.strides);
  std::copy_n(lower, rank - 2, map.lower);
  std::copy_n(upper, rank - 2, map.upper);
  map.channels = channels, map.pixels = pixels;
  std::copy_n(element_strides, rank, map.element_strides);
  map.interleave = interleave, map.swizzle = swizzle, map.promotion = promotion, map.fill = fill;
  return encode(out, map);
}

// A function whose type differs from the table's does not compile here.
SAME_TYPE(cuTensorMapEncodeTiled, tensor_map_encode_tiled);
SAME_TYPE(cuTensorMapEncodeIm2col, tensor_map_encode_im2col);
