// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/doctor.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "base/printable.h"
#include "cli/commands/report.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/show/doctor_report.h"
#include "cli/show/progress.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "config/targets.h"
#include "dispatch/choice/filter.h"
#include "dispatch/trial/roof.h"
#include "launch/rates.h"
#include "runtime/cudnn/library.h"

namespace wt::cli {
namespace {

constexpr Target kPredictedWithoutGpu = Target::kSm90a;

// Where layers are judged.
struct Patient {
  std::shared_ptr<Device> device;  // null: nothing is run
  DeviceInfo info;
  bool has_cudnn = false;

  // Not of a simulator, which runs and verifies alone.
  bool has_times() const { return device && info.kind != DeviceKind::kSim; }
  // The CPU's paths have no predicted times, and so no advice.
  bool predicts() const { return info.kind != DeviceKind::kCpu; }
};

Result<Patient> find_patient(const DoctorOptions& options) {
  Patient patient;
  if (!options.gpu.empty()) {
    WT_TRY_ASSIGN(const GpuRow* gpu, find_gpu(options.gpu));
    patient.info = device_of(*gpu);
    return patient;
  }
  if (!options.target.empty()) {
    WT_TRY_ASSIGN(const TargetName name, parse_target(options.target));
    patient.info = usual_device(name.target);
    return patient;
  }
  WT_TRY_ASSIGN(patient.device, open_device(options.device));
  patient.info = patient.device->info();
  if (patient.info.kind == DeviceKind::kCpu && options.device == "auto") {
    patient.device.reset();
    patient.info = usual_device(kPredictedWithoutGpu);
  }
  patient.has_cudnn = options.compare && patient.device && patient.info.kind == DeviceKind::kCuda && cudnn::load().ok();
  return patient;
}

DoctorRow examine(const Patient& patient, const ModelLayer& layer, const DoctorOptions& options) {
  const ConvProblem& problem = layer.problem;
  DoctorRow row{.layer = layer, .decision = decide(patient.info, problem, options.plan)};
  if (row.decision.ok()) row.workspace_bytes = workspace_bytes(*row.decision, patient.info);
  if (patient.predicts()) {
    row.limit_us = limit_us(problem, rates_of(patient.info));
    row.advice = advice_for(patient.info, problem, options.plan);
  }
  if (!patient.device || !row.decision.ok()) return row;
  TrialOptions trial;
  trial.plan = options.plan;
  row.trial = run_trial(patient.device, problem, trial);
  row.workspace_bytes = row.trial->workspace_bytes;
  if (!patient.has_cudnn) return row;
  if (const auto tensors = TrialTensors::make(patient.device, problem, trial.exact, trial.seed); tensors.ok())
    row.cudnn = time_cudnn(**tensors, trial);
  return row;
}

// Limits by what this device reached in this run, which no data sheet says as well.
void set_limits(const Patient& patient, std::vector<DoctorRow>& rows) {
  Roof roof;
  std::set<DataType> types;
  for (const DoctorRow& row : rows) {
    if (row.is_measured() && types.insert(row.layer.problem.x).second)
      roof.measure(patient.device, row.layer.problem.x);
    if (row.trial) roof.saw(*row.trial);
    roof.saw(row.layer.problem, row.cudnn_us());
  }
  for (DoctorRow& row : rows)
    if (row.is_measured()) row.limit_us = roof.limit_us(row.layer.problem);
}

std::string command_text(const DoctorOptions& options) {
  std::string text = "wavetile doctor " + options.file;
  if (!options.gpu.empty()) return text + " --gpu '" + options.gpu + "'";
  if (!options.target.empty()) return text + " --target " + options.target;
  return text + " --device " + options.device;
}

std::string place_text(const Patient& patient) {
  if (patient.device) return fmt::format("{}: {}", patient.info.id, patient.info.name);
  const Rates rates = rates_of(patient.info);
  return fmt::format("predicted for {} ({}); nothing is run, --device says where to", rates.gpu,
                     info_of(patient.info.target).name);
}

Status doctor(const DoctorOptions& options, int& code) {
  WT_TRY_ASSIGN(const ModelLayers model, read_model_layers(options.file, options.code));
  WT_TRY_ASSIGN(const Patient patient, find_patient(options));
  for (const std::string& why : model.left_out) fmt::print(stderr, "wavetile: left out: {}\n", printable(why));
  std::vector<DoctorRow> rows;
  const InterruptGuard guard;
  Progress progress(static_cast<int>(model.layers.size()), options.progress);
  for (const ModelLayer& layer : model.layers) {
    progress.show(static_cast<int>(rows.size()), layer.name);
    rows.push_back(examine(patient, layer, options));
    if (!interrupted()) continue;
    progress.clear();
    fmt::print(stderr, "wavetile: interrupted after {} of {} layers; no file was written\n", rows.size(),
               model.layers.size());
    code = kExitInterrupted;
    return {};
  }
  progress.clear();
  if (patient.has_times()) set_limits(patient, rows);
  sort_rows(rows);
  if (options.json != "-") {
    const int columns = output_columns();
    fmt::print("{}\n\n{}\n{}", printable(place_text(patient)), doctor_table(rows, columns), doctor_summary(rows));
  }
  const Rates rates = rates_of(patient.info);
  const OrderedJson json = doctor_json(
      rows, patient.info, patient.has_times() || !patient.predicts() ? nullptr : &rates, command_text(options));
  if (!options.json.empty()) WT_TRY(write_json(options.json, json));
  if (!options.page.empty()) {
    WT_TRY_ASSIGN(OrderedJson run, read_run(json_text(json), options.file));
    WT_TRY(write_file(options.page, report_page({std::move(run)}, OrderedJson::array()), FileKind::kDurable));
  }
  code = doctor_exit_code(rows);
  return {};
}

}  // namespace

int run_doctor(const DoctorOptions& options) {
  int code = kExitGood;
  const Status status = doctor(options, code);
  return status.ok() ? code : report_failure(status);
}

}  // namespace wt::cli
