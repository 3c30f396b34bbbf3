// SPDX-License-Identifier: Apache-2.0
#include "cli/report_command.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/exit_code.h"
#include "problem/problem.h"
#include "problem/tensor_data.h"

namespace wt::cli {

// Of src/cli/report, by cmake/embed_text.cmake.
namespace page {
extern const char* const page_html;
extern const char* const page_css;
extern const char* const page_js;
}  // namespace page

namespace {

using Json = nlohmann::ordered_json;

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

// Operations, and the bytes of the tensors, where the file does not say them.
void add_sizes(Json& row, const Json& source) {
  double flops = number_at(source, {"flops"}), bytes = number_at(source, {"least_bytes"});
  if (flops == 0) flops = number_at(source, {"gflop"}) * 1e9;
  if (const Result<ConvProblem> problem = parse_problem(text_at(source, "problem")); problem.ok()) {
    if (flops == 0) flops = problem->flops();
    if (bytes == 0) {
      bytes = static_cast<double>(x_bytes(*problem)) + static_cast<double>(w_bytes(*problem)) +
              static_cast<double>(y_bytes(*problem));
    }
  }
  row["flops"] = flops;
  row["bytes"] = bytes;
}

void add_time(Json& row, double us, double low, double high) {
  row["us"] = us;
  row["low_us"] = low > 0 ? low : us;
  row["high_us"] = high > 0 ? high : us;
}

Json common_row(const Json& source) {
  return {{"suite", text_at(source, "suite")},         {"name", text_at(source, "name")},
          {"direction", text_at(source, "direction")}, {"problem", text_at(source, "problem")},
          {"kernel", text_at(source, "kernel")},       {"error", text_at(source, "error")}};
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

Json bench_row(const Json& source) {
  Json row = common_row(source);
  add_time(row, number_at(source, {"timing", "median_us"}), number_at(source, {"timing", "low_us"}),
           number_at(source, {"timing", "high_us"}));
  row["cudnn_us"] = number_at(source, {"cudnn", "tuned", "median_us"});
  row["heuristic_us"] = number_at(source, {"cudnn", "heuristic", "median_us"});
  add_sizes(row, source);
  return row;
}

Json ceilings_of(const Json& document) {
  const double bytes = number_at(document, {"ceilings", "copy_gbs"});
  const double flops = number_at(document, {"ceilings", "bf16_tflops"});
  if (bytes == 0 || flops == 0) return nullptr;
  return {{"gigabytes", bytes}, {"teraflops", flops}};
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
  WT_TRY(write_file(options.output, report_page(runs)));
  fmt::print("{} rows of {} in {}; open it in a browser\n", rows, options.files.size() == 1 ? "one run" : "two runs",
             options.output);
  return {};
}

}  // namespace

Result<Json> read_run(const std::string& text, const std::string& file) {
  const Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded() || !document.is_object()) return bad_input("{} is no JSON document", file);
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
              {"ceilings", ceilings_of(document)},
              {"rows", Json::array()}};
  for (const Json& row : *rows) {
    if (!row.is_object()) return bad_input("{} has a row that is no object", file);
    run["rows"].push_back(row.contains("wavetile") || row.contains("cudnn_tuned") || row.contains("gflop")
                              ? compare_row(row)
                              : bench_row(row));
  }
  return run;
}

std::string report_page(const std::vector<Json>& runs) {
  std::string text = page::page_html;
  put(text, "@STYLE@", page::page_css);
  put(text, "@SCRIPT@", page::page_js);
  put(text, "@DATA@", safe_in_script({{"runs", runs}}));
  return text;
}

int run_report(const ReportOptions& options) {
  const Status status = report(options);
  return status.ok() ? kExitGood : report_failure(status);
}

}  // namespace wt::cli
