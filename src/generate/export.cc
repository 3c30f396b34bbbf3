// SPDX-License-Identifier: Apache-2.0
#include "generate/export.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include "base/files.h"
#include "base/parallel.h"
#include "config/fields.h"
#include "generate/export_launchers.h"
#include "generate/export_text.h"

namespace wt {

namespace {

using exported::Entry;

class Tree {
 public:
  explicit Tree(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Safe from several threads. An equal file keeps its time.
  Status put(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_ / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) {
      const Result<std::string> old = read_file(path);
      if (old.ok() && *old == text) {
        ++unchanged_;
        return note(name);
      }
    }
    WT_TRY(write_file(path, text));
    ++written_;
    return note(name);
  }

  // Files that an earlier manifest lists and this export did not write. Only such files, and only below the folder.
  int remove_stale(const std::vector<std::string>& earlier) const {
    int removed = 0;
    for (const std::string& name : earlier) {
      const std::filesystem::path path = std::filesystem::path(name).lexically_normal();
      if (files_.contains(name) || path.is_absolute() || path.empty() || *path.begin() == "..") continue;
      std::error_code error;
      removed += std::filesystem::remove(folder_ / path, error) ? 1 : 0;
    }
    return removed;
  }

  std::vector<std::string> files() const { return {files_.begin(), files_.end()}; }
  int written() const { return written_; }
  int unchanged() const { return unchanged_; }

 private:
  Status note(const std::string& name) {
    const std::lock_guard lock(mutex_);
    files_.insert(name);
    return {};
  }

  std::filesystem::path folder_;
  std::atomic<int> written_ = 0, unchanged_ = 0;
  std::mutex mutex_;
  std::set<std::string> files_;
};

Status put_kernel(Tree& tree, const Entry& entry) {
  WT_TRY_ASSIGN(const std::string header, exported::kernel_header(entry));
  WT_TRY(tree.put(fmt::format("kernels/{}.h", entry.name), header));
  WT_TRY(tree.put(fmt::format("kernels/{}.cc", entry.name), exported::kernel_unit(entry)));
  WT_TRY(tree.put(fmt::format("launchers/{}.h", entry.name), exported::launcher_header(entry)));
  return tree.put(fmt::format("wrappers/{}.h", entry.name), exported::wrapper_header(entry));
}

Status put_shared(Tree& tree, const ExportRequest& request, const std::vector<Entry>& entries) {
  for (const DeviceHeader& header : request.headers) WT_TRY(tree.put("device/" + header.name, header.text));
  for (const Direction direction : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight})
    WT_TRY(tree.put(fmt::format("include_all_{}.h", text_of(direction)),
                    exported::include_all_header(entries, direction)));
  WT_TRY(tree.put("register_kernels.h", exported::registration_header(entries)));
  WT_TRY(tree.put("wavetile_kernels.h", exported::launch_header(entries)));
  WT_TRY(tree.put("example.c", exported::example_c()));
  WT_TRY(tree.put("example.cpp", exported::example_cpp()));
  WT_TRY(tree.put("registration.cc", exported::registration_unit(entries)));
  return tree.put("CMakeLists.txt", exported::cmake_lists(entries, request.target));
}

// The runs that the tree holds after this one, each with its kernels' names.
std::vector<exported::Run> runs_of(const ExportRequest& request, const Result<std::string>& manifest) {
  std::vector<exported::Run> runs;
  if (request.mode != ExportMode::kReplace && manifest.ok()) runs = exported::runs_of_manifest(*manifest);
  std::erase_if(runs, [&](const exported::Run& run) { return run.rule_set == request.rule_set; });
  if (request.mode == ExportMode::kRemove) return runs;
  exported::Run run{request.rule_set, {}};
  for (const KernelConfig& config : request.kernels) run.kernels.push_back(name_of(config));
  runs.push_back(std::move(run));
  return runs;
}

// What the tree shall hold: this run's kernels, and those of earlier ones that stay, each once.
Result<std::vector<KernelConfig>> with_earlier(const ExportRequest& request, const Result<std::string>& manifest) {
  if (request.mode == ExportMode::kReplace) return request.kernels;
  if (!manifest.ok()) {
    if (request.mode == ExportMode::kAppend) return request.kernels;
    return bad_input("{} holds no manifest.json, so nothing of rule set {} can be removed from it",
                     request.folder.string(), request.rule_set);
  }
  WT_TRY(exported::check_manifest_target(*manifest, request.target));
  std::set<std::string> kept;
  for (const exported::Run& run : runs_of(request, manifest)) kept.insert(run.kernels.begin(), run.kernels.end());
  std::vector<KernelConfig> all = request.mode == ExportMode::kRemove ? std::vector<KernelConfig>() : request.kernels;
  for (const KernelConfig& config : all) kept.erase(name_of(config));
  WT_TRY_ASSIGN(const std::vector<KernelConfig> earlier, exported::kernels_of_manifest(*manifest));
  for (const KernelConfig& config : earlier)
    if (kept.contains(name_of(config))) all.push_back(config);
  if (all.empty())
    return bad_input("no kernel would be left in {}; remove the folder instead", request.folder.string());
  std::ranges::sort(all, ConfigLess{});
  return all;
}

Status check_request(const ExportRequest& request) {
  if (request.kernels.empty() && request.mode != ExportMode::kRemove)
    return bad_input("there is no kernel to export; widen the query");
  const auto has_struct = [](const DeviceHeader& header) { return header.name == "generate/exported_kernel.h"; };
  if (std::ranges::none_of(request.headers, has_struct))
    return bad_input("the device headers lack generate/exported_kernel.h, which every exported tree includes");
  std::error_code error;
  std::filesystem::create_directories(request.folder, error);
  if (error) return failure(Code::kIo, "cannot make the folder {}: {}", request.folder.string(), error.message());
  return {};
}

}  // namespace

