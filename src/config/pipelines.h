// SPDX-License-Identifier: Apache-2.0
// config/pipelines.h - what each pipeline name means, as data: depth, buffers, copies, roles.
//
// A row says what a pipeline is, not that a kernel for it exists: kernels.h says that.
#pragma once

#include <span>
#include <string_view>

#include "config/kernel_config.h"

namespace wt {

struct PipelineInfo {
  Pipeline pipeline;
  int min_stages, max_stages;  // tiles in flight in shared memory; of mem and compv6, in registers
  int prefetch;                // tiles ahead of the multiplication, the least
  bool double_buffer;          // two shared buffers where nobody says otherwise
  bool async_copy;             // needs global-to-shared copies without registers
  bool bulk_tensor_copy;       // needs TMA
  int wave_groups;             // that alternate
  bool load_warps;             // some warps only load
  bool interwave;              // the interwave scheduler is defined
  bool persistent;             // a block may take several tiles
  int min_k_iterations;        // a problem with fewer cannot fill it
  std::string_view meaning;
};

std::span<const PipelineInfo> pipelines();
const PipelineInfo& info_of(Pipeline pipeline);

}  // namespace wt
