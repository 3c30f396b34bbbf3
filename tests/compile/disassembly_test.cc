// SPDX-License-Identifier: Apache-2.0
#include "compile/disassembly.h"

#include <gmock/gmock.h>

#include "tests/compile/scratch.h"

namespace wt::compile {
namespace {

using ::testing::HasSubstr;
using Disassembly = Scratch;

TEST(CountMnemonics, SkipsAddressesPredicatesAndBraces) {
  const char* sass =
      "        /*0090*/                   HMMA.16816.F32.BF16 R4, R8, R2, R4 ;   /* 0x1 */\n"
      "        /*00a0*/              @!P0 HMMA.16816.F32.BF16 R4, R8, R2, R4 ;\n"
      "        /*00b0*/                   IMAD.MOV.U32 R1, RZ, RZ, HMMA ;\n";
  EXPECT_EQ(count_mnemonics(sass, "HMMA"), 2u);
  EXPECT_EQ(count_mnemonics("\t{wgmma.mma_async.sync.aligned.m64n8k16 {%f0}, %rd1;\n\tmov.b32 %r1, %r2;\n",
                            "wgmma.mma_async"),
            1u);
  EXPECT_EQ(count_mnemonics("\tv_mfma_f32_32x32x8_bf16 a[0:15], v[0:1]\n; v_mfma_f32_32x32x8\n", "v_mfma_f32_32x32x8"),
            1u);
  EXPECT_EQ(count_mnemonics("", "x"), 0u);
}

TEST_F(Disassembly, AMissingProgramIsNamed) {
  set("WAVETILE_OBJDUMP", "no-such-objdump");
  set("WAVETILE_CUOBJDUMP", "no-such-cuobjdump");
  EXPECT_THAT(disassemble(Target::kGfx942, "x").status().message(), HasSubstr("llvm-objdump was not found"));
  EXPECT_THAT(disassemble(Target::kSm90a, "x").status().message(), HasSubstr("cuobjdump or nvdisasm was not found"));
}

}  // namespace
}  // namespace wt::compile
