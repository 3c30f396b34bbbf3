// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/provider.h"

#include <algorithm>

#include "base/check.h"
#include "base/parallel.h"
#include "compile/user_code.h"
#include "config/signature.h"
#include "runtime/cpu/conversion.h"
#include "runtime/cpu/depthwise.h"
#include "runtime/cpu/onednn.h"
#include "runtime/cpu/sound_thread.h"
#include "runtime/cpu/workers.h"

namespace wt {

using namespace cpu;

namespace {

class BuiltinGemm final : public CpuConvolution {
 public:
  BuiltinGemm(const ConvProblem& problem, int threads, bool small)
      : CpuConvolution(problem), gemm_(problem, threads, small), threads_(threads) {
    path_ = "builtin_gemm";
    reason_ = fmt::format("built-in implicit GEMM ({} kernels{})", kernels().name,
                          small ? ", small blocks without a workspace" : "");
    workspace_bytes_ = aligned(gemm_.scratch_bytes());
  }

 private:
  Status run(const Tensors& tensors, char* workspace) const override {
    // Types other than fp32 are converted block by block while packing.
    const Inputs inputs = Conversion{}.apply(problem_, tensors, nullptr, threads_);
    gemm_.run(inputs, Finisher(problem_, tensors, code_.get()), workspace);
    return {};
  }

  Gemm gemm_;
  int threads_;
};

class BuiltinDepthwise final : public CpuConvolution {
 public:
  BuiltinDepthwise(const ConvProblem& problem, int threads)
      : CpuConvolution(problem),
        depthwise_(problem, threads),
        conversion_(Conversion::of_inputs(problem)),
        threads_(threads) {
    conversion_.w = false;  // each weight is read a few times only
    path_ = "builtin_depthwise";
    reason_ = fmt::format("built-in direct depthwise loops ({} kernels)", kernels().name);
    workspace_bytes_ = conversion_.bytes(problem);
  }

 private:
  Status run(const Tensors& tensors, char* workspace) const override {
    depthwise_.run(conversion_.apply(problem_, tensors, workspace, threads_), Finisher(problem_, tensors, code_.get()));
    return {};
  }

  Depthwise depthwise_;
  Conversion conversion_;
  int threads_;
};

// Sizes that oneDNN is asked for at all. It keeps sizes in 32 bits, where 2^32 channels are none and it divides by
// them; and it tries block sizes one after the other and writes code for each column, which takes a minute for some
// images of a million columns. Measured with oneDNN 2.6.3: of 2,500 random problems within these limits, drawn to be
// near them, one took 0.5 s of processor time and the others less than 0.25 s.
constexpr int64_t kOnednnMaxCount = 1 << 15;   // images, groups, channels per group
constexpr int64_t kOnednnMaxExtent = 1 << 16;  // of an image with its padding, strides and dilations
constexpr int64_t kOnednnMaxFilter = 512;

Status onednn_takes(const ConvProblem& p) {
  if (p.first_type() == DataType::kI8)
    return unsupported("oneDNN is not asked for int8: the built-in loops give the bits of every other device");
  const auto within = [&](const char* what, int64_t value, int64_t limit) -> Status {
    if (value <= limit) return {};
    return unsupported("oneDNN is not asked for {} of {}, above {}: making its plan could take minutes or fail", what,
                       value, limit);
  };
  WT_TRY(within("a batch", p.n, kOnednnMaxCount));
  WT_TRY(within("groups", p.g, kOnednnMaxCount));
  WT_TRY(within("input channels per group", p.c / p.g, kOnednnMaxCount));
  WT_TRY(within("output channels per group", p.k / p.g, kOnednnMaxCount));
  for (int i = kMaxDims - p.dims; i < kMaxDims; ++i) {
    WT_TRY(within("a padded image side", p.in[i] + p.pad_lower[i] + p.pad_upper[i], kOnednnMaxExtent));
    WT_TRY(within("a filter side", p.filter[i], kOnednnMaxFilter));
    WT_TRY(within("a stride", p.stride[i], kOnednnMaxExtent));
    WT_TRY(within("a dilation", p.dilation[i], kOnednnMaxExtent));
  }
  return {};
}

class Onednn final : public CpuConvolution {
 public:
  static Result<std::shared_ptr<Onednn>> make(const ConvProblem& problem, int threads) {
    const OnednnPlugin& plugin = onednn_plugin();
    if (!plugin.provider) return failure(Code::kUnsupported, "{}", plugin.fault);
    WT_TRY(onednn_takes(problem));
    auto made = std::make_shared<Onednn>(problem, *plugin.provider, threads);
    WT_TRY(made->create());
    return made;
  }

