# SPDX-License-Identifier: Apache-2.0
"""Executes the chosen kernels, some in each process, and sums up what was right, wrong and missing."""
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from quality.prepare import unpacked
from result_file import write
from verification.choice import form_of

LEAST_SECONDS = 2                    # with less, no process is started
PER_PROCESS = 32                     # kernels; one that faults takes the verdicts of those after it along
MOST_AGAIN = 24                      # kernels of a kind that failed and get a process of their own
START_SECONDS, RUN_SECONDS = 30, 0.3  # after which a process has hung


class Verification:
    def __init__(self, args, choice, folder, execute=subprocess.run):
        self.args, self.choice, self.folder, self.execute = args, choice, Path(folder), execute
        self.end = time.monotonic() + args.seconds
        self.verdicts = {}  # (problem, kernel) -> (right, wrong or failed; the message)
        self.documents, self.number = [], itertools.count()
        self.environment = dict(os.environ)
        if args.pack:
            self.environment["WAVETILE_PACK"] = str(unpacked(args.pack, folder))

    def problems_of(self, kernels):
        texts = self.choice["problems"]
        return sorted({texts[i] for kernel in kernels for i in self.choice["kernels"][kernel]})

    def process(self, kernels):
        """One search over the problems of these kernels; what it did not answer stays without a verdict."""
        left = self.end - time.monotonic()
        if left < LEAST_SECONDS:
            return
        number = next(self.number)
        names, result = self.folder / f"names{number}.txt", self.folder / f"search{number}.json"
        names.write_text("\n".join(kernels) + "\n")
        limit = START_SECONDS + RUN_SECONDS * sum(len(self.choice["kernels"][kernel]) for kernel in kernels)
        limit = left if self.args.device.startswith("sim:") else min(left, limit)  # a simulator takes what it takes
        command = [self.args.binary, "search", *self.problems_of(kernels), "--device", self.args.device, "--names", str(names),
                   "--nondeterministic", "--exact", "--no-time", "--same", str(self.args.same), "--no-progress", "--json",
                   str(result)]
        try:
            done = self.execute(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                timeout=limit)
            if done.returncode not in (0, 1):
                print(f"  exit code {done.returncode}: {done.stderr[-600:]}", file=sys.stderr)
        except subprocess.TimeoutExpired:
            print(f"  no answer in {limit:.0f} s of {len(kernels)} kernels, first {kernels[0]}", file=sys.stderr)
        if not result.exists():
            return
        document = json.loads(result.read_text())
        self.documents.append({"program": document["program"], "date": document["date"], "device": document["device"]})
        for row in document.get("problems", []):
            for tried in row["kernels"]:
                key, verdict = (row["problem"], tried["kernel"]), verdict_of(tried)
                # A wrong result stays one, even if it is right the second time.
                if self.verdicts.get(key, ("",))[0] != "wrong":
                    self.verdicts[key] = verdict

    def verdict(self, problem, kernel):
        return self.verdicts.get((problem, kernel), ("failed", "no answer"))

    def runs(self, kernel):
        return [(self.choice["problems"][i], kernel) for i in self.choice["kernels"][kernel]]

    def kind(self, kernels):
        parts = [kernels[i:i + PER_PROCESS] for i in range(0, len(kernels), PER_PROCESS)]
        with ThreadPoolExecutor(self.args.processes) as pool:  # nothing is timed, so they may share the GPU
            list(pool.map(self.process, parts))
        faulty = [kernel for kernel in kernels if any(self.verdict(*run)[0] != "right" for run in self.runs(kernel))]
        for kernel in faulty[:MOST_AGAIN] if len(kernels) > 1 else []:
            self.process([kernel])


def verdict_of(tried):
    found = tried["verification"]
    if found["verified"]:
        return "right", ""
    error = tried.get("error", "not verified")
    ran = found["wrong"] + found["unwritten"] + found["nan"] > 0 or "other bits" in error
    return "wrong" if ran else "failed", error


def sum_up(verification, kernels):
    found = {"right": [], "wrong": [], "failed": []}
    for kernel in kernels:
        for problem, _ in verification.runs(kernel):
            state, error = verification.verdict(problem, kernel)
            found[state].append({"problem": problem, "kernel": kernel, "error": error[:400]})
    return len(found["right"]), found["wrong"], found["failed"]


def run(args, execute=subprocess.run):
    choice = json.loads(args.choice.read_text())
    by_kind = {}
    for kernel in choice["kernels"]:
        by_kind.setdefault(form_of(kernel)[0], []).append(kernel)
    unknown = set(args.kinds) - set(by_kind)
    if unknown:
        print(f"no kernel of {', '.join(sorted(unknown))}; there are {', '.join(sorted(by_kind))}", file=sys.stderr)
        return 2
    result = {"schema": 1, "command": args.command, "chosen_by": choice["command"], "kinds": []}
    total = {"kernels": 0, "runs": 0, "right": 0, "wrong": 0, "failed": 0}
    with tempfile.TemporaryDirectory() as folder:
        verification = Verification(args, choice, folder, execute)
        for kind in sorted(args.kinds or by_kind):
            start, kernels = time.monotonic(), by_kind[kind]
            verification.kind(kernels)
            right, wrong, failed = sum_up(verification, kernels)
            row = {"kind": kind, "forms": sorted({form_of(kernel)[1] for kernel in kernels}), "kernels": len(kernels),
                   "problems": len(verification.problems_of(kernels)), "runs": right + len(wrong) + len(failed),
                   "right": right, "wrong": len(wrong), "failed": len(failed)}
            for key in total:
                total[key] += row[key]
            print(f"{kind:15} {row['kernels']:4} kernels, {len(row['forms']):3} forms, {row['problems']:4} problems: {right} of "
                  f"{row['runs']} runs right, {len(wrong)} wrong, {len(failed)} failed, {time.monotonic() - start:.0f} s",
                  flush=True)
            for fault in (wrong + failed)[:5]:
                print(f"    {fault['kernel']} on '{fault['problem']}': {fault['error'][:200]}")
            if wrong or failed:
                row["faults"] = wrong + failed
            row["names"] = kernels
            result["kinds"].append(row)
        result.update(verification.documents[-1] if verification.documents else {})
        result["problems"] = len(choice["problems"])
        result["not_met"] = choice.get("not_met", [])
        result["same_bits"] = args.same
        result["total"] = total
    args.json.parent.mkdir(parents=True, exist_ok=True)
    write(args.json, result)
    print(f"in all {total['right']} of {total['runs']} runs of {total['kernels']} kernels right, {total['wrong']} wrong, "
          f"{total['failed']} failed")
    return 0 if total["right"] == total["runs"] > 0 else 1
