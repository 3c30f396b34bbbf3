#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Appends a benchmark to a history: one line per commit and suite, which `wavetile report --history FILE` draws.

    wavetile bench resnet50 --json results.json
    python3 bench/history.py results.json --commit "$(git rev-parse --short HEAD)" --to history.jsonl

A commit and suite that are there already are replaced. Reads the files of `wavetile bench --json` and bench/compare.py.
"""
import argparse
import json
import math
import sys
import tempfile
from pathlib import Path


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0.0


def time_of(row):
    return (row.get("wavetile") or {}).get("us") or (row.get("timing") or {}).get("median_us") or 0.0


def speedup_of(row):
    return row.get("speedup_cudnn_tuned") or row.get("speedup") or 0.0


def entries(document, commit, suite):
    groups = {}
    for row in document["rows"]:
        if not row.get("error") and time_of(row) > 0:
            groups.setdefault(row.get("suite") or suite, []).append(row)
    device = (document.get("device") or {}).get("name") or (document.get("machine") or {}).get("gpu") or ""
    return [{"commit": commit, "date": document.get("date", ""), "suite": name, "device": device, "rows": len(rows),
             "us": round(sum(map(time_of, rows)), 3),
             "speedup": round(geomean([s for s in map(speedup_of, rows) if s > 0]), 4),
             "share": round(geomean([row["share"] for row in rows if row.get("share", 0) > 0]), 4)}
            for name, rows in sorted(groups.items())]


def append(path, new):
    old = [json.loads(line) for line in path.read_text().splitlines() if line.strip()] if path.exists() else []
    replaced = {(entry["commit"], entry["suite"]) for entry in new}
    kept = [entry for entry in old if (entry["commit"], entry["suite"]) not in replaced]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in kept + new))


def self_test():
    document = {"date": "d", "device": {"name": "g"}, "rows": [
        {"timing": {"median_us": 2.0}, "share": 0.5, "speedup": 4.0}, {"timing": {"median_us": 3.0}, "share": 0.5, "speedup": 1.0},
        {"error": "x"}]}
    [entry] = entries(document, "abc", "s")
    assert (entry["rows"], entry["us"], entry["speedup"], entry["share"]) == (2, 5.0, 2.0, 0.5), entry
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "h.jsonl"
        append(path, [entry])
        append(path, [dict(entry, us=6.0)])
        append(path, [dict(entry, commit="def")])
        assert [json.loads(line)["us"] for line in path.read_text().splitlines()] == [6.0, 5.0]
    print("self-test passed")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?")
    parser.add_argument("--commit")
    parser.add_argument("--suite", default="all", help="of rows that name none")
    parser.add_argument("--to", type=Path)
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if not (args.results and args.commit and args.to):
        parser.error("results, --commit and --to are needed")
    new = entries(json.loads(Path(args.results).read_text()), args.commit, args.suite)
    append(args.to, new)
    print(f"{args.to}: {len(new)} suites of {args.commit}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
