// SPDX-License-Identifier: Apache-2.0
#include "generate/single.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "config/fields.h"
#include "config/pipelines.h"
#include "config/signature.h"
#include "generate/request.h"
#include "kernels/constraints.h"
#include "kernels/kind.h"
#include "kernels/portable/device/layout.h"

namespace wt {

namespace {

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Other spellings of a knob's value, and those that stand for something this project does not have.
Result<std::string> knob_value(const GenerateOption& option, const std::string& text) {
  const std::string name = lower(text);
  if (option.key == "pipeline") {
    if (name == "compv1") return std::string("basic_v1");
    if (name == "compv2") return std::string("basic_v2");
    if (name.starts_with("preshuffle"))
      return unsupported("--pipeline {}: preshuffled weights are not mapped; see docs/rule-sets.md", text);
    return name;
  }
  if (option.key == "epilogue") {
    if (name == "cshuffle") return std::string("shared");
    if (name == "default") return std::string("direct");
    return bad_input("--epilogue {} must be cshuffle or default", text);
  }
  if (option.key == "scheduler") return name;
  if (option.key == "streamk-reduction-strategy") {
    if (name != "tree" && name != "linear")
      return bad_input("--streamk-reduction-strategy {} must be TREE or LINEAR", text);
    return name;
  }
  return text;
}

class Knobs {
 public:
  static Result<Knobs> read(const GenerateValues& values) {
    Knobs knobs;
    for (const auto& [key, given] : values) {
      const GenerateOption& option = *find_generate_option(key);
      if (key == "set") {
        for (const std::string& text : given) WT_TRY(knobs.add_assignment(text));
      } else if (!option.field.empty()) {
        WT_TRY(knobs.add_option(option, given.empty() ? "" : given.back()));
      }
    }
    return knobs;
  }

  // Sets what was given; the signature first, because the query has already set it.
  Status apply(KernelConfig& config) const {
    for (const auto& [path, value] : values_) WT_TRY(set_field(config, path, value));
    return {};
  }

  bool has(std::string_view path) const {
    return std::ranges::any_of(values_, [&](const auto& pair) {
      return pair.first.starts_with(path) && (pair.first.size() == path.size() || pair.first[path.size()] == '.');
    });
  }

 private:
  Status add_assignment(const std::string& text) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) return bad_input("--set {} must be FIELD=VALUE, such as gemm.stages=2", text);
    KernelConfig probe;
    WT_TRY(set_field(probe, text.substr(0, equals), text.substr(equals + 1)));
    values_.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    return {};
  }

  Status add_option(const GenerateOption& option, const std::string& text) {
    const std::string name = fmt::format("--{}", option.key);
    std::string value;
    if (option.value == "BOOL" || option.value.empty()) {
      WT_TRY_ASSIGN(const bool on, parse_bool(name, text));
      if (option.key == "streamk-enabled") {
        // The strategy, where given, says more.
        if (has("gemm.stream_k")) return {};
        value = on ? "tree" : "off";
      } else if (option.key == "two-stage") {
        value = on ? "workspace" : "none";
      } else {
        value = on ? "true" : "false";
      }
    } else {
      WT_TRY_ASSIGN(value, knob_value(option, text));
    }
    KernelConfig probe;
    if (const Status status = set_field(probe, option.field, value); !status.ok()) return status.with_context(name);
    values_.emplace_back(option.field, value);
    return {};
  }

  std::vector<std::pair<std::string, std::string>> values_;
};

constexpr int kMaxVectorBytes = 16;

class Builder {
 public:
  Builder(const Knobs& knobs, std::vector<std::string>& notes) : knobs_(knobs), notes_(notes) {}

  Result<KernelConfig> build(KernelConfig config) {
    WT_TRY(knobs_.apply(config));
    if (config.family() == Family::kGemm) fill_gemm(config);
    std::vector<Decline> reasons = declines(config);
    if (!reasons.empty() && config.family() == Family::kGemm && take_proposed_tile(config, reasons))
      reasons = declines(config);
    if (!reasons.empty()) return unsupported("no such kernel for {}: {}", text_of(config.target), to_text(reasons));
    return config;
  }

 private:
  void note(const KernelConfig& config, const std::string& text) {
    const std::string line = fmt::format("{}: {}", text_of(config.target), text);
    if (std::ranges::find(notes_, line) == notes_.end()) notes_.push_back(line);
  }

