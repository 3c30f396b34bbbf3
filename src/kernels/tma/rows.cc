// SPDX-License-Identifier: Apache-2.0
// kernels/tma/rows.cc - constraint rows that the kinds with bulk tensor copies share; limits of TMA itself are with the
// features.
#include "kernels/tma/rows.h"

#include "config/enum_names.h"
#include "kernels/tma/device/layout.h"
#include "problem/gemm_view.h"

namespace wt::tma_rows {
namespace {

bool is_weight_halo(const Case& at) { return at.config.kind == Kind::kTmaWeightHalo; }
bool stages_output(const Case& at) { return at.config.gemm.staging != Staging::kDirect; }
bool copies_rows(const Case& at) { return at.config.gemm.staging == Staging::kShared; }
int64_t out_channels(const Case& at) { return is_forward(at) ? at.problem->k : at.problem->c; }
int64_t phases(const Case& at) {
  return at.config.direction == Direction::kBackwardData ? stride_phase_count(*at.problem) : 1;
}

constexpr Constraint kRoles[] = {
    {"tma-roles", "a producer warpgroup and whole consumer warpgroups of 64-row fragments", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const bool groups = gemm.wave_groups == (gemm.ping_pong ? 2 : 1);
       if (gemm.load_warps != 4 || !gemm.persistent || !groups) return false;
       if (tma_layout::crosswise(at.config)) return true;  // has a row of its own
       const bool along_m = gemm.warps.n == 1 || is_weight_halo(at);
       return along_m && gemm.warps.m % 4 == 0 && gemm.tile.m % (gemm.warps.m * 16) == 0 &&
              (!gemm.ping_pong || gemm.warps.m == 4);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "load_warps={} persistent={} warps={}x{} wave_groups={} tile.m={}: the kernel has load_warps=4, "
           "persistent=true, warps.n=1, four warps for each 64 rows or multiple of it, and wave_groups=2 with "
           "warps.m=4 "
           "for ping_pong",
           gemm.load_warps, gemm.persistent, gemm.warps.m, gemm.warps.n, gemm.wave_groups, gemm.tile.m);
     }},

    {"tma-swizzle", "a box of channels is one swizzle span, the same for both operands", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.swizzle_a >= 32 && (gemm.swizzle_b == gemm.swizzle_a || is_weight_halo(at));
     },
     [](const Case& at) {
       return fmt::format("swizzle_a={} and swizzle_b={} must be equal and 32, 64 or 128 bytes for pipeline tma",
                          at.config.gemm.swizzle_a, at.config.gemm.swizzle_b);
     }},

    {"tma-major", "an operand is read across its channels where it has 16 or 32 bits",
     [](const Case& at) { return at.config.direction == Direction::kBackwardWeight; },
     [](const Case& at) { return size_of(operand_a(at.config)) != 1 && size_of(operand_b(at.config)) != 1; },
     [](const Case& at) {
       return fmt::format(
           "direction={} sums across channels, which wgmma reads for 16-bit types, and kernels turn 32-bit ones round, "
           "but not {}",
           text_of(at.config.direction), text_of(operand_b(at.config)));
     }},

    {"tma-split", "parts of a sum leave as fp32, by registers",
     [](const Case& at) { return at.config.gemm.split_k != SplitK::kNone; },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const bool weight = at.config.direction == Direction::kBackwardWeight;
       if (weight && gemm.split_k == SplitK::kWorkspace) return true;
       if (gemm.split_k == SplitK::kAtomic &&
           (!weight || gemm.loader_a != Loader::kTmaTiled || gemm.specialization == Specialization::kPatch ||
            gemm.aligned_copy || gemm.stream_k != StreamK::kOff || tma_layout::sharing_blocks(at.config) > 1))
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
};

constexpr Constraint kStaging[] = {
    {"tma-store-type",
     "16-bit outputs are staged in shared memory, 32-bit ones by kind tma too, where rows are whole vectors",
     stages_output,
     [](const Case& at) {
       if (size_of(output_type(at.config)) == 2) return true;
       return size_of(output_type(at.config)) == 4 && at.config.kind == Kind::kTma &&
              !tma_layout::sees_patches(at.config) && (!copies_rows(at) || at.config.gemm.vector_c > 1);
     },
     [](const Case& at) {
       return fmt::format("staging={} vector_c={} with output {}; use staging=direct", text_of(at.config.gemm.staging),
                          at.config.gemm.vector_c, text_of(output_type(at.config)));
     }},

    {"tma-copy-vector", "rows of patches that are staged are copied by vectors", copies_rows,
     [](const Case& at) { return at.config.gemm.vector_c >= 2 || !tma_layout::stores_patches(at.config); },
     [](const Case& at) {
       return fmt::format("staging=shared copies rows of patches by vectors of 2, 4 or 8 elements, not vector_c={}",
                          at.config.gemm.vector_c);
     }},
};

