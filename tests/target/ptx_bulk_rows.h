// SPDX-License-Identifier: Apache-2.0
// tests/target/ptx_bulk_rows.h - bulk copies (tma.h) and products of a warpgroup (wgmma.h) as the PTX ISA manual spells
// them; see ptx_rows.h.
#pragma once

#include "tests/target/ptx_rows.h"
#include "tests/target/ptx_tensor_rows.h"

namespace wt::device_text {

inline std::string joined(const std::vector<std::string>& parts, const std::string& before, const std::string& after) {
  std::string list;
  for (const std::string& part : parts) list += (list.empty() ? "" : ", ") + before + part + after;
  return list;
}

// cp.async.bulk.tensor.dim.shared::cluster.global.load_mode.mbarrier::complete_tx::bytes{.multicast}{.cache_hint}
//   [dst], [map, {coordinates}], [mbar]{, {im2col offsets}}{, mask}{, policy}
inline Row tensor_load(bool im2col, bool multicast, const std::vector<std::string>& coordinates) {
  const std::string dim = std::to_string(coordinates.size());
  std::vector<std::string> taps;  // one for each coordinate but the first (the channel) and the last (the image)
  if (im2col)
    for (size_t i = 1; i + 1 < coordinates.size(); ++i) taps.push_back("tap_" + coordinates[i]);
  const std::string wrapper = std::string("tma_load") + (im2col ? "_im2col" : "") + (multicast ? "_multicast" : "") +
                              "(SharedAddress to, const TensorMap& map, SharedAddress barrier, " +
                              (multicast ? "u16 mask, " : "") + joined(coordinates, "i32 ", "") +
                              (im2col ? ", " + joined(taps, "u16 ", "") : "") + ", CachePolicy policy)";
  const std::string name = "cp.async.bulk.tensor." + dim + "d.shared::cluster.global." + (im2col ? "im2col" : "tile") +
                           ".mbarrier::complete_tx::bytes" + (multicast ? ".multicast::cluster" : "") +
                           ".L2::cache_hint";
  return {wrapper,
          name + " [<r to>], [<l &map>, {" + joined(coordinates, "<r ", ">") + "}], [<r barrier>]" +
              (im2col ? ", {" + joined(taps, "<h ", ">") + "}" : "") + (multicast ? ", <h mask>" : "") +
              ", <l policy.bits>;",
          kMemory};
}

// cp.async.bulk.tensor.dim.global.shared::cta.tile.bulk_group [map, {coordinates}], [src]
// cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp.tile.bulk_group [map, {coordinates}], [src]
inline Row tensor_store(bool reduces, const std::vector<std::string>& coordinates) {
  return {std::string(reduces ? "tma_reduce_add" : "tma_store") + "(const TensorMap& map, SharedAddress from, " +
              joined(coordinates, "i32 ", "") + ")",
          std::string(reduces ? "cp.reduce.async" : "cp.async") + ".bulk.tensor." + std::to_string(coordinates.size()) +
              "d.global.shared::cta." + (reduces ? "add." : "") + "tile.bulk_group [<l &map>, {" +
              joined(coordinates, "<r ", ">") + "}], [<r from>];",
          kMemory};
}

inline FileRows tma_rows() {
  FileRows all{"tma.h",
               {{"fence_async_shared()", "fence.proxy.async.shared::cta;", kMemory},
                {"tma_prefetch(const TensorMap& map)", "prefetch.tensormap [<l &map>];", kMemory},
                {"prefetch_l2(const void* address)", "prefetch.global.L2 [<l address>];", kMemory},
                {"bulk_load(SharedAddress to, const void* from, u32 bytes, SharedAddress barrier)",
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [<r to>], [<l from>], <r bytes>, "
                 "[<r barrier>];",
                 kMemory},
                {"bulk_store(void* to, SharedAddress from, u32 bytes)",
                 "cp.async.bulk.global.shared::cta.bulk_group [<l to>], [<r from>], <r bytes>;", kMemory},
                {"bulk_commit()", "cp.async.bulk.commit_group;", kMemory},
                {"bulk_wait()", "cp.async.bulk.wait_group <n kPending>;", kMemory},
                {"bulk_wait_read()", "cp.async.bulk.wait_group.read <n kPending>;", kMemory}}};
  const std::vector<std::string> all_coordinates = {"c0", "c1", "c2", "c3", "c4"};
  const auto first = [&](int count) {
    return std::vector<std::string>(all_coordinates.begin(), all_coordinates.begin() + count);
  };
  for (int dim = 1; dim <= 5; ++dim) all.rows.push_back(tensor_load(false, false, first(dim)));
  for (int dim = 2; dim <= 3; ++dim) all.rows.push_back(tensor_load(false, true, first(dim)));
  for (const bool multicast : {false, true}) {  // the innermost coordinate first
    all.rows.push_back(tensor_load(true, multicast, {"c", "w", "n"}));
    all.rows.push_back(tensor_load(true, multicast, {"c", "w", "h", "n"}));
    all.rows.push_back(tensor_load(true, multicast, {"c", "w", "h", "d", "n"}));
  }
  for (int dim = 2; dim <= 5; ++dim) all.rows.push_back(tensor_store(false, first(dim)));
  all.rows.push_back(tensor_store(true, first(2)));
  return all;
}

struct WgmmaTypes {
  std::string type_a, type_b, text;  // .atype.btype
  int k;
  bool transposes;  // has imm-trans-a and imm-trans-b: 16-bit types only
};

// wgmma.mma_async.sync.aligned.m64nNkK.f32.atype.btype
//   d, a-desc, b-desc, scale-d, imm-scale-a, imm-scale-b{, imm-trans-a, imm-trans-b}
//   d, {a0, a1, a2, a3}, b-desc, scale-d, imm-scale-a, imm-scale-b{, imm-trans-b}
// scale-d is a predicate: false ignores what d holds. WHY not kMemory: wgmma.fence before it and wgmma.wait_group after
// it order memory, and volatile statements keep their order.
inline Row product(const WgmmaTypes& types, int n, bool a_in_registers) {
  std::string sums;
  for (int i = 0; i < n / 2; ++i) sums += (i ? ", <+f d[" : "<+f d[") + std::to_string(i) + "]>";
  const std::string a = a_in_registers ? "{<r a_regs[0]>, <r a_regs[1]>, <r a_regs[2]>, <r a_regs[3]>}" : "<l desc_a>";
  const std::string trans_a = ", <n static_cast<int>(kMajorA)>", trans_b = ", <n static_cast<int>(kMajorB)>";
  const std::string half = std::to_string(n) + " / 2";
  return {"Wgmma<DataType::" + types.type_a + ", DataType::" + types.type_b + ", " + std::to_string(n) +
              ">::multiply(float (&d)[" + half + "], " + (a_in_registers ? "const u32 (&a_regs)[4]" : "u64 desc_a") +
              ", u64 desc_b, bool accumulate)",
          "{ .reg .pred p; setp.ne.b32 p, <r static_cast<int>(accumulate)>, 0; wgmma.mma_async.sync.aligned.m64n" +
              std::to_string(n) + "k" + std::to_string(types.k) + ".f32." + types.text + " {" + sums + "}, " + a +
              ", <l desc_b>, p, 1, 1" + (types.transposes && !a_in_registers ? trans_a : "") +
              (types.transposes ? trans_b : "") + "; }",
          kPlaced};
}

inline FileRows wgmma_rows() {
  FileRows all{"wgmma.h",
               {{"wgmma_fence()", "wgmma.fence.sync.aligned;", kMemory},
                {"wgmma_commit()", "wgmma.commit_group.sync.aligned;", kMemory},
                {"wgmma_wait()", "wgmma.wait_group.sync.aligned <n kPending>;", kMemory},
                {"wgmma_hold(float (&d)[kCount])", "<+f d[i]>", kMemory},
                {"wgmma_copy(float from)", "mov.f32 <=f to>, <f from>;", kPlaced}}};
  const WgmmaTypes kTypes[] = {{"kBf16", "kBf16", "bf16.bf16", 16, true},  {"kF16", "kF16", "f16.f16", 16, true},
                               {"kTf32", "kTf32", "tf32.tf32", 8, false},  {"kE4m3", "kE4m3", "e4m3.e4m3", 32, false},
                               {"kE4m3", "kE5m2", "e4m3.e5m2", 32, false}, {"kE5m2", "kE4m3", "e5m2.e4m3", 32, false},
                               {"kE5m2", "kE5m2", "e5m2.e5m2", 32, false}};
  for (int n = 8; n <= 256; n += 8)
    for (const WgmmaTypes& types : kTypes)
      for (const bool a_in_registers : {false, true}) all.rows.push_back(product(types, n, a_in_registers));
  return all;
}

// The whole table; the texts squeezed as those of statements are.
inline std::vector<FileRows> ptx_rows() {
  std::vector<FileRows> files = {
      barrier_rows(), async_copy_rows(), cluster_rows(),       arithmetic_rows(), convert_rows(),
      matrix_rows(),  mbarrier_rows(),   memory_rows(),        mma_rows(),        role_rows(),
      tma_rows(),     wgmma_rows(),      tensor_memory_rows(), tcgen05_rows(),    launch_control_rows(),
      pair_rows()};
  for (FileRows& file : files)
    for (Row& row : file.rows) row.text = squeezed(row.text);
  return files;
}

}  // namespace wt::device_text
