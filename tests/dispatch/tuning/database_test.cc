// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/tuning/database_test.cc - what is kept, what is refused, and that many processes lose nothing.
#include "dispatch/tuning/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <thread>

#include "base/files.h"
#include "config/fields.h"
#include "config/signature.h"
#include "dispatch/tuning/exchange.h"
#include "dispatch/tuning/key.h"
#include "problem/random.h"
#include "tests/dispatch/tuning_scratch.h"

namespace wt::tuning {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class TuningDatabase : public ::testing::Test {
 protected:
  ScratchFolder folder_;
  fs::path file_ = folder_.path() / "deep" / "tuning.db";

  std::unique_ptr<Database> open(Access access = Access::kCreate) {
    auto database = Database::open(file_, access);
    EXPECT_TRUE(database.ok()) << database.status().message();
    return database.ok() ? std::move(*database) : nullptr;
  }
  void write(const std::string& content) { ASSERT_TRUE(write_file(file_, content).ok()); }
  std::string refusal(Access access = Access::kCreate) {
    auto database = Database::open(file_, access);
    EXPECT_FALSE(database.ok());
    return database.status().message();
  }
};

TEST_F(TuningDatabase, KeepsAnEntryFromOneProcessToTheNext) {
  const Entry entry = entry_of("p1");
  ASSERT_TRUE(open()->save(entry).ok());
  const auto found = open(Access::kRead)->find(entry.key);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ(**found, entry);
}

TEST_F(TuningDatabase, TellsKeysApartByEveryPart) {
  auto database = open();
  const Entry entry = entry_of("p1");
  ASSERT_TRUE(database->save(entry).ok());
  Key other = entry.key;
  other.gpu = "another";
  EXPECT_FALSE(database->find(other)->has_value());
  other = entry.key;
  other.multiprocessors += 1;
  EXPECT_FALSE(database->find(other)->has_value());
  other = entry.key;
  other.target = "sm_80";
  EXPECT_FALSE(database->find(other)->has_value());
  other = entry.key;
  other.problem = "p2";
  EXPECT_FALSE(database->find(other)->has_value());
}

TEST_F(TuningDatabase, ReplacesAnEntryThatIsSavedAgain) {
  auto database = open();
  Entry entry = entry_of("p1", 10);
  ASSERT_TRUE(database->save(entry).ok());
  entry = entry_of("p1", 7);
  ASSERT_TRUE(database->save(entry).ok());
  EXPECT_EQ((*database->find(entry.key))->best.median_us, 7);
  EXPECT_EQ(database->list()->size(), 1u);
}

TEST_F(TuningDatabase, KeepsMeasurementsAndQuarantine) {
  auto database = open();
  const Key key = entry_of("p1").key;
  Measurement wrong = measurement_of(3);
  wrong.outcome = Outcome::kWrong;
  wrong.detail = "element 7 is 3, expected 4";
  ASSERT_TRUE(database->save(key, wrong).ok());
  EXPECT_THAT(*database->measurements(key), ElementsAre(wrong));
  const Quarantine row{"sm_90a", wrong.kernel, wrong.code, key.problem, wrong.detail, 5};
  ASSERT_TRUE(database->quarantine(row).ok());
  EXPECT_THAT(*database->quarantined(), ElementsAre(row));
  EXPECT_EQ(*database->release("no such kernel"), 0);
  EXPECT_EQ(*database->release(wrong.kernel), 1);
  EXPECT_TRUE(database->quarantined()->empty());
}

TEST_F(TuningDatabase, ErasesOnlyWhatWasNotSavedAgain) {
  auto database = open();
  Entry old = entry_of("p1"), renewed = entry_of("p2");
  old.best.saved_at = renewed.best.saved_at = 100;
  ASSERT_TRUE(database->save(old).ok());
  renewed.best.saved_at = 200;
  ASSERT_TRUE(database->save(renewed).ok());
  EXPECT_EQ(*database->erase({{old.key, 100}, {renewed.key, 100}}), 1);
  EXPECT_FALSE(database->find(old.key)->has_value());
  EXPECT_TRUE(database->find(renewed.key)->has_value());
}

TEST_F(TuningDatabase, MergesNewerRowsOnly) {
  auto database = open();
  Entry ours = entry_of("p1", 10), theirs = entry_of("p1", 5), fresh = entry_of("p2", 4);
  ours.best.saved_at = 100, theirs.best.saved_at = 90, fresh.best.saved_at = 50;
  ASSERT_TRUE(database->save(ours).ok());
  EXPECT_EQ(*database->merge({theirs, fresh}, {}, {}), 1);
  EXPECT_EQ((*database->find(ours.key))->best.median_us, 10);
  EXPECT_EQ((*database->find(fresh.key))->best.median_us, 4);
  theirs.best.saved_at = 101;
  EXPECT_EQ(*database->merge({theirs}, {}, {}), 1);
  EXPECT_EQ((*database->find(ours.key))->best.median_us, 5);
}

TEST_F(TuningDatabase, SeesThatAnotherProcessChangedIt) {
  auto one = open(), two = open();
  const int64_t before = *one->version();
  EXPECT_EQ(*one->version(), before);
  ASSERT_TRUE(two->save(entry_of("p1")).ok());
  EXPECT_NE(*one->version(), before);
}

TEST_F(TuningDatabase, AnAbsentFileIsMadeOnlyWhereAsked) {
  EXPECT_THAT(refusal(Access::kRead), HasSubstr("cannot open it"));
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_NE(open(), nullptr);
  EXPECT_TRUE(fs::exists(file_));
}

TEST_F(TuningDatabase, RefusesAForeignFileAndLeavesIt) {
  for (const std::string content : {"hello", "{\"a\": 1}\n", "SQLite format 2 and so on and on"}) {
    write(content);
    EXPECT_THAT(refusal(), AllOf(HasSubstr("no SQLite file"), HasSubstr("left as it is"), HasSubstr("move it away")));
    EXPECT_EQ(*read_file(file_), content);
  }
}

TEST_F(TuningDatabase, RefusesAnotherProgramsDatabaseAndLeavesIt) {
  fs::create_directories(file_.parent_path());
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(handle, "CREATE TABLE bookmark(a); INSERT INTO bookmark VALUES (1)", nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(handle);
  const std::string before = *read_file(file_);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("no tuning database of Wavetile"), HasSubstr("1 tables")));
  EXPECT_EQ(*read_file(file_), before);
}

