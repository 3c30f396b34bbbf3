/* SPDX-License-Identifier: Apache-2.0 */
/* tests/faults/injector.c - makes one call of the system fail: LD_PRELOAD it into a program.
 *
 *   WT_FAULT=KIND:N       the Nth call of a kind (from 1) fails, once; kinds: see names below
 *   WT_FAULT_COUNTS=FILE  at the end, one line a kind: its name and how many calls there were; then a line "unsynced
 * PATH" for each file that took its name before its content was on disk, and for each folder that was not brought to
 * disk after a file in it took its name
 *
 * Counting begins when main() asks for SIGHUP, as the command does first: what fails before is not ours to catch.
 * Programs that the command starts are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum Kind { kAlloc, kOpen, kRead, kWrite, kRename, kSync, kSpawn, kLoad, kFolder, kMap, kThread, kKinds };
static const char* const names[kKinds] = {"alloc", "open",   "read",  "write", "rename", "fsync",
                                          "spawn", "dlopen", "mkdir", "map",   "thread"};
static const int errors[kKinds] = {ENOMEM, EMFILE, EIO, ENOSPC, EIO, EIO, EAGAIN, 0, ENOSPC, ENOMEM, EAGAIN};

static atomic_long counts[kKinds];
static atomic_int begun;
static int fault_kind = -1;
static long fault_number;
static char counts_file[512];

__attribute__((constructor)) static void start(void) {
  const char* fault = getenv("WT_FAULT");
  const char* file = getenv("WT_FAULT_COUNTS");
  if (file) strncpy(counts_file, file, sizeof counts_file - 1);
  for (int i = 0; fault && i < kKinds; ++i) {
    const size_t length = strlen(names[i]);
    if (strncmp(fault, names[i], length) != 0 || fault[length] != ':') continue;
    fault_kind = i;
    fault_number = atol(fault + length + 1);
  }
  unsetenv("LD_PRELOAD");
}

/* What a crash of the machine could lose: files with content that is not on disk, and folders with names that are not.
 */
enum { kWatched = 4096 };
struct Watched {
  dev_t device;
  ino_t number;
  char path[256];
};
static struct Watched unsynced[kWatched];
static int watched;
static pthread_mutex_t watching = PTHREAD_MUTEX_INITIALIZER;

static struct Watched* find_watched(const struct stat* what) {
  for (int i = 0; i < watched; ++i)
    if (unsynced[i].number == what->st_ino && unsynced[i].device == what->st_dev) return &unsynced[i];
  return NULL;
}
static void watch(const struct stat* what, const char* path) {
  pthread_mutex_lock(&watching);
  struct Watched* known = find_watched(what);
  if (!known) {
    if (watched == kWatched) _exit(98);
    known = &unsynced[watched++];
    known->device = what->st_dev, known->number = what->st_ino;
  }
  strncpy(known->path, path, sizeof known->path - 1);
  pthread_mutex_unlock(&watching);
}
static int forget(const struct stat* what) {
  pthread_mutex_lock(&watching);
  struct Watched* known = find_watched(what);
  if (known) *known = unsynced[--watched];
  pthread_mutex_unlock(&watching);
  return known != NULL;
}
/* The path stays empty until the file gets a name that is meant to last. */
static void has_written(int file) {
  struct stat what;
  if (begun && file > 2 && fstat(file, &what) == 0 && S_ISREG(what.st_mode)) watch(&what, "");
}
static void has_synced(int file) {
  struct stat what;
  if (begun && fstat(file, &what) == 0) forget(&what);
}
static void has_renamed(const char* to) {
  struct stat what;
  char folder[256];
  if (!begun || stat(to, &what) != 0) return;
  pthread_mutex_lock(&watching);
  struct Watched* known = S_ISREG(what.st_mode) ? find_watched(&what) : NULL;
  if (known) strncpy(known->path, to, sizeof known->path - 1);
  pthread_mutex_unlock(&watching);
  if (known) return; /* that its folder is not synced either is no news */
  strncpy(folder, to, sizeof folder - 1);
  folder[sizeof folder - 1] = 0;
  char* const slash = strrchr(folder, '/');
  if (slash) *slash = 0;
  if (slash && stat(folder, &what) == 0) watch(&what, folder);
}

__attribute__((destructor)) static void end(void) {
  if (!counts_file[0]) return;
  begun = 0;
  const int file = (int)syscall(SYS_openat, AT_FDCWD, counts_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < kKinds; ++i) {
    char line[64];
    const int length = snprintf(line, sizeof line, "%s %ld\n", names[i], (long)counts[i]);
    if (syscall(SYS_write, file, line, (size_t)length) != length) _exit(99);
  }
  for (int i = 0; i < watched; ++i) {
    char line[300];
    const int length = snprintf(line, sizeof line, "unsynced %s\n", unsynced[i].path);
    if (unsynced[i].path[0] && syscall(SYS_write, file, line, (size_t)length) != length) _exit(99);
  }
  syscall(SYS_close, file);
}

