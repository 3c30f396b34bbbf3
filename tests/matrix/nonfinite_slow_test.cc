// SPDX-License-Identifier: Apache-2.0
// tests/matrix/nonfinite_slow_test.cc - NaNs of several bits and both infinities planted in the inputs of every type
// and kind of kernel: none gets lost, and none reaches what does not depend on it.
#include <cmath>
#include <cstring>

#include "problem/number.h"
#include "problem/reference.h"
#include "tests/matrix/cells.h"

namespace wt::matrix {
namespace {

// NaNs: all bits, quiet, the least, all bits and the sign; then the infinities, if the type has them.
std::vector<uint32_t> planted(DataType type) {
  switch (type) {
    case DataType::kF32:
    case DataType::kTf32:
      return {0x7fffffff, 0x7fc00000, 0x7f800001, 0xffffffff, 0x7f800000, 0xff800000};
    case DataType::kBf16:
      return {0x7fff, 0x7fc0, 0x7f81, 0xffff, 0x7f80, 0xff80};
    case DataType::kF16:
      return {0x7fff, 0x7e00, 0x7c01, 0xffff, 0x7c00, 0xfc00};
    case DataType::kE4m3:
      return {0x7f, 0xff};
    case DataType::kE5m2:
      return {0x7f, 0x7e, 0x7d, 0xff, 0x7c, 0xfc};
    case DataType::kI8:
      break;               // has numbers alone
    case DataType::kE2m1:  // has none
      break;
  }
  return {};
}

// Each in an image, a channel and a filter of its own, in the middle of the picture; several where there are too few.
void plant(const ConvProblem& p, Tensor role, Buffer& tensor) {
  const bool filter = role == Tensor::kW;
  const DataType type = filter ? p.w : role == Tensor::kX ? p.x : p.y;
  const Spatial size = filter ? p.filter : role == Tensor::kX ? p.in : p.out();
  const int64_t outer = filter ? p.k : p.n, channels = filter ? p.c_per_group() : role == Tensor::kX ? p.c : p.k;
  const int64_t place = (size[0] / 2 * size[1] + size[1] / 2) * size[2] + size[2] / 2;
  const std::vector<uint32_t> values = planted(type);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    const int64_t at = (number % outer * size[0] * size[1] * size[2] + place) * channels + number % channels;
    std::memcpy(tensor.data() + at * size_of(type), &values[i], static_cast<size_t>(size_of(type)));
  }
}

// What is wrong with `got` where the reference has `element`; empty: nothing. `whole`: it has no padding in its sum.
std::string fault(const ConvProblem& p, const KernelConfig& config, const ReferenceElement& element, bool whole,
                  float got) {
  const float right = round_to(p.output_type(), element.value);
  const bool lost = !std::isfinite(element.value) && std::isfinite(got) && std::isfinite(right) != std::isfinite(got);
  if (std::isnan(right)) {
    // A tf32's lower 13 bits are not read, and may be all that makes a NaN of an infinity.
    const bool infinite = p.first_type() == DataType::kTf32 && std::isinf(got);
    return std::isnan(got) || infinite ? "" : "a NaN got lost";
  }
  // Kernels that are finite_only multiply by zeros of their own, every kernel multiplies padding, and depthwise weight
  // gradients multiply the rows around a walk by zeros of dy: there an infinity's sum may be not a number.
  const bool walks = config.family() == Family::kDirect && config.direction == Direction::kBackwardWeight;
  if (std::isnan(got))
    return config.finite_only || !whole || (walks && std::isinf(element.value)) ? "" : "not a number";
  if (lost) return "an infinity got lost";
  return got == right ? "" : "wrong";
}

using Part = std::tuple<Target, Direction>;

class NonFinite : public Kernels, public testing::WithParamInterface<Part> {
 protected:
  void try_kernel(const std::shared_ptr<Device>& device, const ConvProblem& p, const KernelConfig& config) {
    const auto plan = make_kernel_plan(device, p, config, "tested");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    for (const Tensor role : {Tensor::kX, Tensor::kW, Tensor::kY}) {
      if (role == output_role(p)) continue;
      const auto tensors = TrialTensors::make(device, p, true, 7);
      ASSERT_TRUE(tensors.ok()) << tensors.status().message();
      ASSERT_TRUE((*tensors)->reserve_workspace((*plan)->workspace_bytes()).ok());
      HostTensors host = make_tensors(p, Fill::kExact, 7);
      Buffer& input = role == Tensor::kX ? host.x : role == Tensor::kW ? host.w : host.y;
      plant(p, role, input);
      ASSERT_TRUE(device->copy_in((*tensors)->pointers()[role], input.data(), input.size()).ok());
      const Status executed = (*plan)->execute((*tensors)->pointers(), nullptr);
      ASSERT_TRUE(executed.ok()) << executed.message();
      ASSERT_TRUE((*tensors)->fetch_outputs().ok());
      compare(p, config, role, host, output_of(p, (*tensors)->host()));
    }
  }

