// SPDX-License-Identifier: Apache-2.0
// problem/random.h - a small random generator whose numbers are the same on every machine and compiler.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

namespace wt {

// One step of SplitMix64: any 64 bits to 64 well mixed ones. Also serves as a hash of an index.
constexpr uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(mix64(seed)) {}

  uint64_t next() { return mix64(state_++); }
  double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
  bool chance(double probability) { return real() < probability; }
  int64_t between(int64_t low, int64_t high) {  // both ends included
    return low + static_cast<int64_t>(next() % (static_cast<uint64_t>(high - low) + 1));
  }
  template <class T>
  T pick(std::span<const T> items) {
    return items[static_cast<size_t>(between(0, static_cast<int64_t>(items.size()) - 1))];
  }
  template <class T>
  T pick(std::initializer_list<T> items) {
    return pick(std::span<const T>(items.begin(), items.size()));
  }

 private:
  uint64_t state_;
};

}  // namespace wt
