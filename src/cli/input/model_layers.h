// SPDX-License-Identifier: Apache-2.0
// cli/input/model_layers.h - the convolutions of a model from a file: problem lines, or the trace of PyTorch's
// profiler.
//
//   "name: problem" or "problem" a line, "# 4 calls, 31.2 us each by torch" before it --\.
//   Chrome JSON of torch.profiler with record_shapes (torch_trace.h) ------------------> layers, each once
#pragma once

#include <string>
#include <vector>

#include "cli/input/selection.h"
#include "problem/problem.h"

namespace wt::cli {

struct ModelLayer {
  std::string name;
  ConvProblem problem;
  int64_t calls = 1;
  double torch_us = 0;  // of one call, on the machine that recorded it; 0: not known
};

struct ModelLayers {
  std::vector<ModelLayer> layers;          // in the order of the file
  std::vector<std::string> left_out = {};  // why calls of a trace are no problem of ours, each reason once
};

// C++ in a file is refused unless `code` allows it, as in suites.
Result<ModelLayers> read_model_layers(const std::string& file, SuiteCode code);
// `source` stands in messages and names layers of traces.
Result<ModelLayers> parse_model_layers(const std::string& text, const std::string& source, SuiteCode code);

}  // namespace wt::cli
