// SPDX-License-Identifier: Apache-2.0
// Wrong input of every kind: each gives its status and its own message with the values, and changes nothing.
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include "refusals.h"

using namespace wavetile_test;
using testing::HasSubstr;

namespace {

struct DescCase {
  const char* name;
  std::function<void(wavetile_problem_desc&)> spoil;
  const char* message;  // part of it
};

const std::vector<DescCase>& desc_cases() {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 2;
  static const std::vector<DescCase> cases = {
      {"no_size", [](auto& d) { d.struct_size = 0; }, "struct_size is 0; set it to sizeof"},
      {"half_size", [](auto& d) { d.struct_size = 100; }, "struct_size is 100"},
      {"wild_size", [](auto& d) { d.struct_size = size_t{1} << 40; }, "struct_size is 1099511627776"},
      {"direction", [](auto& d) { d.direction = 3; }, "direction=3 is no choice"},
      {"negative_direction", [](auto& d) { d.direction = -1; }, "direction=-1 is no choice"},
      {"no_dims", [](auto& d) { d.dims = 0; }, "dims=0 is no choice"},
      {"four_dims", [](auto& d) { d.dims = 4; }, "dims=4 is no choice"},
      {"layout", [](auto& d) { d.layout = 2; }, "layout=2 is no choice"},
      {"x_type", [](auto& d) { d.x_type = 9; }, "x_type=9 is no choice"},
      {"w_type", [](auto& d) { d.w_type = 256; }, "w_type=256 is no choice"},
      {"y_type", [](auto& d) { d.y_type = -1; }, "y_type=-1 is no choice"},
      {"acc_type", [](auto& d) { d.acc_type = 8; }, "acc_type=8 is no choice"},
      {"acc_bf16", [](auto& d) { d.acc_type = WAVETILE_BF16; }, "acc=bf16"},
      {"mixed_inputs", [](auto& d) { d.w_type = WAVETILE_F16; }, "bf16 and fp16"},
      {"tf32_output", [](auto& d) { d.x_type = d.w_type = d.y_type = WAVETILE_TF32; }, "tf32"},
      {"padding", [](auto& d) { d.padding = 4; }, "padding=4 is no choice"},
      {"scale", [](auto& d) { d.scale = 2; }, "scale=2 is no choice"},
      {"bias", [](auto& d) { d.bias = -1; }, "bias=-1 is no choice"},
      {"residual", [](auto& d) { d.residual = 3; }, "residual=3 is no choice"},
      {"amax", [](auto& d) { d.amax = 4; }, "amax=4 is no choice"},
      {"activation", [](auto& d) { d.activation = 14; },
       "activation=14 is no choice; use 0 (none), 1 (relu), 2 (leaky_relu), 3 (clamp), 4 (silu)"},
      {"batch", [](auto& d) { d.n = -1; }, "n=-1"},
      {"no_groups", [](auto& d) { d.g = 0; }, "g=0"},
      {"no_input_channels", [](auto& d) { d.c = 0; }, "c=0"},
      {"no_output_channels", [](auto& d) { d.k = -4; }, "k=-4"},
      {"c_groups",
       [](auto& d) {
         d.g = 3;
         d.c = 7;
         d.k = 3;
       },
       "c=7 is not a multiple of g=3"},
      {"k_groups",
       [](auto& d) {
         d.g = 3;
         d.c = 3;
         d.k = 8;
       },
       "k=8 is not a multiple of g=3"},
      {"no_input", [](auto& d) { d.in[1] = 0; }, "w=0"},
      {"no_filter", [](auto& d) { d.filter[0] = 0; }, "filter size h=0"},
      {"no_stride", [](auto& d) { d.stride[0] = 0; }, "stride h=0"},
      {"no_stride_same",
       [](auto& d) {
         d.padding = WAVETILE_PADDING_SAME;
         d.stride[1] = 0;
       },
       "stride w=0"},
      {"no_dilation", [](auto& d) { d.dilation[1] = -2; }, "dilation w=-2"},
      {"lower_padding", [](auto& d) { d.pad_lower[0] = -1; }, "lower padding h=-1"},
      {"upper_padding", [](auto& d) { d.pad_upper[1] = -3; }, "upper padding w=-3"},
      {"no_output", [](auto& d) { d.filter[0] = 5; }, "no output pixels"},
      {"huge_same",
       [](auto& d) {
         d.padding = WAVETILE_PADDING_SAME;
         d.in[0] = kHuge;
       },
       "use explicit padding"},
      {"huge_tensor",
       [](auto& d) {
         d.n = kHuge;
         d.in[0] = 4;
       },
       "do not fit in 64 bits"},
      {"alpha", [](auto& d) { d.alpha = std::numeric_limits<float>::infinity(); }, "alpha=inf"},
      {"beta_alone", [](auto& d) { d.beta = 2; }, "beta=2"},
      {"clamp_order",
       [](auto& d) {
         d.activation = WAVETILE_ACTIVATION_CLAMP;
         d.low = 7;
       },
       "7"},
      {"slope_alone", [](auto& d) { d.slope = 0.5f; }, "slope=0.5"},
  };
  return cases;
}

}  // namespace

