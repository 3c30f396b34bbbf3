# SPDX-License-Identifier: Apache-2.0
"""Checks of the comparison that need neither PyTorch nor a GPU."""
import argparse
import ctypes
import math
import sys
import tempfile
from pathlib import Path

from comparison.api import PlanOptions, ProblemDesc, Tensors
from comparison.rows import Row, read_suite, touched
from comparison.timing import Timer, summarize
from comparison.measure import supervise
from comparison.report import complete, copy_us, geomean, print_group, strict_costs, summary_of, tuning_of


def self_test():
    assert touched(8, 8, 1, 1, 1, 0) == 8 and touched(8, 4, 1, 2, 1, 0) == 4, "a stride of two skips every other pixel"
    assert touched(8, 8, 3, 1, 1, 1) == 8 and touched(9, 4, 2, 2, 1, 0) == 8
    flat = summarize([10.0] * 16)
    assert flat == {"us": 10.0, "low_us": 9.75, "high_us": 10.25, "runs": 16}, flat
    timer = Timer.__new__(Timer)
    timer.flush_us = 80.0
    assert [timer.flushes_for(host) for host in (1.0, 40.0, 41.0, 400.0)] == [2, 2, 3, 11]
    order = []
    timer.flushes_of = lambda work: 1
    timer.batch = lambda work, count: order.append(work) or [1.0 * work] * count
    turns = timer.time_in_turns([10, 20], 5)
    assert order[:4] == [10, 20, 10, 20] and [timing["us"] for timing in turns] == [10.0, 20.0]
    assert turns[0]["runs"] == turns[1]["runs"] >= 12
    drift = summarize([10.0] * 48 + [14.0] * 16)
    assert drift["us"] == 10 and drift["high_us"] == 14, drift
    assert abs(geomean([0.5, 2.0]) - 1) < 1e-12
    ceilings = {"bf16_tflops": 500.0, "copy_gbs": 4000.0}
    timing = {"us": 200.0, "low_us": 198.0, "high_us": 202.0, "runs": 16}
    row = {"suite": "s", "name": "l", "direction": "fwd", "gflop": 50.0, "least_bytes": 4000, "error": "",
           "kernel": "k", "workspace_bytes": 0, "verified": True, "execute_host_us": 3.0, "wavetile": timing,
           "cudnn_tuned": dict(timing, us=300.0)}
    done = complete(dict(row), ceilings)
    assert done["tflops"] == 250.0 and done["roofline"] == 0.5 and done["speedup_cudnn_tuned"] == 1.5, done
    bound = complete(dict(row, gflop=0.001, least_bytes=400_000_000), ceilings)
    assert bound["roofline"] == 0.5, bound
    assert "copy_us" not in bound and complete(dict(row), dict(ceilings, copies=[[1000, 3.0]]))["copy_us"] == 12.0
    assert [copy_us(b, [[10, 2.0], [20, 4.0]]) for b in (5, 10, 15, 40)] == [2.0, 2.0, 3.0, 8.0]
    loss = complete(dict(row, name="m", cudnn_tuned=dict(timing, us=100.0)), ceilings)
    broken = {"suite": "s", "name": "b", "direction": "fwd", "problem": "p", "error": "WRONG RESULT: 1 of 2"}
    s = summary_of([done, loss, broken])
    assert s["worst"] == {"name": "m", "speedup": 0.5} and s["losses"] == 1 and s["failed"] == 1 and s["ranked"] == 2, s
    assert s["geomean"] == round(math.sqrt(0.75), 3)
    print_group("s", "fwd", [done, loss, broken])
    tuned = tuning_of([dict(done, tuned_us=190.0), dict(loss, tuned_us=0), broken], argparse.Namespace(tuning="cached"))
    assert (tuned["mode"], tuned["tuned_rows"], tuned["rows"]) == ("cached", 1, 2), tuned
    assert strict_costs([dict(done, strict_nonfinite={"us": 300.0}), loss, dict(done, strict_nonfinite={"error": "x"})]) == [1.5]
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "a.txt"
        suite.write_text("# comment\none: fwd bf16 n1  # tail\n\ntwo.b: fwd n2\n")
        assert read_suite(suite) == [("one", "fwd bf16 n1"), ("two.b", "fwd n2")]
    # A worker that faults in its second row, and another one that goes on after it.
    script = """
import json, os, sys
path = sys.argv[sys.argv.index("--worker") + 1]
done = [json.loads(line).get("key") for line in open(path)]
with open(path, "a") as log:
    for name in "abc":
        if name in done:
            continue
        row = {"suite": "s", "name": name, "direction": "fwd", "problem": "p"}
        log.write(json.dumps(dict(row, starting=name)) + "\\n")
        log.flush()
        if name == "b":
            os._exit(3)
        log.write(json.dumps({"key": name, "row": dict(row, error="")}) + "\\n")
"""
    lines = supervise(argparse.Namespace(row_seconds=60, deadline=0), [sys.executable, "-c", script])
    rows = {line["key"]: line["row"]["error"] for line in lines if "key" in line}
    assert rows["a"] == rows["c"] == "" and "ended with code 3" in rows["b"], rows
    print("self-test passed")
    return 0


def api_test(api):
    """The structs above against the library's own, by a convolution on the CPU whose result is known."""
    # What the library sets up must end where the script's own struct does: behind it lies other memory.
    for struct, init in ((Tensors, "wavetile_tensors_init"), (PlanOptions, "wavetile_plan_options_init"),
                         (ProblemDesc, "wavetile_problem_desc_init")):
        room = (ctypes.c_uint8 * (ctypes.sizeof(struct) + 1024))()
        getattr(api.lib, init)(ctypes.byref(room))
        size = struct.from_buffer(room).struct_size
        assert size == ctypes.sizeof(struct), f"{struct.__name__}: {ctypes.sizeof(struct)} bytes here, {size} in the library"
    row = Row(api, "s", "l", "fwd fp32 n1 c1 k1 i2x2 f1x1", "fwd", None)
    assert row.out == [2, 2] and row.flops == 8 and row.types == ["fp32"] * 3 and row.bytes == 36, vars(row)
    plan = api.plan(api.open("cpu"), row.problem, "off")
    info = api.plan_info(plan)
    assert info.kernel and info.reason and info.workspace_bytes == api.lib.wavetile_plan_workspace_bytes(plan)
    memory = {"x": (ctypes.c_float * 4)(1, 2, 3, 4), "w": (ctypes.c_float * 1)(2), "y": (ctypes.c_float * 4)()}
    tensors = Tensors()
    api.lib.wavetile_tensors_init(ctypes.byref(tensors))
    aligned = {}
    for role, values in memory.items():  # the API wants 16-byte alignment
        store = ctypes.create_string_buffer(ctypes.sizeof(values) + 64)
        address = (ctypes.addressof(store) + 63) // 64 * 64
        ctypes.memmove(address, values, ctypes.sizeof(values))
        aligned[role] = (store, address)
        setattr(tensors, role, address)
    workspace = ctypes.create_string_buffer(max(1, info.workspace_bytes) + 256)
    at = (ctypes.addressof(workspace) + 255) // 256 * 256
    api.check(api.lib.wavetile_plan_execute(plan, None, ctypes.byref(tensors), at, info.workspace_bytes))
    result = list((ctypes.c_float * 4).from_address(aligned["y"][1]))
    assert result == [2, 4, 6, 8], result
    print("library test passed")
