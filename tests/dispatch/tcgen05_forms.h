// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/tcgen05_forms.h - the forms of the kernel on tensor memory, each with a problem that shows its edges.
#pragma once

#include "kernels/tcgen05/device/layout.h"
#include "tests/dispatch/exact_trial.h"

namespace wt::tcgen05_test {

struct Form {
  const char* name;
  const char* problem;
  bool (*wanted)(const GemmConfig& gemm);
  bool quick = false;  // runs with the quick tests, too
  int splits = 0;
  Kind kind = Kind::kTcgen05;
};

inline bool pair(const GemmConfig& gemm) { return gemm.mma.m == 256; }
inline bool takes(const GemmConfig& gemm) { return !gemm.persistent; }
inline bool plain(const GemmConfig& gemm) {
  return gemm.cluster_m == 1 && gemm.cluster_n == 1 && gemm.split_k == SplitK::kNone && gemm.groups_per_tile == 1 &&
         !gemm.aligned_copy && gemm.specialization == Specialization::kDefault && gemm.double_buffer;
}
inline bool stored(const GemmConfig& gemm, Staging staging) { return plain(gemm) && gemm.staging == staging; }

constexpr Staging kBulk = Staging::kTmaStore, kRows = Staging::kShared, kPairs = Staging::kDirect;
constexpr const char* kForward = "fwd bf16 n3 c72 k200 i13x17 f3x3 p1";
constexpr const char* kStrided = "bwd_data bf16 n2 c136 k72 i13x11 f3x3 s2 p1";

inline const Form kForms[] = {
    {"OneTaken", kForward,
     [](const GemmConfig& g) { return stored(g, kBulk) && !pair(g) && takes(g) && g.tile.n == 128; }, true},
    {"OneWalked", kForward,
     [](const GemmConfig& g) { return stored(g, kBulk) && !pair(g) && !takes(g) && g.tile.n == 64; }},
    {"PairTaken", kForward,
     [](const GemmConfig& g) { return stored(g, kBulk) && pair(g) && takes(g) && g.tile.n == 128; }, true},
    {"PairWalked", kForward,
     [](const GemmConfig& g) { return stored(g, kBulk) && pair(g) && !takes(g) && g.tile.n == 256; }},
    {"Rows", kForward, [](const GemmConfig& g) { return stored(g, kRows) && !pair(g) && takes(g); }},
    {"RowsOfPair", kForward, [](const GemmConfig& g) { return stored(g, kRows) && pair(g); }},
    {"Pairs", kForward, [](const GemmConfig& g) { return stored(g, kPairs) && !pair(g) && takes(g); }},
    {"Narrow", "fwd bf16 n1 c64 k24 i9x9 f3x3 p1",
     [](const GemmConfig& g) { return stored(g, kBulk) && g.tile.n == 32; }},
    {"Tail", kForward, [](const GemmConfig& g) { return stored(g, kBulk) && g.tile.n == 160; }},
    {"OneAccumulator", kForward, [](const GemmConfig& g) { return !g.double_buffer && g.split_k == SplitK::kNone; }},
    {"SharedFilter", kForward, [](const GemmConfig& g) { return g.multicast_b && !pair(g); }},
    {"SharedPixels", kForward, [](const GemmConfig& g) { return g.multicast_a && !pair(g); }},
    {"PairsShareFilter", kForward, [](const GemmConfig& g) { return g.multicast_b && pair(g) && g.tile.n == 128; },
     true},
    {"PairsSharePixels", kForward, [](const GemmConfig& g) { return g.multicast_a && pair(g) && g.tile.n == 128; }},
    {"Parts", "fwd bf16 n1 c128 k72 i7x7 f3x3 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kWorkspace && !pair(g) && !takes(g); }, true, 3},
    {"PartsLargest", "fwd bf16 n1 c128 k72 i7x7 f3x3 p1 +bias+amax",
     [](const GemmConfig& g) { return g.split_k == SplitK::kWorkspace && !pair(g) && !takes(g); }, true, 3},
    {"PartsTaken", "fwd bf16 n1 c128 k72 i7x7 f3x3 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kWorkspace && takes(g); }, false, 4},
    {"PartsOfPair", "fwd bf16 n1 c128 k72 i7x7 f3x3 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kWorkspace && pair(g); }, false, 5},
    {"ClusterParts", "fwd bf16 n1 c128 k72 i7x7 f3x3 p1 +bias+residual+relu",
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 64; }, true, 4},
    {"ClusterPartsNarrow", "fwd fp16>fp32 n2 c72 k40 i13x17 f3x3 p1 +amax",
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 16; }, false, 7},
    {"ClusterPartsMore", "fwd bf16 n1 c64 k40 i5x5 f1x1",  // than there are stages
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 32; }, false, 8},
    {"ClusterPartsRounds", "fwd bf16 n40 c64 k264 i13x17 f2x2",
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 64; }, false, 3},
    {"ClusterPartsFp32", "fwd fp32 n1 c40 k72 i9x9 f3x3 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 32; }, false, 5},
    {"ClusterPartsWide", "fwd bf16 n1 c72 k264 i7x9 f3x3 p1 +bias+relu",  // four chunks of columns, one after the other
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 256; }, false, 3},
    {"ClusterPartsWideRounds", "fwd bf16 n24 c64 k264 i13x17 f2x2",
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 128; }, false, 5},
    {"DataClusterParts", "bwd_data bf16 n1 c72 k128 i9x7 f3x3 s2 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster; }, false, 6},
    {"Unit", "fwd bf16 n2 c96 k136 i9x9 f1x1",
     [](const GemmConfig& g) { return g.loader_a == Loader::kTmaTiled && g.staging == kBulk && pair(g); }},
    {"Groups", "fwd bf16 n2 c128 k128 g2 i9x9 f3x3 p1",
     [](const GemmConfig& g) { return stored(g, kBulk) && g.tile.n == 64; }},
    {"MergedGroups", "fwd bf16 n2 c64 k64 g4 i9x9 f3x3 p1", [](const GemmConfig& g) { return g.groups_per_tile == 4; }},
    {"OddChannels", "fwd bf16 n1 c30 k33 i9x9 f3x3 p1", [](const GemmConfig& g) { return g.aligned_copy; }},
    {"Patches", "fwd bf16 n2 c16 k64 i16x16 f4x4 s4",
     [](const GemmConfig& g) { return g.specialization == Specialization::kPatch; }},
    {"Dilated", "fwd bf16 n1 c64 k64 i15x15 f3x3 p4 d4",
     [](const GemmConfig& g) { return stored(g, kRows) && !pair(g); }},
    {"Line", "fwd fp16 n3 c64 k96 i70 f5 p2", [](const GemmConfig& g) { return stored(g, kBulk) && pair(g); }},
    {"Cube", "fwd bf16 n1 c40 k64 i5x6x7 f3x3x3 p1", [](const GemmConfig& g) { return stored(g, kBulk) && pair(g); }},
    {"Residual", "fwd bf16 n2 c64 k136 i13x13 f3x3 p1 +bias+residual+relu",
     [](const GemmConfig& g) { return stored(g, kBulk) && !pair(g); }, true},
    {"ResidualOfPair", "fwd bf16 n2 c64 k136 i13x13 f3x3 p1 +residual",
     [](const GemmConfig& g) { return stored(g, kBulk) && pair(g); }},
    {"Largest", "fwd bf16 n2 c64 k72 i9x9 f3x3 p1 +amax", [](const GemmConfig& g) { return stored(g, kBulk); }},
    {"UserCode", "fwd bf16 n1 c64 k72 i9x9 f3x3 p1 +aux=1+scalars=0.5+f=\"acc + in.aux[0] + in.scalar[0]\"",
     [](const GemmConfig& g) { return stored(g, kBulk) && pair(g); }},
    {"Tf32", "fwd tf32 n1 c40 k72 i9x9 f3x3 p1", [](const GemmConfig& g) { return !pair(g); }},
    {"Tf32OfPair", "fwd tf32 n1 c40 k72 i9x9 f3x3 p1", [](const GemmConfig& g) { return pair(g) && takes(g); }},
    {"Fp32", "fwd fp32 n1 c40 k72 i9x9 f3x3 p1", [](const GemmConfig& g) { return takes(g); }, true},
    {"Fp8", "fwd e4m3 n1 c80 k72 i9x9 f3x3 p1", [](const GemmConfig& g) { return pair(g); }},
    {"Scaled", "fwd e4m3>bf16 n1 c160 k72 i9x11 f3x3 p1 scales=mx",
     [](const GemmConfig& g) { return stored(g, kBulk) && takes(g) && g.tile.n == 64; }, true},
    {"ScaledWalked", "fwd e5m2*e4m3>fp16 n2 c96 k40 i9x7 f3x3 p1 s2 d2 scales=mx",
     [](const GemmConfig& g) { return stored(g, kBulk) && !takes(g); }},
    {"ScaledStrided", "fwd e4m3>fp32 n3 c64 k136 i19x8 f2x3 p1 s2 scales=mx",
     [](const GemmConfig& g) { return stored(g, kPairs) && g.tile.n == 128; }},
    {"ScaledOneAccumulator", "fwd e4m3>bf16 n1 c352 k264 i7x9 f1x1 scales=mx",
     [](const GemmConfig& g) {
       return g.tile.n == 256 && g.staging == kBulk && g.split_k == SplitK::kNone && g.cluster_m == 1 && takes(g);
     }},
    {"ScaledDilated", "fwd e4m3>bf16 n1 c128 k64 i15x15 f3x3 p4 d4 scales=mx",
     [](const GemmConfig& g) { return stored(g, kBulk) && !takes(g); }},
    {"ScaledGroups", "fwd e4m3>bf16 n1 c256 k136 g2 i9x9 f3x3 p1 scales=mx",
     [](const GemmConfig& g) { return stored(g, kPairs); }},
    {"ScaledTail", "fwd e4m3>bf16 n1 c64 k160 i9x9 f3x3 p1 scales=mx",
     [](const GemmConfig& g) { return stored(g, kBulk) && g.tile.n == 160; }},
    {"ScaledResidual", "fwd e4m3>bf16 n2 c96 k72 i9x9 f3x3 p1 scales=mx +scale+bias+residual+relu+amax",
     [](const GemmConfig& g) { return stored(g, kBulk) && g.tile.n == 128; }},
    {"ScaledParts", "fwd e4m3>bf16 n1 c160 k72 i7x7 f3x3 p1 scales=mx +bias",
     [](const GemmConfig& g) { return g.split_k == SplitK::kWorkspace; }, false, 3},
    {"ScaledClusterParts", "fwd e2m1>bf16 n1 c320 k40 i7x7 f3x3 p1 scales=nv +relu",
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 32; }, false, 4},
    {"ScaledSharedFilter", "fwd e4m3>bf16 n3 c96 k136 i9x11 f3x3 p1 scales=mx",
     [](const GemmConfig& g) { return g.multicast_b; }},
    {"ScaledSharedPixels", "fwd e2m1>bf16 n3 c96 k264 i9x11 f3x3 p1 scales=nv",
     [](const GemmConfig& g) { return g.multicast_a; }},
    {"ScaledPairsOfNumbers", "fwd e2m1>bf16 n1 c352 k72 i9x11 f3x3 p1 scales=nv",
     [](const GemmConfig& g) { return stored(g, kBulk) && takes(g) && g.tile.n == 128; }, true},
    {"ScaledPairsByPowers", "fwd e2m1>fp16 n1 c288 k200 i9x11 f3x3 p1 scales=mx",
     [](const GemmConfig& g) { return stored(g, kBulk) && g.tile.n == 192; }},
    {"ScaledLine", "fwd e4m3>bf16 n3 c64 k48 i70 f5 p2 scales=mx",
     [](const GemmConfig& g) { return stored(g, kBulk) && g.tile.n == 64; }},
    {"ScaledCube", "fwd e2m1>bf16 n1 c64 k32 i5x6x7 f3x3x3 p1 scales=mx",
     [](const GemmConfig& g) { return stored(g, kBulk) && g.tile.n == 32; }},
    {"Data", kStrided, [](const GemmConfig& g) { return stored(g, kRows) && !pair(g) && takes(g); }, true},
    {"DataOfPair", kStrided, [](const GemmConfig& g) { return stored(g, kRows) && pair(g) && takes(g); }},
    {"DataWalked", kStrided, [](const GemmConfig& g) { return stored(g, kRows) && !pair(g) && !takes(g); }},
    {"DataUnitStride", "bwd_data bf16 n2 c136 k72 i13x11 f3x3 p1",
     [](const GemmConfig& g) { return stored(g, kBulk) && pair(g); }},
    {"DataParts", "bwd_data bf16 n1 c72 k128 i7x7 f3x3 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kWorkspace; }, false, 3},
    {"DataTf32", "bwd_data tf32 n1 c72 k40 i9x9 f3x3 p1", [](const GemmConfig& g) { return takes(g); }},
    {"DataFp32", "bwd_data fp32 n1 c72 k40 i9x9 f3x3 s2 p1", [](const GemmConfig& g) { return takes(g); }},
    {"DataFp8", "bwd_data e4m3 n1 c64 k80 i9x9 f3x3 p1", [](const GemmConfig& g) { return takes(g); }},
    {"Weight", "bwd_weight bf16 n3 c72 k136 i9x11 f3x3 p1", [](const GemmConfig& g) { return plain(g) && !pair(g); },
     true},
    {"WeightParts", "bwd_weight bf16 n3 c72 k136 i9x11 f3x3 p1",
     [](const GemmConfig& g) {
       return g.split_k == SplitK::kWorkspace && !pair(g) && !g.aligned_copy && g.groups_per_tile == 1;
     },
     true, 3},
    {"WeightClusterParts", "bwd_weight bf16 n3 c72 k136 i9x11 f3x3 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 128; }, true, 4},
    {"WeightClusterPartsMore", "bwd_weight fp16 n1 c64 k72 i5x5 f3x3 p1",  // than there are blocks of pixels
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 64; }, false, 2},
    {"WeightClusterPartsRounds", "bwd_weight bf16 n2 c328 k264 i9x9 f3x3 p1 +amax",
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 64; }, false, 3},
    {"WeightClusterPartsUnit", "bwd_weight bf16 n3 c200 k136 i9x11 f1x1",
     [](const GemmConfig& g) {
       return g.split_k == SplitK::kCluster && g.loader_b == Loader::kTmaTiled && g.tile.n == 256;
     },
     false, 5},
    {"WeightClusterPartsTf32", "bwd_weight tf32 n3 c36 k72 i9x11 f3x3 s2 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 128; }, false, 3},
    {"WeightClusterPartsFp32", "bwd_weight fp32 n3 c36 k72 i9x11 f3x3 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 64; }, false, 4},
    {"WeightClusterPartsFp8", "bwd_weight e4m3>fp16 n3 c80 k48 i9x11 f3x3 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 256; }, false, 3},
    {"WeightOfPair", "bwd_weight fp16 n3 c72 k136 i9x11 f3x3 s2 p1",
     [](const GemmConfig& g) { return plain(g) && pair(g); }},
    {"WeightPartsOfPair", "bwd_weight bf16 n3 c72 k136 i9x11 f3x3 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kWorkspace && pair(g); }, false, 4},
    {"WeightUnit", "bwd_weight bf16 n3 c72 k136 i9x11 f1x1",
     [](const GemmConfig& g) { return g.loader_b == Loader::kTmaTiled; }},
    {"WeightTf32", "bwd_weight tf32 n3 c36 k136 i9x11 f3x3 p1", [](const GemmConfig& g) { return plain(g); }},
    {"WeightPartsTf32", "bwd_weight tf32 n3 c72 k40 i9x11 f3x3 s2 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kWorkspace && g.tile.n == 128; }, false, 3},
    {"WeightFp32", "bwd_weight fp32 n3 c36 k72 i9x11 f3x3 p1", [](const GemmConfig& g) { return plain(g); }},
    {"WeightFp8", "bwd_weight e4m3>fp32 n3 c80 k144 i9x11 f3x3 p1",
     [](const GemmConfig& g) { return plain(g) && !pair(g); }, true},
    {"WeightPartsFp8", "bwd_weight e4m3>bf16 n3 c80 k48 i9x11 f3x3 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kWorkspace && !pair(g) && g.tile.n == 256; }, false, 3},
    {"WeightOfPairFp8", "bwd_weight e5m2 n3 c144 k272 i9x11 f3x3 s2 p1",
     [](const GemmConfig& g) { return plain(g) && pair(g); }},
    {"WeightUnitFp8", "bwd_weight e4m3>fp16 n2 c272 k160 i9x9 f1x1",
     [](const GemmConfig& g) { return g.loader_b == Loader::kTmaTiled; }},
    {"WeightCube", "bwd_weight bf16 n1 c40 k64 i5x6x7 f3x3x3 p1", [](const GemmConfig& g) { return plain(g); }},
    {"WeightFewRows", "bwd_weight bf16 n3 c72 k40 i9x11 f3x3 p1",  // of two blocks of channels
     [](const GemmConfig& g) { return g.split_k == SplitK::kWorkspace && !pair(g); }, false, 3},
    {"FewRows", "fwd bf16 n1 c128 k72 i7x7 f3x3 p1", [](const GemmConfig& g) { return stored(g, kBulk) && !pair(g); }},
    {"FewRowsFp32", "fwd fp32 n1 c72 k72 i7x7 f3x3 p1", [](const GemmConfig& g) { return plain(g) && g.tile.n == 64; }},
    {"OddChannelsTf32", "fwd tf32 n1 c15 k21 i9x9 f3x3 p1", [](const GemmConfig& g) { return g.aligned_copy; }},
    {"DataOddChannelsFp32", "bwd_data fp32 n2 c13 k21 i11x9 f3x3 p1",
     [](const GemmConfig& g) { return g.aligned_copy; }},
    {"WeightOddChannelsTf32", "bwd_weight tf32 n3 c15 k21 i9x9 f3x3 p1",
     [](const GemmConfig& g) { return g.aligned_copy; }, false, 2},
    {"OddChannelsToFp32", "fwd bf16>fp32 n2 c13 k21 i11x9 f3x3 p1",
     [](const GemmConfig& g) { return g.aligned_copy && g.split_k == SplitK::kNone; }},
    {"DataNarrowGroups", "bwd_data bf16 n1 c96 k96 g3 i7x9 f3x3 p1",  // boxes of 32 channels, a filter across
     [](const GemmConfig& g) { return g.swizzle_a == 64 && stored(g, kBulk); }},
    {"AllGroupsMerged", "fwd bf16 n2 c64 k128 g64 i12x12 f3x3 s2 p1",
     [](const GemmConfig& g) { return g.groups_per_tile == 64; }},
};

// Patches that serve the taps below each other.
constexpr const char* kHalo = "fwd bf16 n2 c72 k200 i37x13 f3x3 p1";
inline bool whole(const GemmConfig& gemm) { return gemm.specialization == Specialization::kFilter3x3; }
inline bool taps(const GemmConfig& gemm, int count) {
  return gemm.filter_rows == count && gemm.split_k == SplitK::kNone && gemm.groups_per_tile == 1 &&
         !gemm.aligned_copy && !whole(gemm);
}
inline bool patches(const GemmConfig& gemm, Staging staging) { return taps(gemm, 3) && gemm.staging == staging; }

inline const Form kHaloForms[] = {
    {"HaloTaken", kHalo,
     [](const GemmConfig& g) { return patches(g, kBulk) && !pair(g) && takes(g) && g.tile.n == 64; }, true},
    {"HaloWalked", kHalo, [](const GemmConfig& g) { return patches(g, kBulk) && !pair(g) && !takes(g); }},
    {"HaloOfPair", kHalo, [](const GemmConfig& g) { return patches(g, kBulk) && pair(g) && g.tile.n == 128; }, true},
    {"HaloOfPairWalked", kHalo, [](const GemmConfig& g) { return patches(g, kBulk) && pair(g) && !takes(g); }},
    {"HaloRows", "fwd bf16 n1 c72 k200 i37x13 f3x3 p1 +bias+residual+relu",
     [](const GemmConfig& g) { return patches(g, kRows) && !pair(g); }},
    {"HaloTail", kHalo, [](const GemmConfig& g) { return patches(g, kBulk) && g.tile.n == 80; }},
    {"HaloLow", "fwd bf16 n3 c128 k72 i7x9 f3x3 p1 +amax",  // fewer rows of pixels than a tile has
     [](const GemmConfig& g) { return patches(g, kBulk) && g.tile.n == 32; }},
    {"HaloParts", "fwd bf16 n1 c136 k40 i20x9 f3x3 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kWorkspace && !pair(g); }, false, 4},
    {"HaloPartsOfPair", "fwd bf16 n1 c136 k40 i40x9 f3x3 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kWorkspace && pair(g); }, false, 3},
    {"HaloClusterParts", "fwd bf16 n1 c136 k40 i20x9 f3x3 p1 +bias",
     [](const GemmConfig& g) { return g.split_k == SplitK::kCluster && g.tile.n == 32; }, true, 4},
    {"HaloGroups", "fwd bf16 n1 c128 k128 g2 i19x11 f3x3 p1",
     [](const GemmConfig& g) { return patches(g, kBulk) && g.tile.n == 64; }},
    {"HaloNarrowGroups", "bwd_data bf16 n2 c96 k96 g3 i19x11 f3x3 p1",
     [](const GemmConfig& g) { return patches(g, kBulk) && g.swizzle_a == 64; }},
    {"HaloMergedGroups", "fwd bf16 n1 c64 k64 g4 i19x11 f3x3 p1",
     [](const GemmConfig& g) { return g.groups_per_tile == 4; }},
    {"HaloOddChannels", "fwd bf16 n1 c30 k34 i19x11 f3x3 p1", [](const GemmConfig& g) { return g.aligned_copy; }},
    {"HaloDilated", "fwd bf16 n1 c72 k80 i19x21 f3x3 p2x3 d1x3", [](const GemmConfig& g) { return taps(g, 3); }},
    {"HaloTwoTaps", "fwd bf16 n1 c40 k72 i19x11 f2x2", [](const GemmConfig& g) { return taps(g, 2); }},
    {"HaloFiveTaps", "fwd bf16 n1 c40 k72 i19x11 f5x2 p2x1", [](const GemmConfig& g) { return taps(g, 5); }},
    {"HaloSevenTaps", "bwd_data bf16 n1 c40 k72 i19x11 f7x2 p3x1", [](const GemmConfig& g) { return taps(g, 7); }},
    {"HaloWhole", kHalo, [](const GemmConfig& g) { return whole(g); }},
    {"HaloLine", "fwd fp16 n9 c40 k72 i40 f3 p1", [](const GemmConfig& g) { return patches(g, kBulk) && pair(g); }},
    {"HaloCube", "fwd bf16 n2 c40 k72 i3x19x9 f2x3x2 p0x1x1", [](const GemmConfig& g) { return patches(g, kBulk); }},
    {"HaloStanding", "fwd bf16 n2 c40 k72 i19x5x3 f3x1x1 p1x0x0",
     [](const GemmConfig& g) { return patches(g, kBulk); }},
    {"HaloTf32", "fwd tf32 n1 c40 k72 i19x11 f3x3 p1", [](const GemmConfig& g) { return taps(g, 3); }},
    {"HaloFp8", "fwd e4m3 n1 c144 k72 i19x11 f3x3 p1", [](const GemmConfig& g) { return taps(g, 3) && pair(g); }},
    {"HaloData", "bwd_data bf16 n2 c72 k40 i19x11 f3x3 p1",
     [](const GemmConfig& g) { return patches(g, kBulk) && !pair(g); }, true},
    {"HaloDataOfPair", "bwd_data fp16 n2 c136 k136 i35x11 f3x5 p1x2",
     [](const GemmConfig& g) { return patches(g, kBulk) && pair(g); }},
    {"HaloDataParts", "bwd_data bf16 n1 c40 k136 i19x11 f3x3 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kWorkspace; }, false, 3},
    {"HaloDataWhole", "bwd_data bf16 n1 c40 k72 i3x19x11 f2x3x3 p0x1x1", [](const GemmConfig& g) { return whole(g); }},
    {"HaloWeight", "bwd_weight bf16 n3 c72 k72 i19x11 f3x3 p1",
     [](const GemmConfig& g) { return whole(g) && g.swizzle_a == 128 && g.tile.n == 48; }, true, 3},
    {"HaloWeightWhole", "bwd_weight bf16 n2 c72 k72 i19x11 f3x3 p1",
     [](const GemmConfig& g) { return whole(g) && g.swizzle_a == 64 && g.split_k == SplitK::kNone; }},
    {"HaloWeightColumns", "bwd_weight fp16 n2 c72 k264 i19x11 f3x5 p1x2",
     [](const GemmConfig& g) { return !whole(g) && g.tile.n == 256 && g.swizzle_a == 128; }},
    {"HaloWeightFive", "bwd_weight bf16 n2 c40 k72 i19x11 f5x3 p2x1",
     [](const GemmConfig& g) { return g.filter_rows == 5 && g.swizzle_a == 64; }, false, 2},
    {"HaloWeightGroups", "bwd_weight bf16 n2 c128 k128 g2 i19x11 f3x3 p1",
     [](const GemmConfig& g) { return g.split_k == SplitK::kWorkspace && g.tile.n == 64; }, false, 2},
    {"HaloWeightOddChannels", "bwd_weight bf16 n2 c30 k34 i19x11 f3x3 p1",
     [](const GemmConfig& g) { return g.aligned_copy; }, false, 2},
    {"HaloWeightDilated", "bwd_weight bf16 n2 c72 k40 i19x11 f3x3 p1x2 d1x2",
     [](const GemmConfig& g) { return whole(g); }, false, 2},
    {"HaloWeightCube", "bwd_weight bf16 n1 c40 k40 i3x19x11 f3x3x3 p1",
     [](const GemmConfig& g) { return whole(g) && g.split_k == SplitK::kNone; }},
};

// In the simulator, whenever asynchronous work happens.
inline void expect_form(const Form& form) {
  const ConvProblem problem = problem_of(form.problem);
  KernelConfig config;
  bool found = false;
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm100a, {}, Breadth::kAll)) {
    if (found || !c.accepts() || c.config.kind != form.kind || !form.wanted(c.config.gemm)) continue;
    config = c.config;
    found = true;
  }
  ASSERT_TRUE(found) << "no such kernel for " << form.problem;
  for (const char* completion : {"early", "late", "random"}) {
    ::setenv("WAVETILE_SIM_COMPLETION", completion, 1);
    const auto device = open_device("sim:sm_100a");
    ::unsetenv("WAVETILE_SIM_COMPLETION");
    ASSERT_TRUE(device.ok()) << device.status().message();
    SCOPED_TRACE(completion);
    expect_exact(*device, problem, config, form.splits);
  }
}

inline std::vector<Form> forms(bool quick) {
  std::vector<Form> list;
  for (const Form& form : kForms)
    if (form.quick == quick) list.push_back(form);
  for (Form form : kHaloForms) {
    form.kind = Kind::kTcgen05Halo;
    if (form.quick == quick) list.push_back(form);
  }
  return list;
}

class Tcgen05 : public testing::TestWithParam<Form> {};
inline std::string test_name(const testing::TestParamInfo<Form>& info) { return info.param.name; }

}  // namespace wt::tcgen05_test
