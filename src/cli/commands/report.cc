// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/report.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "base/files.h"
#include "base/json.h"
#include "cli/exit_code.h"
#include "compile/sha256.h"
#include "problem/problem.h"
#include "problem/suite.h"
#include "problem/tensor_data.h"
#include "problem/traffic.h"

namespace wt::cli {

// From src/cli/show/page, by cmake/embed_text.cmake.
namespace page {
extern const char* const page_html;
extern const char* const page_css;
extern const char* const page_js;
}  // namespace page

namespace {

using Json = OrderedJson;

// A number at a path of keys; 0 where it is absent or no number.
double number_at(const Json& json, std::initializer_list<const char*> path) {
  const Json* at = &json;
  for (const char* key : path) {
    if (!at->is_object()) return 0;
    const auto found = at->find(key);
    if (found == at->end()) return 0;
    at = &*found;
  }
  const double value = at->is_number() ? at->get<double>() : 0;
  return std::isfinite(value) && value > 0 ? value : 0;
}

std::string text_at(const Json& json, const char* key) {
  if (!json.is_object()) return "";
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// Operations, those without padding, the type of the inputs, and the bytes of the tensors where the file does not say
// them.
void add_sizes(Json& row, const Json& source) {
  double flops = number_at(source, {"flops"}), bytes = number_at(source, {"least_bytes"}), work = 0;
  std::string type = text_at(source, "input_type");
  if (flops == 0) flops = number_at(source, {"gflop"}) * 1e9;
  if (const Result<ConvProblem> problem = parse_problem(text_at(source, "problem")); problem.ok()) {
    if (flops == 0) flops = problem->flops();
    if (bytes == 0) bytes = tensor_bytes(*problem);
    work = work_without_padding(*problem);
    type = name_of(problem->x);
  }
  row["flops"] = flops;
  row["work"] = work > 0 ? work : flops;
  row["type"] = type;
  row["bytes"] = bytes;
}

void add_time(Json& row, double us, double low, double high) {
  row["us"] = us;
  row["low_us"] = low > 0 ? low : us;
  row["high_us"] = high > 0 ? high : us;
}

// The network of a layer: as the file says, else as the suite of that name does, for files that were written before.
std::string model_of(const Json& source, const std::string& suite, const std::string& name) {
  if (std::string model = text_at(source, "model"); !model.empty()) return model;
  static auto& known = *new std::map<std::string, std::optional<Suite>>;
  const auto [found, is_new] = known.try_emplace(suite);
  // WHY only a plain name: a suite's name in a stranger's file is no path to be opened.
  const bool plain = !suite.empty() && suite.find_first_of("/.") == std::string::npos;
  if (is_new && plain)
    if (Result<Suite> read = find_suite(suite); read.ok()) found->second = std::move(*read);
  const SuiteEntry* entry = found->second ? found->second->find(name) : nullptr;
  return entry ? entry->model : "";
}

Json common_row(const Json& source) {
  const std::string suite = text_at(source, "suite");
  std::string name = text_at(source, "name");
  if (!suite.empty() && name.starts_with(suite + "/")) name.erase(0, suite.size() + 1);  // of a run of several suites
  return {{"suite", suite},
          {"name", name},
          {"model", model_of(source, suite, name)},
          {"direction", text_at(source, "direction")},
          {"problem", text_at(source, "problem")},
          {"kernel", text_at(source, "kernel")},
          {"error", text_at(source, "error")}};
}

Json compare_row(const Json& source) {
  Json row = common_row(source);
  add_time(row, number_at(source, {"wavetile", "us"}), number_at(source, {"wavetile", "low_us"}),
           number_at(source, {"wavetile", "high_us"}));
  row["cudnn_us"] = number_at(source, {"cudnn_tuned", "us"});
  row["heuristic_us"] = number_at(source, {"cudnn_heuristic", "us"});
  add_sizes(row, source);
  return row;
}

// What `wavetile doctor` says of a layer beside what a benchmark does.
void add_advice(Json& row, const Json& source) {
  const auto advice = source.find("advice");
  if (advice == source.end() || !advice->is_array()) return;
  std::string text;
  for (const Json& item : *advice) text += (text.empty() ? "" : " | ") + text_at(item, "change");
  row["calls"] = number_at(source, {"calls"});
  row["gain_us"] = number_at(source, {"gain_us"});
  row["advice"] = text;
  row["predicted"] = !source.contains("timing");
  if (!source.contains("timing") && text_at(source, "error").empty())
    add_time(row, number_at(source, {"predicted_us"}), 0, 0);
}

Json bench_row(const Json& source) {
  Json row = common_row(source);
  add_time(row, number_at(source, {"timing", "median_us"}), number_at(source, {"timing", "low_us"}),
           number_at(source, {"timing", "high_us"}));
  add_advice(row, source);
  row["cudnn_us"] = number_at(source, {"cudnn", "tuned", "median_us"});
  row["heuristic_us"] = number_at(source, {"cudnn", "heuristic", "median_us"});
  add_sizes(row, source);
  return row;
}

// The fastest that anything was in this run: products of each input type, and bytes. WHY of every time in the file,
// ours, cuDNN's and cuBLAS's: a single product at a lowered clock gave a roof that rows of the same run stood above.
struct Seen {
  std::map<std::string, double> teraflops;
  double gigabytes = 0;
  std::vector<std::pair<double, double>> copies;  // bytes and microseconds, ascending

  void product(const std::string& type, double work, double us) {
    if (us > 0) teraflops[type] = std::max(teraflops[type], work / us * 1e-6);
  }
  double copy_us(double bytes) const {
    if (copies.empty()) return gigabytes > 0 ? bytes / gigabytes * 1e-3 : 0;
    if (bytes <= copies.front().first) return copies.front().second;
    for (size_t i = 1; i < copies.size(); ++i) {
      if (bytes > copies[i].first) continue;
      const auto& [few, less] = copies[i - 1];
      return less + (copies[i].second - less) * (bytes - few) / (copies[i].first - few);
    }
    return copies.back().second * bytes / copies.back().first;
  }
};

Seen seen_in(const Json& document, const Json& sources, const Json& rows) {
  Seen seen;
  seen.gigabytes = number_at(document, {"ceilings", "copy_gbs"});
  if (const double rate = number_at(document, {"ceilings", "bf16_tflops"}); rate > 0) seen.teraflops["bf16"] = rate;
  if (const auto ceilings = document.find("ceilings"); ceilings != document.end() && ceilings->is_object()) {
    if (const auto copies = ceilings->find("copies"); copies != ceilings->end() && copies->is_array()) {
      for (const Json& copy : *copies) {
        if (copy.is_array() && copy.size() == 2 && copy[0].is_number() && copy[1].is_number())
          seen.copies.emplace_back(copy[0].get<double>(), copy[1].get<double>());
      }
    }
    // What `wavetile bench` measured of its own device.
    const auto rates = ceilings->find("product_tflops");
    if (document.contains("device") && rates != ceilings->end() && rates->is_object()) {
      for (auto rate = rates->begin(); rate != rates->end(); ++rate)
        if (rate->is_number()) seen.teraflops[rate.key()] = std::max(seen.teraflops[rate.key()], rate->get<double>());
    }
  }
  double faster = 1;  // than the copies, by what a row took
  for (size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    const std::string type = row.at("type");
    const double bytes = row.at("bytes");
    for (const char* key : {"us", "cudnn_us", "heuristic_us"}) {
      if (!row.at("error").get<std::string>().empty()) break;
      const double us = row.at(key);
      seen.product(type, row.at("work"), us);
      if (us <= 0) continue;
      seen.gigabytes = std::max(seen.gigabytes, bytes / us * 1e-3);
      if (const double copy = seen.copy_us(bytes); copy > 0) faster = std::min(faster, us / copy);
    }
    seen.product(type, row.at("flops"), number_at(sources[i], {"gemm", "us"}));  // cuBLAS multiplies padding too
  }
  for (auto& [bytes, us] : seen.copies) us *= faster;
  return seen;
}

// The least time of each row, and how much of its own time that is.
void add_limits(Json& rows, const Seen& seen) {
  for (Json& row : rows) {
    const auto rate = seen.teraflops.find(row.at("type").get<std::string>());
    const double us = row.at("us");
    if (rate == seen.teraflops.end() || rate->second <= 0 || us <= 0) continue;
    const double limit = std::max(seen.copy_us(row.at("bytes")), row.at("work").get<double>() / rate->second * 1e-6);
    row["limit_us"] = limit;
    row["share"] = limit / us;
  }
}

std::string device_of(const Json& document) {
  const Json none;
  const auto machine = document.find("machine"), device = document.find("device");
  if (machine != document.end()) {
    std::string text = text_at(*machine, "gpu");
    if (const double cudnn = number_at(*machine, {"cudnn"}); cudnn > 0) text += fmt::format(", cuDNN {:.0f}", cudnn);
    return text;
  }
  return device != document.end() ? text_at(*device, "name") : "";
}

// In a script element, "</" would end it.
std::string safe_in_script(const Json& json) {
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  for (size_t at = 0; (at = text.find("</", at)) != std::string::npos;) text.replace(at, 2, "<\\/");
  for (size_t at = 0; (at = text.find("<!--", at)) != std::string::npos;) text.replace(at, 4, "<\\u0021--");
  return text;
}

void put(std::string& page, std::string_view mark, const std::string& text) {
  const size_t at = page.find(mark);
  WT_CHECK(at != std::string::npos, "the page has no {}", mark);
  page.replace(at, mark.size(), text);
}

std::string base64(std::string_view hex) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : hex) {
    bits = bits << 4 | static_cast<uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    count += 4;
    if (count < 6) continue;
    count -= 6;
    text += kDigits[bits >> count & 63];
  }
  if (count > 0) text += kDigits[bits << (6 - count) & 63];
  return text.append((4 - text.size() % 4) % 4, '=');
}

// Only this page's own script and style run, and nothing is fetched or sent: a page is made from files of strangers.
std::string policy(const std::string& page) {
  const auto source = [&](std::string_view open, std::string_view close) {
    const size_t begin = page.find(open) + open.size();
    return "'sha256-" + base64(compile::sha256_hex(page.substr(begin, page.find(close, begin) - begin))) + "'";
  };
  return fmt::format(
      "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
      source("<script>", "</script>"), source("<style>", "</style>"));
}

// bench/history.py writes it: one JSON object per line, of one commit and suite.
Result<Json> read_history(const std::string& file) {
  WT_TRY_ASSIGN(const std::string text, read_file(file));
  Json list = Json::array();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Result<Json> entry = parse_json<Json>(line);
    if (!entry.ok() || !entry->is_object()) return bad_input("{} has a line that is no entry: {}", file, line);
    list.push_back({{"date", text_at(*entry, "date")},
                    {"commit", text_at(*entry, "commit")},
                    {"suite", text_at(*entry, "suite")},
                    {"device", text_at(*entry, "device")},
                    {"rows", number_at(*entry, {"rows"})},
                    {"us", number_at(*entry, {"us"})},
                    {"speedup", number_at(*entry, {"speedup"})},
                    {"share", number_at(*entry, {"share"})}});
  }
  return list;
}

