// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_taps/cost.cc - predicted times of depthwise_taps kernels.
#include "base/check.h"
#include "kernels/depthwise_taps/kind.h"
#include "kernels/depthwise_taps/view.h"
#include "kernels/shared/direct_cost.h"

namespace wt {
namespace {

// Of what work.cc counts. A guess: the code was timed when it had about twice the instructions beside its steps, and
// then took 1.1 to 1.8 times as long as is counted now.
constexpr double kMeasured = 1.5;

}  // namespace

double depthwise_taps_kind::predict(const KernelConfig& config, const View& view, int) {
  const ConvProblem& problem = view.problem();
  using namespace direct_model;
  const Rates& rates = view.rates();
  if (problem.output_elements() == 0) return launch_us(rates);
  const std::optional<TapsCut>& cut = taps_cut(config, view);
  WT_CHECK(cut.has_value(), "a depthwise_taps kernel that declines the problem is asked for its time");
  // A part of dw goes to memory and comes back.
  const double parts = bytes_us(8.0 * static_cast<double>(problem.w_elements()) * cut->arguments.workers, rates);
  return launch_us(rates) + kFirstData * rates.first_data_us + kSum * rates.launch_us + cut->busy_us * kMeasured +
         parts;
}

}  // namespace wt
