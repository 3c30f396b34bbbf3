// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/fibre.h"

#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(WAVETILE_SIM_UCONTEXT)
// Saves the callee-saved registers on the running stack, stores its pointer in *save and goes on at `stack_pointer`.
extern "C" void wt_sim_switch(void** save, void* stack_pointer);
#if defined(__x86_64__)
asm(R"(
.text
.hidden wt_sim_switch
.globl wt_sim_switch
.type wt_sim_switch, @function
wt_sim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size wt_sim_switch, .-wt_sim_switch
)");
#else
asm(R"(
.text
.hidden wt_sim_switch
.globl wt_sim_switch
.type wt_sim_switch, %function
wt_sim_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size wt_sim_switch, .-wt_sim_switch
)");
#endif
#endif

namespace wt::sim {

void make_fibre(Fibre& fibre, char* low, size_t bytes, unsigned colour, void (*entry)()) {
  fibre.stack_low = low;
  fibre.stack_bytes = bytes;
  fibre.fake_stack = nullptr;
#if defined(WAVETILE_SIM_UCONTEXT)
  (void)colour;
  getcontext(&fibre.context);
  fibre.context.uc_stack.ss_sp = low;
  fibre.context.uc_stack.ss_size = bytes;
  fibre.context.uc_link = nullptr;
  makecontext(&fibre.context, entry, 0);
#else
  auto top = (reinterpret_cast<uintptr_t>(low) + bytes - colour % 61 * 192) & ~uintptr_t{63};
  auto* slot = reinterpret_cast<void**>(top);
#if defined(__x86_64__)
  *--slot = nullptr;  // where a return address of `entry` would be: keeps the stack aligned as after a call
  *--slot = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--slot = nullptr;
#else
  slot -= 20;
  for (int i = 0; i < 20; ++i) slot[i] = nullptr;
  slot[11] = reinterpret_cast<void*>(entry);  // x30, where the switch returns to
#endif
  fibre.stack_pointer = slot;
#endif
}

void switch_fibre(Fibre& from, Fibre& to, [[maybe_unused]] bool last) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(last ? nullptr : &from.fake_stack, to.stack_low, to.stack_bytes);
#endif
#if defined(WAVETILE_SIM_UCONTEXT)
  swapcontext(&from.context, &to.context);
#else
  wt_sim_switch(&from.stack_pointer, to.stack_pointer);
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

void begin_fibre([[maybe_unused]] Fibre& from) {
#if defined(__SANITIZE_ADDRESS__)
  const void* low = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(nullptr, &low, &bytes);
  if (!from.stack_low) {
    from.stack_low = low;
    from.stack_bytes = bytes;
  }
#endif
}

Stacks::~Stacks() {
  if (memory_) munmap(memory_, static_cast<size_t>(count_) * kStride);
}

bool Stacks::reserve(int count) {
  if (count <= count_) return true;
  if (memory_) munmap(memory_, static_cast<size_t>(count_) * kStride);
  count_ = 0;
  void* memory = mmap(nullptr, static_cast<size_t>(count) * kStride, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  memory_ = memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
  if (!memory_) return false;
  count_ = count;
  for (int i = 0; i < count; ++i) mprotect(memory_ + static_cast<size_t>(i) * kStride, kGuard, PROT_NONE);
  return true;
}

bool Stacks::is_guard(uintptr_t address) const {
  const auto first = reinterpret_cast<uintptr_t>(memory_);
  return memory_ && address >= first && address < first + static_cast<size_t>(count_) * kStride &&
         (address - first) % kStride < kGuard;
}

void Stacks::forget_poison() const {
#if defined(__SANITIZE_ADDRESS__)
  for (int i = 0; i < count_; ++i) __asan_unpoison_memory_region(low(i), kBytes);
#endif
}

}  // namespace wt::sim
