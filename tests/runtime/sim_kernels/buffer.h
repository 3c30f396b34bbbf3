// SPDX-License-Identifier: Apache-2.0
// A probe of loads through buffer descriptors.
#include "target/cdna.h"

namespace wt::probe {

using namespace wt::device;

struct BufferParams {
  const u8* from;
  const u32* offsets;  // a lane
  u32* to;             // four words per lane
  u32 bytes;           // of the buffer
};

template <int kBytes>
struct Words {
  u32 at[kBytes / 4];
};
template <>
struct Words<1> {
  u8 at[1];
};
template <>
struct Words<2> {
  u16 at[1];
};

template <int kBytes>
struct BufferProbe {
  static constexpr int kThreads = 64, kMinBlocks = 1;
  using Params = BufferParams;
  WT_DEVICE static void run(const Params& p) {
    const int lane = lane_index();
    const auto loaded = load_buffer<Words<kBytes>>(buffer_view(p.from, p.bytes), load_global(p.offsets + lane));
    for (int i = 0; i < (kBytes + 3) / 4; ++i) store_global(p.to + 4 * lane + i, static_cast<u32>(loaded.at[i]));
  }
};

}  // namespace wt::probe
