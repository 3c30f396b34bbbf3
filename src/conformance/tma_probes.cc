// SPDX-License-Identifier: Apache-2.0
// conformance/tma_probes.cc - bulk copies: every form, rank and swizzle, boxes that hang over each edge.
#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "conformance/probe.h"
#include "conformance/tensor_box.h"
#include "problem/number.h"

namespace wt::conformance {
namespace {

using Element = TensorMapSpec::Element;
using Kind = TensorMapSpec::Kind;

constexpr uint32_t kSlack = 256;  // bytes after a box that must stay as they were

const char* text_of(Element element) {
  switch (element) {
    case Element::kU8:
      return "u8";
    case Element::kF16:
      return "fp16";
    case Element::kBf16:
      return "bf16";
    case Element::kF32:
      return "fp32";
    case Element::kTf32:
      return "tf32";
  }
  return "";
}

Bytes untouched(size_t count) {
  Bytes bytes;
  for (size_t i = 0; i < count; i += 4) append(bytes, probe::kUntouched);
  return bytes;
}

Probe copy_probe(std::string name, const char* entry) {
  Probe probe;
  probe.name = std::move(name);
  probe.since = Target::kSm90a;
  probe.module = "probe_tma";
  probe.header = "conformance/device/tma.h";
  probe.entry = fmt::format("probe_tma_{}", entry);
  probe.kernel = fmt::format("wt::probe::{}", entry);
  probe.shape.threads = 128;
  return probe;
}

struct Corner {
  std::vector<int32_t> at, tap;
};

std::string map_text(const TensorMapSpec& spec, const Corner& corner) {
  std::string text = fmt::format("{}.{}d.{}.swizzle{}.at", spec.kind == Kind::kIm2col ? "im2col" : "tiled", spec.rank,
                                 text_of(spec.element), spec.swizzle);
  for (const int32_t c : corner.at) text += fmt::format("_{}", c);
  if (!corner.tap.empty()) text += ".tap";
  for (const int32_t t : corner.tap) text += fmt::format("_{}", t);
  return text;
}

void set_corner(Probe& probe, const Corner& corner) {
  std::copy(corner.at.begin(), corner.at.end(), probe.params.at);
  std::copy(corner.tap.begin(), corner.tap.end(), probe.params.tap);
}

// What a load of the box leaves at `shared`, a view of shared memory that starts at `base` from a 1024-byte boundary.
void load_expected(const TensorMapSpec& spec, const probe::Params& p, int32_t shift, const Bytes& tensor,
                   uint8_t* shared) {
  int32_t at[5];
  std::copy(p.at, p.at + 5, at);
  at[1] += shift;
  for_box(spec, at, p.tap,
          [&](uint32_t place, int64_t from) { shared[place] = from < 0 ? 0 : tensor[static_cast<size_t>(from)]; });
}

// A load of tf32 elements rounds them: finite numbers there, and every third one a tie.
Bytes tensor_pattern(const TensorMapSpec& spec) {
  Bytes bytes = pattern(tensor_bytes(spec), static_cast<uint32_t>(spec.rank) * 8 + spec.swizzle / 32);
  if (spec.element != Element::kTf32) return bytes;
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    bytes[i + 3] = static_cast<uint8_t>((bytes[i + 3] & 0x80) | 0x3f);
    if (i % 12) continue;
    bytes[i] = 0;
    bytes[i + 1] = static_cast<uint8_t>((bytes[i + 1] & 0xe0) | 0x10);
  }
  return bytes;
}

// What a load brings of the tensor's bytes: tf32 elements to nearest, ties to even.
Bytes loaded(const TensorMapSpec& spec, const Bytes& tensor) {
  Bytes bytes = tensor;
  for (size_t i = 0; spec.element == Element::kTf32 && i + 4 <= bytes.size(); i += 4) {
    uint32_t bits;
    std::memcpy(&bits, &bytes[i], 4);
    bits = (bits + 0xfffu + (bits >> 13 & 1)) & 0xffffe000u;
    std::memcpy(&bytes[i], &bits, 4);
  }
  return bytes;
}

void add_load(std::vector<Probe>& list, const TensorMapSpec& spec, const Corner& corner, const char* note = "") {
  Probe probe = copy_probe(fmt::format("tma.load.{}{}", map_text(spec, corner), note), "Load");
  probe.map = spec;
  set_corner(probe, corner);
  probe.params.form = spec.rank + (spec.kind == Kind::kIm2col ? 10 : 0);
  probe.params.bytes = static_cast<int>(box_bytes(spec));
  probe.params.count = static_cast<int>((shared_bytes(spec) + 127) / 128 * 128 + kSlack);
  probe.shape.shared_bytes = 1024 + static_cast<uint32_t>(probe.params.count) + 16;
  probe.input = tensor_pattern(spec);
  probe.output = Bytes(static_cast<size_t>(probe.params.count), 0);
  probe.expected = untouched(probe.output.size());
  load_expected(spec, probe.params, 0, loaded(spec, probe.input), probe.expected.data());
  list.push_back(std::move(probe));
}

// Two blocks, each with a box of its own for both; the second one's starts `step` further along dimension 1.
void add_multicast(std::vector<Probe>& list, const TensorMapSpec& spec, const Corner& corner, int step) {
  Probe probe = copy_probe(fmt::format("tma.multicast.{}", map_text(spec, corner)), "Multicast");
  probe.map = spec;
  set_corner(probe, corner);
  probe.params.form = spec.rank + (spec.kind == Kind::kIm2col ? 30 : 20);
  probe.params.bytes = static_cast<int>(box_bytes(spec));
  probe.params.step = step;
  const uint32_t count = (shared_bytes(spec) + 1023) / 1024 * 1024;
  probe.params.count = static_cast<int>(count);
  probe.shape.grid = {2, 1, 1};
  probe.shape.cluster = {2, 1, 1};
  probe.shape.shared_bytes = 1024 + 2 * count + 16;
  probe.input = pattern(tensor_bytes(spec), 99);
  probe.output = Bytes(4 * size_t{count}, 0);
  Bytes one = untouched(2 * size_t{count});
  load_expected(spec, probe.params, 0, probe.input, one.data());
  load_expected(spec, probe.params, step, probe.input, one.data() + count);
  for (int block = 0; block < 2; ++block) probe.expected.insert(probe.expected.end(), one.begin(), one.end());
  list.push_back(std::move(probe));
}

Probe store_probe(const std::string& name, const TensorMapSpec& spec, const Corner& corner, int form) {
  Probe probe = copy_probe(fmt::format("tma.{}.{}", name, map_text(spec, corner)), "Store");
  probe.map = spec;
  probe.map_over_output = true;
  set_corner(probe, corner);
  probe.params.form = form;
  probe.params.bytes = static_cast<int>(shared_bytes(spec));
  probe.shape.shared_bytes = 1024 + shared_bytes(spec);
  return probe;
}

void add_store(std::vector<Probe>& list, const TensorMapSpec& spec, const Corner& corner) {
  Probe probe = store_probe("store", spec, corner, spec.rank);
  probe.input = pattern(shared_bytes(spec), 5);
  probe.output = Bytes(tensor_bytes(spec), 0xee);
  probe.expected = probe.output;
  for_box(spec, probe.params.at, probe.params.tap, [&](uint32_t place, int64_t to) {
    if (to >= 0) probe.expected[static_cast<size_t>(to)] = probe.input[place];
  });
  list.push_back(std::move(probe));
}

DataType type_of(Element element) {
  return element == Element::kF32 ? DataType::kF32 : element == Element::kBf16 ? DataType::kBf16 : DataType::kF16;
}

// Sums that must be rounded in the 16-bit types: quarters plus thirds.
void add_reduce(std::vector<Probe>& list, const TensorMapSpec& spec, const Corner& corner) {
  Probe probe = store_probe("reduce_add", spec, corner, 22);
  const DataType type = type_of(spec.element);
  const uint32_t size = element_bytes(spec.element);
  probe.input.resize(shared_bytes(spec));
  probe.output.resize(tensor_bytes(spec));
  for (size_t i = 0; i < probe.input.size() / size; ++i)
    store(type, probe.input.data(), static_cast<int64_t>(i), static_cast<float>(i % 97) / 3 - 11);
  for (size_t i = 0; i < probe.output.size() / size; ++i)
    store(type, probe.output.data(), static_cast<int64_t>(i), static_cast<float>(i % 61) / 4 - 5);
  probe.expected = probe.output;
  for_box(spec, probe.params.at, probe.params.tap, [&](uint32_t place, int64_t to) {
    if (to < 0 || to % size) return;
    const float sum = load(type, probe.input.data(), place / size) + load(type, probe.output.data(), to / size);
    store(type, probe.expected.data(), to / size, sum);
  });
  list.push_back(std::move(probe));
}

// The last probe of the list as one that breaks a limit.
void refuse(std::vector<Probe>& list, const char* why) {
  Probe& probe = list.back();
  probe.name = "limit." + probe.name;
  probe.refused = why;
}

// Corners that the copy engine does not take: it ends the kernel with an illegal instruction.
void add_corner_limits(std::vector<Probe>& list) {
  constexpr const char* kUnaligned = "not a multiple of 16";
  add_load(list, tiled_map(Element::kF16, {72, 50}, {32, 24}, 64), {{-5, 40}, {}});
  refuse(list, kUnaligned);
  add_load(list, tiled_map(Element::kBf16, {72, 50}, {32, 24}, 64), {{4, 3}, {}});
  refuse(list, kUnaligned);
  add_load(list, tiled_map(Element::kF32, {72, 50}, {16, 24}, 0), {{1, 3}, {}});
  refuse(list, kUnaligned);
  add_load(list, im2col_map(Element::kBf16, {72, 5, 7, 2}, {{0, 0}, {0, 0}, {1, 1}, 32, 64}, 64),
           {{4, 2, 3, 0}, {0, 0}});
  refuse(list, kUnaligned);
  add_store(list, tiled_map(Element::kBf16, {72, 50}, {32, 24}, 64), {{4, 3}, {}});
  refuse(list, kUnaligned);
  constexpr const char* kNegative = "negative";
  add_store(list, tiled_map(Element::kBf16, {72, 50}, {32, 24}, 64), {{-8, 3}, {}});
  refuse(list, kNegative);
  add_store(list, tiled_map(Element::kBf16, {72, 50}, {32, 24}, 64), {{8, -1}, {}});
  refuse(list, kNegative);
  add_reduce(list, tiled_map(Element::kF32, {72, 20}, {16, 16}, 0), {{0, -2}, {}});
  refuse(list, kNegative);
}

}  // namespace

