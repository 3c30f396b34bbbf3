// SPDX-License-Identifier: Apache-2.0
// dispatch/plan/images.h - tensors beyond what a kernel's indices reach: its launches take some images after the
// others.
//
//   x, y of n images --ranges of images, each below 2^31 elements--> plans of fewer images, one after the other
//
// Most kernels count elements in 32 bits. Images do not meet each other in forward and backward data, so that a part of
// them is a problem of its own at another address.
#pragma once

#include <vector>

#include "dispatch/plan/plan.h"

namespace wt {

// Images that a range may have, such that ranges are about equal. n where the problem need not, or cannot, be divided:
// a weight gradient sums over images, amax is one number of all, and a user's text counts the images.
int64_t images_a_range(const ConvProblem& problem);

// The same problem with so many images.
ConvProblem of_images(const ConvProblem& problem, int64_t images);

// `whole` executes of_images(problem, images), and `rest` the images that are left over; null: none are.
// `reason` stands before the first plan's.
std::shared_ptr<const Plan> make_images_plan(const ConvProblem& problem, std::shared_ptr<const Plan> whole,
                                             std::shared_ptr<const Plan> rest, const std::string& reason);

}  // namespace wt
