// SPDX-License-Identifier: Apache-2.0
// tests/runtime/cpu_provider_test.cc - every kind of problem through every CPU path, against the reference.
#include "runtime/cpu/provider.h"

#include <cstring>
#include <thread>

#include "problem/random_problem.h"
#include "tests/runtime/cpu_run.h"

namespace wt {
namespace {

constexpr Direction kDirections[] = {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight};
constexpr Layout kLayouts[] = {Layout::kChannelsLast, Layout::kChannelsFirst};

struct Channels {
  int64_t g, c, k;
};
constexpr Channels kChannels[] = {
    {1, 5, 7}, {1, 40, 33}, {3, 6, 9}, {6, 6, 6}, {70, 70, 70}, {4, 4, 8},
};

struct Window {
  int64_t in, filter, stride, dilation, lower, upper;
};
constexpr Window kWindows[] = {
    {7, 3, 1, 1, 1, 1},  // same
    {8, 3, 2, 1, 0, 1},  // asymmetric, stride
    {9, 2, 1, 3, 2, 1},  // dilation
    {7, 2, 3, 1, 1, 0},  // backward data has phases without taps
    {5, 1, 1, 1, 0, 0},  // pointwise
};

ConvProblem make_problem(Direction direction, Layout layout, int dims, const Channels& channels, const Window& window) {
  ConvProblem problem;
  problem.direction = direction;
  problem.layout = layout;
  problem.dims = dims;
  problem.x = problem.w = problem.y = DataType::kF32;
  problem.n = 2;
  problem.g = channels.g, problem.c = channels.c, problem.k = channels.k;
  for (size_t i = static_cast<size_t>(kMaxDims - dims); i < kMaxDims; ++i) {
    problem.in[i] = window.in + static_cast<int64_t>(i);  // all different, so that a mix-up shows
    problem.filter[i] = window.filter;
    problem.stride[i] = window.stride, problem.dilation[i] = window.dilation;
    problem.pad_lower[i] = window.lower, problem.pad_upper[i] = window.upper;
  }
  return problem;
}

ConvProblem small_problem(Direction direction, Layout layout) {
  return make_problem(direction, layout, 2, {1, 12, 10}, {6, 3, 1, 1, 1, 1});
}

DataType& output_type(ConvProblem& problem) {
  if (problem.direction == Direction::kForward) return problem.y;
  return problem.direction == Direction::kBackwardData ? problem.x : problem.w;
}

INSTANTIATE_TEST_SUITE_P(All, CpuPaths, all_paths(), path_name);

TEST_P(CpuPaths, EveryShape) {
  for (const Direction direction : kDirections)
    for (const Layout layout : kLayouts)
      for (int dims = 1; dims <= 3; ++dims)
        for (const Channels& channels : kChannels)
          for (const Window& window : kWindows) {
            // Many channels in 3D are slow for the reference and reach no other code.
            if (dims == 3 && channels.c >= 40 && window.filter > 1) continue;
            run_and_verify(make_problem(direction, layout, dims, channels, window), GetParam().options, Fill::kExact);
            if (HasFatalFailure() || HasNonfatalFailure()) return;
          }
}

TEST_P(CpuPaths, EveryType) {
  constexpr DataType kTypes[] = {DataType::kF32,  DataType::kTf32, DataType::kF16,
                                 DataType::kBf16, DataType::kE4m3, DataType::kE5m2};
  for (const Direction direction : kDirections)
    for (const Layout layout : kLayouts)
      for (const Channels& channels : {Channels{1, 9, 11}, Channels{17, 17, 17}})
        for (const DataType type : kTypes) {
          ConvProblem problem = make_problem(direction, layout, 2, channels, {6, 3, 2, 1, 1, 0});
          problem.x = problem.w = problem.y = type;
          if (type == DataType::kTf32) output_type(problem) = DataType::kF32;
          for (const Fill fill : {Fill::kExact, Fill::kRandom}) run_and_verify(problem, GetParam().options, fill);
        }
}

// To the bit, by GEMM and by depthwise loops; sums longer than fp32 holds are among them.
TEST_P(CpuPaths, Int8IsExact) {
  for (const char* text : {"fwd int8 n2 c17 k19 i9x7 f3x3 s2 p1 x_zero=-77 y_zero=31 +scale+bias+residual+relu",
                           "fwd int8 n2 c17 k19 i9x7 f3x3 s2 p1 NCHW x_zero=-77 y_zero=31 +scale+bias+residual+relu",
                           "fwd int8*int8>fp32 n1 c1200 k16 i2x2 f1x1 x_zero=-128 +scale+bias",
                           "fwd int8 n1 c12 k12 g12 i9x8 f5x3 p2 x_zero=100 y_zero=-3 +scale",
                           "fwd int8*int8>bf16 n1 c12 k12 g12 i9x8 f5x3 p2 NCHW x_zero=100 +leaky_relu=0.3",
                           "fwd int8*int8>fp16 n1 c36 k24 g2 i5x4x6 f2x3x1 p1x1x0 d2x1x1 x_zero=127 +alpha=0.003"}) {
    const auto problem = parse_problem(text);
    ASSERT_TRUE(problem.ok()) << problem.status().message();
    if (GetParam().options.path == CpuPath::kOnednn) {
      EXPECT_NE(prepare_cpu(*problem, GetParam().options).status().message().find("oneDNN is not asked for int8"),
                std::string::npos);
      continue;
    }
    for (const Fill fill : {Fill::kExact, Fill::kRandom}) run_and_verify(*problem, GetParam().options, fill);
  }
}

TEST_P(CpuPaths, OutputTypeOfItsOwn) {
  for (const Direction direction : kDirections) {
    ConvProblem problem = small_problem(direction, Layout::kChannelsLast);
    problem.x = problem.w = problem.y = DataType::kBf16;
    output_type(problem) = DataType::kF32;
    run_and_verify(problem, GetParam().options, Fill::kRandom);
  }
}

TEST_P(CpuPaths, EveryEpilogue) {
  std::vector<Epilogue> epilogues(5);
  epilogues[0].alpha = 0.5f;
  epilogues[1].scale = true;
  epilogues[2].bias = true;
  epilogues[3].residual = true;
  epilogues[4].amax = true;
  for (const ActivationFacts& facts : kActivations) epilogues.push_back({.activation = facts.activation});
  epilogues.push_back(
      {.scale = true, .bias = true, .scale_type = DataType::kBf16, .bias_type = DataType::kF16, .residual = true});
  // All at once, in an order that shows when two steps are swapped.
  epilogues.push_back({.alpha = 0.75f,
                       .scale = true,
                       .bias = true,
                       .residual = true,
                       .beta = -1.5f,
                       .activation = Activation::kTanh,
                       .amax = true});
  for (const Direction direction : kDirections)
    for (const Layout layout : kLayouts)
      for (const Channels& channels : {Channels{1, 12, 10}, Channels{2, 6, 4}, Channels{20, 20, 20}})
        for (const Epilogue& epilogue : epilogues)
          for (const DataType type : {DataType::kF32, DataType::kF16}) {
            ConvProblem problem = make_problem(direction, layout, 2, channels, {6, 3, 2, 1, 1, 1});
            problem.x = problem.w = problem.y = type;
            problem.epilogue = epilogue;
            run_and_verify(problem, GetParam().options, Fill::kRandom);
          }
}

TEST_P(CpuPaths, AccumulatesIntoItsOutput) {
  for (const Direction direction : kDirections) {
    ConvProblem problem = small_problem(direction, Layout::kChannelsFirst);
    problem.epilogue.residual = true;
    HostTensors apart = make_tensors(problem, Fill::kExact), same = make_tensors(problem, Fill::kExact);
    auto prepared = prepare_cpu(problem, GetParam().options);
    ASSERT_TRUE(prepared.ok());
    Buffer workspace(static_cast<size_t>((*prepared)->workspace_bytes()));
    ASSERT_TRUE((*prepared)->execute(pointers_to(apart), workspace.data()).ok());
    Buffer& output = output_of(problem, same);
    std::memcpy(output.data(), same.residual.data(), output.size());
    cpu::Tensors pointers = pointers_to(same);
    pointers[static_cast<size_t>(Tensor::kResidual)] = output.data();
    ASSERT_TRUE((*prepared)->execute(pointers, workspace.data()).ok());
    EXPECT_EQ(std::memcmp(output.data(), output_of(problem, apart).data(), output.size()), 0) << to_text(problem);
  }
}

TEST_P(CpuPaths, RandomProblems) {
  Random random(20);
  RandomLimits limits;
  limits.max_multiply_adds = 1 << 18;
  limits.scaled = true;
  for (int i = 0; i < 150; ++i) {
    ConvProblem problem = random_problem(random, limits);
    // Int8IsExact has what oneDNN says of int8.
    while (GetParam().options.path == CpuPath::kOnednn && problem.x == DataType::kI8)
      problem = random_problem(random, limits);
    run_and_verify(problem, GetParam().options, i % 2 ? Fill::kExact : Fill::kRandom, static_cast<uint64_t>(i) + 1);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

// Larger than one block in every direction of the GEMM, and more depth than one pass.
TEST_P(CpuPaths, SeveralBlocks) {
  for (const Direction direction : kDirections)
    for (const Layout layout : kLayouts) {
      ConvProblem problem = make_problem(direction, layout, 2, {1, 70, 290}, {9, 3, 1, 1, 1, 1});
      run_and_verify(problem, GetParam().options, Fill::kExact);
    }
}

TEST_P(CpuPaths, OneObjectFromEightThreads) {
  for (const Channels& channels : {Channels{1, 32, 48}, Channels{64, 64, 64}}) {
    const ConvProblem problem =
        make_problem(Direction::kForward, Layout::kChannelsLast, 2, channels, {14, 3, 1, 1, 1, 1});
    auto prepared = prepare_cpu(problem, GetParam().options);
    ASSERT_TRUE(prepared.ok());
    std::vector<std::thread> threads;
    std::vector<std::string> faults(8);
    for (size_t t = 0; t < faults.size(); ++t)
      threads.emplace_back([&, t] {
        HostTensors tensors = make_tensors(problem, Fill::kExact, t + 1);
        Buffer workspace(static_cast<size_t>((*prepared)->workspace_bytes()));
        for (int round = 0; round < 4 && faults[t].empty(); ++round) {
          poison(output_of(problem, tensors));
          const Status status = (*prepared)->execute(pointers_to(tensors), workspace.data());
          const VerifyReport report = verify(problem, tensors, check_of(problem, Fill::kExact));
          if (!status.ok() || !report.passed()) faults[t] = status.message() + report.summary();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& fault : faults) EXPECT_EQ(fault, "");
  }
}

TEST(CpuProvider, EmptyBatch) {
  for (const Direction direction : kDirections)
    for (const Channels& channels : {Channels{1, 3, 5}, Channels{8, 8, 8}}) {
      ConvProblem problem = make_problem(direction, Layout::kChannelsLast, 2, channels, kWindows[0]);
      problem.n = 0;
      problem.epilogue.bias = true;
      run_and_verify(problem, {}, Fill::kExact);
    }
}

TEST(CpuProvider, KeepsWorkspaceLimit) {
  for (const Direction direction : kDirections)
    for (const Channels& channels : {Channels{1, 32, 32}, Channels{32, 32, 32}})
      for (const int64_t limit : {int64_t{0}, int64_t{1} << 10, int64_t{1} << 20, int64_t{1} << 40}) {
        ConvProblem problem = make_problem(direction, Layout::kChannelsLast, 2, channels, kWindows[0]);
        problem.x = problem.w = problem.y = DataType::kBf16;
        auto prepared = prepare_cpu(problem, {.workspace_limit = limit});
        ASSERT_TRUE(prepared.ok());
        EXPECT_LE((*prepared)->workspace_bytes(), limit);
        run_and_verify(problem, {.workspace_limit = limit}, Fill::kExact);
        if (limit == 0) {
          EXPECT_NE((*prepared)->reason().find("above the limit of 0"), std::string::npos) << (*prepared)->reason();
        }
      }
}

TEST(CpuProvider, SaysWhatIsMissing) {
  ConvProblem problem = small_problem(Direction::kForward, Layout::kChannelsLast);
  problem.epilogue.bias = true;
  auto prepared = prepare_cpu(problem, {.path = CpuPath::kBuiltin});
  ASSERT_TRUE(prepared.ok());
  HostTensors tensors = make_tensors(problem, Fill::kExact);
  Buffer workspace(static_cast<size_t>((*prepared)->workspace_bytes()));
  const std::pair<Tensor, const char*> needed[] = {{Tensor::kX, "tensor x is null"},
                                                   {Tensor::kW, "tensor w is null"},
                                                   {Tensor::kY, "tensor y is null"},
                                                   {Tensor::kBias, "tensor bias is null"}};
  for (const auto& [tensor, message] : needed) {
    cpu::Tensors pointers = pointers_to(tensors);
    pointers[static_cast<size_t>(tensor)] = nullptr;
    const Status status = (*prepared)->execute(pointers, workspace.data());
    EXPECT_EQ(status.code(), Code::kBadInput);
    EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
  }
  const Status status = (*prepared)->execute(pointers_to(tensors), nullptr);
  EXPECT_EQ(status.code(), Code::kBadInput);
  EXPECT_NE(status.message().find("no workspace was given"), std::string::npos) << status.message();

  EXPECT_EQ(prepare_cpu(problem, {.workspace_limit = -1}).status().code(), Code::kBadInput);
}

// oneDNN would divide by zero, or think for minutes.
TEST(CpuProvider, DeclinesWhatOnednnCannotHold) {
  if (!cpu::onednn_plugin().provider) GTEST_SKIP() << cpu::onednn_plugin().fault;
  for (const char* text :
       {"fwd bf16 n1 c4294967296 k8 i8", "fwd fp32 n1 c8589934592 k2 i14x15 f7x4 p3",
        "bwd_data fp32 n1 c8 k4294967296 i8", "bwd_weight fp32 n4294967296 c8 k8 i8 f3",
        "fwd fp32 n2 c4294967296 k4294967296 g4294967296 i4x4 f3x3", "bwd_weight fp32 n12 c7 k10 i1048576 f3",
        "fwd fp32 n7 c8 k7 i1048577 f6 s2 p1", "fwd fp32 n2147483647 c11 k12 i16 f7 s2",
        "fwd fp32 n8 c16777259 k4096 i4 f4", "fwd fp32 n1 c4 k8 i1 f1 s4294967296",
        "fwd fp32 n1 c4 k4 i8 f2 d4294967296 p4294967296", "bwd_data fp32 n1 c4 k4 i60000 f50000"}) {
    const Result<ConvProblem> problem = parse_problem(text);
    ASSERT_TRUE(problem.ok()) << problem.status().message();
    const auto chosen = prepare_cpu(*problem, {});
    ASSERT_TRUE(chosen.ok()) << text << ": " << chosen.status().message();
    EXPECT_NE((*chosen)->path(), "onednn") << text;
    EXPECT_NE((*chosen)->reason().find("oneDNN is not asked for"), std::string::npos) << (*chosen)->reason();
    const Status asked = prepare_cpu(*problem, {.path = CpuPath::kOnednn}).status();
    EXPECT_EQ(asked.code(), Code::kUnsupported) << text;
  }
}

TEST(CpuProvider, ChoosesBuiltinWhereOnednnIsSlow) {
  for (const int dims : {1, 3}) {
    auto prepared =
        prepare_cpu(make_problem(Direction::kForward, Layout::kChannelsLast, dims, {32, 32, 32}, kWindows[0]), {});
    ASSERT_TRUE(prepared.ok());
    EXPECT_EQ((*prepared)->path(), "builtin_depthwise");
    EXPECT_NE((*prepared)->reason().find("slower on 1D and 3D depthwise"), std::string::npos);
  }
}

}  // namespace
}  // namespace wt
