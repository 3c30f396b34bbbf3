/* SPDX-License-Identifier: Apache-2.0 */
/* examples/capabilities.c - what this machine can do, and what is missing for the rest; scripts/test.sh ends with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <wavetile/wavetile.h>

int main(void) {
  static const struct {
    wavetile_capability which;
    const char* name;
    const char* use;
  } rows[] = {
      {WAVETILE_CAPABILITY_CUDA_DRIVER, "CUDA driver", "running on an NVIDIA GPU"},
      {WAVETILE_CAPABILITY_HIP, "HIP", "running on an AMD GPU"},
      {WAVETILE_CAPABILITY_NVRTC, "NVRTC", "compiling kernels for NVIDIA GPUs"},
      {WAVETILE_CAPABILITY_HOST_COMPILER, "host compiler", "running kernels in the simulator"},
      {WAVETILE_CAPABILITY_CLANG_AMD, "clang", "compiling kernels for AMD GPUs"},
      {WAVETILE_CAPABILITY_ONEDNN, "oneDNN", "the fastest convolutions on the CPU"},
  };
  size_t i;
  printf("wavetile %s\n", wavetile_version_string());
  for (i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    int32_t available = 0;
    char* detail = NULL;
    if (wavetile_capability_query(rows[i].which, &available, &detail) != WAVETILE_OK) {
      fprintf(stderr, "%s: %s\n", rows[i].name, wavetile_last_error());
      return 1;
    }
    printf("%-4s %-14s %-36s %s\n", available ? "yes" : "no", rows[i].name, rows[i].use, detail);
    wavetile_string_free(detail);
  }
  return 0;
}
