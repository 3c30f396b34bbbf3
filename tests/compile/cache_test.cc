// SPDX-License-Identifier: Apache-2.0
#include "compile/cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "base/files.h"
#include "compile/host_compiler.h"
#include "compile/module_file.h"
#include "compile/sha256.h"
#include "compile/toolchain.h"
#include "tests/compile/scratch.h"

namespace wt::compile {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class CacheTest : public Scratch {
 protected:
  Cache cache(uint64_t limit = 1 << 30) { return Cache(folder / "own", limit); }
};

// The least that is an ELF file: a header and one empty section.
std::string elf_image() {
  std::string image(128, '\0');
  image.replace(0, 5,
                "\x7f"
                "ELF\x02");
  image[0x28] = 64;  // where the sections are
  image[0x3a] = 64;  // bytes of each
  image[0x3c] = 1;   // how many
  return image;
}

Module module_of(int number, size_t bytes = 1000) {
  Module module;
  module.backend = Backend::kNvrtc;
  module.target = Target::kSm90a;
  module.name = "kernel_" + std::to_string(number);
  module.key = sha256_hex(module.name).substr(0, 32);
  module.image = elf_image() + std::string(bytes, static_cast<char>('a' + number % 26));
  module.compiler = "NVRTC 13.0";
  module.resources = {.registers = 168, .spill_bytes = 0, .static_shared_bytes = 1024, .compile_seconds = 0.25};
  module.log = "a log with a \"quote\"\nand \xff, which is not UTF-8\n";
  return module;
}

void set_age(const fs::path& path, int seconds) {
  timespec times[2]{};
  times[0].tv_sec = times[1].tv_sec = ::time(nullptr) - seconds;
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

void flip_byte(const fs::path& path, std::streamoff at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const char old = static_cast<char>(file.get());
  file.seekp(at);
  file.put(static_cast<char>(old ^ 1));
}

TEST_F(CacheTest, GivesBackWhatWasStored) {
  Module stored = module_of(1);
  ASSERT_TRUE(cache().store(stored).ok());
  const std::optional<Module> found = cache().find(Backend::kNvrtc, stored.key);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->from_cache);
  EXPECT_EQ(found->path, stored.path);
  EXPECT_EQ(found->image, stored.image);
  EXPECT_EQ(found->name, stored.name);
  EXPECT_EQ(found->target, stored.target);
  EXPECT_EQ(found->compiler, stored.compiler);
  EXPECT_EQ(found->resources, stored.resources);
  EXPECT_THAT(found->log, HasSubstr("a log with a \"quote\""));
  EXPECT_FALSE(cache().find(Backend::kNvrtc, module_of(2).key));
  EXPECT_FALSE(cache().find(Backend::kHost, stored.key));
}

TEST_F(CacheTest, DamageAnywhereIsSeen) {
  Module stored = module_of(1, 100);
  ASSERT_TRUE(cache().store(stored).ok());
  const std::string good = *read_file(stored.path);
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    const bool reserved = at >= good.size() - 12 && at < good.size() - 8;
    EXPECT_EQ(decode_module(bad).ok(), reserved) << "byte " << at << " of " << good.size();
  }
  for (size_t size = 0; size < good.size(); size += 7) EXPECT_FALSE(decode_module(good.substr(0, size)).ok()) << size;
}

TEST_F(CacheTest, ADamagedEntryIsRemovedAndCompiledAgain) {
  const Source source = host_source("rebuilt", 5);
  const Result<Module> first = compile(Backend::kHost, source);
  ASSERT_TRUE(first.ok()) << first.status().message();
  flip_byte(first->path, 200);
  ::testing::internal::CaptureStderr();
  const Result<Module> second = compile(Backend::kHost, source);
  const std::string log = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_FALSE(second->from_cache);
  EXPECT_THAT(log, HasSubstr("is damaged (its checksum is wrong); the kernel is compiled again"));
  EXPECT_THAT(log, HasSubstr(first->path));
  const Result<Module> third = compile(Backend::kHost, source);
  ASSERT_TRUE(third.ok());
  EXPECT_TRUE(third->from_cache);
}

