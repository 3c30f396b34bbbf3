#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wavetile against cuDNN (through PyTorch) on one GPU: same process, same tensors, same timer.

    python3 bench/compare.py --library build/release/lib/libwavetile.so --json bench/results/h200.json

For every layer of the suites and every direction it times PyTorch's channels-last convolution (autotuned and by
heuristics), Wavetile through its C API, and the cuBLAS product of the same size; verifies Wavetile's output; and prints
a table a suite and direction, losses first. docs/measuring.md says how to read it. --list and --self-test need neither
PyTorch nor a GPU.
"""
import argparse
import ctypes
import datetime
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIRECTIONS = ["fwd", "bwd_data", "bwd_weight"]
TYPES = ["fp32", "tf32", "fp16", "bf16", "e4m3", "e5m2"]
TYPE_BYTES = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "e4m3": 1, "e5m2": 1}
PIECE = 1 << 27  # elements of an output that the fp32 reference makes at a time
MATRIX_STEP = {"fp32": 1, "tf32": 8, "fp16": 16, "bf16": 16}  # terms of one matrix instruction
OUTPUT_UNIT = {"fp32": 2**-24, "tf32": 2**-24, "fp16": 2**-11, "bf16": 2**-8}  # half a step, and the bound's slack


I64x3 = ctypes.c_int64 * 3


class ProblemDesc(ctypes.Structure):
    _fields_ = (
        [("struct_size", ctypes.c_size_t)]
        + [(f, ctypes.c_int32) for f in
           ("direction", "dims", "layout", "x_type", "w_type", "y_type", "acc_type", "padding")]
        + [(f, ctypes.c_int64) for f in ("n", "g", "c", "k")]
        + [("in_", I64x3)] + [(f, I64x3) for f in ("filter", "stride", "dilation", "pad_lower", "pad_upper")]
        + [("alpha", ctypes.c_float), ("beta", ctypes.c_float)]
        + [(f, ctypes.c_int32) for f in ("scale", "bias", "residual", "amax", "activation")]
        + [(f, ctypes.c_float) for f in ("slope", "low", "high")])


class PlanOptions(ctypes.Structure):
    _fields_ = ([("struct_size", ctypes.c_size_t)]
                + [(f, ctypes.c_int32) for f in ("deterministic", "strict_nonfinite", "tuning", "reserved")]
                + [("workspace_limit", ctypes.c_int64), ("kernel", ctypes.c_char_p),
                   ("tuning_seconds", ctypes.c_double), ("stream", ctypes.c_void_p),
                   ("fallback", ctypes.c_int32), ("reserved2", ctypes.c_int32)])


class Tensors(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t)] + [
        (f, ctypes.c_void_p) for f in ("x", "w", "y", "scale", "bias", "residual", "amax")]


class PlanInfo(ctypes.Structure):
    _fields_ = ([("struct_size", ctypes.c_size_t), ("kernel", ctypes.c_char_p), ("reason", ctypes.c_char_p)]
                + [(f, ctypes.c_int32) for f in ("registers", "spill_bytes", "launches", "from_cache")]
                + [("compile_seconds", ctypes.c_double), ("workspace_bytes", ctypes.c_int64),
                   ("predicted_us", ctypes.c_double), ("measured_us", ctypes.c_double)])


class WavetileError(Exception):
    pass


class Wavetile:
    """The part of include/wavetile/wavetile.h that a comparison needs."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(str(path))
        for name in ("wavetile_last_error", "wavetile_version_string", "wavetile_problem_text"):
            getattr(self.lib, name).restype = ctypes.c_char_p
        self.lib.wavetile_problem_text.argtypes = [ctypes.c_void_p]
        self.lib.wavetile_problem_flops.restype = ctypes.c_double
        self.lib.wavetile_problem_flops.argtypes = [ctypes.c_void_p]
        self.lib.wavetile_plan_workspace_bytes.restype = ctypes.c_int64
        self.lib.wavetile_plan_workspace_bytes.argtypes = [ctypes.c_void_p]
        self.lib.wavetile_plan_execute.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(Tensors),
                                                   ctypes.c_void_p, ctypes.c_size_t]
        self.version = self.lib.wavetile_version_string().decode()

    def check(self, status):
        if status != 0:
            raise WavetileError(self.lib.wavetile_last_error().decode())

    def open(self, device):
        handle = ctypes.c_void_p()
        self.check(self.lib.wavetile_device_open(device.encode(), ctypes.byref(handle)))
        return handle

    def parse(self, text):
        handle = ctypes.c_void_p()
        self.check(self.lib.wavetile_problem_parse(text.encode(), ctypes.byref(handle)))
        return handle

    def describe(self, problem):
        desc = ProblemDesc(struct_size=ctypes.sizeof(ProblemDesc))
        self.check(self.lib.wavetile_problem_get_desc(problem, ctypes.byref(desc)))
        return desc

    def create(self, desc):
        handle = ctypes.c_void_p()
        self.check(self.lib.wavetile_problem_create(ctypes.byref(desc), ctypes.byref(handle)))
        return handle

    def text(self, problem):
        return self.lib.wavetile_problem_text(problem).decode()

    def output_size(self, problem, dims):
        size = I64x3()
        self.check(self.lib.wavetile_problem_output_size(problem, size))
        return list(size)[:dims]

    def plan(self, device, problem, tuning, kernel=None):
        options = PlanOptions()
        self.lib.wavetile_plan_options_init(ctypes.byref(options))
        options.tuning = ["off", "cached", "first-use"].index(tuning)
        options.kernel = kernel.encode() if kernel else None
        handle = ctypes.c_void_p()
        self.check(self.lib.wavetile_plan_create(device, problem, ctypes.byref(options), ctypes.byref(handle)))
        return handle

    def plan_info(self, plan):
        info = PlanInfo(struct_size=ctypes.sizeof(PlanInfo))
        self.check(self.lib.wavetile_plan_get_info(plan, ctypes.byref(info)))
        return info


