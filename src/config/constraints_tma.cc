// SPDX-License-Identifier: Apache-2.0
// config/constraints_tma.cc - the rows of the Hopper kernels in kernel/gemm/tma; limits of TMA itself are with the
// features.
#include "config/constraint_rows.h"
#include "config/enum_names.h"
#include "config/halo_view.h"
#include "kernel/gemm/tma/layout.h"
#include "kernel/gemm/tma/weight_few_layout.h"
#include "kernel/gemm/tma/weight_halo_layout.h"
#include "problem/gemm_view.h"
#include "problem/patch_view.h"

namespace wt {

namespace {

// Weight gradients of few output channels have rows of their own: constraints_weight_few.cc.
bool is_tma_kernel(const Case& at) {
  return at.config.family == Family::kGemm && at.config.gemm.pipeline == Pipeline::kTma &&
         !weight_few::serves(at.config);
}
bool stores_bulk(const Case& at) { return is_tma_kernel(at) && at.config.gemm.staging == Staging::kTmaStore; }
bool stages_output(const Case& at) { return is_tma_kernel(at) && at.config.gemm.staging != Staging::kDirect; }
bool copies_rows(const Case& at) { return is_tma_kernel(at) && at.config.gemm.staging == Staging::kShared; }
bool is_forward(const Case& at) { return at.config.direction == Direction::kForward; }

// Channels of a group, or of as many groups as the kernel takes together.
int64_t depth(const Case& at) {
  return (is_forward(at) ? at.problem->c_per_group() : at.problem->k_per_group()) * at.config.gemm.groups_per_tile;
}
int64_t columns(const Case& at) {
  return (is_forward(at) ? at.problem->k_per_group() : at.problem->c_per_group()) * at.config.gemm.groups_per_tile;
}
int64_t out_channels(const Case& at) { return is_forward(at) ? at.problem->k : at.problem->c; }
int64_t phases(const Case& at) {
  return at.config.direction == Direction::kBackwardData ? stride_phase_count(*at.problem) : 1;
}

constexpr Constraint kTargetRows[] = {
    {"tma-roles", "a producer warpgroup and whole consumer warpgroups of 64-row fragments", is_tma_kernel,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const bool groups = gemm.wave_groups == (gemm.ping_pong ? 2 : 1);
       if (gemm.load_warps != 4 || !gemm.persistent || !groups) return false;
       if (tma_layout::crosswise(at.config)) return true;  // has a row of its own
       const bool along_m = gemm.warps.n == 1 || weight_halo::serves(at.config);
       return along_m && gemm.warps.m % 4 == 0 && gemm.tile.m % (gemm.warps.m * 16) == 0 &&
              (!gemm.ping_pong || gemm.warps.m == 4);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "load_warps={} persistent={} warps={}x{} wave_groups={} tile.m={}: pipeline tma has load_warps=4, "
           "persistent=true, warps.n=1, four warps for each 64 rows or multiple of it, and wave_groups=2 with "
           "warps.m=4 "
           "for ping_pong",
           gemm.load_warps, gemm.persistent, gemm.warps.m, gemm.warps.n, gemm.wave_groups, gemm.tile.m);
     }},

