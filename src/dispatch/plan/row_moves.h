// SPDX-License-Identifier: Apache-2.0
// dispatch/plan/row_moves.h - copies and additions of rows of images (problem/history.h), by launches or on the host.
#pragma once

#include <memory>

#include "launch/rates.h"
#include "problem/history.h"
#include "runtime/device.h"

namespace wt {

// Rows [first, first + count) of `history` and `x` joined to the first rows of `out`, an image of out_rows.
struct RowCopy {
  const void* history = nullptr;
  int64_t length = 0;  // rows of history in an image; 0: x alone
  const void* x = nullptr;
  int64_t x_rows = 0;
  int64_t first = 0, count = 0;
  void* out = nullptr;
  int64_t out_rows = 0;
  bool in_place = false;  // `out` may be the history
};

// Rows [from_first, from_first + count) of `from` are added to those of `to` from to_first on.
struct RowAddition {
  const void* from = nullptr;
  int64_t from_rows = 0, from_first = 0;
  void* to = nullptr;
  int64_t to_rows = 0, to_first = 0;
  int64_t count = 0;
};

// Of tensors of one type whose rows are equally long.
class RowMoves {
 public:
  // `rows`: images and elements of a row count. Compiles what `copies` and `adds` ask for.
  static Result<std::unique_ptr<RowMoves>> make(const std::shared_ptr<Device>& device, const Rows& rows, DataType type,
                                                bool copies, bool adds);
  Status copy(const RowCopy& copy, Stream stream) const;
  Status add(const RowAddition& addition, Stream stream) const;
  double compile_seconds() const { return compile_seconds_; }

 private:
  RowMoves(std::shared_ptr<Device> device, const Rows& rows, DataType type);
  Status compile(const std::string& name, const std::string& header, const std::string& type, const Function*& function,
                 std::shared_ptr<LoadedModule>& module);
  Status launch(const Function& function, int64_t threads, std::span<const std::byte> arguments, Stream stream) const;

  std::shared_ptr<Device> device_;
  Rows rows_;
  int64_t units_;  // of a row, that are copied at a time
  DataType type_;
  bool on_host_;
  double compile_seconds_ = 0;
  std::shared_ptr<LoadedModule> copier_, adder_;
  const Function *copy_ = nullptr, *add_ = nullptr;
};

// Predicted: a launch that reads and writes so many bytes together.
double row_moves_us(double bytes, const Rates& rates);

}  // namespace wt
