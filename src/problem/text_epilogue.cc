// SPDX-License-Identifier: Apache-2.0
// problem/text_epilogue.cc - the "+alpha=0.5+bias+relu" part of a problem's text.
#include <charconv>

#include "problem/text_parser.h"

namespace wt {
namespace {

// In the order of application, which is the only order the text may have: "+relu+bias" would promise another result.
enum Step {
  kAlpha,
  kScale,
  kBias,
  kResidual,
  kAdd,
  kActivation,
  kGradient,
  kInputs,
  kOutputs,
  kScalars,
  kExpression,
  kAmax,
  kStore
};

struct StepName {
  std::string_view name;
  Step step;
};
constexpr StepName kSteps[] = {{"alpha", kAlpha},  {"scale", kScale}, {"bias", kBias},   {"residual", kResidual},
                               {"add", kAdd},      {"aux", kInputs},  {"out", kOutputs}, {"scalars", kScalars},
                               {"f", kExpression}, {"amax", kAmax},   {"store", kStore}};
std::string order() {
  return "alpha, scale, bias, residual, add, one of " + activation_names(" ", " ") +
         " or of these with grad_ before, aux, out, scalars, f, amax, store";
}
constexpr std::string_view kGradientPrefix = "grad_";

// What a step that cannot do without says where its value is missing.
std::string_view value_wanted(int step) {
  switch (step) {
    case kAlpha:
      return "expected '=' and a number after 'alpha', as in alpha=0.5";
    case kAdd:
      return "expected '=' and a factor for each tensor after 'add', as in add=1:0.5";
    case kInputs:
    case kOutputs:
      return "expected '=' and how many tensors, as in aux=1";
    case kScalars:
      return "expected '=' and numbers after 'scalars', as in scalars=0.5:2";
    case kExpression:
      return "expected '=' and C++ in double quotes after 'f', as in f=\"acc * 2\"";
    case kStore:
      return "expected '=' and C++ in double quotes after 'store', as in store=\"out.put(value)\"";
    default:
      return "";
  }
}

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

Status TextParser::parse_epilogue(size_t begin, size_t end) {
  for (size_t at = begin; at < end;) {
    if (text_[at] != '+') return fault(at, "expected '+' and the next step, a space or the end");
    ++at;
    WT_TRY(parse_step(at, end));
  }
  return {};
}

Status TextParser::parse_step(size_t& at, size_t end) {
  const size_t begin = at;
  while (at < end && is_word(text_[at])) ++at;
  const std::string_view name = word(begin, at);
  Epilogue& epilogue = problem_.epilogue;

  int step = -1;
  for (const StepName& known : kSteps) {
    if (known.name == name) step = known.step;
  }
  const bool is_gradient = name.starts_with(kGradientPrefix);
  const std::string_view kind = is_gradient ? name.substr(kGradientPrefix.size()) : name;
  if (const auto activation = activation_from(kind)) {
    Activation& given = is_gradient ? epilogue.gradient : epilogue.activation;
    if (given != Activation::kNone) {
      return fault(begin,
                   fmt::format("'{}' is a second activation after '{}'; there is one at most", name, name_of(given)));
    }
    given = *activation;
    step = is_gradient ? kGradient : kActivation;
  }
  if (step < 0) return fault(begin, fmt::format("unknown epilogue step '{}'; expected {}", name, order()));
  if (step == last_step_) return fault(begin, fmt::format("the step '{}' was given already", name));
  if (step < last_step_) {
    return fault(begin, fmt::format("the step '{}' comes too late; steps are written in the order of application: {}",
                                    name, order()));
  }
  last_step_ = step;

  const bool has_value = at_char(at, end, '=');
  if (has_value) ++at;
  const bool leaky = kind == "leaky_relu", clamp = kind == "clamp";
  const std::string_view wanted = value_wanted(step);
  const bool takes_type = step == kScale || step == kBias;
  const bool takes_value = !wanted.empty() || takes_type || step == kResidual || leaky || clamp;
  if (has_value && !takes_value) return fault(at - 1, fmt::format("the step '{}' takes no value", name));
  if (!has_value && !wanted.empty()) return fault(at, wanted);
  epilogue.scale |= step == kScale;
  epilogue.bias |= step == kBias;
  epilogue.residual |= step == kResidual;
  epilogue.amax |= step == kAmax;
  if (!has_value) return {};
  if (takes_type) return parse_channel_type(at, end, step == kScale ? epilogue.scale_type : epilogue.bias_type);
  if (step == kAdd) return parse_reals(at, end, epilogue.betas, epilogue.added);
  if (step == kScalars) return parse_reals(at, end, epilogue.scalars, epilogue.scalar_count);
  if (step == kInputs || step == kOutputs) {
    int64_t count = 0;
    const size_t place = at;
    WT_TRY(parse_number(at, end, count));
    if (count < 1 || count > kMaxAuxiliary) return fault(place, fmt::format("expected 1 to {} tensors", kMaxAuxiliary));
    (step == kInputs ? epilogue.inputs : epilogue.outputs) = static_cast<int>(count);
    return {};
  }
  if (step == kExpression) return parse_quoted(at, end, epilogue.expression);
  if (step == kStore) return parse_quoted(at, end, epilogue.store);
  if (!clamp) return parse_real(at, end, step == kAlpha ? epilogue.alpha : leaky ? epilogue.slope : epilogue.beta);
  WT_TRY(parse_real(at, end, epilogue.low));
  if (!at_char(at, end, ':')) return fault(at, "expected ':' and the upper bound of clamp, as in clamp=0:6");
  return parse_real(++at, end, epilogue.high);
}

Status TextParser::parse_channel_type(size_t& at, size_t end, DataType& type) const {
  const size_t begin = at;
  while (at < end && is_word(text_[at])) ++at;
  const auto found = data_type_from(word(begin, at));
  if (!found) return fault(begin, fmt::format("unknown type '{}'; expected fp32, bf16 or fp16", word(begin, at)));
  type = *found;
  return {};
}

Status TextParser::parse_real(size_t& at, size_t end, float& real) const {
  const char* first = text_.data() + at;
  const auto [stop, error] = std::from_chars(first, text_.data() + end, real);
  if (error == std::errc::result_out_of_range) return fault(at, "this number is beyond fp32");
  if (error != std::errc()) return fault(at, "expected a real number such as 0.5");
  at = static_cast<size_t>(stop - text_.data());
  return {};
}

Status TextParser::parse_reals(size_t& at, size_t end, std::span<float> reals, int& count) const {
  for (;; ++at) {
    if (static_cast<size_t>(count) == reals.size()) {
      return fault(at, fmt::format("there are at most {} numbers here", reals.size()));
    }
    WT_TRY(parse_real(at, end, reals[static_cast<size_t>(count)]));
    ++count;
    if (!at_char(at, end, ':')) return {};
  }
}

Status TextParser::parse_quoted(size_t& at, size_t end, std::string& content) const {
  const size_t begin = at;
  if (!at_char(at, end, '"')) return fault(at, "expected C++ in double quotes, as in f=\"acc * 2\"");
  for (++at; at < end && text_[at] != '"'; ++at) {
    if (text_[at] != '\\') {
      content += text_[at];
      continue;
    }
    const std::string_view rest = word(at + 1, end);
    if (rest.starts_with('n')) {
      content += '\n';
    } else if (rest.starts_with('t')) {
      content += '\t';
    } else if (rest.starts_with('"') || rest.starts_with('\\')) {
      content += rest[0];
    } else if (rest.starts_with("x27")) {
      content += '\'';
      at += 2;
    } else {
      return fault(at, "expected \\\\, \\\", \\n, \\t or \\x27 (an apostrophe) after a backslash");
    }
    ++at;
  }
  if (at >= end) return fault(begin, "this quote has no end");
  ++at;
  if (content.empty()) return fault(begin, "expected C++ between the quotes");
  return {};
}

std::string quoted_text(std::string_view content) {
  std::string text = "\"";
  for (const char c : content) {
    switch (c) {
      case '\n':
        text += "\\n";
        break;
      case '\t':
        text += "\\t";
        break;
      case '\'':  // WHY: problems stand in single quotes in the commands that repeat a run
        text += "\\x27";
        break;
      case '"':
      case '\\':
        text += '\\';
        [[fallthrough]];
      default:
        text += c;
    }
  }
  return text + "\"";
}

}  // namespace wt
