/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/cpu/onednn_abi.h - the C interface between the library and its oneDNN plug-in.
 *
 *   onednn.cc (library) --dlopen--> wavetile_onednn_provider() --> plugin/provider.cc --> oneDNN
 *
 * WHY C: the plug-in may be built by another compiler or at another time; the version and size are checked. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define WAVETILE_ONEDNN_ABI_VERSION 1u

#ifdef __cplusplus
extern "C" {
#endif

/* An fp32 convolution with the meaning of ConvProblem; spatial values are d, h, w. */
typedef struct WavetileOnednnProblem {
  int32_t direction; /* as enum Direction */
  int32_t layout;    /* as enum Layout */
  int32_t dims;
  int32_t threads;
  int64_t n, g, c, k;
  int64_t in[3], out[3], filter[3], stride[3], dilation[3], pad_lower[3], pad_upper[3];
} WavetileOnednnProblem;

typedef struct WavetileOnednnText {
  char text[512];
} WavetileOnednnText;

/* Functions return 0 for success; otherwise `text` holds why not. */
typedef struct WavetileOnednnProvider {
  uint32_t abi_version;
  uint32_t struct_size;
  const char* version; /* of oneDNN */
  int (*create)(const WavetileOnednnProblem* problem, void** convolution, int64_t* scratch_bytes,
                WavetileOnednnText* text); /* success: text names the implementation */
  void (*destroy)(void* convolution);
  /* The output is written, the other two are read. Scratch is 64-byte aligned. May run on several threads at once. */
  int (*execute)(const void* convolution, const float* x, const float* w, const float* y, void* scratch,
                 WavetileOnednnText* text);
  /* body(context, slot) for each slot in [0, slots), on oneDNN's threads. */
  void (*parallel)(int32_t slots, void (*body)(void* context, int32_t slot), void* context);
} WavetileOnednnProvider;

typedef const WavetileOnednnProvider* (*WavetileOnednnEntry)(void);
#define WAVETILE_ONEDNN_ENTRY "wavetile_onednn_provider"

#ifdef __cplusplus
}
#endif
