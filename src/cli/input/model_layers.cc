// SPDX-License-Identifier: Apache-2.0
#include "cli/input/model_layers.h"

#include <algorithm>
#include <cstdio>

#include "base/files.h"
#include "cli/input/torch_trace.h"

namespace wt::cli {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// "4 calls, 31.2 us each by torch": what python -m wavetile.torch.doctor writes before a layer.
bool read_calls(const std::string& comment, ModelLayer& layer) {
  long long calls = 0;
  double us = 0;
  if (std::sscanf(comment.c_str(), " %lld calls, %lf us each", &calls, &us) != 2 || calls < 1 || !(us >= 0))
    return false;
  layer.calls = calls;
  layer.torch_us = us;
  return true;
}

Status check_code(const ModelLayer& layer, SuiteCode code) {
  if (code == SuiteCode::kAllowed || !layer.problem.epilogue.has_text()) return {};
  return bad_input(
      "'{}' comes with C++ that would be compiled and run; read the file, and if you trust all of it repeat with "
      "--allow-code",
      layer.name);
}

// The same problem twice is one layer that is called more often.
void add(ModelLayer layer, std::vector<ModelLayer>& layers) {
  const auto known = std::ranges::find(layers, layer.problem, &ModelLayer::problem);
  if (known == layers.end()) {
    layers.push_back(std::move(layer));
    return;
  }
  if (known->torch_us > 0 && layer.torch_us > 0) {
    const auto before = static_cast<double>(known->calls), more = static_cast<double>(layer.calls);
    known->torch_us = (known->torch_us * before + layer.torch_us * more) / (before + more);
  } else {
    known->torch_us += layer.torch_us;  // of those calls that were timed
  }
  known->calls += layer.calls;
}

Result<ModelLayers> parse_lines(std::string_view text, const std::string& source, SuiteCode code) {
  ModelLayers model;
  ModelLayer next;  // with what comments said of it
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    const size_t comment = std::min(line.find('#'), line.size());
    if (comment < line.size()) read_calls(std::string(line.substr(comment + 1)), next);
    line = trimmed(line.substr(0, comment));
    if (line.empty()) continue;
    const size_t colon = line.find(": "), space = line.find_first_of(kSpace);
    const bool named = colon != line.npos && colon < space;
    next.name = named ? std::string(line.substr(0, colon)) : fmt::format("line{}", number);
    Result<ConvProblem> problem = parse_problem(trimmed(named ? line.substr(colon + 1) : line));
    if (!problem.ok()) return problem.status().with_context(fmt::format("{}:{}", source, number));
    next.problem = std::move(*problem);
    WT_TRY(check_code(next, code).with_context(fmt::format("{}:{}", source, number)));
    add(std::move(next), model.layers);
    next = {};
  }
  return model;
}

}  // namespace

Result<ModelLayers> parse_model_layers(const std::string& text, const std::string& source, SuiteCode code) {
  const std::string_view start = trimmed(text);
  const bool trace = !start.empty() && (start.front() == '{' || start.front() == '[');
  ModelLayers model;
  if (trace) {
    WT_TRY_ASSIGN(const TorchTrace calls, read_torch_trace(text, source));
    for (const TorchCall& call : calls.calls) {
      add({"", call.problem, 1, call.us}, model.layers);
      model.layers.back().name = fmt::format("layer{}", model.layers.size() - 1);
    }
    model.left_out = calls.left_out;
  } else {
    WT_TRY_ASSIGN(model, parse_lines(text, source, code));
  }
  if (!model.layers.empty()) return model;
  if (!trace) return bad_input("{} has no problems; add lines 'name: problem'", source);
  std::string why;
  for (const std::string& reason : model.left_out) why += "; " + reason;
  return bad_input("{} has no convolution that Wavetile serves{}", source, why);
}

Result<ModelLayers> read_model_layers(const std::string& file, SuiteCode code) {
  WT_TRY_ASSIGN(const std::string text, read_file(file));
  return parse_model_layers(text, file, code);
}

}  // namespace wt::cli
