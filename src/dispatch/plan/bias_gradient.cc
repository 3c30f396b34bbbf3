// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan/bias_gradient.h"

#include <algorithm>
#include <numeric>

#include "base/integers.h"
#include "compile/compiler.h"
#include "config/enum_names.h"
#include "dispatch/choice/packs.h"
#include "kernels/beside/device/channel_sum_arguments.h"

namespace wt {
namespace {

constexpr int64_t kMostChannels = 1 << 24;
constexpr const char* kCpuName = "cpu_channel_sum";
constexpr int64_t kBlocksPerMultiprocessor = 4, kLoadsPerThread = 8;

template <class Enum>
std::string_view cpp_name(Enum value) {
  return enum_table<Enum>().names[static_cast<size_t>(value)].cpp;
}

class CpuSummer final : public ChannelSummer {
 public:
  explicit CpuSummer(const ChannelTensor& tensor) : tensor_(tensor) {
    description_.kernel = kCpuName;
    description_.reason = "sums in double on the CPU";
  }
  const ChannelTensor& tensor() const override { return tensor_; }
  const PlanDescription& description() const override { return description_; }
  int64_t workspace_bytes() const override { return 0; }
  Status execute(const void* in, float* out, void*, Stream) const override {
    if (!out || (!in && tensor_.elements() > 0)) return bad_input("a bias gradient needs its tensor and its output");
    const std::vector<ChannelSum> sums = channel_sums(tensor_, in);
    for (size_t i = 0; i < sums.size(); ++i) out[i] = static_cast<float>(sums[i].total);
    return {};
  }

 private:
  ChannelTensor tensor_;
  PlanDescription description_;
};

// How the tensor is cut into loads, threads and blocks.
struct Cut {
  ChannelPartsArguments parts{};
  ChannelTotalsArguments totals{};
  uint32_t parts_blocks = 1, totals_blocks = 1;
  uint32_t parts_shared = 0;
  int64_t workspace_bytes = 0;  // 0: one launch does it all
};

// A block's lanes and slots for rows of so many loads: whole rows where they fit, else parts that waste few threads.
void share_row(ChannelPartsArguments& parts) {
  constexpr int64_t kThreads = kChannelSumThreads;
  int64_t best = 0;
  const int64_t least = ceil_div(parts.row_vectors, kThreads);
  for (int64_t blocks = least; blocks <= least + 3; ++blocks) {
    const int64_t lanes = ceil_div(parts.row_vectors, blocks), slots = kThreads / lanes;
    const int64_t columns = ceil_div(parts.row_vectors, lanes);
    const int64_t useful =
        parts.row_vectors * slots * kThreads / columns;  // threads that load, of all, times a constant
    if (useful <= best) continue;
    best = useful;
    parts.lanes = static_cast<i32>(lanes);
    parts.slots = static_cast<i32>(slots);
    parts.column_blocks = static_cast<i32>(columns);
  }
}

// Rows of blocks, at most as many as the workspace has room for.
int64_t row_blocks(int64_t rows, int64_t slots, int64_t columns, const DeviceInfo& device, int64_t room) {
  const int64_t wanted = ceil_div(rows, slots * kLoadsPerThread);
  const int64_t most = std::max<int64_t>(1, device.multiprocessors * kBlocksPerMultiprocessor / columns);
  return std::min(std::clamp<int64_t>(wanted, 1, most), room);
}

void cut_last(const ChannelTensor& t, const DeviceInfo& device, std::optional<int64_t> limit, Cut& cut) {
  ChannelPartsArguments& p = cut.parts;
  const int64_t vector = kChannelSumBytes / size_of(t.type), common = std::gcd(t.channels, vector);
  p.width = t.channels / common * vector;
  p.row_vectors = static_cast<i32>(p.width / vector);
  p.rows = t.elements() / p.width;
  share_row(p);
  const int64_t row_bytes = p.width * static_cast<int64_t>(sizeof(float));
  p.row_blocks =
      static_cast<i32>(row_blocks(p.rows, p.slots, p.column_blocks, device, limit ? *limit / row_bytes : INT32_MAX));
  // Without parts, the second launch adds every row by itself.
  if (p.row_blocks == 0) p.rows = 0;
  cut.workspace_bytes = p.row_blocks * row_bytes;
  cut.parts_blocks = static_cast<uint32_t>(int64_t{p.row_blocks} * p.column_blocks);
  cut.parts_shared = static_cast<uint32_t>(vector * kChannelSumThreads * static_cast<int64_t>(sizeof(float)));
  cut.totals.tail_first = p.rows * p.width;
  cut.totals.tail_rows = (t.elements() - cut.totals.tail_first) / t.channels;
}

void cut_first(const ChannelTensor& t, const DeviceInfo& device, std::optional<int64_t> limit, Cut& cut) {
  ChannelPartsArguments& p = cut.parts;
  const int64_t vector = kChannelSumBytes / size_of(t.type);
  p.width = p.channels = t.channels;
  p.pixels = t.pixels;
  // Threads that one line keeps busy; longer lines are cut into segments of several loads per thread.
  p.lanes = 1;
  while (p.lanes < kChannelSumThreads && p.lanes * vector < t.pixels) p.lanes *= 2;
  p.slots = kChannelSumThreads / p.lanes;
  p.segment_elements = std::max<int64_t>(1, p.lanes * vector * kLoadsPerThread);
  p.segments = ceil_div(t.pixels, p.segment_elements);
  p.items = t.images * p.segments;
  const int64_t row_bytes = t.channels * static_cast<int64_t>(sizeof(float));
  p.row_blocks =
      static_cast<i32>(row_blocks(p.items, p.slots, t.channels, device, limit ? *limit / row_bytes : INT32_MAX));
  cut.workspace_bytes = p.row_blocks * row_bytes;
  p.row_blocks = std::max(1, p.row_blocks);  // without parts, the first launch writes the sums
  cut.parts_blocks = static_cast<uint32_t>(int64_t{p.row_blocks} * t.channels);
  cut.parts_shared = kChannelSumThreads * sizeof(float);
}

Cut cut_tensor(const ChannelTensor& t, const DeviceInfo& device, std::optional<int64_t> limit) {
  Cut cut;
  cut.parts.elements = t.elements();
  t.layout == Layout::kChannelsLast ? cut_last(t, device, limit, cut) : cut_first(t, device, limit, cut);
  cut.totals.channels = t.channels;
  cut.totals.row_blocks = cut.parts.row_blocks;
  cut.totals.width = cut.parts.width;
  // Few channels: more threads for each.
  cut.totals.elements = t.channels >= 1024 ? 32 : t.channels >= 64 ? 8 : 1;
  cut.totals_blocks = static_cast<uint32_t>(ceil_div(t.channels, cut.totals.elements));
  return cut;
}

class KernelSummer final : public ChannelSummer {
 public:
  KernelSummer(std::shared_ptr<Device> device, const ChannelTensor& tensor, std::optional<int64_t> workspace_limit)
      : device_(std::move(device)), tensor_(tensor), cut_(cut_tensor(tensor, device_->info(), workspace_limit)) {}