// The checksum is right, but no device can load what it is of.
TEST_F(CacheTest, AnEntryThatCannotBeLoadedIsCompiledAgain) {
  const Source source = host_source("unloadable", 6);
  Result<Module> first = compile(Backend::kHost, source);
  ASSERT_TRUE(first.ok()) << first.status().message();
  first->image.resize(first->image.size() / 2);
  const Result<Cache> kept = Cache::open();
  ASSERT_TRUE(kept.ok());
  ASSERT_TRUE(kept->store(*first).ok());
  const auto verdict = kept->verify();
  ASSERT_EQ(verdict->bad.size(), 1u);
  EXPECT_THAT(verdict->bad[0].second, HasSubstr("ELF"));

  ::testing::internal::CaptureStderr();
  Module module;
  const Result<DynamicLibrary> library = compile_and_load(Backend::kHost, source, module, open_host_module);
  const std::string log = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(library.ok()) << library.status().message();
  EXPECT_FALSE(module.from_cache);
  EXPECT_EQ(reinterpret_cast<int (*)()>(library->find("unloadable"))(), 6);
  EXPECT_THAT(log, HasSubstr("cannot be loaded"));
  EXPECT_TRUE(kept->verify()->bad.empty());
}

TEST_F(CacheTest, WhatIsLoadedIsWhatWasChecked) {
  const Source source = host_source("checked", 7);
  const Result<Module> module = compile(Backend::kHost, source);
  ASSERT_TRUE(module.ok()) << module.status().message();
  const Result<Module> planted = compile(Backend::kHost, host_source("planted", 8));
  ASSERT_TRUE(planted.ok());
  fs::copy_file(planted->path, module->path, fs::copy_options::overwrite_existing);
  const Result<DynamicLibrary> library = open_host_module(*module);
  ASSERT_TRUE(library.ok()) << library.status().message();
  EXPECT_EQ(library->find("planted"), nullptr);
  ASSERT_NE(library->find("checked"), nullptr);
}

TEST_F(CacheTest, HeadersAreCheckedByContent) {
  const Source source{"with_header",
                      "#include \"problem/enums.h\"\nextern \"C\" __attribute__((visibility(\"default\"))) int "
                      "with_header() { return 0; }\n",
                      Target::kSm90a};
  ASSERT_TRUE(compile(Backend::kHost, source).ok());
  const Result<Cache> kept = Cache::open();
  const fs::path set = fs::directory_iterator(kept->headers_folder())->path();
  const fs::path header = set / "problem/enums.h";
  const std::string good = *read_file(header);
  EXPECT_EQ(kept->verify()->good, 2u) << "a module and a set of headers";

  flip_byte(header,
            static_cast<std::streamoff>(good.find("enum class")));  // of the same size, and refused by compilers
  const auto verdict = kept->verify();
  ASSERT_EQ(verdict->bad.size(), 1u);
  EXPECT_EQ(verdict->bad[0].first.path, set);
  EXPECT_THAT(verdict->bad[0].second, HasSubstr("not those of its name"));
  Source other = source;
  other.text += "// another kernel\n";
  const Result<Module> again = compile(Backend::kHost, other);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(*read_file(header), good);
  EXPECT_TRUE(kept->verify()->bad.empty());

  fs::remove(header);
  ASSERT_EQ(kept->verify()->bad.size(), 1u);
  ASSERT_TRUE(kept->remove(kept->verify()->bad[0].first).ok());
  EXPECT_FALSE(fs::exists(set));
}

// A set of headers appears whole or not at all: a disk that is full in the middle leaves no part of one.
TEST_F(CacheTest, HeadersThatCannotBeWrittenLeaveNoSet) {
  const Source source{"with_headers",
                      "#include \"target/target.h\"\n#include \"problem/enums.h\"\nextern \"C\" "
                      "__attribute__((visibility(\"default\"))) int with_headers() { return 0; }\n",
                      Target::kSm90a};
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // The header is longer than a file may be now; the source and the module are not.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{2000, 2000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    (void)unpack_headers(*headers_for(source.text), (folder / "fallback").string());
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const Result<Cache> kept = Cache::open();
  EXPECT_TRUE(kept->verify()->bad.empty());
  EXPECT_TRUE(!fs::exists(kept->headers_folder()) || fs::is_empty(kept->headers_folder()));
}

TEST_F(CacheTest, IsForItsOwnerAlone) {
  const mode_t mask = ::umask(0);
  const Result<Module> module = compile(Backend::kHost, host_source("own", 1));
  ::umask(mask);
  ASSERT_TRUE(module.ok());
  for (const auto& item : fs::recursive_directory_iterator(folder / "cache")) {
    if (item.path().filename() == "usage") continue;  // a number, which is not believed to be more
    EXPECT_EQ(item.status().permissions() & fs::perms(077), fs::perms::none) << item.path();
  }
}

