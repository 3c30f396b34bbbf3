// SPDX-License-Identifier: Apache-2.0
// cli/show/terminal.h - what the command's streams are connected to.
#pragma once

#include <string>
#include <string_view>

namespace wt::cli {

// Columns of the terminal behind standard output; 0 where it is a file or a pipe, whose lines are never cut.
// COLUMNS overrides the width of a terminal.
int output_columns();

// Columns of the terminal behind standard error; 0 where it is none.
int error_columns();

// Whether a terminal of so many columns has room for the essential only.
constexpr bool is_narrow(int columns) { return columns > 0 && columns < 100; }

// Whether standard error is a terminal that understands a line that redraws itself. NO_COLOR turns this off.
bool can_redraw();

// Cut to `columns` with "..." at the end; 0: not cut.
std::string elide(std::string_view text, int columns);

// Cut in the middle, for kernel names, whose ends tell them apart.
std::string elide_middle(std::string_view text, int columns);

// A kernel's name without its signature (wt_fwd_bf16_nhwc_sm90a_) where the whole is longer than `columns`.
std::string without_signature(std::string_view name, int columns);

// A kernel's name in `columns`; where it is longer, first without its signature, which stands in the row above.
std::string kernel_text(std::string_view name, int columns);

// The words of a text as lines of at most `columns`.
std::string wrap(std::string_view text, int columns, std::string_view indent);

}  // namespace wt::cli
