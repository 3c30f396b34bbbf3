#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fault injection: a script of commands, in which one call of the system fails at a time.

    run.py --binary build/dev/bin/wavetile --injector build/dev/tests/faults/libinjector.so --driver libfake_cuda.so
           --hip libfake_hip.so --api build/dev/tests/faults/api_faults [--each 3] [--only NAME] [--kinds alloc,write]

Each command of SCRIPT is run once to count its calls of each kind (allocations, open, read, write, rename, fsync, spawn,
dlopen, mkdir, mmap, threads), and then again and again from the same state with one of them failing: --each of every
kind, spread over the run (0: every single one). The commands of DRIVER run on the fake GPU drivers, with each of their
functions failing in the same way: --each of its calls, one at a time, and then all of them. A kind of call that a
command must make, and does not, is a fault too: what is never called never fails.

Required each time: the command ends by itself with an exit code of the manual and, unless it is 0, a message; nothing is
half written (the cache verifies, the database is sound, what stood there before still does); and the same command without a
fault then succeeds. The program --api does so through the C API, where the same calls must succeed in the same process
too, the message must say that memory ran out, and no file stays open (api_program.c). Without a fault, what is
stored must be on disk before it takes its name, and the name after it.
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = ["alloc", "open", "read", "write", "rename", "fsync", "spawn", "dlopen", "mkdir", "map", "thread"]
EXIT_CODES = {0, 1, 2, 3, 4}
SIMULATED = "fwd bf16 n1 c8 k8 i5x5 f3x3 p1"
EXPORT = "tuning.json"

# What must be among the calls of a command; whoever stores something does so durably and in one piece.
MUST = {
    "plan_cpu": {"alloc", "dlopen"},
    "plan_sim": {"open", "read", "write", "rename", "fsync", "spawn", "dlopen", "map"},
    "tune_sim": {"rename", "fsync", "spawn", "dlopen"},
    "pack_build": {"write", "rename", "fsync", "spawn"},
    "tuning_import": {"read", "write"},
    "tuning_export": {"write", "rename"},
    "bench_json": {"write", "rename"},
    "report": {"read", "write", "rename"},
}

# name, words, and what must succeed afterwards; @ is the state's folder.
SCRIPT = [
    ("plan_cpu", ["run", "fwd bf16 n1 c8 k8 i6x6 f3x3 p1 +bias+relu", "--device", "cpu", "--exact", "--repeat", "1"], []),
    ("plan_sim", ["run", SIMULATED, "--device", "sim:sm_80", "--exact"], [["cache", "verify"]]),
    ("user_code", ["run", 'fwd fp32 n1 c2 k2 i3x3 +f="acc * 2"', "--device", "cpu", "--repeat", "1"], [["cache", "verify"]]),
    ("tune_sim", ["tune", SIMULATED, "--device", "sim:sm_80", "--budget", "0.01", "--few"], [["cache", "verify"]]),
    ("pack_build", ["pack", "build", "--target", "sim:sm_80", "--problems", SIMULATED, "--most", "1", "-o", "@/p.wtpack"],
     [["pack", "verify", "@/p.wtpack"], ["cache", "verify"]]),
    ("pack_list", ["pack", "list", "@/kept.wtpack"], [["pack", "verify", "@/kept.wtpack"]]),
    ("cache_verify", ["cache", "verify"], [["cache", "verify"]]),
    ("cache_list", ["cache", "list", "--json"], [["cache", "verify"]]),
    ("tuning_import", ["tuning", "import", "@/" + EXPORT], [["tuning", "verify"]]),
    ("tuning_export", ["tuning", "export", "@/out.json"], [["tuning", "verify"], ["tuning", "import", "@/out.json"]]),
    ("bench_json", ["bench", "fwd fp32 n1 c3 k5 i4x4 f3x3 p1", "--device", "cpu", "--no-target", "--repeat", "1",
                    "--json", "@/bench.json"], []),
    ("report", ["report", "@/kept_bench.json", "-o", "@/page.html"], []),
]

# The same calls through the C API: a device, what is done before calls are counted, and what is done with them.
API = "api_program"
SCRIPT += [
    ("api_cpu", [API, "cpu", "fwd bf16 n1 c8 k16 i6x6 f3x3 p1", "fwd bf16 n1 c8 k8 i6x6 f3x3 p1 +bias+relu"], []),
    ("api_sim", [API, "sim:sm_80", "fwd bf16 n1 c8 k16 i5x5 f3x3 p1", SIMULATED], [["cache", "verify"]]),
]