TEST_F(CacheTest, OneThatOthersCanWriteIsNotUsed) {
  const Source source = host_source("shared", 1);
  const Result<Module> module = compile(Backend::kHost, source);
  ASSERT_TRUE(module.ok());
  fs::permissions(module->path, fs::perms::group_write, fs::perm_options::add);
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(compile(Backend::kHost, source)->from_cache);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("can be written by other users"));
  EXPECT_TRUE(compile(Backend::kHost, source)->from_cache);
  for (const fs::path& open : {folder / "cache", folder / "cache" / "modules", folder / "cache" / "headers"}) {
    fs::create_directories(open);
    fs::permissions(open, fs::perms::others_write, fs::perm_options::add);
    EXPECT_THAT(Cache::open().status().message(), HasSubstr(open.string() + " can be written by other users"));
    EXPECT_FALSE(compile(Backend::kHost, source)->from_cache);
    fs::permissions(open, fs::perms::others_write, fs::perm_options::remove);
  }
  EXPECT_TRUE(compile(Backend::kHost, source)->from_cache);
}

TEST_F(CacheTest, AnEntryUnderAnotherNameIsNotBelieved) {
  Module stored = module_of(1);
  ASSERT_TRUE(cache().store(stored).ok());
  const std::string other = module_of(2).key;
  fs::rename(stored.path, cache().path_of(Backend::kNvrtc, other));
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(cache().find(Backend::kNvrtc, other));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("it is entry " + stored.key));
}

