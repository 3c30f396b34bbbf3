// SPDX-License-Identifier: Apache-2.0
#include "generate/export_launchers.h"

#include "config/fields.h"

namespace wt::exported {

std::string launch_header(std::span<const Entry> entries) {
  std::string text = R"(/* SPDX-License-Identifier: Apache-2.0 */
/* The exported kernels for C and C++ programs, over Wavetile's C API.
 *
 *   wavetile_registry_create(device, &registry)
 *   wavetile_registry_add(registry, "libwavetile_kernels.so", WAVETILE_PRIORITY_NORMAL, NULL)
 *   wavetile_launch_NAME(registry, device, problem, tensors, workspace, workspace_bytes, stream)
 *
 * The same calls serve NVIDIA, AMD and the simulator: the registry knows what the library was built for. The device
 * remembers plans, so a launch that is repeated costs no more than an execute. */
#ifndef WAVETILE_KERNELS_H_
#define WAVETILE_KERNELS_H_

#include <wavetile/wavetile.h>

static inline void wavetile_exported_options(const wavetile_registry* registry, const char* kernel,
                                             wavetile_plan_options* options) {
  wavetile_plan_options_init(options);
  options->registry = registry;
  options->kernel = kernel;
  options->deterministic = 0;
}

/* Bytes of workspace that a launch needs; -1 where the kernel cannot run the problem (wavetile_last_error says why). */
static inline int64_t wavetile_exported_workspace(const char* kernel, wavetile_registry* registry,
                                                  wavetile_device* device, const wavetile_problem* problem) {
  wavetile_plan_options options;
  wavetile_plan* plan = NULL;
  int64_t bytes;
  wavetile_exported_options(registry, kernel, &options);
  if (wavetile_plan_create(device, problem, &options, &plan) != WAVETILE_OK) return -1;
  bytes = wavetile_plan_workspace_bytes(plan);
  wavetile_plan_destroy(plan);
  return bytes;
}

/* *supported becomes 1 or 0; *reason, which may be NULL, a string for wavetile_string_free. */
static inline wavetile_status wavetile_exported_is_supported(const char* kernel, wavetile_registry* registry,
                                                             wavetile_device* device, const wavetile_problem* problem,
                                                             int32_t* supported, char** reason) {
  wavetile_plan_options options;
  wavetile_exported_options(registry, kernel, &options);
  return wavetile_kernel_supported(device, problem, &options, supported, reason);
}

static inline wavetile_status wavetile_exported_launch(const char* kernel, wavetile_registry* registry,
                                                       wavetile_device* device, const wavetile_problem* problem,
                                                       const wavetile_tensors* tensors, void* workspace,
                                                       size_t workspace_bytes, wavetile_stream stream) {
  wavetile_plan_options options;
  wavetile_plan* plan = NULL;
  wavetile_status status;
  wavetile_exported_options(registry, kernel, &options);
  status = wavetile_plan_create(device, problem, &options, &plan);
  if (status != WAVETILE_OK) return status;
  status = wavetile_plan_execute(plan, stream, tensors, workspace, workspace_bytes);
  wavetile_plan_destroy(plan);
  return status;
}

)";
  text += "static const char* const wavetile_exported_names[] = {\n";
  for (const Entry& entry : entries) text += fmt::format("    \"{}\",\n", entry.name);
  return text + fmt::format("}};\nenum {{ wavetile_exported_count = {} }};\n\n#endif\n", entries.size());
}

std::string launcher_header(const Entry& entry) {
  return fmt::format(
      "/* SPDX-License-Identifier: Apache-2.0 */\n"
      "/* Launcher of one kernel: {1} */\n"
      "#ifndef LAUNCH_{0}\n"
      "#define LAUNCH_{0}\n"
      "\n"
      "#include \"wavetile_kernels.h\"\n"
      "\n"
      "static inline wavetile_status wavetile_is_supported_{0}(wavetile_registry* registry, wavetile_device* device,\n"
      "    const wavetile_problem* problem, int32_t* supported, char** reason) {{\n"
      "  return wavetile_exported_is_supported(\"{0}\", registry, device, problem, supported, reason);\n"
      "}}\n"
      "\n"
      "static inline int64_t wavetile_workspace_{0}(wavetile_registry* registry, wavetile_device* device,\n"
      "    const wavetile_problem* problem) {{\n"
      "  return wavetile_exported_workspace(\"{0}\", registry, device, problem);\n"
      "}}\n"
      "\n"
      "static inline wavetile_status wavetile_launch_{0}(wavetile_registry* registry, wavetile_device* device,\n"
      "    const wavetile_problem* problem, const wavetile_tensors* tensors, void* workspace, size_t workspace_bytes,\n"
      "    wavetile_stream stream) {{\n"
      "  return wavetile_exported_launch(\"{0}\", registry, device, problem, tensors, workspace, workspace_bytes,\n"
      "                                  stream);\n"
      "}}\n"
      "\n"
      "#endif\n",
      entry.name, instance_string(entry.config));
}