class DescTest : public testing::TestWithParam<size_t> {};

TEST_P(DescTest, IsRefusedWithItsMessage) {
  const DescCase& bad = desc_cases()[GetParam()];
  wavetile_problem_desc desc = default_desc();
  bad.spoil(desc);
  wavetile_clear_error();
  EXPECT_EQ(wavetile_problem_validate(&desc), WAVETILE_BAD_INPUT);
  EXPECT_THAT(wavetile_last_error(), HasSubstr(bad.message));
  auto* const untouched = reinterpret_cast<wavetile_problem*>(&desc);
  wavetile_problem* problem = untouched;
  EXPECT_EQ(wavetile_problem_create(&desc, &problem), WAVETILE_BAD_INPUT);
  EXPECT_THAT(wavetile_last_error(), HasSubstr(bad.message));
  EXPECT_EQ(problem, untouched);
}

INSTANTIATE_TEST_SUITE_P(Fields, DescTest, testing::Range(size_t{0}, desc_cases().size()),
                         [](const auto& info) { return desc_cases()[info.param].name; });

TEST(BadInput, EveryFaultOfAStructHasItsOwnMessage) {
  std::set<std::string> messages;
  for (const DescCase& bad : desc_cases()) {
    wavetile_problem_desc desc = default_desc();
    bad.spoil(desc);
    wavetile_clear_error();
    ASSERT_EQ(wavetile_problem_validate(&desc), WAVETILE_BAD_INPUT) << bad.name;
    EXPECT_TRUE(messages.insert(wavetile_last_error()).second) << bad.name << ": " << wavetile_last_error();
  }
  EXPECT_GE(messages.size(), 40u);
}

TEST(BadInput, TextFaultsPointAtTheirColumn) {
  for (const char* text :
       {"", "sideways bf16", "fwd bf17 n1", "fwd bf16 n1 c8 k8 i4x4 f3x3 z9", "fwd bf16 n1 c8 k8 i4x"}) {
    wavetile_problem* problem = nullptr;
    EXPECT_EQ(wavetile_problem_parse(text, &problem), WAVETILE_BAD_INPUT) << text;
    EXPECT_EQ(problem, nullptr);
    EXPECT_THAT(wavetile_last_error(), HasSubstr("column")) << text;
  }
}

