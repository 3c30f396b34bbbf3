// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/batch_invariant.h - PlanOptions::batch_invariant: an image's result has the same bits whatever else
// is in the batch, and wherever in it the image is.
//
//   problem of n images --> the same of 16, 1 and 64 --decide--> three decisions --the best for all three-->
//   its kernel, parts and what is around them --> decision for n images
//
// Everything that fixes the order of an image's sums is decided for batches that do not depend on n: the kernel with
// its tiles, the count of parts, whether it stands between transpositions. Kernels whose order depends on the batch all
// the same are left out (varies_with_batch), and where n images are too many for the kernel it takes ranges of them. A
// weight gradient sums over images: it is decided for its own batch, and keeps their order.
#pragma once

#include <functional>
#include <optional>

#include "dispatch/choice/decision.h"
#include "kernels/constraints.h"

namespace wt {

// Batches that choices are made for, unless an image is so large that fewer are within a kernel's indices. WHY several:
// what suits one image wastes time on many, and the other way round. Tuning counts of the first.
inline constexpr int64_t kCanonicalImages[] = {16, 1, 64};

// Whether the option decides anything here: a gradient of weights has no results of single images.
inline bool has_images(const ConvProblem& problem) { return problem.direction != Direction::kBackwardWeight; }

// Why the bits of an image would depend on the batch; nothing where they do not. `view` and `one` are of the same
// problem, `one` of a single image.
std::optional<std::string> varies_with_batch(const KernelConfig& config, const View& view, const View& one,
                                             const DeviceInfo& device, const PlanOptions& options);

// decide() with that option: `choose` decides for the images at hand, and its kernels pass the filter. `with_price`:
// the free choice is made too, to name its time.
using Choose = std::function<Result<Decision>(const ConvProblem& problem, const PlanOptions& options)>;
Result<Decision> decide_batch_invariant(const DeviceInfo& device, const ConvProblem& problem, PlanOptions options,
                                        bool with_price, const Choose& choose);

// "decided as for 16 images; 12.30 us, and 10.10 us by the free choice (0.82 of its speed)".
std::string to_text(const BatchInvariance& invariance);

}  // namespace wt