std::string example_c() {
  return R"(/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a problem by every kernel of the library that can, with small integers, and compares each result.
 *
 *   example_c LIBRARY DEVICE PROBLEM      example_c ./libwavetile_kernels.so sim:sm_80 'fwd bf16 n1 c16 k16 i8x8 f3x3 p1'
 */
#include <stdio.h>
#include <stdlib.h>

#include "wavetile_kernels.h"

static void check(wavetile_status status) {
  if (status == WAVETILE_OK) return;
  fprintf(stderr, "%s: %s\n", wavetile_status_name(status), wavetile_last_error());
  exit((int)status);
}

int main(int argc, char** argv) {
  wavetile_device* device = NULL;
  wavetile_problem* problem = NULL;
  wavetile_registry* registry = NULL;
  int i, role, ran = 0;
  if (argc != 4) {
    fprintf(stderr, "usage: %s LIBRARY DEVICE PROBLEM\n", argv[0]);
    return 2;
  }
  check(wavetile_device_open(argv[2], &device));
  check(wavetile_problem_parse(argv[3], &problem));
  check(wavetile_registry_create(device, &registry));
  check(wavetile_registry_add(registry, argv[1], WAVETILE_PRIORITY_NORMAL, NULL));
  for (i = 0; i < wavetile_exported_count; ++i) {
    const char* kernel = wavetile_exported_names[i];
    void* on_host[WAVETILE_ROLE_W_SCALES + 1] = {NULL};
    void* on_device[WAVETILE_ROLE_W_SCALES + 1] = {NULL};
    wavetile_tensors host, tensors;
    wavetile_verify_options exact;
    void* workspace = NULL;
    int64_t bytes;
    int32_t supported = 0;
    const int output = (int)wavetile_problem_output_role(problem);
    /* A kernel of another direction or type is no answer to this problem. */
    if (wavetile_exported_is_supported(kernel, registry, device, problem, &supported, NULL) != WAVETILE_OK) continue;
    if (!supported) continue;
    for (role = 0; role <= WAVETILE_ROLE_W_SCALES; ++role) {
      const size_t size = (size_t)wavetile_problem_tensor_bytes(problem, (wavetile_role)role);
      if (size == 0) continue;
      on_host[role] = malloc(size);
      check(wavetile_device_allocate(device, size, &on_device[role]));
    }
    wavetile_tensors_init(&host);
    wavetile_tensors_init(&tensors);
    host.x = on_host[0], host.w = on_host[1], host.y = on_host[2], host.scale = on_host[3], host.bias = on_host[4];
    host.residual = on_host[5], host.amax = on_host[6];
    tensors.x = on_device[0], tensors.w = on_device[1], tensors.y = on_device[2], tensors.scale = on_device[3];
    tensors.bias = on_device[4], tensors.residual = on_device[5], tensors.amax = on_device[6];
    host.x_scales = on_host[WAVETILE_ROLE_X_SCALES], host.w_scales = on_host[WAVETILE_ROLE_W_SCALES];
    tensors.x_scales = on_device[WAVETILE_ROLE_X_SCALES], tensors.w_scales = on_device[WAVETILE_ROLE_W_SCALES];
    check(wavetile_fill_tensors(problem, WAVETILE_FILL_EXACT, 1, &host));
    for (role = 0; role <= WAVETILE_ROLE_W_SCALES; ++role) {
      const size_t size = (size_t)wavetile_problem_tensor_bytes(problem, (wavetile_role)role);
      if (size) check(wavetile_device_copy_in(device, on_device[role], on_host[role], size));
    }
    bytes = wavetile_exported_workspace(kernel, registry, device, problem);
    if (bytes < 0) check(WAVETILE_UNSUPPORTED);
    check(wavetile_device_allocate(device, (size_t)bytes, &workspace));
    check(wavetile_exported_launch(kernel, registry, device, problem, &tensors, workspace, (size_t)bytes, NULL));
    check(wavetile_stream_synchronize(device, NULL));
    check(wavetile_device_copy_out(device, on_host[output], on_device[output],
                                   (size_t)wavetile_problem_tensor_bytes(problem, (wavetile_role)output)));
    wavetile_verify_options_init(&exact);
    exact.exact = 1;
    exact.exhaustive = 1;
    check(wavetile_verify(problem, &host, &exact, NULL));
    printf("right: %s\n", kernel);
    for (role = 0; role <= WAVETILE_ROLE_W_SCALES; ++role) {
      free(on_host[role]);
      check(wavetile_device_free(device, on_device[role]));
    }
    check(wavetile_device_free(device, workspace));
    ++ran;
  }
  wavetile_registry_destroy(registry);
  wavetile_problem_destroy(problem);
  wavetile_device_close(device);
  if (ran == 0) fprintf(stderr, "none of the %d kernels can run it\n", (int)wavetile_exported_count);
  return ran == 0;
}
)";
}

std::string example_cpp() {
  return R"(// SPDX-License-Identifier: Apache-2.0
// Lets the library's kernels compete with Wavetile's own, at high priority, and verifies what the plan takes.
//
//   example_cpp LIBRARY DEVICE PROBLEM
#include <iostream>
#include <wavetile/wavetile.hpp>

template <class T>
T value_or_exit(wavetile::Result<T> result) {
  if (result) return *std::move(result);
  std::cerr << result.status().message() << "\n";
  std::exit(1);
}

int main(int argc, char** argv) {
  if (argc != 4) return std::cerr << "usage: example_cpp LIBRARY DEVICE PROBLEM\n", 2;
  const auto device = value_or_exit(wavetile::Device::open(argv[2]));
  const auto problem = value_or_exit(wavetile::Problem::parse(argv[3]));
  wavetile::PlanOptions options;
  options.registry = value_or_exit(wavetile::Registry::create(device));
  value_or_exit(options.registry->add(argv[1], wavetile::Priority::kHigh));
  const auto plan = value_or_exit(wavetile::Plan::create(device, problem, options));
  wavetile::VerifyOptions exact;
  exact.exact = true;
  value_or_exit(plan.verify(1, exact));
  std::cout << "right: " << plan.info().kernel << "\n       " << plan.info().reason << "\n";
}
)";
}

}  // namespace wt::exported
