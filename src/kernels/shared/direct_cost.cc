// SPDX-License-Identifier: Apache-2.0
#include "kernels/shared/direct_cost.h"

#include "kernels/shared/warpgroup.h"
#include "problem/traffic.h"

namespace wt::direct_model {

double launch_us(const Rates& rates) { return kLaunch * rates.launch_us; }

double matrix_products_per_us(const Rates& rates) {
  constexpr double kMultiplyAdds = 16 * 8 * 16;
  // WHY of an H200's share: kMatrix was fitted there, and tensor memory's unit is further from mma.sync than wgmma's.
  const double share =
      has_tensor_memory(rates.target) ? mma_sync_share(rates.target) / mma_sync_share(Target::kSm90a) : 1;
  return kMatrix * share * rates.macs16 * rates.clock / kMultiplyAdds;
}

double bytes_us(double bytes, const Rates& rates) { return bytes / (kMemory * rates.memory); }
double bytes_us(const ConvProblem& p, const Rates& rates) { return bytes_us(tensor_bytes(p), rates); }

double multiply_us(const ConvProblem& p, const Rates& rates, double share) {
  return p.flops() / 2 / (rates.macs32 * rates.clock * rates.units * share);
}

double narrow(int bytes) { return bytes >= 16 ? 0 : bytes >= 8 ? 0.05 : bytes >= 4 ? 0.4 : 1.8; }

double whole_us(const View& seen, double busy, double planes, const Gradient& gradient) {
  const ConvProblem& problem = seen.problem();
  const Rates& rates = seen.rates();
  const double all = busy * (problem.filter[0] == 1 ? 1 : planes);
  if (problem.direction == Direction::kBackwardWeight) return gradient.start * rates.launch_us + gradient.slope * all;
  return launch_us(rates) + kFirstData * rates.first_data_us + all;
}

}  // namespace wt::direct_model
