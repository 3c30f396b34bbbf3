// SPDX-License-Identifier: Apache-2.0
// target/mma_layout.h - how the matrix instructions of every vendor lay a lane's fragments in their matrices.
//
// C (m, n) += A (m, k) * B (n, k)^T. A layout says, for element e of a lane:
//   a_row, a_k   of A          b_col, b_k   of B          c_row, c_col   of C
// kA, kB, kC count a lane's elements; kRun neighbours e, e+1, .. of A and of B are neighbours along k. Stated once,
// from the vendors' manuals; the simulator executes the instructions from its own reading of them, so the two check
// each other.
#pragma once

#include "target/types.h"

namespace wt::device {

// NVIDIA mma.sync m16n8k16, 16-bit types. PTX manual, "Matrix Fragments for mma.m16n8k16 with floating point type".
template <class Half>
struct MmaSync16x8x16 {
  using Operand = Half;
  static constexpr int kA = 8, kB = 4, kC = 4, kRun = 2;
  static constexpr int a_row(int lane, int e) { return lane / 4 + 8 * ((e >> 1) & 1); }
  static constexpr int a_k(int lane, int e) { return lane % 4 * 2 + (e & 1) + 8 * (e >> 2); }
  static constexpr int b_col(int lane, int) { return lane / 4; }
  static constexpr int b_k(int lane, int e) { return lane % 4 * 2 + (e & 1) + 8 * (e >> 1); }
  static constexpr int c_row(int lane, int e) { return lane / 4 + 8 * (e >> 1); }
  static constexpr int c_col(int lane, int e) { return lane % 4 * 2 + (e & 1); }
};

// NVIDIA mma.sync m16n8k32, int8. PTX manual, "Matrix Fragments for mma.m16n8k32".
template <class Byte>
struct MmaSync16x8x32 {
  using Operand = Byte;
  static constexpr int kA = 16, kB = 8, kC = 4, kRun = 4;
  static constexpr int a_row(int lane, int e) { return lane / 4 + 8 * ((e >> 2) & 1); }
  static constexpr int a_k(int lane, int e) { return lane % 4 * 4 + (e & 3) + 16 * (e >> 3); }
  static constexpr int b_col(int lane, int) { return lane / 4; }
  static constexpr int b_k(int lane, int e) { return lane % 4 * 4 + (e & 3) + 16 * (e >> 2); }
  static constexpr int c_row(int lane, int e) { return lane / 4 + 8 * (e >> 1); }
  static constexpr int c_col(int lane, int e) { return lane % 4 * 2 + (e & 1); }
};

// NVIDIA mma.sync m16n8k8, tf32 (operands already rounded). PTX manual, "Matrix Fragments for mma.m16n8k8".
struct MmaSync16x8x8 {
  using Operand = float;
  static constexpr int kA = 4, kB = 2, kC = 4, kRun = 1;
  static constexpr int a_row(int lane, int e) { return lane / 4 + 8 * (e & 1); }
  static constexpr int a_k(int lane, int e) { return lane % 4 + 4 * (e >> 1); }
  static constexpr int b_col(int lane, int) { return lane / 4; }
  static constexpr int b_k(int lane, int e) { return lane % 4 + 4 * e; }
  static constexpr int c_row(int lane, int e) { return lane / 4 + 8 * (e >> 1); }
  static constexpr int c_col(int lane, int e) { return lane % 4 * 2 + (e & 1); }
};

// AMD MFMA 32x32x8, 16-bit types, 64 lanes. MI200 and MI300 ISA manuals, "Matrix Arithmetic Instructions".
template <class Half>
struct Mfma32x32x8 {
  using Operand = Half;
  static constexpr int kA = 4, kB = 4, kC = 16, kRun = 4;
  static constexpr int a_row(int lane, int) { return lane % 32; }
  static constexpr int a_k(int lane, int e) { return lane / 32 * 4 + e; }
  static constexpr int b_col(int lane, int) { return lane % 32; }
  static constexpr int b_k(int lane, int e) { return lane / 32 * 4 + e; }
  static constexpr int c_row(int lane, int e) { return e % 4 + 8 * (e / 4) + 4 * (lane / 32); }
  static constexpr int c_col(int lane, int) { return lane % 32; }
};

// AMD MFMA 16x16x16, 16-bit types, 64 lanes.
template <class Half>
struct Mfma16x16x16 {
  using Operand = Half;
  static constexpr int kA = 4, kB = 4, kC = 4, kRun = 4;
  static constexpr int a_row(int lane, int) { return lane % 16; }
  static constexpr int a_k(int lane, int e) { return lane / 16 * 4 + e; }
  static constexpr int b_col(int lane, int) { return lane % 16; }
  static constexpr int b_k(int lane, int e) { return lane / 16 * 4 + e; }
  static constexpr int c_row(int lane, int e) { return lane / 16 * 4 + e; }
  static constexpr int c_col(int lane, int) { return lane % 16; }
};

// AMD MFMA with eight consecutive k a lane, 64 lanes: fp8 from gfx942 on, 16-bit types from gfx950 on. MI300 ISA
// manual, "Matrix Arithmetic Instructions"; CDNA4 ISA manual, the same chapter.
template <class T>
struct Mfma32x32x16 {
  using Operand = T;
  static constexpr int kA = 8, kB = 8, kC = 16, kRun = 8;
  static constexpr int a_row(int lane, int) { return lane % 32; }
  static constexpr int a_k(int lane, int e) { return lane / 32 * 8 + e; }
  static constexpr int b_col(int lane, int) { return lane % 32; }
  static constexpr int b_k(int lane, int e) { return lane / 32 * 8 + e; }
  static constexpr int c_row(int lane, int e) { return e % 4 + 8 * (e / 4) + 4 * (lane / 32); }
  static constexpr int c_col(int lane, int) { return lane % 32; }
};
template <class T>
struct Mfma16x16x32 {
  using Operand = T;
  static constexpr int kA = 8, kB = 8, kC = 4, kRun = 8;
  static constexpr int a_row(int lane, int) { return lane % 16; }
  static constexpr int a_k(int lane, int e) { return lane / 16 * 8 + e; }
  static constexpr int b_col(int lane, int) { return lane % 16; }
  static constexpr int b_k(int lane, int e) { return lane / 16 * 8 + e; }
  static constexpr int c_row(int lane, int e) { return lane / 16 * 4 + e; }
  static constexpr int c_col(int lane, int) { return lane % 16; }
};

// AMD MFMA of gfx950 with 32 bytes a lane, fp8. CDNA4 ISA manual, "Matrix Arithmetic Instructions". Which k of its row
// a lane's byte is does not matter to kernels that fill A and B alike, and all of ours do.
template <class T>
struct Mfma32x32x64 {
  using Operand = T;
  static constexpr int kA = 32, kB = 32, kC = 16, kRun = 32;
  static constexpr int a_row(int lane, int) { return lane % 32; }
  static constexpr int a_k(int lane, int e) { return lane / 32 * 32 + e; }
  static constexpr int b_col(int lane, int) { return lane % 32; }
  static constexpr int b_k(int lane, int e) { return lane / 32 * 32 + e; }
  static constexpr int c_row(int lane, int e) { return e % 4 + 8 * (e / 4) + 4 * (lane / 32); }
  static constexpr int c_col(int lane, int) { return lane % 32; }
};
template <class T>
struct Mfma16x16x128 {
  using Operand = T;
  static constexpr int kA = 32, kB = 32, kC = 4, kRun = 32;
  static constexpr int a_row(int lane, int) { return lane % 16; }
  static constexpr int a_k(int lane, int e) { return lane / 16 * 32 + e; }
  static constexpr int b_col(int lane, int) { return lane % 16; }
  static constexpr int b_k(int lane, int e) { return lane / 16 * 32 + e; }
  static constexpr int c_row(int lane, int e) { return lane / 16 * 4 + e; }
  static constexpr int c_col(int lane, int) { return lane % 16; }
};

// AMD MFMA 16x16x4, fp32, 64 lanes.
struct Mfma16x16x4 {
  using Operand = float;
  static constexpr int kA = 1, kB = 1, kC = 4, kRun = 1;
  static constexpr int a_row(int lane, int) { return lane % 16; }
  static constexpr int a_k(int lane, int) { return lane / 16; }
  static constexpr int b_col(int lane, int) { return lane % 16; }
  static constexpr int b_k(int lane, int) { return lane / 16; }
  static constexpr int c_row(int lane, int e) { return lane / 16 * 4 + e; }
  static constexpr int c_col(int lane, int) { return lane % 16; }
};

// AMD WMMA 16x16x16 of RDNA3, 32 lanes: lanes 16 to 31 hold A and B a second time. RDNA3 ISA manual, "WMMA".
template <class Half>
struct Wmma16x16x16Rdna3 {
  using Operand = Half;
  static constexpr int kA = 16, kB = 16, kC = 8, kRun = 16;
  static constexpr int a_row(int lane, int) { return lane % 16; }
  static constexpr int a_k(int, int e) { return e; }
  static constexpr int b_col(int lane, int) { return lane % 16; }
  static constexpr int b_k(int, int e) { return e; }
  static constexpr int c_row(int lane, int e) { return 2 * e + lane / 16; }
  static constexpr int c_col(int lane, int) { return lane % 16; }
};

// AMD WMMA 16x16x16 of RDNA4, 16-bit types and fp8, 32 lanes: each half of the lanes holds half of k. RDNA4 ISA
// manual, "WMMA".
template <class T>
struct Wmma16x16x16Rdna4 {
  using Operand = T;
  static constexpr int kA = 8, kB = 8, kC = 8, kRun = 8;
  static constexpr int a_row(int lane, int) { return lane % 16; }
  static constexpr int a_k(int lane, int e) { return lane / 16 * 8 + e; }
  static constexpr int b_col(int lane, int) { return lane % 16; }
  static constexpr int b_k(int lane, int e) { return lane / 16 * 8 + e; }
  static constexpr int c_row(int lane, int e) { return lane / 16 * 8 + e; }
  static constexpr int c_col(int lane, int) { return lane % 16; }
};

// AMD WMMA 16x16x32 of gfx1250, 16-bit types, 32 lanes: the halves of the lanes hold eights of k in turns. No manual
// is published: this is the layout by which LLVM's and Triton's gfx1250 code fills the registers.
template <class Half>
struct Wmma16x16x32 {
  using Operand = Half;
  static constexpr int kA = 16, kB = 16, kC = 8, kRun = 8;
  static constexpr int a_row(int lane, int) { return lane % 16; }
  static constexpr int a_k(int lane, int e) { return e / 8 * 16 + lane / 16 * 8 + e % 8; }
  static constexpr int b_col(int lane, int) { return lane % 16; }
  static constexpr int b_k(int lane, int e) { return e / 8 * 16 + lane / 16 * 8 + e % 8; }
  static constexpr int c_row(int lane, int e) { return lane / 16 * 8 + e; }
  static constexpr int c_col(int lane, int) { return lane % 16; }
};

// AMD WMMA 16x16x64 of gfx1250, fp8, 32 lanes: as its 16x16x32, of numbers half as wide; by the same sources.
template <class T>
struct Wmma16x16x64 {
  using Operand = T;
  static constexpr int kA = 32, kB = 32, kC = 8, kRun = 8;
  static constexpr int a_row(int lane, int) { return lane % 16; }
  static constexpr int a_k(int lane, int e) { return e / 8 * 16 + lane / 16 * 8 + e % 8; }
  static constexpr int b_col(int lane, int) { return lane % 16; }
  static constexpr int b_k(int lane, int e) { return e / 8 * 16 + lane / 16 * 8 + e % 8; }
  static constexpr int c_row(int lane, int e) { return lane / 16 * 8 + e; }
  static constexpr int c_col(int lane, int) { return lane % 16; }
};

}  // namespace wt::device
