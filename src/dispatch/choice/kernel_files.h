// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/kernel_files.h - kernels that a caller configured: from JSON text, files, folders, packs, libraries.
//
//   text or path --configs_from--> KernelConfigs          --add_kernels--> Registry, with a priority
#pragma once

#include <string>
#include <vector>

#include "dispatch/choice/registry.h"

namespace wt {

// Whether a text is JSON and no name or path: it begins with { or [.
bool is_json(std::string_view text);

// The configs of a JSON document: one config, a list of them, what `generate --list --format json` prints, or the
// manifest of an exported tree.
Result<std::vector<KernelConfig>> configs_from_json(const std::string& text, const std::string& origin);

// The same of JSON text as it is, of a .json file, of an exported tree's folder (its manifest), or of a folder of .json
// files.
Result<std::vector<KernelConfig>> configs_from(const std::string& text_or_path);

// Adds what `from` names: as above, a pack (.wtpack), or the shared library of an exported tree (.so). Kernels for
// other targets are left out, and one that is for none of them is an error. Invalid configs are refused with their
// reasons. A kernel that is registered already takes the new priority. Gives how many there were.
Result<size_t> add_kernels(Registry& registry, const std::string& from, Priority priority);

}  // namespace wt
