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
#include "launch/launch.h"
#include "runtime/sim/clock.h"
#include "runtime/sim/fibre.h"
#include "runtime/sim/memory.h"
#include "runtime/sim/options.h"
#include "runtime/sim/shadow.h"
#include "runtime/sim/tensor_map.h"
#include "target/sim/table.h"

namespace wt::sim {

struct Block;
struct Cluster;
struct Warp;
struct Warpgroup;
struct TensorMemory;

// One launch, read by all workers.
struct LaunchPlan {
  std::string kernel;
  void (*entry)(const void* params) = nullptr;
  const void* params = nullptr;
  LaunchShape shape;
  int min_blocks = 1;  // that the kernel is compiled for
  const TargetInfo* target = nullptr;
  Options options;
  std::vector<Buffer> buffers;  // sorted by address
  // Numbers of the device's clusters: this launch's; and the first of those launches before whose writes a thread may
  // not touch before it knows of wait_prerequisites.
  bool watched = false;
  uint32_t first_cluster = 0, clusters = 0, first_unsettled = 0;
  std::atomic<uint8_t>* fences = nullptr;  // by cluster: it has used fences of global memory
  std::atomic<bool>* waited = nullptr;     // somebody has called wait_prerequisites
};

// What a thread waits for; a deadlock report groups threads by it.
struct Wait {
  enum class Kind : uint8_t {
    kStart,
    kRunning,
    kBlock,
    kNamed,
    kWarp,
    kMbarrier,
    kCluster,
    kWgmma,
    kRegisters,
    kTensor,
    kSpin,
    kDone
  };
  Kind kind = Kind::kStart;
  uint64_t a = 0, b = 0;
  Site site{nullptr, 0};
  bool operator==(const Wait& other) const {
    return kind == other.kind && a == other.a && b == other.b && site.line == other.site.line &&
           site.file == other.site.file;
  }
};

// A cp.async of one thread.
struct AsyncCopy {
  uint32_t to;
  const uint8_t* from;
  uint8_t bytes, valid;
  Site site;
  bool landed = false;   // the bytes are there
  bool retired = false;  // and somebody was told
};

// A bulk store or reduction of one thread. `read`: shared memory has been read into `data`; `written`: data is in
// global memory. Both may happen any time after the issue; the thread's waits are the latest points.
struct BulkStore {
  enum class Kind : uint8_t { kTensor, kTensorAdd, kPlain };
  Kind kind;
  bool read = false, written = false, released = false;
  MapImage map;
  int32_t at[5];
  uint8_t* to;           // plain
  uint32_t from, bytes;  // bytes: of shared memory, with what a narrow box leaves unused of its rows
  std::vector<uint8_t> data;
  Site site;
};

// WHY aligned: a switch touches the first two lines, and there are as many switches as anything else.
struct alignas(64) Thread {
  Fibre fibre;
  Warp* warp = nullptr;
  Block* block = nullptr;
  int index = 0;  // in the block
  int lane = 0;
  Wait wait;
  Site site{nullptr, 0};  // of the latest primitive
  std::vector<AsyncCopy> copies;
  std::vector<size_t> copy_groups;  // number of copies at each commit that no wait has covered
  std::vector<BulkStore> stores;
  std::vector<size_t> store_groups;
  uint32_t cluster_arrivals = 0;
  uint32_t cluster_waits = 0;
  Warpgroup* warpgroup = nullptr;  // once it has multiplied
  uint64_t wgmma_issued = 0;       // and committed, of its warpgroup's sequence
  uint64_t wgmma_groups = 0;
  bool wgmma_fenced = false;
  std::vector<uint32_t> tensor_seen;  // what its latest tensor_fence_after knew
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
  int registers = 0;                   // asked for by take_registers or give_registers
  bool queued = false;                 // in Cluster::ready_
  Clock clock;                         // its own component: when the lanes last met
  std::array<uint32_t, 64> now{};      // by lane: the clock of its accesses (lane.h)
  std::array<uint32_t, 64> touched{};  // of its latest access to shared memory, and of its latest write
  std::array<uint32_t, 64> written{};
  std::array<uint32_t, 64> fenced{};  // up to which its own proxy fences cover its writes
  Clock fence;                        // what the lanes in fence_lanes knew at their proxy fence, since they last met
  uint64_t fence_lanes = 0;
  Collective collective;
  std::array<uint32_t, 64> aligned{};  // note_aligned calls by lane, their sum and the latest
  uint64_t aligned_sum = 0;
  Site aligned_site{nullptr, 0};
};

struct NamedBarrier {
  int arrived = 0;
  int expected = 0;
  Clock clock;
  std::vector<Thread*> waiting;
};

struct Mbarrier {
  uint32_t address = 0;
  uint32_t count = 0;
  uint32_t pending = 0;  // arrivals missing in this phase
  int64_t bytes = 0;     // announced minus come
  uint32_t phase = 0;    // completed ones
  int actor = 0;
  Clock arrived, released;  // what arrivals knew; the same up to the last completed phase
  std::vector<Thread*> waiting;
  int init_actor = 0, init_lane = 0;
  uint32_t init_clock = 0;
  bool fenced = false;       // known to the asynchronous proxy
  bool init_fenced = false;  // by mbarrier_fence_init: a relaxed barrier of the cluster publishes it
  bool published = false;    // to the whole cluster, by its barrier
  bool committed = false;    // products arrive at it
};

struct Block {
  Cluster* cluster = nullptr;
  int rank = 0;  // in the cluster
  Int3 index{};
  int live = 0;                          // threads that have not returned
  uint32_t low = 0, base = 0, high = 0;  // shared window: first byte, dynamic memory, end
  std::vector<uint8_t> shared;
  Shadow shadow;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::array<NamedBarrier, 16> barriers;
  static constexpr int kMbarriers = 64;
  std::vector<Mbarrier> mbarriers;
  std::vector<std::unique_ptr<Warpgroup>> warpgroups;
  std::unique_ptr<TensorMemory> tensor;   // once an operation has used it
  bool refused = false;                   // take_cluster had none left
  std::vector<Thread*> register_waiters;  // until others of the block give registers
  std::vector<uint32_t> visits;           // by actor: the clock of its last access from another block, and its lane
  std::vector<uint8_t> visit_lanes;

