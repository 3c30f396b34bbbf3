# SPDX-License-Identifier: Apache-2.0
"""Measures row after row in a process of its own, which a faulting kernel may take along."""
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from comparison.api import Wavetile, WavetileError
from comparison.platform_facts import PlatformFacts
from comparison.rows import make_rows
from comparison.timing import Clock, Timer
from comparison.sides import TorchSide, WavetileSide


def measure_ceilings(torch, timer):
    source = torch.empty(2 << 30, dtype=torch.uint8, device="cuda").random_()
    target = torch.empty_like(source)
    copy = timer.time(lambda: target.copy_(source), 0.5)
    size = 8192
    a, b = (torch.randn(size, size, device="cuda").bfloat16() for _ in range(2))
    product = timer.time(lambda: torch.matmul(a, b), 0.5)
    copies = []  # bytes read and written together, us
    for exponent in range(19, 30):
        copies.append([2 << exponent, timer.time(lambda: target[:1 << exponent].copy_(source[:1 << exponent]), 0.1)["us"]])
    return {"copies": copies, "copy_gbs": round(2 * source.numel() / copy["us"] / 1e3, 1), "copy": copy,
            "bf16_tflops": round(2 * size**3 / product["us"] / 1e6, 1), "matmul_8192": product}


def time_gemm(torch, timer, row, seconds):
    shape = row.gemm()
    if not shape or row.types[0] not in ("fp16", "bf16"):
        return None
    m, n, k = shape
    if (m * k + k * n + m * n) * 2 > torch.cuda.mem_get_info()[0] // 3:
        return None
    dtype = {"fp16": torch.float16, "bf16": torch.bfloat16}[row.types[0]]
    a, b = (torch.empty(r, c, device="cuda", dtype=dtype).normal_() for r, c in ((m, k), (n, k)))
    return timer.time(lambda: torch.matmul(a, b.t()), seconds)


def measure_strict(api, device, torch, timer, clock, row, plan, side):
    """The kernel that strict non-finite behaviour takes instead."""
    ours = WavetileSide(api, torch, row, plan, side)
    side.poison()
    ours.run()
    verdict, _ = ours.verify(device)
    if verdict:
        return {"kernel": ours.info.kernel.decode(), "error": "WRONG RESULT: " + verdict}
    return {"kernel": ours.info.kernel.decode(), **timer.time(ours.run, clock.slice())}


def measure_row(api, device, torch, timer, clock, row, plan, strict, args):
    result = {"suite": row.suite, "name": row.name, "direction": row.direction, "problem": row.text,
              "gflop": round(row.flops / 1e9, 3), "work_gflop": round(row.work / 1e9, 6), "least_bytes": row.bytes, "input_type": row.input_type,
              "error": ""}
    side = TorchSide(torch, row)
    if isinstance(plan, WavetileError):
        result["error"] = str(plan)
    else:
        ours = WavetileSide(api, torch, row, plan, side)
        result.update(kernel=ours.info.kernel.decode(), workspace_bytes=ours.workspace_bytes,
                      reason=ours.info.reason.decode(), tuned_us=round(ours.info.measured_us, 3),
                      registers=ours.info.registers, spill_bytes=ours.info.spill_bytes, launches=ours.info.launches)
        ours.run()
        verdict, result["compared"] = ours.verify(device)
        result["verified"] = not verdict
        if verdict:
            result["error"] = "WRONG RESULT: " + verdict
        else:
            if side.supported:
                result["wavetile"], result["cudnn_tuned"] = timer.time_in_turns(
                    [ours.run, side.tuned], clock.slice() + clock.slice())
            else:
                result["wavetile"] = timer.time(ours.run, clock.slice())
            result["execute_host_us"], result["empty_call_host_us"] = ours.host_us()
            if strict and api.plan_info(strict).kernel != ours.info.kernel:
                result["strict_nonfinite"] = measure_strict(api, device, torch, timer, clock, row, strict, side)
                result["error"] = result["strict_nonfinite"].get("error", "")
    if side.supported:
        if "cudnn_tuned" not in result:
            result["cudnn_tuned"] = timer.time(side.tuned, clock.slice())
        if not args.no_heuristic:
            result["cudnn_heuristic"] = timer.time(side.by_heuristics, clock.slice())
    if row.direction == "fwd" and not args.no_gemm:
        result["gemm"] = time_gemm(torch, timer, row, clock.slice())
    return result


