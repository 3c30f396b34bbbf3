// SPDX-License-Identifier: Apache-2.0
// api/gemm.cc - matrix products of the C API, in their own words.
#include "problem/gemm.h"

#include "api/guard.h"
#include "api/handles.h"

using namespace wt;
using namespace wt::api;

namespace {

constexpr size_t kGemmFirstSize = offsetof(wavetile_gemm_desc, batch) + sizeof(int64_t);

static_assert(static_cast<int>(GemmForm::kTn) == WAVETILE_GEMM_TN);
static_assert(static_cast<int>(ConvTensor::kX) == WAVETILE_ROLE_X &&
              static_cast<int>(ConvTensor::kW) == WAVETILE_ROLE_W &&
              static_cast<int>(ConvTensor::kY) == WAVETILE_ROLE_Y);

wavetile_gemm_desc default_gemm() {
  wavetile_gemm_desc desc{};
  desc.struct_size = sizeof desc;
  desc.a_type = desc.b_type = desc.d_type = WAVETILE_BF16;
  desc.m = desc.n = desc.k = desc.batch = 1;
  return desc;
}

Status read_type(const char* field, int32_t value, DataType& type) {
  if (value < 0 || value > WAVETILE_INT8) {
    return bad_input("{}={} is no choice; use 0 (fp32), 1 (tf32), 2 (fp16), 3 (bf16), 4 (e4m3), 5 (e5m2) or 6 (int8)",
                     field, value);
  }
  type = static_cast<DataType>(value);
  return {};
}

Result<GemmProblem> read_gemm(const wavetile_gemm_desc& caller, const wavetile_problem_desc* epilogue) {
  wavetile_gemm_desc desc = default_gemm();
  WT_TRY(read_struct(caller, "wavetile_gemm_desc", kGemmFirstSize, desc));
  GemmProblem gemm;
  if (desc.form < 0 || desc.form > WAVETILE_GEMM_TN)
    return bad_input("form={} is no choice; use 0 (nt), 1 (nn) or 2 (tn)", desc.form);
  if (desc.interleaved != 0 && desc.interleaved != 1)
    return bad_input("interleaved={} is no choice; use 0 or 1", desc.interleaved);
  if (desc.reserved != 0)
    return bad_input("wavetile_gemm_desc.reserved is {}; call wavetile_gemm_desc_init first", desc.reserved);
  gemm.form = static_cast<GemmForm>(desc.form);
  WT_TRY(read_type("a_type", desc.a_type, gemm.a));
  WT_TRY(read_type("b_type", desc.b_type, gemm.b));
  WT_TRY(read_type("d_type", desc.d_type, gemm.d));
  gemm.interleaved = desc.interleaved == 1;
  gemm.m = desc.m, gemm.n = desc.n, gemm.k = desc.k, gemm.batch = desc.batch;
  if (epilogue) {
    ConvProblem around;
    WT_TRY(read_desc(*epilogue, false, around));
    if (around.x_zero != 0 || around.y_zero != 0)
      return bad_input("a product of matrices has no zero points; use a convolution with a filter of 1");
    gemm.epilogue = around.epilogue;
  }
  return gemm;
}

}  // namespace

extern "C" {

void wavetile_gemm_desc_init(wavetile_gemm_desc* desc) {
  if (desc) *desc = default_gemm();
}

wavetile_status wavetile_problem_create_gemm(const wavetile_gemm_desc* desc, const wavetile_problem_desc* epilogue,
                                             wavetile_problem** problem) {
  WT_API_REQUIRE(desc);
  WT_API_REQUIRE(problem);
  return guard([&]() -> Status {
    WT_TRY_ASSIGN(const GemmProblem gemm, read_gemm(*desc, epilogue));
    WT_TRY_ASSIGN(const ConvProblem value, to_convolution(gemm));
    *problem = new_problem(value);
    return {};
  });
}

wavetile_status wavetile_problem_gemm_roles(const wavetile_problem* problem, wavetile_role* a, wavetile_role* b,
                                            wavetile_role* d) {
  WT_API_REQUIRE(problem);
  WT_API_REQUIRE(a);
  WT_API_REQUIRE(b);
  WT_API_REQUIRE(d);
  return guard([&]() -> Status {
    const std::optional<GemmProblem> gemm = to_gemm(problem->value);
    if (!gemm) {
      return bad_input(
          "'{}' is no product of matrices; make one by wavetile_problem_create_gemm or its text, as 'gemm "
          "bf16 m512 n1024 k768 b4'",
          problem->text);
    }
    const GemmRoles roles = roles_of(*gemm);
    *a = static_cast<wavetile_role>(roles.a);
    *b = static_cast<wavetile_role>(roles.b);
    *d = static_cast<wavetile_role>(roles.d);
    return {};
  });
}

}  // extern "C"