void add_tma_loads(std::vector<Probe>& list) {
  // Inside, over the low edges, over the high edges; the inner extent is the swizzle's span where there is one.
  for (const uint32_t swizzle : {0u, 32u, 64u, 128u}) {
    const uint32_t span = swizzle ? swizzle : 64, wide = span / 2, full = span / 4;
    add_load(list, tiled_map(Element::kF32, {1000}, {full}, swizzle), {{-8}, {}});
    add_load(list, tiled_map(Element::kF32, {1000}, {full}, swizzle), {{996}, {}});
    add_load(list, tiled_map(Element::kBf16, {72, 50}, {wide, 40}, swizzle), {{0, 3}, {}});
    add_load(list, tiled_map(Element::kBf16, {72, 50}, {wide, 40}, swizzle), {{56, -3}, {}});
    add_load(list, tiled_map(Element::kF16, {72, 50}, {wide, 24}, swizzle), {{-8, 40}, {}});
    add_load(list, tiled_map(Element::kU8, {144, 9}, {span, 8}, swizzle), {{16, 4}, {}});
    add_load(list, tiled_map(Element::kBf16, {40, 7, 6}, {wide, 3, 4}, swizzle), {{8, 5, -1}, {}});
    add_load(list, tiled_map(Element::kF32, {16, 5, 4, 3}, {span < 64 ? full : 16, 3, 2, 2}, swizzle),
             {{8, 3, -1, 2}, {}});
    add_load(list, tiled_map(Element::kBf16, {24, 4, 5, 3, 3}, {wide, 2, 3, 2, 2}, swizzle), {{8, 3, -1, 1, 2}, {}});
  }
  // A box narrower than the swizzle's span, and steps over the tensor.
  add_load(list, tiled_map(Element::kBf16, {72, 50}, {32, 16}, 128), {{8, 4}, {}}, ".narrow64");
  add_load(list, tiled_map(Element::kBf16, {72, 50}, {8, 16}, 128), {{8, 4}, {}}, ".narrow16");
  add_load(list, tiled_map(Element::kBf16, {72, 50}, {24, 10}, 64), {{8, 44}, {}}, ".narrow48");
  add_load(list, tiled_map(Element::kBf16, {72, 50}, {8, 9}, 32), {{64, 4}, {}}, ".narrow16");
  add_load(list, tiled_map(Element::kBf16, {64, 20, 11}, {64, 9, 7}, 128, {1, 2, 3}), {{0, 1, -2}, {}}, ".steps");
  add_load(list, tiled_map(Element::kBf16, {32, 20, 11, 5}, {32, 8, 7, 3}, 64, {1, 2, 2, 2}), {{0, 2, 3, 1}, {}},
           ".steps");
  add_load(list, tiled_map(Element::kTf32, {40, 20}, {32, 16}, 128), {{16, 10}, {}});

  const auto conv = [](std::vector<uint64_t> size, Im2colBox box, uint32_t swizzle) {
    return im2col_map(Element::kBf16, size, box, swizzle);
  };
  for (const uint32_t swizzle : {0u, 32u, 64u, 128u}) {
    const uint32_t channels = (swizzle ? swizzle : 128) / 2;
    const auto c = static_cast<int32_t>(72 - channels / 2) / 8 * 8;
    add_load(list, conv({72, 30, 3}, {{-2}, {-2}, {1}, channels, 64}, swizzle), {{0, 25, 0}, {3}});
    add_load(list, conv({72, 30, 3}, {{-1}, {0}, {2}, channels, 24}, swizzle), {{c, 13, 1}, {1}});
    add_load(list, conv({72, 5, 7, 2}, {{-1, -1}, {-1, -1}, {1, 1}, channels, 64}, swizzle), {{0, -1, -1, 0}, {0, 0}});
    add_load(list, conv({72, 5, 7, 2}, {{-1, -1}, {-1, -1}, {1, 1}, channels, 64}, swizzle), {{c, 2, 3, 0}, {2, 2}});
    add_load(list, conv({72, 11, 9, 3}, {{-1, -1}, {-1, -1}, {2, 2}, channels, 64}, swizzle), {{0, 3, 5, 1}, {1, 2}});
    add_load(list, conv({72, 9, 9, 2}, {{-4, -3}, {0, -1}, {3, 2}, channels, 40}, swizzle), {{0, -1, 1, 0}, {4, 4}});
    add_load(list, conv({72, 4, 3, 5, 2}, {{-1, 0, -2}, {-1, -2, 0}, {1, 1, 2}, channels, 40}, swizzle),
             {{c, 1, 0, 2, 0}, {2, 2, 1}});
    add_load(list, conv({72, 6, 6, 4, 2}, {{-1, -1, -1}, {-1, -1, -1}, {1, 1, 1}, channels, 200}, swizzle),
             {{0, 2, 3, 0, 0}, {1, 0, 2}});
  }
  add_load(list, conv({72, 6, 6, 2}, {{-2, -2}, {-2, -2}, {1, 1}, 64, 128}, 128), {{64, 1, 1, 1}, {4, 2}});
  add_load(list, conv({8, 6, 5, 4}, {{-1, -1}, {-1, -1}, {1, 1}, 8, 64}, 0), {{0, 0, 0, 2}, {2, 0}});
  add_load(list, conv({24, 6, 5, 4}, {{-1, -1}, {-1, -1}, {1, 1}, 24, 64}, 128), {{0, 0, 0, 2}, {2, 0}}, ".narrow48");
  add_load(list, conv({64, 13, 13, 2}, {{-3, -3}, {-5, -5}, {2, 2}, 64, 48}, 128), {{0, 1, -1, 0}, {6, 3}}, ".dilated");
  add_load(list, conv({64, 5, 5, 2}, {{-1, -1}, {-1, -1}, {1, 1}, 64, 64}, 128), {{0, 0, 0, 1}, {0, 0}}, ".last");
  add_load(list, im2col_map(Element::kF32, {40, 7, 5, 2}, {{0, 0}, {0, 0}, {1, 1}, 32, 32}, 128),
           {{16, 3, 2, 0}, {0, 0}});
  add_load(list, im2col_map(Element::kU8, {144, 7, 5, 2}, {{-1, -1}, {1, 1}, {1, 1}, 128, 32}, 128),
           {{32, 3, 2, 0}, {1, 1}});

  add_multicast(list, tiled_map(Element::kBf16, {72, 50}, {64, 16}, 128), {{16, 30}, {}}, 16);
  add_multicast(list, tiled_map(Element::kBf16, {72, 50}, {32, 16}, 64), {{0, -4}, {}}, 8);
  add_multicast(list, tiled_map(Element::kF32, {16, 9, 4}, {16, 4, 3}, 0), {{8, 1, 2}, {}}, 4);
  add_multicast(list, conv({64, 30, 3}, {{-2}, {-2}, {1}, 64, 64}, 128), {{0, 5, 0}, {3}}, 7);
  add_multicast(list, conv({64, 9, 7, 2}, {{-1, -1}, {-1, -1}, {1, 1}, 64, 32}, 128), {{0, 2, 3, 0}, {2, 1}}, 3);
  add_multicast(list, conv({32, 4, 5, 3, 2}, {{-1, -1, 0}, {-1, -1, 0}, {1, 1, 1}, 32, 32}, 64),
                {{0, -1, 2, 1, 0}, {1, 2, 0}}, 2);

  Probe plain = copy_probe("tma.load.plain", "Load");
  plain.params.bytes = 4096;
  plain.params.count = 4096 + kSlack;
  plain.shape.shared_bytes = 1024 + 4096 + kSlack + 16;
  plain.input = pattern(4096, 3);
  plain.output = Bytes(4096 + kSlack, 0);
  plain.expected = untouched(plain.output.size());
  std::copy(plain.input.begin(), plain.input.end(), plain.expected.begin());
  list.push_back(std::move(plain));
}

