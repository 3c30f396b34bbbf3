// SPDX-License-Identifier: Apache-2.0
// conformance/mma_probe.h - a probe of one matrix instruction of a warp, from its layout.
#pragma once

#include <cmath>
#include <type_traits>

#include "base/format.h"
#include "conformance/probe.h"
#include "problem/number.h"
#include "target/mma_layout.h"
#include "target/number.h"

namespace wt::conformance {

inline Probe warp_probe(std::string name, const std::string& entry, std::string kernel, uint32_t threads) {
  Probe probe;
  probe.name = std::move(name);
  probe.since = Target::kSm80;
  probe.module = "probe_warp";
  probe.header = "conformance/device/warp.h";
  probe.entry = fmt::format("probe_warp_{}", entry);
  probe.kernel = "wt::probe::" + std::move(kernel);
  probe.shape.threads = threads;
  return probe;
}

// What a layout multiplies; void where it does not say.
template <class Layout, class = void>
struct OperandOf {
  using Type = void;
};
template <class Layout>
struct OperandOf<Layout, std::void_t<typename Layout::Operand>> {
  using Type = typename Layout::Operand;
};
template <class Layout>
using Operand = typename OperandOf<Layout>::Type;

// Small integers, with a layout of target/mma_layout.h, which states the manual's tables.
template <class Layout>
Probe mma_probe(const std::string& entry, DataType type, const std::string& kernel, int m, int n, int k, bool fractions,
                int lanes = 32) {
  Probe probe = warp_probe(fmt::format("mma.{}", entry), entry, kernel, static_cast<uint32_t>(lanes));
  std::vector<float> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(n * k)), c(static_cast<size_t>(m * n));
  const auto value = [&](int i, int by, int modulus) {
    const float whole = static_cast<float>(i * by % modulus - modulus / 2);
    return fractions ? whole / 7 : whole;
  };
  // E5m2 has three digits: what it would round is rounded before.
  for (int i = 0; i < m * k; ++i) a[i] = fractions ? value(i, 7, 19) : round_to(type, value(i, 7, 19));
  for (int i = 0; i < n * k; ++i) b[i] = fractions ? value(i, 5, 23) : round_to(type, value(i, 5, 23));
  for (int i = 0; i < m * n; ++i) c[i] = value(i, 11, 31);
  const auto put = [&](float number) {
    if constexpr (std::is_same_v<Operand<Layout>, E4m3Fnuz>) {
      append(probe.input, number::From<E4m3Fnuz>::rounded(number).bits);
    } else {
      const size_t at = probe.input.size();
      probe.input.resize(at + static_cast<size_t>(size_of(type)));
      store(type, probe.input.data() + at, 0, number);
    }
  };
  const auto put_sum = [](Bytes& to, float sum) {
    if constexpr (std::is_same_v<Operand<Layout>, I8>) {
      append(to, static_cast<int32_t>(sum));
    } else {
      append(to, sum);
    }
  };
  for (int lane = 0; lane < lanes; ++lane) {
    for (int e = 0; e < Layout::kA; ++e) put(a[Layout::a_row(lane, e) * k + Layout::a_k(lane, e)]);
  }
  for (int lane = 0; lane < lanes; ++lane) {
    for (int e = 0; e < Layout::kB; ++e) put(b[Layout::b_col(lane, e) * k + Layout::b_k(lane, e)]);
  }
  for (int lane = 0; lane < lanes; ++lane) {
    for (int e = 0; e < Layout::kC; ++e) put_sum(probe.input, c[Layout::c_row(lane, e) * n + Layout::c_col(lane, e)]);
  }
  for (int lane = 0; lane < lanes; ++lane) {
    for (int e = 0; e < Layout::kC; ++e) {
      const int row = Layout::c_row(lane, e), column = Layout::c_col(lane, e);
      float sum = c[row * n + column];
      for (int i = 0; i < k; ++i) sum = std::fma(a[row * k + i], b[column * k + i], sum);
      put_sum(probe.expected, sum);
    }
  }
  probe.output = Bytes(probe.expected.size(), 0);
  return probe;
}

}  // namespace wt::conformance
