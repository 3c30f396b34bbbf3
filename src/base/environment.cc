// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

#include <stdlib.h>

namespace wt {

const char* environment_or_null(const char* variable) { return ::secure_getenv(variable); }

std::string environment(const char* variable) {
  const char* value = environment_or_null(variable);
  return value ? value : "";
}

}  // namespace wt
