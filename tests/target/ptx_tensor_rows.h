// SPDX-License-Identifier: Apache-2.0
// tests/target/ptx_tensor_rows.h - tensor memory, tcgen05, pairs of blocks and launch control as the PTX ISA manual
// spells them; see ptx_rows.h.
#pragma once

#include "tests/target/ptx_rows.h"

namespace wt::device_text {

// tcgen05.{alloc,dealloc,relinquish_alloc_permit}.cta_group.sync.aligned; tcgen05.fence::*;
// tcgen05.wait::*.sync.aligned tcgen05.ld.sync.aligned.shape.num.b32 r, [taddr]; tcgen05.st.sync.aligned.shape.num.b32
// [taddr], r; with .16x32bx2 immHalfSplitoff behind [taddr]
inline FileRows tensor_memory_rows() {
  FileRows all{
      "tensor_memory.h",
      {{"tensor_allocate(SharedAddress to, u32 columns)",
        "tcgen05.alloc.cta_group::<n kBlocks>.sync.aligned.shared::cta.b32 [<r to>], <r columns>;", kMemory},
       {"tensor_free(u32 address, u32 columns)",
        "tcgen05.dealloc.cta_group::<n kBlocks>.sync.aligned.b32 <r address>, <r columns>;", kMemory},
       {"tensor_relinquish()", "tcgen05.relinquish_alloc_permit.cta_group::<n kBlocks>.sync.aligned;", kMemory},
       {"tensor_fence_before()", "tcgen05.fence::before_thread_sync;", kMemory},
       {"tensor_fence_after()", "tcgen05.fence::after_thread_sync;", kMemory},
       {"tensor_load_wait()", "tcgen05.wait::ld.sync.aligned;", kMemory},
       {"tensor_store_wait()", "tcgen05.wait::st.sync.aligned;", kMemory},
       {"tensor_hold(float (&values)[kCount])", "<+f values[i]>", kMemory}}};
  struct Shape {
    std::string name, text;
    int registers;  // of .x1
    bool two = false;
  };
  for (const Shape& shape : {Shape{"k32x32", "32x32b", 1},
                             {"k16x64", "16x64b", 1},
                             {"k16x128", "16x128b", 2},
                             {"k16x256", "16x256b", 4},
                             {"k16x32Two", "16x32bx2", 1, true}}) {
    for (const int count : {8, 16, 32}) {
      std::string to, from;
      for (int i = 0; i < count; ++i) {
        to += (i ? ", <=f to[" : "<=f to[") + std::to_string(i) + "]>";
        from += (i ? ", <f from[" : "<f from[") + std::to_string(i) + "]>";
      }
      const std::string size = std::to_string(count);
      const std::string split = shape.two ? ", " + size : "";  // immHalfSplitoff
      const std::string name = "TensorRegisters<TensorShape::" + shape.name + ", " + size + ">::";
      const std::string form = ".sync.aligned." + shape.text + ".x" + std::to_string(count / shape.registers) + ".b32 ";
      all.rows.push_back({name + "load(float (&to)[" + size + "], u32 address)",
                          "tcgen05.ld" + form + "{" + to + "}, [<r address>]" + split + ";", kMemory});
      all.rows.push_back({name + "store(u32 address, const float (&from)[" + size + "])",
                          "tcgen05.st" + form + "[<r address>]" + split + ", {" + from + "};", kMemory});
    }
  }
  return all;
}

// tcgen05.mma.cta_group.kind [d-tmem], a-desc, b-desc, idesc, enable-input-d;
// tcgen05.mma.cta_group.kind.block_scale.scale_vectorsize [d-tmem], a-desc, b-desc, idesc, [scale-A-tmem],
// [scale-B-tmem], enable-input-d; tcgen05.cp.cta_group.shape{.multicast}
// [taddr], s-desc; tcgen05.commit.cta_group.completion{.multicast}.b64 [mbar]{, ctaMask}
inline FileRows tcgen05_rows() {
  FileRows all{
      "tcgen05.h",
      {{"tensor_commit(SharedAddress barrier)",
        "tcgen05.commit.cta_group::<n kBlocks>.mbarrier::arrive::one.shared::cluster.b64 [<r barrier>];", kMemory},
       {"tensor_commit_multicast(SharedAddress barrier, u16 mask)",
        "tcgen05.commit.cta_group::<n kBlocks>.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
        "[<r barrier>], <h mask>;",
        kMemory}}};
  const std::pair<std::string, std::string> kKinds[] = {
      {"kF16", "f16"}, {"kTf32", "tf32"}, {"kF8f6f4", "f8f6f4"}, {"kI8", "i8"}};
  for (const auto& [kind, text] : kKinds) {
    all.rows.push_back(
        {"tensor_multiply(u32 d, u64 a, u64 b, u32 word, bool accumulate) if kKind == TensorKind::" + kind,
         "{ .reg .pred p; setp.ne.b32 p, <r static_cast<int>(accumulate)>, 0; "
         "tcgen05.mma.cta_group::<n kBlocks>.kind::" +
             text + " [<r d>], <l a>, <l b>, <r word>, p; }",
         kMemory});
  }
  const std::pair<std::string, std::string> kScaled[] = {{"kMxf8", "mxf8f6f4.block_scale.scale_vec::1X"},
                                                         {"kMxf4", "mxf4.block_scale.scale_vec::2X"},
                                                         {"kNvf4", "mxf4nvf4.block_scale.scale_vec::4X"}};
  for (const auto& [kind, text] : kScaled) {
    all.rows.push_back(
        {"tensor_multiply_scaled(u32 d, u64 a, u64 b, u32 word, u32 scales_a, u32 scales_b, bool "
         "accumulate) if kKind == ScaledKind::" +
             kind,
         "{ .reg .pred p; setp.ne.b32 p, <r static_cast<int>(accumulate)>, 0; "
         "tcgen05.mma.cta_group::<n kBlocks>.kind::" +
             text + " [<r d>], <l a>, <l b>, <r word>, [<r scales_a>], [<r scales_b>], p; }",
         kMemory});
  }
  const std::pair<std::string, std::string> kCopies[] = {{"k128x256", "128x256b"},
                                                         {"k128x128", "128x128b"},
                                                         {"k32x128Four", "32x128b.warpx4"},
                                                         {"k4x256", "4x256b"},
                                                         {"k64x128Apart", "64x128b.warpx2::02_13"},
                                                         {"k64x128Near", "64x128b.warpx2::01_23"}};
  for (const auto& [copy, text] : kCopies) {
    all.rows.push_back({"tensor_copy(u32 to, u64 from) if kCopy == TensorCopy::" + copy,
                        "tcgen05.cp.cta_group::<n kBlocks>." + text + " [<r to>], <l from>;", kMemory});
  }
  return all;
}

// clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{.multicast}.b128 [addr], [mbar];
// .query_cancel.is_canceled.pred.b128 p, answer; .query_cancel.get_first_ctaid.v4.b32.b128 {x, y, z, _}, answer
inline FileRows launch_control_rows() {
  return {
      "launch_control.h",
      {{"take_cluster(SharedAddress answer, SharedAddress barrier)",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 "
        "[<r answer>], [<r barrier>];",
        kMemory},
       {"taken_cluster(SharedAddress answer)",
        "{ .reg .pred p; .reg .b128 all; ld.shared::cta.b128 all, [<r answer>]; "
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, all; selp.b32 <=&r taken>, 1, 0, p; "
        "mov.b32 <=&r x>, 0; mov.b32 <=&r y>, 0; mov.b32 <=&r z>, 0; "
        "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {<=&r x>, <=&r y>, <=&r z>, _}, all; }",
        kMemory}}};
}

// As tma.h's, with .cta_group::2 behind the dimensions.
inline FileRows pair_rows() {
  FileRows all{"pair.h",
               {{"mbarrier_arrive_expect_remote(SharedAddress barrier, u32 rank, u32 bytes)",
                 "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, <r barrier>, <r rank>; "
                 "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [remote], <r bytes>; }",
                 kMemory}}};
  const auto joined = [](const std::vector<std::string>& parts, const std::string& before, const std::string& after) {
    std::string list;
    for (const std::string& part : parts) list += (list.empty() ? "" : ", ") + before + part + after;
    return list;
  };
  const std::vector<std::vector<std::string>> kForms = {
      {"c0", "c1"},    {"c0", "c1", "c2"},   {"c0", "c1", "c2", "c3"}, {"c0", "c1", "c2", "c3", "c4"},
      {"c", "w", "n"}, {"c", "w", "h", "n"}, {"c", "w", "h", "d", "n"}};
  for (const std::vector<std::string>& at : kForms) {
    for (const bool multicast : {false, true}) {
      const bool im2col = at[0] == "c";
      if (multicast && !im2col && at.size() > 3) continue;  // no kernel has patches for several blocks
      std::vector<std::string> taps;
      for (size_t i = 1; im2col && i + 1 < at.size(); ++i) taps.push_back("tap_" + at[i]);
      all.rows.push_back(
          {std::string("tma_load") + (im2col ? "_im2col" : "") + "_pair" + (multicast ? "_multicast" : "") +
               "(SharedAddress to, const TensorMap& map, u32 barrier, " + (multicast ? "u16 mask, " : "") +
               joined(at, "i32 ", "") + (im2col ? ", " + joined(taps, "u16 ", "") : "") + ", CachePolicy policy)",
           "cp.async.bulk.tensor." + std::to_string(at.size()) + "d.cta_group::2.shared::cluster.global." +
               (im2col ? "im2col" : "tile") + ".mbarrier::complete_tx::bytes" +
               (multicast ? ".multicast::cluster" : "") + ".L2::cache_hint [<r to>], [<l &map>, {" +
               joined(at, "<r ", ">") + "}], [<r barrier>]" + (im2col ? ", {" + joined(taps, "<h ", ">") + "}" : "") +
               (multicast ? ", <h mask>" : "") + ", <l policy.bits>;",
           kMemory});
    }
  }
  return all;
}

}  // namespace wt::device_text
