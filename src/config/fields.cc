// SPDX-License-Identifier: Apache-2.0
#include "config/fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/check.h"

namespace wt {

namespace {

using Place = Field::Place;

template <class T>
constexpr Field make_field(std::string_view path, std::string_view tag, Place place, size_t offset) {
  Field field{path, tag, place, Field::Kind::kInteger, static_cast<uint16_t>(offset), sizeof(T), false, nullptr};
  if constexpr (std::is_enum_v<T>) {
    field.kind = Field::Kind::kEnum;
    field.names = &enum_table<T>;
  } else if constexpr (std::is_same_v<T, bool>) {
    field.kind = Field::Kind::kBool;
  } else {
    if (sizeof(T) == 8) field.kind = Field::Kind::kHash;
    field.is_signed = std::is_signed_v<T>;
  }
  return field;
}

#define WT_FIELD(place, member, tag)                                                                   \
  make_field<std::remove_cvref_t<decltype(std::declval<KernelConfig&>().member)>>(#member, tag, place, \
                                                                                  offsetof(KernelConfig, member))
#define WT_EXTENT(member, tag)                                                       \
  WT_FIELD(Place::kExtent, member.m, tag), WT_FIELD(Place::kCarried, member.n, tag), \
      WT_FIELD(Place::kCarried, member.k, tag)

// The list, in the order of the struct. A tag of a bool is what a name says where the bool is not its default.
constexpr std::array kFields = {
    WT_FIELD(Place::kPrefix, kind, ""),
    WT_FIELD(Place::kPrefix, direction, ""),
    WT_FIELD(Place::kPrefix, target, ""),
    WT_FIELD(Place::kPrefix, x, ""),
    WT_FIELD(Place::kPrefix, w, ""),
    WT_FIELD(Place::kPrefix, y, ""),
    WT_FIELD(Place::kOptional, acc, "acc_"),
    WT_FIELD(Place::kPrefix, layout, ""),
    WT_FIELD(Place::kPrefix, dims, ""),
    WT_FIELD(Place::kOptional, min_blocks, "mb"),
    WT_FIELD(Place::kOptional, finite_only, "finite"),
    WT_FIELD(Place::kOptional, scales, "scales_"),

    WT_FIELD(Place::kOptional, epilogue.scale, "scale"),
    WT_FIELD(Place::kOptional, epilogue.bias, "bias"),
    WT_FIELD(Place::kOptional, epilogue.residual, "res"),
    WT_FIELD(Place::kOptional, epilogue.activation, ""),
    WT_FIELD(Place::kOptional, epilogue.amax, "amax"),
    WT_FIELD(Place::kOptional, epilogue.user_hash, "user"),
    WT_FIELD(Place::kOptional, epilogue.added, "add"),
    WT_FIELD(Place::kOptional, epilogue.gradient, "grad_"),
    WT_FIELD(Place::kOptional, epilogue.inputs, "aux"),
    WT_FIELD(Place::kOptional, epilogue.expression, "f"),
    WT_FIELD(Place::kOptional, epilogue.store, "store"),
    WT_FIELD(Place::kOptional, epilogue.scale_type, "scale_"),
    WT_FIELD(Place::kOptional, epilogue.bias_type, "bias_"),
    WT_FIELD(Place::kOptional, epilogue.x_zero, "xz"),

    WT_EXTENT(gemm.tile, "t"),
    WT_EXTENT(gemm.warps, "w"),
    WT_EXTENT(gemm.mma, "i"),
    WT_FIELD(Place::kPrefix, gemm.pipeline, "pipe_"),
    WT_FIELD(Place::kOptional, gemm.scheduler, ""),
    WT_FIELD(Place::kOptional, gemm.stages, "st"),
    WT_FIELD(Place::kOptional, gemm.wave_groups, "wg"),
    WT_FIELD(Place::kOptional, gemm.double_buffer, "db"),
    WT_FIELD(Place::kOptional, gemm.loader_a, "a_"),
    WT_FIELD(Place::kOptional, gemm.loader_b, "b_"),
    WT_FIELD(Place::kOptional, gemm.ping_pong, "pp"),
    WT_FIELD(Place::kOptional, gemm.cluster_m, "clm"),
    WT_FIELD(Place::kOptional, gemm.cluster_n, "cln"),
    WT_FIELD(Place::kOptional, gemm.multicast_a, "mca"),
    WT_FIELD(Place::kOptional, gemm.multicast_b, "mcb"),
    WT_FIELD(Place::kOptional, gemm.swizzle_a, "sa"),
    WT_FIELD(Place::kOptional, gemm.swizzle_b, "sb"),
    WT_FIELD(Place::kOptional, gemm.raster, ""),
    WT_FIELD(Place::kOptional, gemm.block_swizzle, "bs"),
    WT_FIELD(Place::kOptional, gemm.persistent, "pers"),
    WT_FIELD(Place::kOptional, gemm.staging, "c_"),
    WT_FIELD(Place::kOptional, gemm.swap_ab, "swap"),
    WT_FIELD(Place::kOptional, gemm.aligned_copy, "copy"),
    WT_FIELD(Place::kOptional, gemm.vector_a, "va"),
    WT_FIELD(Place::kOptional, gemm.vector_b, "vb"),
    WT_FIELD(Place::kOptional, gemm.vector_c, "vc"),
    WT_FIELD(Place::kOptional, gemm.specialization, ""),
    WT_FIELD(Place::kOptional, gemm.split_k, "split_"),
    WT_FIELD(Place::kOptional, gemm.stream_k, "stream_"),
    WT_FIELD(Place::kOptional, gemm.stream_k_persistent, "spers"),
    WT_FIELD(Place::kOptional, gemm.groups_per_tile, "gt"),
    WT_FIELD(Place::kOptional, gemm.explicit_gemm, "explicit"),
    WT_FIELD(Place::kOptional, gemm.load_warps, "lw"),
    WT_FIELD(Place::kOptional, gemm.filter_rows, "fr"),

    WT_FIELD(Place::kOptional, fixed.filter_h, "fh"),
    WT_FIELD(Place::kOptional, fixed.filter_w, "fw"),
    WT_FIELD(Place::kOptional, fixed.stride_h, "sh"),
    WT_FIELD(Place::kOptional, fixed.stride_w, "sw"),
    WT_FIELD(Place::kOptional, fixed.dilation_h, "dh"),
    WT_FIELD(Place::kOptional, fixed.dilation_w, "dw"),

    WT_FIELD(Place::kOptional, direct.tile_w, "tw"),
    WT_FIELD(Place::kOptional, direct.sub_w, "uw"),
    WT_FIELD(Place::kOptional, direct.sub_h, "uh"),
    WT_FIELD(Place::kOptional, direct.block_size, "block"),
    WT_FIELD(Place::kOptional, direct.vector_in, "vi"),
    WT_FIELD(Place::kOptional, direct.vector_out, "vo"),
    WT_FIELD(Place::kOptional, direct.group_channels, "gc"),
    WT_FIELD(Place::kOptional, direct.block_channels, "bc"),
    WT_FIELD(Place::kOptional, direct.images, "img"),
    WT_FIELD(Place::kOptional, direct.prefetch, "pf"),
    WT_FIELD(Place::kOptional, direct.register_weights, "rw"),
    WT_FIELD(Place::kOptional, direct.bulk_rows, "bulk"),
    WT_FIELD(Place::kOptional, direct.read_ahead, "ahead"),
    WT_FIELD(Place::kOptional, direct.history, "hist"),
};

#undef WT_EXTENT
#undef WT_FIELD

// Converts to anything, so that T{Any, Any, ...} compiles as long as T has that many members.
struct Any {
  template <class T>
  constexpr operator T() const;
};

template <class T, class... Members>
constexpr size_t member_count() {
  if constexpr (requires { T{Members{}..., Any{}}; })
    return member_count<T, Members..., Any>();
  else
    return sizeof...(Members);
}

constexpr size_t kExtents = 3;
static_assert(kFields.size() == (member_count<KernelConfig>() - 4) + member_count<EpilogueConfig>() +
                                    (member_count<GemmConfig>() - kExtents) + kExtents * member_count<Extent3>() +
                                    member_count<FixedSizes>() + member_count<DirectConfig>(),
              "a field of KernelConfig is missing from (or doubled in) the list above");

const KernelConfig kDefaults{};

}  // namespace

int64_t Field::get(const KernelConfig& config) const {
  const auto* at = reinterpret_cast<const std::byte*>(&config) + offset;
  const auto read = [at]<class T>(T value) {
    std::memcpy(&value, at, sizeof(T));
    return static_cast<int64_t>(value);
  };
  if (bytes == 1) return is_signed ? read(int8_t{}) : read(uint8_t{});
  if (bytes == 2) return is_signed ? read(int16_t{}) : read(uint16_t{});
  return read(int64_t{});
}

void Field::set(KernelConfig& config, int64_t value) const {
  WT_CHECK(fits(value), "{} does not fit {}", value, path);
  auto* at = reinterpret_cast<std::byte*>(&config) + offset;
  std::memcpy(at, &value, bytes);  // little-endian, as every host and GPU here is
}

bool Field::fits(int64_t value) const {
  switch (kind) {
    case Kind::kEnum:
      return value >= 0 && value < static_cast<int64_t>(names().names.size());
    case Kind::kBool:
      return value == 0 || value == 1;
    case Kind::kHash:
      return true;
    case Kind::kInteger:
      break;
  }
  const int64_t span = int64_t{1} << (8 * bytes);
  return is_signed ? value >= -span / 2 && value < span / 2 : value >= 0 && value < span;
}

int64_t Field::default_value() const { return get(kDefaults); }

std::string Field::text(const KernelConfig& config) const {
  const int64_t value = get(config);
  switch (kind) {
    case Kind::kEnum:
      return std::string(names().names[static_cast<size_t>(value)].text);
    case Kind::kBool:
      return value ? "true" : "false";
    case Kind::kHash:
      return fmt::format("0x{:016x}", static_cast<uint64_t>(value));
    case Kind::kInteger:
      break;
  }
  return fmt::format("{}", value);
}

std::span<const Field> fields() { return kFields; }

const Field* find_field(std::string_view path) {
  for (const Field& field : kFields)
    if (field.path == path) return &field;
  return nullptr;
}

bool extent_changed(size_t index, const KernelConfig& config) {
  const auto changed = [&](const Field& field) { return field.is_changed(config); };
  return std::ranges::any_of(fields().subspan(index, 3), changed);
}

std::string key_of(const KernelConfig& config) {
  std::string key;
  for (const Field& field : kFields) {
    if (!field.is_changed(config)) continue;
    if (!key.empty()) key += ',';
    key += field.path;
    key += '=';
    key += field.text(config);
  }
  return key;
}

uint64_t hash_of(const KernelConfig& config) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (char c : key_of(config)) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

std::strong_ordering compare(const KernelConfig& a, const KernelConfig& b) {
  for (const Field& field : kFields) {
    // As unsigned for the hash only; every other value is small.
    const auto order = field.kind == Field::Kind::kHash
                           ? static_cast<uint64_t>(field.get(a)) <=> static_cast<uint64_t>(field.get(b))
                           : field.get(a) <=> field.get(b);
    if (order != 0) return order;
  }
  return std::strong_ordering::equal;
}

std::string instance_string(const KernelConfig& config) {
  std::string text = fmt::format("{} {} x={} w={} y={} {} {}d {}", text_of(config.direction), text_of(config.target),
                                 text_of(config.x), text_of(config.w), text_of(config.y), text_of(config.layout),
                                 config.dims, text_of(config.kind));
  if (config.family() == Family::kGemm) {
    const GemmConfig& gemm = config.gemm;
    text += fmt::format(" pipeline={} tile={}x{}x{} warps={}x{}x{} mma={}x{}x{}", text_of(gemm.pipeline), gemm.tile.m,
                        gemm.tile.n, gemm.tile.k, gemm.warps.m, gemm.warps.n, gemm.warps.k, gemm.mma.m, gemm.mma.n,
                        gemm.mma.k);
  }
  for (const Field& field : kFields) {
    const bool said = field.place == Place::kPrefix || field.place == Place::kExtent || field.place == Place::kCarried;
    if (said && config.family() == Family::kGemm) continue;
    if (said && field.path.find('.') == std::string_view::npos) continue;
    if (field.is_changed(config)) text += fmt::format(" {}={}", field.path, field.text(config));
  }
  return text;
}

Status set_field(KernelConfig& config, std::string_view path, std::string_view value) {
  const Field* field = find_field(path);
  if (!field) return bad_input("{} is not a field of a kernel configuration; see docs/kernel-names.md", path);
  int64_t number = 0;
  const char* end = value.data() + value.size();
  switch (field->kind) {
    case Field::Kind::kEnum: {
      const std::optional<int> found = field->names().find(value);
      if (!found) return bad_input("{}={} is unknown; choose one of {}", path, value, field->names().choices());
      number = *found;
      break;
    }
    case Field::Kind::kBool:
      if (value != "true" && value != "false") return bad_input("{}={} must be true or false", path, value);
      number = value == "true";
      break;
    case Field::Kind::kHash: {
      uint64_t hash = 0;
      const bool prefixed = value.starts_with("0x") && value.size() > 2;
      const auto parsed = std::from_chars(value.data() + (prefixed ? 2 : 0), end, hash, 16);
      if (!prefixed || parsed.ptr != end || parsed.ec != std::errc())
        return bad_input("{}={} must be a hexadecimal number such as 0x1f", path, value);
      number = static_cast<int64_t>(hash);
      break;
    }
    case Field::Kind::kInteger: {
      const auto parsed = std::from_chars(value.data(), end, number);
      if (parsed.ptr != end || parsed.ec != std::errc()) return bad_input("{}={} must be an integer", path, value);
      if (!field->fits(number)) {
        const int bits = 8 * field->bytes;
        return bad_input("{}={} is out of range; it is kept in {} {} bits", path, value, bits,
                         field->is_signed ? "signed" : "unsigned");
      }
      break;
    }
  }
  field->set(config, number);
  return {};
}

std::string initializer_of(const KernelConfig& config, std::string_view separator) {
  struct Nested {
    std::string_view name;  // of a struct; empty for a member of KernelConfig itself
    std::string members;
  };
  std::vector<Nested> outer;
  for (size_t i = 0; i < kFields.size(); ++i) {
    const Field& field = kFields[i];
    const bool is_extent = field.place == Place::kExtent;
    if (field.place == Place::kCarried || !(is_extent ? extent_changed(i, config) : field.is_changed(config))) continue;
    const size_t dot = field.path.find('.');
    const std::string_view parent = dot == std::string_view::npos ? "" : field.path.substr(0, dot);
    std::string_view member = parent.empty() ? field.path : field.path.substr(dot + 1);
    std::string value;
    if (is_extent) {
      // WHY whole: a brace list for a part of an Extent3 would reset the rest to 1.
      member.remove_suffix(2);  // ".m"
      value = fmt::format("{{{}, {}, {}}}", field.get(config), kFields[i + 1].get(config), kFields[i + 2].get(config));
    } else if (field.kind == Field::Kind::kEnum) {
      const EnumTable& names = field.names();
      value = fmt::format("wt::{}::{}", names.type, names.names[static_cast<size_t>(field.get(config))].cpp);
    } else {
      value = field.text(config) + (field.kind == Field::Kind::kHash ? "ull" : "");
    }
    if (parent.empty() || outer.empty() || outer.back().name != parent) outer.push_back({parent, ""});
    std::string& members = outer.back().members;
    members += fmt::format("{}.{} = {}", members.empty() ? "" : ", ", member, value);
  }
  std::string text;
  for (const Nested& nested : outer) {
    if (!text.empty()) text += ',';
    if (!text.empty() || separator != " ") text += separator;
    text += nested.name.empty() ? nested.members : fmt::format(".{} = {{{}}}", nested.name, nested.members);
  }
  return "{" + text + "}";
}

}  // namespace wt
