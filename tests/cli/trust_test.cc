// SPDX-License-Identifier: Apache-2.0
// tests/cli/trust_test.cc - the command among signals, strangers' files and scarce memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <thread>

#include "base/files.h"
#include "tests/cli/subprocess.h"

namespace wt::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

constexpr const char* kSimulated = "fwd bf16 n1 c16 k16 i8x8 f3x3 p1";

class Trust : public ::testing::Test {
 protected:
  Trust() {
    std::string pattern = (fs::path(::testing::TempDir()) / "wavetile_trust_XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    fs::create_directory(folder_ / "tmp");
    environment_ = {{"WAVETILE_CACHE_DIR", (folder_ / "cache").string()}, {"TMPDIR", (folder_ / "tmp").string()}};
  }
  ~Trust() override {
    std::error_code error;
    fs::remove_all(folder_, error);
  }

  fs::path file(const std::string& name, const std::string& content) const {
    EXPECT_TRUE(write_file(folder_ / name, content).ok());
    return folder_ / name;
  }

  Outcome run_here(std::vector<std::string> arguments) const {
    return run({.arguments = std::move(arguments), .environment = environment_});
  }

  // A compiler that has not finished when the test wants to stop it.
  void use_slow_compiler() {
    const fs::path compiler =
        file("compiler", "#!/bin/sh\ncase \"$1\" in --version) echo slow 1.0; exit 0;; esac\necho $$ > " +
                             (folder_ / "running").string() + "\nexec sleep 300\n");
    fs::permissions(compiler, fs::perms::owner_all);
    environment_.emplace_back("WAVETILE_CXX", compiler.string());
  }

  // Starts the command with its output to nowhere; `prepare` runs in the child.
  pid_t start(
      const std::vector<std::string>& arguments, const std::function<void()>& prepare = [] {}) const {
    const pid_t child = ::fork();
    EXPECT_GE(child, 0);
    if (child != 0) return child;
    std::freopen("/dev/null", "w", stdout);
    std::freopen((folder_ / "err").c_str(), "w", stderr);
    for (const auto& [name, value] : environment_) ::setenv(name.c_str(), value.c_str(), 1);
    prepare();
    std::string program = binary_path();
    std::vector<std::string> words = arguments;
    std::vector<char*> argv{program.data()};
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }

  void wait_for_compiler() const {
    while (!fs::exists(folder_ / "running") || fs::file_size(folder_ / "running") == 0) std::this_thread::yield();
  }

  bool compiler_runs() const {
    pid_t compiler = 0;
    std::ifstream(folder_ / "running") >> compiler;
    std::ifstream stat("/proc/" + std::to_string(compiler) + "/stat");
    std::string state;
    std::getline(stat, state);
    return !state.empty() && state.find(") Z ") == std::string::npos;  // a dead one whose parent is gone may linger
  }

  static int exit_code_of(pid_t child) {
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  size_t temporary_folders() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_ / "tmp"), fs::directory_iterator()));
  }

  fs::path folder_;
  std::vector<std::pair<std::string, std::string>> environment_;
};

TEST_F(Trust, ASignalLeavesNoFolderAndNoCompiler) {
  use_slow_compiler();
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, {SIGTERM, 143}, {SIGHUP, 129}}) {
    fs::remove(folder_ / "running");
    const pid_t child = start({"run", kSimulated, "--device", "sim:sm_90a"});
    wait_for_compiler();
    EXPECT_GT(temporary_folders(), 0u);
    ::kill(child, signal);
    EXPECT_EQ(exit_code_of(child), code);
    EXPECT_EQ(temporary_folders(), 0u) << "after signal " << signal;
    while (compiler_runs()) std::this_thread::yield();  // it was killed, and its end is somebody else's to see
  }
}

TEST_F(Trust, WhatAKilledProcessLeftGoesWithTheNext) {
  use_slow_compiler();
  const pid_t child = start({"run", kSimulated, "--device", "sim:sm_90a"});
  wait_for_compiler();
  ::kill(child, SIGKILL);
  EXPECT_EQ(exit_code_of(child), 137);
  EXPECT_GT(temporary_folders(), 0u);
  pid_t compiler = 0;
  std::ifstream(folder_ / "running") >> compiler;
  ::kill(compiler, SIGKILL);
  const fs::path alive = folder_ / "tmp" / "wavetile-work-alive0";  // another one is at work there
  fs::create_directory(alive);
  environment_.pop_back();
  EXPECT_EQ(run_here({"run", kSimulated, "--device", "sim:sm_90a"}).exit_code, 0);
  EXPECT_EQ(temporary_folders(), 1u);
  EXPECT_TRUE(fs::exists(alive));
}

TEST_F(Trust, ASecondInterruptEndsItAtOnce) {
  use_slow_compiler();
  for (const char* command : {"bench", "tune"}) {
    fs::remove(folder_ / "running");
    const pid_t child = start({command, kSimulated, "--device", "sim:sm_90a"});
    wait_for_compiler();
    ::kill(child, SIGINT);
    // The first is a wish, and the compiler that is waited for does not hear it.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << command;
    ::kill(child, SIGINT);
    EXPECT_EQ(exit_code_of(child), 130) << command;
    EXPECT_EQ(temporary_folders(), 0u) << command;
  }
}

