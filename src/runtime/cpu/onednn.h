// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/onednn.h - finds and loads the oneDNN plug-in.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/cpu/onednn_abi.h"

namespace wt::cpu {

struct OnednnPlugin {
  const WavetileOnednnProvider* provider = nullptr;  // null: absent
  std::string path;
  std::string fault;  // why it is absent and how to get it
};

// Loaded by the first call, and then for good: OpenMP's threads cannot be unloaded. A missing plug-in is logged once.
const OnednnPlugin& onednn_plugin();

// The places of onednn_plugin() in order: $WAVETILE_ONEDNN_PROVIDER alone where set; else beside the program or shared
// library, lib/wavetile beside or above that folder, and where the project was installed.
std::vector<std::string> onednn_search_path();

// Opens the first of `paths` that is a plug-in of this version.
Result<OnednnPlugin> load_onednn(const std::vector<std::string>& paths);

}  // namespace wt::cpu
