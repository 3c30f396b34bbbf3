// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/tensors.h"

#include "problem/number.h"

namespace wt::cpu {

void read(const Source& source, int64_t index, float* to, int64_t count) {
  to_float(source.type, element(source.data, source.type, index), to, count);
  if (source.zero == 0) return;
  for (int64_t i = 0; i < count; ++i) to[i] -= source.zero;
}

float read_one(const Source& source, int64_t index) { return load(source.type, source.data, index) - source.zero; }

void write(const float* from, DataType type, void* data, int64_t index, int64_t count) {
  from_float(type, from, static_cast<char*>(data) + index * size_of(type), count);
}

}  // namespace wt::cpu
