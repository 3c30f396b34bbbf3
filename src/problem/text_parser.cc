// SPDX-License-Identifier: Apache-2.0
#include "problem/text_parser.h"

#include <algorithm>
#include <charconv>

#include "problem/transposed.h"

namespace wt {
namespace {

constexpr std::string_view kExample = "fwd bf16 n16 c256 k256 i100x100 f3x3 p1";
constexpr std::string_view kTransposed = "transposed";
constexpr std::string_view kTypeNames = "fp32, tf32, fp16, bf16, e4m3, e5m2, e2m1 or int8";

struct LayoutName {
  std::string_view name;
  Layout layout;
  int dims;
};
constexpr LayoutName kLayouts[] = {
    {"NWC", Layout::kChannelsLast, 1},   {"NHWC", Layout::kChannelsLast, 2},   {"NDHWC", Layout::kChannelsLast, 3},
    {"NWGC", Layout::kChannelsLast, 1},  {"NHWGC", Layout::kChannelsLast, 2},  {"NDHWGC", Layout::kChannelsLast, 3},
    {"NCW", Layout::kChannelsFirst, 1},  {"NCHW", Layout::kChannelsFirst, 2},  {"NCDHW", Layout::kChannelsFirst, 3},
    {"NGCW", Layout::kChannelsFirst, 1}, {"NGCHW", Layout::kChannelsFirst, 2}, {"NGCDHW", Layout::kChannelsFirst, 3},
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

}  // namespace

Status TextParser::fault(size_t offset, std::string_view message) const {
  std::string line(text_);
  std::replace_if(line.begin(), line.end(), is_space, ' ');
  return bad_input("column {}: {}\n  {}\n  {}^", offset + 1, message, line, std::string(offset, ' '));
}

Status TextParser::once(bool& seen, size_t offset, std::string_view what) {
  if (seen) return fault(offset, fmt::format("{} was given already; keep one of them", what));
  seen = true;
  return {};
}

Result<ConvProblem> TextParser::parse() {
  for (size_t at = 0; at < text_.size();) {
    if (is_space(text_[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    for (bool quoted = false; end < text_.size() && (quoted || !is_space(text_[end])); ++end) {
      if (quoted && text_[end] == '\\') {
        end = std::min(end + 1, text_.size() - 1);
      } else if (text_[end] == '"' && text_[at] == '+') {
        quoted = !quoted;
      }
    }
    WT_TRY(parse_word(at, end));
    any_word_ = true;
    at = end;
  }
  WT_TRY(finish());
  return problem_;
}

Status TextParser::parse_word(size_t begin, size_t end) {
  const std::string_view text = word(begin, end);
  const char letter = text[0];
  const bool number_follows = text.size() > 1 && (is_digit(text[1]) || text[1] == '-');
  if (letter == '+') return parse_epilogue(begin, end);
  if (letter == 'v' && number_follows) return parse_version(begin, end);
  if (const auto direction = direction_from(text)) {
    problem_.direction = *direction;
    return once(saw_direction_, begin, "the direction");
  }
  bool taken = false;
  WT_TRY(parse_extra(begin, end, taken));
  if (!taken) WT_TRY(parse_gemm_word(begin, end, taken));
  if (taken) return {};
  const bool other_name = text.starts_with("fo") || text.starts_with("back") || text.ends_with("grad");
  if (text.starts_with("bwd") || text.starts_with("fw") || other_name) {
    return fault(begin, fmt::format("unknown direction '{}'; expected fwd, bwd_data or bwd_weight", text));
  }
  if (text.starts_with("acc=")) return parse_accumulation(begin, end);
  if (data_type_from(text.substr(0, 4)) || text.find_first_of("*>") != text.npos) return parse_types(begin, end);
  if (is_upper(letter)) return parse_layout(begin, end);
  if (text == "psame" || text == "pvalid" || text == "pcausal") {
    padding_ = text == "psame" ? Padding::kSame : text == "pvalid" ? Padding::kValid : Padding::kCausal;
    padding_column_ = begin;
    return once(saw_pad_, begin, "the padding p");
  }
  const bool known = std::string_view("ngckifspdo").find(letter) != std::string_view::npos;
  if (known && (number_follows || text.size() <= 2 || !(text[1] >= 'a' && text[1] <= 'z'))) {
    return std::string_view("ngck").find(letter) != std::string_view::npos ? parse_count(begin, end)
                                                                           : parse_sizes(begin, end);
  }
  return fault(begin,
               fmt::format("unknown word '{}'; expected a direction (fwd, bwd_data or bwd_weight), a type ({}), a "
                           "layout, one of n g c k i f s p d o with numbers (m n k b of a gemm), or +steps, as in '{}'",
                           text, kTypeNames, kExample));
}

// Transposed convolution, bias gradient, history, scales of blocks and zero points.
Status TextParser::parse_extra(size_t begin, size_t end, bool& taken) {
  const std::string_view text = word(begin, end);
  taken = true;
  if (text.starts_with(kTransposed)) {
    transposed_ = true;
    std::string_view pass = text.substr(kTransposed.size());
    if (pass.starts_with('_')) pass.remove_prefix(1);
    const auto direction = pass.empty() ? std::optional(Direction::kForward) : direction_from(pass);
    if (!direction || (*direction == Direction::kForward) != (text == kTransposed)) {
      return fault(begin, fmt::format("unknown direction '{}'; expected transposed, transposed_bwd_data or "
                                      "transposed_bwd_weight",
                                      text));
    }
    problem_.direction = *direction;
    return once(saw_direction_, begin, "the direction");
  }
  if (text == "history") return once(problem_.history, begin, "history");
  if (text == "new_history") return once(problem_.new_history, begin, "new_history");
  if (text == "bias_gradient" || text == "bias_gradient=x") {
    problem_.bias_gradient = text.ends_with('x') ? BiasGradient::kOfX : BiasGradient::kOfY;
    return once(saw_bias_gradient_, begin, "bias_gradient");
  }
  if (text.starts_with("scales=")) {
    const auto scales = block_scales_from(text.substr(7));
    if (!scales) return fault(begin + 7, fmt::format("unknown scales '{}'; expected mx or nv", text.substr(7)));
    problem_.scales = *scales;
    return once(saw_scales_, begin, "scales");
  }
  if (text.starts_with("x_zero=") || text.starts_with("y_zero=")) return parse_zero(begin, end);
  taken = false;
  return {};
}

Status TextParser::parse_zero(size_t begin, size_t end) {
  const bool of_x = text_[begin] == 'x';
  WT_TRY(once(of_x ? saw_x_zero_ : saw_y_zero_, begin, of_x ? "x_zero" : "y_zero"));
  size_t at = begin + std::string_view("x_zero=").size();
  int64_t zero = 0;
  WT_TRY(parse_number(at, end, zero));
  if (at != end || zero < -128 || zero > 127) {
    return fault(begin,
                 fmt::format("'{}' is no zero point; expected a whole number from -128 to 127", word(begin, end)));
  }
  (of_x ? problem_.x_zero : problem_.y_zero) = static_cast<int>(zero);
  return {};
}

Status TextParser::parse_version(size_t begin, size_t end) {
  if (any_word_) return fault(begin, "the grammar version must be the first word");
  int64_t version = 0;
  size_t at = begin + 1;
  WT_TRY(parse_number(at, end, version));
  if (at != end || version != kTextVersion) {
    return fault(
        begin, fmt::format("grammar version '{}' is not known; this build reads v{}", word(begin, end), kTextVersion));
  }
  return once(saw_version_, begin, "the version");
}

// type | type>type | type*type>type
Status TextParser::parse_types(size_t begin, size_t end) {
  WT_TRY(once(saw_types_, begin, "the type"));
  const auto read = [&](size_t& at, DataType& type) -> Status {
    size_t stop = at;
    while (stop < end && text_[stop] != '*' && text_[stop] != '>') ++stop;
    const auto found = data_type_from(word(at, stop));
    if (!found) return fault(at, fmt::format("unknown type '{}'; expected {}", word(at, stop), kTypeNames));
    type = *found;
    at = stop;
    return {};
  };
  size_t at = begin;
  WT_TRY(read(at, first_));
  second_ = first_;
  const bool pair = at_char(at, end, '*');
  if (pair) WT_TRY(read(++at, second_));
  if (at_char(at, end, '>')) {
    WT_TRY(read(++at, output_));
  } else if (pair) {
    return fault(at, "expected '>' and the output type after two input types, as in 'e4m3*e5m2>bf16'");
  } else {
    // WHY: tf32 says how inputs are multiplied; what comes out of it is stored as fp32.
    output_ = first_ == DataType::kTf32 ? DataType::kF32 : first_;
  }
  if (at != end) return fault(at, "expected a space after the output type");
  return {};
}

Status TextParser::parse_accumulation(size_t begin, size_t end) {
  WT_TRY(once(saw_acc_, begin, "acc"));
  const std::string_view name = word(begin + 4, end);
  const auto type = data_type_from(name);
  if (!type) return fault(begin + 4, fmt::format("unknown accumulation type '{}'; expected fp32", name));
  problem_.acc = *type;
  return {};
}

Status TextParser::parse_layout(size_t begin, size_t end) {
  if (layout_dims_ != 0) return fault(begin, "the layout was given already; keep one of them");
  for (const LayoutName& layout : kLayouts) {
    if (layout.name != word(begin, end)) continue;
    problem_.layout = layout.layout;
    layout_dims_ = layout.dims;
    layout_column_ = begin;
    return {};
  }
  return fault(begin, fmt::format("unknown layout '{}'; expected NWC, NHWC, NDHWC (channels last), NCW, NCHW or NCDHW "
                                  "(channels first)",
                                  word(begin, end)));
}

Status TextParser::parse_number(size_t& at, size_t end, int64_t& number) const {
  const char* first = text_.data() + at;
  const char* last = text_.data() + end;
  const auto [stop, error] = std::from_chars(first, last, number);
  if (error == std::errc::result_out_of_range) return fault(at, "this number does not fit in 64 bits");
  if (error != std::errc()) {
    return fault(at, fmt::format("expected a number after '{}'", text_[at - 1]));
  }
  at = static_cast<size_t>(stop - text_.data());
  return {};
}

Status TextParser::parse_count(size_t begin, size_t end) {
  const char letter = text_[begin];
  bool& seen = letter == 'n' ? saw_n_ : letter == 'g' ? saw_g_ : letter == 'c' ? saw_c_ : saw_k_;
  int64_t& count = letter == 'n' ? problem_.n : letter == 'g' ? problem_.g : letter == 'c' ? problem_.c : problem_.k;
  WT_TRY(once(seen, begin, std::string("the count ") + letter));
  size_t at = begin + 1;
  WT_TRY(parse_number(at, end, count));
  if (at != end) return fault(at, fmt::format("expected a space: {} takes one number", letter));
  return {};
}

Status TextParser::parse_sizes(size_t begin, size_t end) {
  const char letter = text_[begin];
  Sizes& sizes = letter == 'i'   ? in_
                 : letter == 'f' ? filter_
                 : letter == 's' ? stride_
                 : letter == 'd' ? dilation_
                 : letter == 'o' ? output_padding_
                                 : pad_;
  bool seen = sizes.given() || (letter == 'p' && saw_pad_);
  WT_TRY(once(seen, begin, letter == 'p' ? "the padding p" : std::string("the sizes ") + letter));
  if (letter == 'p') saw_pad_ = true;
  sizes.column = begin;
  for (size_t at = begin + 1;; ++at) {
    Range range;
    WT_TRY(parse_number(at, end, range.lower));
    range.upper = range.lower;
    if (at_char(at, end, ':')) {
      if (letter != 'p') return fault(at, fmt::format("':' belongs to padding (p1:2); {} takes plain sizes", letter));
      WT_TRY(parse_number(++at, end, range.upper));
    }
    if (sizes.values.size() == kMaxDims)
      return fault(at, "more than three sizes; a convolution has at most d, h and w");
    sizes.values.push_back(range);
    if (at == end) return {};
    if (text_[at] != 'x') {
      return fault(at, fmt::format("expected 'x', {}a space or the end after a size", letter == 'p' ? "':', " : ""));
    }
  }
}

Status TextParser::spread(const Sizes& sizes, char letter, Spatial& lower, Spatial* upper) const {
  const size_t dims = static_cast<size_t>(problem_.dims);
  if (!sizes.given()) return {};
  if (sizes.values.size() != 1 && sizes.values.size() != dims) {
    return fault(sizes.column, fmt::format("{} has {} sizes where i has {}; give one for all or one for each", letter,
                                           sizes.values.size(), dims));
  }
  for (size_t i = 0; i < dims; ++i) {
    const Range& range = sizes.values[sizes.values.size() == 1 ? 0 : i];
    const size_t slot = kMaxDims - dims + i;
    lower[slot] = range.lower;
    if (upper) (*upper)[slot] = range.upper;
  }
  return {};
}

Status TextParser::finish() {
  if (!any_word_) return fault(0, fmt::format("expected a problem, as in '{}'", kExample));
  const size_t end = text_.find_last_not_of(" \t\r\n") + 1;
  if (!saw_types_) return fault(end, fmt::format("expected a type: {}", kTypeNames));
  if (gemm_ || gemm_column_ > 0) return finish_gemm();
  if (!saw_c_) return fault(end, "expected c, the number of input channels over all groups");
  if (!saw_k_) return fault(end, "expected k, the number of output channels over all groups");
  if (!in_.given()) return fault(end, "expected i, the input size, as in i100x100");
  problem_.dims = static_cast<int>(in_.values.size());
  if (layout_dims_ != 0 && layout_dims_ != problem_.dims) {
    return fault(layout_column_,
                 fmt::format("this layout has {} spatial dimension{} where i has {}; use {}", layout_dims_,
                             layout_dims_ == 1 ? "" : "s", problem_.dims, layout_name(problem_.layout, problem_.dims)));
  }
  WT_TRY(spread(in_, 'i', problem_.in, nullptr));
  WT_TRY(spread(filter_, 'f', problem_.filter, nullptr));
  WT_TRY(spread(stride_, 's', problem_.stride, nullptr));
  WT_TRY(spread(dilation_, 'd', problem_.dilation, nullptr));
  WT_TRY(spread(pad_, 'p', problem_.pad_lower, &problem_.pad_upper));
  WT_TRY(finish_padding());
  if (transposed_) return finish_transposed();
  if (output_padding_.given()) {
    return fault(output_padding_.column, "output padding belongs to transposed; a convolution's i is its input size");
  }
  problem_.x = first_, problem_.w = second_, problem_.y = output_;
  if (problem_.direction == Direction::kBackwardData) problem_.y = first_, problem_.w = second_, problem_.x = output_;
  if (problem_.direction == Direction::kBackwardWeight) problem_.x = first_, problem_.y = second_, problem_.w = output_;
  return {};
}

Status TextParser::finish_padding() {
  if (padding_ == Padding::kNumbers || padding_ == Padding::kValid) return {};
  if (transposed_) return fault(padding_column_, "a transposed convolution's padding is given as numbers");
  for (const Spatial* sizes : {&problem_.in, &problem_.filter, &problem_.stride, &problem_.dilation}) {
    for (const int64_t size : *sizes) {
      if (size < 1) return {};  // validate says what is wrong with it
      if (size > INT32_MAX) {
        return fault(padding_column_,
                     fmt::format("this padding cannot be derived from a size of {}; give it as numbers", size));
      }
    }
  }
  padding_ == Padding::kSame ? set_same_padding(problem_) : set_causal_padding(problem_);
  return {};
}

// Here c and i are the transposed convolution's input, k its output.
Status TextParser::finish_transposed() {
  TransposedConv t;
  t.pass = problem_.direction;
  t.dims = problem_.dims;
  t.layout = problem_.layout;
  t.acc = problem_.acc;
  t.input = first_, t.w = second_, t.output = output_;
  if (t.pass == Direction::kBackwardData) t.output = first_, t.w = second_, t.input = output_;
  if (t.pass == Direction::kBackwardWeight) t.input = first_, t.output = second_, t.w = output_;
  t.n = problem_.n, t.g = problem_.g, t.c = problem_.c, t.k = problem_.k;
  t.in = problem_.in, t.filter = problem_.filter, t.stride = problem_.stride, t.dilation = problem_.dilation;
  t.pad_lower = problem_.pad_lower, t.pad_upper = problem_.pad_upper;
  WT_TRY(spread(output_padding_, 'o', t.output_padding, nullptr));
  t.epilogue = problem_.epilogue;
  if (problem_.history || problem_.new_history) return fault(0, "a transposed convolution has no history");
  if (problem_.has_scales()) return fault(0, "a transposed convolution has no scales of blocks");
  if (saw_x_zero_ || saw_y_zero_) return fault(0, "a transposed convolution has no zero points: int8 is for fwd");
  if (problem_.bias_gradient == BiasGradient::kOfX) {
    return fault(0, "a transposed convolution has one bias gradient, of its output's gradient; use bias_gradient");
  }
  t.bias_gradient = saw_bias_gradient_;
  WT_TRY_ASSIGN(problem_, to_convolution(t));
  return {};
}

}  // namespace wt
