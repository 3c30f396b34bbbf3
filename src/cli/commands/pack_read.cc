// SPDX-License-Identifier: Apache-2.0
// Commands that read a pack; pack.cc builds one.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_value.h"
#include "base/printable.h"
#include "cli/commands/pack.h"
#include "cli/exit_code.h"
#include "cli/show/numbers.h"
#include "cli/show/table.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "compile/module_file.h"
#include "compile/pack.h"
#include "config/targets.h"
#include "dispatch/choice/packs.h"

namespace wt::cli {

using compile::Pack;
using compile::PackEntry;
using compile::PackInfo;

compile::Backend backend_for(const TargetName& name) {
  return name.simulated ? compile::Backend::kHost : compile::backend_of(name.target);
}

std::string target_text(const PackInfo& info) {
  return to_text(TargetName{info.target, info.backend == compile::Backend::kHost});
}

namespace {

void print_table(const Pack& pack) {
  const PackInfo& info = pack.info();
  size_t widest = 0;
  for (const PackEntry& entry : pack.entries()) widest = std::max(widest, entry.name.size());
  const Table table({{"kernel", static_cast<int>(widest), false, true},
                     {"size", 9, true},
                     {"registers", 9, true},
                     {"spills", 6, true}},
                    output_columns());
  fmt::print("{}", table.header());
  for (const PackEntry& entry : pack.entries()) {
    const auto number = [](int value) { return value == compile::kUnknown ? "-" : fmt::format("{}", value); };
    fmt::print("{}", table.row({entry.name, bytes_text(static_cast<double>(entry.bytes)),
                                number(entry.resources.registers), number(entry.resources.spill_bytes)}));
  }
  fmt::print("{} kernels for {}, rule set {}, {}; wavetile {}, {}\n", pack.entries().size(), target_text(info),
             printable(info.rule_set), bytes_text(static_cast<double>(info.bytes)), printable(info.library_version),
             printable(info.compiler));
}

Status print_json(const std::string& where, const Pack& pack) {
  const PackInfo& info = pack.info();
  OrderedJson json = document("wavetile pack list");
  json["file"] = info.path.string();
  json["bytes"] = info.bytes;
  json["library_version"] = info.library_version;
  json["headers"] = info.headers_hash;
  json["target"] = target_text(info);
  json["rule_set"] = info.rule_set;
  json["compiler"] = info.compiler;
  OrderedJson kernels = OrderedJson::array();
  for (const PackEntry& entry : pack.entries()) {
    kernels.push_back({{"name", entry.name},
                       {"bytes", entry.bytes},
                       {"sha256", entry.checksum},
                       {"resources", OrderedJson::parse(compile::resources_json(entry.resources))}});
  }
  json["kernels"] = std::move(kernels);
  return write_json(where, json);
}

}  // namespace

int run_pack_list(const PackListOptions& options) {
  const Result<std::shared_ptr<const Pack>> pack = Pack::read(options.file);
  if (!pack.ok()) return report_failure(pack.status());
  if (!options.json.empty()) {
    const Status written = print_json(options.json, **pack);
    if (!written.ok()) return report_failure(written);
  }
  if (options.json != "-") print_table(**pack);
  return kExitGood;
}

int run_pack_verify(const PackVerifyOptions& options) {
  const Result<std::shared_ptr<const Pack>> pack = Pack::read(options.file);
  if (!pack.ok()) return report_failure(pack.status());
  if (const Status status = (*pack)->check_version(); !status.ok()) return report_failure(status);
  if (!options.target.empty()) {
    const Result<TargetName> name = parse_target(options.target);
    if (!name.ok()) return report_failure(name.status());
    const Status status = (*pack)->check_target(backend_for(*name), name->target);
    if (!status.ok()) return report_failure(status);
  }
  const auto faults = (*pack)->verify();
  for (const auto& [name, fault] : faults) fmt::print("damaged: {}: {}\n", printable(name), printable(fault));
  fmt::print("{} kernels for {}, {} damaged\n", (*pack)->entries().size(), target_text((*pack)->info()), faults.size());
  return faults.empty() ? kExitGood : kExitVerificationFailed;
}

}  // namespace wt::cli
