// SPDX-License-Identifier: Apache-2.0
// tests/runtime/cuda_tensor_map_test.cc - tensor maps: the arguments of the encoders, and the words for their refusals.
#include <gmock/gmock.h>

#include <cstring>

#include "tests/fake_driver/fake_gpu.h"

namespace wt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Element = TensorMapSpec::Element;
using Kind = TensorMapSpec::Kind;

class CudaTensorMap : public FakeGpu {
 protected:
  void SetUp() override {
    FakeGpu::SetUp();
    device_ = open();
    memory_ = *device_->allocate(4096);
  }
  void TearDown() override {
    device_.reset();
    FakeGpu::TearDown();
  }
  Status encode(const TensorMapSpec& spec) { return device_->encode_map(spec, memory_, map_ + 1); }
  void refuses(const TensorMapSpec& spec, const std::string& words) {
    const Status status = encode(spec);
    ASSERT_FALSE(status.ok()) << words;
    EXPECT_THAT(status.message(), HasSubstr("CUDA_ERROR_INVALID_VALUE"));
    EXPECT_THAT(status.message(), HasSubstr(words));
  }

  static TensorMapSpec tiled() {
    return {.kind = Kind::kTiled,
            .element = Element::kBf16,
            .rank = 3,
            .size = {64, 100, 7},
            .stride = {2, 128, 12800},
            .box = {64, 16, 1},
            .element_stride = {1, 2, 1, 1, 1},
            .swizzle = 128,
            .l2_promotion = 256};
  }
  static TensorMapSpec im2col() {
    return {.kind = Kind::kIm2col,
            .element = Element::kTf32,
            .rank = 4,
            .size = {32, 20, 10, 2},
            .stride = {4, 128, 2560, 25600},
            .lower = {-1, -2},
            .upper = {-3, -4},
            .channels_per_pixel = 16,
            .pixels_per_column = 128,
            .swizzle = 64,
            .l2_promotion = 64};
  }

  std::shared_ptr<Device> device_;
  void* memory_ = nullptr;
  std::byte map_[129] = {};
};

TEST_F(CudaTensorMap, TiledArguments) {
  ASSERT_TRUE(encode(tiled()).ok());
  const FakeTensorMap& map = *fake_map(0);
  EXPECT_EQ(map.im2col, 0);
  EXPECT_EQ(map.type, 9) << "bf16";
  EXPECT_EQ(map.rank, 3u);
  EXPECT_EQ(map.base, memory_);
  EXPECT_THAT(map.sizes, ElementsAre(64, 100, 7, 0, 0));
  EXPECT_THAT(map.strides, ElementsAre(128, 12800, 0, 0)) << "from the second dimension on";
  EXPECT_THAT(map.box, ElementsAre(64, 16, 1, 0, 0));
  EXPECT_THAT(map.element_strides, ElementsAre(1, 2, 1, 0, 0));
  EXPECT_EQ(map.swizzle, 3);
  EXPECT_EQ(map.promotion, 3);
  EXPECT_EQ(map.interleave, 0);
  EXPECT_EQ(map.fill, 0);
  uint64_t address = 0;
  std::memcpy(&address, map_ + 1 + 8, sizeof address);
  EXPECT_EQ(address, reinterpret_cast<uintptr_t>(memory_)) << "the map arrived, at an address of any alignment";
}

TEST_F(CudaTensorMap, Im2colArguments) {
  ASSERT_TRUE(encode(im2col()).ok());
  const FakeTensorMap& map = *fake_map(0);
  EXPECT_EQ(map.im2col, 1);
  EXPECT_EQ(map.type, 11) << "tf32";
  EXPECT_THAT(map.lower, ElementsAre(-1, -2, 0));
  EXPECT_THAT(map.upper, ElementsAre(-3, -4, 0));
  EXPECT_EQ(map.channels, 16u);
  EXPECT_EQ(map.pixels, 128u);
  EXPECT_EQ(map.swizzle, 2);
  EXPECT_EQ(map.promotion, 1);
}

TEST_F(CudaTensorMap, EveryElementAndSwizzle) {
  const std::pair<Element, int> types[] = {
      {Element::kU8, 0}, {Element::kF16, 6}, {Element::kBf16, 9}, {Element::kF32, 7}, {Element::kTf32, 11}};
  for (auto [element, code] : types) {
    TensorMapSpec spec = tiled();
    spec.element = element, spec.box[0] = 16;
    ASSERT_TRUE(encode(spec).ok());
    EXPECT_EQ(fake_map(fake_map_count() - 1)->type, code);
  }
  const std::pair<uint32_t, int> swizzles[] = {{0, 0}, {32, 1}, {64, 2}, {128, 3}};
  for (auto [bytes, code] : swizzles) {
    TensorMapSpec spec = tiled();
    spec.swizzle = bytes, spec.box[0] = 16;
    ASSERT_TRUE(encode(spec).ok());
    EXPECT_EQ(fake_map(fake_map_count() - 1)->swizzle, code);
  }
}

TEST_F(CudaTensorMap, RefusalsNameTheLimit) {
  TensorMapSpec spec = tiled();
  spec.box[1] = 257;
  refuses(spec, "box[1]=257 is outside 1 to 256");
  spec = tiled(), spec.box[0] = 128;
  refuses(spec, "256 bytes, more than the swizzle of 128");
  spec = tiled(), spec.box[0] = 12, spec.swizzle = 0;
  refuses(spec, "24 bytes, not a multiple of 16");
  spec = tiled(), spec.stride[1] = 120;
  refuses(spec, "stride[1]=120 bytes is not a multiple of 16");
  spec = tiled(), spec.size[2] = 0;
  refuses(spec, "size[2]=0 is outside");
  spec = tiled(), spec.element_stride[1] = 9;
  refuses(spec, "element_stride[1]=9 is outside 1 to 8");
  spec = tiled(), spec.rank = 6;
  refuses(spec, "rank 6 is outside 1 to 5");
  spec = im2col(), spec.rank = 2;
  refuses(spec, "im2col needs rank 3 to 5");
  spec = im2col(), spec.lower[0] = -129;
  refuses(spec, "corner -129");
  spec = im2col(), spec.rank = 5, spec.size[4] = 1, spec.stride[4] = 51200, spec.upper[1] = 16;
  refuses(spec, "corner 16 of spatial dimension 1 is outside -16 to 15");
  spec = im2col(), spec.pixels_per_column = 2000;
  refuses(spec, "pixels_per_column=2000");
  spec = im2col(), spec.channels_per_pixel = 64;
  refuses(spec, "channels_per_pixel=64 is 256 bytes, more than the swizzle of 64");

  const Status status = device_->encode_map(tiled(), static_cast<char*>(memory_) + 8, map_);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("is not a multiple of 16"));
}

}  // namespace
}  // namespace wt
