// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/four_wave_test.cc - the four-wave kernels of CDNA on the simulator: exact, the same bytes as a
// matrix product, safe from what lies beyond k; which are chosen; the order of blocks.
#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <optional>
#include <set>

#include "dispatch/choice/candidates.h"
#include "kernels/beside/device/transpose_filter_arguments.h"
#include "kernels/four_wave/device/order.h"
#include "problem/number.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

// The accepting four-wave kernels of a tile and loader, best guess first.
std::vector<KernelConfig> four_wave_kernels(const ConvProblem& problem, Target target, Loader loader, int tile_n) {
  std::vector<KernelConfig> kernels;
  for (const RankedCandidate& c : rank_candidates(problem, target, {}, Breadth::kAll)) {
    if (c.accepts() && c.config.family() == Family::kGemm && c.config.gemm.pipeline == Pipeline::kFourWave &&
        c.config.gemm.loader_a == loader && (tile_n == 0 || c.config.gemm.tile.n == tile_n))
      kernels.push_back(c.config);
  }
  return kernels;
}

struct Exact {
  const char* device;
  const char* problem;
  Loader loader;
  int tile_n;
};

// The best guess on a small layer, its sum in two parts; four_wave_slow_test.cc has the edges and whole sums.
TEST(FourWaveWeightExact, OneProblem) {
  const auto device = open_device("sim:gfx942");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of("bwd_weight bf16 n3 c16 k24 i7x6 f3x3 s2x1 p1");
  for (const RankedCandidate& c : rank_candidates(problem, Target::kGfx942, {}, Breadth::kAll)) {
    if (!c.accepts() || c.config.kind != Kind::kFourWaveWeight) continue;
    return expect_exact(*device, problem, c.config, 2);
  }
  FAIL() << "no four-wave weight gradient accepts";
}

// One problem a loader, type and tile; four_wave_slow_test.cc has the edges.
TEST(FourWaveExact, OneProblemOfEachKind) {
  for (const Exact& at :
       {Exact{"sim:gfx942", "fwd bf16 n2 c64 k72 i9x7 f3x3 s2x1 p1 d1x2 +bias+relu", Loader::kBufferUniform, 64},
        Exact{"sim:gfx942", "fwd fp16 n1 c3 k40 i9x11 f5x3 s2 p2", Loader::kBufferLane, 64},
        Exact{"sim:gfx90a", "fwd bf16 n1 c40 k136 i12x11 f1x1 +residual", Loader::kBufferRows, 128},
        Exact{"sim:gfx942", "fwd e4m3*e4m3>bf16 n1 c64 k260 i5x9 f3x3 p1", Loader::kBufferUniform, 256},
        Exact{"sim:gfx942", "bwd_data bf16 n2 c40 k64 i9x8 f3x3 s2x1 p1", Loader::kBufferUniform, 64},
        Exact{"sim:gfx950", "bwd_data fp16 n1 c136 k72 i9x8 f1x1", Loader::kBufferRows, 128}}) {
    const auto device = open_device(at.device);
    ASSERT_TRUE(device.ok()) << device.status().message();
    const ConvProblem problem = problem_of(at.problem);
    const auto kernels = four_wave_kernels(problem, (*device)->info().target, at.loader, at.tile_n);
    ASSERT_FALSE(kernels.empty()) << at.problem;
    expect_exact(*device, problem, kernels.front());
  }
}

// Runs a kernel on the trial's own random data after `change` has edited x and w on the host.
std::vector<std::byte> output_of(
    const std::shared_ptr<Device>& device, const ConvProblem& problem, const KernelConfig& config,
    const std::function<void(std::vector<std::byte>& x, std::vector<std::byte>& w)>& change) {
  auto plan = make_kernel_plan(device, problem, config, "tested");
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  auto tensors = TrialTensors::make(device, problem, false, 5);
  EXPECT_TRUE(tensors.ok()) << tensors.status().message();
  const auto bytes = [](int64_t elements, DataType type) { return static_cast<size_t>(elements * size_of(type)); };
  std::vector<std::byte> x(bytes(problem.x_elements(), problem.x)), w(bytes(problem.w_elements(), problem.w));
  std::vector<std::byte> y(bytes(problem.y_elements(), problem.y));
  EXPECT_TRUE((*tensors)->reserve_workspace((*plan)->workspace_bytes()).ok());
  const TensorPointers& pointers = (*tensors)->pointers();
  EXPECT_TRUE(device->copy_out(x.data(), pointers[Tensor::kX], x.size()).ok());
  EXPECT_TRUE(device->copy_out(w.data(), pointers[Tensor::kW], w.size()).ok());
  change(x, w);
  EXPECT_TRUE(device->copy_in(pointers[Tensor::kX], x.data(), x.size()).ok());
  EXPECT_TRUE(device->copy_in(pointers[Tensor::kW], w.data(), w.size()).ok());
  EXPECT_TRUE((*tensors)->poison_outputs(nullptr).ok());
  const Status status = (*plan)->execute(pointers, nullptr);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(device->copy_out(y.data(), pointers[Tensor::kY], y.size()).ok());
  return y;
}

