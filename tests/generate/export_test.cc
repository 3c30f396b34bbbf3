// SPDX-License-Identifier: Apache-2.0
#include "generate/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "config/fields.h"
#include "rules/rules.h"
#include "tests/generate/export_fixture.h"

namespace wt {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Export : public ExportFixture {};

TEST_F(Export, WritesEveryPart) {
  const ExportRequest request = tiny_request();
  const auto report = export_kernels(request);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->failures.empty());
  EXPECT_EQ(report->kernels, static_cast<int>(request.kernels.size()));
  EXPECT_EQ(report->unchanged, 0);
  for (const KernelConfig& config : request.kernels) {
    const std::string name = name_of(config);
    EXPECT_THAT(text(fmt::format("kernels/{}.h", name)), HasSubstr("WT_KERNEL(" + name));
    EXPECT_THAT(text(fmt::format("kernels/{}.cc", name)), HasSubstr("#include \"kernels/" + name + ".h\""));
    EXPECT_THAT(text(fmt::format("wrappers/{}.h", name)), HasSubstr("extern const Kernel " + name + ";"));
    const std::string all = fmt::format("include_all_{}.h", text_of(config.direction));
    EXPECT_THAT(text(all), HasSubstr("kernels/" + name + ".h"));
    EXPECT_THAT(text("register_kernels.h"), HasSubstr("  add(" + name + ");"));
    EXPECT_THAT(text("CMakeLists.txt"), HasSubstr("  " + name + "\n"));
  }
  EXPECT_TRUE(fs::exists(folder() / "device/kernels/basic/device/kernel.h"));
}

TEST_F(Export, ManifestDescribesTheTree) {
  const ExportRequest request = tiny_request();
  ASSERT_TRUE(export_kernels(request).ok());
  const nlohmann::json manifest = nlohmann::json::parse(text("manifest.json"));
  EXPECT_EQ(manifest["target"], "sim:sm_80");
  EXPECT_EQ(manifest["rule_set"], "tiny");
  EXPECT_EQ(manifest["kernels_total"], request.kernels.size());
  EXPECT_EQ(manifest["counts"]["fwd"].get<int>() + manifest["counts"]["bwd_data"].get<int>() +
                manifest["counts"]["bwd_weight"].get<int>(),
            static_cast<int>(request.kernels.size()));
  for (size_t i = 0; i < request.kernels.size(); ++i) {
    const auto config = config_from_json(manifest["kernels"][i]["config"].dump());
    ASSERT_TRUE(config.ok());
    EXPECT_EQ(*config, request.kernels[i]);
  }
  std::set<std::string> listed;
  for (const auto& file : manifest["files"]) listed.insert(file.get<std::string>());
  for (const auto& entry : fs::recursive_directory_iterator(folder()))
    if (entry.is_regular_file() && entry.path().filename() != "manifest.json") {
      EXPECT_TRUE(listed.contains(fs::relative(entry.path(), folder()).string())) << entry.path();
    }
}

TEST_F(Export, SecondExportTouchesNothing) {
  const ExportRequest request = tiny_request();
  const auto first = export_kernels(request);
  ASSERT_TRUE(first.ok());
  const fs::file_time_type old = fs::file_time_type::clock::now() - std::chrono::hours(5);
  for (const auto& entry : fs::recursive_directory_iterator(folder()))
    if (entry.is_regular_file()) fs::last_write_time(entry.path(), old);
  const auto second = export_kernels(request);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->written, 0);
  EXPECT_EQ(second->unchanged, first->written);
  for (const auto& entry : fs::recursive_directory_iterator(folder()))
    if (entry.is_regular_file()) {
      EXPECT_EQ(fs::last_write_time(entry.path()), old) << entry.path();
    }
}

TEST_F(Export, ChangedListWritesAndRemovesOnlyWhatDiffers) {
  ExportRequest request = tiny_request();
  ASSERT_TRUE(export_kernels(request).ok());
  const std::string dropped = name_of(request.kernels.back());
  std::ofstream(folder() / "notes.txt") << "the user's own";
  request.kernels.pop_back();
  const auto report = export_kernels(request);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->removed, 4);  // source, wrapper, row and launcher
  EXPECT_FALSE(fs::exists(folder() / "kernels" / (dropped + ".cc")));
  EXPECT_TRUE(fs::exists(folder() / "notes.txt"));
  EXPECT_THAT(text("register_kernels.h"), testing::Not(HasSubstr(dropped)));
  // The manifest, the registration, the build file, the list of launchers and one direction's list.
  EXPECT_LE(report->written, 5);
}

TEST_F(Export, AManifestThatPointsOutsideRemovesNothing) {
  ASSERT_TRUE(write_file(folder() / "manifest.json", R"({"wavetile":"0","files":["../outside.txt","/tmp/x"]})").ok());
  ASSERT_TRUE(write_file(folder().parent_path() / "outside.txt", "keep").ok());
  const auto report = export_kernels(tiny_request());
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->removed, 0);
  EXPECT_TRUE(fs::exists(folder().parent_path() / "outside.txt"));
}

TEST_F(Export, FailuresAreListedAndTheRestGoesOn) {
  ExportRequest request = tiny_request();
  KernelConfig missing = request.kernels.front();
  missing.kind = Kind::kTma;
  KernelConfig foreign = request.kernels.front();
  foreign.target = Target::kGfx942;
  const size_t good = request.kernels.size();
  request.kernels.push_back(missing);
  request.kernels.push_back(foreign);
  request.kernels.push_back(request.kernels.front());
  const auto report = export_kernels(request);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->kernels, static_cast<int>(good));
  ASSERT_EQ(report->failures.size(), 3u);
  EXPECT_EQ(report->failures[0].first, name_of(missing));
  EXPECT_THAT(report->failures[0].second, HasSubstr("kernel-exists: kind=tma"));
  EXPECT_THAT(report->failures[1].second, HasSubstr("the kernel is for gfx942, the tree for sim:sm_80"));
  EXPECT_THAT(report->failures[2].second, HasSubstr("twice"));
  EXPECT_THAT(text("register_kernels.h"), testing::Not(HasSubstr("_tma_")));
}

TEST_F(Export, ProgressCountsEveryKernel) {
  ExportRequest request = tiny_request();
  std::vector<int> seen;
  request.progress = [&](int done, int total, const std::string& name) {
    seen.push_back(done);
    EXPECT_EQ(total, static_cast<int>(request.kernels.size()));
    EXPECT_TRUE(name.starts_with("wt_"));
  };
  ASSERT_TRUE(export_kernels(request).ok());
  ASSERT_EQ(seen.size(), request.kernels.size());
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<int>(i) + 1);
}

TEST_F(Export, RefusesAnEmptyListAndAFolderItCannotMake) {
  ExportRequest request = tiny_request();
  request.kernels.clear();
  EXPECT_THAT(export_kernels(request).status().message(), HasSubstr("there is no kernel to export"));
  request = tiny_request();
  ASSERT_TRUE(write_file(folder() / "file", "x").ok());
  request.folder = folder() / "file" / "below";
  const auto report = export_kernels(request);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), Code::kIo);
  EXPECT_THAT(report.status().message(), HasSubstr("cannot make the folder"));
}

}  // namespace
}  // namespace wt
