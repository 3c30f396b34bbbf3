// SPDX-License-Identifier: Apache-2.0
// problem/user_types.h - what the user's epilogue text sees of an output element (docs/user-epilogue.md).
//
// Freestanding: host and device compilers lay these structs out alike, and the reference calls the same text.
#pragma once

namespace wt::user {

inline constexpr int kMaxInputs = 4, kMaxNumbers = 8;  // kMaxAuxiliary and kMaxScalars of problem.h

// Which element of the output it is.
struct Coord {
  long long n;  // image; 0 in a weight gradient
  int d, h, w;  // pixel; tap of a weight gradient
  int channel;  // of the output, over all groups: k of y and dw, c of dx
  int group;    // of that channel
  int c;        // weight gradient: input channel within the group; else 0
};

// What the text reads there, in fp32. What the problem does not have is zero.
struct Inputs {
  float aux[kMaxInputs];
  float scalar[kMaxNumbers];
};

// The output as its memory is laid out: all that leads from an offset to a Coord.
struct OutputShape {
  int size[3];         // d, h, w
  int channels;        // beside each other in memory: k, c, and c per group of dw
  int group_channels;  // output channels of a group
  bool channels_last;
  bool weight;  // dw
};

template <class Index>
constexpr Coord coord_in(const OutputShape& shape, Index rest) {
  Coord at{};
  Index channel = 0;
  const auto take = [&rest](int size) {
    const Index quotient = rest / static_cast<Index>(size), part = rest - quotient * static_cast<Index>(size);
    rest = quotient;
    return part;
  };
  if (shape.channels_last) channel = take(shape.channels);
  at.w = static_cast<int>(take(shape.size[2]));
  at.h = static_cast<int>(take(shape.size[1]));
  at.d = static_cast<int>(take(shape.size[0]));
  if (!shape.channels_last) channel = take(shape.channels);
  at.n = shape.weight ? 0 : static_cast<long long>(rest);
  at.c = shape.weight ? static_cast<int>(channel) : 0;
  at.channel = static_cast<int>(shape.weight ? rest : channel);
  at.group = at.channel / shape.group_channels;
  return at;
}

// The place of the element at `offset` of the output's memory.
constexpr Coord coord_of(const OutputShape& shape, long long offset) {
  // WHY: dividing 64-bit numbers takes a GPU several times as long, and few outputs need it.
  return offset >> 31 == 0 ? coord_in(shape, static_cast<unsigned>(offset)) : coord_in(shape, offset);
}

}  // namespace wt::user
