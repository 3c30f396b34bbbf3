// SPDX-License-Identifier: Apache-2.0
#include "generate/export.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include "base/files.h"
#include "base/parallel.h"
#include "config/fields.h"
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
  return tree.put(fmt::format("wrappers/{}.h", entry.name), exported::wrapper_header(entry));
}

Status put_shared(Tree& tree, const ExportRequest& request, const std::vector<Entry>& entries) {
  for (const DeviceHeader& header : request.headers) WT_TRY(tree.put("device/" + header.name, header.text));
  for (const Direction direction : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight})
    WT_TRY(tree.put(fmt::format("include_all_{}.h", text_of(direction)),
                    exported::include_all_header(entries, direction)));
  WT_TRY(tree.put("register_kernels.h", exported::registration_header(entries)));
  WT_TRY(tree.put("registration.cc", exported::registration_unit(entries)));
  return tree.put("CMakeLists.txt", exported::cmake_lists(entries, request.target));
}

Status check_request(const ExportRequest& request) {
  if (request.kernels.empty()) return bad_input("there is no kernel to export; widen the query");
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

  ExportReport report;
  Tree tree(request.folder);
  const int total = static_cast<int>(request.kernels.size());
  std::vector<Status> results(request.kernels.size());
  std::vector<Entry> entries;
  entries.reserve(request.kernels.size());
  for (const KernelConfig& config : request.kernels) entries.push_back({config, name_of(config)});
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
  if (const Status status =
          tree.put("manifest.json", exported::manifest(good, request.target, request.rule_set, tree.files()));
      !status.ok())
    report.failures.emplace_back("manifest.json", status.message());
  // After the manifest: a failed removal leaves a file too many, never a manifest that is wrong.
  if (old_manifest.ok()) report.removed = tree.remove_stale(exported::files_of_manifest(*old_manifest));
  report.written = tree.written();
  report.unchanged = tree.unchanged();
  return report;
}

}  // namespace wt
