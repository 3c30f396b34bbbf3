# SPDX-License-Identifier: Apache-2.0
"""Checks of the comparison that need neither PyTorch nor a GPU."""
import argparse
import math
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from comparison.limit import Limits, copy_us
from comparison.platform_facts import PlatformFacts, amd_driver
from comparison.rows import PUBLIC_SUITES, ROOT, TYPES, inside, read_suite, touched
from comparison.sides import TORCH_TYPES, memory_order
from comparison.timing import Timer, summarize
from comparison.measure import supervise
from comparison.report import complete, geomean, print_group, strict_costs, summary_of, tuning_of


def limits_test(row):
    """The larger of the copy and the products, at the best rates of the run; nothing stands above them."""
    copies, ceilings = [[1000, 3.0], [4000, 6.0]], {"bf16_tflops": 500.0, "copy_gbs": 4000.0}
    limits = Limits([row], dict(ceilings, copies=copies))
    done = complete(dict(row), dict(ceilings, copies=copies), limits)
    assert limits.tflops == {"bf16": 500.0} and done["limit_us"] == 100 and done["share"] == 0.5, (limits.tflops, done)
    assert done["cudnn_share"] == round(100 / 300, 3) and "limit_us" not in complete(dict(row), ceilings, Limits([row], ceilings))
    # A faster product of the run, in a short row or a long one, of ours, of cuDNN's or of cuBLAS's, is the roof of all.
    fast = dict(row, gflop=1.0, cudnn_tuned={"us": 1.0})
    assert Limits([row, fast], dict(ceilings, copies=copies)).tflops == {"bf16": 1000.0}
    assert Limits([dict(row, gemm={"us": 62.5})], dict(ceilings, copies=copies)).tflops == {"bf16": 800.0}
    # Taps in the padding are no work, and another type has its own rate.
    padded = Limits([dict(row, input_type="tf32", work_gflop=40.0)], dict(ceilings, copies=copies))
    assert padded.tflops == {"bf16": 500.0, "tf32": 200.0}, padded.tflops
    assert [inside(4, 4, 3, 1, 1, 1), inside(9, 5, 3, 2, 1, 1), inside(11, 8, 3, 1, 3, 3)] == [10, 13, 21]
    # A row that took less time than a copy of its bytes, and a floor.
    quick = Limits([dict(row, gflop=0.001, least_bytes=4000, wavetile={"us": 3.0})], dict(ceilings, copies=copies))
    assert quick.copies == [[1000, 1.5], [4000, 3.0]], quick.copies
    few = dict(row, gflop=0.001, least_bytes=2000)
    assert Limits([], dict(ceilings, copies=copies)).least_us(few) == 4.0
    assert Limits([], dict(ceilings, copies=copies), 5.0).least_us(few) == 5.0
    every = [dict(row, gflop=g, wavetile={"us": u}, cudnn_tuned={"us": 2 * u}) for g, u in ((50, 60), (1, 7), (0.1, 3))]
    limits = Limits(every, dict(ceilings, copies=copies))
    assert all(complete(dict(one), ceilings, limits)["share"] <= 1 for one in every) and set(TYPES) == set(TORCH_TYPES)
    summary = summary_of([done, dict(done, share=0.125)])
    assert summary["share"] == 0.25 and summary["below_0.95"] == 0, summary


def layouts_test():
    assert memory_order(True, 2, [5, 7], 3) == ([2, 5, 7, 3], [0, 3, 1, 2])
    assert memory_order(False, 2, [5, 7], 3) == ([2, 3, 5, 7], [0, 1, 2, 3])
    for channels_last in (True, False):
        for spatial in ([1, 9], [5, 7], [4, 5, 7]):
            shape, permutation = memory_order(channels_last, 2, spatial, 3)
            assert [shape[i] for i in permutation] == [2, 3, *spatial], "what PyTorch sees"


def suites_test():
    every = {path.stem for path in (ROOT / "bench" / "suites").glob("*.txt")}
    assert set(PUBLIC_SUITES) < every and not {"wide", "small", "edges"} & set(PUBLIC_SUITES)


def platform_test():
    """PyTorch for ROCm as it shows an AMD GPU; nobody has run the comparison on one yet."""
    properties = SimpleNamespace(name="AMD Instinct MI300X", multi_processor_count=304, L2_cache_size=4 << 20,
                                 gcnArchName="gfx942:sramecc+:xnack-")
    torch = SimpleNamespace(__version__="2.9", version=SimpleNamespace(cuda=None, hip="6.4.43484"),
                            backends=SimpleNamespace(cudnn=SimpleNamespace(version=lambda: 3004000)),
                            cuda=SimpleNamespace(get_device_properties=lambda index: properties))
    rocm = PlatformFacts(torch)
    assert (rocm.device, rocm.library, rocm.flush_bytes()) == ("hip:0", "MIOpen", 512 << 20)
    machine = rocm.machine()
    assert machine["library"] == "MIOpen" and machine["architecture"].startswith("gfx942") and machine["hip"], machine
    torch.version = SimpleNamespace(cuda="13.0", hip=None)
    properties.L2_cache_size = 200 << 20
    cuda = PlatformFacts(torch)
    assert (cuda.device, cuda.library, cuda.flush_bytes()) == ("gpu:0", "cuDNN", 400 << 20)
    assert "library" not in cuda.machine() and amd_driver("/nonexistent") == "unknown"


def self_test():
    platform_test()
    layouts_test()
    suites_test()
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
           "input_type": "bf16", "kernel": "k", "workspace_bytes": 0, "verified": True, "execute_host_us": 3.0, "wavetile": timing,
           "cudnn_tuned": dict(timing, us=300.0)}
    done = complete(dict(row), ceilings)
    assert done["tflops"] == 250.0 and done["roofline"] == 0.5 and done["speedup_cudnn_tuned"] == 1.5, done
    bound = complete(dict(row, gflop=0.001, least_bytes=400_000_000), ceilings)
    assert bound["roofline"] == 0.5, bound
    assert "copy_us" not in bound and complete(dict(row), dict(ceilings, copies=[[1000, 3.0]]))["copy_us"] == 12.0
    limits_test(row)
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