class Row:
    """One layer in one direction."""

    def __init__(self, api, suite, name, text, direction, dtype):
        desc = api.describe(api.parse(text))
        desc.direction = DIRECTIONS.index(direction)
        if dtype:
            desc.x_type = desc.w_type = desc.y_type = TYPES.index(dtype)
        self.suite, self.name, self.direction = suite, name, direction
        self.problem = api.create(desc)
        self.desc, self.text = desc, api.text(self.problem)
        self.dims = desc.dims
        self.size, self.filter = list(desc.in_)[: self.dims], list(desc.filter)[: self.dims]
        self.stride, self.dilation = list(desc.stride)[: self.dims], list(desc.dilation)[: self.dims]
        self.pad_lower, self.pad_upper = list(desc.pad_lower)[: self.dims], list(desc.pad_upper)[: self.dims]
        self.out = api.output_size(self.problem, self.dims)
        self.flops = api.lib.wavetile_problem_flops(self.problem)
        self.types = [TYPES[t] for t in (desc.x_type, desc.w_type, desc.y_type)]
        self.bytes = least_bytes(self)
        self.key = f"{suite}/{name}/{direction}"

    def terms(self):
        if self.direction == "bwd_weight":
            return self.desc.n * math.prod(self.out)
        channels = self.desc.c if self.direction == "fwd" else self.desc.k
        return channels // self.desc.g * math.prod(self.filter)

    def gemm(self):
        """m, n, k of the forward product, or None for groups, which are many small ones."""
        if self.desc.g != 1:
            return None
        return self.desc.n * math.prod(self.out), self.desc.k, self.desc.c * math.prod(self.filter)


def touched(size, out, filter_size, stride, dilation, pad):
    """Input coordinates of one dimension that some tap reads."""
    return len({i for o in range(out) for t in range(filter_size)
                if 0 <= (i := o * stride + t * dilation - pad) < size})


