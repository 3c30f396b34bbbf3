// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/constraints.cc - the rows of the four-wave kernels of CDNA .
#include <algorithm>

#include "base/integers.h"
#include "config/enum_names.h"
#include "kernels/four_wave/device/layout.h"
#include "kernels/four_wave/kind.h"
#include "kernels/four_wave/view.h"
#include "kernels/shared/constraint_rows.h"
#include "problem/measures.h"

namespace wt::four_wave_kind {
namespace {

bool loads(const Case& at, Loader loader) { return at.config.gemm.loader_a == loader; }

bool multiplies(DataType type) { return size_of(type) == 2 || type == DataType::kE4m3; }

// Offsets in a buffer descriptor's window stay below this; the rest is for the alignment of its base.
constexpr int64_t kWindowBytes = (int64_t{1} << 31) - 4096;
constexpr int64_t kGridThreads = (int64_t{1} << 32) - 1;  // a dispatch packet counts threads in 32 bits
constexpr int64_t kFar = int64_t{1} << 29;                // positions and their sums stay far from overflow

const FourWaveView& seen(const Case& at) { return FourWaveView::of(*at.view); }
int64_t element_bytes(const Case& at) { return size_of(operand_a(at.config)); }
int64_t pixel_bytes(const Case& at) { return seen(at).channels * seen(at).g * element_bytes(at); }
int64_t filter_bytes(const Case& at) { return seen(at).taps * seen(at).channels * element_bytes(at); }
int64_t output_pixels(const Case& at) { return seen(at).n * pixels(seen(at).out); }

// How far apart the rows of the image that a tile reads can lie.
int64_t window_bytes(const Case& at) {
  const FourWaveView& view = seen(at);
  const int64_t rows = at.config.gemm.tile.m;
  if (at.config.gemm.loader_a == Loader::kBufferRows) return rows * pixel_bytes(at);
  int64_t least = pixels(view.out);  // pixels of an image in a phase
  for (const FourWavePart& part : view.parts) least = std::min(least, part.pixels_of_image());
  return pixels(view.in) * pixel_bytes(at) * std::min(view.n, least > 0 ? 2 + (rows - 1) / least : 1);
}
int64_t farthest(const ConvProblem& p) {
  int64_t far = 0;
  for (size_t i = 0; i < kMaxDims; ++i)
    far = std::max(far, p.in[i] + p.pad_lower[i] + p.pad_upper[i] + p.filter[i] * p.dilation[i]);
  return far;
}

constexpr Constraint kTargetRows[] = {
    {"four-wave-types", "pipeline four_wave multiplies bf16, fp16 or e4m3 by its own type", nullptr,
     [](const Case& at) { return operand_a(at.config) == operand_b(at.config) && multiplies(operand_a(at.config)); },
     [](const Case& at) {
       return fmt::format(
           "{}={} w={}: pipeline four_wave multiplies two bf16, two fp16 or two e4m3 (e5m2 has infinities, which the "
           "FNUZ "
           "numbers of gfx942 lack); use basic_v1, which widens fp8 to fp16",
           at.config.direction == Direction::kForward ? "x" : "y", text_of(operand_a(at.config)), text_of(at.config.w));
     }},

    {"four-wave-tile", "the tile is four waves of four quadrants of square matrix instructions", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const int edge = gemm.mma.m, span = four_wave_layout::span(at.config);
       return gemm.warps == Extent3{2, 2, 1} && gemm.stages == 2 && edge > 0 && gemm.mma.n == edge &&
              gemm.tile.m % (4 * edge) == 0 && gemm.tile.n % (4 * edge) == 0 && (span == 64 || span == 128) &&
              span % four_wave_layout::step_bytes(at.config) == 0 && gemm.mma.k * element_bytes(at) <= span &&
              four_wave_layout::a_bytes(at.config) % 4096 == 0 && four_wave_layout::b_bytes(at.config) % 4096 == 0;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "tile={}x{}x{} warps={}x{} mma={}x{} stages={}: pipeline four_wave has 2x2 warps, 2 stages, square matrix "
           "instructions, four of them or a multiple along tile.m and tile.n, and tile.k of 64 or 128 bytes",
           gemm.tile.m, gemm.tile.n, gemm.tile.k, gemm.warps.m, gemm.warps.n, gemm.mma.m, gemm.mma.n, gemm.stages);
     }},

