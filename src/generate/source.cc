// SPDX-License-Identifier: Apache-2.0
#include "generate/source.h"

#include "config/constraints.h"
#include "config/fields.h"
#include "config/kernels.h"
#include "config/user_text.h"
#include "kernel/gemm/portable/layout.h"
#include "kernel/gemm/rows/weight_layout.h"
#include "kernel/gemm/tma/layout.h"
#include "kernel/gemm/tma/weight_part.h"
#include "kernel/merge_groups_arguments.h"
#include "kernel/split_sum_arguments.h"
#include "kernel/transpose_arguments.h"
#include "kernel/whole_rows_arguments.h"

namespace wt {
namespace {

// The template that adds a kernel's partial sums in a launch of its own; empty: it leaves none.
std::string_view sum_class(const KernelConfig& config) {
  if (portable_layout::serves(config) && portable_layout::streams(config)) return "wt::PortableStreamSum";
  if (rows_weight_layout::serves(config)) return "wt::RowsWeightSum";
  if (weight_part::serves(config)) return "wt::TmaWeightSum";
  if (config.gemm.split_k == SplitK::kWorkspace || config.gemm.split_k == SplitK::kAtomic) return "wt::SplitSum";
  if (config.gemm.stream_k != StreamK::kOff) return "wt::TmaStreamSum";
  if (config.family == Family::kDirect && config.direction == Direction::kBackwardWeight) return "wt::DirectSum";
  return {};
}

}  // namespace

Result<std::string> generate_source(const KernelConfig& config) {
  const KernelKind* kind = kind_of(config);
  if (!kind) {
    const Decline decline = no_kernel(config);
    return unsupported("{}: {}", decline.id, decline.message);
  }
  const std::string name = name_of(config), config_text = initializer_of(config, "\n              ");
  WT_TRY_ASSIGN(const std::string user, user_section(config.epilogue, output_type(config)));
  std::string text = fmt::format(
      "// SPDX-License-Identifier: Apache-2.0\n"
      "// {}\n"
      "{}#include \"{}\"\n"
      "\n"
      "WT_KERNEL({},\n"
      "          {}<wt::KernelConfig{}>)\n",
      instance_string(config), user, kind->header, name, kind->class_name, config_text);
  if (const std::string_view sum = sum_class(config); !sum.empty())
    text += fmt::format("WT_KERNEL({}{},\n          {}<wt::KernelConfig{}>)\n", name, kSumSuffix, sum, config_text);
  if (config.gemm.groups_per_tile > 1)
    text += fmt::format("WT_KERNEL({}{},\n          wt::MergeGroups<wt::KernelConfig{}>)\n", name, kMergeSuffix,
                        config_text);
  if (tma_layout::turns_filter(config))
    text += fmt::format("WT_KERNEL({}{}, wt::Transpose<{}>)\n", name, kTurnSuffix, size_of(config.w));
  if (tma_layout::copies_rows(config)) text += fmt::format("WT_KERNEL({}{}, wt::WholeRows)\n", name, kWholeRowsSuffix);
  return text;
}

}  // namespace wt