TEST_F(TuningDatabase, RefusesANewerFormat) {
  open();
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, "PRAGMA user_version=7", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("has format 7"), HasSubstr("update Wavetile")));
}

TEST_F(TuningDatabase, RefusesADamagedFileAndLeavesIt) {
  {
    auto database = open();
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(database->merge({entry_of(fmt::format("p{}", i))}, {}, {}).ok());
  }
  std::string content = *read_file(file_);
  ASSERT_GT(content.size(), 16384u);
  for (size_t at = 4096; at < content.size(); ++at) content[at] = static_cast<char>(at * 37);
  write(content);
  auto database = Database::open(file_, Access::kRead);
  ASSERT_TRUE(database.ok()) << database.status().message();
  const auto found = (*database)->find(entry_of("p100").key);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.status().message(), AllOf(HasSubstr(file_.string()), HasSubstr("move it away")));
  EXPECT_FALSE((*database)->list().ok());
  EXPECT_FALSE((*database)->check().ok());
  database->reset();
  EXPECT_EQ(*read_file(file_), content);
}

void change(const fs::path& file, const std::string& sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
  sqlite3_close(handle);
}

// SQLite finds nothing wrong with a value that is another one.
TEST_F(TuningDatabase, AFlippedValueIsSeen) {
  const Entry entry = entry_of("p1");
  const Quarantine bad{"sm_90a", "wt_bad", {"k", "m", "c"}, "p", "wrong", 5};
  ASSERT_TRUE(open()->merge({entry, entry_of("p2")}, {{entry.key, entry.best}}, {bad}).ok());
  ASSERT_TRUE(open()->check().ok());
  const std::pair<const char*, const char*> changes[] = {
      {"UPDATE entry SET median_us=median_us+0.001 WHERE problem='p1'", "the entry of 'p1'"},
      {"UPDATE entry SET config=config||' '", "the entry of"},
      {"UPDATE entry SET complete=1-complete WHERE problem='p2'", "the entry of 'p2'"},
      {"UPDATE entry SET tried=tried+4294967296 WHERE problem='p2'", "the entry of 'p2'"},
      {"UPDATE entry SET problem='p3' WHERE problem='p2'", "the entry of 'p3'"},
      {"UPDATE measurement SET saved_at=saved_at+1", "the measurement of"},
      {"UPDATE quarantine SET kernel='wt_good'", "the quarantine of wt_good"},
      {"UPDATE quarantine SET checksum='0000000000000000'", "the quarantine of wt_bad"}};
  const std::string good = *read_file(file_);
  for (const auto& [sql, what] : changes) {
    write(good);
    change(file_, sql);
    EXPECT_THAT(open(Access::kRead)->check().message(), AllOf(HasSubstr(what), HasSubstr("is not what was saved")))
        << sql;
  }
}

