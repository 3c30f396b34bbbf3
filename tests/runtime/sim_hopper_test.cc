// SPDX-License-Identifier: Apache-2.0
// Hopper's operations against the manuals' words: where a load puts each byte, what a store writes, and products
// through every kind of descriptor. The golden layouts are written here, not taken from the simulator.
#include <cmath>

#include "target/number.h"
#include "tests/runtime/sim_harness.h"

namespace wt::sim_test {
namespace {

using Element = TensorMapSpec::Element;
using Kind = TensorMapSpec::Kind;

struct alignas(64) Map {
  std::byte bytes[128];
};
struct DumpParams {
  Map map;
  uint32_t* out;
  const void* plain;
  int32_t at[5], tap[3], bytes, form;
};
struct StoreParams {
  Map map;
  const uint32_t* in;
  int32_t at[5], bytes, form;
};

// A byte's place in a box whose rows are `inner` bytes: 16-byte pieces of each 128-byte line are exchanged.
uint32_t golden_place(uint32_t byte, uint32_t swizzle) {
  const uint32_t line = byte / 128, piece = byte / 16 % 8;
  uint32_t turned = piece;
  if (swizzle == 128) turned = piece ^ (line % 8);
  if (swizzle == 64) turned = (piece & 4) | ((piece ^ line) & 3);
  if (swizzle == 32) turned = (piece & 6) | ((piece ^ line) & 1);
  return line * 128 + turned * 16 + byte % 16;
}

std::vector<uint8_t> pattern(size_t bytes) {
  std::vector<uint8_t> values(bytes);
  for (size_t i = 0; i < bytes; ++i) values[i] = static_cast<uint8_t>((i * 2654435761u >> 13) | 1);
  return values;
}

TensorMapSpec tiled(Element element, uint32_t bytes, std::vector<uint64_t> size, std::vector<uint32_t> box,
                    uint32_t swizzle, std::vector<uint32_t> step = {}) {
  TensorMapSpec spec;
  spec.element = element;
  spec.rank = static_cast<int>(size.size());
  spec.swizzle = swizzle;
  uint64_t stride = bytes;
  for (int d = 0; d < spec.rank; ++d) {
    spec.size[d] = size[d];
    spec.box[d] = box[d];
    spec.stride[d] = stride;
    stride *= size[d];
    if (d == 0) stride = (stride + 15) / 16 * 16;
    if (!step.empty()) spec.element_stride[d] = step[d];
  }
  return spec;
}

uint64_t extent(const TensorMapSpec& spec, uint32_t element) {
  uint64_t bytes = spec.size[0] * element;
  for (int d = 1; d < spec.rank; ++d) bytes += (spec.size[d] - 1) * spec.stride[d];
  return bytes;
}

// Visits every element of the box: visit(byte offset in the box, byte offset in the tensor or -1).
template <class Visit>
int golden_box(const TensorMapSpec& spec, uint32_t element, const int32_t* at, Visit visit) {
  int count[5] = {1, 1, 1, 1, 1}, total = 1;
  for (int d = 0; d < spec.rank; ++d) {
    const int step = d ? static_cast<int>(spec.element_stride[d]) : 1;
    count[d] = (static_cast<int>(spec.box[d]) + step - 1) / step;
    total *= count[d];
  }
  for (int i = 0; i < total; ++i) {
    int rest = i;
    int64_t offset = 0;
    bool inside = true;
    for (int d = 0; d < spec.rank; ++d) {
      const int64_t x = at[d] + static_cast<int64_t>(rest % count[d]) * (d ? spec.element_stride[d] : 1);
      rest /= count[d];
      inside = inside && x >= 0 && x < static_cast<int64_t>(spec.size[d]);
      offset += x * static_cast<int64_t>(d ? spec.stride[d] : element);
    }
    visit(static_cast<uint32_t>(i) * element, inside ? offset : -1);
  }
  return total * static_cast<int>(element);
}

void expect_dump(const TensorMapSpec& spec, uint32_t element, const std::vector<int32_t>& at,
                 const std::vector<uint8_t>& golden, const std::vector<uint8_t>& tensor, int form,
                 const std::vector<int32_t>& tap = {}) {
  for (const auto completion : {sim::Completion::kEarly, sim::Completion::kLate, sim::Completion::kRandom}) {
    sim::Options options;
    options.completion = completion;
    Kernel kernel(Target::kSm90a, options, "hopper.h", "dump", "wt::probe::Dump");
    Buffer<uint8_t> in(kernel.device(), tensor), out(kernel.device(), golden.size());
    DumpParams params{};
    const Status encoded = kernel.device().encode_map(spec, in.get(), params.map.bytes);
    ASSERT_TRUE(encoded.ok()) << encoded.message();
    params.out = reinterpret_cast<uint32_t*>(out.get());
    std::copy(at.begin(), at.end(), params.at);
    std::copy(tap.begin(), tap.end(), params.tap);
    params.bytes = static_cast<int32_t>(golden.size());
    params.form = form;
    const uint32_t shared = 1024 + static_cast<uint32_t>(golden.size()) + 32;
    const Status status = kernel.run({.threads = 128, .shared_bytes = shared}, params);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(out.values(), golden) << "form " << form << " swizzle " << spec.swizzle << " element " << element;
  }
}

void expect_tiled(const TensorMapSpec& spec, uint32_t element, const std::vector<int32_t>& at) {
  const std::vector<uint8_t> tensor = pattern(extent(spec, element));
  std::vector<uint8_t> golden(65536, 0);
  const int bytes = golden_box(spec, element, at.data(), [&](uint32_t place, int64_t from) {
    for (uint32_t b = 0; b < element; ++b) {
      golden[golden_place(place + b, spec.swizzle)] = from < 0 ? 0 : tensor[static_cast<size_t>(from) + b];
    }
  });
  golden.resize(static_cast<size_t>(bytes));
  expect_dump(spec, element, at, golden, tensor, spec.rank);
}

TEST(SimTma, TiledLoadsOfEveryRankAndSwizzle) {
  expect_tiled(tiled(Element::kF32, 4, {1000}, {64}, 0), 4, {-8});
  expect_tiled(tiled(Element::kBf16, 2, {72, 50}, {64, 40}, 128), 2, {16, 20});
  expect_tiled(tiled(Element::kBf16, 2, {72, 50}, {32, 40}, 64), 2, {56, -3});
  expect_tiled(tiled(Element::kF16, 2, {72, 50}, {16, 24}, 32), 2, {5, 40});
  expect_tiled(tiled(Element::kU8, 1, {144, 9}, {128, 8}, 128), 1, {16, 4});
  expect_tiled(tiled(Element::kBf16, 2, {40, 7, 6}, {64, 3, 4}, 128), 2, {0, 5, -1});
  expect_tiled(tiled(Element::kF32, 4, {16, 5, 4, 3}, {8, 3, 2, 2}, 32), 4, {8, 3, -1, 2});
  expect_tiled(tiled(Element::kBf16, 2, {8, 4, 5, 3, 3}, {8, 2, 3, 2, 2}, 0), 2, {0, 3, -1, 1, 2});
  expect_tiled(tiled(Element::kBf16, 2, {64, 20, 11}, {64, 9, 7}, 128, {1, 2, 3}), 2, {0, 1, -2});
}

// NHWC im2col as the programming guide tells it: pixels of the bounding box in row order, in steps of the element
// strides, from the start; the tap's offset is added to each.
void expect_im2col(const TensorMapSpec& spec, uint32_t element, const std::vector<int32_t>& at,
                   const std::vector<int32_t>& tap) {
  const std::vector<uint8_t> tensor = pattern(extent(spec, element));
  const int spatial = spec.rank - 2;
  std::vector<uint8_t> golden(spec.pixels_per_column * spec.channels_per_pixel * element, 0);
  std::vector<int64_t> pixel(at.begin() + 1, at.begin() + 1 + spatial);
  int64_t image = at[spec.rank - 1];
  for (uint32_t p = 0; p < spec.pixels_per_column; ++p) {
    for (uint32_t c = 0; c < spec.channels_per_pixel; ++c) {
      int64_t from =
          (at[0] + static_cast<int64_t>(c)) * element + image * static_cast<int64_t>(spec.stride[spec.rank - 1]);
      bool inside = at[0] + c < spec.size[0] && image < static_cast<int64_t>(spec.size[spec.rank - 1]);
      for (int d = 0; d < spatial; ++d) {
        const int64_t x = pixel[d] + tap[d];
        inside = inside && x >= 0 && x < static_cast<int64_t>(spec.size[d + 1]);
        from += x * static_cast<int64_t>(spec.stride[d + 1]);
      }
      for (uint32_t b = 0; b < element; ++b) {
        golden[golden_place((p * spec.channels_per_pixel + c) * element + b, spec.swizzle)] =
            inside ? tensor[static_cast<size_t>(from) + b] : 0;
      }
    }
    int d = 0;
    for (; d < spatial; ++d) {
      pixel[d] += spec.element_stride[d + 1];
      if (pixel[d] < static_cast<int64_t>(spec.size[d + 1]) + spec.upper[d]) break;
      pixel[d] = spec.lower[d];
    }
    image += d == spatial;
  }
  expect_dump(spec, element, at, golden, tensor, 10 + spec.rank, tap);
}

TensorMapSpec im2col(uint32_t channels, std::vector<uint64_t> spatial, uint64_t images, std::vector<int> lower,
                     std::vector<int> upper, std::vector<uint32_t> step, uint32_t per_pixel, uint32_t pixels,
                     uint32_t swizzle) {
  std::vector<uint64_t> size = {channels};
  size.insert(size.end(), spatial.begin(), spatial.end());
  size.push_back(images);
  TensorMapSpec spec = tiled(Element::kBf16, 2, size, std::vector<uint32_t>(size.size(), 1), swizzle);
  spec.kind = Kind::kIm2col;
  spec.channels_per_pixel = per_pixel;
  spec.pixels_per_column = pixels;
  for (size_t d = 0; d < spatial.size(); ++d) {
    spec.lower[d] = lower[d];
    spec.upper[d] = upper[d];
    spec.element_stride[d + 1] = step[d];
  }
  return spec;
}

TEST(SimTma, Im2colLoadsInOneTwoAndThreeDimensions) {
  expect_im2col(im2col(64, {30}, 3, {-2}, {-2}, {1}, 64, 64, 128), 2, {0, 25, 0}, {3});
  expect_im2col(im2col(64, {5, 7}, 2, {-1, -1}, {-1, -1}, {1, 1}, 64, 64, 128), 2, {0, -1, -1, 0}, {0, 0});
  expect_im2col(im2col(64, {5, 7}, 2, {-1, -1}, {-1, -1}, {1, 1}, 64, 64, 128), 2, {0, 2, 3, 0}, {2, 2});
  expect_im2col(im2col(128, {11, 9}, 3, {-1, -1}, {-1, -1}, {2, 2}, 64, 64, 128), 2, {64, 3, 5, 1}, {1, 2});
  expect_im2col(im2col(72, {6, 6}, 2, {-2, -2}, {-2, -2}, {1, 1}, 64, 128, 128), 2, {64, 1, 1, 1}, {4, 2});
  expect_im2col(im2col(64, {9, 9}, 2, {-4, -3}, {0, -1}, {3, 2}, 32, 64, 64), 2, {32, -1, 1, 0}, {4, 4});
  expect_im2col(im2col(8, {6, 5}, 4, {-1, -1}, {-1, -1}, {1, 1}, 8, 64, 0), 2, {0, 0, 0, 2}, {2, 0});
  expect_im2col(im2col(16, {4, 3, 5}, 2, {-1, 0, -2}, {-1, -2, 0}, {1, 1, 2}, 16, 40, 32), 2, {0, 1, 0, 2, 0},
                {2, 2, 1});
}

TEST(SimTma, PlainBulkLoad) {
  Kernel kernel(Target::kSm90a, {}, "hopper.h", "dump", "wt::probe::Dump");
  const std::vector<uint8_t> bytes = pattern(4096);
  Buffer<uint8_t> in(kernel.device(), bytes), out(kernel.device(), bytes.size());
  DumpParams params{};
  params.out = reinterpret_cast<uint32_t*>(out.get());
  params.plain = in.get();
  params.bytes = 4096;
  const Status status = kernel.run({.threads = 128, .shared_bytes = 1024 + 4096 + 32}, params);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out.values(), bytes);
}

TEST(SimTma, StoresDropWhatLiesOutside) {
  const struct {
    TensorMapSpec spec;
    uint32_t element;
    std::vector<int32_t> at;
  } cases[] = {
      {tiled(Element::kBf16, 2, {72, 50}, {64, 40}, 128), 2, {16, 20}},
      {tiled(Element::kBf16, 2, {40, 7, 6}, {64, 3, 4}, 128), 2, {0, 5, -1}},
      {tiled(Element::kF32, 4, {16, 5, 4, 3}, {8, 3, 2, 2}, 32), 4, {8, 3, -1, 2}},
      {tiled(Element::kBf16, 2, {8, 4, 5, 3, 3}, {8, 2, 3, 2, 2}, 0), 2, {0, 3, -1, 1, 2}},
  };
  for (const auto& test : cases) {
    for (const auto completion : {sim::Completion::kEarly, sim::Completion::kLate, sim::Completion::kRandom}) {
      sim::Options options;
      options.completion = completion;
      Kernel kernel(Target::kSm90a, options, "hopper.h", "store", "wt::probe::Store");
      std::vector<uint8_t> golden(extent(test.spec, test.element), 0xee);
      const std::vector<uint8_t> tile = pattern(65536);
      const int bytes = golden_box(test.spec, test.element, test.at.data(), [&](uint32_t place, int64_t to) {
        for (uint32_t b = 0; to >= 0 && b < test.element; ++b) {
          golden[static_cast<size_t>(to) + b] = tile[golden_place(place + b, test.spec.swizzle)];
        }
      });
      Buffer<uint8_t> in(kernel.device(), tile), out(kernel.device(), std::vector<uint8_t>(golden.size(), 0xee));
      StoreParams params{};
      ASSERT_TRUE(kernel.device().encode_map(test.spec, out.get(), params.map.bytes).ok());
      params.in = reinterpret_cast<const uint32_t*>(in.get());
      std::copy(test.at.begin(), test.at.end(), params.at);
      params.bytes = bytes;
      params.form = test.spec.rank;
      const Status status = kernel.run({.threads = 128, .shared_bytes = 1024 + static_cast<uint32_t>(bytes)}, params);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(out.values(), golden);
    }
  }
}

TEST(SimTma, ReduceAddAddsInEveryFloatType) {
  for (const Element element : {Element::kF32, Element::kBf16, Element::kF16}) {
    const uint32_t bytes = element == Element::kF32 ? 4 : 2;
    Kernel kernel(Target::kSm90a, {}, "hopper.h", "store", "wt::probe::Store");
    const TensorMapSpec spec = tiled(element, bytes, {32, 8}, {32, 8}, 0);
    const auto encode = [&](std::vector<uint8_t>& to, int i, float value) {
      if (element == Element::kF32) std::memcpy(&to[4 * i], &value, 4);
      const uint16_t bits =
          element == Element::kBf16 ? number::From<Bf16>::rounded(value).bits : number::From<F16>::rounded(value).bits;
      if (bytes == 2) std::memcpy(&to[2 * i], &bits, 2);
    };
    std::vector<uint8_t> before(256 * bytes), add(256 * bytes), golden(256 * bytes);
    for (int i = 0; i < 256; ++i) {
      encode(before, i, static_cast<float>(i % 13));
      encode(add, i, static_cast<float>(i % 7) - 3);
      encode(golden, i, static_cast<float>(i % 13) + static_cast<float>(i % 7) - 3);
    }
    Buffer<uint8_t> in(kernel.device(), add), out(kernel.device(), before);
    StoreParams params{};
    ASSERT_TRUE(kernel.device().encode_map(spec, out.get(), params.map.bytes).ok());
    params.in = reinterpret_cast<const uint32_t*>(in.get());
    params.bytes = static_cast<int32_t>(add.size());
    params.form = 22;
    const Status status = kernel.run({.threads = 128, .shared_bytes = 1024 + 1024}, params);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(out.values(), golden);
  }
}

// Products. The test lays a matrix out in 16-byte pieces by the manual's canonical layouts and lets the kernel
// multiply.
struct ProductParams {
  const uint32_t* a;
  const uint32_t* b;
  float* d;
  int32_t bytes_a, bytes_b, leading_a, stride_a, leading_b, stride_b, step_a, step_b, steps;
};

struct Laid {
  std::vector<uint8_t> bytes;
  int32_t leading, stride, step;
};

void encode(DataType type, float value, uint8_t* to) {
  const auto put = [&](auto bits) { std::memcpy(to, &bits, sizeof bits); };
  switch (type) {
    case DataType::kBf16:
      return put(number::From<Bf16>::rounded(value).bits);
    case DataType::kF16:
      return put(number::From<F16>::rounded(value).bits);
    case DataType::kE4m3:
      return put(number::From<E4m3>::rounded(value).bits);
    case DataType::kE5m2:
      return put(number::From<E5m2>::rounded(value).bits);
    case DataType::kF32:
    case DataType::kTf32:
      return put(value);
  }
}

// `place` of element (row, k) for `rows` rows and `depth` values along k. swizzle 1: rows of 32 bytes for registers.
Laid lay(const std::vector<float>& matrix, int rows, int depth, DataType type, bool mn_major, int swizzle) {
  const int size = size_of(type);
  Laid laid{std::vector<uint8_t>(static_cast<size_t>(rows) * depth * size), 16, 0, 0};
  const int pitch = depth * size;
  const auto put = [&](int row, int k, int place) { encode(type, matrix[row * depth + k], &laid.bytes[place]); };
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < depth; ++k) {
      const int byte = k * size;
      if (swizzle == 1) {
        put(row, k, byte / 32 * rows * 32 + row * 32 + byte % 32);
        laid.step = rows * 32;
      } else if (!mn_major && swizzle) {  // `swizzle` bytes a row; depth is exactly that
        EXPECT_EQ(pitch, swizzle);
        put(row, k, static_cast<int>(golden_place(static_cast<uint32_t>(row * swizzle + byte), swizzle)));
        laid.stride = 8 * swizzle;
        laid.step = 32;
      } else if (!mn_major) {  // 8 rows of 16 bytes, then the next 8 rows; then the next 16 bytes
        put(row, k, byte / 16 * rows * 16 + row * 16 + byte % 16);
        laid.stride = 128;
        laid.leading = rows * 16;
        laid.step = 2 * rows * 16;
      } else if (swizzle) {  // `swizzle` bytes of rows, k after k; then the next rows
        const int wide = swizzle / size;
        const int place = row / wide * depth * swizzle + k * swizzle + row % wide * size;
        put(row, k, static_cast<int>(golden_place(static_cast<uint32_t>(place), swizzle)));
        laid.leading = depth * swizzle;
        laid.stride = 8 * swizzle;
        laid.step = 16 * swizzle;
      } else {  // 16 bytes of rows, k after k; then the next rows
        put(row, k, row / 8 * depth * 16 + k * 16 + row % 8 * size);
        laid.leading = 128;
        laid.stride = depth * 16;
        laid.step = 256;
      }
    }
  }
  return laid;
}

