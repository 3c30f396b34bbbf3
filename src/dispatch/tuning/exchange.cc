// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/exchange.h"

#include <cmath>

#include "base/json.h"
#include "base/json_rows.h"
#include "base/version.h"
#include "config/fields.h"
#include "config/targets.h"

namespace wt::tuning {
namespace {

using Json = OrderedJson;

constexpr const char* kKind = "wavetile tuning";
constexpr int kSchema = 2;

void add_key(Json& row, const Key& key) {
  row["gpu"] = key.gpu;
  row["multiprocessors"] = key.multiprocessors;
  row["target"] = key.target;
  row["problem"] = key.problem;
}

void add_code(Json& row, const KernelCode& code) {
  row["content_key"] = code.content_key;
  row["machine_code"] = code.machine_code;
  row["compiler"] = code.compiler;
}

void add_measurement(Json& row, const Measurement& m) {
  row["kernel"] = m.kernel;
  Result<Json> config = parse_json<Json>(m.config);
  row["config"] = config.ok() ? std::move(*config) : Json();
  add_code(row, m.code);
  row["outcome"] = name_of(m.outcome);
  row["median_us"] = m.median_us;
  row["low_us"] = m.low_us;
  row["high_us"] = m.high_us;
  row["graph_us"] = m.graph_us;
  row["runs"] = m.runs;
  row["workspace_bytes"] = m.workspace_bytes;
  if (!m.detail.empty()) row["detail"] = m.detail;
  row["saved_at"] = m.saved_at;
}

// Reads the fields of one row; the first fault stays.
class Row {
 public:
  Row(const Json& json, std::string place) : json_(json), place_(std::move(place)) {
    if (!json_.is_object()) fail("is no object");
  }

  std::string text(const char* field, bool may_be_empty = false) {
    const Json* value = find(field);
    if (!value) return "";
    if (!value->is_string()) return fail(field, "is no text"), "";
    std::string result = value->get<std::string>();
    if (result.empty() && !may_be_empty) fail(field, "is empty");
    return result;
  }

  int64_t integer(const char* field, int64_t low, int64_t high) {
    const Json* value = find(field);
    if (!value) return low;
    if (!value->is_number_integer() || (value->is_number_unsigned() && value->get<uint64_t>() > uint64_t(INT64_MAX)))
      return fail(field, "is no whole number"), low;
    const auto result = value->get<int64_t>();
    if (result < low || result > high) return fail(field, "is out of range"), low;
    return result;
  }

  double time(const char* field) {
    const Json* value = find(field);
    if (!value) return 0;
    if (!value->is_number()) return fail(field, "is no number"), 0;
    const auto result = value->get<double>();
    if (!std::isfinite(result) || result < 0) return fail(field, "is no time"), 0;
    return result;
  }

  bool flag(const char* field) {
    const Json* value = find(field);
    if (!value) return false;
    if (!value->is_boolean()) return fail(field, "is neither true nor false"), false;
    return value->get<bool>();
  }

  bool has(const char* field) const { return json_.is_object() && json_.contains(field); }
  const Json* find(const char* field) {
    if (!status_.ok()) return nullptr;
    const auto found = json_.find(field);
    if (found == json_.end()) return fail(field, "is missing"), nullptr;
    return &*found;
  }

  void fail(const std::string& what) {
    if (status_.ok()) status_ = bad_input("{} {}", place_, what);
  }
  void fail(const char* field, const char* what) { fail(fmt::format("{} {}", field, what)); }
  const Status& status() const { return status_; }

