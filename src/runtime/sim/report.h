// SPDX-License-Identifier: Apache-2.0
// runtime/sim/report.h - how a misuse is told: kind, kernel, block, warp, operation, source line, and the facts.
#pragma once

#include <signal.h>

#include <memory>
#include <string>

#include "base/format.h"
#include "target/sim/table.h"

namespace wt::sim {

struct Block;
struct Cluster;
struct Thread;

enum class Fault {
  kRace,           // two accesses without an order
  kUninitialised,  // read, and never written
  kProxy,          // ordered, but without the fence between generic and asynchronous accesses
  kBounds,         // outside a buffer or the block's shared memory
  kAlignment,
  kBarrier,     // counts, phases, bytes
  kDivergence,  // lanes or warps that must act as one do not
  kDeadlock,
  kUse,    // a limit of the instruction, or a step that its rules ask for is missing
  kExit,   // something still in flight at the end
  kLimit,  // of the simulator: steps, time
};

// Stops the running thread, and with it the launch. Never returns. `message` starts with the address or the value.
[[noreturn]] void fail(Fault fault, const char* operation, Site site, std::string message);
// The same for work that no thread is doing now (an asynchronous copy): `thread` is who asked for it. Returns; the
// scheduler stops the launch when it sees the report.
void report_for(const Thread& thread, Fault fault, const char* operation, Site site, const std::string& message);
// For the scheduler's own stack, where there is nobody to stop: composes the report and returns.
void report_block(Cluster& cluster, const Block& block, Fault fault, std::string message);

// Text without the heap. WHY: a thread that fails is left where it stands, and whatever it owned would leak.
struct Text {
  char text[192];
};
Text site_text(Site site);                                         // kernels/basic/device/kernel.h:88
Text shared_text(const Block& block, uint32_t address);            // 0x4a0 (byte 160 of the block's shared memory)
Text actor_text(const Cluster& cluster, uint32_t actor);           // warp 3, warp 3 of the cluster's block 1
Text lane_text(const Cluster& cluster, uint32_t actor, int lane);  // lane 5 of warp 3
std::string describe_waits(const Cluster& cluster);                // one line a group of threads

// Turns a fault of the host's memory protection inside a simulated thread into a report.
void install_signal_handlers();

// A stack for the calling host thread's signal handlers, as long as it lives: the faulting stack may be used up.
class SignalStack {
 public:
  SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack();

 private:
  std::unique_ptr<char[]> memory_;
  stack_t previous_{};
};

}  // namespace wt::sim
