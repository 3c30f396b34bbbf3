// SPDX-License-Identifier: Apache-2.0
// compile/module_file.h - a compiled module as a file: the image itself, then what is known of it and a checksum.
//
//   [image][metadata, JSON][footer: sizes, SHA-256, format, magic]
//
// WHY the image comes first: the file is then an ordinary ELF file, which dlopen, cuobjdump and objdump read as it is.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "compile/compiler.h"

namespace wt::compile {

std::string encode_module(const Module& module);

// `path` and `from_cache` are the caller's to set. The failure says what is wrong with the bytes.
Result<Module> decode_module(std::string_view bytes);

// The part of the metadata that packs keep too.
std::string resources_json(const Resources& resources);
Result<Resources> parse_resources(std::string_view json);

}  // namespace wt::compile
