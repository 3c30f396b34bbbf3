// SPDX-License-Identifier: Apache-2.0
// kernels/shared/problem_constraints.cc - the rows that ask whether a valid config accepts a problem.
#include <algorithm>

#include "base/integers.h"
#include "config/enum_names.h"
#include "config/pipelines.h"
#include "config/signature.h"
#include "kernels/portable/device/layout.h"
#include "kernels/resources.h"
#include "kernels/shared/constraint_rows.h"
#include "kernels/tma/device/arguments.h"
#include "kernels/tma/device/layout.h"
#include "problem/gemm_view.h"
#include "problem/im2col_limits.h"
#include "problem/image_line.h"
#include "problem/patch_view.h"

namespace wt {

std::string text(const ConvProblem& problem, const Spatial& value) {
  std::string out;
  for (int i = kMaxDims - problem.dims; i < kMaxDims; ++i)
    out += fmt::format("{}{}", out.empty() ? "" : "x", value[static_cast<size_t>(i)]);
  return out;
}

namespace {

bool always(const Case&) { return true; }
bool is_gemm(const Case& at) { return at.config.family() == Family::kGemm; }

// The spatial dimensions in use, as indices into Spatial.
template <class Test>
bool each_dim(const ConvProblem& problem, Test test) {
  for (int i = kMaxDims - problem.dims; i < kMaxDims; ++i)
    if (!test(static_cast<size_t>(i))) return false;
  return true;
}

bool filter_is(const ConvProblem& problem, int64_t size) {
  return each_dim(problem, [&](size_t i) { return problem.filter[i] == size; });
}
bool stride_is_one(const ConvProblem& problem) {
  return each_dim(problem, [&](size_t i) { return problem.stride[i] == 1; });
}
bool has_no_padding(const ConvProblem& problem) {
  return each_dim(problem, [&](size_t i) { return problem.pad_lower[i] == 0 && problem.pad_upper[i] == 0; });
}

bool fits_specialization(const ConvProblem& problem, Specialization specialization) {
  switch (specialization) {
    case Specialization::kDefault:
      return true;
    case Specialization::kFilter1x1Stride1Pad0:
      return filter_is(problem, 1) && has_no_padding(problem) && stride_is_one(problem);
    case Specialization::kFilter3x3:
      return problem.filter[1] == 3 && problem.filter[2] == 3;
    case Specialization::kPatch:
      return is_patch(problem);
  }
  return false;
}

// The GEMM that the kernel sees: backward data walks phases, whose m and k are smaller; their largest k counts.
int64_t gemm_k(const ConvProblem& problem) {
  if (problem.direction != Direction::kBackwardData) return gemm_view(problem).k;
  int64_t k = 0;
  for (const StridePhase& phase : stride_phases(problem)) k = std::max(k, phase.gemm.k);
  return k;
}
// Merged groups are summed over together, unless the sum is over pixels.
int64_t summed(const Case& at) {
  const bool weight = at.config.direction == Direction::kBackwardWeight;
  return gemm_k(*at.problem) * (weight ? 1 : at.config.gemm.groups_per_tile);
}
int64_t k_iterations(const Case& at) {
  const int64_t tile = at.config.gemm.tile.k;
  return (summed(at) + tile - 1) / tile;
}

// Consecutive channels that A, B and the output are read or written by, a group's share.
int64_t channels_a(const ConvProblem& p) {
  return p.direction == Direction::kForward ? p.c_per_group() : p.k_per_group();
}
// Four waves read the filter of backward data as it was transposed for them.
int64_t channels_b(const Case& at) {
  return at.config.kind == Kind::kFourWave ? channels_a(*at.problem) : at.problem->c_per_group();
}
int64_t channels_out(const ConvProblem& p) {
  return p.direction == Direction::kForward ? p.k_per_group() : p.c_per_group();
}

struct Operand {
  bool tma;
  bool im2col;
  int64_t channels;  // all groups: the tensor's innermost stride in elements
  int bytes;
};
Operand operand(const Case& at, bool a) {
  const ConvProblem& p = *at.problem;
  const Loader loader = a ? at.config.gemm.loader_a : at.config.gemm.loader_b;
  const DataType type = a ? operand_a(at.config) : operand_b(at.config);
  int64_t channels = p.c;  // of x
  if (a && p.direction != Direction::kForward) channels = p.k;
  if (!a && p.direction != Direction::kBackwardWeight)
    channels = p.c_per_group() * at.config.gemm.groups_per_tile;              // of w: k rows of r s c/g
  if (!a && tma_layout::turns_filter(at.config)) channels = p.k_per_group();  // rows of the turned one
  return {is_tma(loader), loader == Loader::kTmaIm2col, channels, size_of(type)};
}
bool has_tma(const Case& at) { return is_gemm(at) && (operand(at, true).tma || operand(at, false).tma); }
bool has_im2col(const Case& at) { return is_gemm(at) && (operand(at, true).im2col || operand(at, false).im2col); }

constexpr int kTmaStrideBytes = 16;
constexpr int64_t kMaxElementStride = 8;

bool tma_strides_fit(const Case& at) {
  for (const bool a : {true, false}) {
    const Operand o = operand(at, a);
    if (o.tma && o.channels * o.bytes % kTmaStrideBytes != 0) return false;
  }
  return true;
}

// Whether rows of patches leave part of each box of 64 channels empty, and the copy counts its chunks in 31 bits.
bool packing_helps(const ConvProblem& patches) {
  return patch_runs(patches).length % 64 != 0 && patches.x_elements() < int64_t{1} << 33;
}

struct Corner {
  int64_t least, most;  // of the lower corner and of the upper one
  int64_t offset, step;
};
Corner im2col_corner(const Case& at, size_t i) {
  const ConvProblem& p = *at.problem;
  const int64_t reach = (p.filter[i] - 1) * p.dilation[i], last = p.out()[i] - 1;
  if (p.direction != Direction::kBackwardData) {
    const ImageLine line = image_line(p, static_cast<int>(i));
    const int64_t lower = line.start, upper = line.start + last * line.step - (line.count - 1);
    return {std::min(lower, upper), std::max(lower, upper), (p.filter[i] - 1) * line.tap_step, line.step};
  }
  // Every phase of a stride walks over dy from its own corner: bounds of all of them, without asking for each.
  const int64_t stride = p.stride[i], out = p.out()[i], first = p.pad_lower[i] - reach;
  const int64_t low = floor_div(first, stride), high = stride == 1 ? low : floor_div(p.pad_lower[i], stride) + 1;
  const int64_t fewest = p.in[i] / stride - out, longest = ceil_div(p.in[i], stride) - out;
  return {low + std::min<int64_t>(0, fewest), high + std::max<int64_t>(0, longest), reach / stride, 1};
}
bool corners_fit(const Case& at) {
  const Im2colLimits range = im2col_limits(at.problem->dims);
  return each_dim(*at.problem, [&](size_t i) {
    const Corner corner = im2col_corner(at, i);
    return corner.least >= range.low && corner.most <= range.high;
  });
}

constexpr Constraint kRows[] = {
    {"history",
     "what stands before the first pixel is the problem's: a history, or zeros; a new history is written by the "
     "kernel, "
     "or not asked for",
     nullptr,
     [](const Case& at) {
       const bool writes_next = at.config.kind == Kind::kDepthwiseStep;
       return at.config.direct.history == at.problem->history && (writes_next || !at.problem->new_history);
     },
     [](const Case& at) -> std::string {
       if (at.config.direct.history && at.problem->history)
         return "the kernel writes no new history; a plan does so after it, or use kind depthwise_step";
       if (at.config.direct.history) return "the kernel reads a history, which the problem has not; use history=false";
       return "the kernel reads no history; use one with direct.history=true, or let a plan join history and x first";
     }},

    {"signature", "direction, types, layout, dimensions and epilogue are the problem's", always,
     [](const Case& at) { return signature_difference(at.config, *at.problem).empty(); },
     [](const Case& at) {
       return fmt::format("the kernel is for another signature: {}", signature_difference(at.config, *at.problem));
     }},

    {"deterministic", "atomic sums depend on the order of blocks",
     [](const Case& at) { return is_gemm(at) && at.config.gemm.split_k == SplitK::kAtomic; },
     [](const Case& at) { return !at.requests.deterministic; },
     [](const Case&) {
       return std::string(
           "split_k=atomic adds in no fixed order; ask for it with deterministic=false, or use workspace");
     }},

    {"finite-only", "the kernel keeps non-finite values inside their receptive field",
     [](const Case& at) { return at.config.finite_only; }, [](const Case& at) { return !at.requests.strict_nonfinite; },
     [](const Case&) {
       return std::string(
           "finite_only: a non-finite input may reach outputs outside its receptive field, which strict "
           "non-finite behaviour excludes");
     }},

    {"specialization", "the problem is of the special form", is_gemm,
     [](const Case& at) { return fits_specialization(*at.asked, at.config.gemm.specialization); },
     [](const Case& at) {
       const ConvProblem& p = *at.asked;
       return fmt::format("filter={} stride={} dilation={} pad={}/{} is not {}", text(p, p.filter), text(p, p.stride),
                          text(p, p.dilation), text(p, p.pad_lower), text(p, p.pad_upper),
                          text_of(at.config.gemm.specialization));
     }},

    {"vector-channels", "a vector lies inside the channels of one group, or of those merged",
     [](const Case& at) {
       return is_gemm(at) && at.config.kind != Kind::kWavelet && at.config.kind != Kind::kPortable;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       // Copies have whole vectors of A.
       const bool whole_a = tma_layout::copies_rows(at.config) || channels_a(*at.problem) % gemm.vector_a == 0;
       return whole_a && channels_b(at) % gemm.vector_b == 0 &&
              channels_out(*at.problem) * gemm.groups_per_tile % gemm.vector_c == 0;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "{}, {} and {} channels per group for A, B and the output are not multiples of vector_a={}, "
           "vector_b={} and vector_c={}; use narrower vectors, loader gather, or pad the channels",
           channels_a(*at.problem), channels_b(at), channels_out(*at.problem), gemm.vector_a, gemm.vector_b,
           gemm.vector_c);
     }},

