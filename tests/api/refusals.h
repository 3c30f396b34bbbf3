// SPDX-License-Identifier: Apache-2.0
// tests/api/refusals.h - calls that must fail, each with its status and its own message.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <vector>

#include "handles.h"

namespace wavetile_test {

struct Call {
  const char* message;  // part of it
  std::function<wavetile_status()> call;
};

inline void expect_refused(const std::vector<Call>& calls, wavetile_status status = WAVETILE_BAD_INPUT) {
  for (const Call& entry : calls) {
    wavetile_clear_error();
    EXPECT_EQ(entry.call(), status) << entry.message;
    EXPECT_THAT(wavetile_last_error(), testing::HasSubstr(entry.message));
  }
}

}  // namespace wavetile_test