  Block();
  Block(Block&&) noexcept;
  ~Block();
  uint8_t* host(uint32_t address) { return shared.data() + (address - low); }
};

// Work that happens by itself: a bulk load, the arrival that follows a thread's cp.async or its products, or the answer
// of launch control.
struct AsyncWork {
  enum class Kind : uint8_t { kTensorLoad, kPlainLoad, kCopyArrive, kCommit, kAnswer };
  Kind kind;
  uint16_t blocks = 0;  // ranks that receive the load
  MapImage map;
  int32_t at[5];
  uint16_t offset[3];
  uint32_t to, bytes;
  const uint8_t* from;              // plain
  uint32_t barrier;                 // address, the same in every receiving block
  std::array<uint32_t, 16> phases;  // of each receiving barrier at the issue, by rank
  int parity = -1;                  // of the block of a receiver's pair whose barrier counts; -1: the receiver
  uint64_t products = 0;            // kCommit: those of the thread that it waits for
  size_t copies = 0;                // kCopyArrive: those of the thread that it waits for
  Clock clock;                      // kCopyArrive, kCommit: what the thread knew,
  uint32_t stamp = 0;               // and when its copies count as written
  Thread* thread;
  Site site;
};

struct ClusterBarrier {
  uint32_t phase = 0;
  int arrived = 0;
  Clock clock;
  std::vector<Thread*> waiting;
};

enum class Outcome { kDone, kFailed, kSpinning };

struct Cluster {
  const LaunchPlan* plan = nullptr;
  std::vector<Block> blocks;
  Fibre main;
  Stacks stacks;
  std::string report;
  bool exhausted = false;          // a thread found no memory on the host
  std::atomic<uint64_t> steps{0};  // the watchdog reads it
  int live = 0;                    // threads of all blocks
  int sequences = 0;               // of asynchronous products in a block: one per warpgroup, or per warp
  bool has_tensor = false;         // tensor memory, and launch control
  int tensor_blocks = 0;           // 1 or 2, once a tensor operation has said so
  int actors = 0;                  // components of a clock
  int active_actors = 0;           // those in use: all but the slots of mbarriers behind the last initialised
  uint32_t number = 0;             // among all clusters of the device
  uint64_t random_state = 1;
  std::vector<AsyncWork> in_flight;
  ClusterBarrier barrier;
  std::vector<Warp*> ready;
  Warp* focus = nullptr;
  int spin_rounds = 0;
  Buffer last_buffer;                            // of the latest global access
  std::atomic<int64_t>* next_cluster = nullptr;  // of the launch: the first that has not started
  int64_t all_clusters = 0;

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
  // Components of the clocks: all warps; then, where the target has them, the sequences of products and the slots
  // of each block's mbarriers.
  int products_actor(int rank, int group) const {
    return static_cast<int>(blocks.size() * blocks[0].warps.size()) + rank * sequences + group;
  }
  // 1 where it is known that the launches before are over.
  int prerequisites_actor() const { return products_actor(static_cast<int>(blocks.size()), 0); }
  int mbarrier_actor(int rank, int slot) const {
    return prerequisites_actor() + 1 + slot * static_cast<int>(blocks.size()) + rank;
  }
  bool late() const { return plan->options.completion == Completion::kLate; }
  bool early() const { return plan->options.completion == Completion::kEarly; }
  // True now and then, by the seed, under the random policy; always or never under the others.
  bool completes_now() { return early() || (!late() && random() % 8 == 0); }