    {"four-wave-loader", "both operands come through buffer descriptors, in vectors of one width", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const bool whole = gemm.vector_a * element_bytes(at) == four_wave_layout::kChunkBytes;
       return is_buffer(gemm.loader_a) && gemm.loader_b == Loader::kBufferRows && gemm.vector_a == gemm.vector_b &&
              (whole || gemm.loader_a != Loader::kBufferUniform);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "loader_a={} loader_b={} vector_a={} vector_b={}: pipeline four_wave loads A by buffer_rows, buffer_uniform "
           "(vectors of 16 bytes) or buffer_lane, B by buffer_rows, and both by equal vectors",
           text_of(gemm.loader_a), text_of(gemm.loader_b), gemm.vector_a, gemm.vector_b);
     }},

    {"four-wave-copy", "operands are copied before where the copy is of other numbers",
     [](const Case& at) { return at.config.gemm.aligned_copy; },
     [](const Case& at) { return four_wave_layout::multiplies_fnuz(at.config); },
     [](const Case& at) {
       return fmt::format(
           "aligned_copy={} with {} on {}: pipeline four_wave copies e4m3 as FNUZ numbers on gfx942 alone; "
           "use aligned_copy=false",
           at.config.gemm.aligned_copy, text_of(operand_a(at.config)), at.target.name);
     }},
};

constexpr Constraint kProblemRows[] = {
    {"four-wave-matrix", "pixels are rows of a matrix under a filter of one tap, stride 1, without padding",
     [](const Case& at) { return loads(at, Loader::kBufferRows); },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return p.filter_taps() == 1 && p.in == p.out() && p.stride == Spatial{1, 1, 1} &&
              p.pad_lower == Spatial{0, 0, 0};
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "a filter of {} taps with stride {}x{}x{} and padding {}x{}x{} is no plain matrix product; use "
           "buffer_uniform "
           "or buffer_lane",
           p.filter_taps(), p.stride[0], p.stride[1], p.stride[2], p.pad_lower[0], p.pad_lower[1], p.pad_lower[2]);
     }},

    {"four-wave-uniform", "a k-block lies inside one tap",
     [](const Case& at) { return loads(at, Loader::kBufferUniform); },
     [](const Case& at) { return seen(at).channels % at.config.gemm.tile.k == 0; },
     [](const Case& at) {
       return fmt::format("{} channels per group are no multiple of tile.k={}; use buffer_lane, or a smaller tile.k",
                          seen(at).channels, at.config.gemm.tile.k);
     }},

    {"four-wave-phases", "residues of the strides are counted in the parameter block",
     [](const Case& at) { return at.config.direction == Direction::kBackwardData; },
     [](const Case& at) { return stride_phase_count(*at.problem) <= FourWaveView::kMostParts; },
     [](const Case& at) {
       return fmt::format("stride={} makes {} phases of backward data: pipeline four_wave has room for {}; use compv4",
                          text(*at.problem, at.problem->stride), stride_phase_count(*at.problem),
                          FourWaveView::kMostParts);
     }},

    {"four-wave-window", "what a tile reads fits the range of a buffer descriptor", nullptr,
     [](const Case& at) {
       return window_bytes(at) < kWindowBytes && filter_bytes(at) * at.config.gemm.tile.n < kWindowBytes &&
              farthest(*at.problem) < kFar;
     },
     [](const Case& at) {
       return fmt::format(
           "a tile of {}x{} can touch {} bytes of {} and {} of w, or positions up to {}: a buffer descriptor reaches "
           "{} "
           "bytes; use basic_v1",
           at.config.gemm.tile.m, at.config.gemm.tile.n, window_bytes(at),
           at.config.direction == Direction::kForward ? "x" : "dy", filter_bytes(at) * at.config.gemm.tile.n,
           farthest(*at.problem), kWindowBytes);
     }},

    {"four-wave-grid", "tiles are counted in 32 bits, a block a tile", nullptr,
     [](const Case& at) {
       return std::max(output_pixels(at), seen(at).n * pixels(seen(at).in)) < (int64_t{1} << 31) - 512 &&
              seen(at).tiles(at.config) <= kGridThreads / four_wave_layout::kThreads;
     },
     [](const Case& at) {
       return fmt::format("{} output pixels and {} tiles: at most 2^31 - 513 pixels and {} tiles fit; use basic_v1",
                          output_pixels(at), seen(at).tiles(at.config), kGridThreads / four_wave_layout::kThreads);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() { return kTargetRows; }
std::span<const Constraint> problem_rows() { return kProblemRows; }

}  // namespace wt::four_wave_kind
