// SPDX-License-Identifier: Apache-2.0
#include "kernels/shared/cache_policy.h"

#include <gtest/gtest.h>

#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

// Which layers gain was measured: kernels/shared/cache_policy.cc.
TEST(CachePolicy, StreamsUnitFiltersThatFitTheCache) {
  DeviceInfo device;
  device.l2_bytes = int64_t{60} << 20;
  const auto streams = [&](const char* text) { return image_policy(problem_of(text), device) == kCacheStream; };
  EXPECT_TRUE(streams("fwd bf16 n16 c2048 k256 i25x25 f1x1"));
  EXPECT_TRUE(streams("bwd_data bf16 n64 c256 k1024 i14x14 f1x1"));
  EXPECT_TRUE(streams("bwd_weight bf16 n16 c2048 k256 i25x25 f1x1"));
  EXPECT_FALSE(streams("bwd_data bf16 n16 c2048 k256 i25x25 f1x1")) << "the image is read again for every tile";
  EXPECT_FALSE(streams("fwd bf16 n16 c256 k256 i50x50 f3x3 p1")) << "and here for every tap";
  EXPECT_FALSE(streams("fwd bf16 n64 c256 k64 i56x56 f1x1")) << "it does not fit";
  EXPECT_TRUE(streams("fwd bf16 n32 c96 k192 i56x56 f2x2 s2")) << "patches do not share pixels";
  EXPECT_TRUE(streams("fwd bf16 n896 c192 k192 i2x28 f2x1")) << "nor do they in their other view";
}

TEST(CachePolicy, StreamsImagesThatAreWalkedOnce) {
  DeviceInfo device;
  device.l2_bytes = int64_t{60} << 20;
  const auto streams = [&](const char* text) { return walked_policy(problem_of(text), device) == kCacheStream; };
  EXPECT_TRUE(streams("fwd bf16 n16 c1024 k1024 g32 i25x25 f3x3 p1"));
  EXPECT_FALSE(streams("fwd bf16 n16 c512 k512 g32 i100x100 f3x3 s2 p1")) << "it does not fit";
}

TEST(CachePolicy, StreamsLargeFiltersThatAreReadOnce) {
  DeviceInfo device;
  device.l2_bytes = int64_t{60} << 20;
  const auto streams = [&](const char* text, int64_t row_tiles) {
    return filter_policy(problem_of(text), row_tiles, device) == kCacheStream;
  };
  EXPECT_TRUE(streams("fwd bf16 n1 c1024 k1024 i7x7 f3x3 p1", 1));
  EXPECT_FALSE(streams("fwd bf16 n4 c1024 k1024 i7x7 f3x3 p1", 4)) << "it is read again";
  EXPECT_FALSE(streams("fwd bf16 n1 c256 k256 i7x7 f3x3 p1", 1)) << "little is written back for it";
  EXPECT_FALSE(streams("fwd bf16 n1 c4096 k4096 i7x7 f3x3 p1", 1)) << "it does not fit";
}

}  // namespace
}  // namespace wt
