// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/constraints.cc - what the kernel on tensor memory takes; rows of bulk copies are those of
// kernels/tma.
#include "config/enum_names.h"
#include "kernels/tcgen05/device/layout.h"
#include "kernels/tcgen05/kind.h"
#include "kernels/tcgen05/rows.h"
#include "kernels/tma/rows.h"
#include "problem/measures.h"
#include "problem/patch_view.h"

namespace wt::tcgen05_kind {
namespace {

using namespace tma_rows;

bool is_pair(const Case& at) { return tcgen05_layout::blocks(at.config) == 2; }

constexpr Constraint kTileRows[] = {
    {"tcgen05-roles", "four warps store, and each other role is a warp", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.warps == Extent3{4, 1, 1} && gemm.load_warps * 32 + 128 == tcgen05_layout::threads(at.config) &&
              gemm.mma.n == gemm.tile.n && gemm.mma.m == gemm.tile.m;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "warps={}x{}x{} load_warps={} mma={}x{} tile={}x{}: the kernel has warps=4x1x1, load_warps={}, and one "
           "product "
           "for a whole tile",
           gemm.warps.m, gemm.warps.n, gemm.warps.k, gemm.load_warps, gemm.mma.m, gemm.mma.n, gemm.tile.m, gemm.tile.n,
           (tcgen05_layout::threads(at.config) - 128) / 32);
     }},

