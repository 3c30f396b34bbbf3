// SPDX-License-Identifier: Apache-2.0
// kernels/shared/target_constraints.cc - the rows that ask whether a config is possible on its target: kernel, tile,
// resources.
//
// Rows about features (loaders, pipelines, splits) are in constraints_features.cc.
#include <algorithm>

#include "config/fields.h"
#include "kernels/constraints.h"
#include "kernels/kind.h"
#include "kernels/portable/device/layout.h"
#include "kernels/resources.h"
#include "kernels/rows_weight/device/layout.h"
#include "kernels/shared/constraint_rows.h"
#include "kernels/tma/device/layout.h"
#include "problem/measures.h"

namespace wt {

namespace {

bool always(const Case&) { return true; }
bool is_gemm(const Case& at) { return at.config.family() == Family::kGemm; }

std::string text(const Extent3& extent) { return fmt::format("{}x{}x{}", extent.m, extent.n, extent.k); }

std::string join(const std::vector<std::string>& items) {
  std::string list;
  for (const std::string& item : items) list += (list.empty() ? "" : ", ") + item;
  return list;
}

// The kinds that exist for the target.
std::string existing_kernels(const KernelConfig& config) {
  std::vector<std::string> names;
  for (const KernelKind* kind : kernel_kinds()) {
    if (kind->is_for(config.target)) names.emplace_back(text_of(kind->id));
  }
  return join(names);
}

// Those of them that multiply numbers with scales.
std::string scaled_kernels(const KernelConfig& config) {
  std::vector<std::string> names;
  for (const KernelKind* kind : kernel_kinds()) {
    if (kind->scaled && kind->is_for(config.target)) names.emplace_back(text_of(kind->id));
  }
  return join(names);
}

std::string pipelines_of(const KernelKind& kind) {
  std::vector<std::string> names;
  for (const Pipeline pipeline : kind.pipelines) names.emplace_back(text_of(pipeline));
  return join(names);
}

std::string missing_kernel(const Case& at) {
  const KernelConfig& config = at.config;
  const KernelKind& kind = kind_of(config.kind);
  if (kind.is_for(config.target) && is_gemm(at) &&
      std::ranges::find(kind.pipelines, config.gemm.pipeline) == kind.pipelines.end())
    return fmt::format("kind={} has no pipeline {}; choose one of: {}", text_of(config.kind),
                       text_of(config.gemm.pipeline), pipelines_of(kind));
  if (kind.is_for(config.target))
    return fmt::format("kind={} has no kernel for direction={}", text_of(config.kind), text_of(config.direction));
  return fmt::format("kind={} has no kernel for {} in this version; choose one of: {}", text_of(config.kind),
                     at.target.name, existing_kernels(config));
}

// The first field of the other family that is not its default and that the kernel does not read.
std::string_view foreign_field(const KernelConfig& config) {
  const std::string_view foreign = config.family() == Family::kGemm ? "direct." : "gemm.";
  const KernelKind* kind = kind_of(config);
  for (const Field& field : fields()) {
    if (!field.path.starts_with(foreign) || field.get(config) == field.default_value()) continue;
    if (!kind || std::ranges::find(kind->fields, field.path) == kind->fields.end()) return field.path;
  }
  return {};
}

std::string mma_choices(const Case& at) {
  std::vector<std::string> choices;
  for (const MmaShape& mma : mma_shapes(at.target, multiply_type(at.config))) {
    std::string shape = text(mma.shape);
    if (mma.max_n != mma.shape.n) shape = fmt::format("{}x{}..{}x{}", mma.shape.m, mma.shape.n, mma.max_n, mma.shape.k);
    choices.push_back(fmt::format("{} ({})", shape, name_of(mma.path)));
  }
  return join(choices);
}

// Rows of the matrix instruction that one warp holds: those of wgmma and tcgen05 belong to four.
int mma_rows(const Case& at) {
  const MmaShape* mma = find_mma(at.target, multiply_type(at.config), at.config.gemm.mma);
  const bool of_four = mma && (mma->path == MmaPath::kWgmma || mma->path == MmaPath::kTcgen05);
  return of_four ? at.config.gemm.mma.m / 4 : at.config.gemm.mma.m;
}

bool positive(const Extent3& extent) { return extent.m > 0 && extent.n > 0 && extent.k > 0; }
bool extents_positive(const GemmConfig& gemm) {
  return positive(gemm.tile) && positive(gemm.warps) && positive(gemm.mma);
}
// Rows that divide by extents wait for tile-positive.
bool is_sound_gemm(const Case& at) { return is_gemm(at) && extents_positive(at.config.gemm); }

int vector_of(Loader loader, int vector) { return loader == Loader::kVector || loader == Loader::kAsync ? vector : 1; }

// Whether the threads that load share a tile of `rows` x tile.k evenly, a vector each time.
bool divides(const Case& at, int rows, int vector) {
  const GemmConfig& gemm = at.config.gemm;
  const int loading = gemm.load_warps ? gemm.load_warps * at.target.warp_size : threads_of(at.config);
  return loading > 0 && rows * gemm.tile.k % (loading * vector) == 0;
}
bool tile_divides(const Case& at) {
  const GemmConfig& gemm = at.config.gemm;
  return divides(at, gemm.tile.m, vector_of(gemm.loader_a, gemm.vector_a)) &&
         divides(at, gemm.tile.n, vector_of(gemm.loader_b, gemm.vector_b));
}
bool loads_by_threads(const Case& at) {
  const auto by_threads = [](Loader loader) {
    return loader == Loader::kGather || loader == Loader::kVector || loader == Loader::kAsync;
  };
  // Load warps of pipeline wavelet leave out what lies beyond the tile.
  return is_sound_gemm(at) && at.config.kind != Kind::kWavelet && at.config.kind != Kind::kPortable &&
         by_threads(at.config.gemm.loader_a) && by_threads(at.config.gemm.loader_b);
}

constexpr Constraint kRows[] = {
    {"kernel-exists", "the kind exists for the target and direction, with this pipeline", always,
     [](const Case& at) { return kind_of(at.config) != nullptr; }, missing_kernel},

    {"foreign-field", "a field of the other family keeps its default", always,
     [](const Case& at) { return foreign_field(at.config).empty(); },
     [](const Case& at) {
       const std::string_view path = foreign_field(at.config);
       return fmt::format("{}={} belongs to another family than {}; leave it out", path,
                          find_field(path)->text(at.config), text_of(at.config.family()));
     }},

    {"unread-field", "a field that the kernel does not read keeps its default",
     [](const Case& at) { return kind_of(at.config) && foreign_field(at.config).empty(); },
     [](const Case& at) { return unread_field(*kind_of(at.config), at.config).empty(); },
     [](const Case& at) {
       const KernelKind& kind = *kind_of(at.config);
       const Field& field = *find_field(unread_field(kind, at.config));
       return fmt::format("{}={} means nothing to kernel {}; leave it at {}", field.path, field.text(at.config),
                          text_of(kind.id), field.text(KernelConfig{}));
     }},

    {"dims-range", "one to three spatial dimensions", always,
     [](const Case& at) { return at.config.dims >= 1 && at.config.dims <= 3; },
     [](const Case& at) { return fmt::format("dims={} must be 1, 2 or 3", at.config.dims); }},

    {"accumulation", "sums are kept in fp32", always, [](const Case& at) { return at.config.acc == DataType::kF32; },
     [](const Case& at) { return fmt::format("acc={} is not kept by any kernel; use fp32", text_of(at.config.acc)); }},

    {"block-scales", "numbers with scales go to kernels that read these, and e2m1 has always some",
     [](const Case& at) { return at.config.scales != BlockScales::kNone || at.config.x == DataType::kE2m1; },
     [](const Case& at) {
       const KernelConfig& config = at.config;
       return config.scales != BlockScales::kNone && kind_of(config.kind).scaled &&
              config.direction == Direction::kForward && config.layout == Layout::kChannelsLast &&
              is_narrow(config.x) && is_narrow(config.w) && size_of(config.y) > 1 &&
              (config.x == DataType::kE2m1) == (config.w == DataType::kE2m1) &&
              (config.scales == BlockScales::kMx || config.x == DataType::kE2m1);
     },
     [](const Case& at) {
       const KernelConfig& config = at.config;
       return fmt::format(
           "kind={} with scales={} direction={} layout={} types {} and {}: kinds {} multiply numbers with scales, "
           "forward and channels last, mx of e4m3 and e5m2 or of e2m1, nv of e2m1, to outputs of 16 and 32 bits",
           text_of(config.kind), text_of(config.scales), text_of(config.direction), text_of(config.layout),
           text_of(config.x), text_of(config.w), scaled_kernels(config));
     }},

    {"output-type", "tf32 is how inputs are multiplied, not a stored type", always,
     [](const Case& at) { return output_type(at.config) != DataType::kTf32; },
     [](const Case& at) {
       return fmt::format("output type {} is not a stored type; use fp32 with tf32 inputs",
                          text_of(output_type(at.config)));
     }},

    {"min-blocks", "min_blocks blocks fit the threads of a multiprocessor", always,
     [](const Case& at) {
       return at.config.min_blocks >= 1 && threads_of(at.config) * at.config.min_blocks <= at.target.threads_per_unit;
     },
     [](const Case& at) {
       return fmt::format(
           "min_blocks={} with {} threads per block must be at least 1 and fit {} threads of a {} "
           "multiprocessor; lower it or use fewer warps",
           at.config.min_blocks, threads_of(at.config), at.target.threads_per_unit, at.target.name);
     }},

    {"tile-positive", "tile, warps and mma are positive", is_gemm,
     [](const Case& at) { return extents_positive(at.config.gemm); },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format("tile={} warps={} mma={} must all be positive", text(gemm.tile), text(gemm.warps),
                          text(gemm.mma));
     }},

