// SPDX-License-Identifier: Apache-2.0
// tests/api/without_exceptions.cpp - built with -fno-exceptions: a failure that nobody looks at says itself and aborts.
#include <wavetile/wavetile.hpp>

#if defined(__cpp_exceptions)
#error "this program is built without exceptions"
#endif

int main() { return wavetile::Problem::parse("fwd bf16 n1 c8 q8").value().flops() > 0 ? 0 : 1; }
