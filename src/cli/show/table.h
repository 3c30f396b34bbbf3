// SPDX-License-Identifier: Apache-2.0
// cli/show/table.h - a table whose rows are printed as they come, so its widths are fixed before the first.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace wt::cli {

struct Column {
  std::string title;
  int width = 0;         // of the widest cell that is expected; grows to the title
  bool right = false;    // aligned
  bool elastic = false;  // gives way first where the terminal is too narrow
  bool hidden = false;   // left out, with its cells
};

// Cuts texts in the middle; two that would then look the same get numbers: a...z~2.
class Shortener {
 public:
  std::string cut(const std::string& text, int width);

 private:
  std::map<std::pair<int, std::string>, std::string> shown_;  // by width and text
  std::set<std::string> taken_;
};

class Table {
 public:
  // `columns`: of the terminal; 0: a file or a pipe, where nothing is cut. Elastic columns shrink, in proportion, down
  // to a minimum of 12; their cells are cut in the middle, and two that would then look the same get numbers: a...z~2.
  Table(std::vector<Column> layout, int columns);

  std::string header() const;  // titles and a rule, each with its newline
  std::string row(const std::vector<std::string>& cells) const;
  int width() const;

 private:
  std::vector<Column> layout_;
  bool unlimited_;
  mutable std::vector<Shortener> shorteners_;  // one a column
};

}  // namespace wt::cli
