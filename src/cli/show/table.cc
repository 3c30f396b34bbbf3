// SPDX-License-Identifier: Apache-2.0
#include "cli/show/table.h"

#include <algorithm>

#include "base/check.h"
#include "base/printable.h"
#include "cli/show/terminal.h"

namespace wt::cli {

namespace {

constexpr int kGap = 2;
constexpr int kElasticMinimum = 12;

}  // namespace

std::string Shortener::cut(const std::string& text, int width) {
  if (static_cast<int>(text.size()) <= width) return text;
  const auto [at, first_time] = shown_.try_emplace({width, text});
  std::string& cut = at->second;
  if (!first_time) return cut;
  cut = elide_middle(text, width);
  for (int number = 2; !taken_.insert(cut).second; ++number) {
    const std::string mark = fmt::format("~{}", number);
    cut = elide_middle(text, width - static_cast<int>(mark.size())) + mark;
  }
  return cut;
}

Table::Table(std::vector<Column> layout, int columns)
    : layout_(std::move(layout)), unlimited_(columns <= 0), shorteners_(layout_.size()) {
  for (Column& column : layout_) column.width = std::max(column.width, static_cast<int>(column.title.size()));
  while (columns > 0 && width() > columns) {
    Column* widest = nullptr;
    for (Column& column : layout_) {
      const bool shrinks = column.elastic && !column.hidden && column.width > kElasticMinimum;
      if (shrinks && (!widest || column.width > widest->width)) widest = &column;
    }
    if (!widest) break;
    --widest->width;
  }
}

int Table::width() const {
  int total = 0;
  for (const Column& column : layout_) total += column.hidden ? 0 : column.width + kGap;
  return std::max(0, total - kGap);
}

std::string Table::row(const std::vector<std::string>& cells) const {
  WT_CHECK(cells.size() == layout_.size(), "{} cells for {} columns", cells.size(), layout_.size());
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const Column& column = layout_[i];
    if (column.hidden) continue;
    const std::string shown = printable(cells[i]);  // names and texts come from files
    const std::string cell = column.elastic && !unlimited_ ? shorteners_[i].cut(shown, column.width) : shown;
    const int fill = std::max(0, column.width - static_cast<int>(cell.size()));
    if (column.right) line.append(static_cast<size_t>(fill), ' ');
    line += cell;
    if (!column.right) line.append(static_cast<size_t>(fill), ' ');
    line.append(kGap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string Table::header() const {
  std::vector<std::string> titles;
  for (const Column& column : layout_) titles.push_back(column.title);
  return row(titles) + std::string(static_cast<size_t>(width()), '-') + "\n";
}

}  // namespace wt::cli
