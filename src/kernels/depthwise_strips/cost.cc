// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/cost.cc - predicted times of strips kernels.
#include "base/check.h"
#include "kernels/depthwise_strips/kind.h"
#include "kernels/depthwise_strips/view.h"
#include "kernels/shared/direct_cost.h"

namespace wt {
namespace {

// Factors of what work.cc counts: 1.9 by the 46 rows of bench/results/strips_h200.json, half of them within 10 %.
// Outputs leave by fewer instructions since then, by which forward and backward data of several rows took 0.78 of that.
constexpr double kMeasured = 1.9, kMeasuredRows = 1.5;
constexpr double kOddChannels = 1.25;  // that are no whole vectors: copies of single numbers
constexpr double kMultiple = 0.55;     // for each further output channel of an input channel, whose rows lie apart

double measured_factor(const ConvProblem& problem) {
  const bool rows = problem.direction != Direction::kBackwardWeight && problem.filter[0] * problem.filter[1] > 1;
  double factor = rows ? kMeasuredRows : kMeasured;
  if (problem.c % 8 != 0) factor *= kOddChannels;
  if (problem.direction != Direction::kBackwardData)
    factor *= 1 + kMultiple * static_cast<double>(problem.k_per_group() - 1);
  return factor;
}

}  // namespace

double depthwise_strips_kind::predict(const KernelConfig& config, const View& view, int) {
  const ConvProblem& problem = view.problem();
  using namespace direct_model;
  const Rates& rates = view.rates();
  if (problem.output_elements() == 0) return launch_us(rates);
  const std::optional<StripsCut>& cut = strips_cut(config, view);
  WT_CHECK(cut.has_value(), "a strips kernel that declines the problem is asked for its time");
  const bool weight = problem.direction == Direction::kBackwardWeight;
  // A part of dw goes to memory and comes back.
  const double parts =
      weight ? bytes_us(8.0 * static_cast<double>(problem.w_elements()) * cut->arguments.workers, rates) : 0;
  return launch_us(rates) + kFirstData * rates.first_data_us + cut->busy_us * measured_factor(problem) +
         (weight ? kSum * rates.launch_us + parts : 0);
}

}  // namespace wt
