// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/tuning/tuner_test.cc - what tuning measures, saves and refuses, and how plans use it.
#include "dispatch/tuning/tuner.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/files.h"
#include "config/fields.h"
#include "config/signature.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/tuning/key.h"
#include "dispatch/tuning/lookup.h"
#include "tests/dispatch/fake_kernels.h"

namespace wt::tuning {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TuningTuner : public FakeKernels {
 protected:
  std::unique_ptr<Database> database() {
    auto opened = Database::open(database_path(), Access::kCreate);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return std::move(*opened);
  }
  TuneReport tune(const TuneOptions& options = {}) {
    auto report = wt::tuning::tune(device_, problem_, options, database().get());
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? std::move(*report) : TuneReport();
  }
  Key key() const { return key_of(device_->info(), problem_, {}); }
};

TEST_F(TuningTuner, FindsTheFastestAndPlansUseIt) {
  times_[names_[7]] = 20.5;
  times_[names_[8]] = 21.5;
  const auto before = plan();
  EXPECT_EQ((*before)->description().kernel, names_[0]) << "without tuning the model's first is taken";
  EXPECT_THAT((*before)->description().reason, HasSubstr("least predicted time"));

  const TuneReport report = tune();
  ASSERT_TRUE(report.status.ok()) << report.status.message();
  ASSERT_TRUE(report.entry);
  EXPECT_EQ(report.entry->best.kernel, names_[7]);
  EXPECT_NEAR(report.entry->best.median_us, 20.5, 0.6);
  EXPECT_LE(report.entry->best.low_us, report.entry->best.median_us);
  EXPECT_GE(report.entry->best.high_us, report.entry->best.median_us);
  EXPECT_EQ(report.entry->best.code.content_key, key_of_module(names_[7], "1"));
  EXPECT_EQ(report.entry->best.code.compiler, "NVRTC 13.0");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.candidates, ranked_.size());
  EXPECT_EQ(report.rows.size() + report.cut, ranked_.size());
  EXPECT_EQ(report.rows.front().measurement.kernel, names_[7]);

  const auto after = plan();
  ASSERT_TRUE(after.ok()) << after.status().message();
  EXPECT_EQ((*after)->description().kernel, names_[7]);
  EXPECT_THAT((*after)->description().reason, HasSubstr("tuned: 20."));
  EXPECT_NEAR((*after)->description().measured_us, 20.5, 0.6);
  const auto off = plan({.tuning = Tuning::kOff});
  EXPECT_EQ((*off)->description().kernel, names_[0]);
}

TEST_F(TuningTuner, AnEntryIsForItsRequestsOnly) {
  times_[names_[3]] = 20;
  tune();
  PlanOptions options;
  options.deterministic = false;
  EXPECT_EQ((*plan(options))->description().kernel, names_[0]);
  options = {};
  options.workspace_limit = 0;  // the tuned kernel needs none, so it is the best of these too
  EXPECT_EQ((*plan(options))->description().kernel, names_[3]);
  options.strict_nonfinite = true;  // and keeps non-finite values apart
  EXPECT_EQ((*plan(options))->description().kernel, names_[3]);
}

TEST_F(TuningTuner, AKernelForFiniteInputsIsNotForStrictPlans) {
  times_[names_[3]] = 20;
  tune();
  auto entry = database()->find(key());
  ASSERT_TRUE(entry.ok() && *entry);
  KernelConfig config = *config_from_json((*entry)->best.config);
  config.finite_only = true;
  (*entry)->best.config = to_json(config);
  ASSERT_TRUE(database()->save(**entry).ok());
  const auto strict = plan({.strict_nonfinite = true});
  EXPECT_EQ((*strict)->description().kernel, names_[0]);
  EXPECT_THAT((*strict)->description().reason, Not(HasSubstr("tuned entry")));
}

TEST_F(TuningTuner, AnEntryEndsWithItsMachineCode) {
  times_[names_[5]] = 20;
  tune();
  EXPECT_EQ((*plan())->description().kernel, names_[5]);
  write_pack("2");
  const auto later = plan();
  ASSERT_TRUE(later.ok()) << later.status().message();
  EXPECT_EQ((*later)->description().kernel, names_[0]);
  EXPECT_THAT((*later)->description().reason, HasSubstr(names_[5] + " has changed since it was measured"));
}

