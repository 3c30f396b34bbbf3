// SPDX-License-Identifier: Apache-2.0
// tests/config/constraints/four_wave_test.cc - cases of the rows that speak of pipeline four_wave.
#include "tests/config/row_cases.h"

namespace wt {
namespace {

// A kernel of pipeline four_wave, and one change.
template <class Change>
void four_wave_with(KernelConfig& c, Change change) {
  c.target = Target::kGfx942;
  c.kind = Kind::kFourWave;
  c.gemm.pipeline = Pipeline::kFourWave;
  c.gemm.tile = {128, 128, 32};
  c.gemm.mma = {32, 32, 8};
  c.gemm.stages = 2;
  c.gemm.loader_a = Loader::kBufferUniform;
  c.gemm.loader_b = Loader::kBufferRows;
  c.gemm.vector_a = c.gemm.vector_b = 8;
  change(c);
}

// The weight gradient's, and one change.
template <class Change>
void weight_with(KernelConfig& c, Change change) {
  four_wave_with(c, [&](KernelConfig& x) {
    x.direction = Direction::kBackwardWeight;
    x.kind = Kind::kFourWaveWeight;
    x.gemm.tile.k = 64;
    x.gemm.loader_a = Loader::kBufferRows;
    x.gemm.loader_b = Loader::kBufferLane;
    change(x);
  });
}

const RowCase kTargetCases[] = {
    {"four-wave-types", [](KernelConfig& c) { four_wave_with(c, [](KernelConfig& x) { x.w = DataType::kF16; }); },
     "x=bf16 w=fp16: pipeline four_wave multiplies two bf16"},
    {"four-wave-tile", [](KernelConfig& c) { four_wave_with(c, [](KernelConfig& x) {
                                               x.gemm.warps = {4, 1, 1};
                                             }); },
     "tile=128x128x32 warps=4x1 mma=32x32 stages=2"},
    {"four-wave-loader",
     [](KernelConfig& c) { four_wave_with(c, [](KernelConfig& x) { x.gemm.vector_a = x.gemm.vector_b = 4; }); },
     "loader_a=buffer_uniform loader_b=buffer_rows vector_a=4 vector_b=4"},
    {"four-wave-copy", [](KernelConfig& c) { four_wave_with(c, [](KernelConfig& x) { x.gemm.aligned_copy = true; }); },
     "four_wave copies e4m3 as FNUZ numbers on gfx942 alone"},
    {"four-wave-weight-types", [](KernelConfig& c) { weight_with(c, [](KernelConfig& x) { x.x = DataType::kF16; }); },
     "x=fp16 y=bf16: kind four_wave_weight multiplies two bf16"},
    {"four-wave-weight-tile", [](KernelConfig& c) { weight_with(c, [](KernelConfig& x) { x.gemm.tile.n = 256; }); },
     "tile=128x256x64 warps=2x2 mma=32x32 stages=2"},
    {"four-wave-weight-loader", [](KernelConfig& c) { weight_with(c, [](KernelConfig& x) { x.gemm.vector_b = 4; }); },
     "in vectors of 8 and 8 for its tile"},
    {"four-wave-weight-split",
     [](KernelConfig& c) { weight_with(c, [](KernelConfig& x) { x.gemm.split_k = SplitK::kAtomic; }); },
     "split_k=atomic: kind four_wave_weight has none and workspace"},
};

const RowCase kProblemCases[] = {
    {"four-wave-matrix",
     [](KernelConfig& c) { four_wave_with(c, [](KernelConfig& x) { x.gemm.loader_a = Loader::kBufferRows; }); },
     "a filter of 9 taps with stride 1x1x1 and padding 0x1x1 is no plain matrix product",
     "fwd bf16 n1 c64 k64 i8x8 f3x3 p1"},
    {"four-wave-uniform", [](KernelConfig& c) { four_wave_with(c, [](KernelConfig&) {}); },
     "48 channels per group are no multiple of tile.k=32", "fwd bf16 n1 c48 k64 i8x8 f3x3 p1"},
    {"four-wave-phases",
     [](KernelConfig& c) { four_wave_with(c, [](KernelConfig& x) { x.direction = Direction::kBackwardData; }); },
     "stride=5x4 makes 20 phases of backward data", "bwd_data bf16 n1 c64 k64 i20x20 f5x4 s5x4"},
    {"four-wave-window", [](KernelConfig& c) { four_wave_with(c, [](KernelConfig&) {}); },
     "can touch 4294967296 bytes of x", "fwd bf16 n2 c64 k64 i4096x4096 f3x3 p1"},
    {"four-wave-grid", [](KernelConfig& c) { four_wave_with(c, [](KernelConfig&) {}); }, "4294967296 output pixels",
     "fwd bf16 n1048576 c32 k8 i64x64 f3x3 p1"},
    {"four-wave-weight-window", [](KernelConfig& c) { weight_with(c, [](KernelConfig&) {}); },
     "4294967296 bytes of x or dy", "bwd_weight bf16 n2 c64 k64 i4096x4096 f3x3 p1"},
    {"four-wave-weight-grid", [](KernelConfig& c) { weight_with(c, [](KernelConfig&) {}); },
     "tiles and parts: at most 16777215 fit", "bwd_weight bf16 n1 c134217728 k134217728 g16777216 i1x1 f1x1"},
};

INSTANTIATE_TEST_SUITE_P(FourWave, TargetRow, testing::ValuesIn(kTargetCases));
INSTANTIATE_TEST_SUITE_P(FourWave, ProblemRow, testing::ValuesIn(kProblemCases));
const TrippedRows kTripped(kTargetCases, kProblemCases);

}  // namespace
}  // namespace wt
