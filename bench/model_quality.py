#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How good is the kernel that the cost model picks, compared with the best of those that were timed?

    python3 bench/model_quality.py prepare --pack build/model.wtpack.xz    # anywhere: compiles what will be timed
    python3 bench/model_quality.py measure --pack build/model.wtpack.xz    # on a GPU; continues where it stopped
    python3 bench/model_quality.py report                                  # anywhere
    python3 bench/model_quality.py collect --tuned tune.json --data suites.json    # of other layers that were tuned

The layers are random, drawn as networks have them and fixed by a seed. `measure` times the kernels of the pack on each,
every one verified first; without a pack it compiles every kernel itself. `report` asks `wavetile explain` for today's
predictions, so that a changed model is judged on the same measurements. docs/tuning.md says more. `--self-test` needs
neither GPU nor binary.
"""
import argparse
import os
import sys
from pathlib import Path

from quality.judge import report
from quality.measure import collect, measure
from quality.prepare import ROOT, prepare
from quality.self_test import self_test


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", nargs="?", choices=["prepare", "measure", "collect", "report"])
    parser.add_argument("--data", type=Path, default=ROOT / "bench/results/model_h200.json")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/wavetile"))
    parser.add_argument("--pack", type=Path, help="of compiled kernels, compressed where its name ends in .xz")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--target", default="sm_90a", help="of the kernels and predictions")
    parser.add_argument("--layers", type=int, default=216)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=540, help="of prepare or measure")
    parser.add_argument("--kernels", type=int, default=1400, help="prepare: in the pack, the likeliest to win first")
    parser.add_argument("--no-suites", action="store_true", help="prepare: kernels of the random layers only")
    parser.add_argument("--chunk", type=int, default=24, help="measure: layers per process")
    parser.add_argument("--control", type=int, default=24, help="measure: layers on which every kernel is timed at last")
    parser.add_argument("--exhaustive", action="store_true", help="measure: every kernel on every layer")
    parser.add_argument("--quick", action="store_true", help="measure: fewer runs of each kernel, as with a pack")
    parser.add_argument("--tuned", type=Path, nargs="+", default=[], help="collect: files of `wavetile tune --json`")
    parser.add_argument("--measured-only", action="store_true",
                        help="report: choose among the kernels that were measured, of layers that were measured in part")
    parser.add_argument("--worst", type=int, default=10, help="report: picks shown")
    parser.add_argument("--markdown", action="store_true", help="report: the table as docs/ has it")
    parser.add_argument("--json", help="report: write the figures there")
    parser.add_argument("--min-geomean", type=float, default=0.93)
    parser.add_argument("--min-worst", type=float, default=0.75)
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if not args.action:
        parser.error("say prepare, measure, collect or report")
    if args.action == "prepare" and not args.pack:
        parser.error("prepare needs --pack FILE to write")
    args.command = "python3 " + " ".join([os.path.relpath(__file__, ROOT)] + sys.argv[1:])
    return {"prepare": prepare, "measure": measure, "collect": collect, "report": report}[args.action](args)


if __name__ == "__main__":
    sys.exit(main())
