/* SPDX-License-Identifier: Apache-2.0
 * python/portable/glibc.c - what GCC 12's C++ runtime asks of a C library newer than 2.28, for wheels that run on 2.28.
 * scripts/portable_wheel.py links it in; nothing else does. Every function is hidden, so that others keep the C
 * library's. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* 2.32. 0: reference counts are always atomic. */
HIDDEN char __libc_single_threaded = 0;

/* 2.36, for std::random_device. */
HIDDEN uint32_t arc4random(void) {
  uint32_t value = 0;
  for (;;) {
    const ssize_t bytes = getrandom(&value, sizeof value, 0);
    if (bytes == (ssize_t)sizeof value) return value;
    if (bytes < 0 && errno != EINTR) abort();
  }
}

static int64_t nanoseconds(const struct timespec* t) { return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec; }

/* 2.30, for waits until a time of the steady clock. The condition's own clock is the real one, as std's is. A wait that
 * ends early because that clock was set is a spurious wakeup, which callers expect. */
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                  const struct timespec* until) {
  struct timespec now, real;
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &real) != 0) return EINVAL;
  const int64_t end = nanoseconds(&real) + nanoseconds(until) - nanoseconds(&now);
  const struct timespec deadline = {end < 0 ? 0 : end / 1000000000, end < 0 ? 0 : end % 1000000000};
  const int code = pthread_cond_timedwait(condition, mutex, &deadline);
  if (code != ETIMEDOUT || clock_gettime(clock, &now) != 0) return code;
  return nanoseconds(&now) >= nanoseconds(until) ? ETIMEDOUT : 0;
}

/* 2.35, for the unwinder. */
struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int visit(struct dl_phdr_info* info, size_t bytes, void* user) {
  (void)bytes;
  const struct search* search = user;
  uintptr_t low = UINTPTR_MAX, high = 0;
  int inside = 0;
  void* eh_frame = NULL;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
    if (part->p_type == PT_GNU_EH_FRAME) eh_frame = (void*)begin;
    if (part->p_type != PT_LOAD) continue;
    inside |= search->address >= begin && search->address < end;
    low = begin < low ? begin : low;
    high = end > high ? end : high;
  }
  if (!inside || !eh_frame) return inside ? -1 : 0;
  *search->found =
      (struct dl_find_object){.dlfo_map_start = (void*)low, .dlfo_map_end = (void*)high, .dlfo_eh_frame = eh_frame};
  return 1;
}

HIDDEN int _dl_find_object(void* address, struct dl_find_object* found) {
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(visit, &search) == 1 ? 0 : -1;
}
