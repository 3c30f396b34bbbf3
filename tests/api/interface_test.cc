// SPDX-License-Identifier: Apache-2.0
// tests/api/interface_test.cc - what a caller holds in its hands: memory, streams, events, errors, saved plans, hooks.
#include <gmock/gmock.h>
#include <wavetile/wavetile.hpp>

#include <atomic>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "handles.h"

namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using wavetile::Buffer;
using wavetile::Code;
using wavetile::Role;
using wavetile_test::succeeded;

// A stream is no workspace: neither our type nor a driver's pointer goes where a workspace stands.
struct CUstream_like;
template <class... Arguments>
constexpr bool kExecutes =
    std::is_invocable_v<decltype([](const wavetile::Plan& plan, auto&&... given)
                                     -> decltype(plan.execute(std::forward<decltype(given)>(given)...)) {
                          return plan.execute(std::forward<decltype(given)>(given)...);
                        }),
                        const wavetile::Plan&, Arguments...>;
static_assert(kExecutes<wavetile::Tensors, const wavetile::Stream&>);
static_assert(kExecutes<wavetile::Tensors, const Buffer&, const wavetile::Stream&>);
static_assert(!kExecutes<wavetile::Tensors, CUstream_like*>);
static_assert(!kExecutes<wavetile::Tensors, void*>);
static_assert(kExecutes<wavetile::Tensors, void*, size_t, wavetile::StreamRef>);

// A result that is const gives its value without a copy.
static_assert(
    std::is_same_v<decltype(std::declval<const wavetile::Result<std::string>&>().value()), const std::string&>);

// No enumerator passes for a number, or for one of another list.
template <class... Enums>
constexpr bool kScoped = ((std::is_enum_v<Enums> && !std::is_convertible_v<Enums, int>)&&...);
static_assert(
    kScoped<wavetile::Direction, wavetile::Type, wavetile::Layout, wavetile::Activation, wavetile::Padding,
            wavetile::BiasGradientOf, wavetile::Tuning, wavetile::Role, wavetile::Use, wavetile::Format, wavetile::Fill,
            wavetile::DeviceKind, wavetile::Part, wavetile::LogLevel, wavetile::Priority, wavetile::Code>);

class Interface : public testing::Test {
 protected:
  wavetile::Device device = wavetile::Device::open("cpu").value();
  const wavetile::Result<wavetile::Problem> parsed = wavetile::Problem::parse("fwd fp32 n1 c4 k8 i6x6 f3x3 p1");
  const wavetile::Problem& problem = parsed.value();  // of a const result

  Buffer buffer(Role role, float value) const {
    std::vector<float> values(problem.bytes(role) / sizeof(float), value);
    return Buffer::from(device, values.data(), problem.bytes(role)).value();
  }
};

TEST_F(Interface, BuffersAndConstPointersAreTensors) {
  const wavetile::Plan plan = wavetile::Plan::create(device, problem).value();
  const Buffer workspace = Buffer::allocate(device, plan.workspace_bytes()).value();
  const Buffer x = buffer(Role::kX, 1), w = buffer(Role::kW, 1), y = buffer(Role::kY, -1);
  const void* constant_w = w.data();
  plan.execute({.x = x, .w = constant_w, .y = y}, workspace).throw_if_failed();
  std::vector<float> out(problem.bytes(Role::kY) / sizeof(float));
  y.copy_out(out.data()).throw_if_failed();
  EXPECT_EQ(out[8 * 7], 36) << "an inner pixel sums 4 channels of 9 taps";

  const wavetile::Status written = plan.execute({.x = x, .w = w, .y = static_cast<const void*>(y.data())}, workspace);
  EXPECT_EQ(written.code(), Code::kBadInput);
  EXPECT_THAT(written.message(), HasSubstr("tensor y is read-only memory"));
}

TEST_F(Interface, AWorkspaceOfNoBytesIsRefused) {
  const wavetile::Plan plan = wavetile::Plan::create(device, problem, {.workspace_limit = 0}).value();
  const Buffer x = buffer(Role::kX, 1), w = buffer(Role::kW, 1), y = buffer(Role::kY, 0);
  int anything = 0;
  const wavetile::Status status = plan.execute({.x = x, .w = w, .y = y}, &anything, 0);
  EXPECT_EQ(status.code(), Code::kBadInput);
  EXPECT_THAT(status.message(), HasSubstr("with 0 bytes"));
}

