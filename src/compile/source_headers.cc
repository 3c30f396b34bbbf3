// SPDX-License-Identifier: Apache-2.0
#include "compile/source_headers.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/environment.h"
#include "base/files.h"
#include "compile/embedded_headers.h"
#include "compile/process.h"
#include "compile/sha256.h"

namespace wt::compile {
namespace {

std::string_view trim_left(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view{} : line.substr(begin);
}

const EmbeddedHeader* find_embedded(std::string_view name) {
  const auto& all = embedded_headers();
  const auto found = std::find_if(all.begin(), all.end(), [&](const EmbeddedHeader& h) { return h.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::string hash_of(const std::map<std::string, std::string>& headers) {
  Sha256 hash;
  for (const auto& [name, text] : headers) {
    hash.add_field(name);
    hash.add_field(text);
  }
  return hash.hex();
}

std::vector<std::string_view> included_names(std::string_view text) {
  std::vector<std::string_view> names;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = trim_left(text.substr(begin, end - begin));
    begin = end + 1;
    if (!line.starts_with('#')) continue;
    line = trim_left(line.substr(1));
    if (!line.starts_with("include")) continue;
    line = trim_left(line.substr(7));
    if (!line.starts_with('"')) continue;
    const size_t close = line.find('"', 1);
    if (close != std::string_view::npos) names.push_back(line.substr(1, close - 1));
  }
  return names;
}

Result<HeaderSet> headers_for(std::string_view source_text) {
  HeaderSet set;
  set.source_dir = environment("WAVETILE_SOURCE_DIR");
  const std::filesystem::path root = std::filesystem::path(set.source_dir) / "src";
  std::error_code error;
  if (!set.source_dir.empty() && !std::filesystem::is_directory(root, error)) {
    return bad_input("WAVETILE_SOURCE_DIR={} has no folder src; set it to a checkout of wavetile or unset it",
                     set.source_dir);
  }
  std::map<std::string, std::string> found;
  std::vector<std::string> wanted;
  for (const std::string_view name : included_names(source_text)) wanted.emplace_back(name);
  while (!wanted.empty()) {
    const std::string name = std::move(wanted.back());
    wanted.pop_back();
    if (found.contains(name)) continue;
    std::string text;
    if (set.source_dir.empty()) {
      const EmbeddedHeader* header = find_embedded(name);
      if (!header) continue;
      text = header->text;
    } else {
      if (!std::filesystem::is_regular_file(root / name, error)) continue;
      WT_TRY_ASSIGN(text, read_file(root / name));
    }
    for (const std::string_view next : included_names(text)) wanted.emplace_back(next);
    found.emplace(name, std::move(text));
  }
  set.hash = hash_of(found);
  for (auto& [name, text] : found) set.headers.push_back({name, std::move(text)});
  return set;
}

const std::string& embedded_headers_hash() {
  static const std::string value = [] {
    Sha256 hash;
    for (const EmbeddedHeader& header : embedded_headers()) {
      hash.add_field(header.name);
      hash.add_field(header.text);
    }
    return hash.hex();
  }();
  return value;
}

}  // namespace wt::compile
