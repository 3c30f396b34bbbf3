// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/bind.h"

#include "kernels/portable/kind.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/check.h"
#include "config/fields.h"
#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/beside/filter_sums.h"
#include "kernels/beside/merge_groups.h"
#include "kernels/beside/split_sum.h"
#include "kernels/portable/device/layout.h"
#include "kernels/portable/device/stream_arguments.h"
#include "kernels/portable/view.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/wavelet/bind.h"
#include "kernels/wavelet/device/weight_arguments.h"

namespace wt {
namespace {

// The widest vector, up to 8 elements, that divides `elements`.
i32 vector_of(int64_t elements) {
  i32 vector = 8;
  while (elements % vector != 0) vector /= 2;
  return vector;
}

Launch launch_of(const KernelConfig& config, int64_t blocks) {
  WT_CHECK(blocks < int64_t{1} << 31, "{} blocks", blocks);
  Launch launch;
  launch.kernel = name_of(config);
  launch.shape.grid[0] = static_cast<uint32_t>(blocks);
  launch.shape.threads = static_cast<uint32_t>(portable_layout::threads(config));
  launch.shape.shared_bytes = static_cast<uint32_t>(portable_layout::shared_bytes(config));
  return launch;
}

// All images where indices reach them, else some, or one.
int64_t images_a_launch(const ConvProblem& problem, int64_t index_limit) {
  const int64_t elements = std::max(problem.x_elements(), problem.y_elements());
  if (elements < index_limit) return std::max<int64_t>(1, problem.n);
  // Half, because taps reach beyond an image.
  return std::max<int64_t>(1, index_limit / 2 / (elements / problem.n));
}

// Nothing where there is no output.
template <int kPhases>
std::optional<Launch> bind_walk(const KernelConfig& config, const View& seen) {
  const ConvProblem& problem = seen.problem();
  using Arguments = WaveletArguments<kPhases>;
  const GemmConfig& gemm = config.gemm;
  const WaveletView* view = portable_view(config, seen);
  WT_CHECK(view, "{} does not accept '{}'", name_of(config), to_text(problem));
  int64_t phases = 1, rows = view->problem.n;  // rows of the largest phase
  for (const WalkDim& dim : view->dim) {
    phases *= static_cast<int64_t>(dim.phases.size());
    int64_t size = 0;
    for (const WalkPhase& phase : dim.phases) size = std::max(size, phase.size);
    rows *= size;
  }
  const int64_t tiles_n = ceil_div(view->columns, gemm.tile.n), tiles_a_phase = ceil_div(rows, gemm.tile.m);
  const int64_t tiles = tiles_a_phase * phases * tiles_n * view->problem.g;
  if (tiles == 0) return std::nullopt;

  Arguments arguments{};
  set_walk(arguments, config, *view);
  arguments.tiles = static_cast<u32>(tiles);
  arguments.tiles_a_group = make_divider(tiles_a_phase * phases * tiles_n);
  arguments.tiles_n = make_divider(tiles_n);
  arguments.tiles_a_phase = make_divider(tiles_a_phase);
  arguments.epilogue = epilogue_arguments(problem);

  Launch launch = launch_of(config, tiles);
  const Tensor image = problem.direction == Direction::kForward ? Tensor::kX : Tensor::kY;
  launch.pointers.push_back({offsetof(Arguments, a), image, 0});
  launch.pointers.push_back({offsetof(Arguments, b), Tensor::kW, 0});
  launch.pointers.push_back({offsetof(Arguments, out), output_tensor(problem.direction), 0});
  bind_epilogue(launch, problem, offsetof(Arguments, epilogue));
  set_params(launch, arguments);
  return launch;
}

// The weight gradient's arguments but for its addresses.
WaveletWeightArguments divided_arguments(const KernelConfig& config, const ConvProblem& problem,
                                         const WaveletWeightView& view, const PortableParts& parts) {
  WaveletWeightArguments arguments = weight_arguments(config, view);
  arguments.blocks_per_split = static_cast<i32>(parts.blocks_per_split);
  arguments.items = static_cast<u32>(parts.tiles * parts.splits);
  arguments.tiles = make_divider(parts.tiles);
  arguments.tiles_a_group = make_divider(parts.tiles / view.walk.problem.g);
  arguments.tiles_n = make_divider(parts.tiles_n);
  arguments.walk.out_vector = vector_of(arguments.numbers);
  if (config.gemm.groups_per_tile > 1) {
    const int64_t own = problem.c_per_group();
    arguments.elements = problem.w_elements();
    arguments.diagonal = {make_divider(problem.k_per_group()), make_divider(own * config.gemm.groups_per_tile),
                          static_cast<i32>(own), static_cast<i32>(own * pixels(problem.filter))};
    arguments.walk.out_vector = vector_of(own);
  }
  arguments.walk.epilogue = epilogue_arguments(problem);
  return arguments;
}

// Pointers of the walk, `at` bytes into the parameter block.
void bind_operands(Launch& launch, const ConvProblem& problem, size_t at) {
  if (problem.n == 0) return;
  launch.pointers.push_back({static_cast<uint32_t>(at + offsetof(WaveletArguments<3>, a)), Tensor::kX, 0});
  launch.pointers.push_back({static_cast<uint32_t>(at + offsetof(WaveletArguments<3>, b)), Tensor::kY, 0});
}
void bind_output(Launch& launch, const ConvProblem& problem, size_t at) {
  launch.pointers.push_back({static_cast<uint32_t>(at + offsetof(WaveletArguments<3>, out)), Tensor::kW, 0});
  bind_epilogue(launch, problem, static_cast<uint32_t>(at + offsetof(WaveletArguments<3>, epilogue)));
}

// One launch, and one that adds the parts of tiles that blocks share (kernels/portable/device/stream.h).
Binding bind_stream(const KernelConfig& config, const View& seen) {
  const ConvProblem& problem = seen.problem();
  const WaveletWeightView* view = portable_weight_view(config, seen);
  WT_CHECK(view, "{} does not accept '{}'", name_of(config), to_text(problem));
  const PortableParts parts = portable_parts(config, seen, 0);
  const PortableStreams streams = portable_streams(config, parts, seen.rates().units);
  PortableStreamArguments arguments{};
  arguments.weight = divided_arguments(config, problem, *view, parts);
  arguments.whole_tiles = static_cast<u32>(streams.whole_tiles);
  arguments.share = streams.share;
  arguments.streamed = streams.streamed;

  constexpr size_t kWalk = offsetof(PortableStreamArguments, weight) + offsetof(WaveletWeightArguments, walk);
  Launch launch = launch_of(config, streams.whole_tiles + streams.blocks);
  bind_operands(launch, problem, kWalk);
  bind_output(launch, problem, kWalk);
  launch.pointers.push_back({offsetof(PortableStreamArguments, parts), Tensor::kWorkspace, 0});
  set_params(launch, arguments);
  Binding binding;
  binding.launches.push_back(std::move(launch));
  binding.workspace_bytes = std::max<int64_t>(1, 2 * streams.blocks) * portable_layout::part_elements(config) *
                            static_cast<int64_t>(sizeof(float));
  if (!streams.has_parts) return binding;

  Launch sum;
  sum.kernel = name_of(config) + kSumSuffix;
  sum.shape.grid[0] = static_cast<uint32_t>(parts.tiles - streams.whole_tiles);
  sum.shape.threads = kStreamSumThreads;
  bind_output(sum, problem, kWalk);
  // WHY: the largest value of tiles that were stored whole is there already.
  sum.zeros.clear();
  sum.pointers.push_back({offsetof(PortableStreamArguments, parts), Tensor::kWorkspace, 0});
  set_params(sum, arguments);
  binding.launches.push_back(std::move(sum));
  return binding;
}

// One launch for some images. Where the sum is divided, its parts go behind what the workspace of `binding` holds.
Launch bind_weight(Binding& binding, const KernelConfig& config, const View& seen, int splits) {
  const ConvProblem& problem = seen.problem();
  const WaveletWeightView* view = portable_weight_view(config, seen);
  WT_CHECK(view, "{} does not accept '{}'", name_of(config), to_text(problem));
  const PortableParts parts = portable_parts(config, seen, splits);
  const WaveletWeightArguments arguments = divided_arguments(config, problem, *view, parts);
  Launch launch = launch_of(config, parts.tiles * parts.splits);
  bind_operands(launch, problem, offsetof(WaveletWeightArguments, walk));
  if (config.gemm.split_k == SplitK::kAtomic) {  // one sum for the blocks of all launches
    binding.workspace_bytes = problem.w_elements() * static_cast<int64_t>(sizeof(float));
    binding.parts += parts.splits;
    launch.zeros.push_back({Tensor::kWorkspace, 0, static_cast<uint64_t>(binding.workspace_bytes)});
    launch.pointers.push_back({offsetof(WaveletWeightArguments, partials), Tensor::kWorkspace, 0});
  } else if (config.gemm.split_k == SplitK::kWorkspace) {
    launch.pointers.push_back({offsetof(WaveletWeightArguments, partials), Tensor::kWorkspace,
                               static_cast<uint64_t>(binding.workspace_bytes)});
    binding.workspace_bytes += parts.splits * arguments.elements * static_cast<int64_t>(sizeof(float));
  } else {
    bind_output(launch, problem, offsetof(WaveletWeightArguments, walk));
  }
  set_params(launch, arguments);
  return launch;
}

// Moves a launch that was bound for some images to those from `first` on.
void move_to_image(Launch& launch, const ConvProblem& problem, int64_t first) {
  const auto image_bytes = [&](Tensor tensor) {
    const bool of_x = tensor == Tensor::kX || (tensor != Tensor::kY && problem.direction == Direction::kBackwardData);
    return of_x ? problem.x_elements() / problem.n * size_of(problem.x)
                : problem.y_elements() / problem.n * size_of(problem.y);
  };
  for (Launch::Pointer& pointer : launch.pointers) {
    const bool has_images = pointer.tensor == Tensor::kX || pointer.tensor == Tensor::kY ||
                            pointer.tensor == Tensor::kResidual || pointer.tensor >= Tensor::kAux0;
    if (has_images) pointer.byte_offset += static_cast<uint64_t>(first * image_bytes(pointer.tensor));
  }
  launch.zeros.clear();  // the launches before have left their amax, or their part of the sum, already
}

}  // namespace

Binding bind_portable(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits,
                      int64_t index_limit) {
  if (portable_layout::streams(config)) return bind_stream(config, seen);
  const ConvProblem& problem = seen.problem();
  const bool weight = problem.direction == Direction::kBackwardWeight;
  const int64_t images = images_a_launch(problem, index_limit);
  const SplitK split = config.gemm.split_k;
  WT_CHECK(!weight || images >= problem.n || split != SplitK::kNone, "{} cannot add the sums of several launches",
           name_of(config));
  Binding binding;
  if (split == SplitK::kAtomic) binding.parts = 0;  // counted below
  for (int64_t first = 0; first == 0 || first < problem.n; first += images) {
    ConvProblem some = problem;
    some.n = std::min(images, problem.n - first);
    const View of_some(some, seen.rates());
    const View& part = some.n == problem.n ? seen : of_some;
    std::optional<Launch> launch = weight ? bind_weight(binding, config, part, splits)
                                   : problem.direction == Direction::kForward ? bind_walk<3>(config, part)
                                                                              : bind_walk<96>(config, part);
    if (!launch) break;
    if (first > 0) move_to_image(*launch, problem, first);
    binding.launches.push_back(std::move(*launch));
  }
  if (split == SplitK::kAtomic) {
    binding.launches.push_back(split_sum_launch(config, problem, device, 1));
  } else if (weight && split == SplitK::kWorkspace) {
    const int64_t part_bytes = problem.w_elements() * static_cast<int64_t>(sizeof(float));
    binding.parts = part_bytes == 0 ? 1 : binding.workspace_bytes / part_bytes;
    binding.launches.push_back(split_sum_launch(config, problem, device, static_cast<int>(binding.parts)));
  }
  if (!weight && config.gemm.groups_per_tile > 1)
    return with_merged_filter(config, problem, device, std::move(binding));
  return with_filter_sums(config, problem, device, std::move(binding));
}

Binding portable_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits) {
  return bind_portable(config, seen, device, splits, portable_layout::index_limit(config));
}

}  // namespace wt
