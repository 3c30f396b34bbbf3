// SPDX-License-Identifier: Apache-2.0
// cli/show/numbers.h - quantities as people read them, each in at most nine columns.
#pragma once

#include <cstdint>
#include <string>

namespace wt::cli {

std::string time_text(double microseconds);  // 12.3 us, 1.23 ms, 45.6 s
std::string bytes_text(double bytes);        // 0 B, 12.3 KiB, 1.20 GiB
std::string count_text(double count);        // 950, 1.23 M, 45.6 G: decimal
std::string rate_text(double gigaflops);     // 0.123, 12.3, 123, 45678: no unit, the column names it

}  // namespace wt::cli
