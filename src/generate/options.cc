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
    {"append", "--append", "", false, "", "keep in the folder what earlier runs wrote there, and add to it"},
    {"remove", "--remove", "", false, "", "take out of the folder what only the run of --rule-set put there"},
    {"run", "--run", "PROBLEM", false, "",
     "run this problem by the single kernel that the other options ask for, in its types and with its epilogue"},
    {"device", "--device", "ID", false, "",
     "of --run (default: the simulator of --target sim:NAME, else the first GPU)"},
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
    {"warp-k", "--warp-k", "N", false, "gemm.warps.k",
     "single kernel: warps that share k, whose sums are added at the end (default: 1)"},
    {"warp-tile-m", "--warp-tile-m", "N", false, "gemm.mma.m",
     "single kernel: m of a matrix instruction (default: 32)"},
    {"warp-tile-n", "--warp-tile-n", "N", false, "gemm.mma.n",
     "single kernel: n of a matrix instruction (default: 32)"},
    {"warp-tile-k", "--warp-tile-k", "N", false, "gemm.mma.k",
     "single kernel: k of a matrix instruction (default: 16)"},
    {"kind", "--kind", "NAME", false, "kind", "single kernel: which kernel (default: the first that has the pipeline)"},
    {"pipeline", "--pipeline", "NAME", false, "gemm.pipeline",
     "single kernel: see docs/rule-sets.md (default: compv4)"},
    {"scheduler", "--scheduler", "NAME", false, "gemm.scheduler", "single kernel: intrawave or interwave"},
    {"epilogue", "--epilogue", "NAME", false, "gemm.staging",
     "single kernel: cshuffle (through shared memory) or default (direct); default: cshuffle"},
    {"vector-a", "--vector-a", "N", false, "gemm.vector_a", "single kernel: elements per access of A (default: 4)"},
    {"vector-b", "--vector-b", "N", false, "gemm.vector_b", "single kernel: elements per access of B (default: 8)"},
    {"vector-c", "--vector-c", "N", false, "gemm.vector_c",
     "single kernel: elements per access of the output (default: 8; portable kernels: as wide as its rows allow)"},
    {"num-wave-groups", "--num-wave-groups", "N", false, "gemm.wave_groups", "single kernel: wave groups in turns"},
    {"num-groups-to-merge", "--num-groups-to-merge", "N", false, "gemm.groups_per_tile",
     "single kernel: convolution groups per tile"},
    {"double-smem-buffer", "--double-smem-buffer", "BOOL", false, "gemm.double_buffer",
     "single kernel: two shared buffers, of basic_v2, mem, compv3 or compv6 (default: as the pipeline is defined)"},
    {"two-stage", "--two-stage", "BOOL", false, "gemm.split_k",
     "single kernel: parts of the sums go to the workspace and a second launch adds them (split_k=workspace)"},
    {"explicit-gemm", "--explicit-gemm", "", false, "gemm.explicit_gemm",
     "single kernel: bwd_weight of 1x1 filters as a plain GEMM"},
    {"streamk-enabled", "--streamk-enabled", "", false, "gemm.stream_k", "single kernel: stream-K (tree unless said)"},
    {"streamk-reduction-strategy", "--streamk-reduction-strategy", "NAME", false, "gemm.stream_k",
     "single kernel: TREE or LINEAR"},
    {"streamk-persistent", "--streamk-persistent", "", false, "gemm.stream_k_persistent",
     "single kernel: persistent blocks for stream-K"},
    {"set", "--set", "FIELD=VALUE", true, "", "single kernel: any field by its path, such as gemm.stages=2 or y=fp32"},
};

constexpr UnusedOption kUnused[] = {
    {"pad-m", "--pad-m", "every kernel masks the last rows of its tiles, so there is nothing to pad; leave it out"},
    {"pad-n", "--pad-n", "every kernel masks the last columns of its tiles, so there is nothing to pad; leave it out"},
    {"pad-k", "--pad-k", "every kernel fills the end of a sum with zeros, so there is nothing to pad; leave it out"},
    {"split-image", "--split-image",
     "plans divide tensors beyond 2^31 elements into ranges of images by themselves; leave it out"},
    {"k-group", "--k-group", "no kernel joins k-blocks under one barrier; a larger --tile-k does the same"},
    {"out-tile", "--out-tile", "the staged output is the block's tile; --tile-m and --tile-n set it"},
    {"out-stages", "--out-stages", "the output is staged once, in the memory of the inputs; leave it out"},
};

}  // namespace

std::span<const GenerateOption> generate_options() { return kOptions; }

std::span<const UnusedOption> unused_generate_options() { return kUnused; }

const GenerateOption* find_generate_option(std::string_view key) {
  for (const GenerateOption& option : kOptions)
    if (option.key == key) return &option;
  return nullptr;
}

}  // namespace wt