  Status prepare(const std::string& name) {
    const Target target = device_->info().target;
    const bool last = tensor_.layout == Layout::kChannelsLast;
    const std::string arguments =
        fmt::format("wt::DataType::{}, wt::Target::{}", cpp_name(tensor_.type), cpp_name(target));
    const std::string source = fmt::format(
        "// SPDX-License-Identifier: Apache-2.0\n#include \"kernels/beside/device/channel_sum.h\"\n\n"
        "WT_KERNEL({}_parts, wt::ChannelParts{}<{}>)\nWT_KERNEL({}_totals, wt::ChannelTotals<{}>)\n",
        name, last ? "Last" : "First", arguments, name, arguments);
    compile::Module compiled;
    WT_TRY_ASSIGN(module_, compile::compile_and_load(backend_for(device_->info()), {name, source, target}, compiled,
                                                     [&](const compile::Module& m) { return device_->load(m); }));
    WT_TRY_ASSIGN(parts_, module_->find(name + "_parts"));
    WT_TRY_ASSIGN(totals_, module_->find(name + "_totals"));
    description_.kernel = name;
    description_.reason = fmt::format("{} blocks, {} rows of parts", cut_.parts_blocks, cut_.parts.row_blocks);
    description_.registers = compiled.resources.registers;
    description_.spill_bytes = compiled.resources.spill_bytes;
    description_.compile_seconds = compiled.resources.compile_seconds;
    description_.from_cache = compiled.from_cache;
    description_.launches = cut_.workspace_bytes > 0 ? 2 : 1;
    parts_shape_ = {
        .grid = {cut_.parts_blocks, 1, 1}, .threads = kChannelSumThreads, .shared_bytes = cut_.parts_shared};
    totals_shape_ = {.grid = {cut_.totals_blocks, 1, 1},
                     .threads = kChannelSumThreads,
                     .shared_bytes = kChannelSumThreads * sizeof(float),
                     .programmatic = has_bulk_copies(target) && cut_.workspace_bytes > 0};
    return {};
  }

  const ChannelTensor& tensor() const override { return tensor_; }
  const PlanDescription& description() const override { return description_; }
  int64_t workspace_bytes() const override { return cut_.workspace_bytes; }