struct ProductCase {
  DataType a, b;
  int n;
  bool mn_a, mn_b;
  int swizzle;
  bool registers;
};

const char* type_text(DataType type) {
  switch (type) {
    case DataType::kF32:
      return "kF32";
    case DataType::kTf32:
      return "kTf32";
    case DataType::kF16:
      return "kF16";
    case DataType::kBf16:
      return "kBf16";
    case DataType::kE4m3:
      return "kE4m3";
    case DataType::kE5m2:
      return "kE5m2";
  }
  return "";
}

class SimWgmma : public testing::TestWithParam<ProductCase> {};

TEST_P(SimWgmma, MultipliesThroughItsDescriptors) {
  const ProductCase& c = GetParam();
  const int depth = (c.swizzle ? c.swizzle : 64) / size_of(c.a), steps = depth * size_of(c.a) / 32;
  std::vector<float> a(64 * depth), b(c.n * depth), right(64 * c.n);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(static_cast<int>(i * 5 % 13) - 6);
  for (int m = 0; m < 64; ++m) {
    for (int n = 0; n < c.n; ++n) {
      for (int k = 0; k < depth; ++k) right[m * c.n + n] += a[m * depth + k] * b[n * depth + k];
    }
  }
  const Laid la = lay(a, 64, depth, c.a, c.mn_a, c.registers ? 1 : c.swizzle);
  const Laid lb = lay(b, c.n, depth, c.b, c.mn_b, c.swizzle);
  const std::string type = fmt::format(
      "wt::probe::Product<wt::DataType::{}, wt::DataType::{}, {}, wt::device::Major::{}, wt::device::Major::{}, "
      "wt::device::DescriptorSwizzle::k{}, {}>",
      type_text(c.a), type_text(c.b), c.n, c.mn_a ? "kMn" : "kK", c.mn_b ? "kMn" : "kK",
      c.swizzle ? std::to_string(c.swizzle) : "None", c.registers);
  Kernel kernel(Target::kSm90a, {}, "hopper.h", "product", type);
  Buffer<uint8_t> da(kernel.device(), la.bytes), db(kernel.device(), lb.bytes);
  Buffer<float> dd(kernel.device(), right.size());
  const ProductParams params{reinterpret_cast<const uint32_t*>(da.get()),
                             reinterpret_cast<const uint32_t*>(db.get()),
                             dd.get(),
                             static_cast<int32_t>(la.bytes.size()),
                             static_cast<int32_t>(lb.bytes.size()),
                             la.leading,
                             la.stride,
                             lb.leading,
                             lb.stride,
                             la.step,
                             lb.step,
                             steps};
  const auto shared = static_cast<uint32_t>(3072 + la.bytes.size() + lb.bytes.size());
  const Status status = kernel.run({.threads = 128, .shared_bytes = shared}, params);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(dd.values(), right);
}

