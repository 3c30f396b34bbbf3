// SPDX-License-Identifier: Apache-2.0
#include "cli/show/numbers.h"

#include <array>

#include "base/format.h"

namespace wt::cli {

namespace {

// Three significant digits for values below 1000.
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

template <size_t kCount>
std::string scaled(double value, double step, const std::array<const char*, kCount>& units) {
  size_t unit = 0;
  while (unit + 1 < kCount && value >= 0.9995 * step) {
    value /= step;
    ++unit;
  }
  if (unit == 0 && value == static_cast<double>(static_cast<int64_t>(value)))
    return fmt::format("{}{}", static_cast<int64_t>(value), units[0]);
  return three_digits(value) + units[unit];
}

}  // namespace

std::string time_text(double microseconds) {
  if (microseconds < 999.5) return three_digits(microseconds) + " us";
  if (microseconds < 999.5e3) return three_digits(microseconds / 1e3) + " ms";
  return three_digits(microseconds / 1e6) + " s";
}

std::string bytes_text(double bytes) {
  return scaled(bytes, 1024, std::array{" B", " KiB", " MiB", " GiB", " TiB", " PiB"});
}

std::string count_text(double count) { return scaled(count, 1000, std::array{"", " K", " M", " G", " T", " P", " E"}); }

std::string rate_text(double gigaflops) {
  return gigaflops < 0.9995 ? fmt::format("{:.3f}", gigaflops) : three_digits(gigaflops);
}

}  // namespace wt::cli
