#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every pipeline on the edge problems, in three directions, on simulated GPUs: who takes them, and are they right?

    python3 bench/pipeline_edges.py --binary build/dev/bin/wavetile --data bench/results/pipeline_edges.json

Small-integer data, compared bit for bit. The kernels of each pipeline with the least predicted times (--best) are tried
on each problem; where a pipeline declines one, the reasons of its kernel with the fewest are counted. `chosen` is the
kernel that `wavetile run --device sim:TARGET PROBLEM` takes by itself: it must be right on every problem, so that what
one pipeline declines is served by another. Exits with 1 where anything is wrong. No GPU is needed. Repeated, it continues
with what is missing; `--fresh` starts over; `report` prints the table of a file.
"""
import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from result_file import write

ROOT = Path(__file__).resolve().parent.parent
TARGETS = ["gfx942", "gfx1201", "sm_80"]
DIRECTIONS = ["fwd", "bwd_data", "bwd_weight"]
# What a kernel's name holds (docs/kernel-names.md): the pipelines, then forms that several of them have.
KERNELS = {"basic_v1": "_basic_t", "four_wave": "_four_wave_"}
KERNELS |= {name: f"_portable_{name}_" for name in ("basic_v2", "mem", "compv3", "compv4", "compv5", "compv6", "basic_async_v1",
                                                    "comp_async")}
KERNELS |= {"wavelet 4+4": "_lw4", "wavelet 4+2": "_lw2", "interwave": "_interwave", "stream-K linear": "_stream_linear",
            "stream-K tree": "_stream_tree", "merged groups": "_gt", "explicit GEMM": "_explicit"}
NAMED = 12  # problems that are named under a reason


def output_of(command, good=(0,)):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode not in good:
        sys.exit(f"{' '.join(map(str, command))}: exit code {run.returncode}: {run.stderr[-1000:]}")
    return run.stdout


class Edges:
    """The problems of the suite in one direction, and the kernels that explain lists for each on one target."""

    def __init__(self, args, target, direction):
        command = [args.binary, "explain", args.suite, "--target", target, "--direction", direction, "--json"]
        if args.filter:
            command += ["--filter", args.filter]
        rows = json.loads(output_of(command))["targets"][0]["problems"]
        self.problems = {row["name"]: row["problem"] for row in rows}
        self.kernels = {}
        for name, problem in self.problems.items():
            listed = json.loads(output_of([args.binary, "explain", problem, "--target", target, "--all", "--json"]))
            self.kernels[name] = listed["candidates"]

    def reason(self, name, text):
        """Why the kernel that comes closest declines, one that the target can run if there is any."""
        declines = [sorted(decline["id"] for decline in kernel["declines"])
                    for kernel in self.kernels[name] if text in kernel["name"]]
        if not declines:
            return "none offered for this direction, type or layout"
        return ", ".join(min(declines, key=lambda ids: ("async-copy" in ids, len(ids))))


def try_pipeline(args, target, direction, edges, text):
    takes = {name for name, kernels in edges.kernels.items()
             if any(kernel["accepts"] and text in kernel["name"] for kernel in kernels)}
    row = {"problems": len(edges.problems), "right": 0, "wrong": 0, "failed": 0, "kernels": 0, "declined": {}}
    kernels = set()
    if takes:
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder) / "search.json"
            command = [args.binary, "search", args.suite, "--device", f"sim:{target}", "--exact", "--direction",
                       direction, "--kernels", text, "--best", str(args.best), "--no-progress", "--json", str(result)]
            if args.filter:
                command += ["--filter", args.filter]
            output_of(command, good=(0, 1, 2, 3, 4, 5))  # problems that nobody takes are no success either
            tried = {entry["name"]: entry for entry in json.loads(result.read_text()).get("problems", [])}
        if set(tried) != takes:
            sys.exit(f"{target} {direction} {text}: explain and search differ on {sorted(set(tried) ^ takes)}")
        for name, entry in tried.items():
            kernels |= {kernel["kernel"] for kernel in entry["kernels"]}
            kind = "wrong" if entry["wrong"] else "failed" if entry["failed"] else "right"
            row[kind] += 1
            if kind != "right":
                row.setdefault("bad", []).append(name)
    row["kernels"] = len(kernels)
    for name in edges.problems:
        if name not in takes:
            reason = row["declined"].setdefault(edges.reason(name, text), {"problems": 0, "names": []})
            reason["problems"] += 1
            if len(reason["names"]) < NAMED:
                reason["names"].append(name)
    return row


def try_chosen(args, target, edges):
    row = {"problems": len(edges.problems), "right": 0, "wrong": 0, "failed": 0, "kernels": 0, "declined": {}}
    kernels = set()
    for name, problem in edges.problems.items():
        run = subprocess.run([args.binary, "run", problem, "--device", f"sim:{target}", "--exact", "--json"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        good = run.returncode == 0 and json.loads(run.stdout)["result"]["verification"]["verified"]
        row["right" if good else "failed"] += 1
        if good:
            kernels.add(json.loads(run.stdout)["result"]["kernel"])
        else:
            row.setdefault("bad", []).append(name)
    row["kernels"] = len(kernels)
    return row


def measure(args):
    data = {"schema": 1, "rows": {}}
    if args.data.exists() and not args.fresh:
        data = json.loads(args.data.read_text())
    command = f"python3 bench/pipeline_edges.py --best {args.best}"
    if args.filter:
        command += f" --filter '{args.filter}'"
    data |= {"program": output_of([args.binary, "--version"]).strip(), "command": command,
             "suite": Path(args.suite).stem, "date": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds")}
    for target in args.targets:
        for direction in DIRECTIONS:
            missing = [name for name in [*args.kernels, "chosen"] if f"{target} {direction} {name}" not in data["rows"]]
            if not missing:
                continue
            edges = Edges(args, target, direction)
            for name in missing:
                key = f"{target} {direction} {name}"
                row = (try_chosen(args, target, edges) if name == "chosen"
                       else try_pipeline(args, target, direction, edges, KERNELS[name]))
                data["rows"][key] = row
                write(args.data, data)
                print(f"{key}: {row['right']} right, {row['wrong']} wrong, {row['failed']} failed, "
                      f"{sum(reason['problems'] for reason in row['declined'].values())} declined", flush=True)
    return data


def report(data):
    print(f"{'kernels':16} {'direction':10} " + " ".join(f"{target:>16}" for target in TARGETS))
    for name in [*KERNELS, "chosen"]:
        for direction in DIRECTIONS:
            cells = []
            for target in TARGETS:
                row = data["rows"].get(f"{target} {direction} {name}")
                cells.append("-" if row is None else f"{row['right']} of {row['problems']}" + (
                    f", {row['wrong'] + row['failed']} BAD" if row["wrong"] + row["failed"] else ""))
            print(f"{name:16} {direction:10} " + " ".join(f"{cell:>16}" for cell in cells))
    bad = [key for key, row in data["rows"].items()
           if row["wrong"] + row["failed"] or (key.endswith("chosen") and row["right"] != row["problems"])]
    for key in bad:
        print(f"BAD {key}: {' '.join(data['rows'][key].get('bad', []))}")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["measure", "report"], default="measure")
    parser.add_argument("--binary", default="wavetile", help="the wavetile command")
    parser.add_argument("--data", type=Path, default=ROOT / "bench" / "results" / "pipeline_edges.json")
    parser.add_argument("--suite", default=str(ROOT / "bench" / "suites" / "edges.txt"))
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=TARGETS)
    parser.add_argument("--kernels", nargs="+", choices=list(KERNELS), default=list(KERNELS))
    parser.add_argument("--filter", default="", help="only problems whose name matches this pattern")
    parser.add_argument("--best", type=int, default=1, help="kernels of a pipeline that are tried on each problem")
    parser.add_argument("--fresh", action="store_true", help="do not go on with what the file holds")
    args = parser.parse_args()
    data = measure(args) if args.what == "measure" else json.loads(args.data.read_text())
    return report(data)


if __name__ == "__main__":
    sys.exit(main())
