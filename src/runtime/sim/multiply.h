// SPDX-License-Identifier: Apache-2.0
// runtime/sim/multiply.h - the multiply-add loops of the matrix instructions, and the number formats they read.
#pragma once

#include <bit>
#include <cstdint>

namespace wt::sim {

inline float widen_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// Without branches, so that loops over it become vector instructions: the exponent is moved by a multiplication, which
// also makes subnormals exact; infinities and NaNs get their exponent by a mask.
inline float widen_f16(uint16_t bits) {
  const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fff) << 13;
  const float moved = std::bit_cast<float>(magnitude) * 0x1p112f;
  const uint32_t special = (bits & 0x7c00) == 0x7c00 ? 0x7f800000u : 0u;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(moved) | special | static_cast<uint32_t>(bits & 0x8000) << 16);
}

// c (m, n) += a (m, k) b (k, n), all row-major, n a multiple of 8.
void multiply_small(int m, int n, int k, const float* a, const float* b, float* c);

// c (n, 64) += b (n, k) a (k, 64), all row-major, n a multiple of 8.
void multiply_tile(int n, int k, const float* b, const float* a, float* c);

// What a local variable holds that a kernel has not set (compile/host_compiler.cc: -ftrivial-auto-var-init=pattern).
inline bool never_set(float value) { return std::bit_cast<uint32_t>(value) == 0xfefe'fefe; }

}  // namespace wt::sim
