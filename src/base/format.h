// SPDX-License-Identifier: Apache-2.0
// base/format.h - fmt::format for everyone, compiled once (format.cc).
//
// WHY: Debian has no static fmt, and fmt as header-only costs about 2 s in every source. core.h only declares;
// format.cc holds the one definition, so the binary needs no libfmt either.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
