// SPDX-License-Identifier: Apache-2.0
// tests/target/ptx_rows.h - every wrapper of src/target/cuda as the PTX ISA manual spells its instruction.
//
// The syntax is the manual's ("Instruction Set": Data Movement, Parallel Synchronization, Matrix, ...), not copied from
// the wrappers: modifiers in the order of the syntax line, then the operands. An operand is <constraint value>, "=" and
// "+" mark what the instruction writes. Constraints by the manual's operand types: shared addresses, sizes and
// coordinates are 32 bits (r); generic and global addresses, descriptors and cache policies 64 (l); masks and im2col
// offsets 16 (h).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tests/target/assembly.h"

namespace wt::device_text {

struct FileRows {
  std::string file;
  std::vector<Row> rows;
};

inline constexpr Effect kValue = Effect::kValue, kPlaced = Effect::kPlaced, kMemory = Effect::kMemory;

// barrier{.cta}: bar.sync a, b; bar.arrive a, b. Both order the memory accesses of who takes part.
inline FileRows barrier_rows() {
  return {"barrier.h",
          {{"sync_named(int id, int threads)", "bar.sync <r id>, <r threads>;", kMemory},
           {"arrive_named(int id, int threads)", "bar.arrive <r id>, <r threads>;", kMemory}}};
}

// cp.async.op.shared.global{.level::prefetch_size} [dst], [src], cp-size{, src-size}; .cg takes 16 bytes and no others.
inline FileRows async_copy_rows() {
  const std::string copy = "copy_async(SharedAddress to, const void* from, int valid)";
  return {"async_copy.h",
          {{copy + " if kBytes == 16", "cp.async.cg.shared.global [<r to>], [<l from>], 16, <r valid>;", kMemory},
           {copy + " unless kBytes == 16", "cp.async.ca.shared.global [<r to>], [<l from>], <n kBytes>, <r valid>;",
            kMemory},
           {"copy_async_line(SharedAddress to, const void* from, int valid)",
            "cp.async.cg.shared.global.L2::128B [<r to>], [<l from>], 16, <r valid>;", kMemory},
           {"copy_async_commit()", "cp.async.commit_group;", kMemory},
           {"copy_async_wait()", "cp.async.wait_group <n kPending>;", kMemory},
           // .noinc: the arrival is one of those that mbarrier.init counted.
           {"copy_async_arrive(SharedAddress barrier)", "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [<r barrier>];",
            kMemory}}};
}

// {ld,st}.shared::cluster{.vec}.type; mapa.shared::cluster.u32 d, a, cta; barrier.cluster.arrive{.sem}.aligned;
// st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes{.vec}.type [a], b, [mbar].
inline FileRows cluster_rows() {
  const std::string load = "load_cluster(u32 address)", store = "store_cluster(u32 address, T value)";
  return {
      "cluster.h",
      {{"cluster_rank()", "mov.u32 <=r rank>, %cluster_ctarank;", kPlaced},
       {"cluster_blocks()", "mov.u32 <=r count>, %cluster_nctarank;", kPlaced},
       {"cluster_arrive()", "barrier.cluster.arrive.release.aligned;", kMemory},
       {"cluster_arrive_relaxed()", "barrier.cluster.arrive.relaxed.aligned;", kMemory},
       {"cluster_wait()", "barrier.cluster.wait.acquire.aligned;", kMemory},
       {"cluster_address(SharedAddress local, u32 rank)", "mapa.shared::cluster.u32 <=r remote>, <r local>, <r rank>;",
        kPlaced},
       {load + " if sizeof(T) == 4", "ld.shared::cluster.b32 <=r bits>, [<r address>];", kMemory},
       {load + " unless sizeof(T) == 4",
        "ld.shared::cluster.v4.b32 {<=r bits.at[0]>, <=r bits.at[1]>, <=r bits.at[2]>, <=r bits.at[3]>}, "
        "[<r address>];",
        kMemory},
       {store + " if sizeof(T) == 4", "st.shared::cluster.b32 [<r address>], <r __builtin_bit_cast(u32, value)>;",
        kMemory},
       {store + " unless sizeof(T) == 4",
        "st.shared::cluster.v4.b32 [<r address>], {<r bits.at[0]>, <r bits.at[1]>, <r bits.at[2]>, <r bits.at[3]>};",
        kMemory},
       {"store_cluster_counted(u32 address, Vector<float, 4> value, u32 barrier)",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [<r address>], "
        "{<f value.at[0]>, <f value.at[1]>, <f value.at[2]>, <f value.at[3]>}, [<r barrier>];",
        kMemory}}};
}

// ex2.approx{.ftz}.f32 d, a; rcp.approx{.ftz}.f32 d, a. Both flush subnormals, so that the branch-free forms over them
// need not tell those apart.
inline FileRows arithmetic_rows() {
  return {"arithmetic.h",
          {{"approximate_exp2(float x)", "ex2.approx.ftz.f32 <=f result>, <f x>;", kValue},
           {"approximate_reciprocal(float x)", "rcp.approx.ftz.f32 <=f result>, <f x>;", kValue}}};
}

// cvt.frnd.dtype.f32 d, a. Two at once: cvt.rn.f16x2.f32 d, a, b puts a into the upper half, b into the lower.
// tf32 has .rna (ties away) on every target that has tf32; .rn came with sm_90.
inline FileRows convert_rows() {
  return {"convert.h",
          {{"to_float(F16 value)", "cvt.f32.f16 <=f result>, <h value.bits>;", kValue},
           {"from_float(float value) if kSame<T, Bf16>", "cvt.rn.bf16.f32 <=h result.bits>, <f value>;", kValue},
           {"from_float(float value) if kSame<T, F16>", "cvt.rn.f16.f32 <=h result.bits>, <f value>;", kValue},
           {"from_floats(float low, float high) if kSame<T, Bf16>", "cvt.rn.bf16x2.f32 <=r result>, <f high>, <f low>;",
            kValue},
           {"from_floats(float low, float high) unless kSame<T, Bf16>",
            "cvt.rn.f16x2.f32 <=r result>, <f high>, <f low>;", kValue},
           {"round_tf32(float value)", "cvt.rna.tf32.f32 <=r result>, <f value>;", kValue}}};
}

// {ld,st}matrix.sync.aligned.m8n8.num{.trans}.shared.b16: registers first where it loads, the address first where it
// stores.
inline FileRows matrix_rows() {
  FileRows all{"matrix.h", {}};
  for (const bool loads : {true, false}) {
    for (const int count : {4, 2}) {
      std::string registers;
      for (int i = 0; i < count; ++i)
        registers += (i ? ", <" : "<") + std::string(loads ? "=r to[" : "r from[") + std::to_string(i) + "]>";
      const std::string size = "[" + std::to_string(count) + "]";
      const std::string wrapper = loads ? "load_matrix(u32 (&to)" + size + ", SharedAddress row)"
                                        : "store_matrix(SharedAddress row, const u32 (&from)" + size + ")";
      for (const bool transposed : {true, false}) {
        const std::string name = std::string(loads ? "ldmatrix" : "stmatrix") + ".sync.aligned.m8n8.x" +
                                 std::to_string(count) + (transposed ? ".trans" : "") + ".shared.b16 ";
        const std::string operands = loads ? "{" + registers + "}, [<r row>];" : "[<r row>], {" + registers + "};";
        all.rows.push_back(
            {wrapper + (transposed ? " if kTransposed" : " unless kTransposed"), name + operands, kMemory});
      }
    }
  }
  return all;
}

// Arrivals and waits default to .release and .acquire at .cta scope; "_" takes the state that nobody asks for.
inline FileRows mbarrier_rows() {
  return {"mbarrier.h",
          {{"mbarrier_init(SharedAddress barrier, u32 arrivals)",
            "mbarrier.init.shared::cta.b64 [<r barrier>], <r arrivals>;", kMemory},
           {"mbarrier_fence_init()", "fence.mbarrier_init.release.cluster;", kMemory},
           {"mbarrier_arrive(SharedAddress barrier)", "mbarrier.arrive.shared::cta.b64 _, [<r barrier>];", kMemory},
           {"mbarrier_arrive_expect(SharedAddress barrier, u32 bytes)",
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [<r barrier>], <r bytes>;", kMemory},
           {"mbarrier_arrive_remote(SharedAddress barrier, u32 rank)",
            "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, <r barrier>, <r rank>; "
            "mbarrier.arrive.shared::cluster.b64 _, [remote]; }",
            kMemory},
           {"mbarrier_try_wait(SharedAddress barrier, u32 parity)",
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [<r barrier>], <r parity>; "
            "selp.b32 <=r done>, 1, 0, p; }",
            kMemory}}};
}

// ld.acquire.scope.ss.type d, [a]; st.release.scope.ss.type [a], b. keep() has no instruction: its register is written
// anew for all that the compiler knows.
inline FileRows memory_rows() {
  return {"memory.h",
          {{"keep(SharedAddress value)", "<+r value>", kPlaced},
           {"keep(T* value)", "<+l value>", kPlaced},
           {"load_acquire(const u32* address)", "ld.acquire.gpu.global.b32 <=r value>, [<l address>];", kMemory},
           {"store_release(u32* address, u32 value)", "st.release.gpu.global.b32 [<l address>], <r value>;", kMemory}}};
}

// mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c: of 16-bit types a register of A or B holds two
// neighbours along k, the lower first; of int8 four; of tf32 one number.
inline FileRows mma_rows() {
  FileRows all{"mma.h", {}};
  const auto numbered = [](const std::string& before, int first, int count, const std::string& after) {
    std::string list;
    for (int i = first; i < first + count; ++i) list += (list.empty() ? "" : ", ") + before + std::to_string(i) + after;
    return list;
  };
  const std::string sums = "{" + numbered("<+f c[", 0, 4, "]>") + "}";
  const auto pairs = [](const std::string& name, int registers) {
    std::string list;
    for (int i = 0; i < 2 * registers; i += 2)
      list += (i ? ", <r pair(" : "<r pair(") + name + "[" + std::to_string(i) + "], " + name + "[" +
              std::to_string(i + 1) + "])>";
    return "{" + list + "}";
  };
  for (const auto& [enumerator, type, element] :
       {std::array<std::string, 3>{"kBf16", "bf16", "Bf16"}, {"kF16", "f16", "F16"}}) {
    all.rows.push_back({"Mma<DataType::" + enumerator + ", 16, 8, 16>::multiply(float (&c)[4], const " + element +
                            " (&a)[8], const " + element + " (&b)[4])",
                        "mma.sync.aligned.m16n8k16.row.col.f32." + type + "." + type + ".f32 " + sums + ", " +
                            pairs("a", 4) + ", " + pairs("b", 2) + ", " + sums + ";",
                        kPlaced});
  }
  const auto fours = [](const std::string& name, int registers) {
    std::string list;
    for (int i = 0; i < 4 * registers; i += 4) {
      list += i ? ", <r four(" : "<r four(";
      for (int j = i; j < i + 4; ++j) list += (j > i ? ", " : "") + name + "[" + std::to_string(j) + "]";
      list += ")>";
    }
    return "{" + list + "}";
  };
  const std::string integers = "{" + numbered("<+r c[", 0, 4, "]>") + "}";
  all.rows.push_back({"Mma<DataType::kI8, 16, 8, 32>::multiply(i32 (&c)[4], const I8 (&a)[16], const I8 (&b)[8])",
                      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " + integers + ", " + fours("a", 4) + ", " +
                          fours("b", 2) + ", " + integers + ";",
                      kPlaced});
  all.rows.push_back(
      {"Mma<DataType::kTf32, 16, 8, 8>::multiply(float (&c)[4], const float (&a)[4], const float (&b)[2])",
       "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 " + sums + ", {" +
           numbered("<r __float_as_uint(a[", 0, 4, "])>") + "}, {" + numbered("<r __float_as_uint(b[", 0, 2, "])>") +
           "}, " + sums + ";",
       kPlaced});
  return all;
}

// setmaxnreg.action.sync.aligned.u32 imm; griddepcontrol.action; elect.sync d|p, membermask.
inline FileRows role_rows() {
  return {"role.h",
          {{"take_registers()", "setmaxnreg.inc.sync.aligned.u32 <n kRegisters>;", kPlaced},
           {"give_registers()", "setmaxnreg.dec.sync.aligned.u32 <n kRegisters>;", kPlaced},
           {"launch_dependents()", "griddepcontrol.launch_dependents;", kMemory},
           {"wait_prerequisites()", "griddepcontrol.wait;", kMemory},
           {"elect()", "{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 <=r chosen>, 1, 0, p; }", kPlaced}}};
}

}  // namespace wt::device_text
