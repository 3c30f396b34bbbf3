// SPDX-License-Identifier: Apache-2.0
// config/target_lookup.cc - targets by their names and architectures, and what their matrix units multiply.
#include <algorithm>
#include <cctype>

#include "base/format.h"
#include "config/enum_names.h"
#include "config/targets.h"

namespace wt {
namespace {

constexpr std::string_view kSimulated = "sim:";

// " did you mean sm_90a (Hopper: H100, H200)?" for the name of a GPU or of its architecture, or nothing.
std::string target_meant(std::string_view text) {
  constexpr size_t kLeast = 4;  // letters that name a GPU: H100
  const auto same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
  for (const TargetInfo& info : targets())
    if (text.size() >= kLeast && !std::ranges::search(info.hardware, text, same).empty())
      return fmt::format(" did you mean {} ({})?", info.name, info.hardware);
  return "";
}

}  // namespace

Result<TargetName> parse_target(std::string_view text) {
  TargetName name;
  std::string_view rest = text;
  if (rest.starts_with(kSimulated)) {
    name.simulated = true;
    rest.remove_prefix(kSimulated.size());
  }
  for (const TargetInfo& info : targets()) {
    if (info.name != rest) continue;
    name.target = info.target;
    return name;
  }
  return bad_input("{} is not a target;{} choose one of {}, or sim: and one of them for the simulator", text,
                   target_meant(rest), enum_table<Target>().choices());
}

std::string to_text(const TargetName& name) {
  return fmt::format("{}{}", name.simulated ? kSimulated : "", info_of(name.target).name);
}

const TargetInfo* find_architecture(std::string_view architecture) {
  for (const TargetInfo& info : targets())
    if (info.vendor == Vendor::kAmd && !is_generic(info) && info.compiler_arch == architecture) return &info;
  for (const TargetInfo& info : targets())
    if (std::ranges::find(info.covers, architecture) != info.covers.end()) return &info;
  return nullptr;
}

std::string architectures_text(const TargetInfo& info) {
  if (!is_generic(info)) return std::string(info.compiler_arch);
  std::string text;
  for (size_t i = 0; i < info.covers.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == info.covers.size() ? " and " : ", ", info.covers[i]);
  return fmt::format("{} by {}", text, info.name);
}

std::string compiler_needed(const TargetInfo& info) {
  const int version = info.min_compiler_version;
  if (info.vendor == Vendor::kNvidia) return fmt::format("NVRTC {}.{} or newer", version / 10, version % 10);
  return fmt::format("clang {} or newer", version);
}

std::vector<MmaShape> mma_shapes(const TargetInfo& info, DataType type) {
  std::vector<MmaShape> shapes;
  for (bool portable : {true, false})
    for (const MmaShape& mma : info.mma)
      if (mma.type == type && mma.portable == portable) shapes.push_back(mma);
  return shapes;
}

const MmaShape* find_mma(const TargetInfo& info, DataType type, Extent3 shape) {
  for (const MmaShape& mma : info.mma) {
    const bool n_matches = shape.n >= mma.shape.n && shape.n <= mma.max_n && shape.n % mma.shape.n == 0;
    if (mma.type == type && mma.shape.m == shape.m && mma.shape.k == shape.k && n_matches) return &mma;
  }
  return nullptr;
}

std::string_view name_of(Vendor vendor) { return vendor == Vendor::kNvidia ? "nvidia" : "amd"; }

std::string_view name_of(MmaPath path) {
  using enum MmaPath;
  switch (path) {
    case kMmaSync:
      return "mma.sync";
    case kWgmma:
      return "wgmma";
    case kTcgen05:
      return "tcgen05";
    case kMfma:
      return "mfma";
    case kWmma:
      return "wmma";
    case kFma:
      return "fma";
  }
  return "";
}

}  // namespace wt
