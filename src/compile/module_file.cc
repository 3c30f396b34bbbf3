// SPDX-License-Identifier: Apache-2.0
#include "compile/module_file.h"

#include <climits>
#include <cstring>

#include "base/json.h"
#include "compile/sha256.h"
#include "config/targets.h"

namespace wt::compile {
namespace {

using Json = JsonValue;

constexpr uint32_t kFormat = 1;
constexpr char kMagic[8] = {'W', 'T', 'M', 'O', 'D', 'U', 'L', 'E'};

struct Footer {
  uint64_t image_size;
  uint64_t metadata_size;
  char checksum[64];  // SHA-256 of image and metadata, as hexadecimal digits
  uint32_t format;
  uint32_t reserved;
  char magic[8];
};
static_assert(sizeof(Footer) == 96);

Json to_json(const Resources& r) {
  return {{"registers", r.registers},
          {"scalar_registers", r.scalar_registers},
          {"accumulator_registers", r.accumulator_registers},
          {"spill_bytes", r.spill_bytes},
          {"stack_bytes", r.stack_bytes},
          {"static_shared_bytes", r.static_shared_bytes},
          {"compile_seconds", r.compile_seconds}};
}

Status read_int(const Json& json, const char* name, int low, int high, int& value) {
  WT_TRY_ASSIGN(const int64_t wide, json_integer(json, name, low, high));
  value = static_cast<int>(wide);
  return {};
}

Result<Resources> from_json(const Json& json) {
  Resources r;
  WT_TRY(read_int(json, "registers", kUnknown, INT_MAX, r.registers));
  WT_TRY(read_int(json, "scalar_registers", kUnknown, INT_MAX, r.scalar_registers));
  WT_TRY(read_int(json, "accumulator_registers", kUnknown, INT_MAX, r.accumulator_registers));
  WT_TRY(read_int(json, "spill_bytes", kUnknown, INT_MAX, r.spill_bytes));
  WT_TRY(read_int(json, "stack_bytes", kUnknown, INT_MAX, r.stack_bytes));
  WT_TRY(read_int(json, "static_shared_bytes", kUnknown, INT_MAX, r.static_shared_bytes));
  json.at("compile_seconds").get_to(r.compile_seconds);
  return r;
}

Result<Module> from_metadata(const Json& metadata) {
  Module module;
  int backend = 0, target = 0;
  WT_TRY(read_int(metadata, "backend", 0, static_cast<int>(Backend::kClang), backend));
  WT_TRY(read_int(metadata, "target", 0, static_cast<int>(targets().size()) - 1, target));
  module.backend = static_cast<Backend>(backend);
  module.target = static_cast<Target>(target);
  metadata.at("name").get_to(module.name);
  metadata.at("key").get_to(module.key);
  metadata.at("compiler").get_to(module.compiler);
  metadata.at("log").get_to(module.log);
  WT_TRY_ASSIGN(module.resources, from_json(metadata.at("resources")));
  return module;
}

}  // namespace

std::string encode_module(const Module& module) {
  const Json metadata = {{"backend", static_cast<int>(module.backend)},
                         {"target", static_cast<int>(module.target)},
                         {"name", module.name},
                         {"key", module.key},
                         {"compiler", module.compiler},
                         {"resources", to_json(module.resources)},
                         {"log", module.log}};
  // A compiler's log may hold bytes that are not UTF-8 (a source path, a quoted line).
  const std::string text = metadata.dump(-1, ' ', false, Json::error_handler_t::replace);
  Footer footer{};
  footer.image_size = module.image.size();
  footer.metadata_size = text.size();
  footer.format = kFormat;
  std::memcpy(footer.magic, kMagic, sizeof kMagic);
  std::string bytes = module.image + text;
  std::memcpy(footer.checksum, sha256_hex(bytes).data(), sizeof footer.checksum);
  bytes.append(reinterpret_cast<const char*>(&footer), sizeof footer);
  return bytes;
}

Result<Module> decode_module(std::string_view bytes) {
  Footer footer;
  if (bytes.size() < sizeof footer) return failure(Code::kIo, "it has only {} bytes", bytes.size());
  std::memcpy(&footer, bytes.data() + bytes.size() - sizeof footer, sizeof footer);
  if (std::memcmp(footer.magic, kMagic, sizeof kMagic) != 0)
    return failure(Code::kIo, "it does not end as a module does");
  if (footer.format != kFormat) {
    return failure(Code::kIo, "its format is {} and this library reads {}", footer.format, kFormat);
  }
  const uint64_t content = bytes.size() - sizeof footer;
  if (footer.image_size > content || footer.metadata_size != content - footer.image_size) {
    return failure(Code::kIo, "its sizes do not add up");
  }
  if (sha256_hex(bytes.substr(0, content)) != std::string_view(footer.checksum, sizeof footer.checksum)) {
    return failure(Code::kIo, "its checksum is wrong");
  }
  try {
    WT_TRY_ASSIGN(const Json metadata, parse_json<Json>(bytes.substr(footer.image_size, footer.metadata_size)));
    WT_TRY_ASSIGN(Module module, from_metadata(metadata));
    module.image = bytes.substr(0, footer.image_size);
    return module;
  } catch (const Json::exception& problem) {
    return failure(Code::kIo, "its metadata is not readable: {}", problem.what());
  }
}

std::string resources_json(const Resources& resources) { return to_json(resources).dump(); }

Result<Resources> parse_resources(std::string_view json) {
  try {
    WT_TRY_ASSIGN(const Json parsed, parse_json<Json>(json));
    return from_json(parsed);
  } catch (const Json::exception& problem) {
    return failure(Code::kIo, "the resources of a module are not readable: {}", problem.what());
  }
}

}  // namespace wt::compile
