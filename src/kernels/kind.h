// SPDX-License-Identifier: Apache-2.0
// kernels/kind.h - the contract of a kernel: everything that the library knows of it, in one descriptor.
//
//   src/kernels/<kind>/kind.cc --one line in config/kinds.h--> kernel_kinds() --> choice, source, launches, checks
//
// A new kernel is one folder with its descriptor, and one line in config/kinds.h. tests/trial_kernel is the smallest.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/kernel_config.h"
#include "config/targets.h"
#include "kernels/constraints.h"
#include "kernels/view.h"
#include "launch/binding.h"

namespace wt {

enum class Breadth : unsigned char {
  kFew,  // the best guesses: what packs hold
  kAll,  // what an exhaustive search tries
};

// The tiles of a problem's output and the k-blocks that each sums, for people.
struct TileCount {
  int64_t tiles = 0, blocks = 0;
};

// A launch beside the kernel that its source holds too: a name after the kernel's, and a template over its config, or a
// whole type.
struct LaunchEntry {
  std::string_view suffix;  // _sum
  std::string type;         // wt::SplitSum
  bool of_config = true;    // takes the kernel's config as its argument
};

struct KernelKind {
  Kind id;
  std::string_view header;      // kernels/basic/device/kernel.h, as generated source includes it
  std::string_view class_name;  // wt::BasicGemm, a template over a KernelConfig

  std::span<const Pipeline> pipelines = {};       // of the gemm family
  std::span<const Target> targets = {};           // empty: every target
  std::span<const Direction> directions = {};     // empty: every direction
  std::span<const std::string_view> fields = {};  // beside the signature, what its device code reads
  bool generic = false;                           // accepts every valid problem
  bool scaled = false;                            // multiplies numbers that have scales of blocks
  MmaPath instruction = MmaPath::kFma;            // of the direct family: what it multiplies by

  // Appends configs for the signature, target and epilogue that `base` holds, best guess first. They need not be
  // valid: the constraint table sorts out and counts what is not.
  void (*propose)(const KernelConfig& base, const TargetInfo& target, Breadth breadth,
                  std::vector<KernelConfig>& configs);
  // False where the constraint table declines every config of the kind, so that a choice need not ask each of them;
  // null: not known.
  bool (*may_serve)(const ConvProblem& problem) = nullptr;
  // Whether the order of an image's sums depends on where in the batch the image is; null: it never does. What
  // stream-K and atomic additions do to it is known without.
  bool (*sums_by_place)(const View& view) = nullptr;

  // Rows of the constraint table that are asked of this kind alone, after those of all kinds; null: none.
  std::span<const Constraint> (*target_rows)() = nullptr;
  std::span<const Constraint> (*problem_rows)() = nullptr;

  // What a block takes: dynamic shared memory (null: none that depends on the config), and estimates of registers.
  int64_t (*shared_bytes)(const KernelConfig& config) = nullptr;
  int (*registers)(const KernelConfig& config) = nullptr;       // null: by the tile (resources.h)
  int (*register_limit)(const KernelConfig& config) = nullptr;  // null: what min_blocks leave

  // Microseconds by the rates of `view`, and the launches, of a config that accepts its problem.
  // `splits`: into how many parts sums shall be divided, where the kernel divides them and as far as it can; 0: as
  // predicted.
  double (*predict)(const KernelConfig& config, const View& view, int splits);
  Binding (*bind)(const KernelConfig& config, const View& view, const DeviceInfo& device, int splits);

  // Launches beside the kernel that its source holds; null: none.
  std::vector<LaunchEntry> (*entries)(const KernelConfig& config) = nullptr;
  // Null: those of the problem's matrix product (problem/gemm_view.h).
  TileCount (*tile_count)(const KernelConfig& config, const View& view) = nullptr;

  // Small layers for trials of a config, such as "c64 k4 i9x9 f3x3 p1", the likeliest to be accepted first. Null or
  // none: usual ones (dispatch/trial/small_problem.cc).
  std::vector<std::string> (*small_sizes)(const KernelConfig& config) = nullptr;

  bool is_for(Target target) const;
};

std::span<const KernelKind* const> kernel_kinds();

// The kind that a config names, for its target, direction and pipeline; null where no such kernel exists.
const KernelKind* kind_of(const KernelConfig& config);
const KernelKind& kind_of(Kind id);
// The first of the list that has the pipeline for this target and direction; portable where none has.
Kind kind_with(Pipeline pipeline, Target target, Direction direction);

// The proposals of every kind of the base's target, less of the base what a kind's device code does not read.
void propose(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs);

// The first field, beside the signature, that is not its default and that the kind's device code does not read; empty
// where there is none. Such a field would make two names for one machine code.
std::string_view unread_field(const KernelKind& kind, const KernelConfig& config);

// The config accepts the problem; what is refused here is a bug. With a view of its own, or one that others read too.
Binding bind(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device, int splits = 0);
Binding bind(const KernelConfig& config, const View& view, const DeviceInfo& device, int splits = 0);
double predicted_us(const KernelConfig& config, const ConvProblem& problem, const Rates& rates, int splits = 0);
double predicted_us(const KernelConfig& config, const View& view, int splits = 0);

}  // namespace wt
