// SPDX-License-Identifier: Apache-2.0
// tests/compile/amd_loops_test.cc - loops of machine code that is written out here, with what each costs.
#include "compile/amd_loops.h"

#include <gmock/gmock.h>

#include "base/format.h"

namespace wt::compile {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;

// A kernel as llvm-objdump writes it, 4 bytes an instruction from 0x1000 on. "loop" as an operand: the line after the
// label "loop:".
std::string disassembly(const std::vector<std::string>& lines) {
  std::string text = "0000000000001000 <kernel>:\n";
  uint64_t address = 0x1000, loop = 0;
  for (const std::string& line : lines) {
    if (line == "loop:") {
      loop = address;
      continue;
    }
    const bool branch = line.find("branch") != std::string::npos;
    text += fmt::format("\t{} // {:012X}: BF800000{}\n", line, address,
                        branch ? fmt::format(" <kernel+{:#x}>", loop - 0x1000) : "");
    address += 4;
  }
  return text;
}

TEST(AmdLoops, CountsThePartsOfTheHotLoop) {
  const LoopReport report = read_loops(
      Target::kGfx942,
      disassembly({"v_mfma_f32_32x32x8_bf16 v[0:15], v[16:17], v[18:19], v[0:15]", "v_accvgpr_write_b32 a0, v1",
                   "loop:", "ds_read_b128 v[0:3], v4", "buffer_load_dwordx4 v[8:11], v4, s[0:3], 0 offen",
                   "v_add_u32_e32 v1, 1, v1", "v_mul_lo_u32 v2, v1, v1", "s_add_i32 s0, s0, 1", "s_waitcnt lgkmcnt(0)",
                   "v_mfma_f32_32x32x8_bf16 v[0:15], v[16:17], v[18:19], v[0:15]",
                   "v_mfma_f32_16x16x16_bf16 v[0:3], v[16:17], v[18:19], v[0:3]", "s_cbranch_scc1 65500"}));
  const LoopCost& math = report.math;
  EXPECT_EQ(math.matrix, 2u);
  EXPECT_THAT(math.matrix_cycles, DoubleEq(32 + 16));
  EXPECT_EQ(math.vector, 2u);
  EXPECT_EQ(math.scalar, 2u);
  EXPECT_EQ(math.shared, 1u);
  EXPECT_EQ(math.global, 1u);
  EXPECT_EQ(math.shared_bytes, 64 * 16);
  EXPECT_THAT(math.issue_cycles, DoubleEq(2 * 4 + 4 + 16 + 2 * 4));
  EXPECT_EQ(report.accumulator, 0u) << "outside the loop";
}

TEST(AmdLoops, MatrixInstructionsTakeTheirPublishedTime) {
  const auto cycles = [](Target target, const std::string& name) {
    return read_loops(target, disassembly({"loop:", name + " v[0:3], v[4:5], v[6:7], v[0:3]", "s_cbranch_scc1 65500"}))
        .math.matrix_cycles;
  };
  EXPECT_EQ(cycles(Target::kGfx90a, "v_mfma_f32_32x32x8bf16_1k"), 64);
  EXPECT_EQ(cycles(Target::kGfx942, "v_mfma_f32_32x32x16_fp8_fp8"), 32);
  EXPECT_EQ(cycles(Target::kGfx942, "v_mfma_f32_16x16x4_f32"), 32);
  EXPECT_EQ(cycles(Target::kGfx950, "v_mfma_f32_32x32x16_bf16"), 32);
  EXPECT_EQ(cycles(Target::kGfx950, "v_mfma_f32_32x32x8_bf16"), 32) << "the old form at the old rate";
  EXPECT_EQ(cycles(Target::kGfx950, "v_mfma_f32_16x16x128_f8f6f4"), 32);
  EXPECT_EQ(cycles(Target::kGfx950, "v_mfma_f32_32x32x64_f8f6f4"), 64);
  EXPECT_EQ(cycles(Target::kGfx1100, "v_wmma_f32_16x16x16_bf16"), 32);
  EXPECT_EQ(cycles(Target::kGfx1201, "v_wmma_f32_16x16x16_fp8_fp8"), 8);
}

TEST(AmdLoops, AWaitIsPaidWhereNothingIsBetween) {
  const auto alone = [](const std::vector<std::string>& lines) {
    return read_loops(Target::kGfx942, disassembly(lines)).math.alone_cycles;
  };
  const std::string mfma = "v_mfma_f32_32x32x8_bf16 v[0:15], v[16:17], v[18:19], v[0:15]";
  const std::string load = "global_load_dwordx4 v[8:11], v4, s[0:1]", back = "s_cbranch_scc1 65500";
  const double exposed = alone({"loop:", load, "s_waitcnt vmcnt(0)", mfma, back});
  const double ahead = alone({"loop:", "s_waitcnt vmcnt(1)", load, load, mfma, back});
  EXPECT_GT(exposed, 800);
  EXPECT_LT(ahead, exposed);
  EXPECT_THAT(alone({"loop:", mfma, mfma, back}), DoubleNear(64, 1));
  EXPECT_THAT(alone({"loop:", "s_nop 3", mfma, back}), DoubleNear(32, 1)) << "hidden behind the last product";
}

TEST(AmdLoops, FaultsAreCounted) {
  const LoopReport report = read_loops(
      Target::kGfx1100, disassembly({"flat_load_b32 v1, v[2:3]", "loop:", "flat_store_b32 v[2:3], v1", "buffer_gl0_inv",
                                     "v_accvgpr_read_b32 v0, a0", "s_cbranch_scc1 65500", "buffer_gl0_inv"}));
  EXPECT_EQ(report.flat, 2u);
  EXPECT_EQ(report.invalidations, 1u);
  EXPECT_EQ(report.accumulator, 1u);
}

TEST(AmdLoops, TheInnerLoopIsTheHotOne) {
  const std::string mfma = "v_mfma_f32_32x32x8_bf16 v[0:15], v[16:17], v[18:19], v[0:15]";
  std::string text = disassembly({mfma, "loop:", mfma, mfma, "s_cbranch_scc1 65500"});
  text += "\ts_cbranch_scc1 65000 // 000000001010: BF800000 <kernel+0x0>\n";
  EXPECT_EQ(read_loops(Target::kGfx942, text).math.matrix, 2u);
}

// A block behind the loop that leads back into it is a part of it; what stands between them is not.
TEST(AmdLoops, FollowsBranchesAndNotAddresses) {
  const std::string mfma = "\tv_mfma_f32_32x32x8_bf16 v[0:15], v[16:17], v[18:19], v[0:15] // ";
  const std::string text =
      "0000000000001000 <kernel>:\n\ts_nop 0 // 000000001000: 0\n" + mfma + "000000001004: 0\n" +
      "\ts_cbranch_scc1 3 // 000000001008: 0 <kernel+0x18>\n\ts_cbranch_scc1 65500 // 00000000100C: 0 <kernel+0x4>\n" +
      mfma + "000000001010: 0\n\ts_endpgm // 000000001014: 0\n\tv_add_u32_e32 v1, 1, v1 // 000000001018: 0\n" +
      "\ts_branch 65500 // 00000000101C: 0 <kernel+0x4>\n";
  const LoopReport report = read_loops(Target::kGfx942, text);
  EXPECT_EQ(report.math.matrix, 1u);
  EXPECT_EQ(report.math.vector, 1u);
  EXPECT_EQ(report.math.scalar, 3u);
}

TEST(Utilisation, TheLargestPartDecides) {
  LoopReport loops;
  loops.math = {.matrix = 32, .matrix_cycles = 1024, .issue_cycles = 512, .shared_bytes = 16384, .alone_cycles = 2048};
  loops.load = {.issue_cycles = 600, .shared_bytes = 0, .alone_cycles = 900};
  const Utilisation one = utilisation(loops, {.math_waves = 4, .blocks = 1});
  EXPECT_THAT(one.share(), DoubleEq(0.5));
  EXPECT_THAT(one.shared, DoubleEq(512));
  EXPECT_THAT(utilisation(loops, {.math_waves = 4, .blocks = 2}).share(), DoubleEq(1)) << "one waits, the other runs";
  const Utilisation roles = utilisation(loops, {.math_waves = 4, .load_waves = 4, .blocks = 2});
  EXPECT_THAT(roles.issue, DoubleEq(2224));
  EXPECT_THAT(roles.share(), DoubleEq(2048.0 / 2224));
}

}  // namespace
}  // namespace wt::compile