// Files of before there were checksums (1), and of before machine code (2), are brought up to date when opened.
TEST_F(TuningDatabase, AnOlderFileIsBroughtUpToDate) {
  for (const int schema : {1, 2}) {
    for (const Access access : {Access::kRead, Access::kWrite}) {
      fs::remove(file_);
      Entry entry = entry_of("p1");
      const Quarantine bad{"sm_90a", "wt_bad", {"k", "m", "c"}, "p", "wrong", 5};
      ASSERT_TRUE(open()->merge({entry}, {{entry.key, entry.best}}, {bad}).ok());
      change(file_, "DROP TABLE machine_code");
      for (const char* table : {"entry", "measurement", "quarantine"}) {
        for (const char* column : {"machine_code", "compiler", "checksum"}) {
          if (schema == 2 && std::string_view(column) == "checksum") continue;
          change(file_, fmt::format("ALTER TABLE {} DROP COLUMN {}", table, column));
        }
      }
      change(file_, fmt::format("PRAGMA user_version={}", schema));
      auto database = open(access);
      EXPECT_TRUE(database->check().ok()) << schema;
      entry.best.code = {entry.best.code.content_key, "", ""};
      EXPECT_EQ(**database->find(entry.key), entry);
      EXPECT_EQ(database->all_measurements()->size(), 1u);
      EXPECT_EQ(database->quarantined()->size(), 1u);
      EXPECT_EQ(*database->machine_code("k"), "");
      change(file_, "UPDATE entry SET median_us=1");
      EXPECT_FALSE(open(Access::kRead)->check().ok());
    }
  }
}

TEST_F(TuningDatabase, KeepsTheMachineCodeOfAContentKey) {
  auto database = open();
  EXPECT_EQ(*database->machine_code("key"), "");
  ASSERT_TRUE(database->keep_machine_code({"key", "code", "NVRTC 13.0"}).ok());
  ASSERT_TRUE(database->keep_machine_code({"key2", "code2", "NVRTC 13.0"}).ok());
  EXPECT_EQ(*open(Access::kRead)->machine_code("key"), "code");
  EXPECT_TRUE(database->check().ok());
  change(file_, "UPDATE machine_code SET machine_code='other' WHERE content_key='key2'");
  EXPECT_THAT(open(Access::kRead)->check().message(), HasSubstr("the machine code of key2 is not what was saved"));
}

TEST_F(TuningDatabase, DatesOfTheFutureWinNoMerge) {
  constexpr int64_t kFar = int64_t{1} << 52;  // the year 144683
  Entry here = entry_of("p1"), stranger = here;
  here.best.median_us = 20;
  stranger.best.median_us = 7, stranger.best.low_us = 6, stranger.best.saved_at = kFar;
  auto database = open();
  ASSERT_TRUE(database->merge({here}, {}, {}).ok());
  EXPECT_EQ(*database->merge({stranger}, {{stranger.key, stranger.best}}, {}), 1) << "only the measurement was missing";
  EXPECT_EQ((*database->find(here.key))->best.median_us, 20);
  // A row that was saved under a wrong clock does not stand in the way either.
  ASSERT_TRUE(database->save(stranger).ok());
  EXPECT_EQ((*database->find(here.key))->best.saved_at, kFar);
  EXPECT_EQ(*database->merge({here}, {}, {}), 1);
  EXPECT_EQ((*database->find(here.key))->best.median_us, 20);
  EXPECT_TRUE(database->check().ok());
}

TEST_F(TuningDatabase, TakesAFileThatWasJustBegun) {
  write("");
  auto database = open();
  EXPECT_TRUE(database->save(entry_of("p1")).ok());
}

