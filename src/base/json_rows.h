// SPDX-License-Identifier: Apache-2.0
// base/json_rows.h - the text of a JSON document with one line per row, so that a diff shows which rows changed.
#pragma once

#include <string>

#include "base/json_value.h"

namespace wt {

// A member of the document that is short stands on its line; of a longer list or object every element has a line. It
// ends in a newline; bytes that are no UTF-8 (from a driver, say) are replaced. bench/result_file.py writes the same.
std::string json_rows(const OrderedJson& document);

}  // namespace wt
