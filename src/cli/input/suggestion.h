// SPDX-License-Identifier: Apache-2.0
// cli/input/suggestion.h - the word that a mistyped one was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wt::cli {

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
int edit_distance(std::string_view a, std::string_view b);

// The nearest of `known`, or nothing where none is near enough to be meant.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

// "; did you mean 'bench'?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace wt::cli
