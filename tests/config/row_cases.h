// SPDX-License-Identifier: Apache-2.0
// tests/config/row_cases.h - cases of the constraint table's rows, one file per family: each trips its row and reads
// the message. constraints_test.cc runs them and fails for a row without a case.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "kernels/constraints.h"

namespace wt {

struct RowCase {
  std::string id;
  void (*change)(KernelConfig&);
  std::string message;  // a part with the values
  const char* problem = nullptr;
  Requests requests = {};
};

inline void PrintTo(const RowCase& row, std::ostream* out) { *out << row.id; }

// For rows that read the config alone, and for rows that read the problem too.
class TargetRow : public testing::TestWithParam<RowCase> {};
class ProblemRow : public testing::TestWithParam<RowCase> {};

// The ids of every file's cases.
inline std::vector<std::string>& tripped_rows() {
  static std::vector<std::string> ids;
  return ids;
}

struct TrippedRows {
  TrippedRows(std::span<const RowCase> target, std::span<const RowCase> problem) {
    for (const auto& part : {target, problem})
      for (const RowCase& row : part) tripped_rows().push_back(row.id);
  }
};

inline void hopper(KernelConfig& c) {
  c.target = Target::kSm90a;
  c.kind = Kind::kTma;
  c.gemm.pipeline = Pipeline::kTma;
  c.gemm.loader_a = Loader::kTmaIm2col;
  c.gemm.loader_b = Loader::kTmaTiled;
  c.gemm.mma = {64, 128, 16};
  c.gemm.warps = {8, 1, 1};
  c.gemm.tile = {128, 128, 64};
  c.gemm.stages = 4;
  c.gemm.load_warps = 4;
  c.gemm.persistent = true;
  c.gemm.swizzle_a = 128;
  c.gemm.swizzle_b = 128;
}

}  // namespace wt
