// SPDX-License-Identifier: Apache-2.0
#include "cli/show/doctor_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "cli/exit_code.h"
#include "cli/show/bench_report.h"
#include "cli/show/numbers.h"
#include "cli/show/table.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "dispatch/choice/decision_json.h"

namespace wt::cli {
namespace {

using Json = OrderedJson;

constexpr int kReadable = 80;

std::string time_or_dash(double us) { return us > 0 ? time_text(us) : "-"; }

// Below a row: what its cells have no room for.
void add_line(std::string& text, const char* label, const std::string& words, int columns) {
  constexpr const char* kIndent = "             ";
  std::string wrapped = wrap(printable(words), columns > 0 ? columns : kReadable, kIndent);
  const std::string start = fmt::format("    {:<9}", label);
  if (wrapped.size() > start.size()) wrapped.replace(0, start.size(), start);
  text += wrapped;
}

std::string advice_text(const DoctorRow& row, const Advice& advice) {
  return fmt::format("{}: {}, {:.2f} of the time", advice.change, time_text(advice.share * row.us()), advice.share);
}

// What speaks for another kernel than the chosen one.
std::string tuning_text(const DoctorRow& row) {
  if (row.cudnn_us() <= 0 || row.us() <= 0 || row.cudnn_us() >= row.us()) return "";
  return fmt::format("cuDNN takes {:.2f} of the time; 'wavetile tune \"{}\"' measures every kernel for it",
                     row.cudnn_us() / row.us(), to_text(row.layer.problem));
}

void add_details(std::string& text, const DoctorRow& row, int columns) {
  add_line(text, "problem", to_text(row.layer.problem), columns);
  if (!row.decision.ok()) return add_line(text, "kernel", "none: " + row.decision.status().message(), columns);
  add_line(text, "kernel", row.kernel(), columns);
  if (row.layer.torch_us > 0)
    add_line(text, "torch", time_text(row.layer.torch_us) + " where it was recorded", columns);
  if (row.trial && !row.trial->status.ok())
    add_line(text, row.is_wrong() ? "WRONG" : "FAILED",
             row.trial->status.message() + "; repeat with: " + row.trial->replay, columns);
  if (row.cudnn && row.cudnn->wrong > 0)
    add_line(text, "cuDNN", fmt::format("{} of its {} plans gave wrong results", row.cudnn->wrong, row.cudnn->plans),
             columns);
  for (const Advice& advice : row.advice) add_line(text, "change", advice_text(row, advice), columns);
  if (const std::string tune = tuning_text(row); !tune.empty()) add_line(text, "tune", tune, columns);
}

Json advice_json(const DoctorRow& row) {
  Json list = Json::array();
  for (const Advice& advice : row.advice) {
    list.push_back({{"change", advice.change},
                    {"problem", to_text(advice.problem)},
                    {"predicted_us", advice.us},
                    {"share", advice.share}});
  }
  return list;
}

double all_us(const std::vector<DoctorRow>& rows, double (DoctorRow::*value)() const) {
  double sum = 0;
  for (const DoctorRow& row : rows)
    sum += (row.*value)() * static_cast<double>(value == &DoctorRow::us ? row.layer.calls : 1);
  return sum;
}

}  // namespace

double DoctorRow::us() const {
  if (is_measured()) return trial->timing->median_us;
  if (trial && !trial->status.ok()) return 0;  // a simulator's right result has no time
  return decision.ok() ? decision->expected_us() : 0;
}

bool DoctorRow::is_wrong() const { return trial && trial->status.code() == Code::kVerificationFailed; }

double DoctorRow::gain_us() const {
  double best = us();
  if (best <= 0) return 0;
  if (!advice.empty()) best = std::min(best, us() * advice.front().share);
  if (cudnn_us() > 0) best = std::min(best, cudnn_us());
  return (us() - best) * static_cast<double>(layer.calls);
}

std::string DoctorRow::kernel() const {
  if (trial && !trial->plan.kernel.empty()) return trial->plan.kernel;
  return decision.ok() ? decision->leaf().kernel : "";
}

void sort_rows(std::vector<DoctorRow>& rows) {
  const auto trouble = [](const DoctorRow& row) {
    return row.is_wrong() ? 2 : !row.decision.ok() || (row.trial && !row.trial->status.ok()) ? 1 : 0;
  };
  std::ranges::stable_sort(rows, [&](const DoctorRow& a, const DoctorRow& b) {
    if (trouble(a) != trouble(b)) return trouble(a) > trouble(b);
    if (a.gain_us() != b.gain_us()) return a.gain_us() > b.gain_us();
    return a.us() * static_cast<double>(a.layer.calls) > b.us() * static_cast<double>(b.layer.calls);
  });
}

std::string doctor_table(const std::vector<DoctorRow>& rows, int columns) {
  const bool compared = std::ranges::any_of(rows, [](const DoctorRow& row) { return row.cudnn.has_value(); });
  const Table table({{.title = "layer", .width = 18, .elastic = true},
                     {.title = "calls", .width = 6, .right = true},
                     {.title = "time", .width = 9, .right = true},
                     {.title = "share", .width = 5, .right = true},
                     {.title = "cuDNN", .width = 9, .right = true, .hidden = !compared},
                     {.title = "workspace", .width = 9, .right = true},
                     {.title = "to gain", .width = 9, .right = true}},
                    columns);
  std::string text = table.header();
  for (const DoctorRow& row : rows) {
    const std::string time = row.is_wrong() ? "WRONG" : time_or_dash(row.us());
    text += table.row({printable(row.layer.name), fmt::format("{}", row.layer.calls), time,
                       row.share() > 0 ? fmt::format("{:.2f}", row.share()) : "-", time_or_dash(row.cudnn_us()),
                       bytes_text(static_cast<double>(row.workspace_bytes)), time_or_dash(row.gain_us())});
    add_details(text, row, columns);
  }
  return text;
}

std::string doctor_summary(const std::vector<DoctorRow>& rows) {
  int64_t calls = 0;
  int wrong = 0, unserved = 0;
  for (const DoctorRow& row : rows) {
    calls += row.layer.calls;
    wrong += row.is_wrong();
    unserved += !row.decision.ok();
  }
  const double us = all_us(rows, &DoctorRow::us), gain = all_us(rows, &DoctorRow::gain_us);
  std::string text = fmt::format("{} layers, {} calls: {}", rows.size(), calls, time_or_dash(us));
  if (gain > 0) text += fmt::format("; {} to gain, {:.0f}% of it", time_text(gain), 100 * gain / us);
  text += fmt::format("; {} wrong", wrong);
  if (unserved > 0) text += fmt::format("; {} without a kernel", unserved);
  return text + "\n";
}

Json doctor_json(const std::vector<DoctorRow>& rows, const DeviceInfo& device, const Rates* rates,
                 const std::string& command) {
  Json json = document(command);
  json["device"] = device_json(device);
  Json list = Json::array();
  for (const DoctorRow& row : rows) {
    const ConvProblem& problem = row.layer.problem;
    Json entry = {{"name", row.layer.name}};
    if (row.trial) {
      entry.update(trial_json(*row.trial));
    } else {
      entry.update({{"problem", to_text(problem)},
                    {"direction", name_of(problem.direction)},
                    {"kernel", row.kernel()},
                    {"flops", problem.flops()}});
      if (!row.decision.ok()) entry["error"] = row.decision.status().message();
    }
    if (row.decision.ok()) {
      if (const double us = row.decision->expected_us(); us > 0) entry["predicted_us"] = us;
      entry["decision"] = to_json(*row.decision);
    }
    entry["calls"] = row.layer.calls;
    if (row.layer.torch_us > 0) entry["torch_us"] = row.layer.torch_us;
    entry["workspace_bytes"] = row.workspace_bytes;
    if (row.limit_us > 0) entry["limit_us"] = row.limit_us;
    if (row.share() > 0) entry["share"] = row.share();
    if (row.cudnn) entry["cudnn"] = cudnn_json(*row.cudnn);
    entry["advice"] = advice_json(row);
    entry["gain_us"] = row.gain_us();
    entry["wrong"] = row.is_wrong();
    list.push_back(std::move(entry));
    if (rates) {
      const DataType type = problem.first_type();
      json["ceilings"]["product_tflops"][name_of(problem.x)] = 2e-6 * rates->macs(type) * rates->units * rates->clock;
    }
  }
  if (rates) json["ceilings"]["copy_gbs"] = rates->memory * 1e-3;
  json["rows"] = std::move(list);
  json["summary"] = {
      {"layers", rows.size()}, {"us", all_us(rows, &DoctorRow::us)}, {"gain_us", all_us(rows, &DoctorRow::gain_us)}};
  return json;
}

int doctor_exit_code(const std::vector<DoctorRow>& rows) {
  int code = kExitGood;
  for (const DoctorRow& row : rows) {
    if (!row.decision.ok()) code = graver(code, exit_code(row.decision.status()));
    if (row.trial) code = graver(code, exit_code(row.trial->status));
  }
  return code;
}

}  // namespace wt::cli
