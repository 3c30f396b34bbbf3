// SPDX-License-Identifier: Apache-2.0
// kernels/shared/feature_constraints.cc - the rows that ask whether a config's features exist and go together on its
// target.
#include <algorithm>

#include "config/enum_names.h"
#include "config/pipelines.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/portable/device/layout.h"
#include "kernels/shared/constraint_rows.h"
#include "kernels/tma/device/layout.h"
#include "kernels/tma_weight_few/device/layout.h"

namespace wt {

namespace {

bool is_gemm(const Case& at) { return at.config.family() == Family::kGemm; }
bool has_loader(const Case& at, bool (*test)(Loader)) {
  return is_gemm(at) && (test(at.config.gemm.loader_a) || test(at.config.gemm.loader_b));
}
bool has_tma(const Case& at) { return has_loader(at, is_tma); }
bool has_stream_k(const Case& at) { return is_gemm(at) && at.config.gemm.stream_k != StreamK::kOff; }
bool is_weight(const Case& at) { return at.config.direction == Direction::kBackwardWeight; }

const PipelineInfo& pipeline(const Case& at) { return info_of(at.config.gemm.pipeline); }
std::string_view pipeline_name(const Case& at) { return text_of(at.config.gemm.pipeline); }

std::string_view true_false(bool value) { return value ? "true" : "false"; }

bool is_vector(int width) { return width == 1 || width == 2 || width == 4 || width == 8 || width == 16; }
bool is_swizzle(int bytes) { return bytes == 0 || bytes == 32 || bytes == 64 || bytes == 128; }

int bytes_a(const Case& at) { return size_of(operand_a(at.config)); }
int bytes_b(const Case& at) { return size_of(operand_b(at.config)); }
int bytes_c(const Case& at) { return size_of(output_type(at.config)); }

// A TMA box is as wide as its swizzle, or as tile.k where there is none; dense along channels.
int row_bytes(const Case& at, bool a) { return at.config.gemm.tile.k * (a ? bytes_a(at) : bytes_b(at)); }
bool fills(int row, int swizzle) { return swizzle == 0 || row % swizzle == 0; }

constexpr int kMaxVectorBytes = 16;
constexpr int kMaxBox = 256;
constexpr int kMaxPixels = 1024;

// Kernels whose results leave through shared memory, in bulk or as vectors, after the epilogue.
bool stages_results(const Case& at) {
  if (!is_gemm(at))
    return at.config.direction != Direction::kBackwardWeight &&
           (at.config.kind == Kind::kDepthwiseBanded || at.config.kind == Kind::kDepthwiseStrips ||
            at.config.kind == Kind::kGroups || at.config.kind == Kind::kStacked);
  return at.config.kind != Kind::kPortable && at.config.gemm.staging != Staging::kDirect;
}

// Kinds that sum int8 in int32, and forward alone.
bool multiplies_int8(const KernelConfig& config) {
  const Kind kind = config.kind;
  return config.direction == Direction::kForward &&
         (kind == Kind::kBasic || kind == Kind::kPortable || kind == Kind::kDepthwiseGather);
}

constexpr Constraint kRows[] = {
    {"int8", "int8 is multiplied forward, by kinds basic, portable and depthwise_gather",
     [](const Case& at) {
       return at.config.x == DataType::kI8 || at.config.w == DataType::kI8 || at.config.y == DataType::kI8;
     },
     [](const Case& at) { return multiplies_int8(at.config); },
     [](const Case& at) {
       return fmt::format(
           "kind={} with direction={} does not multiply int8; use basic, portable or depthwise_gather, forward",
           text_of(at.config.kind), text_of(at.config.direction));
     }},

    {"user-store", "a user's store needs a kernel that writes each element by itself",
     [](const Case& at) { return at.config.epilogue.store; }, [](const Case& at) { return !stages_results(at); },
     [](const Case& at) {
       return is_gemm(at) ? fmt::format(
                                "staging={} writes whole rows from shared memory, which leaves a user's store "
                                "nothing to write; use staging=direct",
                                text_of(at.config.gemm.staging))
                          : fmt::format(
                                "kind={} writes whole rows from shared memory, which leaves a user's "
                                "store nothing to write; use depthwise_gather or depthwise_stream",
                                text_of(at.config.kind));
     }},

    {"stages-range", "stages are those the pipeline is defined for", is_gemm,
     [](const Case& at) {
       return at.config.gemm.stages >= pipeline(at).min_stages && at.config.gemm.stages <= pipeline(at).max_stages;
     },
     [](const Case& at) {
       return fmt::format("stages={} is outside {}..{} of pipeline {}", at.config.gemm.stages, pipeline(at).min_stages,
                          pipeline(at).max_stages, pipeline_name(at));
     }},

    {"double-buffer", "a pipeline that is double-buffered by definition says so, and no other but those with a choice",
     is_gemm,
     [](const Case& at) {
       if (at.config.gemm.pipeline == Pipeline::kTcgen05) return true;  // there it is one accumulator or two
       if (portable_layout::has_chosen_buffers(at.config.gemm.pipeline)) return true;
       return at.config.gemm.double_buffer == pipeline(at).double_buffer;
     },
     [](const Case& at) {
       if (pipeline(at).double_buffer)
         return fmt::format("pipeline {} has two shared buffers by definition; set double_buffer=true",
                            pipeline_name(at));
       return fmt::format(
           "double_buffer=true, but pipeline {} has as many shared buffers as its loop needs; use basic_v2, mem or "
           "compv3, which may have two, or leave it false",
           pipeline_name(at));
     }},

    {"wave-groups", "wave groups are those the pipeline is defined for", is_gemm,
     [](const Case& at) {
       const int groups = at.config.gemm.wave_groups;
       return groups == 1 ? pipeline(at).pipeline != Pipeline::kCompV5 : groups == pipeline(at).wave_groups;
     },
     [](const Case& at) {
       return fmt::format("wave_groups={} is not what pipeline {} has, which is {}", at.config.gemm.wave_groups,
                          pipeline_name(at), pipeline(at).wave_groups);
     }},

    {"scheduler", "interwave is defined for this pipeline", is_gemm,
     [](const Case& at) { return at.config.gemm.scheduler == Scheduler::kIntrawave || pipeline(at).interwave; },
     [](const Case& at) {
       return fmt::format("scheduler=interwave is not defined for pipeline {}; use intrawave, or mem or compv3",
                          pipeline_name(at));
     }},

    {"load-warps", "warps that only load belong to the pipelines with roles", is_gemm,
     [](const Case& at) { return (at.config.gemm.load_warps > 0) == pipeline(at).load_warps; },
     [](const Case& at) {
       if (pipeline(at).load_warps)
         return fmt::format("load_warps=0: pipeline {} splits roles; give it 4 (tma, wavelet) or 1 (taps, rows)",
                            pipeline_name(at));
       return fmt::format("load_warps={}: every warp of pipeline {} loads and multiplies; use wavelet or tma, or 0",
                          at.config.gemm.load_warps, pipeline_name(at));
     }},

    {"async-copy", "the target copies to shared memory without registers",
     [](const Case& at) {
       return is_gemm(at) && (pipeline(at).async_copy || has_loader(at, [](Loader l) { return l == Loader::kAsync; }));
     },
     [](const Case& at) { return at.target.async_copy; },
     [](const Case& at) {
       return fmt::format(
           "pipeline {} with loaders {} and {} needs asynchronous copies, which {} has not; use compv3 or "
           "compv4 with vector loaders",
           pipeline_name(at), text_of(at.config.gemm.loader_a), text_of(at.config.gemm.loader_b), at.target.name);
     }},

    {"tma-target", "the target has bulk tensor copies",
     [](const Case& at) {
       return has_tma(at) || (is_gemm(at) && pipeline(at).bulk_tensor_copy) ||
              (is_gemm(at) && at.config.gemm.staging == Staging::kTmaStore);
     },
     [](const Case& at) { return at.target.bulk_tensor_copy; },
     [](const Case& at) {
       return fmt::format(
           "{} has no bulk tensor copies, which pipeline={} staging={} needs; they are on sm_90a and later"
           " targets",
           at.target.name, pipeline_name(at), text_of(at.config.gemm.staging));
     }},

    {"tma-loader", "TMA loaders go with pipelines tma and taps, and they with them", is_gemm,
     [](const Case& at) { return has_tma(at) == pipeline(at).bulk_tensor_copy; },
     [](const Case& at) {
       return fmt::format("loaders {} and {} with pipeline {}; tma loaders and pipelines tma and taps go together",
                          text_of(at.config.gemm.loader_a), text_of(at.config.gemm.loader_b), pipeline_name(at));
     }},

    {"tma-box", "a TMA box has at most 256 elements per side, an im2col column at most 1024 pixels", has_tma,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const int rows_a = gemm.loader_a == Loader::kTmaIm2col ? kMaxPixels : kMaxBox;
       const int rows_b = gemm.loader_b == Loader::kTmaIm2col ? kMaxPixels : kMaxBox;
       return gemm.tile.k <= kMaxBox && (!is_tma(gemm.loader_a) || gemm.tile.m <= rows_a) &&
              (!is_tma(gemm.loader_b) || gemm.loader_b == Loader::kTmaHalo || gemm.tile.n <= rows_b);
     },
     [](const Case& at) {
       const Extent3& tile = at.config.gemm.tile;
       return fmt::format(
           "tile={}x{}x{}: a TMA box has at most {} elements per side and an im2col column at most {} "
           "pixels; use a smaller tile",
           tile.m, tile.n, tile.k, kMaxBox, kMaxPixels);
     }},

