/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <wavetile/wavetile.h>

int main(void) {
  wavetile_device* device = NULL;
  wavetile_problem* problem = NULL;
  wavetile_plan* plan = NULL;
  int good = wavetile_device_open("cpu", &device) == WAVETILE_OK &&
             wavetile_problem_parse("fwd fp32 n1 c4 k4 i6x6 f3x3 p1", &problem) == WAVETILE_OK &&
             wavetile_plan_create(device, problem, NULL, &plan) == WAVETILE_OK &&
             wavetile_plan_verify(plan, 1, NULL, NULL) == WAVETILE_OK;
  if (good) {
    printf("verified with wavetile %s\n", wavetile_version_string());
  } else {
    printf("%s\n", wavetile_last_error());
  }
  wavetile_plan_destroy(plan);
  wavetile_problem_destroy(problem);
  wavetile_device_close(device);
  return good ? 0 : 1;
}