def worker(args):
    import torch

    api = Wavetile(args.library)
    facts = PlatformFacts(torch)
    device = api.open(facts.device)
    rows = make_rows(api, args)
    done = {line["key"] for line in read_lines(args.worker) if "key" in line}
    log, lock = open(args.worker, "a", buffering=1), threading.Lock()

    def write(**line):
        with lock:
            log.write(json.dumps(line) + "\n")

    torch.set_grad_enabled(False)
    torch.backends.cudnn.benchmark_limit = args.benchmark_limit
    write(progress="compiling")
    todo = [row for row in rows if row.key not in done]

    def make_plan(row, strict=False):
        try:
            return api.plan(device, row.problem, args.tuning, args.kernel, strict)
        except WavetileError as error:
            return error
        finally:
            write(progress=f"compiled {row.key}")

    def make_strict(row):
        plan = make_plan(row, True) if args.strict_nonfinite else None
        return None if isinstance(plan, WavetileError) else plan

    with ThreadPoolExecutor(1 if args.tuning == "first-use" else (os.cpu_count() or 4)) as pool:
        plans = list(pool.map(make_plan, todo))
        stricts = list(pool.map(make_strict, todo))
    timer = Timer(torch, facts.flush_bytes())
    write(machine=dict(facts.machine(), python=platform.python_version(), wavetile=api.version))
    if not any("ceilings" in line for line in read_lines(args.worker)):
        write(ceilings=measure_ceilings(torch, timer))
    torch.cuda.empty_cache()
    clock = Clock(args.deadline, 4 * len(todo))
    for row, plan, strict in zip(todo, plans, stricts):
        if time.time() > args.deadline:
            write(key=row.key, row={"suite": row.suite, "name": row.name, "direction": row.direction,
                                    "problem": row.text, "error": "not run: the time was up (--minutes)"})
            continue
        write(starting=row.key, problem=row.text, suite=row.suite, name=row.name, direction=row.direction)
        write(key=row.key, row=measure_row(api, device, torch, timer, clock, row, plan, strict, args))
        torch.cuda.empty_cache()


def read_lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines() if line.endswith("}")]


def supervise(args, command):
    """A kernel that faults or hangs takes its process along; the row is recorded as failed and the rest goes on."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "rows.jsonl"
        log.touch()
        while True:
            child = subprocess.Popen(command + ["--worker", str(log), "--deadline", str(args.deadline)])
            size, since = 0, time.time()
            while child.poll() is None:
                time.sleep(0.2)
                if log.stat().st_size != size:
                    size, since = log.stat().st_size, time.time()
                elif time.time() - since > args.row_seconds:
                    child.kill()
                    child.wait()
            lines = read_lines(log)
            if child.returncode == 0:
                return lines
            finished = {line["key"] for line in lines if "key" in line}
            started = [line for line in lines if "starting" in line and line["starting"] not in finished]
            if not started:  # it never got to a row, or failed between rows: nothing to skip
                print(f"the measuring process ended with code {child.returncode}", file=sys.stderr)
                return lines
            row = {key: started[-1][key] for key in ("suite", "name", "direction", "problem")}
            row["error"] = (f"the process ended with code {child.returncode} (a fault, or no answer in "
                            f"{args.row_seconds} s)")
            with open(log, "a") as file:
                file.write(json.dumps({"key": started[-1]["starting"], "row": row}) + "\n")
