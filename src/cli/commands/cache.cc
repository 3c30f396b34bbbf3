// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/cache.h"

#include <ctime>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json_value.h"
#include "base/printable.h"
#include "cli/exit_code.h"
#include "cli/show/numbers.h"
#include "cli/show/table.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "compile/cache.h"
#include "compile/module_file.h"

namespace wt::cli {
namespace {

using compile::Cache;
using compile::CacheEntry;
using compile::Module;

// What an entry says of itself; a damaged one says what is wrong with it.
Result<Module> module_in(const CacheEntry& entry) {
  WT_TRY_ASSIGN(const std::string bytes, read_file(entry.path));
  return compile::decode_module(bytes);
}

std::string time_stamp(int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string number_or_dash(int number) { return number == compile::kUnknown ? "-" : fmt::format("{}", number); }

void print_table(const Cache& cache, const std::vector<CacheEntry>& entries) {
  uint64_t total = 0;
  const bool narrow = is_narrow(output_columns());
  const Table table({{"kernel", 48, false, true},
                     {"compiler", 8, false, false, narrow},
                     {"target", 8},
                     {"size", 9, true},
                     {"registers", 9, true},
                     {"spills", 6, true, false, narrow},
                     {"last used", 20}},
                    output_columns());
  fmt::print("{}", table.header());
  for (const CacheEntry& entry : entries) {
    total += entry.bytes;
    const std::string size = bytes_text(static_cast<double>(entry.bytes)), used = time_stamp(entry.last_used);
    const Result<Module> module = module_in(entry);
    if (!module.ok()) {
      fmt::print("{}", table.row({entry.key + ": " + module.status().message(), "damaged", "-", size, "-", "-", used}));
      continue;
    }
    fmt::print("{}", table.row({module->name, name_of(module->backend), compile::architecture_of(module->target), size,
                                number_or_dash(module->resources.registers),
                                number_or_dash(module->resources.spill_bytes), used}));
  }
  fmt::print("{} of at most {} in {} entries, {}\n", bytes_text(static_cast<double>(total)),
             bytes_text(static_cast<double>(cache.limit_bytes())), entries.size(), cache.root().string());
}

Status print_json(const std::string& where, const Cache& cache, const std::vector<CacheEntry>& entries) {
  OrderedJson json = document("wavetile cache list");
  json["folder"] = cache.root().string();
  json["limit_bytes"] = cache.limit_bytes();
  OrderedJson list = OrderedJson::array();
  for (const CacheEntry& entry : entries) {
    OrderedJson item = {{"key", entry.key},
                        {"path", entry.path.string()},
                        {"bytes", entry.bytes},
                        {"last_used", time_stamp(entry.last_used)}};
    if (const Result<Module> module = module_in(entry); module.ok()) {
      item["kernel"] = module->name;
      item["backend"] = name_of(module->backend);
      item["target"] = compile::architecture_of(module->target);
      item["compiler"] = module->compiler;
      item["resources"] = OrderedJson::parse(compile::resources_json(module->resources));
    } else {
      item["damage"] = module.status().message();
    }
    list.push_back(std::move(item));
  }
  json["entries"] = std::move(list);
  return write_json(where, json);
}

}  // namespace

int run_cache_list(const CacheListOptions& options) {
  const Result<Cache> cache = Cache::open();
  if (!cache.ok()) return report_failure(cache.status());
  const auto entries = cache->list();
  if (!entries.ok()) return report_failure(entries.status());
  if (!options.json.empty()) {
    const Status written = print_json(options.json, *cache, *entries);
    if (!written.ok()) return report_failure(written);
  }
  if (options.json != "-") print_table(*cache, *entries);
  return kExitGood;
}

int run_cache_verify(const CacheVerifyOptions& options) {
  const Result<Cache> cache = Cache::open();
  if (!cache.ok()) return report_failure(cache.status());
  const auto verdict = cache->verify();
  if (!verdict.ok()) return report_failure(verdict.status());
  for (const auto& [entry, fault] : verdict->bad) {
    fmt::print("damaged: {}: {}\n", printable(entry.path.string()), printable(fault));
    if (!options.remove) continue;
    if (const Status status = cache->remove(entry); !status.ok()) return report_failure(status);
  }
  const char* remedy = verdict->bad.empty() ? "" : options.remove ? ", removed" : "; --remove drops them";
  fmt::print("{} good, {} damaged{}\n", verdict->good, verdict->bad.size(), remedy);
  return verdict->bad.empty() ? kExitGood : kExitVerificationFailed;
}

int run_cache_clear() {
  const Result<Cache> cache = Cache::open();
  if (!cache.ok()) return report_failure(cache.status());
  const auto cleared = cache->clear();
  if (!cleared.ok()) return report_failure(cleared.status());
  fmt::print("removed {} entries, {}, from {}\n", cleared->entries, bytes_text(static_cast<double>(cleared->bytes)),
             cache->root().string());
  return kExitGood;
}

}  // namespace wt::cli
