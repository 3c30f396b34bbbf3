// SPDX-License-Identifier: Apache-2.0
#include "runtime/cudnn/convolution.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "runtime/cuda/device.h"

namespace wt::cudnn {
namespace {

constexpr int64_t kX = 'x', kW = 'w', kY = 'y';  // unique ids of the tensors
constexpr int64_t kAlignment = 16;

// A descriptor that goes away with the object.
class Owned {
 public:
  Owned() = default;
  Owned(const Library& library, Descriptor descriptor) : library_(&library), descriptor_(descriptor) {}
  Owned(Owned&& other) noexcept { *this = std::move(other); }
  Owned& operator=(Owned&& other) noexcept {
    std::swap(library_, other.library_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Owned() {
    if (descriptor_) library_->destroy_descriptor(descriptor_);
  }
  static Result<Owned> make(const Library& library, DescriptorType type) {
    Descriptor descriptor = nullptr;
    WT_TRY(library.check(library.create_descriptor(type, &descriptor), "cudnnBackendCreateDescriptor"));
    return Owned(library, descriptor);
  }

  Descriptor get() const { return descriptor_; }

  // The first fault of a chain of sets stays and comes out at finalize.
  Owned& set(Attribute name, AttributeType type, int64_t count, const void* values) {
    if (status_ == 0) status_ = library_->set_attribute(descriptor_, name, type, count, values);
    return *this;
  }
  Owned& set(Attribute name, const std::vector<int64_t>& values) {
    return set(name, kTypeInt64, static_cast<int64_t>(values.size()), values.data());
  }
  Owned& set(Attribute name, const Owned& other) {
    const Descriptor descriptor = other.get();
    return set(name, kTypeDescriptor, 1, &descriptor);
  }
  Owned& set_int(Attribute name, int64_t value) { return set(name, kTypeInt64, 1, &value); }
  Owned& set_enum(Attribute name, AttributeType type, int value) { return set(name, type, 1, &value); }
  Owned& set_float(Attribute name, float value) { return set(name, kTypeFloat, 1, &value); }
  Status finalize(const char* what) {
    WT_TRY(library_->check(status_, "cudnnBackendSetAttribute").with_context(what));
    return library_->check(library_->finalize(descriptor_), "cudnnBackendFinalize").with_context(what);
  }

 private:
  const Library* library_ = nullptr;
  Descriptor descriptor_ = nullptr;
  int status_ = 0;
};

Result<Type> type_of(DataType type) {
  switch (type) {
    case DataType::kF32:
    case DataType::kTf32:
      return kFloat;
    case DataType::kF16:
      return kHalf;
    case DataType::kBf16:
      return kBfloat16;
    default:
      return unsupported("{} is not compared with cuDNN", name_of(type));
  }
}

// cuDNN knows two and three dimensions; one is two of height one.
int first_dim(const ConvProblem& problem) { return problem.dims == 3 ? 0 : 1; }

std::vector<int64_t> used(const ConvProblem& problem, const Spatial& values) {
  return std::vector<int64_t>(values.begin() + first_dim(problem), values.end());
}

std::vector<int64_t> dims_of(const ConvProblem& problem, int64_t outer, int64_t channels, const Spatial& size) {
  std::vector<int64_t> dims = {outer, channels};
  for (const int64_t value : used(problem, size)) dims.push_back(value);
  return dims;
}

std::vector<int64_t> strides_of(const ConvProblem& problem, const Strides& strides) {
  std::vector<int64_t> list = {strides.outer, strides.channel};
  for (const int64_t value : used(problem, strides.spatial)) list.push_back(value);
  return list;
}

class Plans final : public Convolution {
 public:
  Plans(std::shared_ptr<Device> device, const ConvProblem& problem, const Library& library)
      : device_(std::move(device)), problem_(problem), library_(library) {}

  ~Plans() override {
    const CurrentContext current(*device_);
    pack_ = {};
    plans_.clear();
    graph_ = {};
    operation_ = {};
    for (Owned* item : {&x_, &w_, &y_, &convolution_}) *item = {};
    if (handle_) library_.destroy(handle_);
  }

  Status build(size_t most) {
    const CurrentContext current(*device_);
    WT_TRY(current.status());
    const Status created = library_.check(library_.create(&handle_), "cudnnCreate");
    if (!created.ok()) {
      return failure(created.code(),
                     "{}; the other libraries of cuDNN must lie beside {}, and the loader must find those "
                     "of CUDA that they need (LD_LIBRARY_PATH)",
                     created.message(), library_.path);
    }
    WT_TRY(make_graph());
    for (const Heuristics mode : {kModeA, kModeFallback}) {
      if (plans_.size() < most) WT_TRY(add_plans(mode, most));
    }
    if (plans_.empty()) return unsupported("cuDNN has no plan for '{}'", to_text(problem_));
    return {};
  }

  size_t plans() const override { return plans_.size(); }
  int64_t workspace_bytes(size_t plan) const override { return plans_[plan].workspace; }
  std::string name(size_t plan) const override { return fmt::format("engine {}", plans_[plan].engine); }

  Status execute(size_t plan, void* x, void* w, void* y, void* workspace, Stream stream) const override {
    const CurrentContext current(*device_);
    WT_TRY(current.status());
    const std::array<void*, 4> pointers = {x, w, y, workspace};
    if (!pack_.get() || pointers != packed_) WT_TRY(make_pack(pointers));
    if (!stream_ || *stream_ != stream) {
      WT_TRY(library_.check(library_.set_stream(handle_, stream), "cudnnSetStream"));
      stream_ = stream;
    }
    return library_.check(library_.execute(handle_, plans_[plan].plan.get(), pack_.get()), "cudnnBackendExecute");
  }

 private:
  struct Made {
    Owned config, plan;  // the plan reads its configuration as long as it lives
    int64_t workspace = 0;
    int64_t engine = -1;
  };

  Status make_pack(const std::array<void*, 4>& pointers) const {
    WT_TRY_ASSIGN(pack_, Owned::make(library_, kVariantPack));
    pack_.set(kPackUniqueIds, {kX, kW, kY});
    pack_.set(kPackPointers, kTypePointer, 3, pointers.data());
    pack_.set(kPackWorkspace, kTypePointer, 1, &pointers[3]);
    packed_ = pointers;
    const Status status = pack_.finalize("variant pack");
    if (!status.ok()) pack_ = {};
    return status;
  }

  Result<Owned> tensor(int64_t id, DataType type, const std::vector<int64_t>& dims,
                       const std::vector<int64_t>& strides) const {
    WT_TRY_ASSIGN(const Type data_type, type_of(type));
    WT_TRY_ASSIGN(Owned made, Owned::make(library_, kTensor));
    const bool is_virtual = false;
    made.set_enum(kTensorDataType, kTypeDataType, data_type).set(kTensorDimensions, dims).set(kTensorStrides, strides);
    made.set_int(kTensorUniqueId, id).set_int(kTensorAlignment, kAlignment);
    made.set(kTensorIsVirtual, kTypeBoolean, 1, &is_virtual);
    WT_TRY(made.finalize("tensor"));
    return made;
  }

  Status make_graph() {
    const ConvProblem& p = problem_;
    WT_TRY_ASSIGN(x_, tensor(kX, p.x, dims_of(p, p.n, p.c, p.in), strides_of(p, x_strides(p))));
    WT_TRY_ASSIGN(w_, tensor(kW, p.w, dims_of(p, p.k, p.c_per_group(), p.filter), strides_of(p, w_strides(p))));
    WT_TRY_ASSIGN(y_, tensor(kY, p.y, dims_of(p, p.n, p.k, p.out()), strides_of(p, y_strides(p))));
    WT_TRY_ASSIGN(convolution_, Owned::make(library_, kConvolution));
    convolution_.set_enum(kConvolutionComputeType, kTypeDataType, kFloat);
    convolution_.set_enum(kConvolutionMode, kTypeConvolutionMode, kCrossCorrelation);
    convolution_.set_int(kConvolutionSpatialDims, kMaxDims - first_dim(p));
    convolution_.set(kConvolutionStrides, used(p, p.stride)).set(kConvolutionDilations, used(p, p.dilation));
    convolution_.set(kConvolutionPrePaddings, used(p, p.pad_lower));
    convolution_.set(kConvolutionPostPaddings, used(p, p.pad_upper));
    WT_TRY(convolution_.finalize("convolution"));
    WT_TRY(make_operation());
    WT_TRY_ASSIGN(graph_, Owned::make(library_, kOperationGraph));
    graph_.set(kGraphHandle, kTypeHandle, 1, &handle_).set(kGraphOperations, operation_);
    return graph_.finalize("operation graph");
  }

  Status make_operation() {
    const Direction direction = problem_.direction;
    const DescriptorType type = direction == Direction::kForward        ? kForward
                                : direction == Direction::kBackwardData ? kBackwardData
                                                                        : kBackwardFilter;
    WT_TRY_ASSIGN(operation_, Owned::make(library_, type));
    if (type == kForward) {
      operation_.set(kForwardX, x_).set(kForwardW, w_).set(kForwardY, y_).set(kForwardConvolution, convolution_);
      operation_.set_float(kForwardAlpha, 1).set_float(kForwardBeta, 0);
    } else if (type == kBackwardData) {
      operation_.set(kBackwardDataDx, x_).set(kBackwardDataW, w_).set(kBackwardDataDy, y_);
      operation_.set(kBackwardDataConvolution, convolution_);
      operation_.set_float(kBackwardDataAlpha, 1).set_float(kBackwardDataBeta, 0);
    } else {
      operation_.set(kBackwardFilterX, x_).set(kBackwardFilterDw, w_).set(kBackwardFilterDy, y_);
      operation_.set(kBackwardFilterConvolution, convolution_);
      operation_.set_float(kBackwardFilterAlpha, 1).set_float(kBackwardFilterBeta, 0);
    }
    return operation_.finalize("operation");
  }

  // Heuristics that have nothing for the problem say so by a failure; that is no fault of ours.
  Status add_plans(Heuristics mode, size_t most) {
    WT_TRY_ASSIGN(Owned heuristics, Owned::make(library_, kEngineHeuristics));
    heuristics.set(kHeuristicsGraph, graph_).set_enum(kHeuristicsMode, kTypeHeuristicsMode, mode);
    if (!heuristics.finalize("heuristics").ok()) return {};
    const auto wanted = static_cast<int64_t>(most - plans_.size());
    std::vector<Owned> configs;
    std::vector<Descriptor> raw;
    for (int64_t i = 0; i < wanted; ++i) {
      WT_TRY_ASSIGN(Owned config, Owned::make(library_, kEngineConfig));
      raw.push_back(config.get());
      configs.push_back(std::move(config));
    }
    int64_t found = 0;
    WT_TRY(library_.check(
        library_.get_attribute(heuristics.get(), kHeuristicsResults, kTypeDescriptor, wanted, &found, raw.data()),
        "cudnnBackendGetAttribute(heuristics)"));
    for (int64_t i = 0; i < std::min(found, wanted); ++i) WT_TRY(add_plan(std::move(configs[static_cast<size_t>(i)])));
    return {};
  }

  // A plan that cuDNN declines to make is passed over, as its own front end does.
  Status add_plan(Owned config) {
    WT_TRY_ASSIGN(Owned engine, Owned::make(library_, kEngine));
    Descriptor raw = engine.get();
    int64_t count = 0;
    WT_TRY(library_.check(library_.get_attribute(config.get(), kConfigEngine, kTypeDescriptor, 1, &count, &raw),
                          "cudnnBackendGetAttribute(engine)"));
    Made made;
    WT_TRY(library_.check(library_.get_attribute(engine.get(), kEngineIndex, kTypeInt64, 1, &count, &made.engine),
                          "cudnnBackendGetAttribute(engine index)"));
    if (problem_.first_type() == DataType::kF32 && rounds_inputs(engine)) return {};
    WT_TRY_ASSIGN(made.plan, Owned::make(library_, kExecutionPlan));
    made.plan.set(kPlanHandle, kTypeHandle, 1, &handle_).set(kPlanConfig, config);
    if (!made.plan.finalize("execution plan").ok()) return {};
    WT_TRY(
        library_.check(library_.get_attribute(made.plan.get(), kPlanWorkspace, kTypeInt64, 1, &count, &made.workspace),
                       "cudnnBackendGetAttribute(workspace)"));
    made.config = std::move(config);
    plans_.push_back(std::move(made));
    return {};
  }

  // fp32 means fp32: engines that multiply as tf32 or lower are not comparable.
  bool rounds_inputs(const Owned& engine) const {
    std::vector<int> notes(kNoteCount);
    int64_t count = 0;
    if (library_.get_attribute(engine.get(), kEngineNumericalNotes, kTypeNumericalNote, kNoteCount, &count,
                               notes.data()) != 0)
      return false;
    notes.resize(static_cast<size_t>(std::clamp<int64_t>(count, 0, kNoteCount)));
    return std::ranges::any_of(notes, [](int note) { return note == kTensorCore || note == kDownConvertInputs; });
  }

  std::shared_ptr<Device> device_;
  ConvProblem problem_;
  const Library& library_;
  Handle handle_ = nullptr;
  Owned x_, w_, y_, convolution_, operation_, graph_;
  std::vector<Made> plans_;
  // WHY kept: to make a pack for every run would cost the host more than a short convolution takes.
  mutable Owned pack_;
  mutable std::array<void*, 4> packed_{};
  mutable std::optional<Stream> stream_;  // that the handle has
};

}  // namespace

Result<std::unique_ptr<Convolution>> Convolution::make(std::shared_ptr<Device> device, const ConvProblem& problem,
                                                       size_t most) {
  if (device->info().kind != DeviceKind::kCuda) {
    return unsupported("cuDNN runs on a GPU, not on {}", device->info().id);
  }
  if (!(problem.epilogue == Epilogue{})) {
    return unsupported("'{}' has an epilogue; only plain convolutions are compared with cuDNN", to_text(problem));
  }
  if (problem.history || problem.bias_gradient != BiasGradient::kNone) {
    return unsupported("'{}' has a history or a bias gradient; only plain convolutions are compared with cuDNN",
                       to_text(problem));
  }
  if (problem.n == 0) return unsupported("'{}' is empty", to_text(problem));
  WT_TRY_ASSIGN(const Library* library, load());
  auto plans = std::make_unique<Plans>(std::move(device), problem, *library);
  WT_TRY(plans->build(most));
  return std::unique_ptr<Convolution>(std::move(plans));
}

}  // namespace wt::cudnn