TEST_F(TuningDatabase, AFileWithoutTablesHoldsNothingYet) {
  fs::create_directories(file_.parent_path());
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
  EXPECT_FALSE(open(Access::kRead)->has_tables());
  EXPECT_TRUE(open(Access::kCreate)->save(entry_of("p1")).ok());
  EXPECT_TRUE(open(Access::kRead)->has_tables());
}

TEST_F(TuningDatabase, GoesThroughJson) {
  auto database = open();
  const Entry entry = entry_of("p1");
  Measurement failed = measurement_of(0);
  failed.outcome = Outcome::kFailed;
  failed.detail = "it \"burns\"\n";
  ASSERT_TRUE(database->save(entry).ok());
  ASSERT_TRUE(database->save(entry.key, failed).ok());
  ASSERT_TRUE(database->quarantine({"sm_90a", "k", {"c", "m", "v"}, "p", "d", 3}).ok());
  const std::string text = to_json(*read_content(*database, true));
  const auto content = content_from_json(text);
  ASSERT_TRUE(content.ok()) << content.status().message();
  EXPECT_THAT(content->entries, ElementsAre(entry));
  EXPECT_THAT(content->measurements, ElementsAre(std::pair(entry.key, failed)));
  EXPECT_THAT(content->quarantined, ElementsAre(Quarantine{"sm_90a", "k", {"c", "m", "v"}, "p", "d", 3}));
}

TEST_F(TuningDatabase, RefusesJsonWithTheFaultNamed) {
  const std::string good = to_json({{entry_of("p1")}, {}, {}});
  const auto refused = [](std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    const auto content = content_from_json(text.replace(at, from.size(), to));
    return content.ok() ? "accepted" : content.status().message();
  };
  EXPECT_THAT(refused(good, "\"median_us\":10.0", "\"median_us\":-1"), HasSubstr("entries[0]: median_us is no time"));
  EXPECT_THAT(refused(good, "\"median_us\":10.0", "\"median_us\":99"), HasSubstr("between low_us and high_us"));
  EXPECT_THAT(refused(good, "\"runs\":20", "\"runs\":\"20\""), HasSubstr("runs is no whole number"));
  EXPECT_THAT(refused(good, "\"content_key\"", "\"contentkey\""), HasSubstr("content_key is missing"));
  EXPECT_THAT(refused(good, "\"kernel\":\"wt_", "\"kernel\":\"xx_"), HasSubstr("config is that of wt_"));
  EXPECT_THAT(refused(good, "\"target\":\"sm_90a\"", "\"target\":\"sm_80\""), HasSubstr("config is for sm_90a"));
  EXPECT_THAT(refused(good, "\"schema\": 2", "\"schema\": 1"), HasSubstr("schema 1"));
  EXPECT_THAT(refused(good, "wavetile tuning", "else"), HasSubstr("no export of a tuning database"));
  EXPECT_THAT(refused(good, "{", "["), HasSubstr("no JSON"));
}

TEST(TuningKey, SpellsOutEverythingThatChangesTheChoice) {
  const ConvProblem problem = *parse_problem("fwd bf16 n2 c16 k24 i9x9 f3x3 p1 +bias");
  PlanOptions options;
  const std::string text = key_text(problem, options);
  EXPECT_THAT(text, AllOf(HasSubstr("v1 fwd"), HasSubstr("+bias"), HasSubstr(" user=0 det=1 strict=0 ws=any")));
  std::set<std::string> texts{text};
  options.deterministic = false;
  texts.insert(key_text(problem, options));
  options.workspace_limit = 0;
  texts.insert(key_text(problem, options));
  options.workspace_limit = 1024;
  texts.insert(key_text(problem, options));
  options.strict_nonfinite = true;
  texts.insert(key_text(problem, options));
  EXPECT_EQ(texts.size(), 5u);
  EXPECT_EQ(short_text({"", 1, "", text}), to_text(problem));
}

