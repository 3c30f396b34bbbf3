// SPDX-License-Identifier: Apache-2.0
// problem/patch_view.h - a convolution over patches (stride = filter, no padding) as an easier one of the same memory.
//
//   x  n (P R) (Q S) c   forward and backward weight   (n P) R Q (S c): a column of R taps, unit stride, one row of y
//   dx n (P R) (Q S) c   backward data                 n P Q (R S c): a unit filter; the runs of S c numbers of a pixel
//                                                      lie a row of dx apart. So is x where its runs are packed first
//
// Patch embeddings and the downsampling of ConvNeXt: more channels in a row, fewer taps and no phases of strides.
#pragma once

#include "problem/problem.h"

namespace wt {

// One group of channels-last patches that fill an image of one or two dimensions, with an epilogue that the view has
// too: no user's text, which sees coordinates; backward data without what depends on channels or on places.
bool is_patch(const ConvProblem& problem);
// The view of a problem that is one. `packed`: of a copy of x in which a patch's runs follow each other.
ConvProblem patch_view(const ConvProblem& problem, bool packed = false);

// Numbers of an image that lie together, and from the end of such a run to the start of the pixel's next one.
struct PatchRuns {
  int64_t length, gap;
};
PatchRuns patch_runs(const ConvProblem& problem);

// Forward, of 16-bit numbers and where rows of patches are no whole 16 bytes: copies that start at such bytes have up
// to seven numbers before a patch's row, so that each of the few numbers of them has its own copy of the filter, moved
// as far behind zeros. For a view.
struct RawPatches {
  int64_t step, shifts;  // numbers before a row: 0, step, 2 step ...
  int64_t depth;         // numbers of a filter's row with the zeros around it
};
RawPatches raw_patches(const ConvProblem& view);

}  // namespace wt