 private:
  static Tensor output_role(const ConvProblem& p) {
    return p.direction == Direction::kForward        ? Tensor::kY
           : p.direction == Direction::kBackwardData ? Tensor::kX
                                                     : Tensor::kW;
  }

  static void compare(const ConvProblem& p, const KernelConfig& config, Tensor role, const HostTensors& host,
                      const Buffer& output) {
    const auto count = static_cast<int64_t>(output.size()) / size_of(p.output_type());
    std::vector<ReferenceElement> elements;
    int64_t most = 0, poisoned = 0;
    for (int64_t i = 0; i < count; ++i) {
      elements.push_back(reference_element(p, host, i));
      most = std::max(most, elements.back().terms);
      poisoned += !std::isfinite(elements.back().value);
    }
    EXPECT_GT(poisoned, 0) << "nothing was planted";
    for (int64_t i = 0; i < count; ++i) {
      const ReferenceElement& element = elements[static_cast<size_t>(i)];
      const float got = load(p.output_type(), output.data(), i);
      const std::string what = fault(p, config, element, element.terms == most, got);
      if (what.empty()) continue;
      ADD_FAILURE() << what << ": " << to_text(p) << " by " << name_of(config) << ", planted in tensor "
                    << static_cast<int>(role) << ", " << output_position(p, i) << ": " << got << " instead of "
                    << element.value;
      return;  // one of a kernel is enough
    }
  }
};

// The least sizes that each kind of kernel takes, with an image for each number that is planted.
constexpr const char* kSizes[] = {"n6 c16 k16 i4x5 f3x3 p1",     "n6 c16 k16 i3x4 f1x1",
                                  "n6 c16 k16 i5x4 f3x3 s2 p1",  "n6 c16 k16 i4x4 f2x2 s2",
                                  "n6 c64 k64 g64 i5x6 f3x3 p1", "n6 c64 k64 g8 i5x6 f3x3 p1",
                                  "n6 c3 k64 i8x8 f3x3 p1",      "n6 c64 k3 i8x8 f3x3 p1"};

TEST_P(NonFinite, ReachesWhatDependsOnIt) {
  const auto [target, direction] = GetParam();
  struct Run {
    ConvProblem problem;
    KernelConfig config;
  };
  std::vector<Run> runs;
  std::vector<KernelConfig> kernels;
  std::set<std::tuple<Kind, std::string, bool, bool>> seen;
  for (const char* types : {"fp32", "tf32", "fp16", "bf16", "e4m3>fp32", "e5m2>bf16", "fp32>bf16", "e4m3", "e5m2"}) {
    for (const char* sizes : kSizes) {
      const ConvProblem problem = problem_of(fmt::format("{} {} {}", name_of(direction), types, sizes));
      for (const RankedConfig& ranked : rank(problem, usual_rates(target), {})) {
        const KernelConfig& config = *ranked.config;
        const bool halo = config.gemm.loader_a == Loader::kTmaHalo || config.gemm.loader_b == Loader::kTmaHalo;
        if (!seen.emplace(config.kind, types, config.finite_only, halo).second) continue;
        runs.push_back({problem, config});
        kernels.push_back(config);
      }
    }
  }
  compile_ahead(kernels);
  const auto device = simulated(target);
  ASSERT_NE(device, nullptr);
  for (const Run& run : runs) try_kernel(device, run.problem, run.config);
  RecordProperty("kernels", static_cast<int>(kernels.size()));
}

std::vector<Part> parts() {
  std::vector<Part> parts;
  for (const Target target : matrix_targets()) {
    for (const Direction direction : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight})
      if (all_cells() || in_ci(target)) parts.emplace_back(target, direction);
  }
  return parts;
}

std::string name_of_part(const testing::TestParamInfo<Part>& part) {
  const auto [target, direction] = part.param;
  return fmt::format("{}_{}", text_of(target), name_of(direction));
}

INSTANTIATE_TEST_SUITE_P(Kinds, NonFinite, testing::ValuesIn(parts()), name_of_part);

}  // namespace
}  // namespace wt::matrix
