// SPDX-License-Identifier: Apache-2.0
// kernels/portable/resources.cc - registers of a portable kernel: whole chunks wait in them on their way.
#include "kernels/resources.h"
#include "config/targets.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/portable/device/layout.h"
#include "kernels/portable/kind.h"

namespace wt::portable_kind {
namespace {

constexpr int kPixelRegisters = 24;  // coordinates of pixels that are the sum of a weight gradient

}  // namespace

int registers(const KernelConfig& config) {
  const GemmConfig& gemm = config.gemm;
  const int64_t m = gemm.tile.m / std::max<int>(gemm.warps.m, 1), n = gemm.tile.n / std::max<int>(gemm.warps.n, 1);
  // compv3 and interwave hold every fragment of a tile.
  const int chunks =
      portable_layout::chunks_of_thread(config, gemm.tile.m) + portable_layout::chunks_of_thread(config, gemm.tile.n);
  const bool all = gemm.pipeline == Pipeline::kCompV3 || gemm.scheduler == Scheduler::kInterwave;
  // compv3's loop on AMD reads a slice of the next tile while this one's are held, and moves each chunk's address.
  const bool ahead = is_amd(config.target) && gemm.pipeline == Pipeline::kCompV3;
  const int slices = all ? gemm.tile.k / gemm.mma.k + (ahead ? 1 : 0) : 2;
  // A number of one byte that is loaded alone has a register for itself.
  const bool alone = operand_a(config) == DataType::kI8 && std::min(gemm.vector_a, gemm.vector_b) == 1;
  const int held = ((alone ? 16 : 4) * portable_layout::register_tiles(config) + (ahead ? 2 : 0)) * chunks;
  const int copies =
      named_target(config.target) == Target::kGfx1100 ? 2 : 1;  // RDNA3 holds A and B in both halves of the lanes
  const int addresses = kAddressRegisters + (portable_layout::a_lies_across(config) ? kPixelRegisters : 0);
  const MmaShape* mma = find_mma(info_of(config.target), multiply_type(config), gemm.mma);
  if (mma && mma->path == MmaPath::kFma) {
    // Fragments of multiply-adds hold all k of an eighth of the rows and a quarter of the columns.
    const auto b = static_cast<int>(n / 4 * gemm.mma.k);
    const auto a = static_cast<int>((all ? m : gemm.mma.m) / 8 * gemm.mma.k);
    // WHY: clang 22 keeps what mem holds of several tiles with its addresses, and spills on RDNA (228 to 320 bytes of
    // 64x64x16).
    const int travelling = is_amd(config.target) && gemm.pipeline == Pipeline::kMem ? 4 * held : 0;
    return addresses + accumulators_of(config) + (a + b) * (all ? slices : 1) + held + travelling;
  }
  return addresses + accumulators_of(config) + fragments_of(config) * slices * copies + held;
}

// WHY: on CDNA two waves at least share the 512 of a lane (target/amd/identity.h).
int register_limit(const KernelConfig& config) {
  const int limit = occupancy_registers(config);
  return is_amd(config.target) && info_of(config.target).warp_size == 64 ? std::min(limit, 256) : limit;
}

}  // namespace wt::portable_kind
