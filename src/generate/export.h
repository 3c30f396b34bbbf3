// SPDX-License-Identifier: Apache-2.0
// generate/export.h - a list of kernels to a folder of sources that builds by itself with CMake.
//
//   kernels/NAME.h   the generated source        kernels/NAME.cc   its compilation unit
//   wrappers/NAME.h  its registry wrapper        include_all_DIRECTION.h, register_kernels.h, registration.cc
//   launchers/NAME.h its launcher, in C           wavetile_kernels.h, example.c, example.cpp
//   device/          the device headers          manifest.json, CMakeLists.txt
//
// Files whose text would not change are not touched, so that a build after a second export compiles nothing.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "config/kernel_config.h"
#include "config/targets.h"

namespace wt {

struct DeviceHeader {
  std::string name;  // path below src/, as #include writes it
  std::string text;
};

enum class ExportMode : uint8_t {
  kReplace,  // the tree holds this run's kernels and no others
  kAppend,   // and those of earlier runs; a second run of a rule set takes the place of the first
  kRemove,   // those of earlier runs without the ones that only the rule set's run has
};

struct ExportRequest {
  std::filesystem::path folder;
  TargetName target;                  // of every kernel; its simulated form presets the tree's backend
  std::string rule_set;               // for the manifest: a rule set's name, or "single"
  std::vector<KernelConfig> kernels;  // all of `target`
  std::vector<DeviceHeader> headers;  // compile::embedded_headers(), which this room does not know
  ExportMode mode = ExportMode::kReplace;
  int threads = 0;  // 0: hardware_threads()
  // Called after each kernel, one call at a time, in any order.
  std::function<void(int done, int total, const std::string& name)> progress;
};

struct ExportReport {
  int kernels = 0;    // exported
  int written = 0;    // files
  int unchanged = 0;  // files left untouched
  int removed = 0;    // files of an earlier export that no kernel needs any more
  std::vector<std::pair<std::string, std::string>> failures;  // kernel or file, message
};

// Fails where nothing can be written at all; what goes wrong with one kernel is in the report, and the rest goes on.
Result<ExportReport> export_kernels(const ExportRequest& request);

}  // namespace wt