TEST(BadInput, NullPointersAreNamed) {
  const Device device = open_device();
  const Problem problem = parse("fwd fp32 n1 c4 k4 i4x4 f1x1");
  const Plan plan = make_plan(device, problem);
  wavetile_device* const d = device.get();
  wavetile_problem* const p = problem.get();
  wavetile_plan* const l = plan.get();
  wavetile_problem_desc desc = default_desc();
  wavetile_plan* made = nullptr;
  wavetile_event* event = nullptr;
  wavetile_problem* made_problem = nullptr;
  void* memory = nullptr;
  char* text = nullptr;
  auto tensors = sized<wavetile_tensors>();
  auto device_info = sized<wavetile_device_info>();
  auto plan_info = sized<wavetile_plan_info>();
  auto tensor_info = sized<wavetile_tensor_info>();
  int64_t size[3];
  float value = 0;
  double time = 0;
  int32_t flag = 0;
  expect_refused({
      {"wavetile_device_open: device is NULL", [&] { return wavetile_device_open("cpu", nullptr); }},
      {"wavetile_device_list: count is NULL", [&] { return wavetile_device_list(nullptr, 0, nullptr); }},
      {"wavetile_device_list: infos is NULL",
       [&] {
         size_t count = 0;
         return wavetile_device_list(nullptr, 1, &count);
       }},
      {"wavetile_device_get_info: device is NULL", [&] { return wavetile_device_get_info(nullptr, &device_info); }},
      {"wavetile_device_get_info: info is NULL", [&] { return wavetile_device_get_info(d, nullptr); }},
      {"wavetile_device_allocate: device is NULL", [&] { return wavetile_device_allocate(nullptr, 1, &memory); }},
      {"wavetile_device_allocate: memory is NULL", [&] { return wavetile_device_allocate(d, 1, nullptr); }},
      {"wavetile_device_free: device is NULL", [&] { return wavetile_device_free(nullptr, &value); }},
      {"wavetile_device_copy_in: device is NULL", [&] { return wavetile_device_copy_in(nullptr, &value, &value, 4); }},
      {"wavetile_device_copy_in: device_memory is NULL",
       [&] { return wavetile_device_copy_in(d, nullptr, &value, 4); }},
      {"wavetile_device_copy_in: host is NULL", [&] { return wavetile_device_copy_in(d, &value, nullptr, 4); }},
      {"wavetile_device_copy_out: host is NULL", [&] { return wavetile_device_copy_out(d, nullptr, &value, 4); }},
      {"wavetile_device_copy_out: device_memory is NULL",
       [&] { return wavetile_device_copy_out(d, &value, nullptr, 4); }},
      {"wavetile_device_fill: device_memory is NULL", [&] { return wavetile_device_fill(d, nullptr, 0, 4, nullptr); }},
      {"wavetile_stream_create: device is NULL", [&] { return wavetile_stream_create(nullptr, &memory); }},
      {"wavetile_stream_create: stream is NULL", [&] { return wavetile_stream_create(d, nullptr); }},
      {"wavetile_stream_destroy: device is NULL", [&] { return wavetile_stream_destroy(nullptr, &value); }},
      {"wavetile_stream_synchronize: device is NULL", [&] { return wavetile_stream_synchronize(nullptr, nullptr); }},
      {"wavetile_event_create: device is NULL", [&] { return wavetile_event_create(nullptr, &event); }},
      {"wavetile_event_create: event is NULL", [&] { return wavetile_event_create(d, nullptr); }},
      {"wavetile_event_record: event is NULL", [&] { return wavetile_event_record(nullptr, nullptr); }},
      {"wavetile_event_wait: event is NULL", [&] { return wavetile_event_wait(nullptr); }},
      {"wavetile_event_elapsed: start is NULL", [&] { return wavetile_event_elapsed(nullptr, nullptr, &time); }},
      {"wavetile_problem_create: desc is NULL", [&] { return wavetile_problem_create(nullptr, &made_problem); }},
      {"wavetile_problem_create: problem is NULL", [&] { return wavetile_problem_create(&desc, nullptr); }},
      {"wavetile_problem_parse: text is NULL", [&] { return wavetile_problem_parse(nullptr, &made_problem); }},
      {"wavetile_problem_parse: problem is NULL", [&] { return wavetile_problem_parse("fwd", nullptr); }},
      {"wavetile_problem_validate: desc is NULL", [&] { return wavetile_problem_validate(nullptr); }},
      {"wavetile_problem_get_desc: problem is NULL", [&] { return wavetile_problem_get_desc(nullptr, &desc); }},
      {"wavetile_problem_get_desc: desc is NULL", [&] { return wavetile_problem_get_desc(p, nullptr); }},
      {"wavetile_problem_output_size: problem is NULL", [&] { return wavetile_problem_output_size(nullptr, size); }},
      {"wavetile_problem_output_size: size is NULL", [&] { return wavetile_problem_output_size(p, nullptr); }},
      {"wavetile_problem_tensor: problem is NULL",
       [&] { return wavetile_problem_tensor(nullptr, WAVETILE_ROLE_X, &tensor_info); }},
      {"wavetile_problem_tensor: info is NULL", [&] { return wavetile_problem_tensor(p, WAVETILE_ROLE_X, nullptr); }},
      {"wavetile_from_float: values is NULL", [&] { return wavetile_from_float(WAVETILE_F16, nullptr, 1, &value); }},
      {"wavetile_to_float: out is NULL", [&] { return wavetile_to_float(WAVETILE_F16, &value, 1, nullptr); }},
      {"wavetile_plan_create: device is NULL", [&] { return wavetile_plan_create(nullptr, p, nullptr, &made); }},
      {"wavetile_plan_create: problem is NULL", [&] { return wavetile_plan_create(d, nullptr, nullptr, &made); }},
      {"wavetile_plan_create: plan is NULL", [&] { return wavetile_plan_create(d, p, nullptr, nullptr); }},
      {"wavetile_plan_execute: plan is NULL",
       [&] { return wavetile_plan_execute(nullptr, nullptr, &tensors, nullptr, 0); }},
      {"wavetile_plan_execute: tensors is NULL",
       [&] { return wavetile_plan_execute(l, nullptr, nullptr, nullptr, 0); }},
      {"wavetile_plan_get_info: plan is NULL", [&] { return wavetile_plan_get_info(nullptr, &plan_info); }},
      {"wavetile_plan_get_info: info is NULL", [&] { return wavetile_plan_get_info(l, nullptr); }},
      {"wavetile_plan_verify: plan is NULL", [&] { return wavetile_plan_verify(nullptr, 1, nullptr, nullptr); }},
      {"wavetile_explain: device is NULL",
       [&] { return wavetile_explain(nullptr, p, nullptr, WAVETILE_FORMAT_TEXT, &text); }},
      {"wavetile_explain: problem is NULL",
       [&] { return wavetile_explain(d, nullptr, nullptr, WAVETILE_FORMAT_TEXT, &text); }},
      {"wavetile_explain: report is NULL",
       [&] { return wavetile_explain(d, p, nullptr, WAVETILE_FORMAT_TEXT, nullptr); }},
      {"wavetile_tuning_export: json is NULL", [] { return wavetile_tuning_export(nullptr); }},
      {"wavetile_tuning_import: json is NULL", [] { return wavetile_tuning_import(nullptr, nullptr); }},
      {"wavetile_fill_tensors: problem is NULL",
       [&] { return wavetile_fill_tensors(nullptr, WAVETILE_FILL_ZERO, 1, &tensors); }},
      {"wavetile_fill_tensors: host is NULL", [&] { return wavetile_fill_tensors(p, WAVETILE_FILL_ZERO, 1, nullptr); }},
      {"wavetile_verify: problem is NULL", [&] { return wavetile_verify(nullptr, &tensors, nullptr, nullptr); }},
      {"wavetile_verify: host is NULL", [&] { return wavetile_verify(p, nullptr, nullptr, nullptr); }},
      {"wavetile_verify_on_device: device is NULL",
       [&] { return wavetile_verify_on_device(nullptr, p, &tensors, nullptr, nullptr); }},
      {"wavetile_verify_on_device: problem is NULL",
       [&] { return wavetile_verify_on_device(d, nullptr, &tensors, nullptr, nullptr); }},
      {"wavetile_verify_on_device: tensors is NULL",
       [&] { return wavetile_verify_on_device(d, p, nullptr, nullptr, nullptr); }},
      {"wavetile_capability_query: available is NULL",
       [&] { return wavetile_capability_query(WAVETILE_CAPABILITY_NVRTC, nullptr, nullptr); }},
  });
  EXPECT_EQ(flag, 0);
  EXPECT_EQ(wavetile_problem_text(nullptr), nullptr);
  EXPECT_EQ(wavetile_problem_canonical_text(nullptr), nullptr);
  EXPECT_EQ(wavetile_problem_flops(nullptr), 0);
  EXPECT_EQ(wavetile_problem_tensor_bytes(nullptr, WAVETILE_ROLE_X), 0);
  EXPECT_EQ(wavetile_plan_workspace_bytes(nullptr), 0);
  EXPECT_EQ(wavetile_plan_json(nullptr), nullptr);
}

