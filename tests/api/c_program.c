/* SPDX-License-Identifier: Apache-2.0 */
/* tests/api/c_program.c - the C API from strict C99: a training step in three directions, each verified. */
#include <stdio.h>
#include <string.h>
#include <wavetile/wavetile.h>

static int failures = 0;

static void expect(int condition, const char* what) {
  if (condition) return;
  ++failures;
  fprintf(stderr, "failed: %s; last error: %s\n", what, wavetile_last_error());
}

static void run_direction(wavetile_device* device, int direction) {
  wavetile_problem_desc desc;
  wavetile_problem* problem = NULL;
  wavetile_plan* plan = NULL;
  wavetile_plan_options options;
  wavetile_verify_report report;

  wavetile_problem_desc_init(&desc);
  desc.direction = direction;
  desc.n = 2;
  desc.c = 6;
  desc.k = 10;
  desc.in[0] = 8;
  desc.in[1] = 9;
  desc.filter[0] = desc.filter[1] = 3;
  desc.padding = WAVETILE_PADDING_SAME;
  expect(wavetile_problem_create(&desc, &problem) == WAVETILE_OK, "create a problem");

  wavetile_plan_options_init(&options);
  options.tuning = WAVETILE_TUNING_OFF;
  expect(wavetile_plan_create(device, problem, &options, &plan) == WAVETILE_OK, "create a plan");

  memset(&report, 0, sizeof report);
  report.struct_size = sizeof report;
  expect(wavetile_plan_verify(plan, 11, NULL, &report) == WAVETILE_OK, "verify");
  expect(report.elements > 0 && report.compared > 0 && report.wrong == 0, "a full report");
  printf("%s: %lld elements\n", wavetile_problem_text(problem), (long long)report.elements);

  wavetile_plan_destroy(plan);
  wavetile_problem_destroy(problem);
}

int main(void) {
  wavetile_device* device = NULL;
  int direction;
  expect(wavetile_version() == WAVETILE_VERSION, "the version of header and library");
  expect(wavetile_device_open("cpu", &device) == WAVETILE_OK, "open the CPU");
  for (direction = WAVETILE_FORWARD; direction <= WAVETILE_BACKWARD_WEIGHT; ++direction) {
    run_direction(device, direction);
  }
  wavetile_device_close(device);
  return failures == 0 ? 0 : 1;
}
