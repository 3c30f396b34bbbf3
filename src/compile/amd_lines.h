// SPDX-License-Identifier: Apache-2.0
// compile/amd_lines.h - AMD machine code as text, line by line, and the loops that its branches make.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace wt::compile::amd {

enum class Unit : uint8_t { kMatrix, kVector, kScalar, kShared, kGlobal, kWait, kOther };

struct Line {
  std::string_view mnemonic, operands;
  uint64_t address = 0, target = 0;  // target: of a branch; 0: none
  uint64_t function = 0;             // where it begins
  Unit unit = Unit::kOther;
};

// As `llvm-objdump -d` writes them. The views are into `text`.
std::vector<Line> lines_of(std::string_view text);

// The lines of a loop in the order of their addresses, from its first on.
struct Loop {
  size_t head;
  std::vector<size_t> lines;
  bool has(size_t line) const { return std::ranges::find(lines, line) != lines.end(); }
};

std::vector<Loop> loops_of(const std::vector<Line>& lines);

}  // namespace wt::compile::amd
