// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/registry.h - one catalogue of the kernels of a target, whether from packs, exported trees or
// generation.
//
//   add_pack, add_exported, add_generated --> Registry --query(problem)--> kernels of that signature, in order
//
// A kernel is there once, however many provide it; the same kernel twice from one kind of provider is an error unless
// the later one shall replace the earlier. Fill a registry first and share it then: queries are const and may come from
// several threads. api/registry.cc changes a copy and then shares that.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compile/pack.h"
#include "config/kernel_config.h"
#include "generate/exported_kernel.h"
#include "problem/problem.h"

namespace wt {

enum class Priority : uint8_t { kLow, kNormal, kHigh };

// Where a kernel's code comes from, in the order in which providers of one kernel are preferred.
enum class Origin : uint8_t { kExported, kPack, kGenerated };

struct Provider {
  Origin origin = Origin::kGenerated;
  std::string detail;                                   // version of the tree, path of the pack, name of the rule set
  std::shared_ptr<const compile::Pack> pack;            // kPack
  const wavetile_exported::Kernel* exported = nullptr;  // kExported: called through its entry
  std::shared_ptr<const std::string> image;             // kExported, of a library: what a device loads
};

// What becomes of a kernel that the same kind of provider has registered before.
enum class Existing : uint8_t { kRefuse, kReplace };

struct RegisteredKernel {
  KernelConfig config;
  std::string name;
  Priority priority = Priority::kNormal;  // the highest that any provider gave
  std::vector<Provider> providers;        // by origin, one of each at most
};

class Registry {
 public:
  // Kernels for `target`, as modules of `backend`: the target's own compiler, or the host's for the simulator.
  Registry(compile::Backend backend, Target target) : backend_(backend), target_(target) {}

  // Each adds all of its kernels or, where it fails, none.
  Status add_pack(const std::shared_ptr<const compile::Pack>& pack, Priority priority = Priority::kNormal,
                  Existing existing = Existing::kRefuse);
  Status add_exported(std::span<const wavetile_exported::Kernel* const> kernels, Priority priority = Priority::kNormal);
  Status add_generated(std::span<const KernelConfig> configs, const std::string& origin,
                       Priority priority = Priority::kNormal, Existing existing = Existing::kRefuse);
  // The library that an exported tree builds, by its file, which must be trusted: it is loaded to be asked.
  // Gives how many it holds.
  Result<size_t> add_library(const std::string& file, Priority priority, Existing existing);

  // A kernel that is not there is an error.
  Status set_priority(std::string_view name, Priority priority);
  Status remove(std::string_view name);

  compile::Backend backend() const { return backend_; }
  Target target() const { return target_; }
  size_t size() const { return kernels_.size(); }
  bool contains(std::string_view name) const { return kernels_.find(name) != kernels_.end(); }

  // Kernels whose whole signature is the problem's: direction, types, layout, dimensions and epilogue. High priority
  // first, then in the order of configs. An empty catalogue is an error, and so is one without a match.
  Result<std::vector<const RegisteredKernel*>> query(const ConvProblem& problem, uint64_t user_epilogue = 0) const;

  // The same as a list that may be empty.
  std::vector<const RegisteredKernel*> matching(const ConvProblem& problem) const;

  Result<const RegisteredKernel*> find(std::string_view name) const;

  // From an exported library or a pack where one has it, else generated and compiled. Rows of a tree that is linked
  // into this program are called through their entries and have no module.
  Result<compile::Module> module(const RegisteredKernel& kernel) const;

  std::vector<KernelConfig> configs() const;  // of all, by name

  // Every kernel by name: config, priority and providers.
  std::string to_json() const;
  // The same for people: priority, name and origins, a line each.
  std::string to_text() const;

 private:
  using Kernels = std::map<std::string, RegisteredKernel, std::less<>>;

  Status add(Kernels& kernels, const KernelConfig& config, Priority priority, Provider provider,
             Existing existing) const;
  Result<KernelConfig> config_of(const wavetile_exported::Kernel& row) const;
  Status check_not_empty() const;

  compile::Backend backend_;
  Target target_;
  Kernels kernels_;
};

const char* name_of(Priority priority);  // low, normal, high
const char* name_of(Origin origin);      // exported, pack, generated
Result<Priority> parse_priority(std::string_view text);

}  // namespace wt