# What need not survive a crash of the machine: a sum that is counted anew where it is missing, and work in a folder of
# temporary files.
SCRATCH = ("/cache/usage", "/tmp/")

# oneDNN allocates inside parallel regions, which an exception cannot leave: it ends the process itself. So where
# allocations fail, the CPU's built-in loops run.
OURS = {"alloc": {"WAVETILE_ONEDNN_PROVIDER": "/nonexistent"}}

# On the fake GPU, whose kernels compute nothing: what they give is wrong, which is no fault of these commands.
# With the compiler that it needs.
DRIVER = [
    ("run", ["run", "fwd bf16 n1 c8 k8 i6x6 f3x3 p1", "--device", "gpu"], "nvrtc"),
    ("split", ["run", "bwd_weight bf16 n8 c64 k64 i28x28 f3x3 p1", "--device", "gpu"], "nvrtc"),
    ("devices", ["devices"], ""),
    ("hip", ["run", "fwd bf16 n1 c8 k8 i6x6 f3x3 p1", "--device", "hip:0"], "clang"),
]


class Runner:
    def __init__(self, options, folder):
        self.options = options
        self.state = folder / "state"
        self.start = folder / "start"
        self.counts = folder / "counts"
        self.failures = 0
        self.cases = 0

    def environment(self, **more):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("WAVETILE_") or k == "WAVETILE_NVRTC"}
        return dict(clean, WAVETILE_CACHE_DIR=f"{self.state}/cache", WAVETILE_TUNING_DB=f"{self.state}/tuning.db",
                    TMPDIR=f"{self.state}/tmp", **more)

    def run(self, words, **more):
        program, words = (self.options.api, words[1:]) if words[0] == API else (self.options.binary, words)
        command = [program] + [word.replace("@", str(self.state)) for word in words]
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300,
                              env=self.environment(**more))

    def restore(self):
        shutil.rmtree(self.state, ignore_errors=True)
        shutil.copytree(self.start, self.state)

    def prepare(self, export):
        """The state that every case begins with: something in the cache, a pack, a database, a result."""
        (self.state / "tmp").mkdir(parents=True)
        shutil.copy(export, self.state / EXPORT)
        for words in (["run", "fwd bf16 n1 c8 k16 i5x5 f3x3 p1", "--device", "sim:sm_80"],
                      ["pack", "build", "--target", "sim:sm_80", "--problems", "fwd bf16 n1 c8 k16 i5x5 f3x3 p1",
                       "--most", "1", "-o", "@/kept.wtpack"],
                      ["tuning", "import", "@/" + EXPORT],
                      ["bench", "fwd fp32 n1 c3 k5 i4x4 f3x3 p1", "--device", "cpu", "--no-target", "--repeat", "1",
                       "--json", "@/kept_bench.json"]):
            done = self.run(words)
            assert done.returncode == 0, f"{words}: {done.stderr}"
        for _, words, _ in DRIVER:  # so that no case waits for a compiler
            if self.options.only in ("", "driver"):
                self.run(words, **self.drivers())
        shutil.copytree(self.state, self.start)
        self.kept = self.entries()

    def entries(self):
        done = self.run(["tuning", "list"])
        return done.stdout.splitlines()[-1].split(" entries")[0] if done.returncode == 0 else done.stderr

    def complain(self, name, fault, what, done):
        self.failures += 1
        print(f"FAILED {name} with {fault}: {what}\n  exit {done.returncode}\n  {done.stderr.strip()[-600:]}", flush=True)

    def judge(self, name, words, checks, fault, done):
        self.cases += 1
        if done.returncode not in EXIT_CODES:
            return self.complain(name, fault, "it did not end by itself", done)
        if done.returncode != 0 and not done.stderr.strip() and not done.stdout.strip():
            return self.complain(name, fault, "it ended without a word", done)
        if name.startswith("api_") and fault.startswith("alloc:") and done.returncode and "memory" not in done.stderr:
            return self.complain(name, fault, "it does not say that memory ran out", done)
        left = list((self.state / "tmp").iterdir())
        if left:
            return self.complain(name, fault, f"it left {left[0].name}", done)
        if self.entries() != self.kept:
            return self.complain(name, fault, f"the database has {self.entries()} entries and had {self.kept}", done)
        again = self.run(words)
        if again.returncode != 0:
            return self.complain(name, fault, "the same command fails after it", again)
        for check in checks:
            done = self.run(check)
            if done.returncode != 0:
                return self.complain(name, fault, f"afterwards {' '.join(check)} says {done.stdout}", done)
        return None

    def numbers(self, count):
        each = self.options.each
        if each == 0 or count <= each:
            return range(1, count + 1)
        # Spread over the run, another part of it with every seed.
        step = count / each
        return sorted({1 + int(step * i + (self.options.seed * 7919) % max(1, int(step))) for i in range(each)})

    def script(self, name, words, checks):
        self.restore()
        counts, done = self.counted(name, words)
        counts["alloc"] = self.counted(name, words, **OURS["alloc"])[0]["alloc"]
        for kind in sorted(MUST.get(name, set())):
            if int(counts[kind]) == 0:
                self.complain(name, kind, "it makes no such call, which it must", done)
        for path in counts["unsynced"]:
            if not any(part in path for part in SCRATCH):
                self.complain(name, "a crash of the machine", f"{path} may be lost: it was not on disk", done)
        for kind in self.options.kinds:
            for number in self.numbers(int(counts[kind])):
                self.restore()
                fault = f"{kind}:{number}"
                done = self.run(words, LD_PRELOAD=self.options.injector, WT_FAULT=fault, **OURS.get(kind, {}))
                self.judge(name, words, checks, f"{fault} of {counts[kind]}", done)

    def counted(self, name, words, **more):
        """How many calls of each kind the command makes, and how it ended."""
        done = self.run(words, LD_PRELOAD=self.options.injector, WT_FAULT_COUNTS=str(self.counts), **more)
        assert done.returncode == 0, f"{name}: {done.stderr}"
        lines = [line.split(" ", 1) for line in self.counts.read_text().splitlines()]
        return {**dict(lines), "unsynced": [path for kind, path in lines if kind == "unsynced"]}, done

    def drivers(self):
        return {"WAVETILE_CUDA_DRIVER": self.options.driver, "WAVETILE_HIP_DRIVER": self.options.hip}

    def driver(self, name, words):
        """Calls of the GPU's driver fail, one at a time, and then every call of a function."""
        log = self.state / "driver.log"
        self.restore()
        driver = self.drivers()
        whole = self.run(words, WAVETILE_FAKE_LOG=str(log), **driver)
        assert whole.returncode in (0, 1), f"driver {name}: {whole.stderr}"
        counts = collections.Counter(line.split()[0] for line in log.read_text().splitlines() if line.split())
        assert counts, f"driver {name}: no call of the driver"
        for call in sorted(counts):
            for number in [0, *self.numbers(counts[call])]:
                self.restore()
                done = self.run(words, WAVETILE_FAKE_FAIL=f"{call}=999@{number}", **driver)
                self.cases += 1
                fault = f"{call}:{number} of {counts[call]}"
                if done.returncode not in EXIT_CODES:
                    self.complain("driver " + name, fault, "it did not end by itself", done)
                elif done.returncode != 0 and not done.stderr.strip() and not done.stdout.strip():
                    self.complain("driver " + name, fault, "it ended without a word", done)
                elif self.entries() != self.kept:
                    self.complain("driver " + name, fault, "the database has changed", done)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--injector", required=True)
    parser.add_argument("--driver", required=True, help="the fake CUDA driver")
    parser.add_argument("--hip", required=True, help="the fake HIP")
    parser.add_argument("--api", required=True, help="the program of api_program.c")
    parser.add_argument("--export", required=True, help="an export of a tuning database")
    parser.add_argument("--absent", type=lambda text: text.split(","), default=[], help="nvrtc, clang: what is not here")
    parser.add_argument("--each", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=KINDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options, Path(folder))
        runner.prepare(options.export)
        for name, words, checks in SCRIPT:
            if options.only in ("", name):
                runner.script(name, words, checks)
        for name, words, compiler in DRIVER:
            if compiler in options.absent:
                print(f"driver {name}: left out, for there is no {compiler}")
            elif options.only in ("", "driver"):
                runner.driver(name, words)
        print(f"{runner.cases} faults, {runner.failures} not handled well")
        return 1 if runner.failures or runner.cases == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
