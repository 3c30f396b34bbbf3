// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_banded/cost.cc - predicted times of banded kernels.
#include <algorithm>
#include <cmath>

#include "kernels/depthwise_banded/device/shape.h"
#include "kernels/depthwise_banded/kind.h"
#include "kernels/shared/direct_cost.h"
#include "kernels/shared/direct_geometry.h"

namespace wt {
namespace {

using namespace direct_model;

constexpr double kBandedBytes = 1.0;
constexpr double kBandedUs = 1.8;

// Copies, and the matrix products of whole bands: taps that do not exist are multiplied too.
double banded_us(const KernelConfig& config, const ConvProblem& p, const Rates& rates) {
  const BandedCut cut = cut_banded(config, p, rates.units);
  const double rows = cut.steps;
  // Per multiprocessor, all its blocks together.
  const double blocks = std::ceil(static_cast<double>(cut.grid) / rates.units);
  const double products = blocks * rows * banded::depth(config) * banded::step(config) * config.fixed.filter_h *
                          (config.direct.block_size / 32.0) * config.direct.vector_in / matrix_products_per_us(rates);
  // WHY: mbv2_144_56 with 32 bytes per pixel and block took a sixth more of its bytes' time than layers with 64.
  const double narrow_blocks = config.fixed.filter_h == 3 && banded::pixel_bytes(config) < 64 ? 0.15 : 0;
  const double busy =
      (kBandedBytes + narrow_blocks) * bytes_us(p, rates) * blocks * rates.units / static_cast<double>(cut.grid) +
      products;
  // WHY: filters of 5 and more took a twentieth longer with one block of 8 warps than with two of 4.
  const double lone = config.min_blocks == 1 && (config.fixed.filter_h > 3 || p.dims == 3) ? 1.08 : 1;
  // On an H200 the copy engine's rows took a twelfth less of this.
  const double bulk = banded::in_bulk(config) ? 0.93 : 1;
  return bulk * lone * busy + 0.01 * config.direct.prefetch - (config.direct.read_ahead ? 0.1 : 0);
}

}  // namespace

double depthwise_banded_kind::predict(const KernelConfig& config, const View& seen, int) {
  const ConvProblem& problem = seen.problem();
  if (problem.output_elements() == 0) return launch_us(seen.rates());
  const double whole = whole_us(seen, banded_us(config, problem, seen.rates()), 2.3, {1.967, 1.42});
  return whole + (problem.direction == Direction::kBackwardWeight ? 0 : kBandedUs);
}

}  // namespace wt
