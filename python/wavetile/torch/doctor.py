# SPDX-License-Identifier: Apache-2.0
"""A model's convolutions, recorded under torch's profiler, for `wavetile doctor` to judge.

    python -m wavetile.torch.doctor train.py --epochs 1
    python -m wavetile.torch.doctor --out layers.txt -m package.training

The script runs as it is, unserved. Each distinct convolution and gradient becomes a problem (docs/problem-text.md), with
how often it was called and how long torch took for it; the list is a suite, as every command of `wavetile` takes one.
Where the command has `doctor`, it is called with the list.
"""
from __future__ import annotations

import argparse
import ast
import json
import pathlib
import runpy
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Sequence

import torch

from .. import names
from ..errors import Error
from ..problem import Problem

_TYPES = {"float": "fp32", "c10::BFloat16": "bf16", "c10::Half": "fp16"}
_NAMES = ("aten::convolution", "aten::convolution_backward")


@dataclass
class Layer:
    """One problem of a model."""

    problem: Problem
    calls: int = 0
    torch_us: float = 0.0
    """Of all calls together. A backward call that computes two gradients is shared between them by their operations."""


def _channels_last(size: Sequence[int], stride: Sequence[int]) -> bool:
    """Whether the channels are innermost, and not only because there is nothing else."""
    if len(size) < 3 or len(stride) != len(size) or size[1] == 1:
        return False
    inner = [i for i in range(2, len(size)) if size[i] > 1] or [0]
    return stride[1] == 1 and stride[inner[-1]] == size[1]


def _problems(name: str, facts: dict[str, Any]) -> Iterator[Problem]:
    """The problems of one recorded call; none where Wavetile has not its type or tensors are empty."""
    sizes, strides, types, values = (facts[key] for key in ("Input Dims", "Input Strides", "Input type", "Concrete Inputs"))
    backward = name == _NAMES[1]
    x, w, first = (1, 2, 4) if backward else (0, 1, 3)
    kind = _TYPES.get(types[x])
    if kind is None or types[w] != types[x] or any(0 in sizes[i] for i in (x, w)):
        return
    stride, padding, dilation, transposed, output_padding, groups = (ast.literal_eval(v) for v in values[first:first + 6])
    dims = len(sizes[x]) - 2
    spread = [list(v) * (dims if len(v) == 1 else 1) for v in (stride, padding, dilation, output_padding)]
    words: dict[str, Any] = {
        "n": sizes[x][0], "c": sizes[x][1], "k": sizes[w][1] * groups if transposed else sizes[w][0], "size": sizes[x][2:],
        "filter": sizes[w][2:], "groups": groups, "stride": spread[0], "padding": spread[1], "dilation": spread[2],
        "type": kind, "layout": names.LAYOUTS[not any(_channels_last(sizes[i], strides[i]) for i in (x, w))]}
    make = Problem.create
    if transposed:
        words["output_padding"], make = spread[3], Problem.transposed
    if not backward:
        yield make(**words, **({"bias": 1, "bias_type": _TYPES.get(types[2], "fp32")} if sizes[2] else {}))
        return
    wants_x, wants_w, wants_bias = ast.literal_eval(values[10])
    if wants_x:
        yield make("bwd_data", **words)
    if wants_w:
        yield make("bwd_weight", **words, bias_gradient="y" if wants_bias else "none")


def _kernel_times(events: list[dict[str, Any]], calls: list[dict[str, Any]]) -> dict[int, float]:
    """Microseconds of the GPU kernels that each call launched, by the call's place in the list."""
    kernels = {e["args"]["correlation"]: e["dur"] for e in events
               if e.get("cat") == "kernel" and "correlation" in e.get("args", {})}
    times: dict[int, float] = {}
    if not kernels:
        return times
    launches = [(e["tid"], e["ts"], kernels[e["args"]["correlation"]]) for e in events
                if e.get("cat") == "cuda_runtime" and e.get("args", {}).get("correlation") in kernels]
    for i, call in enumerate(calls):
        times[i] = sum(us for thread, at, us in launches
                       if thread == call["tid"] and call["ts"] <= at <= call["ts"] + call["dur"])
    return times


def layers_of(events: list[dict[str, Any]]) -> list[Layer]:
    """The convolutions in a trace that torch's profiler exported with record_shapes, those that took longest first."""
    calls = [e for e in events if e.get("name") in _NAMES and "Input Dims" in e.get("args", {})]
    times = _kernel_times(events, calls)
    layers: dict[Problem, Layer] = {}
    for i, call in enumerate(calls):
        try:
            problems = list(_problems(call["name"], call["args"]))
        except Error as error:
            print(f"wavetile.torch.doctor: left out: {error}", file=sys.stderr)
            continue
        flops = sum(problem.flops for problem in problems)
        for problem in problems:
            layer = layers.setdefault(problem, Layer(problem))
            layer.calls += 1
            layer.torch_us += times.get(i, call["dur"]) * problem.flops / flops
    return sorted(layers.values(), key=lambda layer: -layer.torch_us)


def record(arguments: Sequence[str], module: bool) -> list[Layer]:
    """Runs a script (or module) with its arguments as the main program, and gives its convolutions."""
    from torch.profiler import ProfilerActivity, profile
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])]
    before, path = sys.argv, sys.path[0]
    sys.argv = list(arguments)
    if not module:
        sys.path[0] = str(pathlib.Path(arguments[0]).resolve().parent)
    ended: BaseException | None = None
    try:
        with profile(activities=activities, record_shapes=True) as found:
            try:
                (runpy.run_module if module else runpy.run_path)(arguments[0], run_name="__main__")
            except SystemExit as end:
                ended = end if end.code not in (None, 0) else None
    finally:
        sys.argv, sys.path[0] = before, path
    if ended is not None:
        print(f"wavetile.torch.doctor: the script ended with {ended}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        found.export_chrome_trace(str(trace))
        return layers_of(json.loads(trace.read_text())["traceEvents"])


def suite(layers: Iterable[Layer]) -> str:
    """The layers as a suite file, one `name: problem` per line, with what torch took."""
    lines = ["# The convolutions of a model, recorded by wavetile.torch.doctor; those that took longest first."]
    for i, layer in enumerate(layers):
        lines.append(f"# {layer.calls} calls, {layer.torch_us / layer.calls:.1f} us each by torch")
        lines.append(f"layer{i}: {layer.problem.text}")
    return "\n".join(lines) + "\n"


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m wavetile.torch.doctor", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("wavetile_doctor.txt"), help="where the list goes")
    parser.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module's name")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args(words)
    layers = record([given.script, *given.arguments], given.module)
    if not layers:
        print("wavetile.torch.doctor: the script called no convolution that Wavetile has", file=sys.stderr)
        return 1
    given.out.write_text(suite(layers))
    print(f"{len(layers)} convolutions, {sum(layer.torch_us for layer in layers) / 1e3:.2f} ms by torch: {given.out}")
    command = shutil.which("wavetile")
    if command is None:
        print("the command `wavetile` is not installed; it judges the list: wavetile doctor FILE")
        return 0
    if subprocess.run([command, "doctor", "--help"], capture_output=True).returncode != 0:
        print(f"{command} has no `doctor`; wavetile bench {given.out} times the list")
        return 0
    return subprocess.run([command, "doctor", str(given.out)]).returncode


if __name__ == "__main__":
    sys.exit(main())