  Onednn(const ConvProblem& problem, const WavetileOnednnProvider& provider, int threads)
      : CpuConvolution(problem),
        provider_(provider),
        conversion_(Conversion::of_inputs(problem)),
        threads_(threads),
        // The residual may be the output itself and must then be read before the sums overwrite it.
        // A user's store may write anywhere.
        separate_sums_(!is_fp32(problem.output_type()) || problem.epilogue.residual ||
                       !problem.epilogue.store.empty()) {}

  ~Onednn() override {
    if (convolution_) provider_.destroy(convolution_);
  }

 private:
  Status create() {
    const ConvProblem& p = problem_;
    WavetileOnednnProblem problem{};
    problem.direction = static_cast<int32_t>(p.direction);
    problem.layout = static_cast<int32_t>(p.layout);
    problem.dims = p.dims;
    problem.threads = threads_;
    problem.n = p.n, problem.g = p.g, problem.c = p.c, problem.k = p.k;
    const Spatial out = p.out();
    for (int i = 0; i < kMaxDims; ++i) {
      problem.in[i] = p.in[i], problem.out[i] = out[i], problem.filter[i] = p.filter[i];
      problem.stride[i] = p.stride[i], problem.dilation[i] = p.dilation[i];
      problem.pad_lower[i] = p.pad_lower[i], problem.pad_upper[i] = p.pad_upper[i];
    }
    int64_t scratch = 0;
    WavetileOnednnText text{};
    int declined = 0;
    on_sound_thread([&] { declined = provider_.create(&problem, &convolution_, &scratch, &text); });
    if (declined != 0) return unsupported("oneDNN {} declines {}: {}", provider_.version, to_text(p), text.text);
    sums_offset_ = conversion_.bytes(p);
    scratch_offset_ = sums_offset_;
    if (separate_sums_) scratch_offset_ += aligned(p.output_elements() * static_cast<int64_t>(sizeof(float)));
    workspace_bytes_ = scratch_offset_ + aligned(scratch);
    path_ = "onednn";
    reason_ = fmt::format("oneDNN {} ({})", provider_.version, text.text);
    return {};
  }

  Status run(const Tensors& tensors, char* workspace) const override {
    const Inputs inputs = conversion_.apply(problem_, tensors, workspace, threads_);
    const auto pointer = [&](const Source& input, Direction output) {
      const bool written = problem_.direction == output;
      return static_cast<const float*>(written && separate_sums_ ? workspace + sums_offset_ : input.data);
    };
    const float* x = pointer(inputs.x, Direction::kBackwardData);
    const float* w = pointer(inputs.w, Direction::kBackwardWeight);
    const float* y = pointer(inputs.y, Direction::kForward);
    WavetileOnednnText text{};
    int failed = 0;
    on_sound_thread([&] { failed = provider_.execute(convolution_, x, w, y, workspace + scratch_offset_, &text); });
    if (failed != 0)
      return failure(Code::kDevice, "oneDNN {} failed on {}: {}", provider_.version, to_text(problem_), text.text);
    if (!separate_sums_ && is_identity(problem_.epilogue)) return {};

    const float* sums = problem_.direction == Direction::kForward        ? y
                        : problem_.direction == Direction::kBackwardData ? x
                                                                         : w;
    constexpr int64_t kPiece = 16384;
    const int64_t count = problem_.output_elements();
    const Finisher finisher(problem_, tensors, code_.get());
    for_each_item((count + kPiece - 1) / kPiece, threads_, [&](int64_t item, int) {
      finisher.finish_range(sums, item * kPiece, std::min(count, (item + 1) * kPiece));
    });
    return {};
  }

