// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/tuning_scratch.h - entries and folders for tests of tuning.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "config/fields.h"
#include "config/signature.h"
#include "dispatch/tuning/database.h"

namespace wt::tuning {

// A folder that goes away with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = ::testing::TempDir() + "wavetile_tuning.XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline Measurement measurement_of(double median_us) {
  const KernelConfig config = config_for(*parse_problem("fwd bf16 n2 c16 k24 i9x9 f3x3"), Target::kSm90a);
  Measurement m;
  m.kernel = name_of(config);
  m.config = to_json(config);
  m.code = {"0123456789abcdef", "fedcba9876543210", "NVRTC 13.0"};
  m.median_us = median_us;
  m.low_us = median_us * 0.9;
  m.high_us = median_us * 1.1;
  m.runs = 20;
  m.workspace_bytes = 4096;
  m.saved_at = 1700000000000;
  return m;
}

inline Entry entry_of(const std::string& problem, double median_us = 10) {
  return {{"Test GPU", 132, "sm_90a", problem}, measurement_of(median_us), 100, 40, true, "0.1.0"};
}

}  // namespace wt::tuning
