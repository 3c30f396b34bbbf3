// SPDX-License-Identifier: Apache-2.0
#include "problem/image_phases.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "base/format.h"

namespace wt {
namespace {

// In one dimension: w of a problem that has no other.
ConvProblem along_w(int64_t in, int64_t filter, int64_t stride, int64_t dilation, int64_t lower, int64_t upper) {
  ConvProblem problem = parse_problem("fwd bf16 n1 c8 k8 i9 f1").value();
  problem.in[2] = in;
  problem.filter[2] = filter;
  problem.stride[2] = stride;
  problem.dilation[2] = dilation;
  problem.pad_lower[2] = lower;
  problem.pad_upper[2] = upper;
  return problem;
}

// The pixel that each output pixel reads under each tap, of those that lie in the image.
std::map<std::pair<int64_t, int64_t>, int64_t> pixels_read(const ConvProblem& p) {
  std::map<std::pair<int64_t, int64_t>, int64_t> read;
  for (int64_t pixel = 0; pixel < p.out()[2]; ++pixel)
    for (int64_t tap = 0; tap < p.filter[2]; ++tap) {
      const int64_t at = pixel * p.stride[2] + tap * p.dilation[2] - p.pad_lower[2];
      if (at >= 0 && at < p.in[2]) read[{pixel, tap}] = at;
    }
  return read;
}

void expect_phases(const ConvProblem& p) {
  std::map<std::pair<int64_t, int64_t>, int64_t> read;
  const std::vector<ImagePhase> phases = image_phases(p);
  EXPECT_LE(static_cast<int64_t>(phases.size()), image_phase_bound(p));
  for (const ImagePhase& phase : phases) {
    const DimPhase& w = phase[2];
    for (int64_t j = 0; j < w.tap_count; ++j) {
      const int64_t start = -w.shift_first - j * w.shift_step;
      EXPECT_GE(start, image_phase_start(p, 2));
      for (int64_t pixel = 0; pixel < p.out()[2]; ++pixel) {
        const int64_t at = pixel + start;
        if (at < 0 || at >= w.count) continue;
        EXPECT_TRUE(read.emplace(std::pair{pixel, w.tap_first + j * w.tap_step}, w.offset + at * w.step).second);
      }
    }
  }
  EXPECT_EQ(read, pixels_read(p));
}

void expect_line(const ConvProblem& p) {
  const ImageLine line = image_line(p, 2);
  std::map<std::pair<int64_t, int64_t>, int64_t> read;
  for (int64_t pixel = 0; pixel < p.out()[2]; ++pixel)
    for (int64_t tap = 0; tap < p.filter[2]; ++tap) {
      const int64_t at = line.start + pixel * line.step + tap * line.tap_step;
      if (at >= 0 && at < line.count) read[{pixel, tap}] = line.first + at * line.apart;
    }
  EXPECT_EQ(read, pixels_read(p));
  EXPECT_LT(line.first + (line.count - 1) * line.apart, p.in[2]);
  if (image_phase_bound(p) > 1) {
    EXPECT_EQ(line.step, p.stride[2]);
  }
}

TEST(ImagePhases, HoldEveryPixelThatATapReads) {
  int problems = 0;
  for (const int64_t in : {1, 2, 3, 7, 12})
    for (const int64_t filter : {1, 2, 3, 5})
      for (const int64_t stride : {1, 2, 3, 4})
        for (const int64_t dilation : {1, 2, 3, 4})
          for (const int64_t lower : {0, 1, 2, 5})
            for (const int64_t upper : {0, 1, 3}) {
              if (in + lower + upper < (filter - 1) * dilation + 1) continue;
              SCOPED_TRACE(fmt::format("in={} filter={} stride={} dilation={} pad={}/{}", in, filter, stride, dilation,
                                       lower, upper));
              const ConvProblem problem = along_w(in, filter, stride, dilation, lower, upper);
              expect_phases(problem);
              expect_line(problem);
              ++problems;
            }
  EXPECT_GT(problems, 1000);
}

TEST(ImagePhases, AreOneWhereTapsLieWholeStridesApart) {
  EXPECT_EQ(image_line(along_w(12, 1, 2, 1, 0, 0), 2), (ImageLine{0, 2, 6, 0, 1, 1}));
  EXPECT_EQ(image_line(along_w(13, 1, 2, 1, 1, 0), 2), (ImageLine{1, 2, 6, -1, 1, 1}));
  EXPECT_EQ(image_line(along_w(12, 3, 2, 4, 4, 4), 2), (ImageLine{0, 2, 6, -2, 1, 2}));
  EXPECT_EQ(image_line(along_w(12, 3, 1, 2, 1, 1), 2), (ImageLine{0, 1, 12, -1, 1, 2}));
  EXPECT_EQ(image_line(along_w(12, 3, 2, 1, 1, 1), 2), (ImageLine{0, 1, 12, -1, 2, 1}));
  // The only phase that is read has no pixel.
  EXPECT_EQ(image_line(along_w(1, 1, 2, 1, 1, 1), 2), (ImageLine{0, 1, 1, -1, 2, 1}));
  EXPECT_TRUE(image_phases(along_w(1, 1, 2, 1, 1, 1)).empty());
}

TEST(ImagePhases, OfSeveralDimensionsAreAllOfTheirProducts) {
  const ConvProblem plane = parse_problem("fwd bf16 n1 c8 k8 i9x9 f3x3 s2 p1").value();
  EXPECT_EQ(image_phases(plane).size(), 4U);
  EXPECT_EQ(image_phase_bound(plane), 4);
  const ConvProblem cube = parse_problem("fwd bf16 n1 c8 k8 i9x9x9 f3x1x3 s2x2x3 p1x0x1").value();
  EXPECT_EQ(image_phases(cube).size(), 6U);
  EXPECT_EQ(image_phase_bound(cube), 6);
}

}  // namespace
}  // namespace wt
