// SPDX-License-Identifier: Apache-2.0
// What a shell completes, and the pages that name the commands: the man page and docs/command-line.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/files.h"
#include "runtime/sim/device.h"
#include "tests/cli/subprocess.h"
#include "tests/places.h"

namespace wt::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::path(::testing::TempDir()) / ("wavetile_completion_" + name);
}

std::string output_of(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return "no pipe";
  std::string text;
  char buffer[512];
  while (fgets(buffer, sizeof buffer, pipe)) text += buffer;
  const int status = pclose(pipe);
  return status == 0 ? text : text + "(failed)";
}

// What bash would write behind these words, of which the last is being completed.
std::string completed(const std::string& words, int position) {
  const auto file = scratch("bash");
  EXPECT_TRUE(write_file(file, wavetile({"completion", "bash"}).out).ok());
  const auto empty = scratch("empty");  // files beside it would be completed too
  std::filesystem::create_directories(empty);
  return output_of(
      fmt::format("cd {} && bash -c 'source {}; COMP_WORDS=({}); COMP_CWORD={}; _wavetile; echo "
                  "\"${{COMPREPLY[*]}}\"'",
                  empty.string(), file.string(), words, position));
}

TEST(Completion, GoesIntoCommandsOfCommands) {
  EXPECT_EQ(completed("wavetile be", 1), "bench\n");
  EXPECT_EQ(completed("wavetile bench --dev", 2), "--device\n");
  EXPECT_EQ(completed("wavetile pack bui", 2), "build\n");
  EXPECT_EQ(completed("wavetile pack build --rule", 3), "--rule-set\n");
  EXPECT_EQ(completed("wavetile tuning prune --st", 3), "--stale\n");
  EXPECT_EQ(completed("wavetile pack --rule", 2), "\n") << "an option of pack build is none of pack";
}

// bash takes sim:sm_90a for the words "sim", ":" and "sm_90a".
TEST(Completion, NamesEverySimulatedDevice) {
  EXPECT_EQ(completed("wavetile run --device sim : sm_9", 5), "sm_90a\n");
  const std::string all = completed("wavetile run --device sim :", 4);
  const std::vector<DeviceInfo> devices = list_sim_devices();
  ASSERT_GT(devices.size(), 6u);
  for (const DeviceInfo& device : devices) {
    EXPECT_THAT(" " + all, HasSubstr(" " + device.id.substr(4)));
    EXPECT_THAT(wavetile({"completion", "fish"}).out, HasSubstr(" " + device.id));
  }
  EXPECT_EQ(completed("wavetile run --device c", 3), "cpu\n");
  EXPECT_EQ(completed("wavetile targets --target gfx110", 3), "gfx1100\n");
}

// The other shells, where they are installed, read what is made for them without a complaint.
TEST(Completion, IsReadByItsShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    if (std::system((std::string("command -v ") + shell + " >/dev/null").c_str()) != 0) continue;
    const auto file = scratch(shell);
    ASSERT_TRUE(write_file(file, wavetile({"completion", shell}).out).ok());
    EXPECT_EQ(output_of(fmt::format("{} -n {}", shell, file.string())), "") << shell;
  }
}

// The names of the commands below one, by its help.
std::set<std::string> commands_of(std::vector<std::string> words) {
  words.push_back("--help");
  const std::string help = wavetile(words).out;
  std::set<std::string> names;
  size_t at = help.find("\nSubcommands:\n");
  if (at == std::string::npos) return names;
  for (at = help.find('\n', at + 1) + 1; at < help.size() && help[at] != '\n'; at = help.find('\n', at) + 1)
    if (help[at + 2] != ' ') names.insert(help.substr(at + 2, help.find(' ', at + 2) - at - 2));
  return names;
}

TEST(Pages, NameEveryCommandAndEveryCommandOfACommand) {
  const std::string page = *read_file(std::string(places::kSourceTree) + "/docs/command-line.md");
  const std::string man = wavetile({"man"}).out;
  const std::set<std::string> commands = commands_of({});
  EXPECT_GT(commands.size(), 14u);
  size_t inner_commands = 0;
  for (const std::string& command : commands) {
    const size_t at = page.find("\n| `wavetile " + command);
    ASSERT_NE(at, std::string::npos) << "docs/command-line.md has no row of " << command;
    const std::string row = page.substr(at + 1, page.find('\n', at + 1) - at - 1);
    EXPECT_THAT(man, HasSubstr(".SS wavetile " + command + "\n"));
    for (const std::string& inner : commands_of({command})) {
      ++inner_commands;
      EXPECT_THAT(row, HasSubstr(inner)) << "of wavetile " << command;
      EXPECT_THAT(man, HasSubstr(".SS wavetile " + command + " " + inner + "\n"));
    }
  }
  EXPECT_GT(inner_commands, 12u);
}

// What man itself says of the page, where man is installed.
TEST(Pages, AreReadByManWithoutAComplaint) {
  const auto file = scratch("wavetile.1");
  ASSERT_TRUE(write_file(file, wavetile({"man"}).out).ok());
  if (std::system("command -v groff >/dev/null") != 0) return;
  EXPECT_THAT(output_of("groff -man -ww -Tascii " + file.string() + " | head -n 3"), StartsWith("WAVETILE(1)"));
  EXPECT_EQ(output_of("groff -man -ww -z " + file.string()), "");
}

}  // namespace
}  // namespace wt::cli::testing
