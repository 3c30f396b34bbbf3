// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/same_code.h"

#include <atomic>
#include <map>
#include <mutex>

#include "base/log.h"
#include "compile/machine_code.h"
#include "dispatch/plan/kernel.h"
#include "dispatch/tuning/key.h"
#include "dispatch/tuning/lookup.h"

namespace wt::tuning {
namespace {

// Machine code by content key, as far as this process has seen it.
class Seen {
 public:
  std::string find(const std::string& content_key) {
    const std::lock_guard lock(mutex_);
    const auto found = codes_.find(content_key);
    return found == codes_.end() ? "" : found->second;
  }
  void add(const std::string& content_key, const std::string& machine_code) {
    const std::lock_guard lock(mutex_);
    codes_[content_key] = machine_code;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> codes_;
};

Seen& seen() {
  static auto& seen = *new Seen;
  return seen;
}

// What was found out serves the next process too; where it cannot be kept, that one finds out again.
void keep(const KernelCode& code) {
  const Result<std::filesystem::path> path = Database::default_path();
  if (!path.ok()) return;
  const Result<std::unique_ptr<Database>> database = Database::open(*path, Access::kCreate);
  const Status kept = database.ok() ? (*database)->keep_machine_code(code) : database.status();
  static std::atomic<bool> said = false;
  if (!kept.ok() && !said.exchange(true))
    log::warn("the machine code of tuned kernels is compared again next time: {}", kept.message());
}

// Empty: unknown, and it must not be compiled.
Result<std::string> machine_code(const DeviceInfo& device, const KernelConfig& config, KernelCode now,
                                 CodeCheck check) {
  if (std::string code = seen().find(now.content_key); !code.empty()) return code;
  std::string code = kept_machine_code(now.content_key);
  if (code.empty()) {
    if (check == CodeCheck::kKnown && !is_compiled(device, config)) return std::string();
    std::string pack;
    WT_TRY_ASSIGN(const compile::Module module, module_for(device, config, pack));
    code = now.machine_code = compile::machine_code_of(module.image);
    if (check == CodeCheck::kCompile) keep(now);
  }
  seen().add(now.content_key, code);
  return code;
}

}  // namespace

Result<Comparison> compare_code(const DeviceInfo& device, const KernelConfig& config, const KernelCode& measured,
                                CodeCheck check) {
  WT_TRY_ASSIGN(const KernelCode now, code_to_load(device, config));
  if (now.content_key == measured.content_key) return Comparison::kSame;
  if (measured.compiler.empty()) return Comparison::kChanged;  // of a database that did not keep it
  const bool other_compiler = now.compiler != measured.compiler;
  const Comparison otherwise = other_compiler ? Comparison::kOtherCompiler : Comparison::kChanged;
  if (measured.machine_code.empty()) return otherwise;
  WT_TRY_ASSIGN(const std::string code, machine_code(device, config, now, check));
  if (code.empty()) return other_compiler ? Comparison::kOtherCompiler : Comparison::kUnknown;
  return code == measured.machine_code ? Comparison::kSame : otherwise;
}

}  // namespace wt::tuning