    {"tma-crosswise", "crosswise tiles have 64 output channels a warpgroup or a multiple of it, and are stored in bulk",
     [](const Case& at) { return is_tma_kernel(at) && tma_layout::crosswise(at.config); },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return at.config.direction != Direction::kBackwardWeight && !tma_layout::is_halo(at.config) &&
              gemm.warps.n % 4 == 0 && gemm.tile.n % (gemm.warps.n * 16) == 0 && gemm.mma.n == gemm.tile.m &&
              (!gemm.ping_pong || gemm.warps.n == 4) && gemm.staging == Staging::kTmaStore && gemm.swizzle_a == 128 &&
              size_of(operand_a(at.config)) != 4 && gemm.split_k == SplitK::kNone;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "direction={} tile={}x{} warps=1x{} mma.n={} staging={} swizzle_a={} split_k={}: warps.m=1 of pipeline tma "
           "takes forward and backward data of 8 or 16-bit types without halo, four warps for each 64 columns or "
           "multiple of it, mma.n=tile.m, tma_store, 128 and no split",
           text_of(at.config.direction), gemm.tile.m, gemm.tile.n, gemm.warps.n, gemm.mma.n, text_of(gemm.staging),
           gemm.swizzle_a, text_of(gemm.split_k));
     }},

    {"tma-swizzle", "a box of channels is one swizzle span, the same for both operands", is_tma_kernel,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.swizzle_a >= 32 && (gemm.swizzle_b == gemm.swizzle_a || weight_halo::serves(at.config));
     },
     [](const Case& at) {
       return fmt::format("swizzle_a={} and swizzle_b={} must be equal and 32, 64 or 128 bytes for pipeline tma",
                          at.config.gemm.swizzle_a, at.config.gemm.swizzle_b);
     }},

    {"tma-major", "an operand is read across its channels where it has 16 or 32 bits",
     [](const Case& at) { return is_tma_kernel(at) && at.config.direction == Direction::kBackwardWeight; },
     [](const Case& at) { return size_of(operand_a(at.config)) != 1 && size_of(operand_b(at.config)) != 1; },
     [](const Case& at) {
       return fmt::format(
           "direction={} sums across channels, which wgmma reads for 16-bit types, and kernels turn 32-bit ones round, "
           "but not {}",
           text_of(at.config.direction), text_of(operand_b(at.config)));
     }},

    {"tma-weight-unit", "weight gradients whose x is read by plain boxes are those of unit filters",
     [](const Case& at) {
       return is_tma_kernel(at) && at.config.direction == Direction::kBackwardWeight &&
              at.config.gemm.loader_b == Loader::kTmaTiled;
     },
     [](const Case& at) {
       return at.config.gemm.specialization == Specialization::kFilter1x1Stride1Pad0 &&
              at.config.gemm.groups_per_tile == 1;
     },
     [](const Case& at) {
       return fmt::format(
           "loader_b=tma_tiled with specialization={} groups_per_tile={}: weight gradients take it with "
           "filter1x1_stride1_pad0 and 1; use tma_im2col",
           text_of(at.config.gemm.specialization), at.config.gemm.groups_per_tile);
     }},

    {"tma-halo", "a patch with its halo serves 3x3 filters of 16-bit types in two or three dimensions, or 3x1 in any",
     [](const Case& at) { return is_tma_kernel(at) && at.config.gemm.loader_a == Loader::kTmaHalo; },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const bool square = gemm.specialization == Specialization::kFilter3x3 && at.config.dims >= 2;
       const bool column = gemm.specialization == Specialization::kDefault && gemm.groups_per_tile == 1;
       return (square || column) && at.config.direction != Direction::kBackwardWeight &&
              size_of(operand_a(at.config)) == 2 && gemm.swizzle_a == 128 &&
              (gemm.staging == Staging::kDirect) == (gemm.split_k != SplitK::kNone) &&
              (gemm.tile.k == 32 || gemm.tile.k == 64 || gemm.tile.k == 3 * 32 || gemm.tile.k == 3 * 64);
     },
     [](const Case& at) {
       return fmt::format(
           "loader_a=tma_halo with dims={} direction={} specialization={} swizzle_a={} staging={} split_k={} "
           "tile.k={}: it takes forward or backward data of 16-bit types, filter3x3 in two or three dimensions or "
           "default, 128, shared or tma_store for whole sums and direct for divided ones, and 32, 64, 96 or 192",
           at.config.dims, text_of(at.config.direction), text_of(at.config.gemm.specialization),
           at.config.gemm.swizzle_a, text_of(at.config.gemm.staging), text_of(at.config.gemm.split_k),
           at.config.gemm.tile.k);
     }},

    {"tma-halo-groups", "two warpgroups take the taps of 64 rows in turns",
     [](const Case& at) { return is_tma_kernel(at) && tma_layout::is_halo(at.config) && at.config.gemm.warps.k != 1; },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.warps == Extent3{4, 1, 2} && gemm.tile.m == 64 && !gemm.ping_pong && gemm.filter_rows == 0 &&
              gemm.specialization == Specialization::kFilter3x3 &&
              gemm.stages >= tma_layout::halo_least_stages(at.config);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "warps={}x{}x{} with tile.m={} ping_pong={} filter_rows={} specialization={} stages={}: loader_a=tma_halo "
           "has warps along k as 4x1x2, with 64, false, 0, filter3x3 and at least 3",
           gemm.warps.m, gemm.warps.n, gemm.warps.k, gemm.tile.m, gemm.ping_pong, gemm.filter_rows,
           text_of(gemm.specialization), gemm.stages);
     }},

    {"tma-halo-registers", "pixels in registers serve a column of the filter",
     [](const Case& at) { return is_tma_kernel(at) && at.config.gemm.filter_rows != 0; },
     [](const Case& at) {
       return tma_layout::halo_in_registers(at.config) && at.config.gemm.tile.k == 3 * 64 &&
              at.config.gemm.tile.n <= 40 && at.config.gemm.staging == Staging::kShared && at.config.gemm.ping_pong &&
              at.config.gemm.stages >= 4 && at.config.gemm.tile.m <= 128;
     },
     [](const Case& at) {
       return fmt::format(
           "filter_rows={} with loader_a={} tile={}x{}x{} staging={} stages={} ping_pong={}: pipeline tma has pixels "
           "in "
           "registers for three rows, tma_halo, tiles of up to 128 by 40 by 192, shared, at least 4 and true",
           at.config.gemm.filter_rows, text_of(at.config.gemm.loader_a), at.config.gemm.tile.m, at.config.gemm.tile.n,
           at.config.gemm.tile.k, text_of(at.config.gemm.staging), at.config.gemm.stages, at.config.gemm.ping_pong);
     }},

    {"tma-merge", "the gradient of merged groups is taken from partial sums",
     [](const Case& at) {
       return is_tma_kernel(at) && at.config.gemm.groups_per_tile > 1 &&
              at.config.direction == Direction::kBackwardWeight;
     },
     [](const Case& at) { return at.config.gemm.split_k == SplitK::kWorkspace; },
     [](const Case& at) {
       return fmt::format(
           "groups_per_tile={} with split_k={}: weight gradients of merged groups need split_k=workspace",
           at.config.gemm.groups_per_tile, text_of(at.config.gemm.split_k));
     }},

    {"tma-split", "parts of a sum leave as fp32, by registers",
     [](const Case& at) { return is_tma_kernel(at) && at.config.gemm.split_k != SplitK::kNone; },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const bool weight = at.config.direction == Direction::kBackwardWeight;
       if (weight && gemm.split_k == SplitK::kWorkspace) return true;
       if (gemm.split_k == SplitK::kAtomic &&
           (!weight || gemm.loader_a != Loader::kTmaTiled || gemm.specialization == Specialization::kPatch ||
            gemm.vector_a > 1 || gemm.stream_k != StreamK::kOff || tma_layout::sharing_blocks(at.config) > 1))
         return false;
       return gemm.staging == Staging::kDirect && !gemm.ping_pong && gemm.groups_per_tile == 1 &&
              at.config.min_blocks == 1;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "split_k={} with direction={} staging={} ping_pong={} groups_per_tile={} min_blocks={}: parts go to the "
           "workspace or over a cluster, with staging=direct, no ping_pong, 1 and 1; weight gradients of the workspace "
           "have them all, atomic is for those that read x and dy themselves and share neither",
           text_of(gemm.split_k), text_of(at.config.direction), text_of(gemm.staging), gemm.ping_pong,
           gemm.groups_per_tile, at.config.min_blocks);
     }},

    {"tma-stream", "stream-K cuts tiles that a block loads by itself, of the problem as it is",
     [](const Case& at) { return is_tma_kernel(at) && at.config.gemm.stream_k != StreamK::kOff; },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       if (gemm.groups_per_tile != 1) return false;
       if (at.config.direction == Direction::kBackwardWeight) return gemm.staging == Staging::kDirect;
       return !tma_layout::is_halo(at.config) && !tma_layout::crosswise(at.config) &&
              tma_layout::sharing_blocks(at.config) == 1 && gemm.vector_a == 1 &&
              !tma_layout::sees_patches(at.config) && !tma_layout::walks_phases(at.config);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "stream_k={} with direction={} staging={} groups_per_tile={} loader_a={} warps.m={} vector_a={} "
           "specialization={} cluster of {} blocks: it takes groups_per_tile=1, in bwd_weight staging=direct, else "
           "tma_im2col or tma_tiled, four warps a warpgroup along m, 1, no patch or phases and no cluster",
           text_of(gemm.stream_k), text_of(at.config.direction), text_of(gemm.staging), gemm.groups_per_tile,
           text_of(gemm.loader_a), gemm.warps.m, gemm.vector_a, text_of(gemm.specialization),
           tma_layout::sharing_blocks(at.config));
     }},

    {"tma-sharing", "two blocks of a cluster share the tiles of one operand",
     [](const Case& at) { return is_tma_kernel(at) && tma_layout::sharing_blocks(at.config) != 1; },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const bool b = gemm.cluster_m == 2 && gemm.cluster_n == 1 && gemm.multicast_b && !gemm.multicast_a;
       const bool a = gemm.cluster_m == 1 && gemm.cluster_n == 2 && gemm.multicast_a && !gemm.multicast_b;
       if (!(a || b) || tma_layout::is_halo(at.config) || at.config.min_blocks != 1) return false;
       // A weight gradient's blocks of 64 channels are shared whole.
       if (at.config.direction == Direction::kBackwardWeight)
         return gemm.split_k != SplitK::kCluster && gemm.stream_k == StreamK::kOff &&
                size_of(operand_a(at.config)) == 2 && (a ? gemm.tile.m : gemm.tile.n) % 128 == 0;
       return gemm.split_k != SplitK::kCluster && gemm.tile.n % 16 == 0 && (!a || gemm.tile.m % 16 == 0);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "cluster of {}x{} blocks with multicast_a={} multicast_b={} tile={}x{} loader_a={} split_k={}: kernels "
           "without halo take 2x1 with multicast_b or 1x2 with multicast_a, one block a multiprocessor and no cluster "
           "split; forward and backward data halves of whole 8 columns, or rows; weight gradients of 16-bit types no "
           "stream-K, and halves of whole 64 channels",
           gemm.cluster_m, gemm.cluster_n, gemm.multicast_a, gemm.multicast_b, gemm.tile.m, gemm.tile.n,
           text_of(gemm.loader_a), text_of(gemm.split_k));
     }},

    {"tma-weight-store", "bulk stores write gradients that are whole and whose epilogue is the same everywhere",
     [](const Case& at) { return stores_bulk(at) && at.config.direction == Direction::kBackwardWeight; },
     [](const Case& at) {
       const EpilogueConfig& steps = at.config.epilogue;
       return at.config.gemm.split_k == SplitK::kNone && at.config.gemm.groups_per_tile == 1 && !steps.scale &&
              !steps.bias && !steps.placed() && !steps.amax;
     },
     [](const Case& at) {
       return fmt::format(
           "staging=tma_store for a gradient with split_k={} groups_per_tile={}: it takes none and 1, and no scale, "
           "bias, "
           "residual or amax; use staging=direct",
           text_of(at.config.gemm.split_k), at.config.gemm.groups_per_tile);
     }},

    {"tma-raw-patch", "patches are read where they lie by kernels that are finite_only and store whole tiles in bulk",
     [](const Case& at) { return is_tma_kernel(at) && tma_layout::raw_patches(at.config); },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const EpilogueConfig& steps = at.config.epilogue;
       return at.config.finite_only && tma_layout::copies_rows(at.config) && gemm.staging == Staging::kTmaStore &&
              !tma_layout::crosswise(at.config) && gemm.cluster_n == 1 && tma_layout::boxes(at.config) == 1 &&
              gemm.split_k == SplitK::kNone && !steps.placed() && !steps.amax;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "specialization=patch with loader_a=tma_tiled finite_only={} vector_a={} staging={} warps.m={} cluster_n={} "
           "tile.k={} split_k={}: forward takes finite_only=true, 8, tma_store, four warps a warpgroup, 1, one box and "
           "no split, residual or amax; use loader_a=tma_im2col",
           at.config.finite_only, gemm.vector_a, text_of(gemm.staging), gemm.warps.m, gemm.cluster_n, gemm.tile.k,
           text_of(gemm.split_k));
     }},

    {"tma-patch", "patches are walked by im2col; backward data stores their runs by vectors and has a plain epilogue",
     [](const Case& at) { return is_tma_kernel(at) && tma_layout::sees_patches(at.config); },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const EpilogueConfig& steps = at.config.epilogue;
       const bool gradient = at.config.direction == Direction::kBackwardWeight;
       if (at.config.dims > 2 || gemm.groups_per_tile != 1 ||
           ((gradient ? gemm.loader_b : gemm.loader_a) != Loader::kTmaIm2col && !tma_layout::raw_patches(at.config)))
         return false;
       return !tma_layout::stores_patches(at.config) ||
              (gemm.staging == Staging::kShared && !steps.scale && !steps.bias && !steps.placed());
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "specialization=patch with dims={} direction={} loader_a={} groups_per_tile={} staging={}: pipeline tma "
           "takes "
           "one or two dimensions, tma_im2col and 1, in bwd_data staging=shared without scale, bias or residual",
           at.config.dims, text_of(at.config.direction), text_of(gemm.loader_a), gemm.groups_per_tile,
           text_of(gemm.staging));
     }},

    {"tma-phases", "forward walks over the phases of a strided image by im2col",
     [](const Case& at) { return is_tma_kernel(at) && tma_layout::walks_phases(at.config); },
     [](const Case& at) {
       return is_forward(at) && at.config.gemm.loader_a == Loader::kTmaIm2col && !tma_layout::folds_taps(at.config);
     },
     [](const Case& at) {
       return fmt::format(
           "specialization=phases with direction={} loader_a={} filter_w={}: it is for fwd, tma_im2col and 0",
           text_of(at.config.direction), text_of(at.config.gemm.loader_a), at.config.direct.filter_w);
     }},

    {"tma-store-type", "16-bit outputs are staged in shared memory", stages_output,
     [](const Case& at) { return size_of(output_type(at.config)) == 2; },
     [](const Case& at) {
       return fmt::format("staging={} with output {}; use staging=direct", text_of(at.config.gemm.staging),
                          text_of(output_type(at.config)));
     }},

    {"tma-copy-vector", "staged rows are copied by vectors", copies_rows,
     [](const Case& at) { return at.config.gemm.vector_c >= 2; },
     [](const Case& at) {
       return fmt::format("staging=shared copies rows by vectors of 2, 4 or 8 elements, not vector_c={}",
                          at.config.gemm.vector_c);
     }},
};

