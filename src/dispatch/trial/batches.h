// SPDX-License-Identifier: Apache-2.0
// dispatch/trial/batches.h - proof that plans are batch-invariant: the same images in several batches, at several
// places.
//
//   images --in order and backwards, in batches of each size--> plans --bytes of each image--> all the same, or a
//   failure
#pragma once

#include <cstdint>
#include <vector>

#include "dispatch/trial/trial.h"

namespace wt {

struct BatchProof {
  std::vector<int64_t> batches;  // their sizes
  int64_t images = 0;            // results that were compared with those of the same image elsewhere
};

// For the problem with other counts of images. The plans are made with options.plan, whatever that asks for: without
// batch_invariant this says whether they happen to agree.
Result<BatchProof> prove_batches(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                 const TrialOptions& options, std::vector<int64_t> batches = {1, 2, 3, 16, 64});

}  // namespace wt
