// SPDX-License-Identifier: Apache-2.0
// Kernels of the caller's own: configured, registered with priorities, selected by a function, asked about, timed.
#include <gmock/gmock.h>
#include <wavetile/wavetile.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include "handles.h"

namespace {

using namespace wavetile_test;
using testing::HasSubstr;

// A tile that no rule set lists, and one with other warps.
constexpr const char* kConfig =
    R"({"kind":"portable","target":"sm_80","gemm":{"tile":{"m":64,"n":32,"k":32},"warps":{"m":2,"n":1,"k":1},)"
    R"("mma":{"m":16,"n":8,"k":16},"pipeline":"compv3","loader_a":"vector","loader_b":"vector","staging":"shared",)"
    R"("vector_a":8,"vector_b":8}})";
constexpr const char* kName =
    "wt_fwd_bf16_nhwc_sm80_portable_compv3_t64x32x32_w2x1x1_a_vector_b_vector_c_shared_va8_vb8";
constexpr const char* kProblem = "fwd bf16 n1 c16 k32 i7x9 f3x3 p1";

using Registry = std::unique_ptr<wavetile_registry, decltype(&wavetile_registry_destroy)>;

class OwnKernels : public testing::Test {
 protected:
  OwnKernels() : registry_(nullptr, wavetile_registry_destroy) {
    wavetile_plan_options_init(&options_);
    wavetile_registry* handle = nullptr;
    EXPECT_TRUE(succeeded(wavetile_registry_create(device_.get(), &handle)));
    registry_.reset(handle);
    options_.registry = handle;
  }
  std::string planned() const {
    const Plan plan = make_plan(device_, problem_, &options_);
    auto info = sized<wavetile_plan_info>();
    EXPECT_TRUE(succeeded(wavetile_plan_get_info(plan.get(), &info)));
    return info.kernel;
  }
  Device device_ = open_device("sim:sm_80");
  Problem problem_ = parse(kProblem);
  wavetile_plan_options options_;
  Registry registry_;
};

TEST_F(OwnKernels, AConfigRunsAndIsRight) {
  options_.config = kConfig;
  const Plan plan = make_plan(device_, problem_, &options_);
  auto info = sized<wavetile_plan_info>();
  ASSERT_TRUE(succeeded(wavetile_plan_get_info(plan.get(), &info)));
  EXPECT_STREQ(info.kernel, kName);
  EXPECT_STREQ(info.reason, "configured by the caller");
  wavetile_verify_options exact;
  wavetile_verify_options_init(&exact);
  exact.exact = exact.exhaustive = 1;
  EXPECT_TRUE(succeeded(wavetile_plan_verify(plan.get(), 1, &exact, nullptr)));
}

TEST_F(OwnKernels, ABadConfigIsRefusedWithItsReason) {
  const auto refusal = [&](const char* config, const char* kernel = nullptr) -> std::string {
    options_.config = config;
    options_.kernel = kernel;
    wavetile_plan* plan = nullptr;
    EXPECT_NE(wavetile_plan_create(device_.get(), problem_.get(), &options_, &plan), WAVETILE_OK);
    return wavetile_last_error();
  };
  EXPECT_THAT(refusal(kConfig, kName), HasSubstr("kernel and config are both given"));
  EXPECT_THAT(refusal("wt_fwd"), HasSubstr("config is no JSON object"));
  EXPECT_THAT(refusal(R"({"gemm":{"tiles":1}})"), HasSubstr("tiles"));
  EXPECT_THAT(refusal(R"({"target":"sm_90a"})"), HasSubstr("is for sm_90a, and the device for sm_80"));
  EXPECT_THAT(refusal(R"({"target":"sm_80","direction":"bwd_data"})"), HasSubstr("signature: direction=bwd_data"));
  EXPECT_THAT(refusal(R"({"target":"sm_80","kind":"portable","gemm":{"pipeline":"compv4"}})"), HasSubstr("declines"));
}

TEST_F(OwnKernels, PrioritiesDecide) {
  const std::string usual = planned();
  ASSERT_NE(usual, kName);
  size_t added = 0;
  ASSERT_TRUE(succeeded(wavetile_registry_add(registry_.get(), kConfig, WAVETILE_PRIORITY_HIGH, &added)));
  EXPECT_EQ(added, 1u);
  EXPECT_EQ(planned(), kName);
  ASSERT_TRUE(succeeded(wavetile_registry_set_priority(registry_.get(), kName, WAVETILE_PRIORITY_LOW)));
  EXPECT_EQ(planned(), usual);
  // Registered again, it takes the new priority.
  ASSERT_TRUE(succeeded(wavetile_registry_add(registry_.get(), kConfig, WAVETILE_PRIORITY_HIGH, nullptr)));
  EXPECT_EQ(wavetile_registry_size(registry_.get()), 1u);
  EXPECT_EQ(planned(), kName);
  char* report = nullptr;
  ASSERT_TRUE(succeeded(wavetile_registry_list(registry_.get(), WAVETILE_FORMAT_JSON, &report)));
  EXPECT_THAT(report, testing::AllOf(HasSubstr(kName), HasSubstr("\"priority\": \"high\"")));
  wavetile_string_free(report);
  ASSERT_TRUE(succeeded(wavetile_registry_list(registry_.get(), WAVETILE_FORMAT_TEXT, &report)));
  EXPECT_THAT(report, HasSubstr(std::string("high   ") + kName));
  wavetile_string_free(report);
  ASSERT_TRUE(succeeded(wavetile_registry_remove(registry_.get(), kName)));
  EXPECT_EQ(wavetile_registry_size(registry_.get()), 0u);
  EXPECT_EQ(planned(), usual);
}

TEST_F(OwnKernels, RefusesWhatIsNoKernel) {
  EXPECT_EQ(wavetile_registry_add(registry_.get(), "/nowhere.json", WAVETILE_PRIORITY_LOW, nullptr), WAVETILE_IO_ERROR);
  EXPECT_EQ(wavetile_registry_add(registry_.get(), R"({"target":"gfx942"})", WAVETILE_PRIORITY_LOW, nullptr),
            WAVETILE_UNSUPPORTED);
  EXPECT_THAT(wavetile_last_error(), HasSubstr("none of the 1 kernels of JSON is for sm_80"));
  EXPECT_EQ(wavetile_registry_add(registry_.get(), kConfig, static_cast<wavetile_priority>(7), nullptr),
            WAVETILE_BAD_INPUT);
  EXPECT_EQ(wavetile_registry_remove(registry_.get(), kName), WAVETILE_UNSUPPORTED);
  EXPECT_EQ(wavetile_registry_size(registry_.get()), 0u);
  wavetile_registry* none = nullptr;
  EXPECT_EQ(wavetile_registry_create(open_device("cpu").get(), &none), WAVETILE_UNSUPPORTED);
}

TEST_F(OwnKernels, AFunctionSelects) {
  struct Seen {
    size_t count = 0;
    std::string problem, chosen;
    bool ordered = true;
  } seen;
  options_.select_user = &seen;
  options_.select = [](void* user, const char* problem, const wavetile_candidate* const* candidates,
                       size_t count) -> int64_t {
    Seen& to = *static_cast<Seen*>(user);
    to.count = count;
    to.problem = problem;
    for (size_t i = 1; i < count; ++i) to.ordered &= candidates[i - 1]->predicted_us <= candidates[i]->predicted_us;
    to.chosen = candidates[count - 1]->kernel;
    return static_cast<int64_t>(count) - 1;
  };
  EXPECT_EQ(planned(), seen.chosen);
  EXPECT_GT(seen.count, 10u);
  EXPECT_TRUE(seen.ordered);
  EXPECT_EQ(seen.problem, kProblem);
  seen.count = 0;
  planned();  // asked every time
  EXPECT_GT(seen.count, 10u);
  options_.select = [](void*, const char*, const wavetile_candidate* const*, size_t count) -> int64_t {
    return static_cast<int64_t>(count);
  };
  wavetile_plan* plan = nullptr;
  EXPECT_EQ(wavetile_plan_create(device_.get(), problem_.get(), &options_, &plan), WAVETILE_BAD_INPUT);
  EXPECT_THAT(wavetile_last_error(), HasSubstr("the selection function chose"));
}

TEST_F(OwnKernels, SaysWhetherAKernelCan) {
  const auto ask = [&](const char* text) {
    int32_t supported = -1;
    char* reason = nullptr;
    EXPECT_TRUE(succeeded(wavetile_kernel_supported(device_.get(), parse(text).get(), &options_, &supported, &reason)));
    const std::string answer = reason ? reason : "";
    wavetile_string_free(reason);
    return std::pair(supported, answer);
  };
  options_.config = kConfig;
  EXPECT_EQ(ask(kProblem).first, 1);
  EXPECT_THAT(ask(kProblem).second, HasSubstr("can run it, predicted"));
  const auto [supported, reason] = ask("fwd bf16 n1 c12 k32 i7x9 f3x3 p1");
  EXPECT_EQ(supported, 0);
  EXPECT_THAT(reason, HasSubstr("portable-vector: 12 channels per group are no multiple of vector_a=8"));
  EXPECT_EQ(ask("bwd_data bf16 n1 c16 k32 i7x9 f3x3 p1").first, 0);
}

TEST_F(OwnKernels, TheRegistryChangesWhileOthersReadIt) {
  std::atomic<bool> stop = false;
  std::thread reader([&] {
    while (!stop) {
      char* report = nullptr;
      EXPECT_TRUE(succeeded(wavetile_registry_list(registry_.get(), WAVETILE_FORMAT_JSON, &report)));
      wavetile_string_free(report);
      int32_t supported = 0;
      wavetile_plan_options options = options_;
      options.config = kConfig;
      EXPECT_TRUE(succeeded(wavetile_kernel_supported(device_.get(), problem_.get(), &options, &supported, nullptr)));
      EXPECT_EQ(supported, 1);
    }
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(succeeded(wavetile_registry_add(registry_.get(), kConfig, WAVETILE_PRIORITY_HIGH, nullptr)));
    EXPECT_TRUE(succeeded(wavetile_registry_remove(registry_.get(), kName)));
  }
  stop = true;
  reader.join();
}

TEST(Timing, OfAPlanOnRequest) {
  const auto device = wavetile::Device::open("cpu").value();
  const auto problem = wavetile::Problem::parse("fwd fp32 n1 c4 k4 i6x6 f3x3 p1").value();
  const auto plan = wavetile::Plan::create(device, problem).value();
  std::vector<float> x(144), w(144), y(144);
  wavetile::Tensors tensors;
  tensors.x = x.data();
  tensors.w = w.data();
  tensors.y = y.data();
  const auto workspace = wavetile::Buffer::allocate(device, plan.workspace_bytes()).value();
  const auto timing = plan.time(tensors, workspace.data(), workspace.size(), 5);
  ASSERT_TRUE(timing.ok()) << timing.status().message();
  EXPECT_EQ(timing->runs, 5);
  EXPECT_GT(timing->median_us, 0);
  EXPECT_LE(timing->minimum_us, timing->median_us);
  EXPECT_FALSE(plan.time(tensors, nullptr, 0, -1).ok());
}

TEST(OwnKernelsCpp, RegistrySelectionAndSupport) {
  const auto device = wavetile::Device::open("sim:sm_80").value();
  const auto problem = wavetile::Problem::parse(kProblem).value();
  wavetile::PlanOptions options;
  options.registry = wavetile::Registry::create(device).value();
  EXPECT_EQ(options.registry->add(kConfig, wavetile::Priority::kHigh).value(), 1u);
  std::string first;
  options.select = [&](const std::string&, const std::vector<const wavetile::Candidate*>& candidates) -> int64_t {
    first = candidates.front()->kernel;
    EXPECT_EQ(candidates.front()->registered, 1);
    return -1;
  };
  const auto plan = wavetile::Plan::create(device, problem, options);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(first, kName);
  EXPECT_STREQ(plan->info().kernel, kName);
  wavetile::PlanOptions one;
  one.config = kConfig;
  EXPECT_TRUE(wavetile::supported(device, problem, one).value().supported);
}

}  // namespace
