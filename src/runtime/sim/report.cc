// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/report.h"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "base/check.h"
#include "runtime/sim/engine.h"
#include "runtime/sim/watchdog.h"

namespace wt::sim {
namespace {

const char* fault_text(Fault fault) {
  switch (fault) {
    case Fault::kRace:
      return "race";
    case Fault::kUninitialised:
      return "uninitialised";
    case Fault::kProxy:
      return "missing proxy fence";
    case Fault::kBounds:
      return "out of bounds";
    case Fault::kAlignment:
      return "misaligned";
    case Fault::kBarrier:
      return "barrier misuse";
    case Fault::kDivergence:
      return "divergence";
    case Fault::kDeadlock:
      return "deadlock";
    case Fault::kUse:
      return "misuse";
    case Fault::kExit:
      return "unfinished at exit";
    case Fault::kLimit:
      return "limit";
  }
  return "fault";
}

// Leaves the stopped fibre for good.
[[noreturn]] void stop() {
  Thread& thread = *current;
  current = nullptr;
  switch_fibre(thread.fibre, thread.block->cluster->main, true);
  check_failed(__FILE__, __LINE__, "false", "a stopped simulated thread ran on");
}

void compose(const Thread& thread, Fault fault, const char* operation, Site site, const std::string& message) {
  Cluster& cluster = *thread.block->cluster;
  if (!cluster.report.empty()) return;
  const Int3 at = thread.block->index;
  cluster.report = fmt::format("simulator: {}: kernel {}, block ({},{},{}), warp {}, thread {}: {} at {}: {}",
                               fault_text(fault), cluster.plan->kernel, at.x, at.y, at.z, thread.warp->index,
                               thread.index, operation, site_text(site).text, message);
}

template <class... Args>
Text text_of(fmt::format_string<Args...> format, Args&&... args) {
  Text result;
  const auto end = fmt::format_to_n(result.text, sizeof result.text - 1, format, std::forward<Args>(args)...);
  *end.out = 0;
  return result;
}

std::string wait_text(const Block& block, const Wait& wait) {
  switch (wait.kind) {
    case Wait::Kind::kStart:
      return "not started";
    case Wait::Kind::kRunning:
      return "running";
    case Wait::Kind::kDone:
      return "returned";
    case Wait::Kind::kBlock: {
      return fmt::format("sync_block, {} of {} arrived", block.barriers[0].arrived, block.live);
    }
    case Wait::Kind::kNamed: {
      return fmt::format("sync_named {}, {} of {} arrived", wait.a, block.barriers[wait.a].arrived, wait.b);
    }
    case Wait::Kind::kWarp:
      return fmt::format("{}, for the other lanes of the warp", reinterpret_cast<const char*>(wait.a));
    case Wait::Kind::kMbarrier: {
      for (const Mbarrier& barrier : block.mbarriers) {
        if (barrier.address != wait.a) continue;
        return fmt::format("mbarrier {:#x} (byte {}) parity {}: phase {} misses {} of {} arrivals and {} bytes", wait.a,
                           wait.a - block.base, wait.b, barrier.phase, barrier.pending, barrier.count, barrier.bytes);
      }
      return fmt::format("mbarrier {:#x}", wait.a);
    }
    case Wait::Kind::kCluster: {
      return fmt::format("cluster_wait, {} of {} arrived", block.cluster->barrier.arrived, block.cluster->live);
    }
    case Wait::Kind::kWgmma:
      return "wgmma_wait, for the other warps of the warpgroup";
    case Wait::Kind::kRegisters:
      return fmt::format("take_registers {}: the block's warps hold {} of its {} registers", wait.a,
                         registers_held(block), registers_of(block));
    case Wait::Kind::kTensor:
      return fmt::format("tensor memory, {} columns: until so many are free, or the pair's other block does the same",
                         wait.a);
    case Wait::Kind::kSpin:
      return fmt::format("polling {:#x}", wait.a);
  }
  return "?";
}

}  // namespace

void report_for(const Thread& thread, Fault fault, const char* operation, Site site, const std::string& message) {
  compose(thread, fault, operation, site, message);
}

void fail(Fault fault, const char* operation, Site site, std::string message) {
  compose(*current, fault, operation, site, message);
  std::string().swap(message);
  stop();
}

void report_block(Cluster& cluster, const Block& block, Fault fault, std::string message) {
  const Int3 at = block.index;
  cluster.report = fmt::format("simulator: {}: kernel {}, block ({},{},{}): {}", fault_text(fault),
                               cluster.plan->kernel, at.x, at.y, at.z, message);
}

Text site_text(Site site) {
  if (!site.file) return text_of("an unknown line");
  // Paths below src/ as #include writes them; generated sources by their own name.
  const char* name = site.file;
  for (const char* part : {"/kernels/", "/conformance/", "/target/", "/sim_kernels/"}) {
    if (const char* found = std::strstr(site.file, part)) name = found + 1;
  }
  if (name == site.file) {
    if (const char* slash = std::strrchr(name, '/')) name = slash + 1;
  }
  return text_of("{}:{}", name, site.line);
}

Text shared_text(const Block& block, uint32_t address) {
  return text_of("shared address {:#x} (byte {} of {})", address, static_cast<int64_t>(address) - block.base,
                 block.high - block.base);
}

Text actor_text(const Cluster& cluster, uint32_t actor) {
  const auto first_barrier = static_cast<uint32_t>(cluster.mbarrier_actor(0, 0));
  if (actor >= first_barrier) {
    const auto blocks = static_cast<uint32_t>(cluster.blocks.size());
    const uint32_t slot = (actor - first_barrier) / blocks;
    const Block& block = cluster.blocks[(actor - first_barrier) % blocks];
    const Mbarrier& barrier = block.mbarriers[slot];
    return text_of("the bulk copy on mbarrier {:#x} (byte {})", barrier.address, barrier.address - block.base);
  }
  const auto warps = static_cast<uint32_t>(cluster.blocks[0].warps.size());
  const auto first_products = static_cast<uint32_t>(cluster.products_actor(0, 0));
  if (actor >= first_products) {
    const auto groups = static_cast<uint32_t>(cluster.sequences);
    if (cluster.has_tensor) {
      return text_of("the products of warp {} of the cluster's block {}", (actor - first_products) % groups,
                     (actor - first_products) / groups);
    }
    const uint32_t first = (actor - first_products) % groups * 4;
    if (cluster.blocks.size() == 1) return text_of("the products of warps {} to {}", first, first + 3);
    return text_of("the products of warps {} to {} of the cluster's block {}", first, first + 3,
                   (actor - first_products) / groups);
  }
  if (cluster.blocks.size() == 1) return text_of("warp {}", actor % warps);
  return text_of("warp {} of the cluster's block {}", actor % warps, actor / warps);
}

Text lane_text(const Cluster& cluster, uint32_t actor, int lane) {
  return text_of("lane {} of {}", lane, actor_text(cluster, actor).text);
}

std::string describe_waits(const Cluster& cluster) {
  std::string text;
  for (const Block& block : cluster.blocks) {
    struct Group {
      Wait wait;
      std::string members;
      int count = 0;
    };
    std::vector<Group> groups;
    const int count = static_cast<int>(block.threads.size());
    for (int first = 0; first < count;) {
      const Wait& wait = block.threads[first].wait;
      int end = first + 1;
      while (end < count && block.threads[end].wait == wait) ++end;
      Group* group = nullptr;
      for (Group& other : groups) group = other.wait == wait ? &other : group;
      if (!group) group = &groups.emplace_back(Group{wait, "", 0});
      if (++group->count <= 8) {
        group->members += group->members.empty() ? "" : ",";
        group->members += end - first == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, end - 1);
      } else if (group->count == 9) {
        group->members += ",...";
      }
      first = end;
    }
    if (cluster.blocks.size() > 1) {
      text += fmt::format("  block ({},{},{}):\n", block.index.x, block.index.y, block.index.z);
    }
    for (const Group& group : groups) {
      const bool located = group.wait.site.file != nullptr;
      text += fmt::format("  threads {}: {}{}{}\n", group.members, wait_text(block, group.wait), located ? " at " : "",
                          located ? site_text(group.wait.site).text : "");
    }
  }
  if (!text.empty()) text.pop_back();
  return text;
}

