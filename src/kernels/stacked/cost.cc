// SPDX-License-Identifier: Apache-2.0
// kernels/stacked/cost.cc - predicted times of Hopper's kernel for small groups.
//
// Bytes once at the device's rate, as far as the rates.units have an even share of them; or the steps of the
// busiest multiprocessor, whose two consumers share its matrix units. Constants set by eye on times of six layers on an
// H200, all of them within a tenth.
#include <algorithm>
#include <cmath>

#include "kernels/shared/warpgroup.h"
#include "kernels/stacked/device/shape.h"
#include "kernels/stacked/kind.h"
#include "kernels/stacked/view.h"
#include "problem/traffic.h"

namespace wt {
namespace {

// Factors of the machine's rates.
constexpr double kStart = 1.269;  // of a launch: with the filter and the first rows
constexpr double kMemory = 1.011;
constexpr double kStridedBytes = 1.08;  // what every second column costs more
constexpr double kStepCycles = 900;     // barriers, epilogue, staging: a consumer's own, beside its products

// One consumer and step: rows of A are read at 16 cycles per instruction, and columns take half a cycle each.
double product_cycles(const KernelConfig& config, const Rates& rates) {
  const double columns = config.fixed.filter_w * stacked::kChannels / 16.0;  // instructions of a row
  double cycles = 0;
  for (int rest = 0; rest < config.fixed.stride_h; ++rest) {
    const double n = stacked::rows_met(config, rest) * stacked::width(config);
    cycles += columns * warpgroup_cycles(rates, n);
  }
  return cycles;
}

}  // namespace

double stacked_kind::predict(const KernelConfig& config, const View& seen, int) {
  const Rates& rates = seen.rates();
  const ConvProblem& problem = seen.problem();
  const StackedCut cut = cut_stacked(config, problem, rates.units);
  const double elements = static_cast<double>(problem.x_elements() + problem.w_elements() + problem.y_elements());
  const double busy = std::ceil(static_cast<double>(cut.grid) / rates.units) * rates.units;
  const double strided = config.fixed.stride_w > 1 ? kStridedBytes : 1;
  const double bytes = elements * 2 * strided + epilogue_bytes(problem);
  const double memory = bytes / (kMemory * rates.memory) * busy / static_cast<double>(cut.grid);
  const double products = product_cycles(config, rates);
  const double step = std::max(stacked::kConsumers * products, products + kStepCycles);
  const double multiply = static_cast<double>(cut.steps) * step / rates.clock;
  return kStart * rates.launch_us + std::max(memory, multiply) + std::min(memory, multiply) / 4;
}

}  // namespace wt
