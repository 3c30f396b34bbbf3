// SPDX-License-Identifier: Apache-2.0
// tests/compile/activation_ptx_test.cc - what activations become on an NVIDIA GPU: no branch, no division, and as many
// instructions of the special function unit as the table says.
#include <gtest/gtest.h>

#include "base/format.h"
#include "compile/nvrtc.h"
#include "problem/activations.h"

namespace wt::compile {
namespace {

#if WT_HAVE_NVRTC

size_t count(std::string_view text, std::string_view word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// The body of an entry, up to the next one.
std::string_view body(std::string_view ptx, const std::string& name) {
  const size_t begin = ptx.find(".entry " + name + "(");
  if (begin == std::string_view::npos) return {};
  return ptx.substr(begin, ptx.find("\n}", begin) - begin);
}

TEST(ActivationPtx, HasNoBranchesAndNoDivisions) {
  std::string text =
      "#include \"kernels/device/activation.h\"\n#include \"kernels/device/math.h\"\n"
      "struct P { float slope, low, high; };\n";
  for (const ActivationFacts& facts : kActivations) {
    text += fmt::format(
        "extern \"C\" __global__ void value_{0}(float* v, P p) {{\n"
        "  v[1] = wt::activation_value<wt::Activation::{0}, wt::DeviceMath>(v[0], p);\n}}\n"
        "extern \"C\" __global__ void gradient_{0}(float* v, P p) {{\n"
        "  v[1] = wt::activation_gradient<wt::Activation::{0}, wt::DeviceMath>(v[1], v[0], p);\n}}\n",
        facts.enumerator);
  }
  const Result<std::string> ptx = nvrtc_assembly({"activations", text, Target::kSm90a});
  ASSERT_TRUE(ptx.ok()) << ptx.status().message();
  for (const ActivationFacts& facts : kActivations) {
    const std::string_view value = body(*ptx, fmt::format("value_{}", facts.enumerator));
    const std::string_view gradient = body(*ptx, fmt::format("gradient_{}", facts.enumerator));
    ASSERT_FALSE(value.empty() || gradient.empty()) << facts.name;
    for (const std::string_view code : {value, gradient}) {
      EXPECT_EQ(count(code, "bra"), 0u) << facts.name << ":\n" << code;
      EXPECT_EQ(count(code, "div."), 0u) << facts.name << ":\n" << code;
      EXPECT_EQ(count(code, "call"), 0u) << facts.name << ":\n" << code;
    }
    EXPECT_EQ(count(value, "ex2.approx") + count(value, "rcp.approx"), static_cast<size_t>(facts.special))
        << facts.name;
  }
}

#endif

}  // namespace
}  // namespace wt::compile
