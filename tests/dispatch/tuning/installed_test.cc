// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/tuning/installed_test.cc - what a package installs below the user's own: tuned results and a pack of
// their kernels, so that the first call is tuned and needs no compiler.
#include <gmock/gmock.h>

#include <fstream>

#include "base/files.h"
#include "dispatch/choice/packs.h"
#include "dispatch/tuning/key.h"
#include "dispatch/tuning/lookup.h"
#include "tests/dispatch/fake_kernels.h"

namespace wt::tuning {
namespace {

using ::testing::HasSubstr;

// The kernels of the base class as an installation has them. The user has nothing of his own, and no compiler.
class Installed : public FakeKernels {
 protected:
  void SetUp() override {
    FakeKernels::SetUp();
    before_ = std::getenv("WAVETILE_NVRTC") ? std::getenv("WAVETILE_NVRTC") : "";
    ::setenv("WAVETILE_NVRTC", (folder_.path() / "nothing").c_str(), 1);
    pack_ = (folder_.path() / "1.wtpack").string();
    ::unsetenv("WAVETILE_PACK");
    ::setenv("WAVETILE_SYSTEM_PACK", pack_.c_str(), 1);
    ::setenv("WAVETILE_SYSTEM_TUNING_DB", (folder_.path() / "system.db").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("WAVETILE_SYSTEM_PACK");
    ::unsetenv("WAVETILE_SYSTEM_TUNING_DB");
    before_.empty() ? ::unsetenv("WAVETILE_NVRTC") : ::setenv("WAVETILE_NVRTC", before_.c_str(), 1);
    FakeKernels::TearDown();
  }

  // In this database, the problem's best kernel is the one with this number.
  void save(const std::filesystem::path& file, size_t number, const std::string& generation = "1") {
    Measurement best = measurement_of(12.5);
    best.kernel = names_[number];
    best.config = to_json(*ranked_[number].config);
    best.code = {key_of_module(names_[number], generation), "", compiler_};
    best.workspace_bytes = 0;
    const auto database = Database::open(file, Access::kCreate);
    ASSERT_TRUE(database.ok()) << database.status().message();
    const Entry entry{key_of(device_->info(), problem_, {}), best, 60, 60, true, "0.2.0"};
    ASSERT_TRUE((*database)->save(entry).ok());
  }
  std::string planned() {
    const auto made = plan();
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? (*made)->description().kernel : "";
  }

  std::string pack_;

 private:
  std::string before_;
};

TEST_F(Installed, TheFirstCallIsTunedAndNeedsNoCompiler) {
  EXPECT_EQ(planned(), names_[0]) << "nothing is tuned yet";
  save(folder_.path() / "system.db", 7);
  const auto made = plan();
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ((*made)->description().kernel, names_[7]);
  EXPECT_EQ((*made)->description().pack, pack_);
  EXPECT_THAT((*made)->description().reason, HasSubstr("tuned: 12.5"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "cache"));
  ::setenv("WAVETILE_SYSTEM_PACK", "", 1);
  EXPECT_THAT(plan().status().message(), HasSubstr("NVRTC")) << "without the pack a compiler is needed";
}

TEST_F(Installed, TheUsersOwnStandsAbove) {
  save(folder_.path() / "system.db", 7);
  save(database_path(), 9);
  EXPECT_EQ(planned(), names_[9]);
  write_pack("2", {7, 9});  // which is then WAVETILE_PACK
  EXPECT_THAT(find_tuned(device_->info(), problem_, {}, CodeCheck::kKnown).note, HasSubstr("has changed since"))
      << "the pack of the user has other code than was measured";
  const Result<std::shared_ptr<const Registry>> packs = installed_packs(device_->info());
  ASSERT_TRUE(packs.ok()) << packs.status().message();
  EXPECT_EQ((*packs)->size(), names_.size());
  EXPECT_THAT((*(*packs)->find(names_[7]))->providers.front().detail, HasSubstr("2.wtpack"));
  EXPECT_THAT((*(*packs)->find(names_[8]))->providers.front().detail, HasSubstr("1.wtpack"));
}

TEST_F(Installed, AStaleEntryOfTheUsersDoesNotHideIt) {
  save(folder_.path() / "system.db", 7);
  save(database_path(), 9, "of an older source");
  const Tuned tuned = find_tuned(device_->info(), problem_, {}, CodeCheck::kKnown);
  ASSERT_TRUE(tuned.config) << tuned.note;
  EXPECT_EQ(name_of(*tuned.config), names_[7]);
}

// Nobody named it, so that it is passed over; what WAVETILE_PACK names never is.
TEST_F(Installed, ADamagedPackIsPassedOverAndANamedOneIsNot) {
  const std::string damaged = (folder_.path() / "damaged.wtpack").string();
  std::ofstream(damaged) << "nothing";
  ::setenv("WAVETILE_SYSTEM_PACK", damaged.c_str(), 1);
  EXPECT_TRUE(installed_packs(device_->info()).ok());
  EXPECT_EQ(*installed_packs(device_->info()), nullptr);
  ::setenv("WAVETILE_PACK", damaged.c_str(), 1);
  EXPECT_THAT(installed_packs(device_->info()).status().message(), HasSubstr("WAVETILE_PACK"));
  ::setenv("WAVETILE_PACK", (pack_ + ":" + pack_).c_str(), 1);
  EXPECT_FALSE(installed_packs(device_->info()).ok()) << "the same kernel in two named packs";
}

}  // namespace
}  // namespace wt::tuning
