// SPDX-License-Identifier: Apache-2.0
// kernels/rows_weight/device/arguments.h - the parameter block of rows_weight/device/kernel.h and rows/weight_sum.h.
//
// A unit is `tile_rows` rows of `strip` outputs. Units of a strip follow each other down the image; each brings one
// chunk of image rows, the first of a walk as many as its windows touch. Along w positions count elements.
#pragma once

#include "kernels/device/arguments.h"
#include "kernels/device/divider.h"

namespace wt {

// Where the output channels are few, dy is the image and x has the outputs' place: dw (k, r, s, c) is the gradient of
// (c, R-1-r, S-1-s, k), so `turned` only says where a sum goes.
struct RowsWeightArguments {
  TensorMap source;  // {pairs of elements, rows, images} in boxes of a chunk; in three dimensions planes before images
  TensorMap gradient;  // {output channels, columns, rows, planes of all images} in boxes of a unit's 64 channels
  const void* image;
  const void* gradient_numbers;  // of dy, where load warps bring it
  i64 gradient_elements;
  Divider gradient_loads;  // chunks that a pixel of it is made of, as row_loads
  Divider strip_pixels;    // `strip`
  float* partials;         // (parts, tiles, vectors of four sums as the lanes hold them)
  void* dw;
  i64 columns;  // output channels
  i32 tiles_m, tiles_n;
  u32 units, units_of_part, longer_parts;  // the first ones have a unit more
  i32 splits;                              // parts
  i32 sum_slices;                          // threads that share the parts of a sum: part_sum.h
  Divider walk_units, strips;              // units of a strip, strips of an image
  i32 strip, octets, tile_rows;
  i32 out[2], in_rows;
  i32 row_elements;  // of the image
  i32 stride_h, pad_h;
  i32 step, pad;         // elements: between the windows of neighbouring outputs, and before the first pixel of a row
  i32 run, filter_rows;  // elements of a filter row, and how many there are in all planes
  i32 turned;
  Divider channels;      // of the image
  i32 row_words, words;  // of 32 bits: of a filter row, of the filter
  i32 shift;             // 1 where the first word of a filter row starts one element before it
  i32 before;            // bytes of a row in shared memory before the first window's first word
  // Where windows start at even and odd elements in turns: bytes from the word of a pair's first output to those of
  // the one at an even and the one at an odd element.
  i32 odd_step;
  i32 even_at, odd_at;
  i32 paired;  // every unit has pairs of rows of whole octets: a step is an octet of one and the same of the other
  i32 pitch;   // bytes of a row in shared memory
  Divider row_loads;  // chunks of 16 bytes that a row is made of where it is no bulk copy: one more than it has
  i64 image_elements;
  i32 chunk_rows, chunks, ring_chunks;
  i32 block_bytes;     // of a unit's 64 channels in shared memory
  i32 gradient_bytes;  // that a unit's copies bring
  i32 slots_bytes;
  // In three dimensions: output planes of an image, filter rows of a plane; every filter plane has a ring of its own.
  Divider out_planes, plane_rows;
  i32 in_planes, stride_d, pad_d, filter_planes;
  i32 plane_bytes;  // of a ring
  EpilogueArguments epilogue;
};

}  // namespace wt