// x as a matrix with a row of r*s*c numbers for each output pixel.
std::vector<std::byte> im2col(const ConvProblem& p, const std::vector<std::byte>& x) {
  const size_t pixel = static_cast<size_t>(p.c * size_of(p.x));
  std::vector<std::byte> rows;
  const Spatial out = p.out();
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t h = 0; h < out[1]; ++h)
      for (int64_t w = 0; w < out[2]; ++w)
        for (int64_t r = 0; r < p.filter[1]; ++r)
          for (int64_t s = 0; s < p.filter[2]; ++s) {
            const int64_t y = h * p.stride[1] - p.pad_lower[1] + r * p.dilation[1];
            const int64_t v = w * p.stride[2] - p.pad_lower[2] + s * p.dilation[2];
            const size_t at = rows.size();
            rows.resize(at + pixel);
            if (y < 0 || y >= p.in[1] || v < 0 || v >= p.in[2]) continue;
            std::memcpy(rows.data() + at, x.data() + static_cast<size_t>((n * p.in[1] + y) * p.in[2] + v) * pixel,
                        pixel);
          }
  return rows;
}

// A convolution and the matrix product over its im2col matrix differ in the loader of A only, so random data gives the
// same bytes, whatever order the sums have.
TEST(FourWaveGemm, GivesTheBytesOfTheMatrixProductOnIm2col) {
  const auto device = open_device("sim:gfx942");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const auto& [text, matrix, loader] :
       {std::tuple{"fwd bf16 n2 c32 k48 i9x8 f3x3 s2 p1", "fwd bf16 n2 c288 k48 i5x4 f1x1", Loader::kBufferUniform},
        std::tuple{"fwd bf16 n1 c24 k48 i9x8 f3x2 p1 d2", "fwd bf16 n1 c144 k48 i7x8 f1x1", Loader::kBufferLane},
        std::tuple{"fwd e4m3*e4m3>bf16 n1 c16 k48 i7x8 f2x2", "fwd e4m3*e4m3>bf16 n1 c64 k48 i6x7 f1x1",
                   Loader::kBufferLane}}) {
    const ConvProblem conv = problem_of(text), product = problem_of(matrix);
    ASSERT_EQ(conv.n * conv.out()[1] * conv.out()[2], product.n * product.out()[1] * product.out()[2]);
    const auto kernels = four_wave_kernels(conv, Target::kGfx942, loader, 64);
    ASSERT_FALSE(kernels.empty()) << text;
    KernelConfig plain = kernels.front();
    plain.gemm.loader_a = Loader::kBufferRows;
    std::vector<std::byte> image, filter;
    const auto convolved = output_of(*device, conv, kernels.front(), [&](auto& x, auto& w) {
      image = x;
      filter = w;
    });
    const auto multiplied = output_of(*device, product, plain, [&](auto& x, auto& w) {
      const std::vector<std::byte> rows = im2col(conv, image);
      ASSERT_EQ(x.size(), rows.size());
      ASSERT_EQ(w.size(), filter.size());
      x = rows;
      w = filter;
    });
    EXPECT_TRUE(convolved == multiplied) << text;
  }
}

