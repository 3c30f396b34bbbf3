// SPDX-License-Identifier: Apache-2.0
#include "cli/input/torch_trace.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "base/json.h"

namespace wt::cli {
namespace {

using Json = JsonValue;
using Numbers = std::vector<int64_t>;

constexpr std::string_view kForward = "aten::convolution", kBackward = "aten::convolution_backward";

const Json* member(const Json& json, const char* key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() ? nullptr : &*found;
}

std::string text_of(const Json* json) { return json && json->is_string() ? json->get<std::string>() : ""; }
double number_of(const Json* json) {
  const double value = json && json->is_number() ? json->get<double>() : 0;
  return std::isfinite(value) ? value : 0;
}

// The list at a place of a list of lists; nothing where it is none of whole numbers.
std::optional<Numbers> numbers_at(const Json& lists, size_t at) {
  if (!lists.is_array() || at >= lists.size() || !lists[at].is_array()) return std::nullopt;
  Numbers numbers;
  for (const Json& number : lists[at]) {
    if (!number.is_number_integer()) return std::nullopt;
    numbers.push_back(number.get<int64_t>());
  }
  return numbers;
}

// "[1, 2]", "3" or "[True, False]", as the profiler writes arguments.
std::optional<Numbers> numbers_in(const std::string& text) {
  Numbers numbers;
  for (size_t at = 0; at < text.size();) {
    const char letter = text[at];
    if (letter == '[' || letter == ']' || letter == ',' || letter == ' ' || letter == '(' || letter == ')') {
      ++at;
    } else if (text.compare(at, 4, "True") == 0 || text.compare(at, 4, "true") == 0) {
      numbers.push_back(1), at += 4;
    } else if (text.compare(at, 5, "False") == 0 || text.compare(at, 5, "false") == 0) {
      numbers.push_back(0), at += 5;
    } else {
      int64_t value = 0;
      const auto [end, fault] = std::from_chars(text.data() + at, text.data() + text.size(), value);
      if (fault != std::errc()) return std::nullopt;
      numbers.push_back(value), at = static_cast<size_t>(end - text.data());
    }
  }
  return numbers;
}

std::string type_word(const std::string& type) {
  if (type == "float") return "fp32";
  if (type == "c10::BFloat16") return "bf16";
  if (type == "c10::Half") return "fp16";
  return "";
}

// Whether the channels are innermost, and not only because there is nothing else.
bool is_channels_last(const Numbers& size, const Numbers& stride) {
  if (size.size() < 3 || stride.size() != size.size() || size[1] == 1) return false;
  size_t inner = 0;
  for (size_t i = 2; i < size.size(); ++i)
    if (size[i] > 1) inner = i;
  return stride[1] == 1 && stride[inner] == size[1];
}

// 56x56
std::string extent(const Numbers& sizes) {
  std::string text;
  for (const int64_t size : sizes) text += fmt::format("{}{}", text.empty() ? "" : "x", size);
  return text;
}

// What a call is in the words of a problem, or why it is none.
struct Call {
  bool backward = false, transposed = false;
  std::string words, bias;  // all but the direction; "+bias" or ""
  bool wants_x = false, wants_w = false, wants_bias = false;
};

Result<Call> call_of(const std::string& name, const Json& facts) {
  const Json *sizes = member(facts, "Input Dims"), *types = member(facts, "Input type"),
             *strides = member(facts, "Input Strides"), *values = member(facts, "Concrete Inputs");
  const auto is_list = [](const Json* json) { return json && json->is_array(); };
  if (!is_list(sizes) || !is_list(types) || !is_list(strides) || !is_list(values)) {
    return bad_input(
        "a trace whose calls have no shapes, strides and arguments; record it with profile(record_shapes=True) of a "
        "PyTorch that writes them");
  }
  Call call;
  call.backward = name == kBackward;
  const size_t x_at = call.backward ? 1 : 0, w_at = call.backward ? 2 : 1, first = call.backward ? 4 : 3;
  const auto type_at = [&](size_t at) { return at < types->size() ? text_of(&(*types)[at]) : ""; };
  const std::string type = type_word(type_at(x_at));
  if (type.empty() || type_at(w_at) != type_at(x_at))
    return unsupported("convolutions of {} by {}", type_at(x_at), type_at(w_at));
  const auto x = numbers_at(*sizes, x_at), w = numbers_at(*sizes, w_at);
  const auto x_stride = numbers_at(*strides, x_at), w_stride = numbers_at(*strides, w_at);
  std::vector<Numbers> arguments;
  for (size_t i = first; i < first + 6; ++i) {
    const auto numbers = i < values->size() ? numbers_in(text_of(&(*values)[i])) : std::nullopt;
    if (!numbers || numbers->empty()) return bad_input("a call of {} has no argument {}", name, i);
    arguments.push_back(*numbers);
  }
  const bool sound = x && w && x_stride && w_stride && x->size() >= 3 && x->size() <= 5 && w->size() == x->size();
  if (!sound) return unsupported("convolutions of these dimensions");
  if (std::ranges::min(*x) < 1 || std::ranges::min(*w) < 1) return unsupported("convolutions of empty tensors");
  const size_t dims = x->size() - 2;
  for (const size_t i : {0, 1, 2, 4}) {
    if (arguments[i].size() == 1) arguments[i].resize(dims, arguments[i].front());
    if (arguments[i].size() != dims) return unsupported("convolutions of these dimensions");
  }
  call.transposed = arguments[3].front() != 0;
  const int64_t groups = arguments[5].front();
  const auto outer = [](const Numbers& list) { return Numbers(list.begin() + 2, list.end()); };
  const bool last = is_channels_last(*x, *x_stride) || is_channels_last(*w, *w_stride);
  int64_t channels = (*w)[0];
  if (call.transposed && __builtin_mul_overflow((*w)[1], groups, &channels)) return unsupported("so many channels");
  constexpr std::string_view kFirst[] = {" NCW", " NCHW", " NCDHW"};
  call.words = fmt::format("{}{} n{} g{} c{} k{} i{} f{} s{} p{} d{}", type, last ? "" : kFirst[dims - 1], (*x)[0],
                           groups, (*x)[1], channels, extent(outer(*x)), extent(outer(*w)), extent(arguments[0]),
                           extent(arguments[1]), extent(arguments[2]));
  if (call.transposed) call.words += " o" + extent(arguments[4]);
  if (!call.backward) {
    if (const auto bias = numbers_at(*sizes, 2); bias && !bias->empty()) {
      const std::string bias_type = type_word(type_at(2));
      call.bias = bias_type.empty() || bias_type == "fp32" ? " +bias" : " +bias=" + bias_type;
    }
    return call;
  }
  const auto wanted = 10 < values->size() ? numbers_in(text_of(&(*values)[10])) : std::nullopt;
  if (!wanted || wanted->size() != 3) return bad_input("a call of {} does not say which gradients it gives", name);
  call.wants_x = (*wanted)[0], call.wants_w = (*wanted)[1], call.wants_bias = (*wanted)[2];
  return call;
}

Result<std::vector<ConvProblem>> problems_of(const std::string& name, const Json& facts) {
  WT_TRY_ASSIGN(const Call call, call_of(name, facts));
  const std::string pass = call.transposed ? "transposed" : "";
  std::vector<std::string> texts;
  if (!call.backward) texts.push_back((call.transposed ? pass : "fwd") + " " + call.words + call.bias);
  const auto gradient = [&](const char* of) { return (call.transposed ? pass + "_" : "") + of + " " + call.words; };
  if (call.wants_x) texts.push_back(gradient("bwd_data"));
  if (call.wants_w) texts.push_back(gradient("bwd_weight") + (call.wants_bias ? " bias_gradient" : ""));
  std::vector<ConvProblem> problems;
  for (const std::string& text : texts) {
    Result<ConvProblem> problem = parse_problem(text);
    if (!problem.ok()) return unsupported("'{}': {}", text, problem.status().message());
    problems.push_back(std::move(*problem));
  }
  return problems;
}

// GPU kernels by the call of the runtime that launched them.
struct Launches {
  struct Launch {
    double at, us;
  };
  std::map<std::string, std::vector<Launch>> by_thread;

