// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/packs.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "base/environment.h"
#include "base/log.h"

namespace wt {
namespace {

using Catalogue = std::shared_ptr<const Registry>;

Result<Catalogue> open_packs(std::string_view files, compile::Backend backend, Target target) {
  auto registry = std::make_shared<Registry>(backend, target);
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
    WT_TRY(registry->add_pack(pack));
  }
  return registry->size() > 0 ? Catalogue(std::move(registry)) : nullptr;
}

}  // namespace

compile::Backend backend_for(const DeviceInfo& device) {
  return device.kind == DeviceKind::kSim ? compile::Backend::kHost : compile::backend_of(device.target);
}

Result<Catalogue> installed_packs(const DeviceInfo& device) {
  const char* files = environment_or_null("WAVETILE_PACK");
  if (!files || !*files) return Catalogue();
  static std::mutex mutex;
  static auto& opened = *new std::map<std::tuple<std::string, compile::Backend, Target>, Catalogue>;
  const std::lock_guard lock(mutex);
  const std::tuple key(std::string(files), backend_for(device), device.target);
  if (const auto found = opened.find(key); found != opened.end()) return found->second;
  Result<Catalogue> packs = open_packs(files, backend_for(device), device.target);
  if (!packs.ok()) return packs.status().with_context("WAVETILE_PACK");
  return opened[key] = *packs;
}

}  // namespace wt
