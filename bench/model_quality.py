#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How good is the kernel that the cost model picks, compared with the best of an exhaustive search?

    python3 bench/model_quality.py measure --data bench/results/model_h200.json --minutes 9   # on a GPU; goes on
    python3 bench/model_quality.py report  --data bench/results/model_h200.json               # anywhere
    python3 bench/model_quality.py fit     --data bench/results/model_h200.json               # writes the correction

`measure` times every kernel that accepts a random layer, each verified first, with `wavetile tune --exhaustive`; given
again, it goes on with the layers that are missing. `report` asks `wavetile explain` for today's predictions, so that a
changed model is judged on the same measurements. `fit` uses the layers with even numbers only; `report` gives the odd
ones, which it was not calibrated on, apart. docs/tuning.md says more. `--self-test` needs neither GPU nor binary.
"""
import argparse
import datetime
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEEP_BELOW = 4.0  # times the best; slower kernels say nothing about a choice and are not kept
CHUNK_SECONDS = 240  # after which a process is ended: a kernel may hang
RIDGE = 4.0  # weight of the pull towards no correction, in measurements
FEWEST = 4  # kernels of a layer, below which a choice among the measured ones says nothing
NEAR = 2.0  # times the best: what lies within decides a choice and counts fully in a fit


def random_layers(count, seed):
    """Layers as networks have them: sizes, channels and filters drawn from what is usual, some odd ones."""
    source = random.Random(seed)
    layers = []
    while len(layers) < count:
        direction = source.choice(["fwd", "bwd_data", "bwd_weight"])
        kind = source.random()
        size = source.choice([7, 10, 13, 14, 20, 25, 28, 40, 50, 56, 80, 100, 112, 128, 160, 200])
        height = size if source.random() < 0.8 else max(5, size + source.choice([-3, 4, 12]))
        batch = source.choice([1, 1, 2, 4, 8, 16, 32, 64])
        dtype = source.choice(["bf16", "bf16", "bf16", "fp16"])
        channels = lambda: source.choice([32, 48, 64, 64, 96, 128, 128, 160, 192, 256, 256, 320, 384, 512, 768, 1024])
        taps = source.choice([1, 1, 3, 3, 3, 3, 5, 7])
        stride = source.choice([1, 1, 1, 1, 2])
        c, k, groups = channels(), channels(), 1
        if kind < 0.08:  # few channels at one end
            c, k = (source.choice([3, 4, 8, 16]), k) if source.random() < 0.5 else (c, source.choice([3, 9, 18, 36]))
        elif kind < 0.16:  # depthwise
            groups = k = c
            taps = source.choice([3, 5, 7])
        elif kind < 0.22:  # groups
            groups = source.choice([2, 4, 8, 32])
            c, k = groups * source.choice([8, 16, 32, 64]), groups * source.choice([8, 16, 32, 64])
        pad = taps // 2
        if size + 2 * pad < taps:
            continue
        text = f"{direction} {dtype} n{batch} c{c} k{k}" + (f" g{groups}" if groups > 1 else "")
        text += f" i{height}x{size} f{taps}x{taps}" + (f" s{stride}" if stride > 1 else "") + (f" p{pad}" if pad else "")
        out = ((height + 2 * pad - taps) // stride + 1) * ((size + 2 * pad - taps) // stride + 1)
        gflop = 2e-9 * batch * out * k * (c // groups) * taps * taps
        elements = batch * max(c * height * size, k * out)
        if gflop > 200 or elements > 1e8 or gflop < 0.005 or text in layers:
            continue
        layers.append(text)
    return layers


def load(path):
    if path.exists():
        return json.loads(path.read_text())
    return {"kernels": [], "layers": {}}


def store(path, data):
    temporary = path.with_suffix(".tmp")
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}"
                       for key, value in data["layers"].items())
    head = {key: value for key, value in data.items() if key != "layers"}
    text = json.dumps(head, indent=0)[:-2] + ',\n"layers": {\n' + lines + "\n}\n}\n"
    temporary.write_text(text)
    os.replace(temporary, path)


def rounded(value):
    return float(f"{value:.4g}")


def add_row(data, row):
    """Keeps what `wavetile tune --json` says of one layer, kernels as numbers into one list of names."""
    index = {name: i for i, name in enumerate(data["kernels"])}
    timed = [k for k in row["kernels"] if k.get("median_us") and k["outcome"] in ("timed", "slower")]
    if not timed:
        return False
    best = min(k["median_us"] for k in timed)
    kept = []
    for kernel in timed:
        if kernel["median_us"] > KEEP_BELOW * best:
            continue
        if kernel["kernel"] not in index:
            index[kernel["kernel"]] = len(data["kernels"])
            data["kernels"].append(kernel["kernel"])
        kept.append([index[kernel["kernel"]], rounded(kernel["median_us"])])
    data["layers"][row["problem"]] = {
        "best_us": rounded(best), "candidates": row["candidates"], "tried": row["tried"], "wrong": row["wrong"],
        "failed": row["failed"], "kept": kept}
    return True


def measure(args):
    data = load(args.data)
    wanted = random_layers(args.layers, args.seed)
    missing = [text for text in wanted if text not in data["layers"] and text not in data.get("skipped", [])]
    print(f"{len(wanted) - len(missing)} of {len(wanted)} layers are there; measuring for {args.minutes} minutes")
    end = time.monotonic() + 60 * args.minutes
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        environment["WAVETILE_TUNING_DB"] = str(Path(folder) / "tuning.db")  # the user's own stays as it is
        done, slowest = 0, 10.0
        while missing and time.monotonic() + slowest < end:
            some, missing = missing[:args.chunk], missing[args.chunk:]
            result = Path(folder) / "tune.json"
            start = time.monotonic()
            command = [args.binary, "tune", *some, *(["--quick"] if args.quick else ["--exhaustive"]), "--device",
                       args.device, "--no-progress", "--json", str(result)]
            left = max(20.0, end - time.monotonic())
            try:
                run = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                     text=True, timeout=min(left, CHUNK_SECONDS))
            except subprocess.TimeoutExpired:
                if left < CHUNK_SECONDS:
                    print("  the time was up in the middle of a chunk, which is left out")
                    break
                print(f"  no answer in {CHUNK_SECONDS} s, passed over: {some}", file=sys.stderr)
                data.setdefault("skipped", []).extend(some)
                store(args.data, data)
                continue
            if run.returncode not in (0, 1) or not result.exists():
                print(f"  {some}: exit code {run.returncode}: {run.stderr[-500:]}", file=sys.stderr)
            if result.exists():
                document = json.loads(result.read_text())
                for row in document["rows"]:
                    done += add_row(data, row)
                data.update({"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                             "program": document["program"], "device": document["device"],
                             "seed": args.seed, "drawn": args.layers,
                             "command": "python3 bench/model_quality.py measure --data " + args.data.name
                                        + (" --quick" if args.quick else "")})
                store(args.data, data)
                result.unlink()
            slowest = max(slowest, 1.2 * (time.monotonic() - start))
            print(f"  {len(data['layers'])} layers, {time.monotonic() - start:.0f} s for the last {len(some)}", flush=True)
    print(f"{done} layers measured now, {len(data['layers'])} in {args.data}, {len(missing)} missing")
    return 0


def predictions(args, text):
    """What today's model says of every kernel that accepts: name -> entry of `wavetile explain`."""
    run = subprocess.run([args.binary, "explain", text, "--target", args.target, "--all", "--json"],
                         capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"explain '{text}': {run.stderr.strip()}")
    return {entry["name"]: entry for entry in json.loads(run.stdout)["candidates"] if entry["accepts"]}