// A renamed header or another comment changes the source, not what runs.
TEST_F(TuningTuner, AnEntryOutlivesItsSource) {
  times_[names_[5]] = 20;
  tune();
  const int before = launches_[names_[5]];
  write_pack("renamed", {}, "1");
  const auto later = plan();
  EXPECT_EQ((*later)->description().kernel, names_[5]);
  EXPECT_THAT((*later)->description().reason, HasSubstr("tuned: 20"));
  EXPECT_EQ(*database()->machine_code(key_of_module(names_[5], "renamed")),
            database()->list()->front().best.code.machine_code)
      << "what was found out is kept";
  // Nothing is measured again either.
  for (const TuneRow& row : tune().rows) EXPECT_TRUE(row.remembered) << row.measurement.kernel;
  EXPECT_EQ(launches_[names_[5]], before);
}

TEST_F(TuningTuner, AnEntryOfAnotherCompilerRanksFirstAndSaysSo) {
  times_[names_[5]] = 20;
  tune();
  compiler_ = "NVRTC 12.8";
  write_pack("of another compiler");
  const auto later = plan();
  EXPECT_EQ((*later)->description().kernel, names_[5]);
  EXPECT_THAT((*later)->description().reason, HasSubstr("measured as NVRTC 13.0 compiled it"));
  const auto candidates = rank_candidates(problem_, device_->info(), {}, Breadth::kAll);
  EXPECT_TRUE(candidates.front().tuned);
  EXPECT_THAT(candidates.front().mark, HasSubstr("measured as NVRTC 13.0 compiled it"));
  // Tuning with the compiler at hand takes its place.
  times_[names_[6]] = 10;
  tune();
  EXPECT_EQ((*plan())->description().kernel, names_[6]);
  EXPECT_TRUE(find_tuned(device_->info(), problem_, {}, CodeCheck::kKnown).mark.empty());
}

TEST_F(TuningTuner, TheSameCodeOfAnotherCompilerIsWhatWasMeasured) {
  times_[names_[5]] = 20;
  tune();
  compiler_ = "NVRTC 12.8";
  write_pack("the same, of another compiler", {}, "1");
  const auto later = plan();
  EXPECT_EQ((*later)->description().kernel, names_[5]);
  EXPECT_THAT((*later)->description().reason, Not(HasSubstr("compiled it")));
  EXPECT_TRUE(find_tuned(device_->info(), problem_, {}, CodeCheck::kKnown).mark.empty());
}

// What another compiler made need not be known: it would differ anyway. The code of this one must be known.
TEST_F(TuningTuner, CodeThatIsNotKnownCountsOnlyForAnotherCompiler) {
  times_[names_[5]] = 20;
  tune();
  auto entry = *database()->find(key());
  for (const char* compiler : {"NVRTC 12.8", "NVRTC 13.0", ""}) {
    entry->best.code = {"unknown", "", compiler};
    ASSERT_TRUE(database()->save(*entry).ok());
    const Tuned tuned = find_tuned(device_->info(), problem_, {}, CodeCheck::kKnown);
    EXPECT_EQ(tuned.config.has_value(), std::string_view(compiler) == "NVRTC 12.8") << compiler << tuned.note;
  }
}

// Where nobody has compiled the kernel since its source changed, who only describes does not find out.
TEST_F(TuningTuner, AComparisonThatNeedsACompilerIsLeftToPlans) {
  times_[names_[5]] = 20;
  tune();
  ::unsetenv("WAVETILE_PACK");
  auto entry = *database()->find(key());
  const KernelConfig config = *config_from_json(entry->best.config);
  const Result<KernelCode> now = code_to_load(device_->info(), config);
  if (!now.ok()) GTEST_SKIP() << "no NVRTC: " << now.status().message();
  entry->best.code = {"another source", "the code of then", now->compiler};
  ASSERT_TRUE(database()->save(*entry).ok());
  const Tuned described = find_tuned(device_->info(), problem_, {}, CodeCheck::kKnown);
  ASSERT_TRUE(described.config);
  EXPECT_THAT(described.mark, HasSubstr("a plan compares the machine code"));
  EXPECT_THAT(find_tuned(device_->info(), problem_, {}, CodeCheck::kCompile).note, HasSubstr("has changed since"));
  EXPECT_THAT(find_tuned(device_->info(), problem_, {}, CodeCheck::kKnown).note, HasSubstr("has changed since"))
      << "once found out, everybody knows";
}

