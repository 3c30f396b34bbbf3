// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan/cache.h"

#include "problem/random.h"

namespace wt {

// The sizes tell problems apart; what they leave to chance, the comparison decides.
size_t PlanKeyHash::operator()(const PlanKey& key) const {
  const ConvProblem& p = key.problem;
  uint64_t hash = mix64(
      static_cast<uint64_t>(p.direction) | static_cast<uint64_t>(p.dims) << 8 | static_cast<uint64_t>(p.layout) << 16 |
      static_cast<uint64_t>(p.x) << 24 | static_cast<uint64_t>(p.w) << 32 | static_cast<uint64_t>(p.y) << 40 |
      static_cast<uint64_t>(p.epilogue.activation) << 48 | static_cast<uint64_t>(p.epilogue.bias) << 56 |
      static_cast<uint64_t>(p.epilogue.residual) << 57);
  const auto add = [&](int64_t value) { hash = mix64(hash ^ static_cast<uint64_t>(value)); };
  for (const int64_t value : {p.n, p.g, p.c, p.k}) add(value);
  for (const Spatial* sizes : {&p.in, &p.filter, &p.stride, &p.dilation, &p.pad_lower})
    add((*sizes)[0] << 42 ^ (*sizes)[1] << 21 ^ (*sizes)[2]);
  add(static_cast<int64_t>(key.options.tuning) ^ key.options.workspace_limit.value_or(-1) << 8);
  add(key.options.splits);
  add(static_cast<int64_t>(reinterpret_cast<uintptr_t>(key.options.kernels.get())));
  for (const char letter : key.options.kernel) hash = hash * 31 + static_cast<unsigned char>(letter);
  return mix64(hash);
}

}  // namespace wt
