// SPDX-License-Identifier: Apache-2.0
#include "config/pipelines.h"

#include "base/check.h"

namespace wt {

namespace {

constexpr PipelineInfo kPipelines[] = {
    {.pipeline = Pipeline::kBasicV1,
     .min_stages = 1,
     .max_stages = 1,
     .prefetch = 1,
     .wave_groups = 1,
     .min_k_iterations = 1,
     .meaning = "load, synchronise, multiply; the fewest resources"},
    {.pipeline = Pipeline::kBasicV2,
     .min_stages = 1,
     .max_stages = 1,
     .prefetch = 2,
     .wave_groups = 1,
     .min_k_iterations = 1,
     .meaning = "basic_v1 with the next tile's loads issued before the multiplication"},
    {.pipeline = Pipeline::kMem,
     .min_stages = 1,
     .max_stages = 1,
     .prefetch = 2,
     .wave_groups = 1,
     .interwave = true,
     .min_k_iterations = 2,
     .meaning = "two to eight tiles ahead in registers, for tiles bound by memory"},
    {.pipeline = Pipeline::kCompV3,
     .min_stages = 1,
     .max_stages = 1,
     .prefetch = 2,
     .wave_groups = 1,
     .interwave = true,
     .min_k_iterations = 2,
     .meaning = "one tile in registers ahead, one in shared memory"},
    {.pipeline = Pipeline::kCompV4,
     .min_stages = 2,
     .max_stages = 2,
     .prefetch = 2,
     .double_buffer = true,
     .wave_groups = 1,
     .min_k_iterations = 2,
     .meaning = "two shared buffers in turns"},
    {.pipeline = Pipeline::kCompV5,
     .min_stages = 2,
     .max_stages = 2,
     .prefetch = 3,
     .wave_groups = 2,
     .min_k_iterations = 2,
     .meaning = "two wave groups load and multiply in turns"},
    {.pipeline = Pipeline::kCompV6,
     .min_stages = 2,
     .max_stages = 4,
     .prefetch = 4,
     .wave_groups = 1,
     .min_k_iterations = 4,
     .meaning = "deep: shared stages and register prefetch together"},
    {.pipeline = Pipeline::kCompAsync,
     .min_stages = 2,
     .max_stages = 8,
     .prefetch = 2,
     .double_buffer = true,
     .async_copy = true,
     .wave_groups = 1,
     .persistent = true,
     .min_k_iterations = 2,
     .meaning = "shared buffers filled without registers, in turns"},
    {.pipeline = Pipeline::kBasicAsyncV1,
     .min_stages = 1,
     .max_stages = 1,
     .prefetch = 1,
     .async_copy = true,
     .wave_groups = 1,
     .min_k_iterations = 1,
     .meaning = "basic_v1 with copies that bypass registers"},
    {.pipeline = Pipeline::kWavelet,
     .min_stages = 1,
     .max_stages = 8,
     .prefetch = 1,
     .wave_groups = 1,
     .load_warps = true,
     .persistent = true,
     .min_k_iterations = 1,
     .meaning = "load warps fill a ring, math warps multiply"},
    {.pipeline = Pipeline::kTma,
     .min_stages = 2,
     .max_stages = 12,
     .prefetch = 2,
     .bulk_tensor_copy = true,
     .wave_groups = 2,
     .load_warps = true,
     .persistent = true,
     .min_k_iterations = 1,
     .meaning = "a producer warp copies boxes into a ring, warp groups multiply from shared memory"},
    {.pipeline = Pipeline::kFourWave,
     .min_stages = 2,
     .max_stages = 2,
     .prefetch = 2,
     .wave_groups = 1,
     .min_k_iterations = 1,
     .meaning = "four waves of four quadrants each; two shared stages, fragments of the next read under this one"},
};

}  // namespace

std::span<const PipelineInfo> pipelines() { return kPipelines; }

const PipelineInfo& info_of(Pipeline pipeline) {
  const auto index = static_cast<size_t>(pipeline);
  WT_CHECK(index < std::size(kPipelines) && kPipelines[index].pipeline == pipeline, "pipeline {}", index);
  return kPipelines[index];
}

}  // namespace wt