TEST_F(TuningTuner, AnEntryOfThePlainLayerServesItsEpilogues) {
  times_[names_[5]] = 20;
  tune();
  for (const char* suffix : {"+bias", "+bias+relu", "+residual", "+alpha=0.5"}) {
    const ConvProblem problem = *parse_problem(std::string(kProblem) + " " + suffix);
    const Tuned tuned = find_tuned(device_->info(), problem, {}, CodeCheck::kKnown);
    ASSERT_TRUE(tuned.config) << suffix << tuned.note;
    KernelConfig plain = *tuned.config;
    plain.epilogue = {};
    EXPECT_EQ(name_of(plain), names_[5]);
    EXPECT_EQ(tuned.config->epilogue, config_for(problem, Target::kSm90a).epilogue);
    EXPECT_THAT(tuned.mark, HasSubstr("measured for '" + std::string(kProblem) + "'"));
    const auto candidates = rank_candidates(problem, device_->info(), {}, Breadth::kAll);
    EXPECT_TRUE(candidates.front().tuned) << suffix;
  }
  const ConvProblem wide = *parse_problem("fwd bf16>fp32 n1 c16 k16 i4x4 f3x3 p1");
  const Tuned tuned = find_tuned(device_->info(), wide, {}, CodeCheck::kKnown);
  EXPECT_TRUE(tuned.config || tuned.note.find("declines") != std::string::npos) << tuned.note;
  EXPECT_FALSE(
      find_tuned(device_->info(), *parse_problem("fwd bf16 n2 c16 k16 i4x4 f3x3 p1 +bias"), {}, CodeCheck::kKnown)
          .entry);
  // Other machine code of the plain kernel ends it for the others too.
  write_pack("2");
  const ConvProblem bias = *parse_problem(std::string(kProblem) + " +bias");
  EXPECT_THAT(find_tuned(device_->info(), bias, {}, CodeCheck::kKnown).note, HasSubstr("has changed since"));
}

TEST_F(TuningTuner, AWrongKernelNeverRanksAndIsNotChosenAgain) {
  wrong_ = {names_[0]};
  times_[names_[0]] = 5;
  times_[names_[4]] = 20;
  testing::internal::CaptureStderr();
  const TuneReport report = tune();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("WRONG RESULT by " + names_[0]), HasSubstr("repeat with: wavetile run '")));
  EXPECT_EQ(report.wrong, 1);
  EXPECT_EQ(report.entry->best.kernel, names_[4]);
  EXPECT_EQ(launches_[names_[0]], 1) << "a wrong kernel is not timed";
  const auto quarantined = database()->quarantined();
  ASSERT_EQ(quarantined->size(), 1u);
  EXPECT_EQ(quarantined->front().kernel, names_[0]);

  const auto modelled = plan({.tuning = Tuning::kOff});
  EXPECT_EQ((*modelled)->description().kernel, names_[1]);
  EXPECT_THAT((*modelled)->description().reason, HasSubstr("in quarantine"));
  const auto candidates = rank_candidates(problem_, device_->info(), {}, Breadth::kAll);
  EXPECT_TRUE(candidates.front().tuned);
  EXPECT_EQ(candidates.front().name, names_[4]);
  const auto declining = std::ranges::find(candidates, names_[0], &RankedCandidate::name);
  ASSERT_FALSE(declining->accepts());
  EXPECT_EQ(declining->declines.front().id, "quarantined");
  EXPECT_THAT(declining->declines.front().message, HasSubstr("gave a wrong result on '" + std::string(kProblem)));

  // New machine code gets a new chance, and so does a kernel that was let go.
  write_pack("2");
  EXPECT_EQ((*plan({.tuning = Tuning::kOff}))->description().kernel, names_[0]);
  write_pack("1");
  EXPECT_EQ(*database()->release(names_[0]), 1);
  EXPECT_EQ((*plan({.tuning = Tuning::kOff}))->description().kernel, names_[0]);
}

