// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/rows.h - constraint rows that the kinds on tensor memory share.
#pragma once

#include "kernels/constraints.h"

namespace wt::tcgen05_rows {

std::span<const Constraint> tiles();  // roles, accumulators, pairs, parts of sums

}  // namespace wt::tcgen05_rows
