/* SPDX-License-Identifier: Apache-2.0 */
/* examples/run_problem.c - the C API from end to end: a problem from its text, on a device, verified.
 *
 *   example_run_problem "bwd_data bf16 n2 c16 k24 i9x9 f3x3 s2 p1" cpu
 */
#include <stdio.h>
#include <stdlib.h>
#include <wavetile/wavetile.h>

/* Every call that can fail gives a status; the text of the failure is kept for the thread. */
static void check(wavetile_status status, const char* step) {
  if (status == WAVETILE_OK) return;
  fprintf(stderr, "%s: %s: %s\n", step, wavetile_status_name(status), wavetile_last_error());
  exit(status);
}

/* One tensor on the host and on the device. */
typedef struct {
  void* host;
  void* device;
  size_t bytes;
} tensor;

static tensor make_tensor(wavetile_device* device, const wavetile_problem* problem, wavetile_role role) {
  tensor result = {NULL, NULL, (size_t)wavetile_problem_tensor_bytes(problem, role)};
  if (result.bytes == 0) return result; /* the problem has no such tensor */
  result.host = malloc(result.bytes);
  if (!result.host) exit(WAVETILE_OUT_OF_MEMORY);
  check(wavetile_device_allocate(device, result.bytes, &result.device), "allocate");
  return result;
}

/* The struct that execute and verify take, from either side. */
static wavetile_tensors pointers(const tensor* tensors, int on_device) {
  wavetile_tensors result;
  wavetile_tensors_init(&result);
#define POINTER(role) (on_device ? tensors[role].device : tensors[role].host)
  result.x = POINTER(WAVETILE_ROLE_X);
  result.w = POINTER(WAVETILE_ROLE_W);
  result.y = POINTER(WAVETILE_ROLE_Y);
  result.scale = POINTER(WAVETILE_ROLE_SCALE);
  result.bias = POINTER(WAVETILE_ROLE_BIAS);
  result.residual = POINTER(WAVETILE_ROLE_RESIDUAL);
  result.amax = POINTER(WAVETILE_ROLE_AMAX);
#undef POINTER
  return result;
}

int main(int argc, char** argv) {
  const char* text = argc > 1 ? argv[1] : "fwd fp32 n1 c8 k16 i10x10 f3x3 p1 +bias+relu";
  wavetile_device* device = NULL;
  wavetile_problem* problem = NULL;
  wavetile_plan* plan = NULL;
  tensor tensors[WAVETILE_ROLE_AMAX + 1];
  wavetile_tensors host, on_device;
  wavetile_plan_info info = {0};
  wavetile_verify_report report = {0};
  void* workspace = NULL;
  size_t workspace_bytes;
  int role;

  check(wavetile_problem_parse(text, &problem), "problem");
  check(wavetile_device_open(argc > 2 ? argv[2] : "auto", &device), "device");
  check(wavetile_plan_create(device, problem, NULL, &plan), "plan");

  info.struct_size = sizeof info; /* structs that the library fills carry their size */
  check(wavetile_plan_get_info(plan, &info), "plan info");
  printf("%s\nby %s (%s)\n", wavetile_problem_text(problem), info.kernel, info.reason);

  for (role = 0; role <= WAVETILE_ROLE_AMAX; ++role) tensors[role] = make_tensor(device, problem, (wavetile_role)role);
  host = pointers(tensors, 0);
  on_device = pointers(tensors, 1);
  check(wavetile_fill_tensors(problem, WAVETILE_FILL_RANDOM, 1, &host), "fill");
  for (role = 0; role <= WAVETILE_ROLE_AMAX; ++role) {
    check(wavetile_device_copy_in(device, tensors[role].device, tensors[role].host, tensors[role].bytes), "copy in");
  }

  workspace_bytes = (size_t)wavetile_plan_workspace_bytes(plan);
  check(wavetile_device_allocate(device, workspace_bytes, &workspace), "workspace");
  check(wavetile_plan_execute(plan, NULL, &on_device, workspace, workspace_bytes), "execute");
  check(wavetile_stream_synchronize(device, NULL), "synchronize");

  for (role = 0; role <= WAVETILE_ROLE_AMAX; ++role) {
    if (role == (int)wavetile_problem_output_role(problem) || role == WAVETILE_ROLE_AMAX) {
      check(wavetile_device_copy_out(device, tensors[role].host, tensors[role].device, tensors[role].bytes),
            "copy out");
    }
  }
  report.struct_size = sizeof report;
  check(wavetile_verify(problem, &host, NULL, &report), "verify");
  printf("verified: %lld of %lld elements, worst error %.2f of what is allowed\n", (long long)report.compared,
         (long long)report.elements, report.worst);

  for (role = 0; role <= WAVETILE_ROLE_AMAX; ++role) {
    free(tensors[role].host);
    check(wavetile_device_free(device, tensors[role].device), "free");
  }
  check(wavetile_device_free(device, workspace), "free");
  wavetile_plan_destroy(plan);
  wavetile_problem_destroy(problem);
  wavetile_device_close(device);
  return 0;
}