    {"mma-shape", "the target multiplies this type in this shape", is_sound_gemm,
     [](const Case& at) { return find_mma(at.target, multiply_type(at.config), at.config.gemm.mma) != nullptr; },
     [](const Case& at) {
       const std::string choices = mma_choices(at);
       return fmt::format("mma={} is no matrix instruction of {} for {}; {}{}", text(at.config.gemm.mma),
                          at.target.name, text_of(multiply_type(at.config)),
                          choices.empty() ? "it has none for this type" : "choose one of ", choices);
     }},

    {"mma-portable", "the generic kernel has device code for the matrix instruction",
     [](const Case& at) {
       const KernelKind* kind = kind_of(at.config);
       return is_sound_gemm(at) && kind && kind->generic &&
              find_mma(at.target, multiply_type(at.config), at.config.gemm.mma) != nullptr;
     },
     [](const Case& at) { return find_mma(at.target, multiply_type(at.config), at.config.gemm.mma)->portable; },
     [](const Case& at) {
       return fmt::format(
           "mma={} of {} for {} has no device code that kernel {} can use in this version; use another type or shape",
           text(at.config.gemm.mma), at.target.name, text_of(multiply_type(at.config)), text_of(at.config.kind));
     }},

    {"tile-warps", "warps times mma divide the tile in every direction",
     [](const Case& at) { return is_sound_gemm(at) && !tma_layout::crosswise(at.config); },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.tile.m % (gemm.warps.m * mma_rows(at)) == 0 && gemm.tile.n % (gemm.warps.n * gemm.mma.n) == 0 &&
              gemm.tile.k % (gemm.warps.k * gemm.mma.k) == 0;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "tile={} is not a multiple of warps={} times mma={}, which is {}x{}x{}; enlarge the tile or "
           "use fewer warps",
           text(gemm.tile), text(gemm.warps), text(gemm.mma), gemm.warps.m * mma_rows(at), gemm.warps.n * gemm.mma.n,
           gemm.warps.k * gemm.mma.k);
     }},

    {"warps-k", "warps share k in kernels that add their sums", is_sound_gemm,
     [](const Case& at) {
       const Kind kind = at.config.kind;
       return at.config.gemm.warps.k == 1 || kind == Kind::kPortable || kind == Kind::kTmaHalo ||
              kind == Kind::kRowsWeight;
     },
     [](const Case& at) {
       return fmt::format("warps.k={} of kernel {}, whose warps do not share k; use 1, or a portable pipeline",
                          at.config.gemm.warps.k, text_of(at.config.kind));
     }},

    {"block-threads", "a block's threads fit the target", is_sound_gemm,
     [](const Case& at) { return threads_of(at.config) <= at.target.threads_per_block; },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format("warps={} wave_groups={} load_warps={} are {} threads; {} allows {} a block",
                          text(gemm.warps), gemm.wave_groups, gemm.load_warps, threads_of(at.config), at.target.name,
                          at.target.threads_per_block);
     }},

    {"tile-coverage", "the loading threads share each operand's tile evenly", loads_by_threads, tile_divides,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "tile={} with vectors of {} and {} does not divide evenly among {} threads; enlarge tile.k, "
           "use fewer warps or narrower vectors",
           text(gemm.tile), gemm.vector_a, gemm.vector_b, threads_of(at.config));
     }},

    {"shared-capacity", "stages and staging fit the shared memory of a block", is_sound_gemm,
     [](const Case& at) { return shared_bytes_of(at.config) <= at.target.shared_per_block; },
     [](const Case& at) {
       return fmt::format(
           "tile={} with stages={} takes {} bytes of shared memory; {} has {} a block; use a smaller "
           "tile or fewer stages",
           text(at.config.gemm.tile), at.config.gemm.stages, shared_bytes_of(at.config), at.target.name,
           at.target.shared_per_block);
     }},

    {"shared-blocks", "min_blocks blocks fit the shared memory of a multiprocessor", is_sound_gemm,
     [](const Case& at) { return shared_bytes_of(at.config) * at.config.min_blocks <= at.target.shared_per_unit; },
     [](const Case& at) {
       return fmt::format(
           "min_blocks={} blocks of {} bytes exceed the {} bytes of a {} multiprocessor; lower min_blocks "
           "or use a smaller tile",
           at.config.min_blocks, shared_bytes_of(at.config), at.target.shared_per_unit, at.target.name);
     }},

    {"register-estimate", "accumulators and fragments fit a thread's registers", is_sound_gemm,
     [](const Case& at) { return registers_of(at.config) <= register_limit(at.config); },
     [](const Case& at) {
       return fmt::format(
           "tile={} over warps={} needs about {} registers per thread; {} leaves {}; use more warps or a "
           "smaller tile",
           text(at.config.gemm.tile), text(at.config.gemm.warps), registers_of(at.config), at.target.name,
           register_limit(at.config));
     }},
};

}  // namespace

std::span<const Constraint> shape_rows() { return kRows; }

Decline no_kernel(const KernelConfig& config) {
  return {kRows[0].id, missing_kernel(Case{config, info_of(config.target)})};
}

}  // namespace wt
