// SPDX-License-Identifier: Apache-2.0
// api/number.cc - number formats of the C API.
#include "problem/number.h"

#include "api/guard.h"

using namespace wt;
using namespace wt::api;

namespace {

bool is_type(wavetile_type type) { return type >= WAVETILE_F32 && type <= WAVETILE_E5M2; }

Status type_fault(wavetile_type type) {
  return bad_input("type={} is no choice; use 0 (fp32) to 5 (e5m2)", static_cast<int>(type));
}

}  // namespace

extern "C" {

int32_t wavetile_type_size(wavetile_type type) { return is_type(type) ? size_of(static_cast<DataType>(type)) : 0; }

wavetile_status wavetile_from_float(wavetile_type type, const float* values, size_t count, void* out) {
  if (count > 0) WT_API_REQUIRE(values);
  if (count > 0) WT_API_REQUIRE(out);
  return guard([&]() -> Status {
    if (!is_type(type)) return type_fault(type);
    parallel_from_float(static_cast<DataType>(type), values, out, static_cast<int64_t>(count));
    return {};
  });
}

wavetile_status wavetile_to_float(wavetile_type type, const void* values, size_t count, float* out) {
  if (count > 0) WT_API_REQUIRE(values);
  if (count > 0) WT_API_REQUIRE(out);
  return guard([&]() -> Status {
    if (!is_type(type)) return type_fault(type);
    parallel_to_float(static_cast<DataType>(type), values, out, static_cast<int64_t>(count));
    return {};
  });
}

}  // extern "C"
