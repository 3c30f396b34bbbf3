#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exact results on a GPU by few kernels of every kind: each problem by each pipeline and design that accepts it.

    python3 bench/verify_kernels.py prepare --pack build/verify.wtpack.xz --choice build/verify.json   # anywhere: compiles
    python3 bench/verify_kernels.py run     --pack build/verify.wtpack.xz --choice build/verify.json \\
        --json bench/results/verify_families_h200.json                                                 # on a GPU

`prepare` asks which kernels accept the problems of the suites edges, variety and many in three directions, and of a
list of its own that brings forms those lack. It then takes as few kernels as it can, at most --most, such that
every problem runs on every pipeline and every form of a kernel (loaders, stores, splits, ...; not tile sizes) occurs in
every direction. `run` executes each on every problem that it accepts: small integers, poisoned outputs, compared exactly, and
the same bits --same times. Some kernels share a process; those that failed get another one each, since a kernel that
faults destroys the CUDA context. The exit code is 1 where a result was wrong or a run is missing.
--self-test needs neither a GPU nor the program.
"""
import argparse
import os
import sys
from pathlib import Path

from verification.choice import prepare
from verification.run import run
from verification.self_test import self_test

ROOT = Path(__file__).resolve().parent.parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true", help="check this script and stop")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/wavetile"))
    commands = parser.add_subparsers(dest="verb")
    prepared = commands.add_parser("prepare", help="choose the kernels and compile them; needs no GPU")
    ran = commands.add_parser("run", help="execute them and compare")
    for command in (prepared, ran):
        command.add_argument("--binary", default=argparse.SUPPRESS)
        command.add_argument("--choice", type=Path, required=True, help="JSON: the kernels and the problems of each")
    prepared.add_argument("--pack", type=Path, help="where to compile them into; .xz compresses; none: choose only")
    prepared.add_argument("--target", default="sm_90a")
    prepared.add_argument("--most", type=int, default=900, help="kernels in all")
    prepared.add_argument("--picks", action="store_true", help="also the kernel that a plan takes for each problem")
    prepared.add_argument("--only", default="", help="only kernels whose name contains this, to try the script out")
    ran.add_argument("--pack", type=Path, help="what `prepare` compiled; none: kernels are compiled here")
    ran.add_argument("--device", default="gpu")
    ran.add_argument("--seconds", type=float, default=400, help="for everything; what is missing then counts as failed")
    ran.add_argument("--same", type=int, default=3, help="executions that must give the same bits")
    ran.add_argument("--processes", type=int, default=4, help="that share the GPU")
    ran.add_argument("--kinds", nargs="+", default=[], help="only these pipelines and designs")
    ran.add_argument("--json", type=Path, required=True)
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if not args.verb:
        parser.error("prepare or run?")
    for path in [args.binary] + ([args.choice] + [args.pack] * bool(args.pack) if args.verb == "run" else []):
        if not os.path.isfile(path):
            parser.error(f"{path} does not exist")
    args.command = "python3 " + " ".join([os.path.relpath(__file__, ROOT)] + sys.argv[1:])
    return prepare(args) if args.verb == "prepare" else run(args)


if __name__ == "__main__":
    sys.exit(main())
