// SPDX-License-Identifier: Apache-2.0
// The simulator leaves MFMA's wait states and most of AMD's wait counters out, because the device code leaves them to
// the compiler. This holds the device code to it. What it does itself stands in buffer.h: copies straight to the LDS,
// their wait, which the simulator has (async_copy.cc), and hints of an order, which change no result.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/files.h"
#include "tests/places.h"

namespace wt {
namespace {

// Text that would make a kernel and not the compiler responsible for order.
constexpr const char* kUnmodelled[] = {
    "asm",                  // nothing is known of its registers' state
    "s_waitcnt",            // vmcnt and lgkmcnt counted by hand
    "s_wait_",              // the same on gfx12
    "load_lds",             // global memory to the LDS, which lands when vmcnt says so
    "load_to_lds",          //
    "sched_barrier",        // instructions placed by hand
    "sched_group_barrier",  //
    "iglp_opt",             //
    "s_nop",                // wait states by hand
};

// keep() of memory.h: assembly without an instruction. It counts nothing and waits for nothing, and its one register
// has the same value before and after, so there is nothing to model; the compiler still has every instruction in its
// hands.
constexpr std::string_view kKeep = R"(asm volatile("" : "+v"(value));)";

// Comments may speak of them.
std::string code_of(const std::string& text) {
  std::string code;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size()), comment = text.find("//", at);
    code.append(text, at, std::min(comment, end) - at).push_back('\n');
    at = end + 1;
  }
  return code;
}

TEST(SimAmd, TheDeviceCodeLeavesCountersAndWaitStatesToTheCompiler) {
  const auto folder = std::filesystem::path(places::kSourceTree) / "src/target/amd";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const Result<std::string> text = read_file(entry.path());
    ASSERT_TRUE(text.ok()) << text.status().message();
    ++files;
    if (entry.path().filename() == "buffer.h") continue;
    std::string code = code_of(*text);
    if (entry.path().filename() == "memory.h") {
      const size_t keep = code.find(kKeep);
      ASSERT_NE(keep, std::string::npos) << "no keep() in " << entry.path();
      code.erase(keep, kKeep.size());  // the first; a second is as wrong as any other
    }
    for (const char* word : kUnmodelled) {
      EXPECT_EQ(code.find(word), std::string::npos)
          << entry.path() << " uses " << word << ", which the simulator does not model (docs/simulator.md)";
    }
  }
  EXPECT_GE(files, 10);
}

}  // namespace
}  // namespace wt