    {"tcgen05-swizzle", "a box of channels is one swizzle span, the same for both operands", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.swizzle_a >= 32 && gemm.swizzle_b == gemm.swizzle_a;
     },
     [](const Case& at) {
       return fmt::format("swizzle_a={} and swizzle_b={} must be equal and 32, 64 or 128 bytes",
                          at.config.gemm.swizzle_a, at.config.gemm.swizzle_b);
     }},

    {"tcgen05-columns", "the accumulators fit the 512 columns of tensor memory, and chunks of them a fragment", nullptr,
     [](const Case& at) {
       const int n = at.config.gemm.tile.n, tail = n % 64;
       const GemmConfig& gemm = at.config.gemm;
       const bool rows = gemm.staging != Staging::kTmaStore && gemm.split_k != SplitK::kCluster;
       const bool chunked =
           tail == 0 || tail == 16 || tail == 32 || (n == 48 && rows) || tcgen05_layout::sums_taps(at.config);
       return tcgen05_layout::tensor_columns(at.config) * at.config.min_blocks <= 512 && chunked;
     },
     [](const Case& at) {
       return fmt::format(
           "tile.n={} double_buffer={} scales={} min_blocks={}: accumulators and scales take {} columns of 512, and "
           "tile.n is a multiple of 64, or 16 or 32 more, or 48 that leave by rows",
           at.config.gemm.tile.n, at.config.gemm.double_buffer, text_of(at.config.scales), at.config.min_blocks,
           tcgen05_layout::tensor_columns(at.config));
     }},

    {"tcgen05-scales-pair", "numbers with scales are multiplied by one block",
     [](const Case& at) { return tcgen05_layout::has_scales(at.config); }, [](const Case& at) { return !is_pair(at); },
     [](const Case& at) {
       return fmt::format(
           "mma.m={} with scales={}: which block of a pair holds which scales of B, no source says plainly, so that "
           "pairs wait for a probe on a GPU; use mma.m=128",
           at.config.gemm.mma.m, text_of(at.config.scales));
     }},

    {"tcgen05-scales", "a stage of numbers with scales is one box of 128 bytes, of one region that is walked by im2col",
     [](const Case& at) { return tcgen05_layout::has_scales(at.config); },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.swizzle_a == 128 && gemm.tile.k == 128 && gemm.loader_a == Loader::kTmaIm2col &&
              gemm.groups_per_tile == 1 && !gemm.aligned_copy && gemm.specialization == Specialization::kDefault &&
              tma_layout::regions(at.config) == 1;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "scales={} with swizzle_a={} tile.k={} loader_a={} groups_per_tile={} aligned_copy={} specialization={} "
           "staging={}: use 128, 128 (bytes), tma_im2col, 1, false, default, and tma_store or direct, which have one "
           "region",
           text_of(at.config.scales), gemm.swizzle_a, gemm.tile.k, text_of(gemm.loader_a), gemm.groups_per_tile,
           gemm.aligned_copy, text_of(gemm.specialization), text_of(gemm.staging));
     }},

    {"tcgen05-pair", "of a pair each block loads whole rows of the swizzle, and changes no numbers", is_pair,
     [](const Case& at) {
       const bool across = tma_layout::b_is_mn_major(at.config);
       return at.config.gemm.tile.n % (across ? 128 : 32) == 0 && !tma_layout::changes_tiles(at.config);
     },
     [](const Case& at) {
       return fmt::format(
           "mma.m=256 with tile.n={} of {}: half of the columns are whole blocks of {}; fp32 and turned tf32 have "
           "one block",
           at.config.gemm.tile.n, text_of(operand_b(at.config)), tma_layout::b_is_mn_major(at.config) ? 64 : 16);
     }},

    {"tcgen05-across", "columns that are read across k are whole blocks of 64",
     [](const Case& at) { return tma_layout::b_is_mn_major(at.config) && !is_weight(at); },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const int wide = tcgen05_layout::columns(at.config);
       return (wide % 64 == 0 || wide < 64) && (!gemm.multicast_b || wide / 64 % gemm.cluster_m == 0);
     },
     [](const Case& at) {
       return fmt::format(
           "tile.n={} cluster_m={}: backward data of 16-bit types takes whole blocks of 64 columns, and as many for "
           "every tile that shares them",
           at.config.gemm.tile.n, at.config.gemm.cluster_m);
     }},

    {"tcgen05-split", "parts of sums go to the workspace as fp32, or to the cluster's blocks",
     [](const Case& at) { return at.config.gemm.split_k != SplitK::kNone; },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       if (gemm.staging != Staging::kDirect) return false;
       if (gemm.split_k == SplitK::kWorkspace) return gemm.groups_per_tile == 1 || is_weight(at);
       return gemm.split_k == SplitK::kCluster && gemm.groups_per_tile == 1 && gemm.persistent && !is_pair(at) &&
              tma_layout::sharing_blocks(at.config) == 1 && (gemm.tile.n < 64 || gemm.tile.n % 64 == 0) &&
              at.config.min_blocks == 1;
     },
     [](const Case& at) {
       return fmt::format(
           "split_k={} staging={} groups_per_tile={} persistent={} tile={}x{}: workspace with direct and 1, or cluster "
           "with direct, 1, true and 128 rows by up to 64 columns or whole 64",
           text_of(at.config.gemm.split_k), text_of(at.config.gemm.staging), at.config.gemm.groups_per_tile,
           at.config.gemm.persistent, at.config.gemm.tile.m, at.config.gemm.tile.n);
     }},
};