// gfx942's e4m3 as FNUZ numbers, made by the loader or in a copy before: every pattern of bits, negative zeros and NaNs
// too, and tensors that end inside a chunk of the copy.
TEST(FourWaveGemm, GivesTheSameBytesOfCopiedFp8) {
  const auto device = open_device("sim:gfx942");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const auto& [text, loader] : {std::pair{"fwd e4m3*e4m3>bf16 n1 c64 k40 i7x5 f3x3 s2 p1", Loader::kBufferUniform},
                                     std::pair{"fwd e4m3*e4m3>fp32 n1 c32 k21 i3x3 f1x1 +bias", Loader::kBufferRows}}) {
    const ConvProblem problem = problem_of(text);
    std::optional<KernelConfig> copied;
    for (const KernelConfig& config : four_wave_kernels(problem, Target::kGfx942, loader, 64))
      if (!copied && config.gemm.aligned_copy) copied = config;
    ASSERT_TRUE(copied) << text;
    KernelConfig in_loop = *copied;
    in_loop.gemm.aligned_copy = false;
    const auto every_pattern = [&](auto& x, auto& w) {
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::byte>(i < 256 ? i : i % 5 ? i * 3 % 64 : 0x80);
      for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<std::byte>(i % 3 ? i * 7 % 64 : 0x80);
    };
    const auto before = output_of(*device, problem, *copied, every_pattern);
    EXPECT_TRUE(before == output_of(*device, problem, in_loop, every_pattern)) << text;
    expect_exact(*device, problem, *copied);
  }
  const ConvProblem backward = problem_of("bwd_data e4m3*e4m3>bf16 n1 c40 k64 i7x6 f3x3 s2 p1");
  for (const KernelConfig& config : four_wave_kernels(backward, Target::kGfx942, Loader::kBufferUniform, 64))
    if (config.gemm.aligned_copy) return expect_exact(*device, backward, config);
  FAIL() << "no copying kernel for backward data";
}

// Beyond the last number of a sum lie another group's channels or another row of pixels in x, and another filter in w.
// Both operands must be zero there: a padded zero times infinity is no number.
TEST(FourWaveGemm, KeepsNonFiniteNumbersBeyondKOut) {
  const auto device = open_device("sim:gfx942");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const auto& [text, loader] : {std::pair{"fwd bf16 n1 c80 k32 g2 i6x6 f1x1", Loader::kBufferRows},
                                     std::pair{"fwd bf16 n1 c80 k32 g2 i6x6 f2x1", Loader::kBufferLane}}) {
    const ConvProblem problem = problem_of(text);
    ASSERT_NE(problem.c_per_group() * problem.filter_taps() % 32, 0);
    const auto kernels = four_wave_kernels(problem, Target::kGfx942, loader, 64);
    ASSERT_FALSE(kernels.empty()) << text;
    const auto nothing = [](auto&, auto&) {};
    const auto clean = output_of(*device, problem, kernels.front(), nothing);
    const auto poisoned = output_of(*device, problem, kernels.front(), [&](auto& x, auto& w) {
      constexpr uint16_t kInfinity = 0x7f80, kNan = 0x7fc0;
      const auto set = [](auto& tensor, size_t at, uint16_t bits) { std::memcpy(tensor.data() + 2 * at, &bits, 2); };
      const size_t half = w.size() / 4, channels = static_cast<size_t>(problem.c);
      const size_t row = channels * static_cast<size_t>(problem.in[2]);  // the last row of pixels too
      for (size_t i = 0; i < x.size() / 2; ++i)
        if (i % channels >= channels / 2 || i >= x.size() / 2 - row) set(x, i, i % 2 ? kInfinity : kNan);
      for (size_t i = half; i < w.size() / 2; ++i) set(w, i, i % 2 ? kInfinity : kNan);
    });
    const size_t outputs = static_cast<size_t>(problem.k);
    const size_t above = clean.size() / 2 - outputs * static_cast<size_t>(problem.out()[2]);
    for (size_t i = 0; i < above; ++i) {         // the last row is not finite, as it should be
      if (i % outputs >= outputs / 2) continue;  // nor is the second group
      ASSERT_EQ(std::memcmp(clean.data() + 2 * i, poisoned.data() + 2 * i, 2), 0) << text << ", output " << i;
    }
  }
}

