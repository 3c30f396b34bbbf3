// SPDX-License-Identifier: Apache-2.0
// config/kernel_config.h - KernelConfig: one struct is a kernel's identity, on the host and as a template argument.
//
//   rules --> KernelConfig --fields.h--> name, key, hash, order, JSON, template argument
//
// Freestanding: device compilers read this file too. Problem sizes are not here; they are run-time arguments.
// A field added here must be added to fields.h: a static_assert there counts both.
#pragma once

#include "config/kinds.h"
#include "problem/enums.h"

namespace wt {

enum class Target : unsigned char {
  kSm80,
  kSm90a,
  kSm100a,
  kSm103a,
  kSm110a,
  kSm120a,
  kSm121a,
  kGfx90a,
  kGfx942,
  kGfx950,
  kGfx1100,
  kGfx1201,
  kGfx1250,
  kGfx11Generic,
  kGfx12Generic,
};

constexpr bool is_nvidia(Target target) { return target <= Target::kSm121a; }
constexpr bool is_amd(Target target) { return !is_nvidia(target); }
// mbarriers, bulk tensor copies, clusters and early starts: Hopper and everything after it.
constexpr bool has_bulk_copies(Target target) { return is_nvidia(target) && target != Target::kSm80; }
constexpr bool has_wgmma(Target target) { return target == Target::kSm90a; }
// tcgen05 and its memory: data centres' Blackwell and Thor, not the RTX series.
constexpr bool has_tensor_memory(Target target) { return target >= Target::kSm100a && target <= Target::kSm110a; }

// Kinds whose parameters are a GemmConfig, and those whose parameters are a DirectConfig.
enum class Family : unsigned char {
  kGemm,    // implicit GEMM
  kDirect,  // depthwise and small groups
};

// Which kernel: one line of config/kinds.h and one folder of src/kernels each.
enum class Kind : unsigned char {
#define WT_ENUMERATOR(Name, name, family) k##Name,
  WT_KERNEL_KINDS(WT_ENUMERATOR)
#undef WT_ENUMERATOR
};

constexpr Family family_of(Kind kind) {
  switch (kind) {
#define WT_CASE(Name, name, family) \
  case Kind::k##Name:               \
    return Family::family;
    WT_KERNEL_KINDS(WT_CASE)
#undef WT_CASE
  }
  return Family::kGemm;
}

enum class Pipeline : unsigned char {
  kBasicV1,
  kBasicV2,
  kMem,
  kCompV3,
  kCompV4,
  kCompV5,
  kCompV6,
  kCompAsync,
  kBasicAsyncV1,
  kWavelet,
  kTma,
  kFourWave,
  kTaps,
  kRows,
  kTcgen05,
};

// The pipeline of kinds that have one; portable has several.
constexpr Pipeline only_pipeline(Kind kind) {
  switch (kind) {
    case Kind::kTcgen05:
    case Kind::kTcgen05Halo:
      return Pipeline::kTcgen05;
    case Kind::kWavelet:
      return Pipeline::kWavelet;
    case Kind::kFourWave:
    case Kind::kFourWaveWeight:
      return Pipeline::kFourWave;
    case Kind::kTaps:
      return Pipeline::kTaps;
    case Kind::kRows:
    case Kind::kRowsWeight:
      return Pipeline::kRows;
    case Kind::kTma:
    case Kind::kTmaFold:
    case Kind::kTmaHalo:
    case Kind::kTmaWeight:
    case Kind::kTmaWeightHalo:
    case Kind::kTmaWeightFew:
      return Pipeline::kTma;
    default:
      return Pipeline::kBasicV1;
  }
}

enum class Scheduler : unsigned char { kIntrawave, kInterwave };

// How an operand's tile reaches shared memory.
enum class Loader : unsigned char {
  kGather,     // element by element through registers: any type, layout, alignment
  kVector,     // vectors of consecutive channels through registers
  kAsync,      // vectors of consecutive channels, global to shared without registers
  kTmaTiled,   // bulk tensor copy of a box
  kTmaIm2col,  // bulk tensor copy of an im2col column
  kTmaHalo,    // one patch with its halo serves every tap
  kRegister,   // raw rows in shared memory, fragments gathered in registers
  // Through a buffer descriptor, whose range answers what lies outside the image with zeros:
  kBufferRows,     // rows of a matrix: a filter, or an image under a filter of one tap
  kBufferUniform,  // an image under the taps, a k-block inside one tap
  kBufferLane,     // the same where a k-block crosses taps: each lane finds its own
};

enum class Specialization : unsigned char {
  kDefault,
  kFilter1x1Stride1Pad0,
  kFilter3x3,
  kPatch,  // stride = filter, no padding
};

enum class SplitK : unsigned char { kNone, kCluster, kWorkspace, kAtomic };
enum class StreamK : unsigned char { kOff, kLinear, kTree };
enum class Raster : unsigned char { kAlongM, kAlongN };
enum class Staging : unsigned char {
  kDirect,    // registers to global memory
  kShared,    // through shared memory for vector stores (cshuffle)
  kTmaStore,  // through shared memory and a bulk tensor store
};

struct Extent3 {
  short m = 1, n = 1, k = 1;
  constexpr bool operator==(const Extent3&) const = default;
};

struct GemmConfig {
  Extent3 tile{64, 64, 32};  // of a block
  Extent3 warps{2, 2, 1};    // of a block (math warps where roles are split)
  Extent3 mma{16, 8, 16};    // one matrix instruction
  Pipeline pipeline = Pipeline::kBasicV1;
  Scheduler scheduler = Scheduler::kIntrawave;
  unsigned char stages = 1;  // tiles in flight in shared memory
  unsigned char wave_groups = 1;
  bool double_buffer = false;
  Loader loader_a = Loader::kGather;
  Loader loader_b = Loader::kGather;
  bool ping_pong = false;  // a tile for each consumer group instead of one for both
  unsigned char cluster_m = 1;
  unsigned char cluster_n = 1;
  bool multicast_a = false;
  bool multicast_b = false;
  unsigned char swizzle_a = 0;  // bytes: 0, 32, 64, 128
  unsigned char swizzle_b = 0;
  Raster raster = Raster::kAlongM;
  unsigned char block_swizzle = 1;
  bool persistent = false;
  Staging staging = Staging::kDirect;
  bool swap_ab = false;        // the rows of an instruction are output channels, its columns pixels
  bool aligned_copy = false;   // inputs are first copied to rows of channels that are whole 16 bytes
  unsigned char vector_a = 1;  // elements per access
  unsigned char vector_b = 1;
  unsigned char vector_c = 1;
  Specialization specialization = Specialization::kDefault;
  SplitK split_k = SplitK::kNone;
  StreamK stream_k = StreamK::kOff;
  bool stream_k_persistent = false;
  unsigned char groups_per_tile = 1;
  bool explicit_gemm = false;
  unsigned char load_warps = 0;   // 0: every warp loads and multiplies
  unsigned char filter_rows = 0;  // 0: run-time value
  constexpr bool operator==(const GemmConfig&) const = default;
};

// Sizes of the problem that are compiled in; 0: a run-time value. One-dimensional problems lie along h here and in
// DirectConfig: their pixels are rows of one column.
struct FixedSizes {
  unsigned char filter_h = 0;
  unsigned char filter_w = 0;
  unsigned char stride_h = 0;
  unsigned char stride_w = 0;
  unsigned char dilation_h = 0;
  unsigned char dilation_w = 0;
  constexpr bool operator==(const FixedSizes&) const = default;
};

struct DirectConfig {
  short tile_w = 0;  // output columns of a block; 0: run-time value
  short sub_w = 1;   // output columns of a thread
  short sub_h = 1;   // output rows that a warp sums at a time
  short block_size = 64;
  unsigned char vector_in = 1;
  unsigned char vector_out = 1;
  unsigned char group_channels = 0;  // of a group; 0: not compiled in
  unsigned char block_channels = 0;  // of a block
  unsigned char images = 1;          // per block
  unsigned char prefetch = 1;        // rows on their way while one is multiplied
  bool register_weights = false;     // each thread keeps its weights; else they are read from shared memory
  bool bulk_rows = false;            // rows come by tensor maps
  bool read_ahead = false;           // the next row is read while one is multiplied
  bool history = false;              // pixels before the first come from a tensor of their own
  constexpr bool operator==(const DirectConfig&) const = default;
};

// Which epilogue steps exist in the machine code; their values are run-time arguments (see problem/problem.h).
struct EpilogueConfig {
  bool scale = false;
  bool bias = false;
  bool residual = false;
  Activation activation = Activation::kNone;
  bool amax = false;
  unsigned long long user_hash = 0;         // of the user's text; 0: none
  unsigned char added = 0;                  // tensors that are added beside the residual
  Activation gradient = Activation::kNone;  // whose derivative at the saved tensor multiplies
  unsigned char inputs = 0;                 // further tensors that the user's text reads
  bool expression = false;                  // the user's text computes
  bool store = false;                       // the user's text writes, and the kernel does not
  DataType scale_type = DataType::kF32, bias_type = DataType::kF32;
  bool x_zero = false;  // sums of int8 are corrected by x's zero point, of the taps inside the image
  constexpr int auxiliaries() const { return added + (gradient != Activation::kNone) + inputs; }  // that are read
  // Whether a step reads or writes at the element's own place, so that there must be such a place.
  constexpr bool placed() const { return residual || auxiliaries() > 0 || expression || store || x_zero; }
  constexpr bool operator==(const EpilogueConfig&) const = default;
};

struct KernelConfig {
  Kind kind = Kind::kBasic;
  Direction direction = Direction::kForward;
  Target target = Target::kSm80;
  DataType x = DataType::kBf16;
  DataType w = DataType::kBf16;
  DataType y = DataType::kBf16;
  DataType acc = DataType::kF32;
  Layout layout = Layout::kChannelsLast;
  unsigned char dims = 2;
  unsigned char min_blocks = 1;  // per multiprocessor
  bool finite_only = false;      // a non-finite input may reach outputs outside its receptive field
  BlockScales scales = BlockScales::kNone;
  EpilogueConfig epilogue;
  GemmConfig gemm;
  FixedSizes fixed;
  DirectConfig direct;
  constexpr Family family() const { return family_of(kind); }
  constexpr bool operator==(const KernelConfig&) const = default;
};

}  // namespace wt