    {"k-iterations", "k is long enough for the pipeline to fill",
     [](const Case& at) { return is_gemm(at) && info_of(at.config.gemm.pipeline).min_k_iterations > 1; },
     [](const Case& at) { return k_iterations(at) >= info_of(at.config.gemm.pipeline).min_k_iterations; },
     [](const Case& at) {
       return fmt::format("k={} is {} steps of tile.k={}; pipeline {} needs {}; use a smaller tile.k or basic_v1",
                          summed(at), k_iterations(at), at.config.gemm.tile.k, text_of(at.config.gemm.pipeline),
                          info_of(at.config.gemm.pipeline).min_k_iterations);
     }},

    {"tma-stride", "strides of a tensor that TMA reads are multiples of 16 bytes",
     [](const Case& at) { return has_tma(at) && !tma_layout::copies_rows(at.config); }, tma_strides_fit,
     [](const Case& at) {
       const Operand a = operand(at, true), b = operand(at, false);
       return fmt::format(
           "{} and {} channels of {} and {} bytes make strides that are not multiples of {} bytes, which "
           "TMA needs; use pipeline wavelet or pad the channels",
           a.channels, b.channels, a.bytes, b.bytes, kTmaStrideBytes);
     }},

    {"tma-rows", "inputs are copied to whole rows where they are not, of 16 or 32-bit types and one group",
     [](const Case& at) { return tma_layout::copies_rows(at.config) && at.config.kind != Kind::kFourWave; },
     [](const Case& at) {
       const bool halves = operand(at, true).bytes == 2 && operand(at, false).bytes == 2;
       const bool words = operand(at, true).bytes == 4 && !tma_layout::sees_patches(at.config);
       return at.problem->g == 1 && (halves || words) &&
              (tma_layout::packs_patches(at.config) ? packing_helps(*at.asked) : !tma_strides_fit(at));
     },
     [](const Case& at) {
       const Operand a = operand(at, true), b = operand(at, false);
       return fmt::format(
           "{} and {} channels of {} and {} bytes in {} groups: aligned_copy copies rows that are not whole 16 bytes, "
           "of 16 or 32-bit types and one group, no 32-bit patches; use aligned_copy=false",
           a.channels, b.channels, a.bytes, b.bytes, at.problem->g);
     }},