def least_bytes(row):
    """Each input byte that some tap reads once, each output byte once. dx is written whole, read or not."""
    d = row.desc
    if row.direction == "bwd_data":
        pixels = math.prod(row.size)
    else:
        pixels = math.prod(touched(*values) for values in
                           zip(row.size, row.out, row.filter, row.stride, row.dilation, row.pad_lower))
    x, w, y = (TYPE_BYTES[t] for t in row.types)
    return (d.n * d.c * pixels * x + d.k * (d.c // d.g) * math.prod(row.filter) * w
            + d.n * d.k * math.prod(row.out) * y)


def read_suite(path):
    """(name, problem text) of each line; the text is the library's to parse."""
    layers = []
    for line in Path(path).read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            name, _, text = line.partition(":")
            layers.append((name.strip(), text.strip()))
    return layers


def make_rows(api, args):
    rows = []
    for suite in args.suites:
        path = Path(suite) if suite.endswith(".txt") else ROOT / "bench" / "suites" / f"{suite}.txt"
        for name, text in read_suite(path):
            for direction in args.directions:
                row = Row(api, path.stem, name, text, direction, args.type)
                if not args.filter or args.filter in row.key:
                    rows.append(row)
    return rows


def summarize(samples):
    """Median, quartiles widened to the medians of the four parts of the run (drift), and to the clock's resolution."""
    ordered, count = sorted(samples), len(samples)
    median = statistics.median(ordered)
    low = min(ordered[count // 4], median - 0.25)
    high = max(ordered[count - 1 - count // 4], median + 0.25)
    if count >= 8:
        parts = [statistics.median(samples[i * count // 4: (i + 1) * count // 4]) for i in range(4)]
        low, high = min(low, *parts), max(high, *parts)
    return {"us": round(median, 3), "low_us": round(low, 3), "high_us": round(high, 3), "runs": count}


class Timer:
    """Events around each run, behind a flush of the L2 that also hides the launch (docs/measuring.md)."""

    BATCH = 16

    def __init__(self, torch):
        self.torch = torch
        l2 = torch.cuda.get_device_properties(0).L2_cache_size
        # WHY so large: the flush must also outlast the host's work for one run, which Python makes 20 to 30 us.
        self.flush = torch.empty(max(2 * l2, 256 << 20), dtype=torch.uint8, device="cuda")
        self.events = [tuple(torch.cuda.Event(enable_timing=True) for _ in range(2)) for _ in range(self.BATCH)]

    def batch(self, work, count):
        for start, stop in self.events[:count]:
            self.flush.fill_(0x5A)
            start.record()
            work()
            stop.record()
        self.torch.cuda.synchronize()
        return [start.elapsed_time(stop) * 1000 for start, stop in self.events[:count]]

    def time(self, work, seconds, least=12, most=200):
        for _ in range(3):
            work()
        self.torch.cuda.synchronize()
        begin, samples = time.perf_counter(), []
        while len(samples) < most:
            samples += self.batch(work, 4 if not samples else self.BATCH)
            if len(samples) >= least:
                timing = summarize(samples)
                if timing["high_us"] - timing["low_us"] < max(0.01 * timing["us"], 1.0):
                    break
                if time.perf_counter() - begin > seconds:
                    break
        return summarize(samples)


class Clock:
    """Shares the time that is left among the timings that are left."""

    def __init__(self, deadline, timings):
        self.deadline, self.left = deadline, timings

    def slice(self):
        share = max(0.0, self.deadline - time.time()) / max(1, self.left)
        self.left -= 1
        return min(0.15, max(0.02, share * 0.3))  # the rest is for autotuning, verification and allocation


class TorchSide:
    """Tensors of a row, PyTorch's convolution over them, and the reference for verification."""

    def __init__(self, torch, row):
        self.torch, self.row = torch, row
        d = row.desc
        # WHY: PyTorch has no channels-last format in one dimension; a height of one is the same memory.
        lead = [1] if row.dims == 1 else []
        self.stride, self.dilation = lead + row.stride, lead + row.dilation
        self.padding = [0] * len(lead) + row.pad_lower
        self.symmetric = row.pad_lower == row.pad_upper
        self.shapes = {"x": ([d.n], lead + row.size, d.c), "w": ([d.k], lead + row.filter, d.c // d.g),
                       "y": ([d.n], lead + row.out, d.k)}
        self.types = dict(zip("xwy", row.types))
        self.output = {"fwd": "y", "bwd_data": "x", "bwd_weight": "w"}[row.direction]
        self.supported = self.symmetric and all(t in ("fp32", "tf32", "fp16", "bf16") for t in row.types)
        terms = row.terms()
        self.tensors = {role: self.make(role, 1 / math.sqrt(terms) if role == "w" or (
            row.direction == "bwd_weight" and role == "y") else 1.0) for role in "xwy"}
        torch.backends.cudnn.allow_tf32 = "tf32" in row.types

    def dtype(self, role):
        return {"fp32": self.torch.float32, "tf32": self.torch.float32, "fp16": self.torch.float16,
                "bf16": self.torch.bfloat16, "e4m3": self.torch.float8_e4m3fn,
                "e5m2": self.torch.float8_e5m2}[self.types[role]]

    def make(self, role, scale):
        """Memory order as the C API has it, seen by PyTorch with the channels in second place."""
        outer, spatial, channels = self.shapes[role]
        if role == self.output:
            memory = self.torch.empty(outer + spatial + [channels], dtype=self.dtype(role), device="cuda")
            memory.view(self.torch.uint8).fill_(0xFF)  # NaN in every type: an element that is not written shows
        else:
            memory = (self.torch.randn(outer + spatial + [channels], device="cuda") * scale).to(self.dtype(role))
        return memory.permute(0, -1, *range(1, len(spatial) + 1))

    def convolve(self, x, w, y):
        groups = self.row.desc.g
        if self.row.direction == "fwd":
            return self.torch.ops.aten.convolution(x, w, None, self.stride, self.padding, self.dilation, False,
                                                   [0] * len(self.stride), groups)
        mask = (True, False, False) if self.row.direction == "bwd_data" else (False, True, False)
        result = self.torch.ops.aten.convolution_backward(
            y, x, w, None, self.stride, self.padding, self.dilation, False, [0] * len(self.stride), groups, mask)
        return result[0] if self.row.direction == "bwd_data" else result[1]

    def run(self):
        t = self.tensors
        # The output's place in a backward call is only read for its shape.
        return self.convolve(t["x"], t["w"], t["y"])

    def time(self, timer, seconds, benchmark):
        self.torch.backends.cudnn.benchmark = benchmark
        return timer.time(self.run, seconds)

    def verify(self):
        """Wavetile's output against PyTorch in fp32, each element with a bound from its own sum of squares."""
        torch, row = self.torch, self.row
        got = self.tensors[self.output]
        if bool(torch.isnan(got.float()).any()):
            return "NaN or unwritten elements in the output"
        if not self.symmetric:
            return "unchecked: PyTorch has no asymmetric padding"
        # In pieces of the batch: on an output of 380 million elements PyTorch's fp32 convolution in one piece disagreed with
        # the library's own reference, which agreed with the kernel.
        n = got.shape[0]
        step = n if row.direction == "bwd_weight" else max(1, n * PIECE // got.numel())
        for first in range(0, n, step):
            verdict = self.verify_piece(first, first + step)
            if verdict:
                return verdict
        return ""

    def verify_piece(self, first, end):
        torch, row = self.torch, self.row
        # The filter and its gradient have no batch to divide.
        part = {r: t if r == "w" or row.direction == "bwd_weight" else t[first:end] for r, t in self.tensors.items()}
        got = part[self.output]
        inputs = {r: t.float() if r != self.output else t.float().zero_() for r, t in part.items()}
        torch.backends.cudnn.benchmark = False
        allow, torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.allow_tf32, False
        expected = self.convolve(inputs["x"], inputs["w"], inputs["y"])
        for role in inputs:
            inputs[role].square_()
        squares = self.convolve(inputs["x"], inputs["w"], inputs["y"]).clamp_min_(0)
        torch.backends.cudnn.allow_tf32 = allow
        kind, terms = self.types[self.output], row.terms()
        operand = self.types["y" if row.direction == "bwd_data" else "x"]
        steps = terms / MATRIX_STEP[operand]
        # Twice: the reference rounds its sums too.
        relative = 2 * 2**-24 * (4 * math.sqrt(terms) + steps + 4 * math.sqrt(steps))
        bound = (expected.abs() + 2 * squares.sqrt()) * relative + expected.abs() * OUTPUT_UNIT[kind] + 1e-30
        if operand == "tf32":
            bound += 2**-10 * (2 * expected.abs() + 4 * squares.sqrt())
        wrong = (got.float() - expected).abs() > bound
        count = int(wrong.sum())
        if count:
            at = [int(i) for i in wrong.nonzero()[0]]
            values = [float(tensor[tuple(at)]) for tensor in (expected, got, bound)]
            at[0] += 0 if row.direction == "bwd_weight" else first
            return (f"{count} of {wrong.numel()} elements are wrong, the first at {at}: expected {values[0]:.6g}, got "
                    f"{values[1]:.6g}, bound {values[2]:.3g}")
        return ""


class WavetileSide:
    def __init__(self, api, torch, row, plan, side):
        self.api, self.torch, self.plan = api, torch, plan
        self.info = api.plan_info(plan)
        self.workspace_bytes = self.info.workspace_bytes
        self.workspace = torch.empty(max(1, self.workspace_bytes), dtype=torch.uint8, device="cuda")
        self.tensors = Tensors()
        api.lib.wavetile_tensors_init(ctypes.byref(self.tensors))
        for role in "xwy":
            setattr(self.tensors, role, side.tensors[role].data_ptr())
        self.stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def run(self):
        self.api.check(self.api.lib.wavetile_plan_execute(
            self.plan, self.stream, ctypes.byref(self.tensors), self.workspace.data_ptr(), self.workspace_bytes))

    def host_us(self):
        """Median time of one execute on the host, and of a call through ctypes that does nothing."""
        def median(call):
            samples = []
            for _ in range(48):
                begin = time.perf_counter_ns()
                call()
                samples.append((time.perf_counter_ns() - begin) / 1000)
            self.torch.cuda.synchronize()
            return round(statistics.median(samples), 3)
        return median(self.run), median(lambda: self.api.lib.wavetile_plan_workspace_bytes(self.plan))


def measure_ceilings(torch, timer):
    source = torch.empty(2 << 30, dtype=torch.uint8, device="cuda").random_()
    target = torch.empty_like(source)
    copy = timer.time(lambda: target.copy_(source), 0.5)
    size = 8192
    a, b = (torch.randn(size, size, device="cuda").bfloat16() for _ in range(2))
    product = timer.time(lambda: torch.matmul(a, b), 0.5)
    return {"copy_gbs": round(2 * source.numel() / copy["us"] / 1e3, 1), "copy": copy,
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


def measure_row(api, torch, timer, clock, row, plan, args):
    result = {"suite": row.suite, "name": row.name, "direction": row.direction, "problem": row.text,
              "gflop": round(row.flops / 1e9, 3), "least_bytes": row.bytes, "error": ""}
    side = TorchSide(torch, row)
    if isinstance(plan, WavetileError):
        result["error"] = str(plan)
    else:
        ours = WavetileSide(api, torch, row, plan, side)
        result.update(kernel=ours.info.kernel.decode(), workspace_bytes=ours.workspace_bytes,
                      registers=ours.info.registers, spill_bytes=ours.info.spill_bytes, launches=ours.info.launches)
        ours.run()
        torch.cuda.synchronize()
        verdict = side.verify()
        torch.cuda.empty_cache()
        if verdict and not verdict.startswith("unchecked"):
            result["error"] = "WRONG RESULT: " + verdict
        else:
            result["verified"] = not verdict
            result["wavetile"] = timer.time(ours.run, clock.slice())
            result["execute_host_us"], result["empty_call_host_us"] = ours.host_us()
    if side.supported:
        result["cudnn_tuned"] = side.time(timer, clock.slice(), True)
        if not args.no_heuristic:
            result["cudnn_heuristic"] = side.time(timer, clock.slice(), False)
    if row.direction == "fwd" and not args.no_gemm:
        result["gemm"] = time_gemm(torch, timer, row, clock.slice())
    return result


def worker(args):
    import torch

    api = Wavetile(args.library)
    device = api.open("gpu:0")
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

    def make_plan(row):
        try:
            return api.plan(device, row.problem, args.tuning, args.kernel)
        except WavetileError as error:
            return error
        finally:
            write(progress=f"compiled {row.key}")

    with ThreadPoolExecutor(1 if args.tuning == "first-use" else (os.cpu_count() or 4)) as pool:
        plans = list(pool.map(make_plan, todo))
    timer = Timer(torch)
    properties = torch.cuda.get_device_properties(0)
    write(machine={"gpu": properties.name, "multiprocessors": properties.multi_processor_count,
                   "l2_bytes": properties.L2_cache_size, "torch": torch.__version__, "cuda": torch.version.cuda,
                   "cudnn": torch.backends.cudnn.version(), "python": platform.python_version(),
                   "wavetile": api.version, "driver": nvidia_driver()})
    if not any("ceilings" in line for line in read_lines(args.worker)):
        write(ceilings=measure_ceilings(torch, timer))
    torch.cuda.empty_cache()
    clock = Clock(args.deadline, 4 * len(todo))
    for row, plan in zip(todo, plans):
        if time.time() > args.deadline:
            write(key=row.key, row={"suite": row.suite, "name": row.name, "direction": row.direction,
                                    "problem": row.text, "error": "not run: the time was up (--minutes)"})
            continue
        write(starting=row.key, problem=row.text, suite=row.suite, name=row.name, direction=row.direction)
        write(key=row.key, row=measure_row(api, torch, timer, clock, row, plan, args))
        torch.cuda.empty_cache()


def nvidia_driver():
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.split("\n")[0]
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"


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


def geomean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else float("nan")


def complete(row, ceilings):
    """Derived columns."""
    if "wavetile" not in row:
        return row
    us = row["wavetile"]["us"]
    floor_us = max(row["gflop"] / ceilings["bf16_tflops"] * 1e3, row["least_bytes"] / ceilings["copy_gbs"] / 1e3)
    row["tflops"] = round(row["gflop"] / us * 1e3, 1)
    row["roofline"] = round(floor_us / us, 3)
    for side in ("cudnn_tuned", "cudnn_heuristic"):
        if row.get(side):
            row[f"speedup_{side}"] = float(f"{row[side]['us'] / us:.4g}")
    if row.get("cudnn_tuned"):
        row["cudnn_roofline"] = round(floor_us / row["cudnn_tuned"]["us"], 3)
    return row


def summary_of(rows):
    ranked = [row for row in rows if "speedup_cudnn_tuned" in row]
    speedups = [row["speedup_cudnn_tuned"] for row in ranked]
    worst = min(ranked, key=lambda row: row["speedup_cudnn_tuned"], default=None)
    return {"rows": len(rows), "ranked": len(ranked), "failed": sum(bool(row["error"]) for row in rows),
            "geomean": round(geomean(speedups), 3) if speedups else None,
            "geomean_heuristic": round(geomean([row["speedup_cudnn_heuristic"] for row in ranked
                                                if "speedup_cudnn_heuristic" in row]), 3) if speedups else None,
            "losses": sum(s < 1 for s in speedups), "roofline": round(statistics.median(
                row["roofline"] for row in ranked), 3) if ranked else None,
            "worst": {"name": worst["name"], "speedup": worst["speedup_cudnn_tuned"]} if worst else None}


def time_text(timing):
    return "-" if not timing else f"{timing['us']:.1f} ±{(timing['high_us'] - timing['low_us']) / 2:.1f}"


def print_group(suite, direction, rows):
    print(f"\n{suite} {direction}")
    header = ("layer", "us", "cudnn us", "heur. us", "gemm us", "TFLOP/s", "roofline", "speed-up", "host us",
              "workspace", "kernel")
    lines = [header]
    for row in sorted(rows, key=lambda r: (not r["error"], r.get("speedup_cudnn_tuned", math.inf))):
        if row["error"]:
            lines.append((row["name"], "FAILED", time_text(row.get("cudnn_tuned")), "", "", "", "", "", "", "",
                          row["error"].splitlines()[0][:160]))
            continue
        speedup = row.get("speedup_cudnn_tuned")
        lines.append((row["name"], time_text(row["wavetile"]), time_text(row.get("cudnn_tuned")),
                      time_text(row.get("cudnn_heuristic")), time_text(row.get("gemm")), f"{row['tflops']:.1f}",
                      f"{row['roofline']:.2f}", f"{speedup:.2f}" if speedup else "-", f"{row['execute_host_us']:.1f}",
                      f"{row['workspace_bytes'] / 2**20:.1f} MiB" if row["workspace_bytes"] else "0",
                      row["kernel"] + ("" if row["verified"] else " (unchecked)")))
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        cells = [line[0].ljust(widths[0])] + [line[i].rjust(widths[i]) for i in range(1, len(header) - 1)] + [line[-1]]
        print("  ".join(cells).rstrip())


def report(lines, args):
    ceilings = next((line["ceilings"] for line in lines if "ceilings" in line), None)
    machine = next((line["machine"] for line in reversed(lines) if "machine" in line), {})
    rows = [line["row"] for line in lines if "key" in line]
    if ceilings:
        rows = [complete(row, ceilings) for row in rows]
    groups = {}
    for row in rows:
        groups.setdefault((row["suite"], row["direction"]), []).append(row)
    for (suite, direction), members in groups.items():
        print_group(suite, direction, members)
    summaries = {f"{suite} {direction}": summary_of(members) for (suite, direction), members in groups.items()}
    print(f"\n{machine.get('gpu')}, driver {machine.get('driver')}, torch {machine.get('torch')}, cuDNN "
          f"{machine.get('cudnn')}, wavetile {machine.get('wavetile')}")
    if ceilings:
        print(f"ceilings: copy {ceilings['copy_gbs']:.0f} GB/s, bf16 matrix product {ceilings['bf16_tflops']:.0f} "
              "TFLOP/s")
    print("suite and direction: geometric mean of the speed-up over autotuned cuDNN (over its heuristics), worst row, "
          "median roofline")
    for name, s in summaries.items():
        worst = f"{s['worst']['speedup']:.2f} {s['worst']['name']}" if s["worst"] else "-"
        print(f"  {name:28} {s['geomean'] or math.nan:6.3f} ({s['geomean_heuristic'] or math.nan:.3f})  worst {worst}, "
              f"{s['losses']} of {s['ranked']} slower, roofline {s['roofline'] or math.nan:.2f}, {s['failed']} failed")
    host = [row["execute_host_us"] for row in rows if "execute_host_us" in row]
    if host:
        empty = statistics.median(row["empty_call_host_us"] for row in rows if "empty_call_host_us" in row)
        print(f"execute on the host: median {statistics.median(host):.2f} us, most {max(host):.2f} us, of which an "
              f"empty call through ctypes is {empty:.2f} us")
    for row in rows:
        if "WRONG RESULT" in row["error"]:
            print(f"\n!!! {row['suite']} {row['name']} {row['direction']} ({row.get('kernel')}): {row['error']}\n"
                  f"    {row['problem']}", file=sys.stderr)
    if args.json:
        Path(args.json).parent.mkdir(parents=True, exist_ok=True)
        Path(args.json).write_text(json.dumps({
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "command": args.command, "seconds": round(time.time() - args.started, 1), "machine": machine,
            "ceilings": ceilings, "summaries": summaries, "rows": rows}, indent=1) + "\n")
    return 1 if any(row["error"] for row in rows) or not rows else 0


def self_test():
    assert touched(8, 8, 1, 1, 1, 0) == 8 and touched(8, 4, 1, 2, 1, 0) == 4, "a stride of two skips every other pixel"
    assert touched(8, 8, 3, 1, 1, 1) == 8 and touched(9, 4, 2, 2, 1, 0) == 8
    flat = summarize([10.0] * 16)
    assert flat == {"us": 10.0, "low_us": 9.75, "high_us": 10.25, "runs": 16}, flat
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
    loss = complete(dict(row, name="m", cudnn_tuned=dict(timing, us=100.0)), ceilings)
    broken = {"suite": "s", "name": "b", "direction": "fwd", "problem": "p", "error": "WRONG RESULT: 1 of 2"}
    s = summary_of([done, loss, broken])
    assert s["worst"] == {"name": "m", "speedup": 0.5} and s["losses"] == 1 and s["failed"] == 1 and s["ranked"] == 2, s
    assert s["geomean"] == round(math.sqrt(0.75), 3)
    print_group("s", "fwd", [done, loss, broken])
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


def default_library():
    found = sorted(ROOT.glob("build/**/libwavetile.so"), key=lambda path: path.stat().st_mtime)
    return str(found[-1]) if found else "libwavetile.so"


def main():
    every_suite = [p.stem for p in sorted((ROOT / "bench" / "suites").glob("*.txt")) if p.stem not in ("quick", "edges", "variety")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default=None, help="libwavetile.so; default: the newest below build/")
    parser.add_argument("--suites", nargs="+", default=every_suite, help="names in bench/suites, or files")
    parser.add_argument("--directions", nargs="+", default=DIRECTIONS, choices=DIRECTIONS)
    parser.add_argument("--type", choices=TYPES, help="instead of each problem's own types")
    parser.add_argument("--filter", help="only rows whose suite/layer/direction holds this text")
    parser.add_argument("--kernel", help="this Wavetile kernel, instead of the library's choice")
    parser.add_argument("--tuning", choices=["off", "cached", "first-use"], default="cached")
    parser.add_argument("--minutes", type=float, default=8.5, help="for everything; later rows count as failed")
    parser.add_argument("--row-seconds", type=float, default=90, help="without an answer, after which a row has failed")
    parser.add_argument("--benchmark-limit", type=int, default=10, help="algorithms that cuDNN tries; 0: all")
    parser.add_argument("--no-gemm", action="store_true", help="leave the cuBLAS products out")
    parser.add_argument("--no-heuristic", action="store_true", help="leave cuDNN by heuristics out")
    parser.add_argument("--json", help="write everything to this file")
    parser.add_argument("--list", action="store_true", help="print the rows and stop; needs no GPU")
    parser.add_argument("--self-test", action="store_true",
                        help="check this script (with --library, its view of the C API too) and stop")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--deadline", type=float, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.self_test:
        if args.library:
            api_test(Wavetile(args.library))
        return self_test()
    args.library = args.library or default_library()
    if args.worker:
        worker(args)
        return 0
    if args.list:
        for row in make_rows(Wavetile(args.library), args):
            print(f"{row.key}: {row.text}  # {row.flops / 1e9:.3f} GFLOP, {row.bytes} bytes")
        return 0
    args.started = time.time()
    args.deadline = args.started + 60 * args.minutes
    args.command = "python3 " + " ".join([os.path.relpath(__file__, ROOT)] + sys.argv[1:])
    return report(supervise(args, [sys.executable, __file__] + sys.argv[1:]), args)


if __name__ == "__main__":
    sys.exit(main())