// Layers of a quantised network differ in their zero points; what was tuned for one serves all that have one of x.
TEST(TuningKey, AsksOnlyWhetherXHasAZeroPoint) {
  const auto key = [](const char* text) { return key_text(*parse_problem(text), {}); };
  EXPECT_EQ(key("fwd int8 n1 c16 k16 i9x9 f3x3 x_zero=-7 y_zero=4"), key("fwd int8 n1 c16 k16 i9x9 f3x3 x_zero=5"));
  EXPECT_NE(key("fwd int8 n1 c16 k16 i9x9 f3x3 x_zero=-7"), key("fwd int8 n1 c16 k16 i9x9 f3x3 y_zero=4"));
  EXPECT_EQ(plain_layer(*parse_problem("fwd int8 n1 c16 k16 i9x9 f3x3 x_zero=-7 +scale")),
            parse_problem("fwd int8 n1 c16 k16 i9x9 f3x3").value());
}

// Eight processes write as fast as they can and are killed at random moments. What a process reported as saved must be
// there, whole, and so must the file be.
class Writer {
 public:
  Writer(const fs::path& file, int number) : number_(number) {
    EXPECT_EQ(::pipe(ends_), 0);
    child_ = ::fork();
    if (child_ != 0) {
      ::close(ends_[1]);
      return;
    }
    ::close(ends_[0]);
    auto database = Database::open(file, Access::kCreate);
    if (!database.ok()) {
      fmt::print(stderr, "{}\n", database.status().message());
      ::_exit(1);
    }
    for (int i = 0;; ++i) {
      const Entry entry = entry_of(fmt::format("process {} entry {}", number_, i), 1 + i);
      if (const Status status = (*database)->save(entry); !status.ok()) {
        fmt::print(stderr, "{}\n", status.message());
        ::_exit(1);
      }
      if (::write(ends_[1], &i, sizeof i) != sizeof i) ::_exit(1);
    }
  }

  // How many entries it reported as saved.
  int end() {
    ::kill(child_, SIGKILL);
    int state = 0;
    EXPECT_EQ(::waitpid(child_, &state, 0), child_);
    EXPECT_TRUE(WIFSIGNALED(state)) << "process " << number_ << " ended by itself";
    int last = -1, value = 0;
    while (::read(ends_[0], &value, sizeof value) == sizeof value) last = value;
    ::close(ends_[0]);
    return last + 1;
  }
  int number() const { return number_; }
  // So far.
  int reports() const {
    int bytes = 0;
    EXPECT_EQ(::ioctl(ends_[0], FIONREAD, &bytes), 0);
    return bytes / static_cast<int>(sizeof bytes);
  }

 private:
  int number_;
  int ends_[2];
  pid_t child_;
};

TEST_F(TuningDatabase, EightKilledProcessesLoseNothing) {
  Random random(7);
  std::vector<std::pair<int, int>> reported;  // process, entries
  std::vector<std::unique_ptr<Writer>> writers;
  int next = 0;
  while (writers.size() < 8) writers.push_back(std::make_unique<Writer>(file_, next++));
  for (int kills = 0; kills < 24; ++kills) {
    std::this_thread::sleep_for(std::chrono::milliseconds(random.between(5, 60)));
    std::unique_ptr<Writer>& victim = writers[static_cast<size_t>(random.between(0, 7))];
    reported.emplace_back(victim->number(), victim->end());
    victim = std::make_unique<Writer>(file_, next++);
  }
  // WHY: on a busy machine processes may be killed before they have saved anything.
  const auto saved = [&] {
    int count = 0;
    for (const auto& [process, entries] : reported) count += entries;
    for (const auto& writer : writers) count += writer->reports();
    return count;
  };
  for (int waits = 0; saved() <= 50 && waits < 6000; ++waits)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (const auto& writer : writers) reported.emplace_back(writer->number(), writer->end());

  auto database = open();
  EXPECT_TRUE(database->check().ok()) << database->check().message();
  int total = 0;
  for (const auto& [process, count] : reported) {
    total += count;
    for (int i = 0; i < count; ++i) {
      const Entry expected = entry_of(fmt::format("process {} entry {}", process, i), 1 + i);
      const auto found = database->find(expected.key);
      ASSERT_TRUE(found.ok()) << found.status().message();
      ASSERT_TRUE(found->has_value()) << "process " << process << " saved entry " << i << ", and it is lost";
      EXPECT_EQ(**found, expected);
    }
  }
  EXPECT_GT(total, 50);
  const auto all = database->list();
  for (const Entry& entry : *all) {
    EXPECT_EQ(entry, entry_of(entry.key.problem, entry.best.median_us)) << "half-written";
  }
}

}  // namespace
}  // namespace wt::tuning
