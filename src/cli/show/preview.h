// SPDX-License-Identifier: Apache-2.0
// cli/show/preview.h - what a GPU would run, shown on a machine that has none.
//
//   problem --> the kernel that dispatch picks for a target --> compiled where its compiler is here
//           --> a cropped copy of the problem through that kernel in the simulator, verified
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/json_value.h"
#include "dispatch/choice/decision.h"
#include "dispatch/trial/trial.h"

namespace wt::cli {

struct Preview {
  std::string kernel;              // empty where none was picked; status says why
  std::optional<Decision> chosen;  // with what is around the kernel
  bool compiler_present = false;   // the target's own; a machine without it still simulates
  Status compiled;                 // of the target's own compiler
  int registers = 0;
  int spill_bytes = 0;
  double compile_seconds = 0;  // when it was compiled, be it in an earlier run
  TrialResult simulated;       // of the cropped problem
  Status status;               // the first failure other than an absent compiler
};

class Previewer {
 public:
  static Result<Previewer> open(const std::string& target);

  // What of `options` chooses a kernel and fills the tensors.
  Preview preview(const ConvProblem& problem, const TrialOptions& options) const;
  const std::string& target() const { return target_; }

 private:
  std::string target_;
  std::shared_ptr<Device> simulator_;
};

// "    sm_90a: <kernel>  0.24 s, 168 registers  simulated c64 k64 i9x9: verified", within `columns` (0: unlimited), and
// a line of what is around the kernel.
std::string preview_line(const Preview& preview, const std::string& target, int columns);

OrderedJson preview_json(const Preview& preview, const std::string& target);

}  // namespace wt::cli
