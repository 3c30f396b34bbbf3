// SPDX-License-Identifier: Apache-2.0
// generate/exported_kernel.h - a kernel of an exported tree as plain data: what its registration hands out.
//
// Exported trees carry a copy of this file. A library made from one answers wavetile_exported_kernels.
#pragma once

namespace wavetile_exported {

inline constexpr int kFormat = 2;  // of this struct

struct Kernel {
  int format;                      // kFormat of the tree that made it
  const char* name;                // of the config, and of the entry
  const char* version;             // of the library that exported it
  const char* target;              // sm_90a
  const char* direction;           // fwd, bwd_data, bwd_weight
  const char* instance;            // one line for people
  const char* config;              // JSON, as wavetile's configuration reader takes it
  const char* source;              // path of the kernel's header below the tree
  unsigned threads;                // of a block
  unsigned shared_bytes;           // dynamic, of a block
  unsigned params_bytes;           // of the entry's one argument
  bool simulated;                  // compiled by the host compiler for the simulator
  void (*entry)();                 // simulator: void(const void* params), once per thread; else null
  const unsigned char* image;      // of a GPU: its code object or cubin; null for the simulator
  const unsigned char* image_end;  // past it
};

}  // namespace wavetile_exported

// Every kernel of a library made from an exported tree, in the order of its manifest.
extern "C" const wavetile_exported::Kernel* const* wavetile_exported_kernels(int* count);
