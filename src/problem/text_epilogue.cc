// SPDX-License-Identifier: Apache-2.0
// problem/text_epilogue.cc - the "+alpha=0.5+bias+relu" part of a problem's text.
#include <charconv>

#include "problem/text_parser.h"

namespace wt {
namespace {

// In the order of application, which is the only order the text may have: "+relu+bias" would promise another result.
enum Step { kAlpha, kScale, kBias, kResidual, kActivation, kAmax };

struct StepName {
  std::string_view name;
  Step step;
};
constexpr StepName kSteps[] = {
    {"alpha", kAlpha}, {"scale", kScale}, {"bias", kBias}, {"residual", kResidual}, {"amax", kAmax}};
constexpr std::string_view kOrder =
    "alpha, scale, bias, residual, one of relu leaky_relu clamp silu gelu sigmoid tanh, amax";

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
  if (const auto activation = activation_from(name)) {
    if (epilogue.activation != Activation::kNone) {
      return fault(begin, fmt::format("'{}' is a second activation after '{}'; there is one at most", name,
                                      name_of(epilogue.activation)));
    }
    epilogue.activation = *activation;
    step = kActivation;
  }
  if (step < 0) return fault(begin, fmt::format("unknown epilogue step '{}'; expected {}", name, kOrder));
  if (step == last_step_) return fault(begin, fmt::format("the step '{}' was given already", name));
  if (step < last_step_) {
    return fault(begin, fmt::format("the step '{}' comes too late; steps are written in the order of application: {}",
                                    name, kOrder));
  }
  last_step_ = step;

  const bool has_value = at_char(at, end, '=');
  if (has_value) ++at;
  const bool leaky = name == "leaky_relu", clamp = name == "clamp";
  const bool takes_value = step == kAlpha || step == kResidual || leaky || clamp;
  if (has_value && !takes_value) return fault(at - 1, fmt::format("the step '{}' takes no value", name));
  if (!has_value && step == kAlpha) return fault(at, "expected '=' and a number after 'alpha', as in alpha=0.5");
  epilogue.scale |= step == kScale;
  epilogue.bias |= step == kBias;
  epilogue.residual |= step == kResidual;
  epilogue.amax |= step == kAmax;
  if (!has_value) return {};
  if (!clamp) return parse_real(at, end, step == kAlpha ? epilogue.alpha : leaky ? epilogue.slope : epilogue.beta);
  WT_TRY(parse_real(at, end, epilogue.low));
  if (!at_char(at, end, ':')) return fault(at, "expected ':' and the upper bound of clamp, as in clamp=0:6");
  return parse_real(++at, end, epilogue.high);
}

Status TextParser::parse_real(size_t& at, size_t end, float& real) const {
  const char* first = text_.data() + at;
  const auto [stop, error] = std::from_chars(first, text_.data() + end, real);
  if (error == std::errc::result_out_of_range) return fault(at, "this number is beyond fp32");
  if (error != std::errc()) return fault(at, "expected a real number such as 0.5");
  at = static_cast<size_t>(stop - text_.data());
  return {};
}

}  // namespace wt