constexpr Constraint kFeatures[] = {
    {"tma-stream", "stream-K cuts tiles that a block loads by itself, of the problem as it is",
     [](const Case& at) { return at.config.gemm.stream_k != StreamK::kOff; },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       if (gemm.groups_per_tile != 1 || gemm.stream_k != StreamK::kLinear) return false;
       if (is_weight(at)) return gemm.staging == Staging::kDirect;
       return !tma_layout::is_halo(at.config) && !tma_layout::crosswise(at.config) &&
              tma_layout::sharing_blocks(at.config) == 1 && !gemm.aligned_copy && !tma_layout::sees_patches(at.config);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "stream_k={} with direction={} staging={} groups_per_tile={} loader_a={} warps.m={} aligned_copy={} "
           "specialization={} cluster of {} blocks: it takes linear, groups_per_tile=1, in bwd_weight staging=direct, "
           "else "
           "tma_im2col or tma_tiled, four warps a warpgroup along m, 1, no patch and no cluster",
           text_of(gemm.stream_k), text_of(at.config.direction), text_of(gemm.staging), gemm.groups_per_tile,
           text_of(gemm.loader_a), gemm.warps.m, gemm.aligned_copy, text_of(gemm.specialization),
           tma_layout::sharing_blocks(at.config));
     }},

    {"tma-sharing", "two blocks of a cluster share the tiles of one operand",
     [](const Case& at) { return tma_layout::sharing_blocks(at.config) != 1; },
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

    {"tma-patch", "patches are walked by im2col; backward data stores their runs by vectors and has a plain epilogue",
     [](const Case& at) { return tma_layout::sees_patches(at.config); },
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
};

constexpr Constraint kChannels[] = {
    {"tma-merge-width", "merged groups fill a box of channels and no more, or are all that there are",
     [](const Case& at) { return at.config.gemm.groups_per_tile > 1; },
     [](const Case& at) {
       if (groups(at) == 1) return columns(at) >= 16;
       const bool gradient = at.config.direction == Direction::kBackwardWeight;
       return depth(at) == tma_layout::box_k(at.config) && columns(at) >= 16 && (!gradient || columns(at) == depth(at));
     },
     [](const Case& at) {
       return fmt::format("{} channels in groups_per_tile={} of {} groups are not one box of {}", depth(at),
                          at.config.gemm.groups_per_tile, at.problem->g, tma_layout::box_k(at.config));
     }},

    {"tma-groups", "a box of channels lies inside one group",
     [](const Case& at) { return groups(at) > 1 && at.config.direction != Direction::kBackwardWeight; },
     [](const Case& at) { return depth(at) % tma_layout::box_k(at.config) == 0; },
     [](const Case& at) {
       return fmt::format(
           "{} channels per group are summed in boxes of {}, which would reach into the next group; use a "
           "narrower swizzle or another kernel",
           depth(at), tma_layout::box_k(at.config));
     }},

    {"tma-group-start", "a group's channels start at a multiple of 16 bytes",
     [](const Case& at) { return groups(at) > 1 && at.config.direction == Direction::kBackwardWeight; },
     [](const Case& at) {
       return columns(at) * size_of(at.problem->x) % 16 == 0 && depth(at) * size_of(at.problem->y) % 16 == 0;
     },
     [](const Case& at) {
       return fmt::format(
           "{} input and {} output channels per group make groups start off multiples of 16 bytes, where TMA "
           "reads nothing; use basic_v1",
           at.problem->c_per_group(), at.problem->k_per_group());
     }},

    {"tma-regions", "the phases of a problem fit the parameter block", nullptr,
     [](const Case& at) { return phases(at) <= tma_layout::regions(at.config); },
     [](const Case& at) {
       return fmt::format("{} stride phases; this kernel has room for {}; use basic_v1", phases(at),
                          tma_layout::regions(at.config));
     }},
};

constexpr Constraint kBulkStores[] = {
    {"tma-store-stride", "rows of an output that TMA writes are multiples of 16 bytes", stores_bulk,
     [](const Case& at) { return out_channels(at) * size_of(output_type(at.config)) % 16 == 0; },
     [](const Case& at) {
       return fmt::format("{} output channels of {} bytes are not a multiple of 16 bytes; use staging=direct",
                          out_channels(at), size_of(output_type(at.config)));
     }},

    {"tma-store-groups", "a bulk store's columns lie inside one group",
     [](const Case& at) { return stores_bulk(at) && groups(at) > 1; },
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
};

}  // namespace

std::span<const Constraint> roles() { return kRoles; }
std::span<const Constraint> staging() { return kStaging; }
std::span<const Constraint> features() { return kFeatures; }
std::span<const Constraint> channels() { return kChannels; }
std::span<const Constraint> bulk_stores() { return kBulkStores; }

}  // namespace wt::tma_rows
