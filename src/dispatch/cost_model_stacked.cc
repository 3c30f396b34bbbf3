// SPDX-License-Identifier: Apache-2.0
// dispatch/cost_model_stacked.cc - predicted times of Hopper's kernel for small groups.
//
// Bytes once at the device's rate, as far as the multiprocessors have an even share of them; or the steps of the
// busiest multiprocessor, whose two consumers share its matrix units. Constants set by eye on times of six layers on an
// H200, all of them within a tenth.
#include <algorithm>
#include <cmath>

#include "dispatch/cost_model.h"
#include "dispatch/stacked_geometry.h"
#include "kernel/direct/stacked_shape.h"

namespace wt {
namespace {

constexpr double kClockMhz = 1755;
constexpr double kStartUs = 6;          // launch, filter, first rows
constexpr double kBytesPerUs = 4.3e6;   // of the whole device
constexpr double kStridedBytes = 1.08;  // what every second column costs more
constexpr double kStepCycles = 900;     // barriers, epilogue, staging: a consumer's own, beside its products

// Of one consumer and step: rows of A are read at 16 cycles an instruction, and columns take half a cycle each.
double product_cycles(const KernelConfig& config) {
  const double columns = config.direct.filter_w * stacked::kChannels / 16.0;  // instructions of a row
  double cycles = 0;
  for (int rest = 0; rest < config.direct.stride_h; ++rest) {
    const double n = stacked::rows_met(config, rest) * stacked::width(config);
    cycles += columns * std::max(n / 2, 16 + n / 4);
  }
  return cycles;
}

}  // namespace

double predicted_stacked_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  const StackedCut cut = cut_stacked(config, problem, multiprocessors);
  const double elements = static_cast<double>(problem.x_elements() + problem.w_elements() + problem.y_elements());
  const double busy = std::ceil(static_cast<double>(cut.grid) / multiprocessors) * multiprocessors;
  const double strided = config.direct.stride_w > 1 ? kStridedBytes : 1;
  const double memory = elements * 2 / kBytesPerUs * strided * busy / static_cast<double>(cut.grid);
  const double products = product_cycles(config);
  const double step = std::max(stacked::kConsumers * products, products + kStepCycles);
  const double multiply = static_cast<double>(cut.steps) * step / kClockMhz;
  return kStartUs + std::max(memory, multiply) + std::min(memory, multiply) / 4;
}

}  // namespace wt