TEST_F(TuningTuner, TriesOnlyWhatIsCompiledWhereThatIsAskedFor) {
  times_[names_[0]] = 5;
  times_[names_[3]] = 20;
  write_pack("few", {3, 4, 9});
  const TuneReport report = tune({.exhaustive = true, .precompiled = true});
  ASSERT_TRUE(report.status.ok()) << report.status.message();
  EXPECT_EQ(report.candidates, ranked_.size());
  EXPECT_EQ(report.not_compiled, ranked_.size() - 3);
  EXPECT_EQ(report.rows.size(), 3u);
  EXPECT_TRUE(report.complete);
  ASSERT_TRUE(report.entry);
  EXPECT_EQ(report.entry->best.kernel, names_[3]);
  EXPECT_FALSE(report.entry->complete) << "another tuning, which may compile, goes on";
  EXPECT_EQ(launches_[names_[0]], 0);

  write_pack("other");  // of other machine code, but all of them
  EXPECT_EQ(tune().entry->best.kernel, names_[0]);

  ::unsetenv("WAVETILE_PACK");
  const auto none = wt::tuning::tune(device_, problem_, {.precompiled = true}, nullptr);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.status().message(), AllOf(HasSubstr("is compiled"), HasSubstr("WAVETILE_PACK")));
  ::setenv("WAVETILE_PACK", "/nonexistent.wtpack", 1);
  const auto absent = wt::tuning::tune(device_, problem_, {.precompiled = true}, nullptr);
  ASSERT_FALSE(absent.ok());
  EXPECT_THAT(absent.status().message(), HasSubstr("/nonexistent.wtpack"));
}

TEST_F(TuningTuner, GoesOnWhereItWasStopped) {
  times_[names_[2]] = 20;
  TuneOptions options;
  int asked = 0;
  options.stop = [&] { return ++asked > 4; };
  const TuneReport first = tune(options);
  EXPECT_FALSE(first.complete);
  EXPECT_FALSE(first.entry->complete);
  EXPECT_EQ(first.rows.size(), 5u);
  EXPECT_THAT((*plan())->description().reason, HasSubstr("tuning ended before all were tried"));
  launches_.clear();
  const TuneReport second = tune();
  EXPECT_TRUE(second.complete);
  EXPECT_EQ(second.entry->best.kernel, names_[2]);
  EXPECT_EQ(std::ranges::count(second.rows, true, &TuneRow::remembered), 5);
  EXPECT_EQ(launches_[names_[1]], 0) << "what was measured is not measured again";
  launches_.clear();
  tune();
  EXPECT_TRUE(launches_.empty()) << "what is complete costs nothing";
  TuneOptions again;
  again.again = true;
  tune(again);
  EXPECT_GT(launches_[names_[1]], 1);
}

TEST_F(TuningTuner, AShortRunDoesNotReplaceAFasterKernel) {
  times_[names_[7]] = 20.5;
  tune();
  TuneOptions one;
  one.stop = [] { return true; };  // after the model's pick
  const TuneReport report = tune(one);
  ASSERT_TRUE(report.entry);
  EXPECT_EQ(report.entry->best.kernel, names_[7]);
  EXPECT_EQ((*plan())->description().kernel, names_[7]);
  one.again = true;
  EXPECT_EQ(tune(one).entry->best.kernel, names_[0]) << "asked to start anew";
  tune();
  write_pack("2");  // other machine code: what was known of it is worth nothing
  one.again = false;
  EXPECT_EQ(tune(one).entry->best.kernel, names_[0]);
}

TEST_F(TuningTuner, KeepsToItsTimeAndTriesAtLeastTheModelsPick) {
  TuneOptions options;
  options.seconds = 1e-9;
  const TuneReport report = tune(options);
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.entry->best.kernel, names_[0]);
}

TEST_F(TuningTuner, GivesUpOnWhatCannotWin) {
  for (const std::string& name : names_) times_[name] = 100;
  times_[names_[0]] = 10;
  const TuneReport report = tune();
  EXPECT_LT(launches_[names_[1]], 8) << "the verified run, a warm-up and three more";
  EXPECT_GT(launches_[names_[0]], 14);
  const auto row = std::ranges::find(report.rows, names_[1], [](const TuneRow& r) { return r.measurement.kernel; });
  EXPECT_EQ(row->measurement.outcome, Outcome::kSlower);

  // With a model that is right, what it calls far slower is not even compiled.
  times_.clear();
  for (const RankedConfig& candidate : ranked_) times_[name_of(*candidate.config)] = candidate.predicted_us * 2;
  TuneOptions again;
  again.again = true;
  const TuneReport cut = tune(again);
  EXPECT_TRUE(cut.complete);
  EXPECT_GT(cut.cut, 0u);
  EXPECT_EQ(cut.entry->best.kernel, names_[0]);
  again.exhaustive = true;
  EXPECT_EQ(tune(again).cut, 0u);
}

