// SPDX-License-Identifier: Apache-2.0
// config/kinds.h - the list of kernels: one line each, in order of preference where predictions are equal.
//
//   KERNEL(Tma, tma, kGemm) --> Kind::kTma, the name "tma", and wt::kinds::kTma, which src/kernels/tma/kind.cc defines
//
// A new kernel is one line here and one folder (kernels/kind.h has the contract). Freestanding: device code sees it.
#pragma once

#define WT_KERNEL_KINDS(KERNEL)                                                                          \
  KERNEL(Tma, tma, kGemm)                            /* Hopper: TMA copies and wgmma */                  \
  KERNEL(TmaHalo, tma_halo, kGemm)                   /* one patch with its halo serves every tap */      \
  KERNEL(TmaFold, tma_fold, kGemm)                   /* the taps of a filter row side by side along n */ \
  KERNEL(TmaWeight, tma_weight, kGemm)               /* the weight gradient */                           \
  KERNEL(TmaWeightHalo, tma_weight_halo, kGemm)      /* a patch of x serves several taps */              \
  KERNEL(TmaWeightFew, tma_weight_few, kGemm)        /* few output channels */                           \
  KERNEL(Tcgen05, tcgen05, kGemm)                    /* Blackwell: TMA copies, tensor memory */          \
  KERNEL(Tcgen05Halo, tcgen05_halo, kGemm)           /* patches serve the taps below each other */       \
  KERNEL(Wavelet, wavelet, kGemm)                    /* Hopper: warps gather, warpgroups multiply */     \
  KERNEL(Taps, taps, kGemm)                          /* few output channels: one product per tap */      \
  KERNEL(Rows, rows, kGemm)                          /* few input channels: raw rows in shared memory */ \
  KERNEL(RowsWeight, rows_weight, kGemm)             /* the weight gradient of few input channels */     \
  KERNEL(Portable, portable, kGemm)                  /* pipelines of every target with matrix units */   \
  KERNEL(FourWave, four_wave, kGemm)                 /* CDNA: four waves */                              \
  KERNEL(FourWaveWeight, four_wave_weight, kGemm)    /* the weight gradient by four waves */             \
  KERNEL(Basic, basic, kGemm)                        /* implicit GEMM, any valid problem */              \
  KERNEL(DepthwiseStream, depthwise_stream, kDirect) /* a thread walks down a strip of columns */        \
  KERNEL(DepthwiseBanded, depthwise_banded, kDirect) /* matrix instructions over a banded filter */      \
  KERNEL(DepthwiseStrips, depthwise_strips, kDirect) /* the same with sizes at run time */               \
  KERNEL(DepthwiseTaps, depthwise_taps, kDirect)     /* weight gradients: the sums are the taps */       \
  KERNEL(Stacked, stacked, kDirect)                  /* small groups on wgmma, filter rows stacked */    \
  KERNEL(Groups, groups, kDirect)                    /* small groups, the halo in shared memory */       \
  KERNEL(DepthwiseStep, depthwise_step, kDirect)     /* few tokens and a state: y and the next state */  \
  KERNEL(DepthwiseGather, depthwise_gather, kDirect) /* every tap looked up: any depthwise problem */    \
  KERNEL(Trial, trial, kDirect)                      /* not ours: what a test or a developer links in */
