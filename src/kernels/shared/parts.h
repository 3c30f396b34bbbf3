// SPDX-License-Identifier: Apache-2.0
// kernels/shared/parts.h - how large the parts of a direct kernel's tiles may be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/integers.h"

namespace wt {

// Sizes of parts where `all` is cut into 1, 2, 3, 4, 6, 8, 12, .. of them: the largest first, each once, whole `step`s
// where there are several. WHY the least at the end: whether any tile fits is asked of the smallest.
inline std::vector<int64_t> parts_of(int64_t all, int64_t step) {
  std::vector<int64_t> parts;
  for (int64_t count = 1; count <= all; count += std::max<int64_t>(1, count / 2 - count / 2 % 2)) {
    int64_t part = ceil_div(all, count);
    if (count > 1) part = ceil_div(part, step) * step;
    if (parts.empty() || part < parts.back()) parts.push_back(part);
  }
  if (const int64_t least = std::min(all, step); least < parts.back()) parts.push_back(least);
  return parts;
}

}  // namespace wt
