// SPDX-License-Identifier: Apache-2.0
// Compiling in several processes: the same machine code and the same errors as in one, and no process left behind.
#include "compile/nvrtc_helpers.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/files.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/version.h"
#include "compile/messages.h"
#include "compile/nvrtc.h"
#include "compile/source_headers.h"
#include "tests/compile/scratch.h"
#include "tests/places.h"

namespace wt::compile {
namespace {

using ::testing::HasSubstr;

TEST(Messages, ArriveWholeOrNotAtAll) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const Message sent = {"", std::string(3 << 20, 'x'), std::string("a\0b", 3)};
  std::thread sender([&] { EXPECT_TRUE(send_message(ends[0], sent).ok()); });  // more than a socket holds
  const Result<Message> received = receive_message(ends[1]);
  sender.join();
  ASSERT_TRUE(received.ok()) << received.status().message();
  EXPECT_EQ(*received, sent);

  ASSERT_EQ(::send(ends[0], "this is no message", 18, 0), 18);
  EXPECT_THAT(receive_message(ends[1]).status().message(), HasSubstr("sent no message"));
  ::close(ends[0]);
  EXPECT_FALSE(receive_message(ends[1]).ok());
  EXPECT_FALSE(send_message(ends[1], sent).ok()) << "and no signal ends this process";
  ::close(ends[1]);
}

#if WT_HAVE_NVRTC

class NvrtcHelpers : public Scratch {
 protected:
  NvrtcHelpers() {
    set("WAVETILE_COMPILE_HELPER", places::kCompileHelper);
    set("WAVETILE_CACHE_LIMIT_MB", "0");
  }

  // A program in place of the helper.
  void use_script(const std::string& text) {
    const auto path = folder / "helper.sh";
    ASSERT_TRUE(write_file(path, "#!/bin/sh\n" + text + "\n").ok());
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    set("WAVETILE_COMPILE_HELPER", path.string());
  }
};

Source numbered_source(int number) {
  return {"numbered_" + std::to_string(number),
          "#include \"problem/enums.h\"\nextern \"C\" __global__ void numbered_" + std::to_string(number) +
              "(float* p) { p[threadIdx.x] *= " + std::to_string(number) + ".5f; }\n",
          Target::kSm90a};
}

// Two threads that compile at the same time: one of them cannot be in this process.
std::vector<Result<Product>> build_side_by_side(const std::vector<Source>& sources) {
  const Result<Toolchain> toolchain = nvrtc_toolchain(Target::kSm90a);
  EXPECT_TRUE(toolchain.ok());
  std::vector<Result<Product>> products(sources.size(), Status());
  const CompileSlot here("");  // takes the place in this process, so that helpers must do everything
  parallel_for(
      static_cast<int64_t>(sources.size()),
      [&](int64_t i) {
        const Source& source = sources[static_cast<size_t>(i)];
        products[static_cast<size_t>(i)] = nvrtc_build(*toolchain, source, *headers_for(source.text));
      },
      2);
  EXPECT_TRUE(here.is_here());
  return products;
}

TEST_F(NvrtcHelpers, GiveTheSameMachineCodeAndLeaveNoProcess) {
  std::vector<Source> sources;
  for (int i = 0; i < 4; ++i) sources.push_back(numbered_source(i));
  const int before = helpers_started();
  const std::vector<Result<Product>> beside = build_side_by_side(sources);
  EXPECT_GT(helpers_started(), before);
  EXPECT_LE(helpers_started(), before + std::max(1, hardware_threads() - 1));
  const Result<Toolchain> toolchain = nvrtc_toolchain(Target::kSm90a);
  const int started = helpers_started();
  for (size_t i = 0; i < sources.size(); ++i) {
    const Result<Product> here = nvrtc_build(*toolchain, sources[i], *headers_for(sources[i].text));
    ASSERT_TRUE(here.ok()) << here.status().message();
    ASSERT_TRUE(beside[i].ok()) << beside[i].status().message();
    EXPECT_EQ(beside[i]->image, here->image) << sources[i].name;
    EXPECT_EQ(beside[i]->resources, here->resources);
    EXPECT_GT(beside[i]->resources.registers, 0);
  }
  EXPECT_EQ(helpers_started(), started) << "one thread alone compiles in its own process";
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD) << "no helper is left when nothing is compiled";
}

TEST_F(NvrtcHelpers, GiveTheCompilersErrors) {
  Source source = numbered_source(7);
  source.text.insert(source.text.rfind('}'), "p[0] = missing_name;\n");
  const std::vector<Result<Product>> products = build_side_by_side({source, numbered_source(8)});
  ASSERT_FALSE(products[0].ok());
  EXPECT_EQ(products[0].status().code(), Code::kCompile);
  EXPECT_THAT(products[0].status().message(), HasSubstr("missing_name"));
  EXPECT_TRUE(products[1].ok()) << "the helper goes on";
}

TEST_F(NvrtcHelpers, ThatAreAbsentOrDoNotAnswerAreDoneWithout) {
  const int before = helpers_started();
  for (const char* path : {"none", "/nonexistent/helper", "/bin/false"}) {
    set("WAVETILE_COMPILE_HELPER", path);
    for (const Result<Product>& product : build_side_by_side({numbered_source(1), numbered_source(2)}))
      EXPECT_TRUE(product.ok()) << path << ": " << product.status().message();
  }
  use_script(
      "printf "
      "'\\167\\141\\166\\164\\151\\154\\145\\061\\001\\000\\000\\000\\000\\000\\000\\000\\001\\000\\000\\000\\000\\000"
      "\\000\\000x' >&0");
  for (const Result<Product>& product : build_side_by_side({numbered_source(1)}))
    EXPECT_TRUE(product.ok()) << "a helper of another version: " << product.status().message();
  EXPECT_EQ(helpers_started(), before);
}

TEST_F(NvrtcHelpers, ThatAreLostAreNamed) {
  // Announces itself as the helper does, and ends.
  std::string hello = "printf '\\167\\141\\166\\164\\151\\154\\145\\061\\002\\000\\000\\000\\000\\000\\000\\000";
  for (const std::string& text : {std::string("wavetile-compile"), std::string(kVersion)})
    hello += fmt::format("\\{:03o}\\000\\000\\000\\000\\000\\000\\000{}", text.size(), text);
  use_script(hello + "' >&0; exit 3");
  const std::vector<Result<Product>> products = build_side_by_side({numbered_source(1)});
  ASSERT_FALSE(products[0].ok());
  EXPECT_THAT(products[0].status().message(), HasSubstr("helper.sh"));
  EXPECT_THAT(products[0].status().message(), HasSubstr("was lost while it compiled"));
  EXPECT_THAT(products[0].status().message(), HasSubstr("WAVETILE_COMPILE_HELPER=none"));
}

#endif

}  // namespace
}  // namespace wt::compile
