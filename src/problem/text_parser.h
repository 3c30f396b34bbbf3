// SPDX-License-Identifier: Apache-2.0
// problem/text_parser.h - reads the text of a problem (docs/problem-text.md) word by word; text.cc is the way in.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem/gemm.h"
#include "problem/problem.h"

namespace wt {

class TextParser {
 public:
  explicit TextParser(std::string_view text) : text_(text) {}

  Result<ConvProblem> parse();  // not yet validated

 private:
  struct Range {
    int64_t lower = 0, upper = 0;
  };
  struct Sizes {  // of i, f, s, d or p, as written
    size_t column = 0;
    std::vector<Range> values;
    bool given() const { return !values.empty(); }
  };
  enum class Padding { kNumbers, kSame, kValid, kCausal };

  // The failure "expected ..." at an offset into the text, with the text and a caret below it.
  Status fault(size_t offset, std::string_view message) const;

  Status parse_word(size_t begin, size_t end);
  Status parse_version(size_t begin, size_t end);
  Status parse_types(size_t begin, size_t end);
  Status parse_accumulation(size_t begin, size_t end);
  Status parse_layout(size_t begin, size_t end);
  Status parse_count(size_t begin, size_t end);
  Status parse_sizes(size_t begin, size_t end);
  Status parse_number(size_t& at, size_t end, int64_t& number) const;
  Status parse_epilogue(size_t begin, size_t end);
  Status parse_step(size_t& at, size_t end);
  Status parse_channel_type(size_t& at, size_t end, DataType& type) const;
  Status parse_real(size_t& at, size_t end, float& real) const;
  Status parse_reals(size_t& at, size_t end, std::span<float> reals, int& count) const;
  Status parse_quoted(size_t& at, size_t end, std::string& content) const;
  Status once(bool& seen, size_t offset, std::string_view what);
  Status parse_extra(size_t begin, size_t end, bool& taken);
  Status parse_zero(size_t begin, size_t end);
  Status spread(const Sizes& sizes, char letter, Spatial& lower, Spatial* upper) const;
  Status finish();
  Status finish_padding();
  Status finish_transposed();
  // Products of matrices: text_gemm.cc.
  Status parse_gemm_word(size_t begin, size_t end, bool& taken);
  Status parse_gemm_count(size_t begin, size_t end);
  Status finish_gemm();

  std::string_view word(size_t begin, size_t end) const { return text_.substr(begin, end - begin); }
  bool at_char(size_t at, size_t end, char c) const { return at < end && text_[at] == c; }

  std::string_view text_;
  ConvProblem problem_;
  DataType first_ = DataType::kBf16, second_ = DataType::kBf16, output_ = DataType::kBf16;
  Sizes in_, filter_, stride_, dilation_, pad_, output_padding_;
  Padding padding_ = Padding::kNumbers;
  size_t padding_column_ = 0, layout_column_ = 0;
  int layout_dims_ = 0;  // of the layout's name; 0: none was given
  int last_step_ = -1;   // of the epilogue
  bool any_word_ = false, saw_version_ = false, saw_direction_ = false, saw_types_ = false, saw_acc_ = false;
  bool transposed_ = false, saw_bias_gradient_ = false, saw_scales_ = false, saw_x_zero_ = false, saw_y_zero_ = false;
  bool gemm_ = false, saw_form_ = false, saw_m_ = false, saw_batch_ = false;
  size_t gemm_column_ = 0;  // of the first word that only a product of matrices has
  GemmProblem product_;     // its own words: form, m, batch, interleaved
  bool saw_n_ = false, saw_g_ = false, saw_c_ = false, saw_k_ = false, saw_pad_ = false;
};

// A user's C++ as a problem's text holds it, in double quotes.
std::string quoted_text(std::string_view content);

}  // namespace wt
