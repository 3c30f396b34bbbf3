// SPDX-License-Identifier: Apache-2.0
// runtime/sim/tcgen05.cc - products and copies into tensor memory: what their words say, what they touch, and commits.
#include <algorithm>

#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"
#include "runtime/sim/tensor_memory.h"

namespace wt::sim {
namespace {

using device::TensorCopy;
using device::TensorKind;

constexpr const char* kKinds[] = {"f16", "tf32", "f8f6f4", "i8"};

[[noreturn]] void refuse(const char* operation, Site site, std::string why) {
  fail(Fault::kUse, operation, site, std::move(why));
}

// The operand's type as the word names it. Bytes of kind i8 are told from fp8 by the kind.
DataType type_of(TensorKind kind, u32 number, const char* which, Site site) {
  if (kind == TensorKind::kF16 && number <= 1) return number ? DataType::kBf16 : DataType::kF16;
  if (kind == TensorKind::kTf32 && number == 2) return DataType::kTf32;
  if (kind == TensorKind::kF8f6f4 && number <= 1) return number ? DataType::kE5m2 : DataType::kE4m3;
  if (kind == TensorKind::kI8 && number == 1) return DataType::kE4m3;
  refuse("tensor_multiply", site,
         fmt::format("type {} of {} in the word of the product is none that the simulator knows of kind {}", number,
                     which, kKinds[static_cast<int>(kind)]));
}

void check_word(TensorOperation& operation, Site site) {
  constexpr const char* kOperation = "tensor_multiply";
  const TensorCall& call = operation.call;
  if (call.scaled >= 0) return check_scaled_word(operation, site);
  const u32 word = call.word;
  constexpr u32 kUnknown = 0xfu | 1u << 6 | 3u << 13 | 1u << 23 | 7u << 29;
  if (word & kUnknown) {
    refuse(kOperation, site,
           fmt::format("the word {:#x} of the product has bits {:#x}, which the simulator does not know", word,
                       word & kUnknown));
  }
  const auto kind = static_cast<TensorKind>(call.kind);
  const u32 sums = kind == TensorKind::kI8 ? 2 : 1;
  if ((word >> 4 & 3) != sums) {
    refuse(kOperation, site,
           fmt::format("the word of the product asks for sums of type {}; the simulator knows {} of kind {}",
                       word >> 4 & 3, sums, kKinds[call.kind]));
  }
  operation.type_a = type_of(kind, word >> 7 & 7, "A", site);
  operation.type_b = type_of(kind, word >> 10 & 7, "B", site);
  operation.n = static_cast<int>(word >> 17 & 63) * 8;
  operation.m = static_cast<int>(word >> 24 & 31) * 16;
  if (operation.m != 64 * call.blocks && operation.m != 128 * call.blocks) {
    refuse(kOperation, site,
           fmt::format("M={} is neither {} nor {}, which a product of {} block(s) has", operation.m, 64 * call.blocks,
                       128 * call.blocks, call.blocks));
  }
  // WHY 32 of a pair: newer manuals say 16, and older ones 32; nobody has tried.
  const int step = call.blocks == 2 ? 32 : operation.m == 64 ? 8 : 16;
  if (operation.n < step || operation.n > 256 || operation.n % step) {
    refuse(kOperation, site,
           fmt::format("N={} with M={} and {} block(s) is no multiple of {} up to 256", operation.n, operation.m,
                       call.blocks, step));
  }
  if ((word >> 15 & 3) && (kind == TensorKind::kTf32 || kind == TensorKind::kI8))
    refuse(kOperation, site, "operands across k are known to the simulator of 16-bit types and fp8 alone");
}

// The descriptor as wgmma's, whose layouts are the same: only the swizzle's code differs.
u64 as_wgmma(u64 descriptor, const char* which, const char* operation, Site site) {
  if ((descriptor >> 46 & 7) != 1) {
    refuse(operation, site,
           fmt::format("bits 46 to 48 of the descriptor of {} are {}, and not 1", which, descriptor >> 46 & 7));
  }
  if (descriptor >> 49 & 0xfff) {
    refuse(operation, site,
           fmt::format("the descriptor of {} has a base offset or reserved bits, which the simulator does not know",
                       which));
  }
  constexpr u64 kNone = 9, kCodes[8] = {0, kNone, 1, kNone, 2, kNone, 3, kNone};
  const u64 code = kCodes[descriptor >> 61];
  if (code == kNone) {
    refuse(operation, site,
           fmt::format("swizzle {} in the descriptor of {} is none that the simulator knows", descriptor >> 61, which));
  }
  return (descriptor & 0x3fff'3fff'3fffull) | code << 62;
}

// The operand lies in shared memory of `block`, written, known and fenced, and counts as read until number `number` of
// the sequence is known to be done.
void read_operand(Thread& thread, Block& block, const Operand& operand, uint32_t number, const char* operation,
                  Site site) {
  const Cluster& cluster = *block.cluster;
  const bool checks = cluster.plan->options.checks;
  const auto reader = static_cast<uint16_t>(cluster.products_actor(thread.block->rank, thread.warp->index));
  const Cell* last = nullptr;
  operand.for_chunks([&](uint32_t address) {
    check_shared(block, address, 16, 16, operation, site);
    if (!checks) return;
    const Cell& cell = block.shadow.at(address);
    // WHY: neighbours mostly come from one copy.
    if (!last || cell.write_actor != last->write_actor || cell.write_clock != last->write_clock ||
        cell.writer != last->writer || cell.writer != Writer::kBulk) {
      block.shadow.async_read(thread, block, address, operation, site);
    }
    last = &cell;
    block.shadow.note_product_read(address, reader, number, thread.warp->clock);
  });
}

// Of one accumulator, apart from where its numbers and scales come from.
uint64_t shape_of(const TensorOperation& operation) {
  const TensorCall& call = operation.call;
  constexpr u32 kFirstScales = 3u << 4 | 3u << 29;
  const u32 word = call.scaled >= 0 ? call.word & ~kFirstScales : call.word;
  const auto kind = static_cast<uint64_t>(call.scaled >= 0 ? 8 + call.scaled : call.kind);
  return static_cast<uint64_t>(word) << 24 | static_cast<uint64_t>(call.d) << 8 | kind << 4 |
         static_cast<uint64_t>(call.blocks) << 2 | 1;
}

void forget_reader(TensorCell& cell, uint16_t actor) {
  int kept = 0;
  for (int i = 0; i < cell.readers; ++i)
    if (cell.by[i].actor != actor) cell.by[kept++] = cell.by[i];
  cell.readers = static_cast<uint8_t>(kept);
}

// Of cells that copies of one thread wrote, which come in order. No product's shape has this number.
constexpr uint64_t kCopied = 2;

void claim(Thread& thread, TensorMemory& memory, uint32_t first, uint32_t columns, int first_group, int groups,
           uint64_t shape, bool adds, uint32_t number, const char* operation, Site site) {
  const auto actor =
      static_cast<uint16_t>(thread.block->cluster->products_actor(thread.block->rank, thread.warp->index));
  for (int group = first_group; group < first_group + groups; ++group) {
    for (uint32_t c = first; c < first + columns; ++c) {
      TensorCell& cell = memory.cell(group, c);
      // What the thread's own products read as scales comes before a copy, in their order.
      if (shape == kCopied) forget_reader(cell, actor);
      if (adds && !cell.written) {
        fail(Fault::kUninitialised, operation, site,
             fmt::format("it adds to column {} of tensor memory, which nobody wrote", c));
      }
      check_overwrite(thread, cell, c, shape, operation, site);
      cell.readers = 0;
      cell.written = true;
      cell.write_actor = actor;
      cell.write_clock = number;
      cell.shape = shape;
    }
  }
}

// The thread's own sequence, with one more operation.
TensorOperation& append(Thread& thread, int blocks, const char* operation, Site site) {
  Block& block = *thread.block;
  TensorMemory& memory = tensor_memory(block, blocks, operation, site);
  if (blocks == 2) {
    const Block& peer = block.cluster->blocks[block.rank ^ 1];
    if (!peer.live) refuse(operation, site, "all threads of the pair's other block have returned");
    const auto issues = [](const TensorSequence& sequence) { return sequence.thread != nullptr; };
    if (peer.tensor && std::ranges::any_of(peer.tensor->sequences, issues)) {
      refuse(operation, site, "both blocks of the pair start products; one thread of the pair does so for both");
    }
  }
  TensorSequence& sequence = memory.sequences[thread.warp->index];
  if (sequence.thread && sequence.thread != &thread) {
    refuse(operation, site,
           fmt::format("lane {} starts a product after lane {}: a commit covers those of its own lane alone",
                       thread.lane, sequence.thread->lane));
  }
  sequence.thread = &thread;
  constexpr size_t kMostInFlight = 4096;
  if (sequence.queue.size() >= kMostInFlight) {
    fail(Fault::kLimit, operation, site,
         fmt::format("the simulator holds {} products of a thread in flight", kMostInFlight));
  }
  TensorOperation& added = sequence.queue.emplace_back();
  added.site = site;
  return added;
}

}  // namespace

void tensor_multiply(const TensorCall& call, Site site) {
  constexpr const char* kOperation = "tensor_multiply";
  Thread& thread = *current;
  Block& block = *thread.block;
  count_step(*block.cluster, site);
  TensorOperation& operation = append(thread, call.blocks, kOperation, site);
  operation.call = call;
  operation.warp = thread.warp->index;
  check_word(operation, site);
  const bool packed = operation.m == 64 * call.blocks;  // 64 rows of a block
  const u32 lane = call.d >> 16, column = call.d & 0xffff;
  if (lane != 0 && !(lane == 16 && packed && call.blocks == 1)) {
    refuse(kOperation, site, fmt::format("the accumulator starts in lane {}, and not in 0", lane));
  }
  const bool across_a = call.word >> 15 & 1, across_b = call.word >> 16 & 1;
  const u64 a = as_wgmma(call.descriptor_a, "A", kOperation, site),
            b = as_wgmma(call.descriptor_b, "B", kOperation, site);
  const auto number = static_cast<uint32_t>(block.tensor->sequences[thread.warp->index].issued());
  for (int r = 0; r < call.blocks; ++r) {
    Block& part = block_of_group(block, call.blocks, r);
    TensorMemory& memory = tensor_memory(part, call.blocks, kOperation, site);
    const auto columns = static_cast<u32>(packed && call.blocks == 2 ? operation.n / 2 : operation.n);
    check_columns(memory, column, columns, kOperation, site);
    for (int half = 0; half < (packed ? 1 : 2); ++half) {
      operation.a[r][half] = Operand(a, across_a, 64, operation.type_a, 64 * half);
      read_operand(thread, part, operation.a[r][half], number, kOperation, site);
    }
    operation.b[r] = Operand(b, across_b, operation.n / call.blocks, operation.type_b);
    read_operand(thread, part, operation.b[r], number, kOperation, site);
    if (call.scaled >= 0) read_scales(thread, memory, operation, number, site);
    // Of 64 rows of one block every other group of 16 lanes.
    const bool every_other = packed && call.blocks == 1;
    for (int group = 0; group < TensorMemory::kGroups; ++group) {
      if (every_other && group % 2 != static_cast<int>(lane / 16)) continue;
      claim(thread, memory, column, columns, group, 1, shape_of(operation), call.accumulate, number, kOperation, site);
    }
  }
}

void tensor_copy(int copy, int blocks, u32 to, u64 from, Site site) {
  constexpr const char* kOperation = "tensor_copy";
  Thread& thread = *current;
  Block& block = *thread.block;
  count_step(*block.cluster, site);
  TensorOperation& operation = append(thread, blocks, kOperation, site);
  operation.copy = copy;
  operation.call = {0, blocks, to, from, from, 0, false};
  if (to >> 16) refuse(kOperation, site, fmt::format("it starts in lane {}, and not in 0", to >> 16));
  const u64 descriptor = as_wgmma(from, "the copy", kOperation, site);
  const auto shape = static_cast<TensorCopy>(copy);
  const int rows = device::tensor_copy_rows(shape);
  const auto columns = static_cast<uint32_t>(device::tensor_copy_columns(shape));
  const auto number = static_cast<uint32_t>(block.tensor->sequences[thread.warp->index].issued());
  const u32 column = to & 0xffff;
  for (int r = 0; r < blocks; ++r) {
    Block& part = block_of_group(block, blocks, r);
    TensorMemory& memory = tensor_memory(part, blocks, kOperation, site);
    check_columns(memory, column, columns, kOperation, site);
    operation.a[r][0] = Operand(descriptor, false, rows, DataType::kTf32, 0, static_cast<int>(columns) / 4);
    read_operand(thread, part, operation.a[r][0], number, kOperation, site);
    claim(thread, memory, column, columns, 0, rows == 4 ? 1 : TensorMemory::kGroups, kCopied, false, number, kOperation,
          site);
  }
}

void tensor_commit(int blocks, u32 barrier, u16 mask, Site site) {
  constexpr const char* kOperation = "tensor_commit";
  Thread& thread = *current;
  Block& block = *thread.block;
  Cluster& cluster = *block.cluster;
  count_step(cluster, site);
  TensorMemory& memory = tensor_memory(block, blocks, kOperation, site);
  TensorSequence& sequence = memory.sequences[thread.warp->index];
  if (sequence.thread && sequence.thread != &thread) {
    refuse(kOperation, site,
           fmt::format("lane {} commits, and lane {} of its warp started the products: it commits none", thread.lane,
                       sequence.thread->lane));
  }
  if (mask >> cluster.blocks.size()) {
    refuse(kOperation, site,
           fmt::format("mask {:#x} names blocks that a cluster of {} does not have", mask, cluster.blocks.size()));
  }
  const u32 rank_plus_one = barrier >> 24;
  const u32 rank = rank_plus_one ? rank_plus_one - 1 : static_cast<u32>(block.rank);
  const u16 receivers = mask ? mask : static_cast<u16>(1u << rank);
  const auto actor = static_cast<size_t>(cluster.products_actor(block.rank, thread.warp->index));
  for (Block& other : cluster.blocks) {
    if (!(receivers >> other.rank & 1)) continue;
    Block& receiver = &other == &block ? block : remote_block(static_cast<u32>(other.rank), kOperation, site);
    Mbarrier& at = find_mbarrier(receiver, barrier & 0xffffff, thread, kOperation, site);
    if (!at.fenced) {
      fail(Fault::kProxy, kOperation, site,
           fmt::format("mbarrier {:#x} was initialised without mbarrier_fence_init after it", at.address));
    }
    at.committed = true;
  }
  AsyncWork work{};
  work.kind = AsyncWork::Kind::kCommit;
  work.blocks = receivers;
  work.barrier = barrier & 0xffffff;
  work.products = sequence.issued();
  work.thread = &thread;
  work.site = site;
  // Whoever waits knows of the products, and of what came before them; not of what this warp's lanes did themselves.
  work.clock = thread.warp->clock;
  work.clock.seen[thread.warp->actor] = 0;
  work.clock.fenced[thread.warp->actor] = 0;
  work.clock.lanes = false;
  work.clock.seen[actor] = std::max(work.clock.seen[actor], static_cast<uint32_t>(sequence.issued()));
  cluster.in_flight.push_back(std::move(work));
  if (cluster.early()) {
    complete_work(cluster, cluster.in_flight.size() - 1);
    if (!cluster.report.empty()) block_current({Wait::Kind::kRunning, 0, 0, site});
  }
}

void complete_commit(Cluster& cluster, const AsyncWork& work) {
  Block& issuer = *work.thread->block;
  execute_tensor(issuer, issuer.tensor->sequences[work.thread->warp->index], work.products);
  for (Block& block : cluster.blocks) {
    if (!(work.blocks >> block.rank & 1)) continue;
    if (!block.live) {
      return report_for(*work.thread, Fault::kExit, "tensor_commit", work.site,
                        fmt::format("it arrives at mbarrier {:#x} of block {}, all of whose threads have returned",
                                    work.barrier, block.rank));
    }
    for (Mbarrier& barrier : block.mbarriers) {
      if (barrier.address != work.barrier) continue;
      if (barrier.pending == 0) {
        return report_for(*work.thread, Fault::kBarrier, "tensor_commit", work.site,
                          fmt::format("mbarrier {:#x}: all {} arrivals of phase {} have come already", barrier.address,
                                      barrier.count, barrier.phase));
      }
      barrier.arrived.join(work.clock, cluster.active_actors);
      --barrier.pending;
      finish_phase(cluster, barrier);
    }
  }
}

}  // namespace wt::sim
