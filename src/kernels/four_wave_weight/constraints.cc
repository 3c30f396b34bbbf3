// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave_weight/constraints.cc - the rows of the four-wave weight gradient.
#include <algorithm>

#include "base/integers.h"
#include "config/enum_names.h"
#include "kernels/four_wave_weight/device/layout.h"
#include "kernels/four_wave_weight/kind.h"
#include "kernels/shared/constraint_rows.h"
#include "problem/measures.h"

namespace wt::four_wave_weight_kind {
namespace {

constexpr int64_t kWindowBytes = (int64_t{1} << 31) - 4096;  // that offsets in a buffer descriptor reach
constexpr int64_t kGridThreads = (int64_t{1} << 32) - 1;     // a dispatch packet counts threads in 32 bits
constexpr int64_t kFar = int64_t{1} << 29;                   // positions and their sums stay far from overflow

int64_t most_bytes(const Case& at) {
  return std::max(at.problem->x_elements(), at.problem->y_elements()) * size_of(at.problem->x);
}
// Most blocks that a launch can have: each k-block of each tile.
int64_t most_blocks(const Case& at) {
  const FourWaveParts parts = four_wave_parts(at.config, *at.view, 0);
  return parts.tiles * parts.splits;
}
int64_t farthest(const ConvProblem& p) {
  int64_t far = 0;
  for (size_t i = 0; i < kMaxDims; ++i)
    far = std::max(far, p.out()[i] * p.stride[i] + p.pad_lower[i] + p.filter[i] * p.dilation[i]);
  return far;
}

constexpr Constraint kTargetRows[] = {
    {"four-wave-weight-types", "the four-wave weight gradient multiplies two bf16 or two fp16", nullptr,
     [](const Case& at) { return at.config.x == at.config.y && is_16_bit(at.config.x); },
     [](const Case& at) {
       return fmt::format("x={} y={}: kind four_wave_weight multiplies two bf16 or two fp16; use compv4 or basic_v1",
                          text_of(at.config.x), text_of(at.config.y));
     }},

    {"four-wave-weight-tile", "the tile is four waves of four quadrants of square matrix instructions", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const int edge = gemm.mma.m, span = four_wave_layout::span(at.config);
       return gemm.warps == Extent3{2, 2, 1} && gemm.stages == 2 && edge > 0 && gemm.mma.n == edge &&
              (gemm.tile.m == 64 || gemm.tile.m == 128) && (gemm.tile.n == 64 || gemm.tile.n == 128) &&
              gemm.tile.m % (4 * edge) == 0 && gemm.tile.n % (4 * edge) == 0 && (span == 64 || span == 128) &&
              span % four_wave_layout::step_bytes(at.config) == 0;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "tile={}x{}x{} warps={}x{} mma={}x{} stages={}: kind four_wave_weight has 2x2 warps, 2 stages, tiles of 64 "
           "or 128 with four square matrix instructions or a multiple along each, and tile.k of 32 or 64",
           gemm.tile.m, gemm.tile.n, gemm.tile.k, gemm.warps.m, gemm.warps.n, gemm.mma.m, gemm.mma.n, gemm.stages);
     }},

    {"four-wave-weight-loader", "each thread loads one vector of four pixels of either operand", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.loader_a == Loader::kBufferRows && gemm.loader_b == Loader::kBufferLane &&
              gemm.vector_a == four_wave_weight_layout::channels(at.config, gemm.tile.m) &&
              gemm.vector_b == four_wave_weight_layout::channels(at.config, gemm.tile.n);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "loader_a={} loader_b={} vector_a={} vector_b={}: kind four_wave_weight loads dy by buffer_rows and x by "
           "buffer_lane, in vectors of {} and {} for its tile",
           text_of(gemm.loader_a), text_of(gemm.loader_b), gemm.vector_a, gemm.vector_b,
           four_wave_weight_layout::channels(at.config, gemm.tile.m),
           four_wave_weight_layout::channels(at.config, gemm.tile.n));
     }},

    {"four-wave-weight-split", "the sum is whole or divided through the workspace", nullptr,
     [](const Case& at) {
       return at.config.gemm.split_k == SplitK::kNone || at.config.gemm.split_k == SplitK::kWorkspace;
     },
     [](const Case& at) {
       return fmt::format("split_k={}: kind four_wave_weight has none and workspace; use compv4",
                          text_of(at.config.gemm.split_k));
     }},
};

constexpr Constraint kProblemRows[] = {
    {"four-wave-weight-window", "both tensors fit the range of a buffer descriptor", nullptr,
     [](const Case& at) { return most_bytes(at) < kWindowBytes && farthest(*at.problem) < kFar; },
     [](const Case& at) {
       return fmt::format(
           "{} bytes of x or dy, or positions up to {}: a buffer descriptor reaches {} bytes; use compv4 or basic_v1",
           most_bytes(at), farthest(*at.problem), kWindowBytes);
     }},

    {"four-wave-weight-grid", "tiles are counted in 32 bits, a block a tile", nullptr,
     [](const Case& at) { return most_blocks(at) <= kGridThreads / four_wave_layout::kThreads; },
     [](const Case& at) {
       return fmt::format("{} tiles and parts: at most {} fit; use basic_v1", most_blocks(at),
                          kGridThreads / four_wave_layout::kThreads);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() { return kTargetRows; }
std::span<const Constraint> problem_rows() { return kProblemRows; }

}  // namespace wt::four_wave_weight_kind
