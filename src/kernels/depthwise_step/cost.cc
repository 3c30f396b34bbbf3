// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_step/cost.cc - predicted times of step kernels; none of it is measured.
#include <algorithm>

#include "kernels/depthwise_step/kind.h"
#include "kernels/shared/direct_cost.h"
#include "problem/tensor_data.h"

namespace wt {

using namespace direct_model;

double depthwise_step_kind::predict(const KernelConfig& config, const View& seen, int) {
  const ConvProblem& p = seen.problem();
  if (p.output_elements() == 0) return launch_us(seen.rates());
  const bool last = config.layout == Layout::kChannelsLast;
  // A thread that walks a line of pixels alone reads each sector of memory again from the caches.
  constexpr double kLineBytes = 0.5;
  const double bytes =
      bytes_us(p, seen.rates()) + bytes_us(static_cast<double>(history_bytes(p)) * (1 + p.new_history), seen.rates());
  const double memory = bytes * (kStreamBytes + (last ? narrow(config.direct.vector_out * size_of(p.x)) : kLineBytes));
  // Guesses: a thread waits for its rows in batches, once in all for one token, and again for every further one.
  constexpr double kBatchUs = 0.25, kBatchRows = 4;
  const auto rows = static_cast<double>(p.in[2] == 1 ? p.history_length() + 1 : p.out()[2] * p.filter[2]);
  const double waits = kBatchUs * std::max(0.0, rows / kBatchRows - 1);
  // Weights that are not compiled in are read one by one.
  const double weights =
      config.fixed.filter_h > 0 ? 0 : 0.02 * static_cast<double>(p.filter[2] * config.direct.vector_out);
  return whole_us(seen, memory + waits + weights, 1, {});
}

}  // namespace wt
