// SPDX-License-Identifier: Apache-2.0
#include "conformance/tensor_box.h"

namespace wt::conformance {

using Element = TensorMapSpec::Element;
using Kind = TensorMapSpec::Kind;

namespace {

// CUDA programming guide, "Swizzle modes": the 16-byte pieces of each 128-byte line change places by the line's number.
uint32_t swizzled_place(uint32_t byte, uint32_t swizzle) {
  const uint32_t line = byte / 128, piece = byte / 16 % 8;
  uint32_t turned = piece;
  if (swizzle == 128) turned = piece ^ (line % 8);
  if (swizzle == 64) turned = (piece & 4) | ((piece ^ line) & 3);
  if (swizzle == 32) turned = (piece & 6) | ((piece ^ line) & 1);
  return line * 128 + turned * 16 + byte % 16;
}

uint32_t inner_bytes(const TensorMapSpec& spec) {
  return (spec.kind == Kind::kIm2col ? spec.channels_per_pixel : spec.box[0]) * element_bytes(spec.element);
}

// A swizzled row fills the swizzle's span even where the box is narrower.
uint32_t row_pitch(const TensorMapSpec& spec) { return spec.swizzle ? spec.swizzle : inner_bytes(spec); }

uint32_t rows(const TensorMapSpec& spec) {
  if (spec.kind == Kind::kIm2col) return spec.pixels_per_column;
  uint32_t count = 1;
  for (int d = 1; d < spec.rank; ++d) count *= (spec.box[d] + spec.element_stride[d] - 1) / spec.element_stride[d];
  return count;
}

// One row of the box: the tensor's elements at[0], at[0] + 1, .. of the row that starts at `offset`.
void visit_row(const TensorMapSpec& spec, uint32_t row, int64_t first, int64_t offset, bool inside,
               const VisitByte& visit) {
  const uint32_t element = element_bytes(spec.element), inner = inner_bytes(spec);
  for (uint32_t b = 0; b < inner; ++b) {
    const int64_t c = first + b / element;
    const bool present = inside && c >= 0 && c < static_cast<int64_t>(spec.size[0]);
    visit(swizzled_place(row * row_pitch(spec) + b, spec.swizzle), present ? offset + c * element + b % element : -1);
  }
}

void for_tiled(const TensorMapSpec& spec, const int32_t* at, const VisitByte& visit) {
  for (uint32_t row = 0; row < rows(spec); ++row) {
    uint32_t rest = row;
    int64_t offset = 0;
    bool inside = true;
    for (int d = 1; d < spec.rank; ++d) {
      const uint32_t step = spec.element_stride[d], count = (spec.box[d] + step - 1) / step;
      const int64_t x = at[d] + static_cast<int64_t>(rest % count) * step;
      rest /= count;
      inside = inside && x >= 0 && x < static_cast<int64_t>(spec.size[d]);
      offset += x * static_cast<int64_t>(spec.stride[d]);
    }
    visit_row(spec, row, at[0], offset, inside, visit);
  }
}

// CUDA programming guide, "im2col mode": the pixels of the bounding box in row order, in steps of the element strides,
// from the start; the tap's offset is added to each.
void for_im2col(const TensorMapSpec& spec, const int32_t* at, const int32_t* tap, const VisitByte& visit) {
  const int spatial = spec.rank - 2;
  int64_t pixel[3] = {at[1], at[2], at[3]}, image = at[spec.rank - 1];
  for (uint32_t p = 0; p < spec.pixels_per_column; ++p) {
    bool inside = image < static_cast<int64_t>(spec.size[spec.rank - 1]);
    int64_t offset = image * static_cast<int64_t>(spec.stride[spec.rank - 1]);
    for (int d = 0; d < spatial; ++d) {
      const int64_t x = pixel[d] + tap[d];
      inside = inside && x >= 0 && x < static_cast<int64_t>(spec.size[d + 1]);
      offset += x * static_cast<int64_t>(spec.stride[d + 1]);
    }
    visit_row(spec, p, at[0], offset, inside, visit);
    int d = 0;
    for (; d < spatial; ++d) {
      pixel[d] += spec.element_stride[d + 1];
      if (pixel[d] < static_cast<int64_t>(spec.size[d + 1]) + spec.upper[d]) break;
      pixel[d] = spec.lower[d];
    }
    image += d == spatial;
  }
}

}  // namespace

uint32_t element_bytes(Element element) {
  switch (element) {
    case Element::kU8:
      return 1;
    case Element::kF16:
    case Element::kBf16:
      return 2;
    case Element::kF32:
    case Element::kTf32:
      return 4;
  }
  return 0;
}

TensorMapSpec tiled_map(Element element, const std::vector<uint64_t>& size, const std::vector<uint32_t>& box,
                        uint32_t swizzle, const std::vector<uint32_t>& step) {
  TensorMapSpec spec;
  spec.element = element;
  spec.rank = static_cast<int>(size.size());
  spec.swizzle = swizzle;
  uint64_t stride = element_bytes(element);
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

TensorMapSpec im2col_map(Element element, const std::vector<uint64_t>& size, const Im2colBox& box, uint32_t swizzle) {
  TensorMapSpec spec = tiled_map(element, size, std::vector<uint32_t>(size.size(), 1), swizzle);
  spec.kind = Kind::kIm2col;
  spec.channels_per_pixel = box.channels;
  spec.pixels_per_column = box.pixels;
  for (int d = 0; d < spec.rank - 2; ++d) {
    spec.lower[d] = box.lower[d];
    spec.upper[d] = box.upper[d];
    spec.element_stride[d + 1] = box.step[d];
  }
  return spec;
}

uint64_t tensor_bytes(const TensorMapSpec& spec) {
  uint64_t bytes = spec.size[0] * element_bytes(spec.element);
  for (int d = 1; d < spec.rank; ++d) bytes += (spec.size[d] - 1) * spec.stride[d];
  return bytes;
}

uint32_t box_bytes(const TensorMapSpec& spec) { return rows(spec) * inner_bytes(spec); }

uint32_t shared_bytes(const TensorMapSpec& spec) { return rows(spec) * row_pitch(spec); }

void for_box(const TensorMapSpec& spec, const int32_t* at, const int32_t* tap, const VisitByte& visit) {
  if (spec.kind == Kind::kIm2col) return for_im2col(spec, at, tap, visit);
  for_tiled(spec, at, visit);
}

}  // namespace wt::conformance
