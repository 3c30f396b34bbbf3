# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs above the same call from C, on the CPU, where the smallest convolution leaves little else.

    python bench/python_call.py          # the package `wavetile`, a C compiler, and a checkout for the header

Each number is the least of many rounds, so that other work on the machine is left out.
"""
import ctypes
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import wavetile as wt

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROBLEM, ROUNDS, CALLS = "fwd fp32 n1 c4 k4 i2x2 f1x1", 1500, 50
C_SIDE = r"""
#include <stdlib.h>
#include <time.h>
#include <wavetile/wavetile.h>

double least_us(const char* text, int rounds, int calls) {
  static float x[16] __attribute__((aligned(64))), w[16] __attribute__((aligned(64))), y[16] __attribute__((aligned(64)));
  wavetile_device* device = NULL;
  wavetile_problem* problem = NULL;
  wavetile_plan* plan = NULL;
  if (wavetile_device_open("cpu", &device) || wavetile_problem_parse(text, &problem) ||
      wavetile_plan_create(device, problem, NULL, &plan)) return -1;
  size_t bytes = wavetile_plan_workspace_bytes(plan);
  void* room = aligned_alloc(256, (bytes + 511) / 256 * 256);
  wavetile_tensors tensors = {.struct_size = sizeof tensors, .x = x, .w = w, .y = y};
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int j = 0; j < calls; ++j) {
      if (wavetile_plan_execute(plan, NULL, &tensors, room, bytes)) return -1;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double us = ((end.tv_sec - begin.tv_sec) * 1e6 + (end.tv_nsec - begin.tv_nsec) * 1e-3) / calls;
    if (us < best) best = us;
  }
  return best;
}
"""


def from_c():
    (library,) = pathlib.Path(wt.__file__).parent.glob("libwavetile.so.*")
    with tempfile.TemporaryDirectory() as folder:
        source, module = pathlib.Path(folder, "calls.c"), pathlib.Path(folder, "calls.so")
        source.write_text(C_SIDE)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{ROOT / 'include'}", str(source), str(library.resolve()), "-o", str(module)],
                       check=True)
        least_us = ctypes.CDLL(str(module)).least_us
        least_us.restype = ctypes.c_double
        us = least_us(PROBLEM.encode(), ROUNDS, CALLS)
    if us < 0:
        raise SystemExit("the C side fails")
    return us


def least_us(function, **words):
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(CALLS):
            function(**words)
        best = min(best, (time.perf_counter() - begin) / CALLS)
    return best * 1e6


def main():
    plan = wt.Device("cpu").plan(PROBLEM)
    arrays = {role: np.zeros(plan.problem.tensors[role].shape, np.float32) for role in ("x", "w", "y")}
    kinds = {"numpy": arrays}
    try:
        import torch
        kinds["torch"] = {role: torch.from_numpy(array) for role, array in arrays.items()}
    except ImportError:
        pass
    c = from_c()
    print(f"{'C':24} {c:6.2f} us")
    for kind, given in kinds.items():
        for name, words in ((f"{kind}, into out=", {"x": given["x"], "w": given["w"], "out": given["y"]}),
                            (f"{kind}, a new result", {"x": given["x"], "w": given["w"]})):
            us = least_us(plan, **words)
            print(f"{name:24} {us:6.2f} us, {us - c:.2f} above C")


if __name__ == "__main__":
    main()
