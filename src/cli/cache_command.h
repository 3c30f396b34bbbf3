// SPDX-License-Identifier: Apache-2.0
// cli/cache_command.h - wavetile cache: list, verify and clear the compiled kernels on disk (compile/cache.h).
#pragma once

namespace wt::cli {

struct CacheListOptions {
  bool json = false;
};

struct CacheVerifyOptions {
  bool remove = false;  // the damaged entries
};

int run_cache_list(const CacheListOptions& options);
int run_cache_verify(const CacheVerifyOptions& options);  // exit code kExitVerificationFailed where an entry is damaged
int run_cache_clear();

}  // namespace wt::cli
