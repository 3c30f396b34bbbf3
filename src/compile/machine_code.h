// SPDX-License-Identifier: Apache-2.0
// compile/machine_code.h - what of a module the GPU executes, as a short text: two modules of equal text run alike.
#pragma once

#include <string>
#include <string_view>

namespace wt::compile {

// 32 digits of a hash over instructions and constants. Names, notes and tables of symbols do not count, so that a
// renamed header or another comment leaves it as it is. An image that is no ELF file counts whole.
std::string machine_code_of(std::string_view image);

}  // namespace wt::compile
