// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/packs.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "base/environment.h"
#include "base/installed_file.h"
#include "base/log.h"
#include "config/targets.h"

namespace wt {
namespace {

using Catalogue = std::shared_ptr<const Registry>;
using Packs = std::vector<std::shared_ptr<const compile::Pack>>;

// Those of the files that are for this target.
Result<Packs> read_packs(std::string_view files, compile::Backend backend, Target target) {
  Packs packs;
  while (!files.empty()) {
    const std::string_view file = files.substr(0, files.find(':'));
    files.remove_prefix(std::min(files.size(), file.size() + 1));
    if (file.empty()) continue;
    WT_TRY_ASSIGN(const std::shared_ptr<const compile::Pack> pack, compile::Pack::read(file));
    WT_TRY(pack->check_trusted());
    WT_TRY(pack->check_version());
    if (const Status status = pack->check_target(backend, target); !status.ok()) {
      // A simulator beside the GPU that the packs are for is nothing to warn of.
      const auto level = backend == compile::Backend::kHost ? log::Level::kInfo : log::Level::kWarn;
      if (log::enabled(level)) log::write(level, fmt::format("not used: {}", status.message()));
      continue;
    }
    packs.push_back(pack);
  }
  return packs;
}

// $WAVETILE_SYSTEM_PACK where set (empty: none), else what is installed for a GPU of this target.
std::string system_files(compile::Backend backend, Target target) {
  if (const char* asked = environment_or_null("WAVETILE_SYSTEM_PACK")) return asked;
  if (backend == compile::Backend::kHost) return "";
  static std::mutex mutex;
  static auto& found = *new std::map<Target, std::string>;  // WHY once: files are looked for in six folders
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = found.try_emplace(target);
  if (!is_new) return at->second;
  const std::vector<std::string> files = installed_file(std::string(info_of(target).name) + ".wtpack");
  return at->second = files.empty() ? "" : files.front();
}

Result<Catalogue> open_packs(const std::string& own, const std::string& system, compile::Backend backend,
                             Target target) {
  Registry named(backend, target);
  const Result<Packs> packs = read_packs(own, backend, target);
  if (!packs.ok()) return packs.status().with_context("WAVETILE_PACK");
  for (const auto& pack : *packs)
    if (const Status status = named.add_pack(pack); !status.ok()) return status.with_context("WAVETILE_PACK");
  auto registry = std::make_shared<Registry>(backend, target);
  const Result<Packs> below = read_packs(system, backend, target);
  if (!below.ok()) log::warn("the installed pack is not used: {}", below.status().message());
  for (const auto& pack : below.ok() ? *below : Packs()) WT_TRY(registry->add_pack(pack));
  for (const auto& pack : *packs) WT_TRY(registry->add_pack(pack, Priority::kNormal, Existing::kReplace));
  return registry->size() > 0 ? Catalogue(std::move(registry)) : nullptr;
}

std::string own_files() {
  const char* files = environment_or_null("WAVETILE_PACK");
  return files ? files : "";
}

}  // namespace

compile::Backend backend_for(const DeviceInfo& device) {
  return device.kind == DeviceKind::kSim ? compile::Backend::kHost : compile::backend_of(device.target);
}

std::string pack_places(const DeviceInfo& device) {
  return own_files() + "\n" + system_files(backend_for(device), device.target);
}

Result<Catalogue> installed_packs(const DeviceInfo& device) {
  const compile::Backend backend = backend_for(device);
  const std::string own = own_files(), system = system_files(backend, device.target);
  if (own.empty() && system.empty()) return Catalogue();
  static std::mutex mutex;
  static auto& opened = *new std::map<std::tuple<std::string, std::string, compile::Backend, Target>, Catalogue>;
  const std::lock_guard lock(mutex);
  const std::tuple key(own, system, backend, device.target);
  if (const auto found = opened.find(key); found != opened.end()) return found->second;
  WT_TRY_ASSIGN(Catalogue packs, open_packs(own, system, backend, device.target));
  return opened[key] = std::move(packs);
}

}  // namespace wt
