// SPDX-License-Identifier: Apache-2.0
// compile/scratch.h - a test's own cache folder and environment, gone when the test ends.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "compile/compiler.h"

namespace wt::compile {

class Scratch : public ::testing::Test {
 protected:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "wavetile-test-XXXXXX").string();
    folder = ::mkdtemp(name.data());
    set("WAVETILE_CACHE_DIR", (folder / "cache").string());
    for (const char* variable : {"WAVETILE_CACHE_LIMIT_MB", "WAVETILE_SOURCE_DIR", "WAVETILE_CXX_FLAGS"})
      set(variable, "");
  }
  ~Scratch() override {
    for (const auto& [variable, value] : before_) {
      if (value) {
        ::setenv(variable.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(variable.c_str());
      }
    }
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  }

  void set(const std::string& variable, const std::string& value) {
    const char* old = std::getenv(variable.c_str());
    before_.try_emplace(variable, old ? std::optional<std::string>(old) : std::nullopt);
    ::setenv(variable.c_str(), value.c_str(), 1);
  }

  std::filesystem::path folder;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

// A function that the host compiler makes a module of and the test can call.
inline Source host_source(const std::string& name, int answer) {
  return {name,
          "extern \"C\" __attribute__((visibility(\"default\"))) int " + name + "() { return " +
              std::to_string(answer) + "; }\n",
          Target::kSm90a};
}

}  // namespace wt::compile