  // The defaults of a single kernel: 128x128x64 by 2x2x1 warps of 32x32x16, compv4, vectors of 4, 8, 8, cshuffle.
  void fill_gemm(KernelConfig& config) {
    const TargetInfo& target = info_of(config.target);
    GemmConfig& gemm = config.gemm;
    if (!knobs_.has("gemm.pipeline") && !knobs_.has("kind")) {
      config.kind = Kind::kPortable;
      gemm.pipeline = Pipeline::kCompV4;
      if (!kind_of(config) || !is_portable_signature(config)) {
        config.kind = Kind::kBasic;
        gemm.pipeline = Pipeline::kBasicV1;
        note(config,
             "pipeline compv4, the default, has no kernel for this target, layout and types; basic_v1 stands in");
      }
    }
    if (!knobs_.has("gemm.pipeline") && knobs_.has("kind")) gemm.pipeline = kind_of(config.kind).pipelines.front();
    if (!knobs_.has("kind")) config.kind = kind_with(gemm.pipeline, config.target, config.direction);
    if (gemm.explicit_gemm && !knobs_.has("gemm.specialization"))
      gemm.specialization = Specialization::kFilter1x1Stride1Pad0;
    const PipelineInfo& pipeline = info_of(gemm.pipeline);
    const KernelKind* kind = kind_of(config);
    if (!knobs_.has("gemm.tile.m")) gemm.tile.m = 128;
    if (!knobs_.has("gemm.tile.n")) gemm.tile.n = 128;
    if (!knobs_.has("gemm.tile.k")) gemm.tile.k = 64;
    if (!knobs_.has("gemm.mma")) {
      gemm.mma = {32, 32, 16};
      const std::vector<MmaShape> shapes = mma_shapes(target, multiply_type(config));
      if (!find_mma(target, multiply_type(config), gemm.mma) && !shapes.empty()) {
        gemm.mma = largest(shapes);
        note(config, fmt::format("32x32x16, the default warp tile, is no matrix instruction for {}; {}x{}x{} stands in",
                                 text_of(multiply_type(config)), gemm.mma.m, gemm.mma.n, gemm.mma.k));
      }
    }
    if (!knobs_.has("gemm.double_buffer")) gemm.double_buffer = pipeline.double_buffer;
    if (!knobs_.has("gemm.stages")) gemm.stages = static_cast<unsigned char>(pipeline.min_stages);
    // Defaults of fields that the kernel does not read would only make a second name for it.
    const auto reads = [&](std::string_view path) {
      return kind && std::ranges::find(kind->fields, path) != kind->fields.end();
    };
    if (!knobs_.has("gemm.staging") && reads("gemm.staging")) gemm.staging = Staging::kShared;
    const auto at_most = [](int vector, DataType type) {
      return static_cast<unsigned char>(std::min(vector, kMaxVectorBytes / size_of(type)));
    };
    if (!knobs_.has("gemm.vector_a") && reads("gemm.vector_a")) gemm.vector_a = at_most(4, operand_a(config));
    if (!knobs_.has("gemm.vector_b") && reads("gemm.vector_b")) gemm.vector_b = at_most(8, operand_b(config));
    if (config.kind == Kind::kPortable) fill_portable(gemm, pipeline);
    // The portable kernels store as wide as an output's rows allow where nobody says how wide.
    if (!knobs_.has("gemm.vector_c") && reads("gemm.vector_c") && config.kind != Kind::kPortable) gemm.vector_c = 8;
    if (kind && !reads("gemm.staging"))
      note(config, fmt::format("kernel {} stores directly, an element at a time; cshuffle and vectors do not apply",
                               text_of(kind->id)));
  }

  // What the portable kernels multiply (constraints portable-types and portable-layout).
  static bool is_portable_signature(const KernelConfig& config) {
    return config.layout == Layout::kChannelsLast && operand_a(config) == operand_b(config) &&
           size_of(operand_a(config)) >= 2;
  }

