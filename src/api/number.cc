// SPDX-License-Identifier: Apache-2.0
// api/number.cc - number formats of the C API.
#include "problem/number.h"

#include "api/guard.h"

using namespace wt;
using namespace wt::api;

namespace {

bool is_type(wavetile_type type) { return type >= WAVETILE_F32 && type <= WAVETILE_E2M1; }
bool is_scale(wavetile_type type) { return type == WAVETILE_UE8M0 || type == WAVETILE_UE4M3; }

Status check(wavetile_type type, size_t count) {
  if (is_scale(type)) {
    return bad_input("type={} is a scale of blocks, whose byte the caller chooses; use 0 (fp32) to 6 (e2m1)",
                     static_cast<int>(type));
  }
  if (!is_type(type)) {
    return bad_input("type={} is no choice; use 0 (fp32) to 6 (e2m1)", static_cast<int>(type));
  }
  const auto together = static_cast<size_t>(packed_in_byte(static_cast<DataType>(type)));
  if (count % together == 0) return {};
  return bad_input("{} numbers of e2m1 do not fill bytes of {}; give one more", count, together);
}

}  // namespace

extern "C" {

int32_t wavetile_type_size(wavetile_type type) {
  if (is_scale(type)) return 1;
  return is_type(type) ? size_of(static_cast<DataType>(type)) : 0;
}

wavetile_status wavetile_from_float(wavetile_type type, const float* values, size_t count, void* out) {
  if (count > 0) WT_API_REQUIRE(values);
  if (count > 0) WT_API_REQUIRE(out);
  return guard([&]() -> Status {
    WT_TRY(check(type, count));
    parallel_from_float(static_cast<DataType>(type), values, out, static_cast<int64_t>(count));
    return {};
  });
}

wavetile_status wavetile_to_float(wavetile_type type, const void* values, size_t count, float* out) {
  if (count > 0) WT_API_REQUIRE(values);
  if (count > 0) WT_API_REQUIRE(out);
  return guard([&]() -> Status {
    WT_TRY(check(type, count));
    parallel_to_float(static_cast<DataType>(type), values, out, static_cast<int64_t>(count));
    return {};
  });
}

}  // extern "C"
