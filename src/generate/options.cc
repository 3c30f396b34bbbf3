// SPDX-License-Identifier: Apache-2.0
#include "generate/options.h"

namespace wt {

namespace {

constexpr GenerateOption kOptions[] = {
    {"target", "-a,--target,--arch", "NAME", true, "",
     "targets, such as sm_90a, gfx942 or sim:sm_80, or all (default: sm_90a)"},
    {"variant", "-v,--variant", "DIR", true, "", "fwd (or forward), bwd_data, bwd_weight (default: all three)"},
    {"datatype", "-d,--datatype", "TYPE", true, "", "input types: fp16, bf16, fp32, tf32, e4m3, e5m2 (default: all)"},
    {"ndim", "-n,--ndim", "N", true, "", "spatial dimensions: 1, 2, 3 (default: all)"},
    {"layout", "--layout", "NAME", true, "",
     "channels_last, channels_first, NHWC, NCHW and the like, or NHWGC, GKYXC, NHWGK, NGCHW and the like (default: "
     "both)"},
    {"rule-set", "-r,--rule-set", "NAME", false, "",
     "default, full, full-tests, profiler, tests or tiny (default: default)"},
    {"output", "-o,--output", "FOLDER", false, "", "where the sources go (default: generated_kernels)"},
    {"list", "--list,--list-configs", "", false, "", "list the kernels instead of writing them"},
    {"format", "--format", "FORM", false, "", "of the list: table, json (all fields) or names (default: table)"},
    {"count", "--count", "", false, "", "count kernels by target and rule set instead of writing them"},
    {"constraints", "--constraints", "", false, "", "print the constraint table"},
    {"verbose", "--verbose", "", false, "", "also every field of each listed kernel, and the rejections by constraint"},

    {"tile-m", "--tile-m", "N", false, "gemm.tile.m", "single kernel: tile of a block along m (default: 128)"},
    {"tile-n", "--tile-n", "N", false, "gemm.tile.n", "single kernel: tile of a block along n (default: 128)"},
    {"tile-k", "--tile-k", "N", false, "gemm.tile.k", "single kernel: tile of a block along k (default: 64)"},
    {"warp-m", "--warp-m", "N", false, "gemm.warps.m", "single kernel: warps along m (default: 2)"},
    {"warp-n", "--warp-n", "N", false, "gemm.warps.n", "single kernel: warps along n (default: 2)"},
    {"warp-k", "--warp-k", "N", false, "gemm.warps.k", "single kernel: warps along k (default: 1)"},
    {"warp-tile-m", "--warp-tile-m", "N", false, "gemm.mma.m",
     "single kernel: m of a matrix instruction (default: 32)"},
    {"warp-tile-n", "--warp-tile-n", "N", false, "gemm.mma.n",
     "single kernel: n of a matrix instruction (default: 32)"},
    {"warp-tile-k", "--warp-tile-k", "N", false, "gemm.mma.k",
     "single kernel: k of a matrix instruction (default: 16)"},
    {"pipeline", "--pipeline", "NAME", false, "gemm.pipeline",
     "single kernel: see docs/rule-sets.md (default: compv4)"},
    {"scheduler", "--scheduler", "NAME", false, "gemm.scheduler", "single kernel: intrawave or interwave"},
    {"epilogue", "--epilogue", "NAME", false, "gemm.staging",
     "single kernel: cshuffle (through shared memory) or default (direct); default: cshuffle"},
    {"pad-m", "--pad-m", "BOOL", false, "gemm.pad_m", "single kernel: the tile may hang over m (default: true)"},
    {"pad-n", "--pad-n", "BOOL", false, "gemm.pad_n", "single kernel: the tile may hang over n (default: true)"},
    {"pad-k", "--pad-k", "BOOL", false, "gemm.pad_k", "single kernel: the tile may hang over k (default: true)"},
    {"vector-a", "--vector-a", "N", false, "gemm.vector_a", "single kernel: elements an access of A (default: 4)"},
    {"vector-b", "--vector-b", "N", false, "gemm.vector_b", "single kernel: elements an access of B (default: 8)"},
    {"vector-c", "--vector-c", "N", false, "gemm.vector_c",
     "single kernel: elements an access of the output (default: 8)"},
    {"num-wave-groups", "--num-wave-groups", "N", false, "gemm.wave_groups", "single kernel: wave groups in turns"},
    {"num-groups-to-merge", "--num-groups-to-merge", "N", false, "gemm.groups_per_tile",
     "single kernel: convolution groups a tile"},
    {"double-smem-buffer", "--double-smem-buffer", "BOOL", false, "gemm.double_buffer",
     "single kernel: two shared buffers (default: as the pipeline is defined)"},
    {"split-image", "--split-image", "", false, "gemm.split_image",
     "single kernel: marks it in its name; compv and basic divide large tensors without it"},
    {"two-stage", "--two-stage", "", false, "gemm.two_stage", "single kernel: fp32 workspace, then a conversion pass"},
    {"explicit-gemm", "--explicit-gemm", "", false, "gemm.explicit_gemm", "single kernel: 1x1 as a plain GEMM"},
    {"streamk-enabled", "--streamk-enabled", "", false, "gemm.stream_k", "single kernel: stream-K (tree unless said)"},
    {"streamk-reduction-strategy", "--streamk-reduction-strategy", "NAME", false, "gemm.stream_k",
     "single kernel: TREE or LINEAR"},
    {"streamk-persistent", "--streamk-persistent", "", false, "gemm.stream_k_persistent",
     "single kernel: persistent blocks for stream-K"},
    {"set", "--set", "FIELD=VALUE", true, "", "single kernel: any field by its path, such as gemm.stages=2 or y=fp32"},
};

}  // namespace

std::span<const GenerateOption> generate_options() { return kOptions; }

const GenerateOption* find_generate_option(std::string_view key) {
  for (const GenerateOption& option : kOptions)
    if (option.key == key) return &option;
  return nullptr;
}

}  // namespace wt
