// SPDX-License-Identifier: Apache-2.0
#include "compile/amd_lines.h"

#include <charconv>
#include <map>

namespace wt::compile::amd {
namespace {

Unit unit_of(std::string_view word) {
  const auto starts = [&](std::string_view prefix) { return word.starts_with(prefix); };
  if (starts("v_mfma") || starts("v_wmma") || starts("v_smfmac") || starts("v_swmmac")) return Unit::kMatrix;
  if (starts("v_")) return Unit::kVector;
  if (starts("s_wait") || starts("s_nop")) return Unit::kWait;
  if (starts("ds_")) return Unit::kShared;
  if (starts("s_")) return Unit::kScalar;
  if (starts("buffer_") || starts("global_") || starts("flat_") || starts("tensor_")) return Unit::kGlobal;
  return Unit::kOther;
}

uint64_t hexadecimal(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

// "\ts_branch 21   // 0000000022F4: BF820015 <name+0xc4c>"; `start` is the address of the last label.
bool parse(std::string_view text, uint64_t& start, Line& line) {
  if (text.ends_with(">:")) {
    start = hexadecimal(text.substr(0, text.find(' ')));
    return false;
  }
  const size_t comment = text.find("// ");
  if (comment == std::string_view::npos || !text.starts_with("\t")) return false;
  const std::string_view code = text.substr(1, comment - 1), note = text.substr(comment + 3);
  const size_t space = std::min(code.find(' '), code.size());
  line.mnemonic = code.substr(0, space);
  line.operands = code.substr(space);
  line.address = hexadecimal(note.substr(0, note.find(':')));
  line.unit = unit_of(line.mnemonic);
  line.function = start;
  line.target = 0;
  if (line.mnemonic.starts_with("s_branch") || line.mnemonic.starts_with("s_cbranch")) {
    const size_t plus = note.rfind("+0x"), close = note.rfind('>');
    if (plus != std::string_view::npos && close != std::string_view::npos)
      line.target = start + hexadecimal(note.substr(plus + 3, close - plus - 3));
    else if (close != std::string_view::npos)
      line.target = start;
  }
  return true;
}

bool ends_block(const Line& line) { return line.target != 0 || line.mnemonic.starts_with("s_endpgm"); }
bool falls_through(const Line& line) {
  return !line.mnemonic.starts_with("s_branch") && !line.mnemonic.starts_with("s_endpgm");
}

// Runs of lines that are entered at their first and left at their last, with those that can come before each.
struct Blocks {
  std::vector<size_t> first;                 // and one past the last line
  std::vector<std::vector<size_t>> sources;  // of each, the blocks that lead there

  size_t count() const { return sources.size(); }
  size_t of(size_t line) const {
    return static_cast<size_t>(std::ranges::upper_bound(first, line) - first.begin()) - 1;
  }
};

Blocks blocks_of(const std::vector<Line>& lines) {
  const auto line_at = [&](uint64_t address) {
    return static_cast<size_t>(std::ranges::lower_bound(lines, address, {}, &Line::address) - lines.begin());
  };
  Blocks blocks;
  blocks.first = {0, lines.size()};
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!ends_block(lines[i])) continue;
    blocks.first.push_back(i + 1);
    if (lines[i].target != 0) blocks.first.push_back(line_at(lines[i].target));
  }
  std::ranges::sort(blocks.first);
  blocks.first.erase(std::unique(blocks.first.begin(), blocks.first.end()), blocks.first.end());
  blocks.sources.resize(blocks.first.size() - 1);
  for (size_t block = 0; block < blocks.count(); ++block) {
    const Line& last = lines[blocks.first[block + 1] - 1];
    if (falls_through(last) && block + 1 < blocks.count()) blocks.sources[block + 1].push_back(block);
    if (last.target != 0) blocks.sources[blocks.of(line_at(last.target))].push_back(block);
  }
  return blocks;
}

// For a branch from `back` to `head`: every block from which it is reached without passing `head`. Empty: a function's
// start is one of them, so this is no loop.
std::vector<bool> body_of(const Blocks& blocks, size_t head, size_t back) {
  std::vector<bool> body(blocks.count(), false);
  body[head] = true;
  std::vector<size_t> left = {back};
  while (!left.empty()) {
    const size_t block = left.back();
    left.pop_back();
    if (body[block]) continue;
    if (block == 0 || blocks.sources[block].empty()) return {};
    body[block] = true;
    left.insert(left.end(), blocks.sources[block].begin(), blocks.sources[block].end());
  }
  return body;
}

}  // namespace

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  uint64_t start = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    Line line;
    if (parse(text.substr(begin, end - begin), start, line)) lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

std::vector<Loop> loops_of(const std::vector<Line>& lines) {
  if (lines.empty()) return {};
  const Blocks blocks = blocks_of(lines);
  std::map<size_t, std::vector<bool>> bodies;  // by head
  for (size_t head = 0; head < blocks.count(); ++head) {
    for (const size_t back : blocks.sources[head]) {
      const std::vector<bool> body = body_of(blocks, head, back);
      if (body.empty()) continue;
      std::vector<bool>& all = bodies.try_emplace(head, blocks.count(), false).first->second;
      for (size_t i = 0; i < body.size(); ++i) all[i] = all[i] || body[i];
    }
  }
  std::vector<Loop> loops;
  for (const auto& [head, body] : bodies) {
    Loop& loop = loops.emplace_back(Loop{blocks.first[head], {}});
    for (size_t step = 0; step < blocks.count(); ++step) {
      const size_t block = (head + step) % blocks.count();
      if (!body[block]) continue;
      for (size_t i = blocks.first[block]; i < blocks.first[block + 1]; ++i) loop.lines.push_back(i);
    }
  }
  return loops;
}

}  // namespace wt::compile::amd