Status report(const ReportOptions& options) {
  if (options.files.empty() || options.files.size() > 2) {
    return bad_input("a report is made from one file, or from two to compare, not from {}", options.files.size());
  }
  std::vector<Json> runs;
  size_t rows = 0;
  for (const std::string& file : options.files) {
    WT_TRY_ASSIGN(const std::string text, read_file(file));
    WT_TRY_ASSIGN(Json run, read_run(text, file));
    rows += run["rows"].size();
    runs.push_back(std::move(run));
  }
  Json history = Json::array();
  if (!options.history.empty()) {
    WT_TRY_ASSIGN(history, read_history(options.history));
  }
  WT_TRY(write_file(options.output, report_page(runs, history), FileKind::kDurable));
  fmt::print("{} rows of {} in {}; open it in a browser\n", rows, options.files.size() == 1 ? "one run" : "two runs",
             options.output);
  return {};
}

}  // namespace

Result<Json> read_run(const std::string& text, const std::string& file) {
  const Result<Json> parsed = parse_json<Json>(text);
  if (!parsed.ok()) return bad_input("{} cannot be reported: {}", file, parsed.status().message());
  const Json& document = *parsed;
  if (!document.is_object()) return bad_input("{} cannot be reported: it is no JSON object", file);
  const auto rows = document.find("rows");
  if (rows == document.end() || !rows->is_array() || rows->empty()) {
    return bad_input("{} holds no rows; a report reads the files of 'wavetile bench --json' and bench/compare.py",
                     file);
  }
  Json run = {{"file", file},
              {"date", text_at(document, "date")},
              {"program", text_at(document, "program")},
              {"command", text_at(document, "command")},
              {"device", device_of(document)},
              {"ceilings", nullptr},
              {"rows", Json::array()}};
  for (const Json& row : *rows) {
    if (!row.is_object()) return bad_input("{} has a row that is no object", file);
    run["rows"].push_back(row.contains("wavetile") || row.contains("cudnn_tuned") || row.contains("gflop")
                              ? compare_row(row)
                              : bench_row(row));
  }
  const Seen seen = seen_in(document, *rows, run["rows"]);
  add_limits(run["rows"], seen);
  if (seen.gigabytes > 0 && !seen.teraflops.empty())
    run["ceilings"] = {{"gigabytes", seen.gigabytes}, {"teraflops", seen.teraflops}};
  return run;
}

std::string report_page(const std::vector<Json>& runs, const Json& history) {
  std::string text = page::page_html;
  put(text, "@STYLE@", page::page_css);
  put(text, "@SCRIPT@", page::page_js);
  // WHY before the data: nothing that a run's file holds can then be part of what the policy allows.
  put(text, "@POLICY@", policy(text));
  put(text, "@DATA@", safe_in_script({{"runs", runs}, {"history", history}}));
  return text;
}

int run_report(const ReportOptions& options) {
  const Status status = report(options);
  return status.ok() ? kExitGood : report_failure(status);
}

}  // namespace wt::cli