TEST(BadInput, ValuesThatAreNoChoiceAreRefused) {
  const Device device = open_device();
  const Problem problem = parse("fwd fp32 n1 c4 k4 i4x4 f1x1");
  auto tensors = sized<wavetile_tensors>();
  auto info = sized<wavetile_tensor_info>();
  float value = 0;
  char* text = nullptr;
  int32_t available = 0;
  const auto plan_with = [&](auto spoil) {
    wavetile_plan_options options;
    wavetile_plan_options_init(&options);
    spoil(options);
    wavetile_plan* plan = nullptr;
    const wavetile_status status = wavetile_plan_create(device.get(), problem.get(), &options, &plan);
    EXPECT_EQ(plan, nullptr);
    wavetile_plan_destroy(plan);
    return status;
  };
  const auto verify_with = [&](auto spoil) {
    wavetile_verify_options options;
    wavetile_verify_options_init(&options);
    spoil(options);
    return wavetile_verify(problem.get(), &tensors, &options, nullptr);
  };
  expect_refused({
      {"role=16", [&] { return wavetile_problem_tensor(problem.get(), static_cast<wavetile_role>(16), &info); }},
      {"type=9", [&] { return wavetile_from_float(static_cast<wavetile_type>(9), &value, 1, &value); }},
      {"fill=3", [&] { return wavetile_fill_tensors(problem.get(), static_cast<wavetile_fill>(3), 1, &tensors); }},
      {"capability=6",
       [&] { return wavetile_capability_query(static_cast<wavetile_capability>(6), &available, &text); }},
      {"format=2",
       [&] { return wavetile_explain(device.get(), problem.get(), nullptr, static_cast<wavetile_format>(2), &text); }},
      {"wavetile_plan_options.struct_size is 3", [&] { return plan_with([](auto& o) { o.struct_size = 3; }); }},
      {"deterministic=2", [&] { return plan_with([](auto& o) { o.deterministic = 2; }); }},
      {"strict_nonfinite=-1", [&] { return plan_with([](auto& o) { o.strict_nonfinite = -1; }); }},
      {"tuning=3", [&] { return plan_with([](auto& o) { o.tuning = 3; }); }},
      {"reserved is 1", [&] { return plan_with([](auto& o) { o.reserved = 1; }); }},
      {"fallback=2", [&] { return plan_with([](auto& o) { o.fallback = 2; }); }},
      {"reserved2 is 1", [&] { return plan_with([](auto& o) { o.reserved2 = 1; }); }},
      {"tuning_seconds=0", [&] { return plan_with([](auto& o) { o.tuning_seconds = 0; }); }},
      {"batch_invariant=2", [&] { return plan_with([](auto& o) { o.batch_invariant = 2; }); }},
      {"reserved4 is 1", [&] { return plan_with([](auto& o) { o.reserved4 = 1; }); }},
      {"one order of sums", [&] { return plan_with([](auto& o) { o.batch_invariant = 1, o.deterministic = 0; }); }},
      {"reserved3 is 1", [&] { return plan_with([](auto& o) { o.reserved3 = 1; }); }},
      {"splits=-2 is no count of parts", [&] { return plan_with([](auto& o) { o.splits = -2; }); }},
      {"splits=129 is no count of parts", [&] { return plan_with([](auto& o) { o.splits = 129; }); }},
      {"workspace_limit=-2", [&] { return plan_with([](auto& o) { o.workspace_limit = -2; }); }},
      {"no_such_kernel", [&] { return plan_with([](auto& o) { o.kernel = "no_such_kernel"; }); }},
      {"wavetile_verify_options.struct_size is 1", [&] { return verify_with([](auto& o) { o.struct_size = 1; }); }},
      {"splits=0", [&] { return verify_with([](auto& o) { o.splits = 0; }); }},
      {"wavetile_tensors.struct_size is 0",
       [&] {
         const wavetile_tensors unsized{};
         return wavetile_verify(problem.get(), &unsized, nullptr, nullptr);
       }},
      {"wavetile_verify_report.struct_size is 0",
       [&] {
         wavetile_verify_report report{};
         return wavetile_verify(problem.get(), &tensors, nullptr, &report);
       }},
      {"tensor x is NULL", [&] { return wavetile_verify(problem.get(), &tensors, nullptr, nullptr); }},
      {"tensor x is NULL",
       [&] { return wavetile_verify_on_device(device.get(), problem.get(), &tensors, nullptr, nullptr); }},
      {"tensor x is NULL",
       [&] {
         const Device simulated = open_device("sim:sm_80");
         return wavetile_verify_on_device(simulated.get(), problem.get(), &tensors, nullptr, nullptr);
       }},
  });
}

