// SPDX-License-Identifier: Apache-2.0
#include "cli/show/bench_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_value.h"
#include "cli/exit_code.h"
#include "cli/show/numbers.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"

namespace wt::cli {

namespace {

std::string verdict(const TrialResult& trial) {
  if (trial.verified) return trial.verification.sampled() ? "sample" : "whole";
  return trial.status.code() == Code::kVerificationFailed ? "WRONG" : "FAILED";
}

// The CPU's paths have short names; a generated kernel's is a line of its own (kernel_line).
std::string path_of(const TrialResult& trial) {
  if (trial.device.kind != DeviceKind::kCpu) return trial.plan.kernel.empty() ? "" : "generated";
  return trial.plan.kernel.starts_with("cpu_") ? trial.plan.kernel.substr(4) : trial.plan.kernel;
}

// High over low; 0 where nothing was timed.
double spread(const TrialResult& trial) {
  return trial.timing && trial.timing->low_us > 0 ? trial.timing->high_us / trial.timing->low_us : 0;
}

// How much of the row's time the least possible one is; 0 where it is not known.
double share(const TrialResult& trial, const Roof& roof) {
  if (!trial.verified || !trial.timing || trial.timing->median_us <= 0 || trial.bytes > 0) return 0;
  return roof.limit_us(trial.problem) / trial.timing->median_us;
}

// Over the verified and timed rows of a direction, or of all; 0 where there is none.
double geometric_mean(const std::vector<BenchRow>& rows, std::optional<Direction> direction) {
  double sum = 0;
  int count = 0;
  for (const BenchRow& row : rows) {
    const double rate = row.trial.gigaflops();
    if (!row.trial.verified || rate <= 0 || (direction && row.trial.problem.direction != *direction)) continue;
    sum += std::log(rate);
    ++count;
  }
  return count == 0 ? 0 : std::exp(sum / count);
}

// "; speed-up over cuDNN 0.98 (geometric mean of 24, 15 below 1)", or nothing.
std::string speedup_summary(const std::vector<BenchRow>& rows) {
  double sum = 0;
  int count = 0, losses = 0;
  for (const BenchRow& row : rows) {
    if (row.speedup() <= 0) continue;
    sum += std::log(row.speedup());
    ++count;
    losses += row.speedup() < 1;
  }
  if (count == 0) return "";
  return fmt::format("speed-up over cuDNN's best {:.3f} (geometric mean of {}, {} below 1)\n", std::exp(sum / count),
                     count, losses);
}

// "strict non-finite behaviour takes 1.31 times as long on 4 rows (geometric mean)", or nothing.
std::string strict_summary(const std::vector<BenchRow>& rows) {
  double sum = 0;
  int count = 0;
  for (const BenchRow& row : rows) {
    if (!row.strict || !row.strict->timing || !row.trial.timing) continue;
    sum += std::log(row.strict->timing->median_us / row.trial.timing->median_us);
    ++count;
  }
  if (count == 0) return "";
  return fmt::format("strict non-finite behaviour takes {:.2f} times as long where it has another kernel ({} rows)\n",
                     std::exp(sum / count), count);
}

// "0.61 of the limit (geometric mean of 24), which is 182 GFLOP/s of fp32, 40 GB/s, the best of this run", or nothing.
std::string share_summary(const std::vector<BenchRow>& rows, const Roof& roof) {
  double sum = 0;
  int count = 0;
  std::map<DataType, double> rates;
  for (const BenchRow& row : rows) {
    const double part = share(row.trial, roof);
    if (part <= 0) continue;
    sum += std::log(part);
    ++count;
    rates[row.trial.problem.x] = roof.gigaflops(row.trial.problem.x);
  }
  if (count == 0) return "";
  std::string by;
  for (const auto& [type, rate] : rates) by += fmt::format("{} GFLOP/s of {}, ", rate_text(rate), name_of(type));
  return fmt::format("{:.2f} of the limit (geometric mean of {}),\nwhich is {}{:.1f} GB/s, the best of this run\n",
                     std::exp(sum / count), count, by, roof.gigabytes());
}

OrderedJson timing_json(const Timing& timing) {
  return {
      {"median_us", timing.median_us}, {"low_us", timing.low_us}, {"high_us", timing.high_us}, {"runs", timing.runs}};
}

// A compiler's log can be pages long; the JSON has all of it.
std::string start_of(const std::string& message) {
  constexpr int kLines = 6;
  size_t end = 0;
  for (int line = 0; line < kLines && end != std::string::npos; ++line) end = message.find('\n', end + (line > 0));
  return end == std::string::npos ? message + "\n" : message.substr(0, end) + "\n  ...\n";
}

constexpr Direction kDirections[] = {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight};

}  // namespace

OrderedJson cudnn_json(const CudnnResult& cudnn) {
  OrderedJson json = {{"version", cudnn.library_version}, {"plans", cudnn.plans}, {"wrong_plans", cudnn.wrong}};
  if (cudnn.tuned) {
    json["tuned"] = timing_json(*cudnn.tuned);
    json["engine"] = cudnn.engine;
    json["workspace_bytes"] = cudnn.workspace_bytes;
  }
  if (cudnn.heuristic) {
    json["heuristic"] = timing_json(*cudnn.heuristic);
    json["heuristic_engine"] = cudnn.heuristic_engine;
  }
  if (!cudnn.status.ok()) json["error"] = cudnn.status.message();
  return json;
}

double BenchRow::speedup() const {
  if (!trial.verified || !trial.timing || !cudnn || !cudnn->tuned || trial.timing->median_us <= 0) return 0;
  return cudnn->tuned->median_us / trial.timing->median_us;
}

Table bench_table(const std::vector<Row>& rows, int columns, bool compare) {
  size_t name = 0;
  size_t problem = 0;
  for (const Row& row : rows) {
    name = std::max(name, row.name.size());
    problem = std::max(problem, to_text(row.problem).size());
  }
  return Table({{"name", static_cast<int>(name), false, true},
                {"problem", static_cast<int>(problem), false, true},
                {"time", 8, true},
                {"least", 8, true, false, is_narrow(columns)},
                {"spread", 6, true},
                {"cuDNN", 8, true, false, !compare},
                {"heur.", 8, true, false, !compare || is_narrow(columns)},
                {"speed-up", 8, true, false, !compare},
                {"GFLOP/s", 7, true, false, compare && is_narrow(columns)},
                {"share", 5, true, false, compare && is_narrow(columns)},
                {"verified", 8, false, false, compare && is_narrow(columns)},
                {"path", 17, false, true, is_narrow(columns)}},
               columns);
}

std::vector<std::string> bench_cells(const BenchRow& row, const Roof& roof) {
  const TrialResult& trial = row.trial;
  return {row.name,
          to_text(trial.problem),
          trial.timing ? time_text(trial.timing->median_us) : "-",
          trial.timing ? time_text(trial.timing->minimum_us) : "-",
          spread(trial) > 0 ? fmt::format("{:.2f}x", spread(trial)) : "-",
          row.cudnn && row.cudnn->tuned ? time_text(row.cudnn->tuned->median_us) : "-",
          row.cudnn && row.cudnn->heuristic ? time_text(row.cudnn->heuristic->median_us) : "-",
          row.speedup() > 0 ? fmt::format("{:.3f}", row.speedup()) : "-",
          trial.timing ? rate_text(trial.gigaflops()) : "-",
          share(trial, roof) > 0 ? fmt::format("{:.2f}", share(trial, roof)) : "-",
          verdict(trial),
          path_of(trial)};
}

std::string kernel_line(const BenchRow& row, int columns) {
  if (row.trial.device.kind == DeviceKind::kCpu || row.trial.plan.kernel.empty()) return "";
  return "    " + kernel_text(row.trial.plan.kernel, columns > 0 ? columns - 4 : 0) + "\n";
}

std::string strict_line(const BenchRow& row, int columns) {
  if (!row.strict) return "";
  const TrialResult& strict = *row.strict;
  const std::string what = strict.timing ? time_text(strict.timing->median_us) : verdict(strict);
  const std::string start = fmt::format("    strict {}: ", strict.verified && !strict.timing ? "verified" : what);
  const int room = columns <= 0 ? 0 : std::max(12, columns - static_cast<int>(start.size()));
  return start + kernel_text(strict.plan.kernel, room) + "\n";
}

std::string bench_summary(const std::vector<BenchRow>& rows, const Roof& roof, double seconds) {
  size_t verified = 0;
  size_t previewed = 0;
  size_t simulated = 0;
  for (const BenchRow& row : rows) {
    verified += row.trial.verified;
    previewed += row.preview.has_value();
    simulated += row.preview && row.preview->simulated.verified;
  }
  std::string text = fmt::format("{} of {} verified", verified, rows.size());
  if (previewed > 0) text += fmt::format("; {} of {} GPU kernels simulated and verified", simulated, previewed);
  text += fmt::format("; {:.1f} s\n", seconds);
  text += speedup_summary(rows) + strict_summary(rows);
  const double all = geometric_mean(rows, {});
  if (all <= 0) return text;
  text += fmt::format("geometric mean {} GFLOP/s", rate_text(all));
  std::string parts;
  for (const Direction direction : kDirections) {
    const double mean = geometric_mean(rows, direction);
    if (mean > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", name_of(direction), rate_text(mean));
  }
  if (parts.find(',') != std::string::npos) text += ": " + parts;
  return text + "\n" + share_summary(rows, roof);
}

std::string unsteady_warning(const std::vector<BenchRow>& rows) {
  constexpr double kUnsteady = 2;
  int count = 0;
  double most = 0;
  for (const BenchRow& row : rows) {
    count += spread(row.trial) > kUnsteady;
    most = std::max(most, spread(row.trial));
  }
  if (count == 0) return "";
  return fmt::format(
      "wavetile: the times of {} of {} rows lie more than {:.0f} times apart (up to {:.1f}): the machine does other "
      "work; "
      "'least' is nearer to the truth than 'time', and a quiet machine better than both\n",
      count, rows.size(), kUnsteady, most);
}

std::string bench_csv(const std::vector<BenchRow>& rows, const Roof& roof) {
  const auto quoted = [](const std::string& text) {
    std::string cell = "\"";
    for (const char letter : text) cell += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    return cell + "\"";
  };
  std::string text =
      "name,direction,problem,device,kernel,verified,median_us,low_us,high_us,minimum_us,gigaflops,limit_us,share,"
      "cudnn_us,error\n";
  for (const BenchRow& row : rows) {
    const TrialResult& trial = row.trial;
    const Timing timing = trial.timing.value_or(Timing{});
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", quoted(row.name),
                    name_of(trial.problem.direction), quoted(to_text(trial.problem)), trial.device.id,
                    quoted(trial.plan.kernel), trial.verified ? 1 : 0, timing.median_us, timing.low_us, timing.high_us,
                    timing.minimum_us, trial.gigaflops(), roof.limit_us(trial.problem), share(trial, roof),
                    row.cudnn && row.cudnn->tuned ? row.cudnn->tuned->median_us : 0, quoted(trial.status.message()));
  }
  return text;
}

std::string bench_failures(const std::vector<BenchRow>& rows) {
  std::string text;
  for (const BenchRow& row : rows) {
    const std::string name = fmt::format("{} {}", row.name, name_of(row.trial.problem.direction));
    if (!row.trial.status.ok())
      text += fmt::format("wavetile: {}: {}  repeat with: {}\n", name, start_of(row.trial.status.message()),
                          row.trial.replay);
    if (row.strict && !row.strict->status.ok())
      text += fmt::format("wavetile: {}, strict: {}  repeat with: {}\n", name, start_of(row.strict->status.message()),
                          row.strict->replay);
    if (row.cudnn && !row.cudnn->status.ok())
      text += fmt::format("wavetile: {}, cuDNN: {}", name, start_of(row.cudnn->status.message()));
    if (!row.preview || row.preview->status.ok()) continue;
    text += fmt::format("wavetile: {}, GPU kernel: {}", name, start_of(row.preview->status.message()));
    if (!row.preview->simulated.status.ok()) text += fmt::format("  repeat with: {}\n", row.preview->simulated.replay);
  }
  return text;
}

OrderedJson bench_json(const std::vector<BenchRow>& rows, const Roof& roof, const DeviceInfo& device,
                       const std::string& target, const std::string& command) {
  OrderedJson json = document(command);
  json["device"] = device_json(device);
  OrderedJson list = OrderedJson::array(), ceilings = OrderedJson::object();
  int verified = 0;
  for (const BenchRow& row : rows) {
    OrderedJson entry = {{"name", row.name}};
    if (!row.suite.empty()) entry["suite"] = row.suite;
    if (!row.model.empty()) entry["model"] = row.model;
    entry.update(trial_json(row.trial));
    if (share(row.trial, roof) > 0) {
      entry["limit_us"] = roof.limit_us(row.trial.problem);
      entry["share"] = share(row.trial, roof);
      ceilings["product_tflops"][name_of(row.trial.problem.x)] = roof.gigaflops(row.trial.problem.x) * 1e-3;
      ceilings["copy_gbs"] = roof.gigabytes();
    }
    if (row.cudnn) entry["cudnn"] = cudnn_json(*row.cudnn);
    if (row.speedup() > 0) entry["speedup"] = row.speedup();
    if (row.strict) entry["strict_nonfinite"] = trial_json(*row.strict);
    if (row.preview) entry["preview"] = preview_json(*row.preview, target);
    list.push_back(std::move(entry));
    verified += row.trial.verified;
  }
  if (!ceilings.empty()) json["ceilings"] = std::move(ceilings);
  json["rows"] = std::move(list);
  json["summary"] = {{"rows", rows.size()}, {"verified", verified}, {"geomean_gigaflops", geometric_mean(rows, {})}};
  return json;
}

int bench_exit_code(const std::vector<BenchRow>& rows) {
  int code = kExitGood;
  for (const BenchRow& row : rows) {
    code = graver(code, exit_code(row.trial.status));
    if (row.strict) code = graver(code, exit_code(row.strict->status));
    if (row.preview) code = graver(code, exit_code(row.preview->status));
  }
  return code;
}

}  // namespace wt::cli
