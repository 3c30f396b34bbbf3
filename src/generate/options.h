// SPDX-License-Identifier: Apache-2.0
// generate/options.h - the options of `wavetile generate` as data, so that the command line registers them in a loop.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wt {

struct GenerateOption {
  std::string_view key;    // the long name without dashes, under which values are handed over
  std::string_view names;  // "-o,--output", comma-separated
  std::string_view value;  // what stands for the value in help; empty: a switch, which may be given true or false
  bool several;            // takes several values
  std::string_view field;  // of a KernelConfig, where the option is a knob of a single kernel; else empty
  std::string_view help;
};

std::span<const GenerateOption> generate_options();

// Options that other generators have and that have no meaning here: understood, and refused with the reason.
struct UnusedOption {
  std::string_view key;
  std::string_view names;
  std::string_view why;
};
std::span<const UnusedOption> unused_generate_options();

const GenerateOption* find_generate_option(std::string_view key);  // null where there is none

// What was given, by key. A switch without a value holds an empty list or an empty text.
using GenerateValues = std::map<std::string, std::vector<std::string>>;

}  // namespace wt
