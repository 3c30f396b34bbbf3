// SPDX-License-Identifier: Apache-2.0
// Transpositions of elements of every size, by every width of access, with tiles that end in the middle.
#include "base/integers.h"
#include "kernels/beside/device/transpose_arguments.h"
#include "problem/random.h"
#include "tests/runtime/sim_harness.h"

namespace wt::sim_test {
namespace {

struct Matrices {
  int64_t batch, rows, columns, pitch;  // pitch: 0 is rows
};

// Rows of 16, 8, 4, 2 and 1 bytes' multiples for one size of element or another, on either side; less than a tile, a
// whole one, a few; a pitch beyond the rows.
constexpr Matrices kMatrices[] = {{1, 128, 128, 0}, {2, 64, 192, 0}, {1, 5, 7, 0},      {2, 49, 33, 0},
                                  {1, 130, 66, 0},  {3, 12, 196, 0}, {1, 196, 12, 0},   {1, 1, 200, 16},
                                  {1, 200, 1, 208}, {2, 67, 9, 80},  {1, 100, 36, 112}, {1, 256, 20, 0}};

class SimTranspose : public testing::TestWithParam<std::tuple<Target, int>> {};

TEST_P(SimTranspose, MovesEveryElement) {
  const auto [target, bytes] = GetParam();
  Kernel kernel(target, {}, "transpose.h", "transpose", fmt::format("wt::Transpose<{}>", bytes));
  for (Matrices m : kMatrices) {
    SCOPED_TRACE(fmt::format("{} x {} x {}, pitch {}", m.batch, m.rows, m.columns, m.pitch));
    if (m.pitch == 0) m.pitch = m.rows;
    std::vector<uint8_t> in(static_cast<size_t>(m.batch * m.rows * m.columns * bytes));
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(mix64(i));
    const size_t out_bytes = static_cast<size_t>(m.batch * m.columns * m.pitch * bytes);
    std::vector<uint8_t> right(out_bytes, 0xa5);
    for (int64_t b = 0; b < m.batch; ++b)
      for (int64_t r = 0; r < m.rows; ++r)
        for (int64_t c = 0; c < m.columns; ++c)
          std::memcpy(&right[static_cast<size_t>(((b * m.columns + c) * m.pitch + r) * bytes)],
                      &in[static_cast<size_t>(((b * m.rows + r) * m.columns + c) * bytes)], static_cast<size_t>(bytes));
    Buffer<uint8_t> from(kernel.device(), in), to(kernel.device(), std::vector<uint8_t>(out_bytes, 0xa5));
    TransposeArguments arguments{};
    arguments.in = from.get(), arguments.out = to.get();
    arguments.rows = m.rows, arguments.columns = m.columns, arguments.pitch = m.pitch;
    arguments.tiles_rows = ceil_div(m.rows, transpose_edge(bytes));
    arguments.tiles_columns = ceil_div(m.columns, transpose_edge(bytes));
    arguments.tiles = m.batch * arguments.tiles_rows * arguments.tiles_columns;
    // Fewer blocks than tiles: a block takes several.
    const Status status = kernel.run({.grid = {static_cast<uint32_t>(ceil_div(arguments.tiles, 2)), 1, 1},
                                      .threads = kTransposeThreads,
                                      .shared_bytes = static_cast<uint32_t>(transpose_shared_bytes(bytes))},
                                     arguments);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(to.values(), right);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SimTranspose,
                         testing::Combine(testing::Values(Target::kSm80, Target::kGfx942), testing::Values(1, 2, 4)),
                         [](const auto& tested) {
                           return fmt::format("{}_{}", info_of(std::get<0>(tested.param)).name,
                                              std::get<1>(tested.param));
                         });

}  // namespace
}  // namespace wt::sim_test
