// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/exchange.h - a tuning database as JSON, to carry it to another machine, and back.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatch/tuning/database.h"

namespace wt::tuning {

struct Content {
  std::vector<Entry> entries;
  std::vector<std::pair<Key, Measurement>> measurements;  // of single candidates
  std::vector<Quarantine> quarantined;
};

Result<Content> read_content(Database& database, bool with_measurements);

std::string to_json(const Content& content);

// Every fault is named with its place in the document; a document with one is refused whole.
Result<Content> content_from_json(std::string_view text);

}  // namespace wt::tuning
