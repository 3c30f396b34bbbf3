// SPDX-License-Identifier: Apache-2.0
#include "kernels/tma/seen.h"

#include "base/format.h"
#include "kernels/beside/device/merge_groups_arguments.h"
#include "kernels/beside/device/transpose_arguments.h"
#include "kernels/beside/device/whole_rows_arguments.h"
#include "kernels/beside/merge_groups.h"
#include "kernels/beside/whole_rows.h"
#include "kernels/tma/cost.h"
#include "kernels/tma/device/layout.h"

namespace wt {

Binding bind_seen(const KernelConfig& config, const View& asked, const DeviceInfo& device, const BindSeen& inner) {
  const View& seen = asked.seen_by(config);
  if (tma_layout::copies_rows(config))
    return with_whole_rows(config, seen.problem(), device, asked.problem(), inner(seen));
  // A weight gradient takes merged groups apart itself.
  const int groups = config.gemm.groups_per_tile;
  if (groups > 1 && config.direction != Direction::kBackwardWeight)
    return with_merged_filter(config, seen.problem(), device, inner(seen.merged(groups)));
  return inner(seen);
}

std::vector<LaunchEntry> seen_entries(const KernelConfig& config) {
  std::vector<LaunchEntry> list;
  if (config.gemm.groups_per_tile > 1) list.push_back({kMergeSuffix, "wt::MergeGroups"});
  if (tma_layout::turns_filter(config))
    list.push_back({kTurnSuffix, fmt::format("wt::Transpose<{}, true>", size_of(config.w)), false});
  if (tma_layout::copies_rows(config)) list.push_back({kWholeRowsSuffix, "wt::WholeRows", false});
  return list;
}

double with_aligned_copy(const KernelConfig& config, const View& seen, double cycles) {
  if (!tma_layout::copies_rows(config)) return cycles;
  const ConvProblem& problem = seen.problem();
  const Rates& rates = seen.rates();
  // A launch, and the bytes twice. Boxes that lie outside the tensor for the most part fill slowly: of 3 channels the
  // kernel took three times its prediction.
  constexpr double kCopyLaunch = 0.8, kFewChannels = 16, kMostlyOutside = 3;
  const auto depth = static_cast<double>(problem.direction == Direction::kForward ? problem.c : problem.k);
  const bool outside = problem.direction != Direction::kBackwardWeight && depth < kFewChannels;
  return cycles * (outside ? kMostlyOutside : 1) + kCopyLaunch * rates.launch_cycles() +
         whole_rows_traffic(config, problem) / rates.memory_per_cycle();
}

}  // namespace wt
