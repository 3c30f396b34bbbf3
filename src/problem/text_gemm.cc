// SPDX-License-Identifier: Apache-2.0
// problem/text_gemm.cc - "gemm bf16 m512 n1024 k768 b4": the words of a matrix product (problem/gemm.h).
#include "problem/text_parser.h"

namespace wt {
namespace {

constexpr std::string_view kExample = "gemm bf16 m512 n1024 k768 b4";

}  // namespace

Status TextParser::parse_gemm_word(size_t begin, size_t end, bool& taken) {
  const std::string_view text = word(begin, end);
  const bool counts =
      (text[0] == 'm' || text[0] == 'b') && text.size() > 1 && ((text[1] >= '0' && text[1] <= '9') || text[1] == '-');
  const bool forms = gemm_form_from(text).has_value() || text == "tt";
  taken = text == "gemm" || text == "interleaved" || forms || counts;
  if (!taken) return {};
  if (gemm_column_ == 0) gemm_column_ = begin + 1;
  if (text == "gemm") {
    gemm_ = true;
    return once(saw_direction_, begin, "the direction");
  }
  if (text == "interleaved") return once(product_.interleaved, begin, "interleaved");
  if (counts) return parse_gemm_count(begin, end);
  if (text == "tt") {
    return fault(
        begin,
        "both matrices across their rows: no kernel writes that product by rows; exchange them, m and n, which "
        "gives D by columns as an nn product");
  }
  product_.form = *gemm_form_from(text);
  return once(saw_form_, begin, "the form");
}

Status TextParser::parse_gemm_count(size_t begin, size_t end) {
  const bool rows = text_[begin] == 'm';
  WT_TRY(once(rows ? saw_m_ : saw_batch_, begin, std::string("the count ") + text_[begin]));
  size_t at = begin + 1;
  WT_TRY(parse_number(at, end, rows ? product_.m : product_.batch));
  if (at != end) return fault(at, fmt::format("expected a space: {} takes one number", text_[begin]));
  return {};
}

Status TextParser::finish_gemm() {
  const size_t end = text_.find_last_not_of(" \t\r\n") + 1;
  if (!gemm_) {
    return fault(gemm_column_ - 1, fmt::format("this word belongs to a product of matrices, as in '{}'", kExample));
  }
  if (!saw_m_) return fault(end, "expected m, the rows of D");
  if (!saw_n_) return fault(end, "expected n, the columns of D");
  if (!saw_k_) return fault(end, "expected k, the numbers that each element of D sums");
  for (const Sizes* sizes : {&in_, &filter_, &stride_, &dilation_, &pad_, &output_padding_}) {
    if (sizes->given()) return fault(sizes->column, "a product of matrices has no pixels; it is said by m, n, k and b");
  }
  if (saw_g_ || saw_c_ || layout_dims_ != 0 || saw_pad_ || transposed_ || problem_.history || problem_.new_history ||
      saw_bias_gradient_ || problem_.has_scales() || saw_x_zero_ || saw_y_zero_) {
    return fault(gemm_column_ - 1,
                 fmt::format("a gemm has types, m, n, k, b, a form (nt, nn, tn), interleaved and +steps, as in '{}'; "
                             "leave the words of convolutions out",
                             kExample));
  }
  product_.a = first_, product_.b = second_, product_.d = output_;
  product_.acc = problem_.acc;
  product_.n = problem_.n, product_.k = problem_.k;
  product_.epilogue = problem_.epilogue;
  WT_TRY_ASSIGN(problem_, to_convolution(product_));
  return {};
}

}  // namespace wt
