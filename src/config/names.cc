// SPDX-License-Identifier: Apache-2.0
// config/names.cc - the name of a kernel, made of its config's fields (docs/kernel-names.md).
#include <fmt/format.h>

#include "config/fields.h"

namespace wt {
namespace {

using Place = Field::Place;

std::string hex(uint64_t value) { return fmt::format("{:016x}", value); }

// A number as part of a name: identifiers have no minus sign.
std::string number(int64_t value) { return value < 0 ? fmt::format("m{}", -value) : fmt::format("{}", value); }

std::string name_value(const Field& field, const KernelConfig& config) {
  const int64_t value = field.get(config);
  switch (field.kind) {
    case Field::Kind::kEnum:
      return std::string(field.names().names[static_cast<size_t>(value)].text);
    case Field::Kind::kBool:
      return "";
    case Field::Kind::kHash:
      return hex(static_cast<uint64_t>(value));
    case Field::Kind::kInteger:
      break;
  }
  return number(value);
}

std::string layout_token(Layout layout, int dims) {
  static constexpr const char* kNames[2][3] = {{"nwc", "nhwc", "ndhwc"}, {"ncw", "nchw", "ncdhw"}};
  if (dims >= 1 && dims <= 3) return kNames[static_cast<int>(layout)][dims - 1];
  return fmt::format("{}{}d", layout == Layout::kChannelsLast ? "last" : "first", dims);
}

std::string target_token(Target target) {
  std::string token;
  for (char c : text_of(target))
    if (c != '_' && c != '-') token += c;
  return token;
}

// direction, types, layout and dims, target, kind, and for the gemm family its tile; kind portable says its pipeline.
std::string prefix_of(const KernelConfig& config) {
  std::string name = fmt::format("wt_{}_{}", text_of(config.direction), text_of(config.x));
  if (config.w != config.x || config.y != config.x) name += fmt::format("_{}_{}", text_of(config.w), text_of(config.y));
  name += fmt::format("_{}_{}_{}", layout_token(config.layout, config.dims), target_token(config.target),
                      text_of(config.kind));
  if (config.kind == Kind::kPortable) name += fmt::format("_{}", text_of(config.gemm.pipeline));
  if (config.family() == Family::kGemm)
    name +=
        fmt::format("_t{}x{}x{}", number(config.gemm.tile.m), number(config.gemm.tile.n), number(config.gemm.tile.k));
  return name;
}

void append_optional(std::string& name, size_t index, const KernelConfig& config) {
  const std::span<const Field> all = fields();
  const Field& field = all[index];
  // The tile is in the prefix of a gemm kernel, the pipeline in that of kind portable; the others have one.
  const bool is_gemm = config.family() == Family::kGemm;
  switch (field.place) {
    case Place::kCarried:
      return;
    case Place::kPrefix:
      if (field.tag.empty() || config.kind == Kind::kPortable) return;
      if (config.gemm.pipeline == only_pipeline(config.kind)) return;
      break;
    case Place::kOptional:
      if (!field.is_changed(config)) return;
      break;
    case Place::kExtent:
      if (!extent_changed(index, config) || (is_gemm && field.path == "gemm.tile.m")) return;
      name += fmt::format("_{}{}x{}x{}", field.tag, name_value(field, config), name_value(all[index + 1], config),
                          name_value(all[index + 2], config));
      return;
  }
  name += fmt::format("_{}{}", field.tag, name_value(field, config));
}

}  // namespace

std::string name_of(const KernelConfig& config) {
  std::string name = prefix_of(config);
  for (size_t i = 0; i < fields().size(); ++i) append_optional(name, i, config);
  if (name.size() <= kMaxNameLength) return name;
  const std::string tail = "_h" + hex(hash_of(config));
  return name.substr(0, kMaxNameLength - tail.size()) + tail;
}

}  // namespace wt
