#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wavetile against cuDNN, or MIOpen with PyTorch for ROCm, on one GPU: same process, same tensors, same timer.

    python3 bench/compare.py --library build/release/lib/libwavetile.so --json bench/results/h200.json

For every layer of the suites and every direction it times PyTorch's convolution (autotuned and by heuristics), Wavetile
through its C API, and the cuBLAS product of the same size; verifies Wavetile's output; and prints a table per suite and
direction, losses first. Both sides have the same layout. docs/measuring.md says how to read it. --list and --self-test
need neither PyTorch nor a GPU.
"""
import argparse
import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from comparison.api import Wavetile, WavetileError
from comparison.library_test import library_test
from comparison.measure import supervise, worker
from comparison.report import report
from comparison.rows import DIRECTIONS, LAYOUTS, PUBLIC_SUITES, ROOT, make_rows
from comparison.self_test import self_test


def default_library():
    found = sorted(ROOT.glob("build/**/libwavetile.so"), key=lambda path: path.stat().st_mtime)
    return str(found[-1]) if found else "libwavetile.so"


def tuning_database(path, library):
    """The database at `path`; what `wavetile tuning export` wrote (.json) becomes a database of its own first."""
    if not path.endswith(".json"):
        return os.path.abspath(path)
    folder = Path(library).resolve().parent
    command = next((str(at) for at in (folder / "wavetile", folder.parent / "bin" / "wavetile") if at.is_file()),
                   shutil.which("wavetile"))
    if not command:
        sys.exit(f"compare.py: no command `wavetile` beside {library} or in PATH, which {path} is imported by")
    place = tempfile.mkdtemp(prefix="wavetile-compare-")
    atexit.register(shutil.rmtree, place, True)
    database = os.path.join(place, "tuning.db")
    subprocess.run([command, "tuning", "import", path], env=dict(os.environ, WAVETILE_TUNING_DB=database), check=True)
    return database


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default=None, help="libwavetile.so; default: the newest below build/")
    parser.add_argument("--suites", nargs="+", default=PUBLIC_SUITES,
                        help="names in bench/suites, or files; default: " + " ".join(PUBLIC_SUITES))
    parser.add_argument("--directions", nargs="+", default=DIRECTIONS, choices=DIRECTIONS)
    parser.add_argument("--type", help="instead of each problem's own types, as a problem's text has them: fp32, tf32, "
                        "e4m3>bf16, ...")
    parser.add_argument("--layout", choices=LAYOUTS, help="of both sides, in any number of dimensions; default: each "
                        "problem's own, which is channels last in every suite")
    parser.add_argument("--limit-floor", type=float, default=0, metavar="US",
                        help="no layer's limit is below this; for suites of small layers")
    parser.add_argument("--filter", help="only rows whose suite/layer/direction holds this text")
    parser.add_argument("--kernel", help="this Wavetile kernel, instead of the library's choice")
    parser.add_argument("--tuning", choices=["off", "cached", "first-use"], default="cached")
    parser.add_argument("--tuning-database",
                        help="a tuning.db, or a file of 'wavetile tuning export', instead of the user's own database")
    parser.add_argument("--strict-nonfinite", action="store_true",
                        help="also time what a plan with strict non-finite behaviour takes, where that is another kernel")
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
            library_test(Wavetile(args.library))
        return self_test()
    args.library = args.library or default_library()
    if args.tuning_database and not args.worker:  # a worker inherits it
        if not os.path.isfile(args.tuning_database):
            parser.error(f"--tuning-database {args.tuning_database} does not exist; 'wavetile tune' or 'wavetile tuning "
                         "import' makes one at the path in WAVETILE_TUNING_DB")
        os.environ["WAVETILE_TUNING_DB"] = tuning_database(args.tuning_database, args.library)
    if args.worker:
        worker(args)
        return 0
    if args.type:
        try:
            Wavetile(args.library).parse(f"fwd {args.type} c1 k1 i1")
        except WavetileError as error:
            parser.error(f"--type {args.type}: {error}")
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