constexpr Constraint kProblemRows[] = {
    {"tma-halo-step", "a patch serves the taps of stride 1 and dilation 1",
     [](const Case& at) { return is_tma_kernel(at) && at.config.gemm.loader_a == Loader::kTmaHalo; },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return p.stride == Spatial{1, 1, 1} && p.dilation == Spatial{1, 1, 1};
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format("stride={}x{}x{} dilation={}x{}x{}: loader_a=tma_halo takes 1; use tma_im2col", p.stride[0],
                          p.stride[1], p.stride[2], p.dilation[0], p.dilation[1], p.dilation[2]);
     }},

    {"tma-halo-boxes", "pixels in registers are multiplied by whole boxes of channels",
     [](const Case& at) { return is_tma_kernel(at) && tma_layout::halo_in_registers(at.config); },
     [](const Case& at) { return depth(at) % tma_layout::box_k(at.config) == 0; },
     [](const Case& at) {
       return fmt::format("{} channels are summed over; loader_a=tma_halo with filter_rows={} takes multiples of {}",
                          depth(at), at.config.gemm.filter_rows, tma_layout::box_k(at.config));
     }},
    {"tma-halo-column", "without filter3x3, a patch serves three taps below each other",
     [](const Case& at) {
       return is_tma_kernel(at) && tma_layout::is_halo(at.config) && tma_layout::halo_filter_width(at.config) == 1;
     },
     [](const Case& at) {
       const Spatial filter = column_filter(*at.problem);
       return filter[1] == tma_layout::kHaloFilter && filter[2] == 1;
     },
     [](const Case& at) {
       const Spatial& filter = at.problem->filter;
       return fmt::format(
           "filter={}x{}x{}: loader_a=tma_halo with specialization=default takes 3 in one dimension, nx3x1 or 3x1x1 "
           "without padding beside it",
           filter[0], filter[1], filter[2]);
     }},

    {"tma-halo-half", "half a row of channels is all there is where half of it is multiplied",
     [](const Case& at) {
       return is_tma_kernel(at) && at.config.gemm.loader_a == Loader::kTmaHalo && at.config.gemm.tile.k % 64 != 0;
     },
     [](const Case& at) { return depth(at) <= 32; },
     [](const Case& at) {
       return fmt::format("{} channels are summed over; loader_a=tma_halo with tile.k={} takes 32", depth(at),
                          at.config.gemm.tile.k);
     }},

    {"tma-raw-rows", "rows of the image are whole 16 bytes where patches are read as they lie",
     [](const Case& at) { return is_tma_kernel(at) && tma_layout::raw_patches(at.config); },
     [](const Case& at) { return at.problem->in[2] * at.problem->c * size_of(at.config.x) % 16 == 0; },
     [](const Case& at) {
       return fmt::format("rows of {} numbers are no multiple of 16 bytes; use loader_a=tma_im2col",
                          at.problem->in[2] * at.problem->c);
     }},

    {"tma-patch-run", "a vector lies inside one run of a patch",
     [](const Case& at) { return is_tma_kernel(at) && tma_layout::stores_patches(at.config); },
     [](const Case& at) { return patch_runs(*at.asked).length % at.config.gemm.vector_c == 0; },
     [](const Case& at) {
       return fmt::format("runs of {} numbers are no multiple of vector_c={}; use a narrower vector",
                          patch_runs(*at.asked).length, at.config.gemm.vector_c);
     }},

    {"tma-merge-width", "merged groups fill a box of channels and no more",
     [](const Case& at) { return is_tma_kernel(at) && at.config.gemm.groups_per_tile > 1; },
     [](const Case& at) {
       const bool gradient = at.config.direction == Direction::kBackwardWeight;
       return depth(at) == tma_layout::box_k(at.config) && columns(at) >= 16 && (!gradient || columns(at) == depth(at));
     },
     [](const Case& at) {
       return fmt::format("{} channels in groups_per_tile={} groups are not one box of {}", depth(at),
                          at.config.gemm.groups_per_tile, tma_layout::box_k(at.config));
     }},

    {"tma-narrow-box", "a narrower box serves channels that do not fill the wider one",
     [](const Case& at) {
       return is_tma_kernel(at) && at.config.direction != Direction::kBackwardWeight && at.config.gemm.swizzle_a < 128;
     },
     [](const Case& at) { return depth(at) % (2 * tma_layout::box_k(at.config)) != 0; },
     [](const Case& at) {
       return fmt::format("{} channels fill boxes of {}, so that swizzle_a={} does the same work in more copies",
                          depth(at), 2 * tma_layout::box_k(at.config), at.config.gemm.swizzle_a);
     }},

    {"tma-groups", "a box of channels lies inside one group",
     [](const Case& at) {
       return is_tma_kernel(at) && at.problem->g > 1 && at.config.direction != Direction::kBackwardWeight;
     },
     [](const Case& at) { return depth(at) % tma_layout::box_k(at.config) == 0; },
     [](const Case& at) {
       return fmt::format(
           "{} channels per group are summed in boxes of {}, which would reach into the next group; use a "
           "narrower swizzle or another kernel",
           depth(at), tma_layout::box_k(at.config));
     }},

    {"tma-group-start", "a group's channels start at a multiple of 16 bytes",
     [](const Case& at) {
       return is_tma_kernel(at) && at.problem->g > 1 && at.config.direction == Direction::kBackwardWeight;
     },
     [](const Case& at) {
       return columns(at) * size_of(at.problem->x) % 16 == 0 && depth(at) * size_of(at.problem->y) % 16 == 0;
     },
     [](const Case& at) {
       return fmt::format(
           "{} input and {} output channels per group make groups start off multiples of 16 bytes, where TMA "
           "reads nothing; use basic_v1",
           at.problem->c_per_group(), at.problem->k_per_group());
     }},

    {"tma-store-stride", "rows of an output that TMA writes are multiples of 16 bytes", stores_bulk,
     [](const Case& at) { return out_channels(at) % 8 == 0; },
     [](const Case& at) {
       return fmt::format("{} output channels of 2 bytes are not a multiple of 16 bytes; use staging=direct",
                          out_channels(at));
     }},

    {"tma-store-groups", "a bulk store's columns lie inside one group",
     [](const Case& at) { return stores_bulk(at) && at.problem->g > 1; },
     [](const Case& at) {
       return at.config.direction != Direction::kBackwardWeight && columns(at) % at.config.gemm.tile.n == 0;
     },
     [](const Case& at) {
       return fmt::format(
           "{} output channels per group are not a multiple of tile.n={}, or it is a gradient of groups; use "
           "staging=direct",
           columns(at), at.config.gemm.tile.n);
     }},

    {"tma-store-view", "a bulk store writes consecutive pixels", stores_bulk,
     [](const Case& at) { return phases(at) == 1; },
     [](const Case& at) {
       return fmt::format("strided backward data writes {} interleaved sets of pixels; use staging=shared", phases(at));
     }},

    {"tma-regions", "the phases of a problem fit the parameter block", is_tma_kernel,
     [](const Case& at) { return phases(at) <= tma_layout::regions(at.config); },
     [](const Case& at) {
       return fmt::format("{} stride phases; this kernel has room for {}; use basic_v1", phases(at),
                          tma_layout::regions(at.config));
     }},
};

}  // namespace

std::span<const Constraint> tma_rows() { return kTargetRows; }
std::span<const Constraint> tma_problem_rows() { return kProblemRows; }

}  // namespace wt
