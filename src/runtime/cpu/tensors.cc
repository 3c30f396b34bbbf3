// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/tensors.h"

#include <algorithm>

#include "problem/number.h"

namespace wt::cpu {

namespace {

// A block's numbers after each other, times its scale.
void read_scaled(const Source& source, int64_t index, float* to, int64_t count) {
  const int64_t block = scale_block(source.scales), end = index + count;
  const auto* scales = static_cast<const uint8_t*>(source.scale_bytes);
  for (int64_t at = index; at < end;) {
    const int64_t stop = std::min(end, (at / block + 1) * block);
    const float scale = scale_to_float(source.scales, scales[at / block]);
    for (; at < stop; ++at) *to++ = load(source.type, source.data, at) * scale;
  }
}

}  // namespace

void read(const Source& source, int64_t index, float* to, int64_t count) {
  if (source.scales != BlockScales::kNone) return read_scaled(source, index, to, count);
  to_float(source.type, element(source.data, source.type, index), to, count);
  if (source.zero == 0) return;
  for (int64_t i = 0; i < count; ++i) to[i] -= source.zero;
}

float read_one(const Source& source, int64_t index) {
  float value = 0;
  read(source, index, &value, 1);
  return value;
}

void write(const float* from, DataType type, void* data, int64_t index, int64_t count) {
  from_float(type, from, static_cast<char*>(data) + index * size_of(type), count);
}

}  // namespace wt::cpu