constexpr Constraint kTargetRows[] = {
    {"tcgen05-weight", "weight gradients have 128 bytes of pixels a stage, are walked in turns and stored directly",
     is_weight,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const auto bytes = size_of(operand_a(at.config));
       const bool plain = gemm.loader_b != Loader::kTmaTiled ||
                          (gemm.specialization == Specialization::kFilter1x1Stride1Pad0 && gemm.groups_per_tile == 1);
       return size_of(operand_b(at.config)) == bytes && gemm.tile.k * bytes == 128 && gemm.persistent &&
              gemm.staging == Staging::kDirect && gemm.swizzle_a == 128 && tma_layout::sharing_blocks(at.config) == 1 &&
              gemm.tile.n % 64 == 0 &&
              gemm.tile.n % (tma_layout::box_k(at.config) * tcgen05_layout::blocks(at.config)) == 0 && plain &&
              (gemm.groups_per_tile == 1 || gemm.split_k == SplitK::kWorkspace);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "types {} and {} tile={}x{}x{} persistent={} staging={} loader_b={} groups_per_tile={}: weight gradients "
           "take types of one size, 128 bytes of pixels a stage, blocks of 64 columns and of 128 bytes of channels, "
           "true, direct, plain boxes of unit filters alone, and merged groups in parts",
           text_of(operand_a(at.config)), text_of(operand_b(at.config)), gemm.tile.m, gemm.tile.n, gemm.tile.k,
           gemm.persistent, text_of(gemm.staging), text_of(gemm.loader_b), gemm.groups_per_tile);
     }},

    {"tcgen05-sharing", "two tiles of a cluster share one operand",
     [](const Case& at) { return tma_layout::sharing_blocks(at.config) != 1; },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const bool b = gemm.cluster_m == 2 && gemm.cluster_n == 1 && gemm.multicast_b && !gemm.multicast_a;
       const bool a = gemm.cluster_m == 1 && gemm.cluster_n == 2 && gemm.multicast_a && !gemm.multicast_b;
       return (a || b) && at.config.min_blocks == 1 && tma_layout::b_box_rows(at.config) % 8 == 0 &&
              !tma_layout::three_products(at.config);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "clusters of {}x{} tiles with multicast_a={} multicast_b={} tile.n={}: 2x1 with multicast_b or 1x2 with "
           "multicast_a, shares of whole 8 columns, not of fp32",
           gemm.cluster_m, gemm.cluster_n, gemm.multicast_a, gemm.multicast_b, gemm.tile.n);
     }},

    {"tcgen05-patch",
     "patches are walked by im2col; backward data stores their runs by vectors and has a plain epilogue",
     [](const Case& at) { return tma_layout::sees_patches(at.config); },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const EpilogueConfig& steps = at.config.epilogue;
       const Loader loader = is_weight(at) ? gemm.loader_b : gemm.loader_a;
       if (at.config.dims > 2 || gemm.groups_per_tile != 1 || loader != Loader::kTmaIm2col) return false;
       return !tma_layout::stores_patches(at.config) ||
              (gemm.staging == Staging::kShared && !steps.scale && !steps.bias && !steps.placed());
     },
     [](const Case& at) {
       return fmt::format(
           "specialization=patch with dims={} loader_a={} staging={}: one or two dimensions, tma_im2col, in bwd_data "
           "staging=shared without scale, bias or residual",
           at.config.dims, text_of(at.config.gemm.loader_a), text_of(at.config.gemm.staging));
     }},
};

constexpr Constraint kProblemRows[] = {
    {"tcgen05-patch-run", "a vector lies inside one run of a patch",
     [](const Case& at) { return tma_layout::stores_patches(at.config); },
     [](const Case& at) { return patch_runs(*at.asked).length % at.config.gemm.vector_c == 0; },
     [](const Case& at) {
       return fmt::format("runs of {} numbers are no multiple of vector_c={}; use a narrower vector",
                          patch_runs(*at.asked).length, at.config.gemm.vector_c);
     }},

    {"tcgen05-narrow-box", "a narrower box serves channels that do not fill the wider one",
     [](const Case& at) { return at.config.gemm.swizzle_a < 128 && !is_weight(at); },
     [](const Case& at) { return depth(at) % (2 * tma_layout::box_k(at.config)) != 0; },
     [](const Case& at) {
       return fmt::format("{} channels fill boxes of {}, so that swizzle_a={} does the same work in more copies",
                          depth(at), 2 * tma_layout::box_k(at.config), at.config.gemm.swizzle_a);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows = joined({staging(), kTileRows, kTargetRows});
  return rows;
}
std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = joined({channels(), bulk_stores(), kProblemRows});
  return rows;
}

}  // namespace wt::tcgen05_kind

std::span<const wt::Constraint> wt::tcgen05_rows::tiles() { return wt::tcgen05_kind::kTileRows; }
