// SPDX-License-Identifier: Apache-2.0
// api/tuning.cc - the tuning database as text, for programs that carry it to other machines themselves.
#include "api/guard.h"
#include "dispatch/tuning/exchange.h"

using namespace wt;
using namespace wt::api;

namespace {

Result<tuning::Content> whole_content() {
  WT_TRY_ASSIGN(const std::filesystem::path path, tuning::Database::default_path());
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return tuning::Content{};
  WT_TRY_ASSIGN(const auto database, tuning::Database::open(path, tuning::Access::kRead));
  if (!database->has_tables()) return tuning::Content{};
  return tuning::read_content(*database, true);
}

}  // namespace

extern "C" {

wavetile_status wavetile_tuning_export(char** json) {
  WT_API_REQUIRE(json);
  return guard_making([&]() -> Status {
    WT_TRY_ASSIGN(const tuning::Content content, whole_content());
    return new_string(tuning::to_json(content), json);
  });
}

wavetile_status wavetile_tuning_import(const char* json, int64_t* taken) {
  WT_API_REQUIRE(json);
  return guard_making([&]() -> Status {
    WT_TRY_ASSIGN(const tuning::Content content, tuning::content_from_json(json));
    int rows = 0;
    if (!content.entries.empty() || !content.measurements.empty() || !content.quarantined.empty()) {
      WT_TRY_ASSIGN(const std::filesystem::path path, tuning::Database::default_path());
      WT_TRY_ASSIGN(const auto database, tuning::Database::open(path, tuning::Access::kCreate));
      WT_TRY_ASSIGN(rows, database->merge(content.entries, content.measurements, content.quarantined));
    }
    if (taken) *taken = rows;
    return {};
  });
}

}  // extern "C"
