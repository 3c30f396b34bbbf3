// SPDX-License-Identifier: Apache-2.0
// kernels/tma_fold/proposals.cc - tiles of the kernel whose columns are the taps of a filter row.
#include "kernels/tma_fold/kind.h"

#include "kernels/device/gemm/storage.h"
#include "kernels/tma/shapes.h"

namespace wt::tma_fold_kind {

using namespace tma_proposals;

namespace {

// Taps of a filter row, and tiles that have so many times as many columns as output channels.
struct FoldShape {
  unsigned char taps;
  Shape shape;
};
constexpr FoldShape kFoldShapes[] = {
    {3, {128, 40, true, kSearch, kSearch}},  {3, {256, 40, false, kSearch, kSearch}},
    {3, {128, 40, false, kSearch, kSearch}}, {3, {64, 40, false, kSearch, kSearch}},
    {3, {192, 40, false, kSearch, kSearch}}, {3, {64, 40, true, kSearch, kSearch}},
    {3, {128, 24, true, kSearch, kSearch}},  {3, {256, 24, false, kSearch, kSearch}},
    {3, {128, 32, true, kSearch, kSearch}},  {3, {256, 32, false, kSearch, kSearch}},
    {3, {128, 16, true, kSearch, kSearch}},  {3, {64, 24, false, kSearch, kSearch}},
    {3, {128, 48, true, kSearch, kSearch}},  {3, {256, 48, false, kSearch, kSearch}},
    {3, {128, 64, false, kSearch, kSearch}}, {3, {64, 64, true, kSearch, kSearch}},
    {3, {192, 64, false, kSearch, kSearch}}, {3, {128, 80, false, kSearch, kSearch}},
    {3, {64, 64, false, kSearch, kSearch}},  {5, {128, 16, true, kSearch, kSearch}},
    {5, {128, 24, true, kSearch, kSearch}},  {5, {64, 40, true, kSearch, kSearch}},
    {5, {128, 40, false, kSearch, kSearch}}, {5, {128, 48, false, kSearch, kSearch}},
    {7, {128, 16, true, kSearch, kSearch}},  {7, {128, 24, false, kSearch, kSearch}},
    {7, {128, 32, false, kSearch, kSearch}},
};

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || !offers(base, breadth)) return;
  if (!is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  for (const FoldShape& fold : kFoldShapes) {
    KernelConfig folding = base;
    folding.fixed.filter_w = fold.taps;
    // For odd channel counts, which the last of those staged take too.
    if (fold.shape.ping_pong) propose_shape(folding, fold.shape, 128, Loader::kTmaIm2col, Staging::kDirect, configs);
    for (const unsigned char stored : {4, 2, 1}) {
      propose_shape(folding, fold.shape, 128, Loader::kTmaIm2col, Staging::kShared, configs);
      configs.back().gemm.vector_c = stored;
    }
  }
}

}  // namespace wt::tma_fold_kind
