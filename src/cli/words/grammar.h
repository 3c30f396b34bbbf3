// SPDX-License-Identifier: Apache-2.0
// cli/words/grammar.h - the words of the command line: each function adds a command with its options to the line's
// grammar.
//
//   main.cc: run_main --add_*--> CLI11 reads the line --> an option struct --> action: the command's own file
//
// Only main.cc and this folder see CLI11, which is slow to compile.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace wt::cli {

using Action = std::function<int()>;  // what was asked for; runs once the whole line has been understood

inline constexpr const char* kDeviceHelp =
    "cpu, gpu, gpu:N (NVIDIA), hip, hip:N (AMD), sim:TARGET (such as sim:sm_90a), or auto: the first GPU, else the CPU";

inline constexpr const char* kStrictHelp =
    "leave out kernels in which a NaN or infinity may reach outputs that do not depend on it";
inline constexpr const char* kBatchHelp =
    "an image's result has the same bits whatever else is in the batch, and wherever in it";
inline constexpr const char* kRepeatHelp = "take kernels, too, whose bits may differ from run to run";

// outputs.cc: --json [FILE], the same for every command: to FILE, or without one to standard output in place of the
// table
// ("-"). Empty: not asked for.
void add_json_option(CLI::App& command, std::string& file);
void add_output_option(CLI::App& command, const std::string& name, std::string& file, const std::string& help);

// measuring.cc
void add_run(CLI::App& app, Action& action);
void add_search(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_tuning(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
// doctor.cc
void add_doctor(CLI::App& app, Action& action);
// --register WHAT[=PRIORITY], which may be given several times; also of explain.
void add_register_option(CLI::App& command, std::vector<std::string>& words);

// kernels.cc
void add_explain(CLI::App& app, Action& action);
void add_devices(CLI::App& app, Action& action);
void add_targets(CLI::App& app, Action& action);
void add_conformance(CLI::App& app, Action& action);
void add_selftest(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);
void add_cache(CLI::App& app, Action& action);
void add_pack(CLI::App& app, Action& action);

// The words of a problem that was not put in quotes, as one text.
std::string joined(const std::vector<std::string>& words);

}  // namespace wt::cli
