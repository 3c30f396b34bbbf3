// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

namespace wt {

Status check_json_nesting(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonNesting) {
        return bad_input("its JSON is nested deeper than {} levels at byte {}; no file of wavetile is", kMaxJsonNesting,
                         i);
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return {};
}

}  // namespace wt
