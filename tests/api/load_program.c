/* SPDX-License-Identifier: Apache-2.0 */
/* tests/api/load_program.c - loads the library as another language does: dlopen, by pointer, into a running process.
 *
 * Thread-local storage of the library must be small for that: what is left over for late arrivals is about a kilobyte.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  void* library;
  void* symbol;
  const char* (*version)(void);
  if (argc != 2) return 2;
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  symbol = dlsym(library, "wavetile_version_string");
  if (!symbol) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  memcpy(&version, &symbol, sizeof version); /* ISO C has no cast from an object to a function pointer */
  printf("loaded wavetile %s\n", version());
  return 0;
}
