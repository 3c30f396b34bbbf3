// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/database.h - what was measured on which GPU, kept from one process to the next.
//
//   tuner.h --save--> one SQLite file in WAL mode, any number of processes --find--> selection (lookup.h)
//
// What a save reported as done survives the end of the process and of the machine. A file that is damaged, of another
// program or of a newer version is refused with a remedy and never changed. docs/tuning.md describes the tables.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "dispatch/tuning/sqlite.h"

namespace wt::tuning {

// What an entry is for; key.h makes it. Two problems with the same key are the same work on the same kind of GPU.
struct Key {
  std::string gpu;  // as the maker calls it
  int multiprocessors = 0;
  std::string target;   // sm_90a
  std::string problem;  // canonical text, then what the plan's caller asked for
  bool operator==(const Key&) const = default;
};

enum class Outcome : uint8_t {
  kTimed,   // right, and timed in full
  kSlower,  // right, and given up after a few runs because it cannot win
  kWrong,   // ran and gave a wrong result
  kFailed,  // did not compile, launch or fit
};

// Which code a row speaks of (same_code.h).
struct KernelCode {
  std::string content_key;   // of the compilation: source, headers, compiler, flags
  std::string machine_code;  // compile/machine_code.h; empty where it is not known
  std::string compiler;      // name and version
  bool operator==(const KernelCode&) const = default;
};

struct Measurement {
  std::string kernel;  // its name
  std::string config;  // its configuration as JSON
  KernelCode code;     // that was measured
  Outcome outcome = Outcome::kTimed;
  double median_us = 0, low_us = 0, high_us = 0;  // cold L2; 0 where nothing was timed
  double graph_us = 0;                            // warm, under graph replay; 0: not measured
  int runs = 0;
  int64_t workspace_bytes = 0;
  std::string detail;    // why it failed or what was wrong
  int64_t saved_at = 0;  // milliseconds since 1970; set by save where 0
  bool operator==(const Measurement&) const = default;
};

// The choice for a key.
struct Entry {
  Key key;
  Measurement best;
  int candidates = 0;     // that accept the problem
  int tried = 0;          // of these
  bool complete = false;  // every candidate was tried or could not win; false: the time was up
  std::string library;    // the version of Wavetile that measured
  bool operator==(const Entry&) const = default;
};

// A kernel that gave a wrong result. It is not chosen again while its machine code is the same.
struct Quarantine {
  std::string target;
  std::string kernel;
  KernelCode code;
  std::string problem;  // key text of the problem that showed it
  std::string detail;
  int64_t saved_at = 0;
  bool operator==(const Quarantine&) const = default;
};

class Database {
 public:
  // $WAVETILE_TUNING_DB, or tuning.db in the user's data folder (base/files.h).
  static Result<std::filesystem::path> default_path();
  // What the package installed, read below the user's own: $WAVETILE_SYSTEM_TUNING_DB where set (empty: none), else
  // lib/wavetile/tuning.db. Empty: there is none.
  static std::filesystem::path system_path();

  // kRead and kWrite: the file must exist. kCreate: made where absent, with its folder.
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& path, Access access);

  const std::filesystem::path& path() const { return connection_->path(); }

  // False where the file was opened to read and its maker has not come to make the tables: it holds nothing yet, and
  // the functions below fail.
  bool has_tables() const { return has_tables_; }

  Result<std::optional<Entry>> find(const Key& key);
  Status save(const Entry& entry);
  Result<std::vector<Entry>> list();
  // Those of `keys` whose entry was not saved again since `saved_at`, with their measurements; how many went.
  Result<int> erase(const std::vector<std::pair<Key, int64_t>>& keys);

  Result<std::vector<Measurement>> measurements(const Key& key);
  Result<std::vector<std::pair<Key, Measurement>>> all_measurements();
  Status save(const Key& key, const Measurement& measurement);

  Result<std::vector<Quarantine>> quarantined();
  Status quarantine(const Quarantine& quarantine);
  Result<int> release(const std::string& kernel);  // out of quarantine; how many rows went

  // The machine code that a content key was found to have; empty: nobody has looked.
  Result<std::string> machine_code(const std::string& content_key);
  Status keep_machine_code(const KernelCode& code);

  // All or nothing; an incoming row replaces an older one only, and one from the future none. How many were taken.
  Result<int> merge(const std::vector<Entry>& entries, const std::vector<std::pair<Key, Measurement>>& measurements,
                    const std::vector<Quarantine>& quarantined);

  // Another value after another connection has changed the file.
  Result<int64_t> version();

  // Reads the whole file, and compares each row with its checksum; the failure names what is damaged.
  Status check();

 private:
  explicit Database(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
  Status check_owner() const;
  Status prepare(Access access);
  Status create_tables();
  Status bring_up_to_date();
  Result<std::string> changed_row();
  Status put(const Entry& entry, bool only_newer);
  Status put(const Key& key, const Measurement& measurement, bool only_newer);
  Status put(const Quarantine& quarantine, bool only_newer);

  std::mutex mutex_;
  std::unique_ptr<Connection> connection_;
  std::optional<Statement> find_, version_;  // prepared once: selection asks often
  bool has_tables_ = true;
};

const char* name_of(Outcome outcome);  // timed, slower, wrong, failed
std::optional<Outcome> outcome_from(std::string_view name);

}  // namespace wt::tuning
