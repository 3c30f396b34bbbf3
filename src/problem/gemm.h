// SPDX-License-Identifier: Apache-2.0
// problem/gemm.h - a matrix product, one or a batch of them, in its own words, and the convolution that computes it.
//
//   GemmProblem --to_convolution--> ConvProblem --to_gemm--> GemmProblem
//
// D = A B is a one-dimensional convolution of one image by a filter of one tap; batches are its groups. Which direction
// follows from how the matrices lie, each of them row after row:
//
//   form   A       B       one product, or batches interleaved    batches stacked
//                          (channels last)                        (channels first)
//   nt     m x k   n x k   fwd         A is x, B is w, D is y     bwd_weight  A is y, B is x, D is w
//   nn     m x k   k x n   bwd_data    A is y, B is w, D is x     fwd         A is w, B is x, D is y
//   tn     k x m   k x n   bwd_weight  A is y, B is x, D is w     bwd_data    A is w, B is y, D is x
//
// Interleaved, a row of x or y holds that row of every batch (row stride b times its length, batch stride its length),
// and w is stacked. Stacked, each matrix of a batch follows the whole one before it.
#pragma once

#include "problem/problem.h"

namespace wt {

enum class GemmForm : uint8_t { kNt, kNn, kTn };
inline constexpr GemmForm kLastGemmForm = GemmForm::kTn;
const char* name_of(GemmForm form);  // nt, nn, tn
std::optional<GemmForm> gemm_form_from(std::string_view name);

struct GemmProblem {
  GemmForm form = GemmForm::kNt;
  DataType a = DataType::kBf16;
  DataType b = DataType::kBf16;
  DataType d = DataType::kBf16;
  DataType acc = DataType::kF32;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  int64_t batch = 1;
  bool interleaved = false;  // of one product there is no difference
  Epilogue epilogue;         // of D; scale and bias run over its columns, of every batch

  bool operator==(const GemmProblem&) const = default;
};

// The tensors of the convolution that hold the matrices.
enum class ConvTensor : uint8_t { kX, kW, kY };
struct GemmRoles {
  ConvTensor a, b, d;
  bool operator==(const GemmRoles&) const = default;
};
GemmRoles roles_of(const GemmProblem& gemm);

// The validated convolution, or one message in the product's words.
Result<ConvProblem> to_convolution(const GemmProblem& gemm);

// The product that a convolution is, where it is one as to_convolution makes them.
std::optional<GemmProblem> to_gemm(const ConvProblem& problem);

}  // namespace wt