TEST(FourWaveChoice, PicksLoadersByChannelsAndTilesBySize) {
  const auto chosen = [](const char* text, Target target) {
    const auto ranked = rank_candidates(problem_of(text), target, {}, Breadth::kAll);
    for (const RankedCandidate& c : ranked)
      if (c.accepts() && c.config.gemm.pipeline == Pipeline::kFourWave) return c.config.gemm;
    ADD_FAILURE() << text << ": no four-wave kernel accepts";
    return GemmConfig{};
  };
  EXPECT_EQ(chosen("fwd bf16 n64 c256 k1024 i14x14 f1x1", Target::kGfx942).loader_a, Loader::kBufferRows);
  EXPECT_EQ(chosen("fwd bf16 n16 c256 k256 i50x50 f3x3 p1", Target::kGfx942).loader_a, Loader::kBufferUniform);
  const GemmConfig stem = chosen("fwd bf16 n16 c3 k64 i224x224 f7x7 s2 p3", Target::kGfx942);
  EXPECT_EQ(stem.loader_a, Loader::kBufferLane);
  EXPECT_EQ(stem.vector_a, 1);
  // Many tiles go to the widest tile, few to the smallest.
  EXPECT_EQ(chosen("fwd bf16 n64 c256 k1024 i56x56 f3x3 p1", Target::kGfx942).tile.n, 256);
  EXPECT_EQ(chosen("fwd bf16 n1 c256 k128 i14x14 f3x3 p1", Target::kGfx942).tile.n, 64);
  EXPECT_EQ(chosen("bwd_data bf16 n16 c256 k256 i50x50 f3x3 s2 p1", Target::kGfx942).loader_a, Loader::kBufferUniform);
  // The matrix unit's own fp8 where there is one.
  EXPECT_EQ(chosen("fwd e4m3*e4m3>bf16 n16 c256 k256 i50x50 f3x3 p1", Target::kGfx942).vector_a, 16);
  // gfx942 converts it once where many tiles read it, and in the loop where few do. gfx950 waits less with two blocks
  // of a shallow tile.
  EXPECT_TRUE(chosen("fwd e4m3*e4m3>bf16 n16 c256 k256 i50x50 f3x3 p1", Target::kGfx942).aligned_copy);
  EXPECT_FALSE(chosen("fwd e4m3*e4m3>bf16 n64 c64 k64 i56x56 f1x1", Target::kGfx942).aligned_copy);
  EXPECT_EQ(chosen("fwd bf16 n16 c256 k256 i100x100 f3x3 p1", Target::kGfx950).tile, (Extent3{128, 256, 32}));
  for (const RankedCandidate& c :
       rank_candidates(problem_of("fwd e4m3*e4m3>bf16 n16 c256 k256 i50x50 f3x3 p1"), Target::kGfx90a, {}))
    EXPECT_NE(c.config.gemm.pipeline, Pipeline::kFourWave);
}

// Dense layers backward are as much matrix product as forward.
TEST(FourWaveChoice, TakesDenseLayersBackward) {
  for (const Target target : {Target::kGfx90a, Target::kGfx942, Target::kGfx950}) {
    const ConvProblem problem = problem_of("bwd_data bf16 n16 c256 k256 i100x100 f3x3 p1");
    EXPECT_EQ(rank_candidates(problem, target, {}, Breadth::kAll).front().config.kind, Kind::kFourWave);
    const ConvProblem weights = with_direction(problem, Direction::kBackwardWeight);
    EXPECT_EQ(rank_candidates(weights, target, {}, Breadth::kAll).front().config.kind, Kind::kFourWaveWeight);
  }
}

// Every tap has one place in the transposed filter, and those of a phase follow each other.
TEST(TransposedFilter, HasEveryTapOnce) {
  for (const i32 step : {1, 2, 3, 5}) {
    const i32 filter[3] = {2, 3, 4}, steps[3] = {1, step, 2};
    std::set<i32> places;
    for (i32 d = 0; d < steps[0]; ++d)
      for (i32 h = 0; h < steps[1]; ++h)
        for (i32 w = 0; w < steps[2]; ++w) {
          const i32 remainder[3] = {d, h, w};
          i32 taps = 1;
          for (int i = 0; i < 3; ++i) taps *= taps_with(filter[i], steps[i], remainder[i]);
          for (i32 tap = 0; tap < taps; ++tap) places.insert(phase_start(filter, steps, remainder) + tap);
        }
    EXPECT_EQ(places.size(), 24u);
    EXPECT_EQ(*places.rbegin(), 23);
  }
}

TEST(FourWaveOrder, BlocksTakeEveryTileOnce) {
  for (const u32 chiplets : {1u, 4u, 8u}) {
    for (const auto& [m, n, groups] :
         {std::tuple{1u, 1u, 1u}, {7u, 3u, 2u}, {8u, 5u, 1u}, {19u, 2u, 3u}, {3u, 9u, 1u}}) {
      const u32 tiles = m * n * groups;
      std::set<std::tuple<u32, u32, u32>> seen;
      for (u32 block = 0; block < tiles; ++block) {
        const TilePlace place = tile_place(chiplet_order(block, tiles, chiplets), m, n, 8);
        EXPECT_TRUE(place.group < groups && place.m < m && place.n < n);
        seen.emplace(place.group, place.m, place.n);
      }
      EXPECT_EQ(seen.size(), tiles);
    }
  }
  // A chiplet's blocks, every eighth, are neighbours.
  for (u32 block = 0; block + 8 < 61; ++block)
    EXPECT_EQ(chiplet_order(block + 8, 61, 8), chiplet_order(block, 61, 8) + 1);
}

}  // namespace
}  // namespace wt
