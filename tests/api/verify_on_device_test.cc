// SPDX-License-Identifier: Apache-2.0
// Outputs compared where they lie, on the CPU and on a simulated GPU: right ones pass, one wrong element is found and
// named, and the check leaves every tensor as it was.
#include <cstring>
#include <vector>

#include "handles.h"

using namespace wavetile_test;

namespace {

constexpr int kCount = WAVETILE_ROLE_AUX3 + 1;
constexpr wavetile_role kRoles[] = {WAVETILE_ROLE_X, WAVETILE_ROLE_W, WAVETILE_ROLE_Y, WAVETILE_ROLE_BIAS_GRADIENT};

// Tensors of one problem on the host, filled, and on a device.
class Memory {
 public:
  Memory(const Device& device, const Problem& problem) : device_(device.get()) {
    for (const wavetile_role role : kRoles) {
      sizes_[role] = static_cast<size_t>(wavetile_problem_tensor_bytes(problem.get(), role));
      stores_[role].resize(sizes_[role] + 64);
      at_[role] = stores_[role].data() + (64 - reinterpret_cast<uintptr_t>(stores_[role].data()) % 64) % 64;
      EXPECT_TRUE(succeeded(wavetile_device_allocate(device_, sizes_[role] + 1, &on_device_[role])));
    }
    host = pointers(at_);
    tensors = pointers(on_device_);
    EXPECT_TRUE(succeeded(wavetile_fill_tensors(problem.get(), WAVETILE_FILL_RANDOM, 3, &host)));
    upload();
  }
  ~Memory() {
    for (const wavetile_role role : kRoles) EXPECT_TRUE(succeeded(wavetile_device_free(device_, on_device_[role])));
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void upload() {
    for (const wavetile_role role : kRoles)
      EXPECT_TRUE(succeeded(wavetile_device_copy_in(device_, on_device_[role], at_[role], sizes_[role])));
  }
  // Whether the device holds what the host does.
  bool unchanged() {
    for (const wavetile_role role : kRoles) {
      std::vector<unsigned char> bytes(sizes_[role] + 1);
      EXPECT_TRUE(succeeded(wavetile_device_copy_out(device_, bytes.data(), on_device_[role], sizes_[role])));
      if (std::memcmp(bytes.data(), at_[role], sizes_[role]) != 0) return false;
    }
    return true;
  }
  unsigned char* output(const Problem& problem) {
    return static_cast<unsigned char*>(at_[wavetile_problem_output_role(problem.get())]);
  }

  wavetile_tensors host, tensors;

 private:
  static wavetile_tensors pointers(void* const (&at)[kCount]) {
    auto tensors = sized<wavetile_tensors>();
    tensors.x = at[WAVETILE_ROLE_X];
    tensors.w = at[WAVETILE_ROLE_W];
    tensors.y = at[WAVETILE_ROLE_Y];
    tensors.bias_gradient = at[WAVETILE_ROLE_BIAS_GRADIENT];
    return tensors;
  }

  wavetile_device* device_;
  size_t sizes_[kCount] = {};
  std::vector<unsigned char> stores_[kCount];
  void* at_[kCount] = {};
  void* on_device_[kCount] = {};
};

void compute(const Problem& problem, const wavetile_tensors& tensors) {
  const Device cpu = open_device();
  const Plan plan = make_plan(cpu, problem);
  const auto bytes = static_cast<size_t>(wavetile_plan_workspace_bytes(plan.get()));
  std::vector<unsigned char> memory(bytes + 256);
  void* workspace = memory.data() + (256 - reinterpret_cast<uintptr_t>(memory.data()) % 256) % 256;
  ASSERT_TRUE(succeeded(wavetile_plan_execute(plan.get(), nullptr, &tensors, workspace, bytes)));
}

void check(const char* id, const char* text) {
  SCOPED_TRACE(std::string(id) + ": " + text);
  const Device device = open_device(id);
  const Problem problem = parse(text);
  Memory memory(device, problem);
  auto report = sized<wavetile_verify_report>();
  const auto verify = [&] {
    return wavetile_verify_on_device(device.get(), problem.get(), &memory.tensors, nullptr, &report);
  };
  EXPECT_EQ(verify(), WAVETILE_VERIFICATION_FAILED);
  EXPECT_EQ(report.unwritten, report.elements) << "nothing was executed yet";

  compute(problem, memory.host);
  memory.upload();
  EXPECT_TRUE(succeeded(verify()));
  EXPECT_EQ(report.compared, report.elements);
  EXPECT_TRUE(memory.unchanged()) << "the check reads";

  const wavetile_role role = wavetile_problem_output_role(problem.get());
  const int64_t at = report.elements / 2;
  const int64_t size = wavetile_problem_tensor_bytes(problem.get(), role) / report.elements;
  memory.output(problem)[at * size + size - 1] ^= 0x80;  // another sign
  memory.upload();
  EXPECT_EQ(verify(), WAVETILE_VERIFICATION_FAILED);
  EXPECT_EQ(report.wrong, 1);
  EXPECT_EQ(report.index, at);
}

TEST(VerifyOnDevice, FindsOneWrongElementOfEveryType) {
  for (const char* id : {"cpu", "sim:sm_80"}) {
    check(id, "fwd fp32 n1 c5 k6 i5x4 f3x3 p1");
    check(id, "bwd_data tf32 n2 c8 k6 i5x4 f3x3 s2 p1");
    check(id, "bwd_weight fp16 n2 c8 k6 i5x4 f3x3 p1 NCHW");
    check(id, "bwd_weight bf16 n2 c3 k4 i7x7 f5x5 p2");
    check(id, "fwd e4m3>bf16 n1 c8 k6 i5x4 f1x1");
    check(id, "fwd e5m2>fp16 n1 c8 k6 i9 f3 p1 NCW");
  }
}

TEST(VerifyOnDevice, ComparesOnTheHostWhatTheDeviceCannot) {
  check("sim:sm_80", "bwd_weight fp32 n2 c4 k6 i5x4 f3x3 p1 bias_gradient");
  const Device device = open_device("sim:sm_80");
  const Problem problem = parse("bwd_weight fp32 n2 c4 k6 i5x4 f3x3 p1 bias_gradient");
  Memory memory(device, problem);
  compute(problem, memory.host);
  static_cast<float*>(memory.host.bias_gradient)[4] += 1;
  memory.upload();
  auto report = sized<wavetile_verify_report>();
  EXPECT_EQ(wavetile_verify_on_device(device.get(), problem.get(), &memory.tensors, nullptr, &report),
            WAVETILE_VERIFICATION_FAILED);
  EXPECT_EQ(report.bias_gradient_wrong, 1);
}

}  // namespace
