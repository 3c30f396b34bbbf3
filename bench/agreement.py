#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do two benchmarks of the same GPU agree: `wavetile bench --compare cudnn` and bench/compare.py, or one with itself?

    python3 bench/agreement.py bench.json compare.json

Rows are matched by their problem. Two timings agree where their spreads, each widened by --slack for the clocks of two
processes, overlap. Our side counts only where both ran the same kernel. The exit code is 1 where fewer than --least of
a side's rows agree. --self-test needs no files.
"""
import argparse
import json
import math
import sys
from pathlib import Path

SIDES = {"ours": ("timing", "wavetile"), "cuDNN, autotuned": ("cudnn.tuned", "cudnn_tuned"),
         "cuDNN by heuristics": ("cudnn.heuristic", "cudnn_heuristic")}


def value_at(row, path):
    for name in path.split("."):
        row = row.get(name) if isinstance(row, dict) else None
    return row


def timings(row):
    """Side -> (median, low, high), of either program's rows."""
    found = {}
    for side, paths in SIDES.items():
        for path in paths:
            timing = value_at(row, path)
            if timing:
                us = timing.get("us", timing.get("median_us"))
                found[side] = (us, timing.get("low_us", us), timing.get("high_us", us))
    return found


def compare(first, second, slack):
    """Side -> rows of (ratio of the medians, whether they agree, problem)."""
    others = {row["problem"]: row for row in second["rows"]}
    sides = {side: [] for side in SIDES}
    for row in first["rows"]:
        other = others.get(row["problem"])
        if not other:
            continue
        a, b = timings(row), timings(other)
        for side in SIDES:
            if side not in a or side not in b or (side == "ours" and row.get("kernel") != other.get("kernel")):
                continue
            (us, low, high), (other_us, other_low, other_high) = a[side], b[side]
            agree = low / (1 + slack) <= other_high * (1 + slack) and other_low / (1 + slack) <= high * (1 + slack)
            sides[side].append((us / other_us, agree, row["problem"]))
    return sides


def show(sides, least, worst):
    good = any(sides.values())
    if not good:
        print("no problem is in both files", file=sys.stderr)
    for side, rows in sides.items():
        if not rows:
            continue
        share = sum(agree for _, agree, _ in rows) / len(rows)
        mean = math.exp(sum(math.log(ratio) for ratio, _, _ in rows) / len(rows))
        good = good and share >= least
        print(f"{side}: {sum(agree for _, agree, _ in rows)} of {len(rows)} agree, the first takes {mean:.3f} times the "
              f"second's time (geometric mean){'' if share >= least else ': TOO FEW'}")
        apart = sorted((row for row in rows if not row[1]), key=lambda row: -abs(math.log(row[0])))
        for ratio, _, problem in apart[:worst]:
            print(f"  {ratio:.3f}  {problem}")
    return 0 if good else 1


def self_test():
    bench = {"rows": [{"problem": p, "kernel": "k", "timing": {"median_us": 100.0, "low_us": 99.0, "high_us": 101.0},
                       "cudnn": {"tuned": {"median_us": us, "low_us": us - 1, "high_us": us + 1}}}
                      for p, us in (("a", 50.0), ("b", 60.0), ("c", 70.0))]}
    other = {"rows": [{"problem": p, "kernel": kernel, "wavetile": {"us": 102.5, "low_us": 102.0, "high_us": 103.0},
                       "cudnn_tuned": {"us": 60.0, "low_us": 59.0, "high_us": 61.0}}
                      for p, kernel in (("a", "k"), ("b", "other"), ("d", "k"))]}
    sides = compare(bench, other, 0.02)
    assert [row[1:] for row in sides["ours"]] == [(True, "a")], sides
    assert [(agree, p) for _, agree, p in sides["cuDNN, autotuned"]] == [(False, "a"), (True, "b")], sides
    assert not compare(bench, other, 0.0)["ours"][0][1], "without slack 101 and 102 are apart"
    assert show(sides, 0.9, 1) == 1 and show(sides, 0.5, 1) == 0 and show(compare(bench, {"rows": []}, 0), 0.5, 1) == 1
    print("self-test passed")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="two JSON files")
    parser.add_argument("--slack", type=float, default=0.02, help="of each end of a spread")
    parser.add_argument("--least", type=float, default=0.9, help="part of the rows that must agree")
    parser.add_argument("--worst", type=int, default=8, help="rows shown of a side")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if len(args.files) != 2:
        parser.error("name two JSON files")
    first, second = (json.loads(path.read_text()) for path in args.files)
    return show(compare(first, second, args.slack), args.least, args.worst)


if __name__ == "__main__":
    sys.exit(main())
