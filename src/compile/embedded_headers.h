// SPDX-License-Identifier: Apache-2.0
// compile/embedded_headers.h - the device headers (src/kernel, src/target and what they include) as text in the
// library.
//
// WAVETILE_SOURCE_DIR points at a source tree whose src/ is read instead, for kernel development: source_headers.h.
#pragma once

#include <string_view>
#include <vector>

namespace wt::compile {

struct EmbeddedHeader {
  std::string_view name;  // path below src/, as #include writes it
  std::string_view text;
};

const std::vector<EmbeddedHeader>& embedded_headers();  // sorted by name

}  // namespace wt::compile
