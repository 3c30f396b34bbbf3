// SPDX-License-Identifier: Apache-2.0
// base/files.h - whole files, written so that a reader never sees half of one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.h"

namespace wt {

Result<std::string> read_file(const std::filesystem::path& path);

// Writes to a temporary name in the same folder (made when absent) and renames it into place.
Status write_file(const std::filesystem::path& path, std::string_view content);

// $XDG_CACHE_HOME/wavetile, or ~/.cache/wavetile.
Result<std::filesystem::path> cache_folder();

// $XDG_DATA_HOME/wavetile, or ~/.local/share/wavetile.
Result<std::filesystem::path> data_folder();

}  // namespace wt