TEST_F(Interface, StreamsHaveOwnersAndWaitForEvents) {
  wavetile::Stream stream = wavetile::Stream::create(device).value();
  wavetile::Stream moved = std::move(stream);
  wavetile::Event event = wavetile::Event::create(device).value();
  EXPECT_TRUE(event.record(moved).ok());
  EXPECT_TRUE(moved.wait(event).ok());
  EXPECT_TRUE(moved.synchronize().ok());
  const Buffer memory = Buffer::allocate(device, 16).value();
  const char text[16] = "in order";
  char back[16] = "";
  EXPECT_TRUE(memory.copy_in(text, moved).ok());
  EXPECT_TRUE(memory.copy_out(back, moved).ok());
  EXPECT_TRUE(moved.synchronize().ok());
  EXPECT_STREQ(back, "in order");
}

// The pointer may be taken before the call that fails, as an argument list may do.
TEST(LastError, SurvivesItsOwnArgumentList) {
  wavetile_clear_error();
  const char* before = wavetile_last_error();
  const std::string first = before;
  wavetile_problem* made = nullptr;
  EXPECT_EQ(wavetile_problem_parse("fwd q1", &made), WAVETILE_BAD_INPUT);
  EXPECT_THAT(first, IsEmpty());
  EXPECT_EQ(before, wavetile_last_error());
  EXPECT_THAT(before, HasSubstr("column"));
  const std::string long_text(100000, 'q');
  EXPECT_EQ(wavetile_problem_parse(("fwd bf16 " + long_text).c_str(), &made), WAVETILE_BAD_INPUT);
  EXPECT_LT(std::string(before).size(), 16384u);
}

TEST(ProblemDesc, PadLowerAloneIsBothSides) {
  wavetile_problem_desc desc;
  wavetile_problem_desc_init(&desc);
  desc.c = desc.k = 8;
  for (int i = 0; i < 2; ++i) desc.in[i] = 6, desc.filter[i] = 3, desc.pad_lower[i] = 1;
  wavetile_problem* problem = nullptr;
  ASSERT_TRUE(succeeded(wavetile_problem_create(&desc, &problem)));
  int64_t size[3];
  ASSERT_TRUE(succeeded(wavetile_problem_output_size(problem, size)));
  EXPECT_EQ(size[0], 6);
  desc.pad_upper[0] = 0;
  wavetile_problem_destroy(problem);
  ASSERT_TRUE(succeeded(wavetile_problem_create(&desc, &problem)));
  ASSERT_TRUE(succeeded(wavetile_problem_output_size(problem, size)));
  EXPECT_EQ(size[0], 5);
  EXPECT_EQ(size[1], 6);
  wavetile_problem_destroy(problem);
}

TEST(Explain, IsShortUnlessAskedForAll) {
  const auto device = wavetile::Device::open("sim:sm_90a").value();
  const auto problem = wavetile::Problem::parse("fwd bf16 n16 c256 k256 i50x50 f3x3 p1").value();
  const std::string text = wavetile::explain(device, problem).value();
  EXPECT_LT(text.size(), 20000u);
  EXPECT_THAT(text, HasSubstr("\n  1. "));
  const std::string two = wavetile::explain(device, problem, {}, wavetile::Format::kText, 2).value();
  EXPECT_THAT(two, HasSubstr("\n  2. "));
  EXPECT_THAT(two, Not(HasSubstr("\n  3. ")));
  EXPECT_THAT(two, HasSubstr(" more\n"));
  EXPECT_GT(wavetile::explain(device, problem, {}, wavetile::Format::kText, -1).value().size(), text.size());
}