  const WavetileOnednnProvider& provider_;
  Conversion conversion_;
  int threads_;
  bool separate_sums_;
  void* convolution_ = nullptr;
  int64_t sums_offset_ = 0;
  int64_t scratch_offset_ = 0;
};

Status need(const Tensors& tensors, Tensor tensor, const char* name, const ConvProblem& problem) {
  if (at(tensors, tensor)) return {};
  return bad_input("tensor {} is null, but {} needs it", name, to_text(problem));
}

// Few threads for little work: waking one costs some microseconds, about 1e6 operations of a core, and much more on a
// busy machine, where OpenMP's barriers wait for a thread that is not running.
int threads_for(const ConvProblem& problem, int threads) {
  constexpr double kOperationsPerThread = 1e6;
  constexpr double kOperationsPerElement = 16;  // moving one, in the same currency
  const double elements = static_cast<double>(problem.x_elements() + problem.w_elements() + problem.y_elements());
  const double useful = (problem.flops() + kOperationsPerElement * elements) / kOperationsPerThread;
  return std::max(1, static_cast<int>(std::min<double>(threads, useful)));
}

// Why the built-in path is the faster one, or null.
const char* builtin_is_faster(const ConvProblem& problem) {
  // Measured with oneDNN 2.6.3 on AVX-512, one thread, all directions: its depthwise kernels are for two dimensions;
  // with one or three it treats every group as a convolution and takes 1.5 to 5 times as long as our loops.
  if (problem.dims != 2 && Depthwise::accepts(problem))
    return "oneDNN 2.6 is 1.5 to 5 times slower on 1D and 3D depthwise";
  // Its weight gradient is for filters of 3x3; larger ones take 1.6 to 6 times as long as our loops.
  if (problem.direction == Direction::kBackwardWeight && std::ranges::max(problem.filter) > 3 &&
      Depthwise::accepts(problem))
    return "oneDNN 2.6 is 1.6 to 6 times slower on weight gradients of depthwise filters above 3x3";
  return nullptr;
}

}  // namespace

// Tries paths in order of preference until one fits the workspace limit.
struct CpuChoice {
  const ConvProblem& problem;
  const CpuOptions& options;
  int threads;
  std::shared_ptr<const UserCode> code;
  std::string declined;
  std::shared_ptr<CpuConvolution> chosen;

  bool take(std::shared_ptr<CpuConvolution> candidate, const std::string& why) {
    if (chosen) return true;
    if (options.workspace_limit && candidate->workspace_bytes_ > *options.workspace_limit) {
      decline(fmt::format("{} needs {} bytes of workspace, above the limit of {}", candidate->path_,
                          candidate->workspace_bytes_, *options.workspace_limit));
      return false;
    }
    chosen = std::move(candidate);
    chosen->code_ = code;
    if (!why.empty()) chosen->reason_ += "; " + why;
    if (!declined.empty()) chosen->reason_ += "; " + declined;
    return true;
  }

  void decline(const std::string& why) { declined += (declined.empty() ? "" : "; ") + why; }

  void try_onednn(const std::string& why) {
    if (chosen) return;
    Result<std::shared_ptr<Onednn>> made = Onednn::make(problem, threads);
    if (made.ok()) {
      take(*made, why);
    } else {
      decline(made.status().message());
    }
  }

  void try_builtin(const std::string& why) {
    if (!chosen && Depthwise::accepts(problem)) take(std::make_shared<BuiltinDepthwise>(problem, threads), why);
    if (!chosen) take(std::make_shared<BuiltinGemm>(problem, threads, false), why);
  }