    {"tma-element-stride", "TMA steps over at most 8 elements", has_im2col,
     [](const Case& at) {
       return each_dim(*at.problem, [&](size_t i) { return im2col_corner(at, i).step <= kMaxElementStride; });
     },
     [](const Case& at) {
       return fmt::format(
           "stride={} exceeds {}, the largest element stride of TMA, under several taps; use pipeline wavelet",
           text(*at.problem, at.problem->stride), kMaxElementStride);
     }},

    {"tma-corner", "corners of an im2col box fit their bits", has_im2col, corners_fit,
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       const Im2colLimits range = im2col_limits(p.dims);
       return fmt::format(
           "pad={}/{} filter={} dilation={}: corners of an im2col box must lie in {}..{} in {}D; use "
           "pipeline wavelet",
           text(p, p.pad_lower), text(p, p.pad_upper), text(p, p.filter), text(p, p.dilation), range.low, range.high,
           p.dims);
     }},

    {"tma-offset", "offsets of taps fit their bits", has_im2col,
     [](const Case& at) {
       const int64_t limit = im2col_limits(at.problem->dims).offsets;
       return each_dim(*at.problem, [&](size_t i) { return im2col_corner(at, i).offset < limit; });
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "filter={} dilation={} reaches {} elements or more, the limit of im2col offsets in {}D; use "
           "pipeline wavelet",
           text(p, p.filter), text(p, p.dilation), im2col_limits(p.dims).offsets, p.dims);
     }},

    {"groups-per-tile", "merged groups divide the groups",
     [](const Case& at) { return is_gemm(at) && at.config.gemm.groups_per_tile > 1; },
     [](const Case& at) { return at.problem->g % at.config.gemm.groups_per_tile == 0; },
     [](const Case& at) {
       return fmt::format("g={} is not a multiple of groups_per_tile={}", at.problem->g,
                          at.config.gemm.groups_per_tile);
     }},

    {"tensor-size", "kernels with 32-bit indices take tensors of fewer than 2^31 elements",
     [](const Case& at) {
       // four-wave-window, four-wave-grid and portable-image say what those kernels reach.
       return is_gemm(at) && at.config.kind != Kind::kBasic && at.config.kind != Kind::kFourWave &&
              at.config.kind != Kind::kFourWaveWeight && at.config.kind != Kind::kPortable;
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return std::max({p.x_elements(), p.w_elements(), p.y_elements()}) < int64_t{1} << 31;
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "a tensor has {} elements; this kernel's indices stop at 2147483647; use kind portable or "
           "basic",
           std::max({p.x_elements(), p.w_elements(), p.y_elements()}));
     }},

    {"gpu-shared-memory", "a block's shared memory fits the GPU, which may have less than others of its target",
     nullptr, [](const Case& at) { return shared_bytes_of(at.config) <= at.view->rates().shared_per_block; },
     [](const Case& at) {
       return fmt::format("{} bytes of shared memory, and {} has {} per block; use a smaller tile or fewer stages",
                          shared_bytes_of(at.config), at.view->rates().gpu, at.view->rates().shared_per_block);
     }},
};

}  // namespace

std::span<const Constraint> general_problem_rows() { return kRows; }

}  // namespace wt