namespace {

struct sigaction previous[NSIG];

std::string pointer_text(const Cluster& cluster, uintptr_t address) {
  return fmt::format("address {:#x}: {}", address, describe_address(cluster.plan->buffers, address));
}

// The thread's line is not known here, but the primitive that it executed last is.
void on_signal(int number, siginfo_t* info, void* context) {
  if (!current) {
    // Not ours: as it was before we came.
    const struct sigaction& old = previous[number];
    if (old.sa_flags & SA_SIGINFO) {
      old.sa_sigaction(number, info, context);
    } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
      old.sa_handler(number);
    } else if (number != stall_signal()) {
      signal(number, SIG_DFL);
      raise(number);
    }
    return;
  }
  const Cluster& cluster = *current->block->cluster;
  const Site last = current->site;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (number == stall_signal()) {
    fail(Fault::kLimit, "a loop after the primitive", last,
         fmt::format(
             "{} seconds of computing without a primitive; the loop may not end. WAVETILE_SIM_STALL sets the limit",
             cluster.plan->options.stall_seconds));
  } else if (number == SIGFPE) {
    fail(Fault::kUse, "arithmetic after the primitive", last, "an integer was divided by zero");
  } else if (number == SIGILL || number == SIGTRAP) {
    fail(Fault::kUse, "a trap after the primitive", last, "the kernel executed a trap");
  } else if (cluster.stacks.is_guard(address)) {
    fail(Fault::kLimit, "the stack after the primitive", last,
         fmt::format("the thread used more than the simulator's {} bytes of stack", Stacks::kBytes));
  }
  fail(Fault::kBounds, "an access by plain pointer after the primitive", last, pointer_text(cluster, address));
}

}  // namespace

void install_signal_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, stall_signal()}) {
      struct sigaction action = {};
      action.sa_sigaction = on_signal;
      // SA_NODEFER: the handler leaves by a switch of stacks, and the next fault must be delivered too.
      action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
      sigaction(number, &action, &previous[number]);
    }
  });
}

SignalStack::SignalStack() {
  constexpr size_t kBytes = 256 * 1024;
  memory_ = std::make_unique<char[]>(kBytes);
  stack_t stack = {};
  stack.ss_sp = memory_.get();
  stack.ss_size = kBytes;
  sigaltstack(&stack, &previous_);
}

SignalStack::~SignalStack() { sigaltstack(&previous_, nullptr); }

}  // namespace wt::sim