void add_tma_stores(std::vector<Probe>& list) {
  for (const uint32_t swizzle : {0u, 32u, 64u, 128u}) {
    const uint32_t span = swizzle ? swizzle : 64, wide = span / 2;
    add_store(list, tiled_map(Element::kBf16, {72, 50}, {wide, 40}, swizzle), {{16, 20}, {}});
    add_store(list, tiled_map(Element::kF32, {40, 20}, {span / 4, 16}, swizzle), {{36, 10}, {}});
    add_store(list, tiled_map(Element::kBf16, {40, 7, 6}, {wide, 3, 4}, swizzle), {{8, 5, 4}, {}});
    add_store(list, tiled_map(Element::kF32, {16, 5, 4, 3}, {8, 3, 2, 2}, swizzle), {{8, 3, 3, 2}, {}});
    add_store(list, tiled_map(Element::kBf16, {24, 4, 5, 3, 3}, {wide, 2, 3, 2, 2}, swizzle), {{8, 3, 4, 1, 2}, {}});
    for (const Element element : {Element::kF32, Element::kBf16, Element::kF16}) {
      add_reduce(list, tiled_map(element, {72, 20}, {span / element_bytes(element), 16}, swizzle), {{48, 10}, {}});
    }
  }
  add_store(list, tiled_map(Element::kTf32, {40, 20}, {32, 16}, 128), {{16, 10}, {}});
  add_store(list, tiled_map(Element::kU8, {144, 9}, {128, 8}, 128), {{32, 4}, {}});
  add_store(list, tiled_map(Element::kBf16, {32, 20, 11}, {32, 8, 7}, 64, {1, 2, 3}), {{0, 1, 2}, {}});

  Probe plain = copy_probe("tma.store.plain", "Store");
  plain.params.bytes = 4096;
  plain.shape.shared_bytes = 1024 + 4096;
  plain.input = pattern(4096, 4);
  plain.output = Bytes(4096 + 64, 0xee);
  plain.expected = plain.output;
  std::copy(plain.input.begin(), plain.input.end(), plain.expected.begin());
  list.push_back(std::move(plain));
  add_corner_limits(list);
}

}  // namespace wt::conformance
