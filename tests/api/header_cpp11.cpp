// SPDX-License-Identifier: Apache-2.0
// tests/api/header_cpp11.cpp - wavetile.h is C++11; compiling this file is the test.
#include <wavetile/wavetile.h>

static_assert(sizeof(wavetile_status) == sizeof(int), "statuses pass as int");
