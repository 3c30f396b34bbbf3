// SPDX-License-Identifier: Apache-2.0
// runtime/sim/engine.h - the simulated machine: a launch, its clusters, blocks, warps and threads, and their scheduler.
//
//   run_launch --workers--> Cluster::run --fibres--> kernel --table--> primitives (*.cc) --block_current--> scheduler
//
// All blocks of a cluster live on one host thread, so nothing here needs a lock; clusters spread over the host's cores.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "config/targets.h"
#include "runtime/launch.h"
#include "runtime/sim/clock.h"
#include "runtime/sim/fibre.h"
#include "runtime/sim/memory.h"
#include "runtime/sim/options.h"
#include "runtime/sim/shadow.h"
#include "target/sim/table.h"

namespace wt::sim {

struct Block;
struct Cluster;
struct Warp;

// One launch, read by all workers.
struct LaunchPlan {
  std::string kernel;
  void (*entry)(const void* params) = nullptr;
  const void* params = nullptr;
  LaunchShape shape;
  const TargetInfo* target = nullptr;
  Options options;
  std::vector<Buffer> buffers;  // sorted by address
};

// What a thread waits for; a deadlock report groups threads by it.
struct Wait {
  enum class Kind : uint8_t { kStart, kRunning, kBlock, kNamed, kWarp, kSpin, kDone };
  Kind kind = Kind::kStart;
  uint64_t a = 0, b = 0;
  Site site{nullptr, 0};
  bool operator==(const Wait& other) const {
    return kind == other.kind && a == other.a && b == other.b && site.line == other.site.line &&
           site.file == other.site.file;
  }
};

struct Thread {
  Fibre fibre;
  Warp* warp = nullptr;
  Block* block = nullptr;
  int index = 0;  // in the block
  int lane = 0;
  Wait wait;
};

// A point where all lanes of a warp meet. The last one computes for all.
struct Collective {
  const char* operation = nullptr;
  int arrived = 0;
  Site site{nullptr, 0};
  std::array<void*, 64> arguments{};
};

struct Warp {
  Block* block = nullptr;
  int index = 0;
  int actor = 0;       // component of the clocks
  int lanes = 0;       // that exist
  uint64_t ready = 0;  // lanes that can run
  uint64_t spinning = 0;
  bool queued = false;  // in Cluster::ready_
  Clock clock;
  Collective collective;

  uint32_t& own() { return clock.seen[actor]; }
};

struct NamedBarrier {
  int arrived = 0;
  int expected = 0;
  Clock clock;
  std::vector<Thread*> waiting;
};

struct Block {
  Cluster* cluster = nullptr;
  int rank = 0;  // in the cluster
  Int3 index{};
  int live = 0;  // threads that have not returned
  uint32_t low = 0, base = 0, high = 0;  // shared window: first byte, dynamic memory, end
  std::vector<uint8_t> shared;
  Shadow shadow;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::array<NamedBarrier, 16> barriers;

  uint8_t* host(uint32_t address) { return shared.data() + (address - low); }
};

enum class Outcome { kDone, kFailed, kSpinning };

struct Cluster {
  const LaunchPlan* plan = nullptr;
  std::vector<Block> blocks;
  Fibre main;
  Stacks stacks;
  std::string report;
  uint64_t steps = 0;
  int live = 0;  // threads of all blocks
  int actors = 0;
  uint64_t random_state = 1;
  std::vector<Warp*> ready;
  Warp* focus = nullptr;
  int spin_rounds = 0;
  Buffer last_buffer;  // of the latest global access
  std::atomic<uint64_t> pulse{0};  // for the watchdog: moves while primitives are executed

  // Makes the cluster with this index of the grid ready to run.
  bool start(const LaunchPlan& launch, int64_t cluster_index);
  // Runs until all threads have returned, one has failed, or all that are left wait for other clusters.
  Outcome run();

  uint64_t random() {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
  }
  void wake(Thread& thread);
  Thread* pick();

 private:
  void release_spinners();
};

// The thread that runs on this host thread; null between them.
extern thread_local Thread* current __attribute__((tls_model("initial-exec")));

// Stops the running thread until something wakes it.
void block_current(Wait wait);
// Lets other threads run first; for loops that poll memory.
void yield_current(Wait::Kind kind, uint64_t address, Site site);
// Counts a primitive against the step limit.
void count_step(Cluster& cluster, Site site);

// Meets the other lanes; `execute` sees every lane's argument and runs once. Returns when it has.
void collective(const char* operation, void* argument, Site site, void (*execute)(Warp& warp, void** arguments));

// Releases a thread of `barrier`'s threads if a returning thread was the last that sync_block waited for.
void finish_block_barrier(Block& block);

// Runs the grid; a failure is the report of the first thread that was stopped.
Status run_launch(const LaunchPlan& plan);

const Table& library_table();

}  // namespace wt::sim
