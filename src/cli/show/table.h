// SPDX-License-Identifier: Apache-2.0
// cli/show/table.h - a table whose rows are printed as they come, so its widths are fixed before the first.
#pragma once

#include <string>
#include <vector>

namespace wt::cli {

struct Column {
  std::string title;
  int width = 0;         // of the widest cell that is expected; grows to the title
  bool right = false;    // aligned
  bool elastic = false;  // gives way first where the terminal is too narrow
  bool hidden = false;   // left out, with its cells
};

class Table {
 public:
  // `columns`: of the terminal; 0: unlimited. Elastic columns shrink, in proportion, down to a minimum of 12.
  Table(std::vector<Column> layout, int columns);

  std::string header() const;  // titles and a rule, each with its newline
  std::string row(const std::vector<std::string>& cells) const;
  int width() const;

 private:
  std::vector<Column> layout_;
};

}  // namespace wt::cli