Result<ExportReport> export_kernels(const ExportRequest& request) {
  WT_TRY(check_request(request));
  const Result<std::string> old_manifest = read_file(request.folder / "manifest.json");

  WT_TRY_ASSIGN(const std::vector<KernelConfig> all, with_earlier(request, old_manifest));
  ExportReport report;
  Tree tree(request.folder);
  const int total = static_cast<int>(all.size());
  std::vector<Status> results(all.size());
  std::vector<Entry> entries;
  entries.reserve(all.size());
  for (const KernelConfig& config : all) entries.push_back({config, name_of(config)});
  std::mutex mutex;
  int done = 0;
  parallel_for(
      total,
      [&](int64_t i) {
        const auto at = static_cast<size_t>(i);
        const Entry& entry = entries[at];
        if (entry.config.target != request.target.target)
          results[at] =
              bad_input("the kernel is for {}, the tree for {}", text_of(entry.config.target), to_text(request.target));
        else
          results[at] = put_kernel(tree, entry);
        const std::lock_guard lock(mutex);
        if (request.progress) request.progress(++done, total, entry.name);
      },
      request.threads);

  std::vector<Entry> good;
  std::set<std::string> names;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!results[i].ok())
      report.failures.emplace_back(entries[i].name, results[i].message());
    else if (!names.insert(entries[i].name).second)
      report.failures.emplace_back(entries[i].name, "the list holds this kernel twice");
    else
      good.push_back(entries[i]);
  }
  report.kernels = static_cast<int>(good.size());
  if (const Status status = put_shared(tree, request, good); !status.ok())
    report.failures.emplace_back("shared files", status.message());
  if (const Status status = tree.put(
          "manifest.json", exported::manifest(good, request.target, runs_of(request, old_manifest), tree.files()));
      !status.ok())
    report.failures.emplace_back("manifest.json", status.message());
  // After the manifest: a failed removal leaves a file too many, never a manifest that is wrong.
  if (old_manifest.ok()) report.removed = tree.remove_stale(exported::files_of_manifest(*old_manifest));
  report.written = tree.written();
  report.unchanged = tree.unchanged();
  return report;
}

}  // namespace wt
