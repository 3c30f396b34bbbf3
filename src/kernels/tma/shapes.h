// SPDX-License-Identifier: Apache-2.0
// kernels/tma/shapes.h - the shapes of tiles among the kernels of gemm_tma.cc, and how one is proposed.
#pragma once

#include <vector>

#include "kernels/kind.h"
#include "problem/measures.h"

namespace wt::tma_proposals {

// Which of the lists has a shape.
enum class Offer {
  kSearch,  // an exhaustive search
  kCommon,  // and the best guesses for the signatures that are used most: 16-bit types, two dimensions
  kCore,    // and the best guesses for every signature
};

struct Shape {
  short m, n;
  bool ping_pong;
  Offer offer;               // with bulk stores, the best where they can write the output
  Offer other;               // with other stores
  unsigned char blocks = 1;  // per multiprocessor: two hide each other's start and end where memory is the limit
};

constexpr Offer kSearch = Offer::kSearch, kCommon = Offer::kCommon, kCore = Offer::kCore;

inline constexpr int kLeastStages = 4;  // of a ring that shares its room with other buffers

// Whether kernels of forward and backward data are offered for this signature at all.
bool offers(const KernelConfig& base, Breadth breadth);

// The least offer that is wanted.
Offer wanted(const KernelConfig& base, Breadth breadth);

// As many stages as fit, so that the copies run ahead as far as they can.
int most_stages(KernelConfig config);

// False where there is no room for it.
bool propose_shape(const KernelConfig& base, const Shape& shape, int swizzle, Loader loader_a, Staging staging,
                   std::vector<KernelConfig>& configs);

// Each of the two blocks loads half of the operand's tile for both.
void share_operand(KernelConfig& config, bool share_a);

}  // namespace wt::tma_proposals