 private:
  void release_spinners();
};

// The thread that runs on this host thread; null between them.
// WHY constinit: without it every use calls a function that might have to initialise it.
extern constinit thread_local Thread* current __attribute__((tls_model("initial-exec")));

// Stops the running thread until something wakes it.
void block_current(Wait wait);
// Lets other threads run first; for loops that poll memory.
void yield_current(Wait::Kind kind, uint64_t address, Site site);
// Counts a primitive against the step limit.
[[noreturn]] void fail_steps(uint64_t limit, Site site);
inline void count_step(Cluster& cluster, Site site) {
  current->site = site;
  const uint64_t steps = cluster.steps.load(std::memory_order_relaxed) + 1;
  cluster.steps.store(steps, std::memory_order_relaxed);
  if (steps > cluster.plan->options.step_limit) [[unlikely]]
    fail_steps(cluster.plan->options.step_limit, site);
}

// Meets the other lanes; `execute` sees every lane's argument and runs once. Returns when it has.
void collective(const char* operation, void* argument, Site site, void (*execute)(Warp& warp, void** arguments));

// Barriers do not wait for threads that have returned: these look again when one has.
void finish_block_barrier(Block& block);
void finish_cluster_barrier(Cluster& cluster);

// Takes one piece of asynchronous work to its end.
void complete_work(Cluster& cluster, size_t index);
// Registers that the block's warps hold, and those it got at its launch.
int registers_held(const Block& block);
int registers_of(const Block& block);
// Nothing may be left in flight when a thread, and when a cluster, ends.
void check_thread_end(Thread& thread);
void check_block_end(Thread& last);
void check_cluster_end(Cluster& cluster);

// Runs the grid; a failure is the report of the first thread that was stopped.
Status run_launch(const LaunchPlan& plan);

const Table& library_table();

}  // namespace wt::sim