    {"swizzle-value", "a swizzle is 0, 32, 64 or 128 bytes", is_gemm,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return is_swizzle(gemm.swizzle_a) && is_swizzle(gemm.swizzle_b);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format("swizzle_a={} swizzle_b={} must each be 0, 32, 64 or 128 bytes", gemm.swizzle_a,
                          gemm.swizzle_b);
     }},

    {"swizzle-row", "a row of the tile is a multiple of its swizzle",
     // A patch with its halo has rows of its own, and may multiply half of them; so have pixels under the taps.
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return is_gemm(at) && gemm.loader_a != Loader::kTmaHalo && gemm.loader_b != Loader::kTmaHalo &&
              at.config.kind != Kind::kTmaWeightFew && at.config.kind != Kind::kTaps;
     },
     [](const Case& at) {
       return fills(row_bytes(at, true), at.config.gemm.swizzle_a) &&
              fills(row_bytes(at, false), at.config.gemm.swizzle_b);
     },
     [](const Case& at) {
       return fmt::format(
           "tile.k={} makes rows of {} and {} bytes, which swizzles of {} and {} bytes do not divide; "
           "enlarge tile.k or narrow the swizzle",
           at.config.gemm.tile.k, row_bytes(at, true), row_bytes(at, false), at.config.gemm.swizzle_a,
           at.config.gemm.swizzle_b);
     }},

    {"vector-width", "a vector has 1, 2, 4, 8 or 16 elements and at most 16 bytes", is_gemm,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return is_vector(gemm.vector_a) && is_vector(gemm.vector_b) && is_vector(gemm.vector_c) &&
              gemm.vector_a * bytes_a(at) <= kMaxVectorBytes && gemm.vector_b * bytes_b(at) <= kMaxVectorBytes &&
              gemm.vector_c * bytes_c(at) <= kMaxVectorBytes;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "vector_a={} vector_b={} vector_c={} of {}, {} and {} bytes per element: a vector has 1, 2, 4, 8 "
           "or 16 elements and at most {} bytes",
           gemm.vector_a, gemm.vector_b, gemm.vector_c, bytes_a(at), bytes_b(at), bytes_c(at), kMaxVectorBytes);
     }},

    {"vector-loader", "wide accesses need a loader of vectors", is_gemm,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return (gemm.vector_a == 1 || is_wide(gemm.loader_a)) && (gemm.vector_b == 1 || is_wide(gemm.loader_b));
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "vector_a={} with loader {} and vector_b={} with loader {}: only vector, async and the buffer "
           "loaders load more than one element",
           gemm.vector_a, text_of(gemm.loader_a), gemm.vector_b, text_of(gemm.loader_b));
     }},

    {"layout-loader", "vectors of channels and TMA need channels-last tensors",
     [](const Case& at) { return has_tma(at) || has_loader(at, is_wide); },
     [](const Case& at) { return at.config.layout == Layout::kChannelsLast; },
     [](const Case& at) {
       return fmt::format(
           "loaders {} and {} read consecutive channels, which channels-first tensors do not have; use "
           "loader gather or a channels-last layout",
           text_of(at.config.gemm.loader_a), text_of(at.config.gemm.loader_b));
     }},

    {"cluster-size", "clusters have at least one block, and more only where the target has them", is_gemm,
     [](const Case& at) {
       const int blocks = at.config.gemm.cluster_m * at.config.gemm.cluster_n;
       return blocks >= 1 && blocks <= at.target.max_cluster;
     },
     [](const Case& at) {
       return fmt::format("cluster of {}x{} blocks; {} allows 1 to {}", at.config.gemm.cluster_m,
                          at.config.gemm.cluster_n, at.target.name, at.target.max_cluster);
     }},

    {"multicast", "a multicast operand is shared by the blocks of a cluster", is_gemm,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return (!gemm.multicast_a || (gemm.cluster_n > 1 && is_tma(gemm.loader_a))) &&
              (!gemm.multicast_b || (gemm.cluster_m > 1 && is_tma(gemm.loader_b)));
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "multicast_a={} with cluster_n={}, multicast_b={} with cluster_m={}: A is shared along n and B "
           "along m, through tma loaders",
           true_false(gemm.multicast_a), gemm.cluster_n, true_false(gemm.multicast_b), gemm.cluster_m);
     }},

    {"ping-pong", "a tile for each consumer group needs pipeline tma with two groups",
     [](const Case& at) { return is_gemm(at) && at.config.gemm.ping_pong; },
     [](const Case& at) {
       return at.config.gemm.pipeline == Pipeline::kTma && at.config.gemm.wave_groups == 2 && at.config.gemm.persistent;
     },
     [](const Case& at) {
       return fmt::format("ping_pong with pipeline={} wave_groups={} persistent={}; it needs tma, 2 and true",
                          pipeline_name(at), at.config.gemm.wave_groups, true_false(at.config.gemm.persistent));
     }},

    {"persistent", "blocks that take several tiles exist in this pipeline",
     [](const Case& at) { return is_gemm(at) && at.config.gemm.persistent; },
     [](const Case& at) { return pipeline(at).persistent; },
     [](const Case& at) {
       return fmt::format("persistent=true is not defined for pipeline {}; use kinds tma, wavelet or rows",
                          pipeline_name(at));
     }},

    {"raster", "block_swizzle is at least 1", is_gemm, [](const Case& at) { return at.config.gemm.block_swizzle >= 1; },
     [](const Case& at) {
       return fmt::format("block_swizzle={} must be at least 1, which means none", at.config.gemm.block_swizzle);
     }},

    {"stream-k", "stream-K is defined for backward weight and for pipeline tma", has_stream_k,
     [](const Case& at) { return is_weight(at) || at.config.gemm.pipeline == Pipeline::kTma; },
     [](const Case& at) {
       return fmt::format(
           "stream_k={} with direction={} and pipeline={}: it is defined for bwd_weight, or with pipeline "
           "tma",
           text_of(at.config.gemm.stream_k), text_of(at.config.direction), pipeline_name(at));
     }},

    {"stream-k-split", "stream-K divides k itself, through its workspace", has_stream_k,
     [](const Case& at) { return at.config.gemm.split_k == SplitK::kNone; },
     [](const Case& at) {
       return fmt::format("stream_k={} with split_k={}: stream-K divides k itself; use split_k=none",
                          text_of(at.config.gemm.stream_k), text_of(at.config.gemm.split_k));
     }},

    {"stream-k-persistent", "stream_k_persistent needs stream-K", is_gemm,
     [](const Case& at) { return !at.config.gemm.stream_k_persistent || has_stream_k(at); },
     [](const Case&) { return std::string("stream_k_persistent=true with stream_k=off; choose linear or tree"); }},

    {"split-k-cluster", "splitting k over a cluster needs one",
     [](const Case& at) { return is_gemm(at) && at.config.gemm.split_k == SplitK::kCluster; },
     [](const Case& at) { return at.target.max_cluster > 1; },
     [](const Case& at) {
       return fmt::format("split_k=cluster on {}, which has no clusters; use workspace", at.target.name);
     }},

    {"explicit-gemm", "an explicit GEMM is a 1x1 filter with stride 1 and no padding",
     [](const Case& at) { return is_gemm(at) && at.config.gemm.explicit_gemm; },
     [](const Case& at) { return at.config.gemm.specialization == Specialization::kFilter1x1Stride1Pad0; },
     [](const Case& at) {
       return fmt::format("explicit_gemm with specialization={}; set filter1x1_stride1_pad0",
                          text_of(at.config.gemm.specialization));
     }},

    {"groups-finite", "merged groups multiply each other's values by zero",
     [](const Case& at) { return is_gemm(at) && at.config.gemm.groups_per_tile != 1; },
     [](const Case& at) {
       // A weight gradient only drops the products of different groups.
       const bool drops = at.config.direction == Direction::kBackwardWeight;
       return at.config.gemm.groups_per_tile > 1 && (drops || at.config.finite_only);
     },
     [](const Case& at) {
       return fmt::format(
           "groups_per_tile={} with finite_only={}: it must be at least 1, and above 1 a non-finite value "
           "reaches other groups; set finite_only=true",
           at.config.gemm.groups_per_tile, true_false(at.config.finite_only));
     }},
};

}  // namespace

std::span<const Constraint> feature_rows() { return kRows; }

}  // namespace wt