  void fill_portable(GemmConfig& gemm, const PipelineInfo& pipeline) {
    const auto loader = [&](int vector) {
      return pipeline.async_copy ? Loader::kAsync : vector > 1 ? Loader::kVector : Loader::kGather;
    };
    if (!knobs_.has("gemm.loader_a")) gemm.loader_a = loader(gemm.vector_a);
    if (!knobs_.has("gemm.loader_b")) gemm.loader_b = loader(gemm.vector_b);
    if (!knobs_.has("gemm.wave_groups")) gemm.wave_groups = static_cast<unsigned char>(pipeline.wave_groups);
    if (!pipeline.load_warps) return;
    if (!knobs_.has("gemm.load_warps")) gemm.load_warps = 4;
    if (!knobs_.has("gemm.stages")) gemm.stages = 2;
  }

  static Extent3 largest(const std::vector<MmaShape>& shapes) {
    Extent3 best = shapes.front().shape;
    for (const MmaShape& mma : shapes)
      if (mma.portable && mma.shape.m * mma.shape.n > best.m * best.n) best = mma.shape;
    return best;
  }

  // Where the default tile does not fit and nobody asked for it, a proposal's tile and warps stand in: the first with
  // the fewest reasons left, so that what is still declined is what the user gave.
  bool take_proposed_tile(KernelConfig& config, const std::vector<Decline>& reasons) {
    const KernelKind* kind = kind_of(config);
    if (!kind || knobs_.has("gemm.tile") || knobs_.has("gemm.warps")) return false;
    std::vector<KernelConfig> proposals;
    kind->propose(config, info_of(config.target), Breadth::kAll, proposals);
    KernelConfig best = config;
    size_t fewest = reasons.size();
    for (const KernelConfig& proposal : proposals) {
      KernelConfig attempt = config;
      attempt.gemm.tile = proposal.gemm.tile;
      attempt.gemm.warps = proposal.gemm.warps;
      if (const size_t left = declines(attempt).size(); left < fewest) {
        best = attempt;
        fewest = left;
      }
    }
    if (fewest == reasons.size()) return false;
    note(config, fmt::format("128x128x64, the default tile, is not possible ({}); {}x{}x{} by {}x{}x{} warps stands in",
                             reasons.back().id, best.gemm.tile.m, best.gemm.tile.n, best.gemm.tile.k, best.gemm.warps.m,
                             best.gemm.warps.n, best.gemm.warps.k));
    config = best;
    return true;
  }

  const Knobs& knobs_;
  std::vector<std::string>& notes_;
};

template <class T>
std::vector<T> or_default(const std::vector<T>& list, T standard) {
  return list.empty() ? std::vector<T>{standard} : list;
}

// The output type that goes with an input type, where nobody names one.
DataType output_for(DataType in) {
  for (const TypeCombination& types : type_combinations(true))
    if (types.a == in) return types.out;
  return DataType::kF32;
}

}  // namespace

bool asks_for_single_kernel(const GenerateValues& values) {
  return std::ranges::any_of(values, [](const auto& pair) {
    const GenerateOption* option = find_generate_option(pair.first);
    return pair.first == "set" || (option && !option->field.empty());
  });
}

Result<SingleKernels> single_kernel_for(const GenerateValues& values, const KernelConfig& signature) {
  WT_TRY_ASSIGN(const Knobs knobs, Knobs::read(values));
  SingleKernels single;
  WT_TRY_ASSIGN(const KernelConfig config, Builder(knobs, single.notes).build(signature));
  single.kernels.push_back(config);
  return single;
}

Result<SingleKernels> single_kernels(const GenerateValues& values, const std::vector<TargetName>& targets,
                                     const RuleQuery& query) {
  WT_TRY_ASSIGN(const Knobs knobs, Knobs::read(values));
  SingleKernels single;
  Builder builder(knobs, single.notes);
  for (const TargetName& target : targets) {
    for (const Direction direction : or_default(query.directions, Direction::kForward)) {
      for (const DataType type : or_default(query.types, DataType::kBf16)) {
        for (const int dims : or_default(query.dims, 2)) {
          for (const Layout layout : or_default(query.layouts, Layout::kChannelsLast)) {
            KernelConfig config{.direction = direction,
                                .target = target.target,
                                .layout = layout,
                                .dims = static_cast<unsigned char>(dims)};
            set_types(config, type, output_for(type));
            WT_TRY_ASSIGN(config, builder.build(config));
            single.kernels.push_back(config);
          }
        }
      }
    }
  }
  std::ranges::sort(single.kernels, ConfigLess{});
  const auto [first, last] = std::ranges::unique(single.kernels);
  single.kernels.erase(first, last);
  return single;
}

}  // namespace wt
