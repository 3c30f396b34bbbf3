// SPDX-License-Identifier: Apache-2.0
// cli/words/doctor.cc - doctor: what to change of a model's convolutions.
#include <CLI/CLI.hpp>

#include "cli/commands/doctor.h"
#include "cli/words/checks.h"
#include "cli/words/grammar.h"

namespace wt::cli {

void add_doctor(CLI::App& app, Action& action) {
  static DoctorOptions options;
  CLI::App* command = app.add_subcommand(
      "doctor", "Judge a model's convolutions, layer by layer: time, limit, wrong results, and what to change");
  command
      ->add_option("FILE", options.file,
                   "problems, one a line (python -m wavetile.torch.doctor writes them), or the trace that PyTorch's "
                   "profiler exports")
      ->required();
  CLI::Option* device =
      command
          ->add_option("--device", options.device,
                       "where layers are run and timed, as elsewhere; auto: the first GPU, and without one nothing is "
                       "run and times are predicted")
          ->type_name("ID")
          ->capture_default_str();
  command->add_option("--target", options.target, "predict for a GPU target, such as sm_90a, and run nothing")
      ->type_name("NAME")
      ->excludes(device);
  command->add_option("--gpu", options.gpu, "predict for a GPU of docs/rates.md, such as 'H100 PCIe', and run nothing")
      ->type_name("NAME")
      ->excludes(device)
      ->excludes("--target");
  command->add_option("--workspace-limit", options.plan.workspace_limit, "most bytes of scratch memory")
      ->type_name("BYTES")
      ->check(kNotNegative);
  command->add_flag("--strict-nonfinite", options.plan.strict_nonfinite, kStrictHelp);
  command->add_flag("--batch-invariant", options.plan.batch_invariant, kBatchHelp);
  command->add_flag("!--no-cudnn", options.compare, "do not time cuDNN, where it is there");
  command->add_flag(
      "--allow-code", [](int64_t) { options.code = SuiteCode::kAllowed; },
      "compile and run the C++ that the file holds (+f, +store); without it that is refused");
  command->add_option("--page", options.page, "also write a web page, as report does")->type_name("FILE");
  add_json_option(*command, options.json);
  command->add_flag("!--no-progress", options.progress, "no progress bar");
  command->footer(
      "Examples:\n"
      "  python -m wavetile.torch.doctor --out layers.txt train.py && wavetile doctor layers.txt\n"
      "  wavetile doctor trace.json --gpu L40S --page doctor.html\n"
      "  wavetile doctor layers.txt --device gpu --json doctor.json\n");
  command->callback([&action] { action = [] { return run_doctor(options); }; });
}

}  // namespace wt::cli
