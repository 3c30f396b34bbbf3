// SPDX-License-Identifier: Apache-2.0
// config/kernels.h - the kernels that exist: which template a config instantiates, and which configs are worth having.
//
// A new pipeline is one file in config/kernels/ and one line in kernels.cc. Nothing is listed, generated or chosen that
// has no row here.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "config/kernel_config.h"
#include "config/targets.h"

namespace wt {

enum class Breadth : unsigned char {
  kFew,  // the best guesses: what packs hold
  kAll,  // what an exhaustive search tries
};

struct ConvProblem;  // problem/problem.h

struct KernelKind {
  std::string_view id;          // gemm-basic
  std::string_view header;      // kernel/gemm/kernel.h, as generated source includes it
  std::string_view class_name;  // wt::GemmKernel, a template over a KernelConfig
  Family family;
  std::span<const Pipeline> pipelines;       // of the gemm family; empty: any
  std::span<const DirectDesign> designs;     // of the direct family; empty: any
  std::span<const Target> targets;           // empty: every target
  std::span<const Direction> directions;     // empty: every direction
  std::span<const std::string_view> fields;  // beside the signature, what its device code reads (paths, or gemm.tile)
  bool generic;                              // accepts every valid problem

  // Appends configs for the signature, target and epilogue that `base` holds, best guess first. They need not be
  // valid: the constraint table sorts out and counts what is not.
  void (*propose)(const KernelConfig& base, const TargetInfo& target, Breadth breadth,
                  std::vector<KernelConfig>& configs);

  // False where the constraint table declines every config of the kind, so that a choice need not ask each of them;
  // null: not known.
  bool (*may_serve)(const ConvProblem& problem) = nullptr;
};

std::span<const KernelKind* const> kernel_kinds();

// The kind that a config instantiates; null where no such kernel exists.
const KernelKind* kind_of(const KernelConfig& config);

// The kind's proposals for a base, less of the base what the kind's device code does not read.
void propose(const KernelKind& kind, KernelConfig base, Breadth breadth, std::vector<KernelConfig>& configs);

// The first field, beside the signature, that is not its default and that the kind's device code does not read; empty
// where there is none. Such a field would make two names for one machine code.
std::string_view unread_field(const KernelKind& kind, const KernelConfig& config);

}  // namespace wt