  void try_without_workspace() {
    if (!chosen) take(std::make_shared<BuiltinGemm>(problem, threads, true), "");
  }
};

Result<std::shared_ptr<const CpuConvolution>> prepare_cpu(const ConvProblem& problem, const CpuOptions& options) {
  if (options.workspace_limit && *options.workspace_limit < 0)
    return bad_input("workspace limit {} is negative; give 0 or more bytes", *options.workspace_limit);
  WT_TRY_ASSIGN(std::shared_ptr<const UserCode> code,
                compile::user_code_for(epilogue_config_of(problem), problem.output_type()));
  CpuChoice choice{
      problem,         options, options.threads > 0 ? options.threads : threads_for(problem, hardware_threads()),
      std::move(code), "",      nullptr};
  const bool empty = problem.x_elements() == 0 || problem.y_elements() == 0;
  if (options.path == CpuPath::kOnednn && options.batch_invariant) {
    return unsupported(
        "oneDNN chooses its loops by the batch, so that it is not batch-invariant; use the built-in path");
  }
  if (options.path == CpuPath::kOnednn) {
    if (empty) return unsupported("{} is empty, which oneDNN does not take; use the built-in path", to_text(problem));
    choice.try_onednn("asked for");
    if (!choice.chosen) return failure(Code::kUnsupported, "{}", choice.declined);
    return std::shared_ptr<const CpuConvolution>(choice.chosen);
  }
  if (options.path == CpuPath::kBuiltin) {
    choice.try_builtin("asked for");
  } else if (options.batch_invariant) {
    choice.try_builtin("batch-invariant, which oneDNN does not promise");
  } else if (empty) {
    choice.try_builtin("the problem is empty");
  } else if (const char* why = builtin_is_faster(problem)) {
    choice.try_builtin(why);
    choice.try_onednn("");
  } else {
    choice.try_onednn("");
    choice.try_builtin("");
  }
  choice.try_without_workspace();
  WT_CHECK(choice.chosen, "no CPU path took {}", to_text(problem));
  return std::shared_ptr<const CpuConvolution>(choice.chosen);
}

Status CpuConvolution::execute(const Tensors& tensors, void* workspace) const {
  if (problem_.x_elements() > 0) WT_TRY(need(tensors, Tensor::kX, "x", problem_));
  WT_TRY(need(tensors, Tensor::kW, "w", problem_));
  if (problem_.y_elements() > 0) WT_TRY(need(tensors, Tensor::kY, "y", problem_));
  if (problem_.x_scales() > 0) WT_TRY(need(tensors, Tensor::kXScales, "x_scales", problem_));
  if (problem_.has_scales()) WT_TRY(need(tensors, Tensor::kWScales, "w_scales", problem_));
  if (problem_.epilogue.scale) WT_TRY(need(tensors, Tensor::kScale, "scale", problem_));
  if (problem_.epilogue.bias) WT_TRY(need(tensors, Tensor::kBias, "bias", problem_));
  if (problem_.epilogue.residual && problem_.output_elements() > 0)
    WT_TRY(need(tensors, Tensor::kResidual, "residual", problem_));
  if (problem_.epilogue.amax) WT_TRY(need(tensors, Tensor::kAmax, "amax", problem_));
  for (int i = 0; i < problem_.epilogue.auxiliaries() && problem_.output_elements() > 0; ++i)
    WT_TRY(need(tensors, auxiliary_tensor(i), fmt::format("aux{}", i).c_str(), problem_));
  if (workspace_bytes_ > 0 && !workspace)
    return bad_input("no workspace was given, but {} of {} bytes is needed", path_, workspace_bytes_);
  return run(tensors, static_cast<char*>(workspace));
}

std::string cpu_provider_description() {
  const OnednnPlugin& plugin = onednn_plugin();
  if (plugin.provider)
    return fmt::format("oneDNN {} ({}), built-in {} kernels, {} threads", plugin.provider->version, plugin.path,
                       kernels().name, hardware_threads());
  return fmt::format("built-in {} kernels, {} threads; {}", kernels().name, hardware_threads(), plugin.fault);
}

}  // namespace wt
