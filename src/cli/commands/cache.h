// SPDX-License-Identifier: Apache-2.0
// cli/commands/cache.h - wavetile cache: list, verify and clear the compiled kernels on disk (compile/cache.h).
#pragma once

#include <string>

namespace wt::cli {

struct CacheListOptions {
  std::string json;  // a file, "-" for standard output, or empty: not asked for
};

struct CacheVerifyOptions {
  bool remove = false;  // the damaged entries
};

int run_cache_list(const CacheListOptions& options);
int run_cache_verify(const CacheVerifyOptions& options);  // exit code kExitVerificationFailed where an entry is damaged
int run_cache_clear();

}  // namespace wt::cli
