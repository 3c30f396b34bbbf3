// SPDX-License-Identifier: Apache-2.0
// generate/export_text.h - the texts of the files of an exported tree. export.cc writes them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "config/kernel_config.h"
#include "config/targets.h"

namespace wt::exported {

struct Entry {
  KernelConfig config;
  std::string name;
};

Result<std::string> kernel_header(const Entry& entry);
std::string kernel_unit(const Entry& entry);
std::string wrapper_header(const Entry& entry);
std::string include_all_header(std::span<const Entry> entries, Direction direction);
std::string registration_header(std::span<const Entry> entries);
std::string registration_unit(std::span<const Entry> entries);
std::string cmake_lists(std::span<const Entry> entries, const TargetName& target);
// One run of the generator into a tree.
struct Run {
  std::string rule_set;
  std::vector<std::string> kernels;  // names
};
std::string manifest(std::span<const Entry> entries, const TargetName& target, const std::vector<Run>& runs,
                     const std::vector<std::string>& files);

// The files that an earlier manifest lists; empty where the text is none.
std::vector<std::string> files_of_manifest(const std::string& text);

// The runs and kernels of an earlier manifest; a tree of another target is an error.
std::vector<Run> runs_of_manifest(const std::string& text);
Result<std::vector<KernelConfig>> kernels_of_manifest(const std::string& text);
Status check_manifest_target(const std::string& text, const TargetName& target);

}  // namespace wt::exported
