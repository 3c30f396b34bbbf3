/* SPDX-License-Identifier: Apache-2.0 */
/* tests/faults/api_program.c - the C API where calls of the system fail, as run.py lets them: whatever a call answers,
 * it answers, the same calls then succeed in the same process, and no file stays open.
 *
 *   api_program DEVICE WARM PROBLEM     WARM: another problem, of before calls are counted
 *
 * Exit code 0 where nothing failed; 4 with the message where one call said that memory ran out, 1 where it said
 * something else; 90 and more where a promise was broken. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wavetile/wavetile.h>

/* Without an allocation, which might be the one that fails. */
static int open_files(void) {
  int count = 0, file;
  for (file = 0; file < 1024; ++file) count += fcntl(file, F_GETFD) >= 0;
  return count;
}

static void name_files(void) {
  char link[64], path[400];
  int file;
  for (file = 3; file < 1024; ++file) {
    ssize_t length;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    length = readlink(link, path, sizeof path - 1);
    if (length > 0) fprintf(stderr, " %.*s", (int)length, path);
  }
  fprintf(stderr, "\n");
}

/* A device, a plan and one verified execution; all of it is given back. */
static wavetile_status whole(const char* device_name, const char* text, char* message, size_t size) {
  wavetile_device* device = NULL;
  wavetile_problem* problem = NULL;
  wavetile_plan* plan = NULL;
  wavetile_plan_options options;
  wavetile_verify_report report;
  wavetile_status status = wavetile_device_open(device_name, &device);
  if (status == WAVETILE_OK) status = wavetile_problem_parse(text, &problem);
  wavetile_plan_options_init(&options);
  options.tuning = WAVETILE_TUNING_OFF;
  if (status == WAVETILE_OK) status = wavetile_plan_create(device, problem, &options, &plan);
  memset(&report, 0, sizeof report);
  report.struct_size = sizeof report;
  if (status == WAVETILE_OK) status = wavetile_plan_verify(plan, 7, NULL, &report);
  if (status == WAVETILE_OK && (report.compared == 0 || report.wrong != 0)) exit(91); /* wrong, and it said nothing */
  if (status != WAVETILE_OK) snprintf(message, size, "%s", wavetile_last_error());
  wavetile_plan_destroy(plan);
  wavetile_problem_destroy(problem);
  wavetile_device_close(device);
  return status;
}

int main(int argc, char** argv) {
  struct sigaction quiet;
  char message[2000] = "", again[2000] = "";
  wavetile_status failed = WAVETILE_OK;
  int files, round;
  if (argc != 4) return 2;
  if (whole(argv[1], argv[2], message, sizeof message) != WAVETILE_OK) {
    fprintf(stderr, "before any fault: %s\n", message);
    return 95;
  }
  files = open_files();
  memset(&quiet, 0, sizeof quiet);
  quiet.sa_handler = SIG_DFL;
  sigaction(SIGHUP, &quiet, NULL); /* from here on calls are counted */
  for (round = 0; round < 3; ++round) {
    const wavetile_status status = whole(argv[1], argv[3], again, sizeof again);
    if (status != WAVETILE_OK && again[0] == 0) return 92; /* a failure without words */
    if (status != WAVETILE_OK && failed != WAVETILE_OK) {
      fprintf(stderr, "after '%s' the same calls say '%s'\n", message, again);
      return 93;
    }
    if (open_files() != files) {
      fprintf(stderr, "after '%s' %d files are open where %d were:", again, open_files(), files);
      name_files();
      return 94;
    }
    if (status == WAVETILE_OK) continue;
    failed = status;
    memcpy(message, again, sizeof message);
    again[0] = 0;
  }
  if (failed == WAVETILE_OK) return 0;
  fprintf(stderr, "%s\n", message);
  return failed == WAVETILE_OUT_OF_MEMORY ? 4 : 1;
}
