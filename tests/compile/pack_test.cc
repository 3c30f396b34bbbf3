// SPDX-License-Identifier: Apache-2.0
#include "compile/pack.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>

#include "base/files.h"
#include "base/version.h"
#include "compile/sha256.h"
#include "compile/source_headers.h"
#include "config/fields.h"
#include "tests/compile/scratch.h"

namespace wt::compile {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

PackInput input(short tile_n, Target target = Target::kSm90a, size_t bytes = 5000) {
  KernelConfig config;
  config.target = target;
  config.gemm.tile.n = tile_n;
  Module module;
  module.backend = Backend::kNvrtc;
  module.target = target;
  module.name = name_of(config);
  module.key = sha256_hex(module.name).substr(0, 32);
  module.image = std::string(bytes, static_cast<char>(tile_n));
  module.compiler = "NVRTC 13.0";
  module.resources = {.registers = 100 + tile_n, .spill_bytes = 0, .compile_seconds = 0.1 * tile_n};
  return {config, module};
}

class PackTest : public Scratch {
 protected:
  PackTest() : file(folder / "kernels.wtpack") {}

  Result<PackInfo> write(const std::vector<PackInput>& inputs) {
    return write_pack(file, Backend::kNvrtc, Target::kSm90a, "tiny", inputs);
  }
  Result<std::shared_ptr<const Pack>> open() { return Pack::open(file, Backend::kNvrtc, Target::kSm90a); }

  // Changes the manifest and makes its checksum right again, as another version of the library would have written it.
  void rewrite_manifest(const std::string& from, const std::string& to) {
    std::string bytes = *read_file(file);
    uint64_t offset = 0, size = 0;
    std::memcpy(&offset, bytes.data() + 16, 8);
    std::memcpy(&size, bytes.data() + 24, 8);
    std::string manifest = bytes.substr(offset, size);
    const size_t at = manifest.find(from);
    ASSERT_NE(at, std::string::npos) << manifest;
    manifest.replace(at, from.size(), to);
    size = manifest.size();
    bytes.replace(offset, std::string::npos, manifest);
    std::memcpy(bytes.data() + 24, &size, 8);
    bytes.replace(32, 64, sha256_hex(manifest));
    ASSERT_TRUE(write_file(file, bytes).ok());
  }

  fs::path file;
};

TEST_F(PackTest, GivesBackWhatWasWritten) {
  const std::vector<PackInput> inputs = {input(96), input(64), input(32, Target::kSm90a, 777)};
  const Result<PackInfo> info = write(inputs);
  ASSERT_TRUE(info.ok()) << info.status().message();
  EXPECT_EQ(info->bytes, fs::file_size(file));
  const auto pack = open();
  ASSERT_TRUE(pack.ok()) << pack.status().message();
  EXPECT_EQ((*pack)->info().library_version, kVersion);
  EXPECT_EQ((*pack)->info().rule_set, "tiny");
  EXPECT_EQ((*pack)->entries().size(), 3u);
  EXPECT_TRUE((*pack)->verify().empty());
  for (const PackInput& one : inputs) {
    const PackEntry* entry = (*pack)->find(one.module.name);
    ASSERT_NE(entry, nullptr);
    EXPECT_TRUE(entry->config == one.config);
    EXPECT_EQ(entry->offset % 64, 0u);
    const Result<Module> module = (*pack)->load(*entry);
    ASSERT_TRUE(module.ok()) << module.status().message();
    EXPECT_EQ(module->image, one.module.image);
    EXPECT_EQ(module->key, one.module.key);
    EXPECT_EQ(module->target, Target::kSm90a);
    EXPECT_EQ(module->resources.registers, one.module.resources.registers);
  }
  EXPECT_EQ((*pack)->find("absent"), nullptr);
}

TEST_F(PackTest, TheOrderOfTheModulesAndTheirCompileTimesMakeNoDifference) {
  std::vector<PackInput> inputs = {input(96), input(64)};
  ASSERT_TRUE(write(inputs).ok());
  const std::string first = *read_file(file);
  std::swap(inputs[0], inputs[1]);
  inputs[0].module.resources.compile_seconds = 7;
  ASSERT_TRUE(write(inputs).ok());
  EXPECT_EQ(*read_file(file), first);
}

TEST_F(PackTest, RefusesModulesThatDoNotBelongTogether) {
  EXPECT_THAT(write({}).status().message(), HasSubstr("at least one kernel"));
  EXPECT_THAT(write({input(64), input(64)}).status().message(), HasSubstr("was given twice"));
  EXPECT_THAT(write({input(64, Target::kSm80)}).status().message(), HasSubstr("is for sm_80, and the pack for sm_90a"));
  PackInput misnamed = input(64);
  misnamed.module.name = "something_else";
  EXPECT_THAT(write({misnamed}).status().message(), HasSubstr("something_else was given with the config of"));
  set("WAVETILE_SOURCE_DIR", folder.string());
  EXPECT_THAT(write({input(64)}).status().message(), HasSubstr("unset it to build a pack"));
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(PackTest, AnotherTargetIsRefusedWithBothNamed) {
  ASSERT_TRUE(write({input(64)}).ok());
  const auto other = Pack::open(file, Backend::kNvrtc, Target::kSm80);
  EXPECT_EQ(other.status().code(), Code::kUnsupported);
  EXPECT_THAT(other.status().message(), HasSubstr("holds kernels for sm_90a and the device needs sm_80"));
  const auto simulated = Pack::open(file, Backend::kHost, Target::kSm90a);
  EXPECT_THAT(simulated.status().message(), HasSubstr("holds kernels for sm_90a and the device needs sim:sm_90a"));
}

TEST_F(PackTest, AnotherVersionIsRefusedWithBothNamedButCanBeListed) {
  ASSERT_TRUE(write({input(64)}).ok());
  rewrite_manifest(std::string(kVersion), "9.8.7");
  const auto pack = open();
  EXPECT_EQ(pack.status().code(), Code::kUnsupported);
  EXPECT_THAT(pack.status().message(), HasSubstr("built by wavetile 9.8.7 and this is " + std::string(kVersion)));
  const auto listed = Pack::read(file);
  ASSERT_TRUE(listed.ok()) << listed.status().message();
  EXPECT_EQ((*listed)->entries().size(), 1u);
}

TEST_F(PackTest, OtherHeadersAreRefused) {
  ASSERT_TRUE(write({input(64)}).ok());
  rewrite_manifest(embedded_headers_hash(), std::string(64, '0'));
  EXPECT_THAT(open().status().message(), HasSubstr("with other kernels (headers 000000000000)"));
}

TEST_F(PackTest, DamageIsFoundWhereverItIs) {
  ASSERT_TRUE(write({input(64, Target::kSm90a, 500), input(96, Target::kSm90a, 500)}).ok());
  const std::string good = *read_file(file);
  size_t silent = 0;
  for (size_t at = 0; at < good.size(); at += at < 96 ? 1 : 5) {  // every byte of the header
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bad;
    const auto pack = open();
    if (pack.ok() && (*pack)->verify().empty()) ++silent;
  }
  // Bytes that mean nothing: the reserved word and what fills up to the next image.
  EXPECT_LE(silent, 4u + 2 * 63 / 5 + 2);
  for (size_t size = 0; size < good.size(); size += 97) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << good.substr(0, size);
    EXPECT_FALSE(open().ok()) << size;
  }
}

TEST_F(PackTest, ADamagedImageIsNamedAndNotLoaded) {
  const PackInput one = input(64);
  ASSERT_TRUE(write({one, input(96)}).ok());
  const uint64_t offset = (*open())->find(one.module.name)->offset;
  std::string bytes = *read_file(file);
  bytes[offset + 10] = 'x';
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  const auto pack = open();
  ASSERT_TRUE(pack.ok());
  const auto faults = (*pack)->verify();
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].first, one.module.name);
  const Result<Module> module = (*pack)->load(*(*pack)->find(one.module.name));
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.status().message(), HasSubstr("the checksum of kernel " + one.module.name + " is wrong"));
}

