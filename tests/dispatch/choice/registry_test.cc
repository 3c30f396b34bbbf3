// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/registry.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/version.h"
#include "compile/sha256.h"
#include "compile/source_headers.h"
#include "config/fields.h"
#include "config/signature.h"
#include "generate/source.h"
#include "rules/rules.h"

namespace wt {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

constexpr Target kTarget = Target::kSm90a;

ConvProblem problem(const char* text = "fwd bf16 n2 c64 k64 i16x16 f3x3 p1") { return *parse_problem(text); }

KernelConfig config(short tile_n, const char* text = "fwd bf16 n2 c64 k64 i16x16 f3x3 p1") {
  KernelConfig value = config_for(problem(text), kTarget);
  value.gemm.tile.n = tile_n;
  return value;
}

class RegistryTest : public ::testing::Test {
 protected:
  RegistryTest() {
    std::string name = (fs::temp_directory_path() / "wavetile-test-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~RegistryTest() override {
    std::error_code error;
    fs::remove_all(folder, error);
  }

  std::shared_ptr<const compile::Pack> pack_of(const std::vector<KernelConfig>& configs, const char* file = "a.wtpack",
                                               Target target = kTarget) {
    std::vector<compile::PackInput> inputs;
    for (const KernelConfig& one : configs) {
      compile::Module module;
      module.backend = compile::Backend::kNvrtc;
      module.target = target;
      module.name = name_of(one);
      module.image = "image of " + module.name;
      module.resources.registers = 128;
      inputs.push_back({one, module});
    }
    const auto written = compile::write_pack(folder / file, compile::Backend::kNvrtc, target, "test", inputs);
    EXPECT_TRUE(written.ok()) << written.status().message();
    return *compile::Pack::read(folder / file);
  }

  std::vector<std::string> names(const Registry& from, const ConvProblem& of = problem()) {
    std::vector<std::string> list;
    const auto found = from.query(of);
    EXPECT_TRUE(found.ok()) << found.status().message();
    if (found.ok()) {
      for (const RegisteredKernel* kernel : *found) list.push_back(kernel->name);
    }
    return list;
  }

  fs::path folder;
  Registry registry{compile::Backend::kNvrtc, kTarget};
};

TEST_F(RegistryTest, AnEmptyCatalogueIsAnError) {
  EXPECT_EQ(registry.query(problem()).status().code(), Code::kUnsupported);
  EXPECT_THAT(registry.query(problem()).status().message(), HasSubstr("the catalogue for sm_90a is empty"));
  EXPECT_THAT(registry.find("x").status().message(), HasSubstr("is empty"));
}

TEST_F(RegistryTest, TheWholeSignatureMustMatch) {
  const char* const others[] = {"bwd_data bf16 n2 c64 k64 i16x16 f3x3 p1", "fwd fp16 n2 c64 k64 i16x16 f3x3 p1",
                                "fwd bf16 n2 c64 k64 i16x16x16 f3x3x3 p1", "fwd bf16 n2 c64 k64 i16x16 f3x3 p1 +bias",
                                "fwd bf16 n2 c64 k64 i16x16 f3x3 p1 +relu"};
  ASSERT_TRUE(registry.add_generated(std::vector{config(64)}, "test").ok());
  EXPECT_EQ(names(registry).size(), 1u);
  for (const char* other : others) {
    const auto found = registry.query(problem(other));
    ASSERT_FALSE(found.ok()) << other;
    EXPECT_EQ(found.status().code(), Code::kUnsupported);
    EXPECT_THAT(found.status().message(), HasSubstr("none of the 1 kernels for sm_90a has the signature of"));
    EXPECT_THAT(found.status().message(), HasSubstr("the nearest is " + name_of(config(64))));
  }
  EXPECT_FALSE(registry.query(problem(), 77).ok()) << "a user's epilogue is part of the signature";
}

TEST_F(RegistryTest, OrderIsByPriorityThenConfigWhateverTheOrderOfAdding) {
  const auto add = [](Registry& to, short tile_n, Priority priority) {
    EXPECT_TRUE(to.add_generated(std::vector{config(tile_n)}, "test", priority).ok());
  };
  add(registry, 32, Priority::kLow);
  add(registry, 128, Priority::kNormal);
  add(registry, 64, Priority::kNormal);
  add(registry, 256, Priority::kHigh);
  Registry reversed(compile::Backend::kNvrtc, kTarget);
  add(reversed, 256, Priority::kHigh);
  add(reversed, 64, Priority::kNormal);
  add(reversed, 128, Priority::kNormal);
  add(reversed, 32, Priority::kLow);
  const std::vector<std::string> expected = {name_of(config(256)), name_of(config(64)), name_of(config(128)),
                                             name_of(config(32))};
  EXPECT_EQ(names(registry), expected);
  EXPECT_EQ(names(reversed), expected);
  EXPECT_EQ(registry.to_json(), reversed.to_json());
}

TEST_F(RegistryTest, ADuplicateIsAnErrorThatNamesBothAndAddsNothing) {
  ASSERT_TRUE(registry.add_pack(pack_of({config(64)}, "a.wtpack")).ok());
  const Status status = registry.add_pack(pack_of({config(32), config(64)}, "b.wtpack"));
  EXPECT_EQ(status.code(), Code::kBadInput);
  EXPECT_THAT(status.message(), HasSubstr("kernel " + name_of(config(64)) + " was registered twice as pack"));
  EXPECT_THAT(status.message(), HasSubstr("a.wtpack and by"));
  EXPECT_THAT(status.message(), HasSubstr("b.wtpack"));
  EXPECT_EQ(registry.size(), 1u);
  EXPECT_FALSE(registry.add_generated(std::vector{config(96), config(96)}, "test").ok());
  EXPECT_EQ(registry.size(), 1u);
}

TEST_F(RegistryTest, OneKernelMayComeFromSeveralOriginsAndThePackIsPreferred) {
  ASSERT_TRUE(registry.add_generated(std::vector{config(64), config(128)}, "default", Priority::kLow).ok());
  ASSERT_TRUE(registry.add_pack(pack_of({config(64)}), Priority::kHigh).ok());
  EXPECT_EQ(registry.size(), 2u);
  const auto kernel = registry.find(name_of(config(64)));
  ASSERT_TRUE(kernel.ok());
  ASSERT_EQ((*kernel)->providers.size(), 2u);
  EXPECT_EQ((*kernel)->providers[0].origin, Origin::kPack);
  EXPECT_EQ((*kernel)->providers[1].origin, Origin::kGenerated);
  EXPECT_EQ((*kernel)->priority, Priority::kHigh);
  const auto module = registry.module(**kernel);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(module->image, "image of " + name_of(config(64)));
}

TEST_F(RegistryTest, AKernelOfAnotherTargetIsRefused) {
  KernelConfig other = config(64);
  other.target = Target::kSm80;
  EXPECT_THAT(registry.add_generated(std::vector{other}, "test").message(),
              HasSubstr("is for sm_80 and the catalogue for sm_90a"));
  EXPECT_THAT(registry.add_pack(pack_of({other}, "c.wtpack", Target::kSm80)).message(),
              HasSubstr("holds kernels for sm_80 and the device needs sm_90a"));
}

TEST_F(RegistryTest, ExportedKernelsAreCheckedAndAnswerTheSameQuery) {
  const KernelConfig exported = config(64);
  const std::string name = name_of(exported), json = to_json(exported), version(kVersion);
  wavetile_exported::Kernel kernel{};
  kernel.format = wavetile_exported::kFormat;
  kernel.name = name.c_str();
  kernel.version = version.c_str();
  kernel.target = "sm_90a";
  kernel.config = json.c_str();
  const wavetile_exported::Kernel* list[] = {&kernel};
  ASSERT_TRUE(registry.add_exported(list).ok());
  ASSERT_EQ(names(registry), std::vector{name});
  const RegisteredKernel& found = **registry.find(name);
  EXPECT_EQ(found.providers[0].exported, &kernel);
  EXPECT_THAT(registry.module(found).status().message(), HasSubstr("comes from an exported tree alone"));
  EXPECT_THAT(registry.add_exported(list).message(), HasSubstr("registered twice as exported"));

  Registry fresh(compile::Backend::kNvrtc, kTarget);
  kernel.version = "0.0.1";
  EXPECT_THAT(fresh.add_exported(list).message(), HasSubstr("exported by wavetile 0.0.1 and this is " + version));
  kernel.version = version.c_str();
  kernel.simulated = true;
  EXPECT_THAT(fresh.add_exported(list).message(),
              HasSubstr("compiled for the simulator and the catalogue is for sm_90a"));
  kernel.simulated = false;
  kernel.format = 99;
  EXPECT_THAT(fresh.add_exported(list).message(), HasSubstr("format 99"));
  kernel.format = wavetile_exported::kFormat;
  kernel.name = "another";
  EXPECT_THAT(fresh.add_exported(list).message(), HasSubstr("another has the config of " + name));
}

TEST_F(RegistryTest, JsonHoldsEveryKernel) {
  ASSERT_TRUE(registry.add_generated(std::vector{config(64), config(128)}, "default").ok());
  ASSERT_TRUE(registry.add_pack(pack_of({config(64)})).ok());
  const auto json = nlohmann::json::parse(registry.to_json());
  EXPECT_EQ(json.at("target"), "sm_90a");
  EXPECT_EQ(json.at("kernels_total"), 2);
  for (const auto& kernel : json.at("kernels")) {
    const auto back = config_from_json(kernel.at("config").dump());
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(name_of(*back), kernel.at("name"));
    EXPECT_EQ(kernel.at("priority"), "normal");
  }
}

TEST_F(RegistryTest, ARuleSetFillsIt) {
  const RuleResult rules = list_kernels({.target = kTarget, .rule_set = RuleSet::kTiny});
  ASSERT_FALSE(rules.kernels.empty());
  ASSERT_TRUE(registry.add_generated(rules.kernels, "tiny").ok());
  EXPECT_EQ(registry.size(), rules.kernels.size());
}

// A kernel's key is made of its source and headers (compiler_test.cc), so neither may hold the version: a new version
// with the same kernels finds them in the cache.
TEST(KernelSource, DoesNotHoldTheVersion) {
  const std::string version(kVersion);
  for (const Target target : {Target::kSm80, Target::kSm90a, Target::kGfx942}) {
    for (const KernelConfig& kernel : list_kernels({.target = target, .rule_set = RuleSet::kTiny}).kernels) {
      const auto text = generate_source(kernel);
      ASSERT_TRUE(text.ok()) << text.status().message();
      EXPECT_THAT(*text, Not(HasSubstr(version)));
      const auto set = compile::headers_for(*text);
      ASSERT_TRUE(set.ok()) << set.status().message();
      ASSERT_FALSE(set->headers.empty());
      for (const compile::Header& header : set->headers) {
        EXPECT_THAT(header.name, Not(HasSubstr("version.h")));
        EXPECT_THAT(header.text, Not(HasSubstr("WAVETILE_VERSION"))) << header.name;
        EXPECT_THAT(header.text, Not(HasSubstr("\"" + version + "\""))) << header.name;
      }
    }
  }
}

TEST(Priority, Parses) {
  EXPECT_EQ(*parse_priority("high"), Priority::kHigh);
  EXPECT_THAT(parse_priority("urgent").status().message(), HasSubstr("use low, normal or high"));
}

}  // namespace
}  // namespace wt
