// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/row_checksum.h"

#include "compile/sha256.h"

namespace wt::tuning {
namespace {

constexpr size_t kDigits = 16;

class Fields {
 public:
  Fields& add(const std::string& text) { return hash_.add_field(text), *this; }
  Fields& add(int64_t number) { return add(fmt::format("{}", number)); }
  Fields& add(double number) { return add(fmt::format("{}", number + 0.0)); }  // SQLite has no -0
  std::string digits() { return hash_.hex().substr(0, kDigits); }

 private:
  compile::Sha256 hash_;
};

void add(Fields& fields, const Key& key) {
  fields.add(key.gpu).add(int64_t{key.multiprocessors}).add(key.target).add(key.problem);
}

void add(Fields& fields, const KernelCode& code) {
  fields.add(code.content_key).add(code.machine_code).add(code.compiler);
}

void add(Fields& fields, const Measurement& m) {
  fields.add(m.kernel).add(m.config);
  add(fields, m.code);
  fields.add(static_cast<int64_t>(m.outcome));
  fields.add(m.median_us).add(m.low_us).add(m.high_us).add(m.graph_us).add(int64_t{m.runs}).add(m.workspace_bytes);
  fields.add(m.detail).add(m.saved_at);
}

}  // namespace

std::string checksum_of(const Entry& entry) {
  Fields fields;
  add(fields, entry.key);
  add(fields, entry.best);
  fields.add(int64_t{entry.candidates}).add(int64_t{entry.tried}).add(int64_t{entry.complete}).add(entry.library);
  return fields.digits();
}

std::string checksum_of(const Key& key, const Measurement& measurement) {
  Fields fields;
  add(fields, key);
  add(fields, measurement);
  return fields.digits();
}

std::string checksum_of(const KernelCode& row) {
  Fields fields;
  add(fields, row);
  return fields.digits();
}

std::string checksum_of(const Quarantine& row) {
  Fields fields;
  fields.add(row.target).add(row.kernel);
  add(fields, row.code);
  fields.add(row.problem).add(row.detail).add(row.saved_at);
  return fields.digits();
}

}  // namespace wt::tuning