 private:
  const Json& json_;
  std::string place_;
  Status status_;
};

Key read_key(Row& row) {
  Key key;
  key.gpu = row.text("gpu");
  key.multiprocessors = static_cast<int>(row.integer("multiprocessors", 1, 1 << 20));
  key.target = row.text("target");
  key.problem = row.text("problem");
  return key;
}

// The config must be one that this version knows, and the one that the name says.
void check_config(Row& row, const Measurement& m, const std::string& target) {
  if (!row.status().ok()) return;
  const Result<KernelConfig> config = config_from_json(m.config);
  if (!config.ok()) return row.fail(fmt::format("config: {}", config.status().message()));
  if (name_of(*config) != m.kernel) return row.fail(fmt::format("config is that of {}", name_of(*config)));
  if (info_of(config->target).name != target) row.fail(fmt::format("config is for {}", info_of(config->target).name));
}

KernelCode read_code(Row& row) {
  return {row.text("content_key"), row.text("machine_code", true), row.text("compiler", true)};
}

Measurement read_measurement(Row& row, const std::string& target) {
  Measurement m;
  m.kernel = row.text("kernel");
  if (const Json* config = row.find("config")) m.config = config->dump(-1, ' ', false, Json::error_handler_t::replace);
  m.code = read_code(row);
  if (const std::optional<Outcome> outcome = outcome_from(row.text("outcome"))) {
    m.outcome = *outcome;
  } else {
    row.fail("outcome is none of timed, slower, wrong and failed");
  }
  m.median_us = row.time("median_us");
  m.low_us = row.time("low_us");
  m.high_us = row.time("high_us");
  m.graph_us = row.time("graph_us");
  m.runs = static_cast<int>(row.integer("runs", 0, 1 << 30));
  m.workspace_bytes = row.integer("workspace_bytes", 0, int64_t{1} << 50);
  if (row.has("detail")) m.detail = row.text("detail", true);
  m.saved_at = row.integer("saved_at", 1, int64_t{1} << 53);
  if (m.outcome == Outcome::kTimed && !(m.low_us <= m.median_us && m.median_us <= m.high_us && m.median_us > 0)) {
    row.fail("median_us does not lie between low_us and high_us");
  }
  check_config(row, m, target);
  return m;
}

Result<Entry> read_entry(const Json& json, const std::string& place) {
  Row row(json, place);
  Entry entry;
  entry.key = read_key(row);
  entry.best = read_measurement(row, entry.key.target);
  if (entry.best.outcome != Outcome::kTimed) row.fail("outcome of an entry is not timed");
  entry.candidates = static_cast<int>(row.integer("candidates", 1, 1 << 20));
  entry.tried = static_cast<int>(row.integer("tried", 1, 1 << 20));
  entry.complete = row.flag("complete");
  entry.library = row.text("library");
  WT_TRY(row.status());
  return entry;
}

Result<std::pair<Key, Measurement>> read_single(const Json& json, const std::string& place) {
  Row row(json, place);
  Key key = read_key(row);
  Measurement measurement = read_measurement(row, key.target);
  WT_TRY(row.status());
  return std::pair(std::move(key), std::move(measurement));
}

Result<Quarantine> read_quarantine(const Json& json, const std::string& place) {
  Row row(json, place);
  Quarantine quarantine;
  quarantine.target = row.text("target");
  quarantine.kernel = row.text("kernel");
  quarantine.code = read_code(row);
  quarantine.problem = row.text("problem");
  quarantine.detail = row.text("detail", true);
  quarantine.saved_at = row.integer("saved_at", 1, int64_t{1} << 53);
  WT_TRY(row.status());
  return quarantine;
}

template <class T, class Read>
Status read_list(const Json& document, const char* field, const Read& read, std::vector<T>& list) {
  if (!document.contains(field)) return {};
  const Json& rows = document[field];
  if (!rows.is_array()) return bad_input("{} is no list", field);
  for (size_t i = 0; i < rows.size(); ++i) {
    WT_TRY_ASSIGN(T row, read(rows[i], fmt::format("{}[{}]:", field, i)));
    list.push_back(std::move(row));
  }
  return {};
}

}  // namespace

Result<Content> read_content(Database& database, bool with_measurements) {
  Content content;
  WT_TRY_ASSIGN(content.entries, database.list());
  if (with_measurements) {
    WT_TRY_ASSIGN(content.measurements, database.all_measurements());
  }
  WT_TRY_ASSIGN(content.quarantined, database.quarantined());
  return content;
}

std::string to_json(const Content& content) {
  Json document = {{"kind", kKind}, {"schema", kSchema}, {"program", fmt::format("wavetile {}", kVersion)}};
  document["entries"] = Json::array();
  for (const Entry& entry : content.entries) {
    Json row;
    add_key(row, entry.key);
    add_measurement(row, entry.best);
    row["candidates"] = entry.candidates;
    row["tried"] = entry.tried;
    row["complete"] = entry.complete;
    row["library"] = entry.library;
    document["entries"].push_back(std::move(row));
  }
  document["quarantined"] = Json::array();
  for (const Quarantine& q : content.quarantined) {
    Json row = {{"target", q.target}, {"kernel", q.kernel}};
    add_code(row, q.code);
    row["problem"] = q.problem;
    row["detail"] = q.detail;
    row["saved_at"] = q.saved_at;
    document["quarantined"].push_back(std::move(row));
  }
  if (!content.measurements.empty()) {
    Json& rows = document["measurements"] = Json::array();
    for (const auto& [key, measurement] : content.measurements) {
      Json row;
      add_key(row, key);
      add_measurement(row, measurement);
      rows.push_back(std::move(row));
    }
  }
  return json_rows(document);
}

Result<Content> content_from_json(std::string_view text) {
  const Result<Json> parsed = parse_json<Json>(text);
  if (!parsed.ok()) {
    return bad_input("this cannot be imported: {}; 'wavetile tuning export' writes what can",
                     parsed.status().message());
  }
  const Json& document = *parsed;
  if (!document.is_object() || document.value("kind", Json()) != kKind) {
    return bad_input("this JSON is no export of a tuning database; 'wavetile tuning export' writes one");
  }
  if (document.value("schema", Json()) != kSchema) {
    return unsupported("the export has schema {} and this version reads {}; export it again with the same version",
                       document.value("schema", Json()).dump(-1, ' ', false, Json::error_handler_t::replace), kSchema);
  }
  Content content;
  WT_TRY(read_list(document, "entries", read_entry, content.entries));
  WT_TRY(read_list(document, "measurements", read_single, content.measurements));
  WT_TRY(read_list(document, "quarantined", read_quarantine, content.quarantined));
  return content;
}

}  // namespace wt::tuning
