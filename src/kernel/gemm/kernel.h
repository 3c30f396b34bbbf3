// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/kernel.h - which class template serves a configuration of the gemm family: a line a pipeline.
#pragma once

#include "kernel/gemm/basic.h"

namespace wt {

template <Pipeline kPipeline>
struct PipelineOf;
template <>
struct PipelineOf<Pipeline::kBasicV1> {
  template <KernelConfig kConfig>
  using Kernel = BasicGemm<kConfig>;
};

template <KernelConfig kConfig>
struct GemmKernel : PipelineOf<kConfig.gemm.pipeline>::template Kernel<kConfig> {};

}  // namespace wt