TEST_F(Interface, PlansAreSavedAndLoaded) {
  for (const char* id : {"cpu", "sim:sm_90a"}) {
    const auto here = wavetile::Device::open(id).value();
    const auto layer = wavetile::Problem::parse("fwd bf16 n1 c64 k64 i6x6 f3x3 p1 +bias+relu").value();
    const auto plan = wavetile::Plan::create(here, layer, {.workspace_limit = 1 << 20}).value();
    const std::string bytes = plan.save().value();
    const auto again = wavetile::Device::open(id).value();  // another handle, which has made no plan
    const auto loaded = wavetile::Plan::load(again, bytes);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_STREQ(loaded->info().kernel, plan.info().kernel);
    EXPECT_EQ(loaded->workspace_bytes(), plan.workspace_bytes());
    EXPECT_TRUE(loaded->verify(1, {.exact = true}).ok());
  }
  const std::string bytes = wavetile::Plan::create(device, problem).value().save().value();
  const auto other = wavetile::Device::open("sim:sm_90a").value();
  EXPECT_THAT(wavetile::Plan::load(other, bytes).status().message(), HasSubstr("saved for cpu"));
  EXPECT_EQ(wavetile::Plan::load(device, bytes.substr(0, bytes.size() / 2)).status().code(), Code::kBadInput);
  EXPECT_EQ(wavetile::Plan::load(device, "{}").status().code(), Code::kBadInput);
  EXPECT_EQ(wavetile::Plan::load(device, "").status().code(), Code::kBadInput);
  const auto own = wavetile::Problem::parse("fwd fp32 n1 c4 k4 i4x4 f1x1 +f=\"acc * 2\"").value();
  EXPECT_EQ(wavetile::Plan::create(device, own).value().save().status().code(), Code::kUnsupported);
}

TEST_F(Interface, PlansAreMadeInTheBackground) {
  std::future<wavetile::Result<wavetile::Plan>> future = wavetile::Plan::create_async(device, problem);
  EXPECT_TRUE(future.get().ok());
  wavetile_plan_future* c_future = nullptr;
  {
    const auto closed = wavetile_test::open_device("cpu");
    ASSERT_TRUE(succeeded(wavetile_plan_create_async(closed.get(), problem.get(), nullptr, &c_future)));
  }  // the plan outlives the handle
  wavetile_plan* plan = nullptr;
  ASSERT_TRUE(succeeded(wavetile_plan_future_wait(c_future, &plan)));
  int32_t ready = 0;
  ASSERT_TRUE(succeeded(wavetile_plan_future_ready(c_future, &ready)));
  EXPECT_EQ(ready, 1);
  wavetile_plan_destroy(plan);
  wavetile_plan_future_destroy(c_future);
  wavetile_plan_options options;
  wavetile_plan_options_init(&options);
  options.kernel = "no_such_kernel";
  ASSERT_TRUE(succeeded(wavetile_plan_create_async(device.get(), problem.get(), &options, &c_future)));
  EXPECT_NE(wavetile_plan_future_wait(c_future, &plan), WAVETILE_OK);
  EXPECT_THAT(wavetile_last_error(), HasSubstr("no_such_kernel"));
  wavetile_plan_future_destroy(c_future);
}

struct Lines {
  std::vector<std::string> kept;
  static void receive(void* user, wavetile_log_level, const char* line) {
    static_cast<Lines*>(user)->kept.emplace_back(line);
  }
};

TEST_F(Interface, EveryExecutionIsLoggedAsACommand) {
  Lines lines;
  const wavetile::Plan plan = wavetile::Plan::create(device, problem).value();
  const Buffer workspace = Buffer::allocate(device, plan.workspace_bytes()).value();
  const Buffer x = buffer(Role::kX, 1), w = buffer(Role::kW, 1), y = buffer(Role::kY, 0);
  for (const wavetile_log_level level : {WAVETILE_LOG_INFO, WAVETILE_LOG_DEBUG, WAVETILE_LOG_WARN}) {
    ASSERT_TRUE(succeeded(wavetile_set_log(Lines::receive, &lines, level)));
    plan.execute({.x = x, .w = w, .y = y}, workspace).throw_if_failed();
  }
  ASSERT_TRUE(succeeded(wavetile_set_log(nullptr, nullptr, WAVETILE_LOG_WARN)));
  ASSERT_EQ(lines.kept.size(), 2u);
  EXPECT_THAT(lines.kept[0], HasSubstr("wavetile run 'fwd fp32 n1 c4 k8 i6x6 f3x3 p1' --device cpu"));
  EXPECT_THAT(lines.kept[0], Not(HasSubstr(" us")));
  EXPECT_THAT(lines.kept[1], HasSubstr(" us"));
}