using enum DataType;
INSTANTIATE_TEST_SUITE_P(
    Forms, SimWgmma,
    testing::Values(
        ProductCase{kBf16, kBf16, 128, false, false, 128, false},
        ProductCase{kBf16, kBf16, 64, false, true, 128, false}, ProductCase{kBf16, kBf16, 256, true, false, 128, false},
        ProductCase{kF16, kF16, 128, true, true, 128, false}, ProductCase{kF16, kF16, 40, false, false, 64, false},
        ProductCase{kBf16, kBf16, 96, true, true, 64, false}, ProductCase{kBf16, kBf16, 8, false, false, 32, false},
        ProductCase{kBf16, kBf16, 48, true, true, 32, false}, ProductCase{kF16, kF16, 24, false, false, 0, false},
        ProductCase{kBf16, kBf16, 200, true, true, 0, false}, ProductCase{kTf32, kTf32, 72, false, false, 128, false},
        ProductCase{kE4m3, kE4m3, 16, false, false, 128, false}, ProductCase{kE5m2, kE4m3, 88, false, false, 64, false},
        ProductCase{kBf16, kBf16, 192, false, true, 128, true}, ProductCase{kTf32, kTf32, 32, false, false, 128, true},
        ProductCase{kE4m3, kE5m2, 56, false, false, 128, true}),
    [](const auto& tested) {
      const ProductCase& c = tested.param;
      return fmt::format("{}_{}_n{}_{}{}_swizzle{}{}", type_text(c.a) + 1, type_text(c.b) + 1, c.n, c.mn_a ? "Mn" : "K",
                         c.mn_b ? "Mn" : "K", c.swizzle, c.registers ? "_registers" : "");
    });

}  // namespace
}  // namespace wt::sim_test
