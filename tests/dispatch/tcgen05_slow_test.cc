// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/tcgen05_slow_test.cc - the forms of the kernel on tensor memory that the quick tests leave out.
#include "tests/dispatch/tcgen05_forms.h"

namespace wt::tcgen05_test {

TEST_P(Tcgen05, IsExact) { expect_form(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Forms, Tcgen05, testing::ValuesIn(forms(false)), test_name);

}  // namespace wt::tcgen05_test