// The user's own problem is logged, not the channels-last one inside.
TEST(ExecutionLog, NamesTheCallersProblem) {
  Lines lines;
  const auto device = wavetile::Device::open("sim:sm_90a").value();
  const auto problem = wavetile::Problem::parse("fwd bf16 n1 c8 k8 i4x4 f1x1 NCHW").value();
  const auto plan = wavetile::Plan::create(device, problem).value();
  ASSERT_TRUE(succeeded(wavetile_set_log(Lines::receive, &lines, WAVETILE_LOG_INFO)));
  EXPECT_TRUE(plan.verify(1, {.exact = true}).ok());
  std::vector<Buffer> memory;
  for (const Role role : {Role::kX, Role::kW, Role::kY})
    memory.push_back(Buffer::allocate(device, problem.bytes(role)).value());
  const Buffer workspace = Buffer::allocate(device, plan.workspace_bytes()).value();
  EXPECT_TRUE(device.fill(memory[0].data(), 0, memory[0].size()).ok());
  EXPECT_TRUE(device.fill(memory[1].data(), 0, memory[1].size()).ok());
  const wavetile::Status ran = plan.execute({.x = memory[0], .w = memory[1], .y = memory[2]}, workspace);
  EXPECT_TRUE(ran.ok()) << ran.message();
  ASSERT_TRUE(succeeded(wavetile_set_log(nullptr, nullptr, WAVETILE_LOG_WARN)));
  ASSERT_FALSE(lines.kept.empty());
  EXPECT_THAT(lines.kept.back(), HasSubstr("NCHW"));
}

struct Counted {
  std::atomic<int> allocated{0}, freed{0};
  static void* allocate(void* user, size_t bytes) {
    ++static_cast<Counted*>(user)->allocated;
    return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  }
  static void free(void* user, void* memory) {
    ++static_cast<Counted*>(user)->freed;
    std::free(memory);
  }
};

TEST_F(Interface, MemoryComesFromTheCallersAllocator) {
  Counted counted;
  const Buffer before = Buffer::allocate(device, 64).value();
  wavetile_allocator allocator = {sizeof allocator, &counted, Counted::allocate, Counted::free};
  ASSERT_TRUE(succeeded(wavetile_device_set_allocator(device.get(), &allocator)));
  { const Buffer own = Buffer::allocate(device, 64).value(); }
  EXPECT_TRUE(wavetile::Plan::create(device, problem).value().verify(1).ok());
  EXPECT_GT(counted.allocated, 1);
  EXPECT_EQ(counted.allocated, counted.freed);
  const int so_far = counted.allocated;
  ASSERT_TRUE(succeeded(wavetile_device_set_allocator(device.get(), nullptr)));
  { const Buffer not_counted = Buffer::allocate(device, 64).value(); }
  EXPECT_EQ(counted.allocated, so_far);
  allocator.free = nullptr;
  EXPECT_EQ(wavetile_device_set_allocator(device.get(), &allocator), WAVETILE_BAD_INPUT);
}

struct Pool {
  std::atomic<int> calls{0};
  static void run(void* user, int64_t count, void (*body)(void*, int64_t), void* context) {
    ++static_cast<Pool*>(user)->calls;
    for (int64_t i = 0; i < count; ++i) std::thread(body, context, i).join();
  }
};

TEST_F(Interface, LoopsRunOnTheCallersThreads) {
  Pool mine;
  const wavetile_thread_pool pool = {sizeof pool, &mine, Pool::run};
  ASSERT_TRUE(succeeded(wavetile_set_thread_pool(&pool)));
  const auto layer = wavetile::Problem::parse("fwd bf16 n2 c16 k32 i20x20 f3x3 p1").value();
  EXPECT_TRUE(wavetile::Plan::create(device, layer, {.kernel = "builtin"}).value().verify(1, {.exact = true}).ok());
  ASSERT_TRUE(succeeded(wavetile_set_thread_pool(nullptr)));
  EXPECT_TRUE(mine.calls > 0 || std::thread::hardware_concurrency() < 2);
}

TEST_F(Interface, TheReportCountsWhatRoundedTheOtherWay) {
  const auto layer = wavetile::Problem::parse("fwd bf16 n2 c64 k64 i20x20 f3x3 p1").value();
  const auto report = wavetile::Plan::create(device, layer).value().verify(3).value();
  EXPECT_EQ(report.wrong, 0);
  EXPECT_GE(report.rounded_otherwise, 0);
  EXPECT_LT(report.rounded_otherwise, report.compared / 10);
  const auto exact = wavetile::Plan::create(device, layer).value().verify(3, {.exact = true}).value();
  EXPECT_EQ(exact.rounded_otherwise, 0);
}

}  // namespace
