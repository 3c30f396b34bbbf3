// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/gemm.h - any convolution as an implicit GEMM over packed blocks: the built-in path that always works.
//
//   inputs of any type --pack.cc--> rows, columns (fp32, one block) --kernels.h--> sums --epilogue.h--> output
//
// int8: the fp32 sum of one block's depth is exact, 256 products of at most 255 * 128 each, and blocks are added in
// int32.
////
// Channels-last: rows are pixels and columns channels; channels-first: the other way round, so that both the packing
// and the output run along memory. Backward weight: rows are k, columns (tap, c) or (c, tap), summed over pixels.
#pragma once

#include "runtime/cpu/epilogue.h"
#include "runtime/cpu/geometry.h"
#include "runtime/cpu/kernels.h"

namespace wt::cpu {

// The inputs of the direction, in their stored types or as fp32 copies. The output's entry is not read.
struct Inputs {
  Source x, w, y;
};

class Gemm {
 public:
  // small: blocks small enough for the threads' stacks, so that no scratch memory is needed.
  Gemm(const ConvProblem& problem, int threads, bool small);

  int64_t scratch_bytes() const;
  void run(const Inputs& inputs, const Finisher& finisher, void* scratch) const;

 private:
  struct Block {
    const Phase* phase;
    int64_t group, row, column;  // first of the block, within group and phase
    int64_t rows, columns;       // of the block
  };
  struct Buffers {
    float* rows;     // (block rows, kRowStride)
    float* columns;  // (block columns / tile columns, kDepth, tile columns)
    float* sums;     // (block rows, block columns)
    int32_t* whole;  // the same, of int8
  };

  int64_t rows_of(const Phase& phase) const;
  int64_t columns_of(const Phase& phase) const;
  int64_t depth_of(const Phase& phase) const;
  int64_t block_count(const Phase& phase) const;
  int64_t all_blocks() const;
  void choose_blocks();
  Block block_at(int64_t item) const;
  void compute(const Block& block, const Inputs& inputs, const Finisher& finisher, const Buffers& buffers) const;
  void write_back(const Block& block, const Finisher& finisher, const float* sums) const;

  void pack_rows(const Block& block, const Inputs& inputs, int64_t from, int64_t depth, float* to) const;
  void pack_columns(const Block& block, const Inputs& inputs, int64_t from, int64_t depth, float* to) const;
  void rows_of_pixels(const Block& block, const Source& source, int64_t from, int64_t depth, float* to) const;
  void rows_of_weights(const Block& block, const Source& source, int64_t from, int64_t depth, float* to) const;
  void rows_of_gradient(const Block& block, const Source& source, int64_t from, int64_t depth, float* to) const;
  void columns_of_pixels(const Block& block, const Source& source, int64_t from, int64_t depth, float* to) const;
  void columns_of_weights(const Block& block, const Source& source, int64_t from, int64_t depth, float* to) const;
  void columns_of_patches(const Block& block, const Source& source, int64_t from, int64_t depth, float* to) const;
  void put_row(const float* row, int64_t columns, int64_t at, float* to) const;
  int64_t weight_offset(int64_t k, int64_t filter, int64_t c) const;  // k over all groups, c within one

  ConvProblem problem_;
  Geometry geometry_;
  bool weight_;              // backward weight
  bool last_;                // channels-last
  bool integer_;             // int8
  int64_t source_channels_;  // of a group
  int64_t walked_channels_;
  const Tile* tile_;
  int threads_;
  bool small_;
  int64_t block_rows_;
  int64_t block_columns_;
};

}  // namespace wt::cpu