TEST_F(CacheTest, DropsWhatWasNotUsedForLongest) {
  const size_t entry = encode_module(module_of(0, 100'000)).size();
  const Cache small(folder / "own", 4 * entry + entry / 2);
  std::vector<Module> modules;
  for (int i = 0; i < 4; ++i) {
    modules.push_back(module_of(i, 100'000));
    ASSERT_TRUE(small.store(modules[i]).ok());
    set_age(modules[i].path, 1000 - 100 * i);
  }
  ASSERT_TRUE(small.find(Backend::kNvrtc, modules[0].key));  // now the last used
  Module fifth = module_of(4, 100'000);
  ASSERT_TRUE(small.store(fifth).ok());
  EXPECT_TRUE(fs::exists(modules[0].path));
  EXPECT_FALSE(fs::exists(modules[1].path));
  EXPECT_TRUE(fs::exists(modules[2].path));
  EXPECT_TRUE(fs::exists(modules[3].path));
  EXPECT_TRUE(fs::exists(fifth.path));
}

TEST_F(CacheTest, KeepsAModuleLargerThanTheLimitUntilTheNext) {
  const Cache small(folder / "own", 10'000);
  Module large = module_of(1, 50'000), next = module_of(2, 100);
  ASSERT_TRUE(small.store(large).ok());
  EXPECT_TRUE(fs::exists(large.path));
  ASSERT_TRUE(small.store(next).ok());
  EXPECT_FALSE(fs::exists(large.path));
  EXPECT_TRUE(fs::exists(next.path));
}

TEST_F(CacheTest, EvictionClearsLeftoversOfDeadWriters) {
  const Cache small(folder / "own", 10'000);
  Module large = module_of(1, 50'000), next = module_of(2, 100);
  ASSERT_TRUE(small.store(large).ok());
  const fs::path dead = large.path + ".unfinished-1-0", alive = large.path + ".unfinished-1-1";
  std::ofstream(dead) << "half";
  std::ofstream(alive) << "half";
  set_age(dead, 10'000);
  const auto verdict = small.verify();
  ASSERT_EQ(verdict->bad.size(), 1u);
  EXPECT_EQ(verdict->bad[0].first.path, dead);
  ASSERT_TRUE(small.store(next).ok());
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(alive));
}

TEST_F(CacheTest, ListsVerifiesAndClears) {
  EXPECT_TRUE(cache().list()->empty());  // a folder that does not exist yet
  std::vector<Module> modules;
  for (int i = 0; i < 3; ++i) {
    modules.push_back(module_of(i));
    ASSERT_TRUE(cache().store(modules[i]).ok());
    set_age(modules[i].path, 100 * (i + 1));
  }
  std::ofstream(folder / "own" / "modules" / "README.txt") << "not an entry";
  const auto entries = cache().list();
  ASSERT_TRUE(entries.ok());
  ASSERT_EQ(entries->size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ((*entries)[i].key, modules[i].key);
  EXPECT_EQ((*entries)[0].bytes, fs::file_size(modules[0].path));

  flip_byte(modules[1].path, 10);
  const auto verdict = cache().verify();
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->good, 2u);
  ASSERT_EQ(verdict->bad.size(), 1u);
  EXPECT_EQ(verdict->bad[0].first.key, modules[1].key);
  EXPECT_EQ(verdict->bad[0].second, "its checksum is wrong");

  const auto clearance = cache().clear();
  ASSERT_TRUE(clearance.ok());
  EXPECT_EQ(clearance->entries, 3u);
  EXPECT_TRUE(cache().list()->empty());
}

TEST_F(CacheTest, LimitFromTheEnvironmentIsChecked) {
  set("WAVETILE_CACHE_LIMIT_MB", "12");
  EXPECT_EQ(Cache::open()->limit_bytes(), uint64_t{12} << 20);
  EXPECT_EQ(Cache::open()->root(), folder / "cache");
  set("WAVETILE_CACHE_LIMIT_MB", "12MB");
  EXPECT_THAT(Cache::open().status().message(), HasSubstr("WAVETILE_CACHE_LIMIT_MB=12MB is not a number of megabytes"));
}

// Runs `body(i)` in `count` processes at once; the test fails where one of them returns false.
template <class Body>
void in_processes(int count, const Body& body) {
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      char byte;
      ::close(gate[1]);
      [[maybe_unused]] const ssize_t opened = ::read(gate[0], &byte, 1);  // returns when the parent closes its end
      ::_exit(body(i) ? 0 : 1);
    }
    children.push_back(child);
  }
  ::close(gate[0]);
  ::close(gate[1]);
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "process " << child;
  }
}

TEST_F(CacheTest, EightProcessesCompileTheSameKernels) {
  in_processes(8, [](int process) {
    for (int i = 0; i < 2; ++i) {
      const Result<Module> module = compile(Backend::kHost, host_source("raced_" + std::to_string(i), 100 + i));
      if (!module.ok()) return false;
      const Result<DynamicLibrary> library = open_host_module(*module);
      if (!library.ok()) return false;
      if (reinterpret_cast<int (*)()>(library->find(module->name.c_str()))() != 100 + i) return false;
    }
    return process >= 0;
  });
  const Result<Cache> shared = Cache::open();
  const auto verdict = shared->verify();
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->good, 3u) << "two modules, and the set of their headers";
  EXPECT_TRUE(verdict->bad.empty());
  const auto files = std::distance(fs::directory_iterator(folder / "cache" / "modules"), fs::directory_iterator());
  EXPECT_EQ(files, 2) << "temporary files were left";
}

TEST_F(CacheTest, EightProcessesStoreFindDamageAndEvict) {
  const size_t entry = encode_module(module_of(0, 20'000)).size();
  const fs::path root = folder / "own";
  in_processes(8, [&](int process) {
    std::freopen("/dev/null", "w", stderr);  // warnings of damaged entries are expected here
    const Cache small(root, 6 * entry);
    std::mt19937 random(static_cast<unsigned>(process));
    for (int step = 0; step < 150; ++step) {
      Module module = module_of(static_cast<int>(random() % 12), 20'000);
      if (random() % 2 == 0) {
        if (!small.store(module).ok()) return false;
      } else if (const auto found = small.find(Backend::kNvrtc, module.key)) {
        if (found->image != module.image || found->name != module.name) return false;
      }
      if (random() % 16 == 0) flip_byte(small.path_of(Backend::kNvrtc, module.key), 500);
    }
    return true;
  });
  const Cache small(root, 6 * entry);
  Module last = module_of(30, 20'000);
  ASSERT_TRUE(small.store(last).ok());
  uint64_t total = 0;
  const auto entries = small.list();
  ASSERT_TRUE(entries.ok());
  for (const CacheEntry& item : *entries) total += item.bytes;
  EXPECT_LE(total, 6 * entry);
  EXPECT_TRUE(small.find(Backend::kNvrtc, last.key));
}

}  // namespace
}  // namespace wt::compile