TEST(BadInput, UnknownDevicesAreNamed) {
  for (const char* id : {"", "banana", "cpu:1", "gpu:", "gpu:x", "sim", "sim:sm_1"}) {
    wavetile_device* device = nullptr;
    EXPECT_NE(wavetile_device_open(id, &device), WAVETILE_OK) << id;
    EXPECT_EQ(device, nullptr);
    EXPECT_THAT(wavetile_last_error(), HasSubstr(id));
    EXPECT_NE(std::string(wavetile_last_error()), "");
  }
}

TEST(BadInput, ExecuteChecksItsPointers) {
  const Device device = open_device();
  const Plan plan = make_plan(device, parse("fwd fp32 n1 c4 k4 i4x4 f1x1 +bias+residual"));
  alignas(256) static float memory[6][64];
  alignas(256) static unsigned char workspace[1 << 20];
  const size_t needed = static_cast<size_t>(wavetile_plan_workspace_bytes(plan.get()));
  ASSERT_LE(needed, sizeof workspace);
  auto good = sized<wavetile_tensors>();
  good.x = memory[0];
  good.w = memory[1];
  good.y = memory[2];
  good.bias = memory[3];
  good.residual = memory[4];
  const auto run = [&](auto spoil) {
    wavetile_tensors tensors = good;
    spoil(tensors);
    return wavetile_plan_execute(plan.get(), nullptr, &tensors, workspace, needed);
  };
  EXPECT_TRUE(succeeded(run([](auto&) {})));
  EXPECT_TRUE(succeeded(run([](auto& t) { t.residual = t.y; })));
  expect_refused({
      {"tensor x is NULL", [&] { return run([](auto& t) { t.x = nullptr; }); }},
      {"tensor w is NULL", [&] { return run([](auto& t) { t.w = nullptr; }); }},
      {"tensor y is NULL", [&] { return run([](auto& t) { t.y = nullptr; }); }},
      {"tensor bias is NULL", [&] { return run([](auto& t) { t.bias = nullptr; }); }},
      {"tensor residual is NULL", [&] { return run([](auto& t) { t.residual = nullptr; }); }},
      {"is not 16-byte aligned", [&] { return run([](auto& t) { t.x = memory[0] + 1; }); }},
      {"tensor x is also the output", [&] { return run([](auto& t) { t.x = t.y; }); }},
      {"tensor y overlaps x in memory", [&] { return run([](auto& t) { t.x = static_cast<char*>(t.y) + 16; }); }},
      {"tensor y overlaps residual in memory",
       [&] { return run([](auto& t) { t.residual = static_cast<char*>(t.y) + 16; }); }},
      {"tensor y overlaps bias in memory", [&] { return run([](auto& t) { t.bias = static_cast<char*>(t.y) + 16; }); }},
      {"wavetile_tensors.struct_size is 8", [&] { return run([](auto& t) { t.struct_size = 8; }); }},
  });
  if (needed > 0) {
    expect_refused({
        {"the workspace has 0 bytes",
         [&] { return wavetile_plan_execute(plan.get(), nullptr, &good, nullptr, needed); }},
        {"the plan needs", [&] { return wavetile_plan_execute(plan.get(), nullptr, &good, workspace, needed - 1); }},
        {"is not 256-byte aligned",
         [&] { return wavetile_plan_execute(plan.get(), nullptr, &good, workspace + 16, needed); }},
    });
  }
}