TEST_F(PackTest, NestedManifestsAreRefused) {
  std::string deep(300'000, '[');
  deep.append(300'000, ']');
  for (const char* field : {"rule_set", "config", "resources", "key"}) {
    ASSERT_TRUE(write({input(64)}).ok());
    rewrite_manifest(fmt::format("\"{}\":", field), fmt::format("\"{}\":{},\"unused\":", field, deep));
    EXPECT_THAT(Pack::read(file).status().message(), HasSubstr("nested deeper than 64 levels")) << field;
  }
}

TEST_F(PackTest, SizesThatAreNoneAreRefused) {
  for (const char* size : {"-1", "1e300", "18446744073709551615", "0.5", "\"5\""}) {
    ASSERT_TRUE(write({input(64)}).ok());
    rewrite_manifest("\"bytes\":5000", fmt::format("\"bytes\":{}", size));
    EXPECT_THAT(Pack::read(file).status().message(), HasSubstr("bytes is not a whole number from 0")) << size;
  }
}

TEST_F(PackTest, OneThatOthersCanWriteIsListedButNotOpened) {
  ASSERT_TRUE(write({input(64)}).ok());
  ASSERT_TRUE(open().ok());
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(open().status().message(), HasSubstr("can be written by other users"));
  EXPECT_TRUE(Pack::read(file).ok());
}

// What is loaded is what was checked: neither another file under the same name nor a change in the open one gets by.
TEST_F(PackTest, ChangesAfterOpeningAreSeen) {
  const PackInput one = input(64);
  ASSERT_TRUE(write({one}).ok());
  const auto pack = open();
  ASSERT_TRUE(pack.ok());
  const PackEntry& entry = (*pack)->entries()[0];
  {
    std::fstream change(file, std::ios::in | std::ios::out | std::ios::binary);
    change.seekp(static_cast<std::streamoff>(entry.offset));
    change << "planted";
  }
  EXPECT_THAT((*pack)->load(entry).status().message(), HasSubstr("the checksum of kernel"));
  fs::resize_file(file, entry.offset + 10);
  EXPECT_THAT((*pack)->load(entry).status().message(), HasSubstr("became shorter"));
  EXPECT_EQ((*pack)->verify().size(), 1u);
  ASSERT_TRUE(write({input(96)}).ok());  // another file takes the name
  EXPECT_FALSE((*pack)->load(entry).ok());
}

TEST_F(PackTest, OtherFilesAreRefused) {
  EXPECT_THAT(open().status().message(), HasSubstr("pack: cannot open"));
  std::ofstream(file) << "short";
  EXPECT_THAT(open().status().message(), HasSubstr("it has only 5 bytes"));
  std::ofstream(file) << std::string(1000, 'z');
  EXPECT_THAT(open().status().message(), HasSubstr("does not begin as a pack does"));
}

}  // namespace
}  // namespace wt::compile