TEST_F(TuningTuner, ALostDeviceEndsItWithWhatIsKnown) {
  constexpr int kIllegalAddress = 700;
  fake_fault_kernel(kIllegalAddress, 60);
  const auto report = wt::tuning::tune(device_, problem_, {}, database().get());
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_THAT(report->status.message(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_EQ(report->failed, 1);
  const auto rows = database()->measurements(key());
  EXPECT_EQ(std::ranges::count(*rows, Outcome::kFailed, &Measurement::outcome), 1);
  // A new context; the kernel that faulted is not tried again.
  device_.reset();
  fake_fault_kernel(0, 0);
  device_ = open();
  const TuneReport later = tune();
  ASSERT_TRUE(later.status.ok()) << later.status.message();
  EXPECT_EQ(later.failed, 1);
  EXPECT_TRUE(later.entry);
}

TEST_F(TuningTuner, OnFirstUseAPlanMeasuresAndRemembers) {
  times_[names_[6]] = 20;
  const auto made = plan({.tuning = Tuning::kFirstUse, .tuning_seconds = 60});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ((*made)->description().kernel, names_[6]);
  EXPECT_THAT((*made)->description().reason, HasSubstr("tuned: 20."));
  launches_.clear();
  EXPECT_EQ((*plan())->description().kernel, names_[6]);
  EXPECT_EQ((*plan({.tuning = Tuning::kFirstUse}))->description().kernel, names_[6]);
  EXPECT_TRUE(launches_.empty());
}

TEST_F(TuningTuner, OnFirstUseRefusesACaptureWithoutBreakingIt) {
  const Stream stream = *device_->make_stream();
  for (const Stream named : {stream, Stream{nullptr}}) {
    launches_.clear();
    const auto graph = device_->capture(stream, [&]() -> Status {
      const auto made = plan({.tuning = Tuning::kFirstUse, .stream = named});
      EXPECT_FALSE(made.ok());
      EXPECT_THAT(made.status().message(),
                  AllOf(HasSubstr("being captured"), HasSubstr("before the capture begins"), HasSubstr(kProblem)));
      EXPECT_EQ(made.status().code(), Code::kBadInput);
      // Without tuning a plan may be made in the middle of a capture.
      EXPECT_TRUE(plan().ok());
      return {};
    });
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_TRUE(launches_.empty());
  }
  EXPECT_FALSE(std::filesystem::exists(database_path()));
}

TEST_F(TuningTuner, FallsBackOnlyWhenAskedAndSaysSo) {
  constexpr int kInvalidImage = 200;
  fake_fail("cuModuleLoadData", kInvalidImage, 1);
  const auto refused = plan();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().message(), HasSubstr("CUDA_ERROR_INVALID_IMAGE"));
  fake_fail("cuModuleLoadData", kInvalidImage, 1);
  const auto made = plan({.fallback = true});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ((*made)->description().kernel, names_[1]);
  EXPECT_THAT((*made)->description().reason, HasSubstr(names_[0] + " could not be used"));
}

TEST_F(TuningTuner, ARefusedDatabaseIsSaidAndNotSilentlyPassedOver) {
  ASSERT_TRUE(write_file(database_path(), "this is somebody's letter").ok());
  testing::internal::CaptureStderr();
  const auto made = plan();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("plans are made without tuning"));
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT((*made)->description().reason, HasSubstr("the tuning database was refused"));
  testing::internal::CaptureStderr();
  EXPECT_TRUE(plan().ok());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("without tuning"))) << "once is enough";
}

TEST_F(TuningTuner, SeesWhatAnotherProcessSavesMeanwhile) {
  database();
  EXPECT_EQ((*plan())->description().kernel, names_[0]);
  times_[names_[9]] = 20;
  tune();
  EXPECT_EQ((*plan())->description().kernel, names_[9]);
}

TEST_F(TuningTuner, KeepsToTheWorkspaceLimitAndZeroWorks) {
  TuneOptions options;
  options.plan.workspace_limit = 0;
  const TuneReport report = tune(options);
  for (const TuneRow& row : report.rows) EXPECT_EQ(row.measurement.workspace_bytes, 0);
  EXPECT_TRUE(report.entry);
}

}  // namespace
}  // namespace wt::tuning
