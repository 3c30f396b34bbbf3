// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/tma_slow_test.cc - the less usual forms of the Hopper kernels, on the simulator: outputs
// stored by rows, groups merged, three consumers, two blocks per multiprocessor, tiles crosswise.
#include "dispatch/choice/candidates.h"
#include "kernels/tma/device/layout.h"
#include "tests/dispatch/kernel_forms.h"

namespace wt {
namespace {

bool is_column(const KernelConfig& c) { return tma_layout::is_halo(c) && tma_layout::halo_filter_width(c) == 1; }

constexpr KernelForm kForms[] = {
    {"bwd_data bf16 n1 c72 k64 i15x13 f3x3 s2 p1", "phases stored by rows",
     [](const KernelConfig& c) { return c.gemm.staging == Staging::kShared && c.gemm.tile.m == 256; }},
    {"bwd_data bf16 n2 c64 k64 i8x8 f1x1 s2", "phases without taps stored by rows",
     [](const KernelConfig& c) { return c.gemm.staging == Staging::kShared && c.gemm.ping_pong; }},
    {"fwd bf16 n1 c64 k36 i9x7 f3x3 p1 +scale+bias+relu", "rows of 36 columns",
     [](const KernelConfig& c) { return c.gemm.staging == Staging::kShared && c.gemm.tile.n == 40; }},
    {"fwd bf16 n2 c72 k18 i11x25 f1x1 +bias", "rows of 18 columns by pairs, two blocks per multiprocessor",
     [](const KernelConfig& c) { return c.gemm.vector_c == 2 && c.min_blocks == 2 && c.gemm.tile.m == 128; }},
    {"fwd bf16 n1 c64 k200 i9x25 f3x3 p1", "three consumers",
     [](const KernelConfig& c) { return c.gemm.warps.m == 12 && c.gemm.staging == Staging::kTmaStore; }},
    {"fwd fp16 n1 c64 k64 i12x25 f1x1", "two blocks per multiprocessor",
     [](const KernelConfig& c) { return c.min_blocks == 2; }},
    {"fwd bf16 n2 c72 k36 i9x17 f3x3 p1 +bias+relu", "a patch for all taps",
     [](const KernelConfig& c) { return c.gemm.loader_a == Loader::kTmaHalo && c.gemm.tile.m == 128; }},
    {"fwd bf16 n1 c64 k64 i19x10 f3x3 p2x0:1 +residual", "a patch for all taps, padding of all kinds",
     [](const KernelConfig& c) { return c.gemm.loader_a == Loader::kTmaHalo && c.gemm.tile.m == 256; }},
    {"fwd bf16 n3 c128 k72 i33x25 f3x3 p1", "a patch for all taps, consumers in turns",
     [](const KernelConfig& c) { return c.gemm.loader_a == Loader::kTmaHalo && c.gemm.ping_pong; }},
    {"bwd_data bf16 n2 c72 k128 i13x9 f3x3 p1:0x1", "a patch for all taps, filter turned round",
     [](const KernelConfig& c) { return c.gemm.loader_a == Loader::kTmaHalo && c.gemm.tile.m == 64; }},
    {"bwd_data bf16 n1 g16 c128 k128 i9x10 f3x3 p1", "a patch for all taps, groups merged",
     [](const KernelConfig& c) { return c.gemm.loader_a == Loader::kTmaHalo && c.gemm.groups_per_tile == 8; }},
    {"fwd bf16 n1 c32 k40 i4x9x11 f3x3x3 p1", "patches of three planes, half a row of channels",
     [](const KernelConfig& c) { return c.gemm.loader_a == Loader::kTmaHalo && c.gemm.tile.k == 32; }},
    {"bwd_data bf16 n1 c32 k32 i3x9x11 f3x3x3 p1", "copies of half a row of channels and half a row of columns",
     [](const KernelConfig& c) { return c.gemm.tile.k == 96 && c.gemm.tile.n == 32 && c.gemm.ping_pong; }},
    {"bwd_data bf16 n1 c40 k24 i11x9 f3x3 p1", "copies of 40 columns, of more channels than there are",
     [](const KernelConfig& c) { return c.gemm.tile.k == 96 && c.gemm.tile.n == 40 && !c.gemm.ping_pong; }},
    {"bwd_data fp16 n2 c24 k72 i3x9x9 f2x3x3 p1:0x1x2 +bias", "patches of two planes, filter turned round",
     [](const KernelConfig& c) { return c.gemm.loader_a == Loader::kTmaHalo && c.gemm.ping_pong; }},
    {"bwd_data bf16 n2 c72 k96 i11x9 f3x3 p1", "a patch for all taps, pixels by bulk stores, half a box of channels",
     [](const KernelConfig& c) {
       return c.gemm.loader_a == Loader::kTmaHalo && c.gemm.staging == Staging::kTmaStore && c.gemm.tile.m == 128;
     }},
    {"fwd bf16 n1 c40 k64 i3x9x11 f3x3x3 p1 +bias", "planes by bulk stores, three of four steps",
     [](const KernelConfig& c) {
       return c.gemm.loader_a == Loader::kTmaHalo && c.gemm.staging == Staging::kTmaStore && c.gemm.ping_pong;
     }},
    {"fwd bf16 n2 c72 k40 i6x5x7 f3x1x1 p1x0x0 +bias", "taps below each other, planes as rows",
     [](const KernelConfig& c) { return is_column(c) && c.gemm.tile.m == 128 && c.gemm.staging == Staging::kShared; }},
    {"fwd fp16 n1 c40 k136 i11x9 f3x1 p2:1x3", "taps below each other, by bulk stores of consumers in turns",
     [](const KernelConfig& c) { return is_column(c) && c.gemm.ping_pong && c.gemm.tile.n == 128; }},
    {"bwd_data bf16 n9 c80 k72 i37 f3 p1", "taps below each other, images side by side, three consumers",
     [](const KernelConfig& c) { return is_column(c) && c.gemm.tile.m == 192; }},
    {"fwd bf16 n3 c80 k72 i35 f3 p0:2 +residual", "images side by side by bulk stores",
     [](const KernelConfig& c) {
       return is_column(c) && c.gemm.tile.m == 256 && c.gemm.staging == Staging::kTmaStore;
     }},
    {"bwd_data bf16 n2 c40 k136 i9x7 f3x3 s2 p1", "a last box with eight channels, read across",
     [](const KernelConfig& c) { return c.gemm.loader_a == Loader::kTmaIm2col && c.gemm.swizzle_a == 128; }},
    {"fwd bf16 n1 c112 k40 i9x9 f3x3 p1", "a last patch of three steps",
     [](const KernelConfig& c) { return c.gemm.loader_a == Loader::kTmaHalo && c.gemm.tile.m == 128; }},
    {"fwd bf16 n8 c16 k16 i20x73 f3x3 p1", "tiles that end in their middle come last, more than a round of them",
     [](const KernelConfig& c) {
       return c.gemm.loader_a == Loader::kTmaHalo && c.gemm.ping_pong && c.gemm.tile.m == 128;
     }},
    {"fwd bf16 n1 c80 k72 i9x9 f3x3 p1", "a last box of channels that is a quarter full",
     [](const KernelConfig& c) { return c.gemm.loader_a == Loader::kTmaIm2col && c.gemm.swizzle_a == 128; }},
    {"bwd_data bf16 n2 c72 k64 i6x9x7 f3x3x2 s2 p1:0x1x1", "eight stride phases of three dimensions",
     [](const KernelConfig& c) { return c.gemm.loader_a == Loader::kTmaIm2col && c.gemm.tile.m == 128; }},
    {"bwd_data bf16 n1 c64 k64 i40x3x7 f3x2x3 s2x3x1 p1x0x1 d1x2x1", "phases of long and short dimensions, dilated",
     [](const KernelConfig& c) { return c.gemm.loader_a == Loader::kTmaIm2col && c.gemm.ping_pong; }},
    {"bwd_data bf16 n1 c64 k64 i2x301 f1x3 s1x2 p0x1", "phases of rows that are longer than corners reach",
     [](const KernelConfig& c) { return c.gemm.loader_a == Loader::kTmaIm2col && c.gemm.tile.m == 64; }},
    {"bwd_data bf16 n1 c24 k72 i9x7 f3x3 s2 p1", "copies of 32 columns of 24",
     [](const KernelConfig& c) { return c.gemm.loader_a == Loader::kTmaIm2col && c.gemm.tile.n == 32; }},
    {"bwd_data bf16 n1 c64 k104 i7x7 f3x3 p1", "parts of a sum that start inside a tap",
     [](const KernelConfig& c) { return c.gemm.split_k == SplitK::kCluster; }},
    {"bwd_data bf16 n2 c40 k208 i9x17 f3x3 p1", "a patch for all taps, more patches than are in flight",
     [](const KernelConfig& c) { return c.gemm.tile.k == 192 && c.gemm.tile.n == 32; }},
    {"fwd bf16 n2 c72 k200 i17x13 f1x1", "channels along the instruction's rows",
     [](const KernelConfig& c) { return tma_layout::crosswise(c) && c.gemm.tile.m == 152; }},
    {"fwd fp16 n2 c72 k136 i9x10 f3x3 s2 p1 +scale+bias+relu+amax", "crosswise, odd blocks of pixels, tails of both",
     [](const KernelConfig& c) { return tma_layout::crosswise(c) && c.gemm.tile.m == 104; }},
    {"bwd_data bf16 n3 c264 k80 i9x10 f3x3 p1 +residual", "crosswise, filter across its channels, a residual",
     [](const KernelConfig& c) { return tma_layout::crosswise(c) && c.gemm.tile.n == 256; }},
    {"fwd bf16 n5 c64 k136 i13x13 f1x1 +bias", "crosswise, consumers in turns",
     [](const KernelConfig& c) { return tma_layout::crosswise(c) && c.gemm.ping_pong; }},
    {"fwd bf16 n1 g2 c128 k256 i9x10 f3x3 p1", "crosswise groups",
     [](const KernelConfig& c) { return tma_layout::crosswise(c) && c.gemm.tile.n == 128; }},
    {"bwd_data bf16 n2 c80 k72 i9x10 f3x3 p1 +bias", "a last block of 16 columns, which two blocks share",
     [](const KernelConfig& c) { return c.gemm.tile.n == 80 && c.gemm.multicast_b; }},
    {"bwd_data bf16 n2 c200 k64 i9x10 f3x3 s2 p1", "last blocks of 48 columns, one of them past the edge",
     [](const KernelConfig& c) { return c.gemm.tile.n == 112 && c.gemm.loader_a == Loader::kTmaIm2col; }},
    {"bwd_data bf16 n1 c96 k72 i11x9 f3x3 p1", "a last block of 32 columns under a halo",
     [](const KernelConfig& c) { return c.gemm.tile.n == 96 && c.gemm.loader_a == Loader::kTmaHalo; }},
    {"fwd bf16 n3 c72 k136 i9x10 f3x3 p1 +bias", "crosswise, two blocks share their pixels, the second has few columns",
     [](const KernelConfig& c) { return tma_layout::crosswise(c) && c.gemm.multicast_a && c.gemm.tile.m == 112; }},
    {"bwd_data bf16 n5 c136 k72 i9x10 f3x3 p1", "crosswise, two blocks share the filter",
     [](const KernelConfig& c) { return tma_layout::crosswise(c) && c.gemm.multicast_b && c.gemm.tile.m == 112; }},
    {"fwd bf16 n2 c72 k40 i9x13 f3x3 p5x8 d5x8 +bias", "rectangles whose pixels see the same taps, some of them none",
     [](const KernelConfig& c) { return tma_layout::divides_by_taps(c) && c.gemm.tile.m == 64; }},
    {"bwd_data bf16 n2 c72 k64 i15x13 f3x3 p12:2x7 d7", "rectangles of dx, padding of all kinds",
     [](const KernelConfig& c) { return tma_layout::divides_by_taps(c) && c.gemm.ping_pong; }},
    {"fwd bf16 n1 c20 k50 i9x8 f5x5 p2", "copies of whole rows, image and filter",
     [](const KernelConfig& c) { return c.gemm.aligned_copy && c.gemm.tile.n == 64; }},
    {"bwd_data bf16 n2 c24 k36 i9x8 f3x3 p1 +relu", "copies of whole rows under a halo",
     [](const KernelConfig& c) { return c.gemm.aligned_copy && c.gemm.loader_a == Loader::kTmaHalo; }},
    {"fwd bf16 n3 c24 k72 i6x14 f2x2 s2 +bias+relu", "patches as columns of taps",
     [](const KernelConfig& c) { return tma_layout::sees_patches(c) && c.gemm.ping_pong; }},
    {"fwd bf16 n2 c3 k40 i14x28 f7x14 s7x14 +residual", "patches by copies of whole rows",
     [](const KernelConfig& c) { return tma_layout::sees_patches(c) && c.gemm.aligned_copy; }},
    {"bwd_data bf16 n3 c24 k72 i12x10 f4x2 s4x2 +relu", "patches stored by runs of 48",
     [](const KernelConfig& c) { return tma_layout::sees_patches(c) && c.gemm.vector_c == 8 && c.gemm.tile.m == 192; }},
    {"bwd_data bf16 n2 c3 k64 i28x14 f14x14 s14 +amax", "patches stored by pairs, tiles that end inside runs",
     [](const KernelConfig& c) { return tma_layout::sees_patches(c) && c.gemm.vector_c == 2 && c.gemm.ping_pong; }},
    {"bwd_data fp16 n3 c20 k24 i18 f3 s3", "patches of one dimension",
     [](const KernelConfig& c) { return tma_layout::sees_patches(c) && c.gemm.aligned_copy; }},
    {"bwd_weight bf16 n3 c3 k72 i8x24 f4x8 s4x8 +residual", "gradient of patches",
     [](const KernelConfig& c) { return tma_layout::sees_patches(c) && c.gemm.tile.n == 128; }},
    {"bwd_weight bf16 n2 c3 k40 i28x14 f14x14 s14", "gradient of patches by copies of whole rows",
     [](const KernelConfig& c) { return tma_layout::sees_patches(c) && c.gemm.aligned_copy; }},
    {"bwd_weight bf16 n2 c72 k136 i9x10 f3x3 p1", "gradient, two blocks share x, the second has few rows",
     [](const KernelConfig& c) { return c.gemm.multicast_b && c.gemm.tile.m == 128 && c.gemm.tile.n == 256; }},
    {"bwd_weight fp16 n3 c136 k72 i17x19 f3x3 s2 p1", "gradient, two blocks share dy, past the last tap",
     [](const KernelConfig& c) { return c.gemm.multicast_a && c.gemm.tile.m == 128 && c.gemm.tile.n == 128; }},
    {"bwd_weight bf16 n1 c32 k40 i3x5x9 f3x3x3 p1", "gradient by copies of 32 and 40 channels",
     [](const KernelConfig& c) { return c.gemm.tile.m == 64 && c.gemm.tile.n == 256 && !c.gemm.aligned_copy; }},
    {"bwd_weight fp16 n2 c72 k24 i9x7 f3x3 s2 p1", "gradient by copies of 24 channels, two consumers",
     [](const KernelConfig& c) { return c.gemm.tile.m == 128 && c.gemm.tile.n == 128; }},
    {"bwd_weight bf16 n1 c80 k136 i5x9 f3x3 p1 +residual", "gradient whose last blocks hang over",
     [](const KernelConfig& c) { return c.gemm.tile.m == 128 && c.gemm.split_k == SplitK::kNone; }},
    {"bwd_weight bf16 n1 c100 k72 i6x9 f1x3", "gradient whose last blocks hang over, in copies of whole rows",
     [](const KernelConfig& c) { return c.gemm.aligned_copy && c.gemm.tile.n == 128; }},
    {"bwd_weight bf16 n2 c72 k136 i13x11 f3x3 p1", "gradient summed over a cluster",
     [](const KernelConfig& c) { return c.gemm.split_k == SplitK::kCluster && c.gemm.tile.m == 128; }},
    {"bwd_weight fp16 n1 c64 k200 i5x5 f1x1", "gradient of fewer blocks of pixels than a cluster has blocks",
     [](const KernelConfig& c) { return c.gemm.split_k == SplitK::kCluster && c.gemm.tile.m == 64; }},
    {"bwd_weight fp16 n2 c17 k33 i7x6 f3x3 p1", "copies of whole rows of odd length, gradient",
     [](const KernelConfig& c) { return c.gemm.aligned_copy; }},
    {"fwd bf16 n1 g16 c128 k128 i9x10 f3x3 p1 +bias", "eight groups merged",
     [](const KernelConfig& c) { return c.gemm.groups_per_tile == 8; }},
    {"fwd bf16 n1 g16 c64 k64 i5x6 f3x3 p1", "sixteen groups merged",
     [](const KernelConfig& c) { return c.gemm.groups_per_tile == 16; }},
    {"bwd_data bf16 n1 g8 c128 k128 i9x10 f3x3 s2 p1", "four groups merged, strided",
     [](const KernelConfig& c) { return c.gemm.groups_per_tile == 4; }},
    {"bwd_weight bf16 n1 c72 k136 i9x7 f3x3 p1", "gradient by bulk stores, tails of channels and rows",
     [](const KernelConfig& c) { return c.gemm.staging == Staging::kTmaStore && c.gemm.tile.n == 192; }},
    {"bwd_weight fp16 n3 c200 k72 i5x6x4 f1x1x2", "gradient by bulk stores, several tiles a block",
     [](const KernelConfig& c) { return c.gemm.staging == Staging::kTmaStore && c.gemm.tile.m == 64; }},
    {"bwd_weight bf16 n2 g16 c128 k128 i9x10 f3x3 p1", "eight groups merged, gradient",
     [](const KernelConfig& c) { return c.gemm.groups_per_tile == 8; }},
    {"bwd_weight fp16 n2 g4 c128 k128 i9x10 f3x3 s2 p1", "two groups merged, gradient",
     [](const KernelConfig& c) { return c.gemm.groups_per_tile == 2; }},
};

TEST(TmaForms, AreExact) {
  expect_forms_exact(kForms, [](const KernelConfig& c) { return c.gemm.pipeline == Pipeline::kTma; });
}

// Merging multiplies other groups' values by zeros, which non-finite ones do not survive.
TEST(TmaForms, MergedGroupsAreLeftOutWhereNonFiniteValuesMatter) {
  expect_finite_only(problem_of("fwd bf16 n1 g16 c128 k128 i9x10 f3x3 p1"),
                     [](const KernelConfig& c) { return c.gemm.groups_per_tile > 1; });
}

}  // namespace
}  // namespace wt