// Whatever the stopped work says of itself: here the compiler that is killed makes its kernel fail.
TEST_F(Trust, AnInterruptedCommandSaysSo) {
  use_slow_compiler();
  const pid_t child = start({"bench", kSimulated, "--device", "sim:sm_90a"});
  wait_for_compiler();
  ::kill(child, SIGINT);
  pid_t compiler = 0;
  std::ifstream(folder_ / "running") >> compiler;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ::kill(compiler, SIGKILL);
  EXPECT_EQ(exit_code_of(child), 130);
}

TEST_F(Trust, EscapesInFilesDoNotReachTheTerminal) {
  const std::string name = "row\x1b]0;owned\x07\x1b[31m";
  const fs::path suite = file("suite.txt", name + ": fwd fp32 n1 c2 k2 i3x3\n");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"bench", suite, "--device", "cpu", "--no-target", "--repeat", "1"},
        {"explain", suite, "--target", "sm_90a", "--direction", "fwd"},
        {"bench", suite, "--device", "cpu", "--filter", "none"},
        {"bench", file("broken.txt", name + ": fwd \x1b[2J\n"), "--device", "cpu"},
        {"run", "fwd fp32 \x1b[2J n1"}}) {
    const Outcome outcome = run_here(words);
    EXPECT_THAT(outcome.out + outcome.err, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07")), HasSubstr("\\x1b")))
        << words[0] << " " << words[1];
  }
}

TEST_F(Trust, CodeOfASuiteFileIsCompiledOnlyOnRequest) {
  const fs::path suite = file("code.txt", "odd: fwd fp32 n1 c2 k2 i3x3 +f=\"acc * 2\"\n");
  const std::vector<std::string> words = {"bench", suite, "--device", "cpu", "--no-target", "--direction", "fwd"};
  const Outcome refused = run_here(words);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("acc * 2"), HasSubstr("--allow-code")));
  EXPECT_FALSE(fs::exists(folder_ / "cache" / "modules")) << "nothing was compiled";
  std::vector<std::string> allowed = words;
  allowed.emplace_back("--allow-code");
  const Outcome ran = run_here(allowed);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

TEST_F(Trust, PipesAndDevicesAreNoFiles) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe.string(), std::string("/dev/zero")}) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"report", path},
                                                  {"doctor", path},
                                                  {"tuning", "import", path},
                                                  {"pack", "list", path},
                                                  {"bench", path, "--device", "cpu"},
                                                  {"tuning", "merge", path}}) {
      const Outcome outcome = run_here(words);
      EXPECT_EQ(outcome.exit_code, 2) << words[0] << " " << path << ": " << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr("not a file")) << words[0] << " " << path;
    }
  }
  const Outcome written =
      run_here({"bench", "fwd fp32 n1 c2 k2 i3x3", "--device", "cpu", "--no-target", "--json", pipe});
  EXPECT_THAT(written.err, HasSubstr("it is a pipe, not a file"));
  EXPECT_TRUE(fs::is_fifo(pipe)) << "it was replaced";
}

TEST_F(Trust, ScarceMemoryEndsInAMessage) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs more address space than this leaves";
#endif
  for (const rlim_t megabytes : {400, 600, 800, 1200}) {
    const pid_t child =
        start({"run", "fwd fp32 n64 c256 k256 i100x100 f3x3 p1", "--device", "cpu", "--repeat", "1"}, [&] {
          const rlimit limit{megabytes << 20, megabytes << 20};
          ::setrlimit(RLIMIT_AS, &limit);
        });
    EXPECT_EQ(exit_code_of(child), 4) << megabytes << " MB: " << *read_file(folder_ / "err");
    EXPECT_THAT(*read_file(folder_ / "err"), HasSubstr("memory")) << megabytes;
  }
}

TEST_F(Trust, TuningEndsWithItsBudget) {
  const Outcome outcome = run_here({"tune", "fwd bf16 n1 c16 k16 i8x8 f3x3 p1", "fwd bf16 n1 c16 k32 i8x8 f3x3 p1",
                                    "fwd bf16 n1 c16 k48 i8x8 f3x3 p1", "--device", "sim:sm_90a", "--budget", "0.001"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2 of 3 problems were not begun"));
  EXPECT_THAT(outcome.out, HasSubstr("The same command goes on where this one stopped."));
}

TEST_F(Trust, SizesBeyondOnednnAreExplained) {
  const Outcome outcome = run_here({"explain", "fwd bf16 n1 c4294967296 k8 i8", "--device", "cpu"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("builtin"));
}

// A program that runs with more rights than its caller must not obey the caller's variables.
TEST_F(Trust, VariablesAreNotObeyedInSetuidPrograms) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a program of another user";
  const fs::path program = folder_ / "wavetile";
  fs::copy_file(binary_path(), program);
  ASSERT_EQ(::chown(program.c_str(), 65534, 65534), 0);
  ASSERT_EQ(::chmod(program.c_str(), 06755), 0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
  const std::string command =
      "WAVETILE_CACHE_DIR=/planted HOME=/planted XDG_CACHE_HOME=/planted " + program.string() + " cache list 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  for (int c; (c = std::fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  ::pclose(pipe);
  EXPECT_THAT(output, AllOf(HasSubstr("neither XDG_CACHE_HOME nor HOME is set"), Not(HasSubstr("/planted"))));
}

}  // namespace
}  // namespace wt::cli::testing