  Status execute(const void* in, float* out, void* workspace, Stream stream) const override {
    const bool both = cut_.workspace_bytes > 0, last = tensor_.layout == Layout::kChannelsLast;
    if (!out || (both && !workspace) || (!in && tensor_.elements() > 0)) {
      return bad_input("a bias gradient needs its tensor, its output and {} bytes of workspace, but a pointer is null",
                       workspace_bytes());
    }
    if (both || !last) {
      ChannelPartsArguments parts = cut_.parts;
      parts.in = in;
      parts.parts = both ? static_cast<float*>(workspace) : out;
      WT_TRY(device_->launch(*parts_, parts_shape_, std::as_bytes(std::span(&parts, 1)), stream));
      if (!both) return {};
    }
    ChannelTotalsArguments totals = cut_.totals;
    totals.in = in;
    totals.parts = static_cast<const float*>(workspace);
    totals.out = out;
    return device_->launch(*totals_, totals_shape_, std::as_bytes(std::span(&totals, 1)), stream);
  }

 private:
  std::shared_ptr<Device> device_;
  ChannelTensor tensor_;
  Cut cut_;
  PlanDescription description_;
  std::shared_ptr<LoadedModule> module_;
  const Function* parts_ = nullptr;
  const Function* totals_ = nullptr;
  LaunchShape parts_shape_, totals_shape_;
};

class BiasGradientPlan final : public Plan {
 public:
  BiasGradientPlan(const ConvProblem& problem, std::shared_ptr<const Plan> inner,
                   std::shared_ptr<const ChannelSummer> summer, const std::string& reason)
      : problem_(problem), inner_(std::move(inner)), summer_(std::move(summer)), description_(inner_->description()) {
    const PlanDescription& sums = summer_->description();
    description_.launches += sums.launches;
    description_.compile_seconds += sums.compile_seconds;
    description_.from_cache = description_.from_cache && sums.from_cache;
    description_.reason = fmt::format("{}: {}", reason, inner_->description().reason);
  }

  const ConvProblem& problem() const override { return problem_; }
  const PlanDescription& description() const override { return description_; }
  // The sums begin when the weight gradient is done, so both may have the same memory.
  int64_t workspace_bytes() const override { return std::max(inner_->workspace_bytes(), summer_->workspace_bytes()); }

  Status execute(const TensorPointers& tensors, Stream stream) const override {
    WT_TRY(inner_->execute(tensors, stream));
    const Tensor in = problem_.bias_gradient == BiasGradient::kOfX ? Tensor::kX : Tensor::kY;
    return summer_->execute(tensors[in], static_cast<float*>(tensors[Tensor::kBiasGradient]),
                            tensors[Tensor::kWorkspace], stream);
  }

 private:
  ConvProblem problem_;
  std::shared_ptr<const Plan> inner_;
  std::shared_ptr<const ChannelSummer> summer_;
  PlanDescription description_;
};

}  // namespace

Result<std::string> channel_summer_name(const DeviceInfo& device, const ChannelTensor& tensor) {
  if (device.kind == DeviceKind::kCpu) return std::string(kCpuName);
  if (tensor.channels > kMostChannels) {
    return unsupported("a bias gradient of {} channels; the kernel counts to {}", tensor.channels, kMostChannels);
  }
  const bool last = tensor.layout == Layout::kChannelsLast;
  return fmt::format("channel_sum_{}_{}", name_of(tensor.type), last ? "last" : "first");
}

Result<std::shared_ptr<const ChannelSummer>> make_channel_summer(const std::shared_ptr<Device>& device,
                                                                 const ChannelTensor& tensor,
                                                                 std::optional<int64_t> workspace_limit) {
  if (device->info().kind == DeviceKind::kCpu) {
    return std::shared_ptr<const ChannelSummer>(std::make_shared<CpuSummer>(tensor));
  }
  WT_TRY_ASSIGN(const std::string name, channel_summer_name(device->info(), tensor));
  auto summer = std::make_shared<KernelSummer>(device, tensor, workspace_limit);
  WT_TRY(summer->prepare(name));
  return std::shared_ptr<const ChannelSummer>(std::move(summer));
}

Result<std::shared_ptr<const Plan>> make_bias_gradient_plan(const std::shared_ptr<Device>& device,
                                                            const ConvProblem& problem, const PlanOptions& options,
                                                            std::shared_ptr<const Plan> inner,
                                                            const std::string& reason) {
  WT_TRY_ASSIGN(
      std::shared_ptr<const ChannelSummer> summer,
      make_channel_summer(device, bias_gradient_tensor(problem, problem.bias_gradient), options.workspace_limit));
  return std::shared_ptr<const Plan>(
      std::make_shared<BiasGradientPlan>(problem, std::move(inner), std::move(summer), reason));
}

}  // namespace wt
