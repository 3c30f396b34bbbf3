// SPDX-License-Identifier: Apache-2.0
// tests/target/builtin_rows.h - wrappers of src/target that call a builtin of the compiler, as the manuals have them:
// the CUDA C++ programming guide, and for AMD the CDNA and RDNA ISA manuals with LLVM's page on the AMDGPU target.
#pragma once

#include <string>
#include <vector>

namespace wt::device_text {

struct BuiltinRow {
  std::string file, wrapper, calls;
};

inline std::vector<BuiltinRow> cuda_builtin_rows() {
  return {
      {"arithmetic.h", "multiply(float a, float b)", "__fmul_rn(a, b)"},
      {"arithmetic.h", "multiply_add(float a, float b, float c)", "__fmaf_rn(a, b, c)"},
      {"arithmetic.h", "square_root(float value)", "__fsqrt_rn(value)"},
      {"arithmetic.h", "permute_bytes(u32 a, u32 b, u32 selector)", "__byte_perm(a, b, selector)"},
      {"barrier.h", "sync_block()", "__syncthreads()"},
      {"barrier.h", "sync_warp()", "__syncwarp()"},
      // The mask names all 32 lanes; it comes first.
      {"collective.h", "shuffle_xor(float value, int mask)", "__shfl_xor_sync(0xffffffffu, value, mask)"},
      {"collective.h", "shuffle_xor(u32 value, int mask)", "__shfl_xor_sync(0xffffffffu, value, mask)"},
      {"collective.h", "shuffle(float value, int lane)", "__shfl_sync(0xffffffffu, value, lane)"},
      {"collective.h", "shuffle(u32 value, int lane)", "__shfl_sync(0xffffffffu, value, lane)"},
      {"collective.h", "ballot(bool vote)", "__ballot_sync(0xffffffffu, vote)"},
      {"convert.h", "round_tf32(float value)", "__uint_as_float(result)"},
      {"identity.h", "uniform(int value)", "__shfl_sync(0xffffffffu, value, 0)"},
      {"memory.h", "shared_base()", "__cvta_generic_to_shared(dynamic_shared)"},
      {"memory.h", "load_shared(SharedAddress address)", "__cvta_shared_to_generic(address)"},
      {"memory.h", "store_shared(SharedAddress address, T value)", "__cvta_shared_to_generic(address)"},
      {"memory.h", "atomic_add(float* address, float value)", "atomicAdd(address, value)"},
      {"memory.h", "atomic_add(u32* address, u32 value)", "atomicAdd(address, value)"},
      {"memory.h", "atomic_max(u32* address, u32 value)", "atomicMax(address, value)"},
      {"memory.h", "fence_global()", "__threadfence()"},
  };
}

// A matrix instruction: mfma(A, B, C, cbsz, abid, blgp), of which the last three broadcast and permute blocks (0: as
// they are); wmma(A, B, C).
inline BuiltinRow matrix_row(const std::string& type, const std::string& shape, const std::string& operand,
                             const std::string& builtin, const std::string& condition) {
  const std::string packed = "packed<" + operand + ">";
  return {"mma.h",
          "Mma<DataType::" + type + ", " + shape +
              ">::multiply(Sum<Operand> (&c)[kC], const Operand (&a)[kA], const Operand (&b)[kB]) under " + condition,
          "__builtin_amdgcn_" + builtin + "(" + packed + "(a), " + packed + "(b), packed<Simd<Sum<Operand>, kC>>(c)" +
              (builtin.starts_with("mfma") ? ", 0, 0, 0)" : ")")};
}

inline BuiltinRow scaled_row(const std::string& shape, const std::string& condition) {
  const std::string name = shape == "32, 32, 64" ? "32x32x64" : "16x16x128";
  BuiltinRow row = matrix_row("kE4m3", shape, "Simd<int, 8>", "mfma_scale_f32_" + name + "_f8f6f4", condition);
  row.calls.insert(row.calls.size() - 1, ", 0, 0, 0");
  return row;
}

// wmma of gfx1250: sign of A, A, sign of B, B, sign of C, C, reuse of A, reuse of B.
inline BuiltinRow signed_row(const std::string& type, const std::string& operand, const std::string& ending) {
  BuiltinRow row = matrix_row(type, "16, 16, 32", operand, "wmma_f32_16x16x32_" + ending, "defined(__gfx1250__)");
  row.wrapper.replace(row.wrapper.find("Sum<Operand>"), std::string("Sum<Operand>").size(), "float");
  const std::string packed = "packed<" + operand + ">";
  row.calls = "__builtin_amdgcn_wmma_f32_16x16x32_" + ending + "(0, " + packed + "(a), 0, " + packed +
              "(b), 0, packed<Simd<float, kC>>(c), 0, 0)";
  return row;
}

// wmma of int8: whether A has a sign, A, whether B has one, B, C, whether sums are held within int32.
inline BuiltinRow integer_row(const std::string& operand, const std::string& ending, const std::string& condition) {
  const std::string packed = "packed<" + operand + ">";
  return {"mma.h",
          "Mma<DataType::kI8, 16, 16, 16>::multiply(i32 (&c)[kC], const Operand (&a)[kA], const Operand (&b)[kB]) "
          "under " +
              condition,
          "__builtin_amdgcn_wmma_i32_16x16x16_iu8_w32" + ending + "(true, " + packed + "(a), true, " + packed +
              "(b), packed<Simd<i32, kC>>(c), false)"};
}

// Its fp8: A, B, sign of C, C, reuse of A, reuse of B.
inline BuiltinRow plain_row(const std::string& type, const std::string& ending) {
  BuiltinRow row =
      matrix_row(type, "16, 16, 64", "Simd<int, 8>", "wmma_f32_16x16x64_" + ending, "defined(__gfx1250__)");
  row.wrapper.replace(row.wrapper.find("Sum<Operand>"), std::string("Sum<Operand>").size(), "float");
  row.calls = "__builtin_amdgcn_wmma_f32_16x16x64_" + ending +
              "(packed<Simd<int, 8>>(a), packed<Simd<int, 8>>(b), 0, packed<Simd<float, kC>>(c), 0, 0)";
  return row;
}

inline std::vector<BuiltinRow> amd_matrix_rows() {
  const std::string cdna = "defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)";
  const std::string mi300 = cdna + " and defined(__gfx942__)", mi350 = cdna + " and defined(__gfx950__)";
  const std::string mi200 = cdna + " and defined(__gfx90a__)", mi300_on = cdna + " and not defined(__gfx90a__)";
  const std::string rdna3 = "defined(__GFX11__)", rdna4 = "not defined(__gfx1250__)";
  // Elements of A that a lane holds: m * k / lanes; RDNA3's two halves of a wave hold the same rows, hence twice as
  // many.
  return {
      matrix_row("kF16", "32, 32, 8", "Simd<_Float16, 4>", "mfma_f32_32x32x8f16", cdna),
      matrix_row("kF16", "16, 16, 16", "Simd<_Float16, 4>", "mfma_f32_16x16x16f16", cdna),
      // _1k: bf16 with four elements per lane, as gfx90a has them; without it gfx908's, with two.
      matrix_row("kBf16", "32, 32, 8", "Simd<short, 4>", "mfma_f32_32x32x8bf16_1k", cdna),
      matrix_row("kBf16", "16, 16, 16", "Simd<short, 4>", "mfma_f32_16x16x16bf16_1k", cdna),
      matrix_row("kI8", "32, 32, 8", "int", "mfma_i32_32x32x8i8", mi200),
      matrix_row("kI8", "16, 16, 16", "int", "mfma_i32_16x16x16i8", mi200),
      matrix_row("kI8", "32, 32, 16", "long", "mfma_i32_32x32x16_i8", mi300_on),
      matrix_row("kI8", "16, 16, 32", "long", "mfma_i32_16x16x32_i8", mi300_on),
      matrix_row("kE4m3", "32, 32, 16", "long", "mfma_f32_32x32x16_fp8_fp8", mi300),
      matrix_row("kE4m3", "16, 16, 32", "long", "mfma_f32_16x16x32_fp8_fp8", mi300),
      matrix_row("kE4m3", "32, 32, 16", "long", "mfma_f32_32x32x16_fp8_fp8", mi350),
      matrix_row("kE4m3", "16, 16, 32", "long", "mfma_f32_16x16x32_fp8_fp8", mi350),
      // Formats of A and B (0: e4m3), then which byte of which register scales a block; all zero: the form without.
      scaled_row("32, 32, 64", mi350),
      scaled_row("16, 16, 128", mi350),
      matrix_row("kF16", "32, 32, 16", "Simd<_Float16, 8>", "mfma_f32_32x32x16_f16", mi350),
      matrix_row("kF16", "16, 16, 32", "Simd<_Float16, 8>", "mfma_f32_16x16x32_f16", mi350),
      matrix_row("kBf16", "32, 32, 16", "Simd<__bf16, 8>", "mfma_f32_32x32x16_bf16", mi350),
      matrix_row("kBf16", "16, 16, 32", "Simd<__bf16, 8>", "mfma_f32_16x16x32_bf16", mi350),
      {"mma.h",
       "Mma<DataType::kF32, 16, 16, 4>::multiply(float (&c)[kC], const float (&a)[kA], const float (&b)[kB]) under " +
           cdna,
       "__builtin_amdgcn_mfma_f32_16x16x4f32(a[0], b[0], packed<Simd<float, kC>>(c), 0, 0, 0)"},
      matrix_row("kF16", "16, 16, 16", "Simd<_Float16, 16>", "wmma_f32_16x16x16_f16_w32", rdna3),
      matrix_row("kBf16", "16, 16, 16", "Simd<short, 16>", "wmma_f32_16x16x16_bf16_w32", rdna3),
      integer_row("Simd<int, 4>", "", rdna3),
      signed_row("kF16", "Simd<_Float16, 16>", "f16"),
      signed_row("kBf16", "Simd<__bf16, 16>", "bf16"),
      integer_row("Simd<int, 2>", "_gfx12", rdna4),
      plain_row("kE4m3", "fp8_fp8"),
      plain_row("kE5m2", "bf8_bf8"),
      matrix_row("kE4m3", "16, 16, 16", "Simd<int, 2>", "wmma_f32_16x16x16_fp8_fp8_w32_gfx12", rdna4),
      matrix_row("kE5m2", "16, 16, 16", "Simd<int, 2>", "wmma_f32_16x16x16_bf8_bf8_w32_gfx12", rdna4),
      matrix_row("kF16", "16, 16, 16", "Simd<_Float16, 8>", "wmma_f32_16x16x16_f16_w32_gfx12", rdna4),
      matrix_row("kBf16", "16, 16, 16", "Simd<short, 8>", "wmma_f32_16x16x16_bf16_w32_gfx12", rdna4),
  };
}

inline std::vector<BuiltinRow> amd_builtin_rows() {
  const std::string load = "load_buffer(const BufferView& view, u32 offset) ";
  const std::string release = "__builtin_amdgcn_fence(__ATOMIC_RELEASE, ";
  const std::string acquire = "__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, ";
  std::vector<BuiltinRow> rows = {
      {"arithmetic.h", "multiply_add(float a, float b, float c)", "__builtin_fmaf(a, b, c)"},
      {"arithmetic.h", "square_root(float value)", "__builtin_sqrtf(value)"},
      {"arithmetic.h", "approximate_exp2(float x)", "__builtin_amdgcn_exp2f(x)"},
      {"arithmetic.h", "approximate_reciprocal(float x)", "__builtin_amdgcn_rcpf(x)"},
      // v_perm_b32: a selector of 0 to 3 is a byte of the second operand, 4 to 7 of the first.
      {"arithmetic.h", "permute_bytes(u32 a, u32 b, u32 selector)", "__builtin_amdgcn_perm(b, a, places)"},
      // s_barrier orders no memory: the fences make the compiler wait for its accesses to the LDS before and after it.
      {"barrier.h", "sync_block()",
       release + "\"workgroup\", \"local\"); __builtin_amdgcn_s_barrier(); " + acquire + "\"workgroup\", \"local\")"},
      {"barrier.h", "sync_warp()",
       release + "\"wavefront\"); __builtin_amdgcn_wave_barrier(); " + acquire + "\"wavefront\")"},
      // 0 to 3, the higher the sooner; waves begin with 0.
      {"barrier.h", "prefer_warp()", "__builtin_amdgcn_s_setprio(kPreferred ? 1 : 0)"},
      // Base, stride, bytes, and word 3 of the descriptor: data format 32 (4 in bits 15 to 18).
      {"buffer.h", "buffer_view(const void* base, u32 bytes)",
       "__builtin_amdgcn_make_buffer_rsrc(const_cast<void*>(base), 0, static_cast<int>(bytes), 0x00020000)"},
      // Resource, offset per lane, offset of the wave, cache bits.
      {"buffer.h", load + "if sizeof(T) == 1", "__builtin_amdgcn_raw_buffer_load_b8(view.resource, offset, 0, 0)"},
      {"buffer.h", load + "if sizeof(T) == 2", "__builtin_amdgcn_raw_buffer_load_b16(view.resource, offset, 0, 0)"},
      {"buffer.h", load + "if sizeof(T) == 4", "__builtin_amdgcn_raw_buffer_load_b32(view.resource, offset, 0, 0)"},
      {"buffer.h", load + "if sizeof(T) == 8", "__builtin_amdgcn_raw_buffer_load_b64(view.resource, offset, 0, 0)"},
      {"buffer.h", load + "unless sizeof(T) == 8",
       "__builtin_amdgcn_raw_buffer_load_b128(view.resource, offset, 0, 0)"},
      // vmcnt: bits 0 to 3, and 4 to 5 in bits 14 to 15; expcnt (4 to 6) and lgkmcnt (8 to 11) at their most.
      {"buffer.h", "copy_buffer_wait()",
       "__builtin_amdgcn_s_waitcnt(0x0f70 | (kPending & 15) | (kPending >> 4) << 14)"},
      // Mask of sorts, how many, and which of several sequences.
      {"buffer.h", "schedule()", "__builtin_amdgcn_sched_group_barrier(static_cast<int>(kSlot), kCount, 0)"},
      {"buffer.h", "schedule_end()", "__builtin_amdgcn_sched_barrier(0)"},
      // ds_bpermute_b32 counts bytes: four for each lane. The address comes first.
      {"collective.h", "shuffle(u32 value, int lane)",
       "__builtin_amdgcn_ds_bpermute(lane * 4, static_cast<int>(value))"},
      {"collective.h", "ballot(bool vote) under defined(__GFX9__)", "__builtin_amdgcn_ballot_w64(vote)"},
      {"collective.h", "ballot(bool vote) under not defined(__GFX9__)", "__builtin_amdgcn_ballot_w32(vote)"},
      {"identity.h", "thread_index()", "__builtin_amdgcn_workitem_id_x()"},
      {"identity.h", "block_index()",
       "__builtin_amdgcn_workgroup_id_x(); __builtin_amdgcn_workgroup_id_y(); __builtin_amdgcn_workgroup_id_z()"},
      {"identity.h", "grid_size()",
       "__builtin_amdgcn_grid_size_x(); __builtin_amdgcn_workgroup_size_x(); __builtin_amdgcn_grid_size_y(); "
       "__builtin_amdgcn_workgroup_size_y(); __builtin_amdgcn_grid_size_z(); __builtin_amdgcn_workgroup_size_z()"},
      {"identity.h", "uniform(int value)", "__builtin_amdgcn_readfirstlane(value)"},
      {"memory.h", "atomic_add(float* address, float value)",
       "__builtin_amdgcn_global_atomic_fadd_f32((GlobalPointer<float>)(u64)address, value)"},
      {"memory.h", "atomic_add(u32* address, u32 value)",
       "__hip_atomic_fetch_add((GlobalPointer<u32>)(u64)address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)"},
      {"memory.h", "atomic_max(u32* address, u32 value)",
       "__hip_atomic_fetch_max((GlobalPointer<u32>)(u64)address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)"},
      {"memory.h", "fence_global()", "__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, \"agent\")"},
      {"memory.h", "load_acquire(const u32* address)",
       "__hip_atomic_load((GlobalPointer<const u32>)(u64)address, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT)"},
      {"memory.h", "store_release(u32* address, u32 value)",
       "__hip_atomic_store((GlobalPointer<u32>)(u64)address, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT)"},
  };
  for (const BuiltinRow& row : amd_matrix_rows()) rows.push_back(row);
  return rows;
}

}  // namespace wt::device_text
