// SPDX-License-Identifier: Apache-2.0
// compile/source_headers.h - the headers that one source sees: its includes and theirs, from the library or a tree.
//
//   Source text --scan for #include "..."--> HeaderSet --> NVRTC (in memory), host and clang (unpacked), cache key
//
// WAVETILE_SOURCE_DIR=<checkout> reads <checkout>/src instead of the text in the library, for kernel development.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace wt::compile {

struct Header {
  std::string name;  // path below src/, as #include writes it
  std::string text;
};

struct HeaderSet {
  std::vector<Header> headers;  // sorted by name
  std::string hash;             // over names and texts
  std::string source_dir;       // the tree they were read from; empty: embedded
};

// The hash of a set, by names and texts.
std::string hash_of(const std::map<std::string, std::string>& headers);

// Follows `#include "..."` lines whatever #if surrounds them, so the set holds all that any compiler may ask for. A
// header that neither the library nor the tree has is left out: the compiler names it where it is really needed.
Result<HeaderSet> headers_for(std::string_view source_text);

// The hash of all device headers of this library. Parameter blocks are laid out by these, so a pack must carry the same
// hash.
const std::string& embedded_headers_hash();

// The names in `#include "..."` lines of `text`, in order.
std::vector<std::string_view> included_names(std::string_view text);

}  // namespace wt::compile
