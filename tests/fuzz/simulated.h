// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/simulated.h - random problems by random kernels on every simulated target, compared with the reference.
//
// A case is one kernel and many problems that it takes, so that compiling it pays:
//
//   sim:sm_90a seed 7 late exact same 2 by tma wt_fwd_...
//   fwd bf16 n2 c64 k72 i9x9 f3x3 p1 +bias
//   fwd bf16 n1 c64 k8 i5x31 f3x3 p2 d2 +bias
#pragma once

#include <filesystem>

#include "tests/fuzz/fuzzer.h"

namespace wt::fuzz {

class Simulated : public Subject {
 public:
  Simulated();  // kernels are compiled into a cache of its own, quickly rather than well
  ~Simulated() override;
  std::string name() const override { return "simulated"; }
  bool only_by_name() const override { return true; }
  double patience() const override { return 120; }
  double batch_seconds() const override { return 100; }
  std::string generate(Random& random) const override;
  std::string run(const std::string& input) const override;
  void demand() override { demanding_ = true; }
  // "sm_90a tma 1a2b3c4d 24 0": target, kind, hash of the kernel's name, problems that were right, and declined ones.
  std::string account() const override { return account_; }

 private:
  std::filesystem::path cache_;
  mutable std::string account_;
  bool demanding_ = false;
};

}  // namespace wt::fuzz
