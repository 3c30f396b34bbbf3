// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/proven.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/environment.h"
#include "base/files.h"
#include "base/format.h"
#include "config/quarantine.h"
#include "config/targets.h"

namespace wt {
namespace {

namespace fs = std::filesystem;

// A line: target, form, name of the GPU, which may have spaces.
struct Line {
  std::string target, form, gpu;
  auto operator<=>(const Line&) const = default;
};

Result<std::set<Line>> read_lines(const fs::path& path) {
  std::set<Line> lines;
  std::error_code error;
  if (!fs::exists(path, error)) return lines;
  WT_TRY_ASSIGN(const std::string text, read_trusted_file(path));
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Line read;
    if (!(words >> read.target >> read.form)) continue;
    std::getline(words >> std::ws, read.gpu);
    lines.insert(std::move(read));
  }
  return lines;
}

bool shows(const UnprovenForm& form, const std::string& probe) {
  return ::fnmatch(std::string(form.probes).c_str(), probe.c_str(), 0) == 0;
}

}  // namespace

Result<fs::path> proven_path() {
  if (const std::string named = environment("WAVETILE_PROVEN_FORMS"); !named.empty()) return fs::path(named);
  WT_TRY_ASSIGN(const fs::path folder, data_folder());
  return folder / "proven-forms.txt";
}

std::set<std::string> proven_forms(const DeviceInfo& device) {
  std::set<std::string> proven;
  const Result<fs::path> path = proven_path();
  if (!path.ok()) return proven;
  const Result<std::set<Line>> lines = read_lines(*path);
  if (!lines.ok()) return proven;
  for (const Line& line : *lines)
    if (line.target == info_of(device.target).name && line.gpu == device.name) proven.insert(line.form);
  return proven;
}

Result<std::set<std::string>> record_probes(const DeviceInfo& device, std::span<const ProbeResult> results,
                                            std::span<const std::string> known) {
  WT_TRY_ASSIGN(const fs::path path, proven_path());
  WT_TRY_ASSIGN(std::set<Line> lines, read_lines(path));
  const std::set<Line> before = lines;
  std::map<std::string, bool> ran;
  for (const ProbeResult& result : results) ran[result.name] = result.passed;
  std::set<std::string> proven;
  for (const UnprovenForm& form : unproven_forms()) {
    const Line line{std::string(info_of(device.target).name), std::string(form.id), device.name};
    int all = 0, passed = 0, failed = 0;
    for (const std::string& probe : known) {
      if (!shows(form, probe)) continue;
      ++all;
      if (const auto result = ran.find(probe); result != ran.end()) ++(result->second ? passed : failed);
    }
    if (failed > 0) lines.erase(line);
    if (all > 0 && passed == all) lines.insert(line);
    if (lines.contains(line)) proven.insert(line.form);
  }
  if (lines == before) return proven;
  std::string text;
  for (const Line& line : lines) text += fmt::format("{} {} {}\n", line.target, line.form, line.gpu);
  WT_TRY(make_private_folder(path.parent_path()));
  WT_TRY(write_file(path, text));
  return proven;
}

std::string unproven_reason(const std::set<std::string>& proven, const KernelConfig& config) {
  const UnprovenForm* form = unproven_form(config);
  if (!form || proven.contains(std::string(form->id))) return "";
  return fmt::format(
      "form {} rests on what no source proves, {}, and no probe has shown it on this GPU; run 'wavetile "
      "conformance --device gpu', whose probes {} show it",
      form->id, form->fact, form->probes);
}

}  // namespace wt