def judge(args, data):
    """One row a layer: how much of the best's speed the pick reaches."""
    rows = []
    for number, (text, layer) in enumerate(sorted(data["layers"].items())):
        entries = predictions(args, text)
        measured = {data["kernels"][i]: us for i, us in layer["kept"]}
        if args.measured_only:
            entries = {name: entry for name, entry in entries.items() if name in measured}
            if len(entries) < FEWEST:
                continue
        pick = min(entries.values(), key=lambda entry: entry["predicted_us"])["name"]
        best = min(measured, key=measured.get)
        # A pick that was not kept was more than KEEP_BELOW times slower, or did not exist when this was measured.
        us = measured.get(pick)
        rows.append({"problem": text, "number": number, "pick": pick, "best": best, "best_us": measured[best],
                     "pick_us": us, "quality": measured[best] / us if us else 1 / KEEP_BELOW, "known": us is not None,
                     "entries": entries, "measured": measured})
    return rows


def geomean(values):
    values = list(values)
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else float("nan")


def summary(rows):
    quality = sorted(row["quality"] for row in rows)
    return {"layers": len(rows), "geomean": round(geomean(quality), 4), "worst": round(quality[0], 4),
            "tenth": round(quality[len(quality) // 10], 4), "median": round(quality[len(quality) // 2], 4),
            "below_0.75": sum(q < 0.75 for q in quality), "picks_not_measured": sum(not row["known"] for row in rows)}


def report(args):
    data = load(args.data)
    if not data["layers"]:
        print(f"{args.data} holds no layers; run measure on a GPU first", file=sys.stderr)
        return 2
    rows = judge(args, data)
    parts = {"all": rows, "calibrated on (even)": [r for r in rows if r["number"] % 2 == 0],
             "held out (odd)": [r for r in rows if r["number"] % 2 == 1]}
    for direction in ("fwd", "bwd_data", "bwd_weight"):
        parts[direction] = [r for r in rows if r["problem"].startswith(direction + " ")]
    print(f"{data.get('device', {}).get('name', '?')}, measured {data.get('date')}: the pick's speed as a part of the best's\n")
    print(f"{'layers':24} {'count':>5} {'geomean':>8} {'worst':>7} {'10th %':>7} {'median':>7} {'< 0.75':>7}")
    for name, part in parts.items():
        if part:
            s = summary(part)
            print(f"{name:24} {s['layers']:5} {s['geomean']:8.3f} {s['worst']:7.3f} {s['tenth']:7.3f} {s['median']:7.3f} "
                  f"{s['below_0.75']:7}")
    print("\nWorst picks:")
    for row in sorted(rows, key=lambda r: r["quality"])[:args.worst]:
        us = f"{row['pick_us']:.2f} us" if row["known"] else f"over {KEEP_BELOW:.0f} times, or new"
        print(f"  {row['quality']:.3f}  {row['problem']}\n         pick {us}: {row['pick']}\n"
              f"         best {row['best_us']:.2f} us: {row['best']}")
    if args.json:
        document = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                    "command": "python3 bench/model_quality.py report --data " + str(args.data),
                    "data": str(args.data), "device": data.get("device"),
                    "parts": {name: summary(part) for name, part in parts.items() if part},
                    "rows": [{k: row[k] for k in ("problem", "quality", "pick", "pick_us", "best", "best_us")} for row in rows]}
        Path(args.json).write_text(json.dumps(document, indent=1) + "\n")
    held = summary(parts["held out (odd)"] or rows)
    good = held["geomean"] >= args.min_geomean and held["worst"] >= args.min_worst
    print(f"\nheld out: geometric mean {held['geomean']:.3f} (wanted {args.min_geomean}), worst {held['worst']:.3f} "
          f"(wanted {args.min_worst}): {'reached' if good else 'NOT REACHED'}")
    return 0 if good else 1


def flatten(value, prefix=""):
    """A config's JSON as paths and values, spelled as the library's fields are."""
    if not isinstance(value, dict):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return [(prefix, text)]
    return [pair for key, inner in value.items() for pair in flatten(inner, f"{prefix}.{key}" if prefix else key)]


SIGNATURE = ("direction", "family", "target", "x", "w", "y", "acc", "layout", "dims", "epilogue")


def features(entry, direction):
    """The constant of its kind, and every field beside the signature that is not the default."""
    kind = entry["kind"]
    names = [(kind, direction, "", "")]
    for path, value in flatten(entry["config"]):
        if path.split(".")[0] not in SIGNATURE:
            names.append((kind, direction, path, value))
    return names


def solve(matrix, right):
    """Gaussian elimination with pivots, for the few hundred unknowns of a fit."""
    size = len(right)
    rows = [list(line) + [value] for line, value in zip(matrix, right)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda r: abs(rows[r][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        lead = rows[column][column]
        if abs(lead) < 1e-12:
            continue
        for r in range(column + 1, size):
            factor = rows[r][column] / lead
            if factor:
                line, base = rows[r], rows[column]
                for c in range(column, size + 1):
                    line[c] -= factor * base[c]
    result = [0.0] * size
    for r in range(size - 1, -1, -1):
        if abs(rows[r][r]) > 1e-12:
            result[r] = (rows[r][size] - sum(rows[r][c] * result[c] for c in range(r + 1, size))) / rows[r][r]
    return result


def fit_factors(samples):
    """samples: [(features, log of measured over model, weight)] --> {feature: log factor}, by ridge regression."""
    names = sorted({name for sample in samples for name in sample[0]})
    index = {name: i for i, name in enumerate(names)}
    size = len(names)
    matrix = [[0.0] * size for _ in range(size)]
    right = [0.0] * size
    for features_, target, weight in samples:
        at = [index[name] for name in features_]
        for i in at:
            right[i] += weight * target
            line = matrix[i]
            for j in at:
                line[j] += weight
    for i, name in enumerate(names):
        matrix[i][i] += RIDGE * (0.05 if name[2] == "" else 1.0)  # the constant of a kind is pulled least
    return dict(zip(names, solve(matrix, right)))


def fit(args):
    data = load(args.data)
    samples = []
    for number, (text, layer) in enumerate(sorted(data["layers"].items())):
        if number % 2 and not args.all:
            continue
        entries = predictions(args, text)
        direction = text.split()[0]
        for index, us in layer["kept"]:
            entry = entries.get(data["kernels"][index])
            if not entry:
                continue
            near = us <= NEAR * layer["best_us"]
            samples.append((features(entry, direction), math.log(us / entry["model_us"]), 1.0 if near else 0.15))
    if not samples:
        print("nothing to fit: no measured kernel is among today's", file=sys.stderr)
        return 2
    factors = fit_factors(samples)
    lines = ["// SPDX-License-Identifier: Apache-2.0\n// clang-format off\n"
             "// Made by bench/model_quality.py fit. Rows: kind of kernel, direction, field or \"\", its value, logarithm of the factor.\n"]
    for (kind, direction, field, value), factor in sorted(factors.items()):
        if abs(factor) >= 0.004:
            lines.append(f'{{"{kind}", "{direction}", "{field}", "{value}", {factor:.3f}}},\n')
    args.output.write_text("".join(lines))
    print(f"{len(samples)} measurements, {len(lines) - 1} factors in {args.output}; build again and run report")
    return 0


def self_test():
    layers = random_layers(220, 1)
    assert len(set(layers)) == 220 and layers == random_layers(220, 1) and layers != random_layers(220, 2)
    assert {text.split()[0] for text in layers} == {"fwd", "bwd_data", "bwd_weight"}
    data = {"kernels": [], "layers": {}}
    kernels = [{"kernel": "a", "outcome": "timed", "median_us": 10.0}, {"kernel": "b", "outcome": "slower", "median_us": 30.0},
               {"kernel": "c", "outcome": "wrong"}, {"kernel": "d", "outcome": "timed", "median_us": 100.0}]
    assert add_row(data, {"problem": "p", "kernels": kernels, "candidates": 4, "tried": 4, "wrong": 1, "failed": 0})
    assert data["layers"]["p"]["kept"] == [[0, 10.0], [1, 30.0]] and data["kernels"] == ["a", "b"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.json"
        store(path, data)
        assert load(path) == data
    # Two kinds whose errors are known must be found again.
    samples = []
    for i in range(200):
        kind = "slow" if i % 2 else "fast"
        wide = i % 3 == 0
        names = [(kind, "fwd", "", "")] + ([(kind, "fwd", "gemm.tile.n", "256")] if wide else [])
        samples.append((names, (0.7 if kind == "slow" else -0.3) + (0.2 if wide else 0), 1.0))
    factors = fit_factors(samples)
    assert abs(factors[("slow", "fwd", "", "")] - 0.7) < 0.05, factors
    assert abs(factors[("fast", "fwd", "gemm.tile.n", "256")] - 0.2) < 0.06, factors
    assert flatten({"gemm": {"tile": {"m": 64}, "ping_pong": True}}) == [("gemm.tile.m", "64"), ("gemm.ping_pong", "true")]
    assert abs(geomean([1, 4]) - 2) < 1e-12
    print("self-test passed")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", nargs="?", choices=["measure", "report", "fit"])
    parser.add_argument("--data", type=Path, default=ROOT / "bench/results/model_h200.json")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/wavetile"))
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--target", default="sm_90a", help="of the predictions")
    parser.add_argument("--layers", type=int, default=220)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=9)
    parser.add_argument("--chunk", type=int, default=4, help="layers a process")
    parser.add_argument("--quick", action="store_true",
                        help="measure: fewer runs, and not what could not win with the model's most favourable error")
    parser.add_argument("--measured-only", action="store_true",
                        help="report: choose among the kernels that were measured, of layers that were measured in part")
    parser.add_argument("--worst", type=int, default=10, help="picks shown")
    parser.add_argument("--json", help="write the report's figures there")
    parser.add_argument("--min-geomean", type=float, default=0.93)
    parser.add_argument("--min-worst", type=float, default=0.75)
    parser.add_argument("--all", action="store_true", help="fit: on every layer, which leaves none to judge by")
    parser.add_argument("--output", type=Path, default=ROOT / "src/dispatch/cost_correction.inc")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if not args.action:
        parser.error("say measure, report or fit")
    return {"measure": measure, "report": report, "fit": fit}[args.action](args)


if __name__ == "__main__":
    sys.exit(main())