  explicit Launches(const Json& events) {
    std::map<int64_t, double> kernels;
    const auto correlation = [](const Json& event) -> std::optional<int64_t> {
      const Json* args = member(event, "args");
      const Json* number = args ? member(*args, "correlation") : nullptr;
      return number && number->is_number_integer() ? std::optional(number->get<int64_t>()) : std::nullopt;
    };
    for (const Json& event : events) {
      if (text_of(member(event, "cat")) != "kernel") continue;
      if (const auto id = correlation(event)) kernels[*id] = number_of(member(event, "dur"));
    }
    for (const Json& event : events) {
      if (kernels.empty() || text_of(member(event, "cat")) != "cuda_runtime") continue;
      const auto id = correlation(event);
      if (const auto kernel = id ? kernels.find(*id) : kernels.end(); kernel != kernels.end())
        by_thread[thread_of(event)].push_back({number_of(member(event, "ts")), kernel->second});
    }
  }

  static std::string thread_of(const Json& event) {
    const Json* thread = member(event, "tid");
    return thread ? thread->dump() : "";
  }

  // Without kernels the time on the CPU.
  double us_of(const Json& call) const {
    const double start = number_of(member(call, "ts")), long_us = number_of(member(call, "dur"));
    if (by_thread.empty()) return long_us;
    const auto found = by_thread.find(thread_of(call));
    double us = 0;
    if (found == by_thread.end()) return us;
    for (const Launch& launch : found->second)
      if (launch.at >= start && launch.at <= start + long_us) us += launch.us;
    return us;
  }
};

}  // namespace

Result<TorchTrace> read_torch_trace(const std::string& text, const std::string& source) {
  const Result<Json> parsed = parse_json<Json>(text);
  if (!parsed.ok()) return parsed.status().with_context(source);
  const Json* events = parsed->is_array() ? &*parsed : member(*parsed, "traceEvents");
  if (!events || !events->is_array()) {
    return bad_input(
        "{} is JSON without traceEvents; give the file of torch.profiler's export_chrome_trace, or lines "
        "'name: problem'",
        source);
  }
  const Launches launches(*events);
  TorchTrace trace;
  for (const Json& event : *events) {
    const std::string name = text_of(member(event, "name"));
    if (name != kForward && name != kBackward) continue;
    const Json* facts = member(event, "args");
    const Result<std::vector<ConvProblem>> problems = problems_of(name, facts ? *facts : Json::object());
    if (!problems.ok()) {
      if (problems.status().code() != Code::kUnsupported) return problems.status().with_context(source);
      const std::string& why = problems.status().message();
      if (std::ranges::find(trace.left_out, why) == trace.left_out.end()) trace.left_out.push_back(why);
      continue;
    }
    double flops = 0;
    for (const ConvProblem& problem : *problems) flops += problem.flops();
    for (const ConvProblem& problem : *problems)
      trace.calls.push_back({problem, flops > 0 ? launches.us_of(event) * problem.flops() / flops : 0});
  }
  return trace;
}

}  // namespace wt::cli