/* Whether this call is the one. */
static int fails(enum Kind kind) {
  if (!begun) return 0;
  const long number = atomic_fetch_add(&counts[kind], 1) + 1;
  if ((int)kind != fault_kind || number != fault_number) return 0;
  errno = errors[kind];
  return 1;
}

/* Whether a call comes from oneDNN or its threads, which do not look whether memory for code and threads were given. */
static int foreign(const void* caller) {
  Dl_info object;
  if (!dladdr(caller, &object) || !object.dli_fname) return 0;
  return strstr(object.dli_fname, "libdnnl") || strstr(object.dli_fname, "libgomp");
}
#define FAILS_OURS(kind) (!foreign(__builtin_return_address(0)) && fails(kind))

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

/* glibc's own names: dlsym itself allocates. */
void* malloc(size_t size) { return fails(kAlloc) ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails(kAlloc) ? NULL : __libc_calloc(count, size); }
void* realloc(void* memory, size_t size) { return fails(kAlloc) ? NULL : __libc_realloc(memory, size); }
void* aligned_alloc(size_t alignment, size_t size) { return fails(kAlloc) ? NULL : __libc_memalign(alignment, size); }
int posix_memalign(void** memory, size_t alignment, size_t size) {
  if (fails(kAlloc)) return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}

static mode_t mode_of(int flags, va_list more) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; }

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return fails(kOpen) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return fails(kOpen) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return fails(kOpen) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}
int memfd_create(const char* name, unsigned flags) {
  return fails(kOpen) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

ssize_t read(int file, void* data, size_t size) { return fails(kRead) ? -1 : syscall(SYS_read, file, data, size); }
ssize_t pread(int file, void* data, size_t size, off_t at) {
  return fails(kRead) ? -1 : syscall(SYS_pread64, file, data, size, at);
}
ssize_t pread64(int file, void* data, size_t size, off64_t at) {
  return fails(kRead) ? -1 : syscall(SYS_pread64, file, data, size, at);
}
ssize_t write(int file, const void* data, size_t size) {
  /* What is said to the user is no data. */
  if (file > 2 && fails(kWrite)) return -1;
  has_written(file);
  return syscall(SYS_write, file, data, size);
}
ssize_t writev(int file, const struct iovec* parts, int count) {
  if (file > 2 && fails(kWrite)) return -1;
  has_written(file);
  return syscall(SYS_writev, file, parts, count);
}
int ftruncate(int file, off_t size) { return fails(kWrite) ? -1 : (int)syscall(SYS_ftruncate, file, size); }
int ftruncate64(int file, off64_t size) { return fails(kWrite) ? -1 : (int)syscall(SYS_ftruncate, file, size); }
ssize_t pwrite(int file, const void* data, size_t size, off_t at) {
  return fails(kWrite) ? -1 : syscall(SYS_pwrite64, file, data, size, at);
}
ssize_t pwrite64(int file, const void* data, size_t size, off64_t at) {
  return fails(kWrite) ? -1 : syscall(SYS_pwrite64, file, data, size, at);
}

int rename(const char* from, const char* to) {
  if (fails(kRename) || syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0) != 0) return -1;
  has_renamed(to);
  return 0;
}
int fsync(int file) {
  if (fails(kSync) || syscall(SYS_fsync, file) != 0) return -1;
  has_synced(file);
  return 0;
}
int fdatasync(int file) {
  if (fails(kSync) || syscall(SYS_fdatasync, file) != 0) return -1;
  has_synced(file);
  return 0;
}
int mkdir(const char* path, mode_t mode) {
  return fails(kFolder) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  return fails(kSpawn) ? EAGAIN : NEXT(posix_spawnp)(child, file, actions, attributes, argv, envp);
}

int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  return fails(kSpawn) ? EAGAIN : NEXT(posix_spawn)(child, path, actions, attributes, argv, envp);
}
pid_t fork(void) { return fails(kSpawn) ? -1 : NEXT(fork)(); }

/* Those of the C library itself, as for a large allocation or a thread's stack, do not come here. */
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  return FAILS_OURS(kMap) ? MAP_FAILED : (void*)syscall(SYS_mmap, at, size, protection, flags, file, offset);
}
void* mmap64(void* at, size_t size, int protection, int flags, int file, off64_t offset) {
  return FAILS_OURS(kMap) ? MAP_FAILED : (void*)syscall(SYS_mmap, at, size, protection, flags, file, offset);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  return FAILS_OURS(kThread) ? EAGAIN : NEXT(pthread_create)(thread, attributes, body, argument);
}

void* dlopen(const char* path, int flags) { return fails(kLoad) ? NULL : NEXT(dlopen)(path, flags); }

int sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  const int result = NEXT(sigaction)(signal, action, before);
  if (signal == SIGHUP && action) begun = 1;
  return result;
}
