# SPDX-License-Identifier: Apache-2.0
"""How much of the best kernel's speed the model's pick reaches, layer by layer and in all."""
import datetime
import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from quality.data import KEEP_BELOW, best_of, load
from quality.layers import DIRECTIONS, SHARES, family_of
from result_file import write

FEWEST = 4  # kernels of a layer, below which a choice among the measured ones says nothing


def predictions(args, text):
    """What today's model says of every kernel that accepts: name -> entry of `wavetile explain`."""
    run = subprocess.run([args.binary, "explain", text, "--target", args.target, "--all", "--json"],
                         capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"explain '{text}': {run.stderr.strip()}")
    return {entry["name"]: entry for entry in json.loads(run.stdout)["candidates"] if entry["accepts"]}


def judge_layer(data, text, layer, entries, measured_only):
    """One row, or None where too few kernels were measured to say anything."""
    best, best_us, measured = best_of(data, layer)
    if measured_only:
        entries = {name: entry for name, entry in entries.items() if name in measured}
        if len(entries) < FEWEST:
            return None
        best, best_us, measured = best_of(data, layer, entries)
    ranked = sorted(entries.values(), key=lambda entry: entry["predicted_us"])
    pick = ranked[0]["name"]
    # A pick that was not kept was more than KEEP_BELOW times slower, or did not exist when this was measured.
    us = measured.get(pick)
    row = {"problem": text, "family": family_of(text), "pick": pick, "pick_us": us, "best": best, "best_us": best_us,
           "quality": min(1.0, best_us / us) if us else 1 / KEEP_BELOW, "known": us is not None,
           "accepting": layer["candidates"], "timed": layer["tried"]}
    if best in entries:
        row["best_place"] = next(i for i, entry in enumerate(ranked) if entry["name"] == best)
        row["best_predicted"] = round(entries[best]["predicted_us"] / ranked[0]["predicted_us"], 3)
    return row


def judge(args, data):
    layers = sorted(data["layers"].items())
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        entries = pool.map(lambda layer: predictions(args, layer[0]), layers)
        rows = [judge_layer(data, text, layer, found, args.measured_only)
                for (text, layer), found in zip(layers, entries)]
    return [row for row in rows if row]


def geomean(values):
    values = list(values)
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else float("nan")


def summary(rows):
    quality = sorted(row["quality"] for row in rows)
    return {"layers": len(rows), "geomean": round(geomean(quality), 4), "worst": round(quality[0], 4),
            "tenth": round(quality[len(quality) // 10], 4), "median": round(quality[len(quality) // 2], 4),
            "below_0.75": sum(q < 0.75 for q in quality), "picks_not_measured": sum(not row["known"] for row in rows)}


def control(data):
    """What the search without --exhaustive had reached, on the layers on which every compiled kernel was timed."""
    shares = []
    for layer in data["layers"].values():
        if layer.get("exhaustive") and "before" in layer:
            _, best_us, measured = best_of(data, layer)
            before = measured.get(data["kernels"][layer["before"]])
            shares.append(min(1.0, best_us / before) if before else 1 / KEEP_BELOW)
    return shares


def parts_of(rows):
    parts = {"all": rows}
    for direction in DIRECTIONS:
        parts[direction] = [r for r in rows if r["problem"].startswith(direction + " ")]
    for family in SHARES:
        parts[family] = [r for r in rows if r["family"] == family]
    return {name: part for name, part in parts.items() if part}


def print_parts(parts, markdown):
    if markdown:
        print("| layers | count | geometric mean | worst | a tenth is below | median |\n|---|---:|---:|---:|---:|---:|")
        for name, part in parts.items():
            s = summary(part)
            print(f"| {name} | {s['layers']} | "
                  + " | ".join(f"{s[column]:.3f}" for column in ("geomean", "worst", "tenth", "median")) + " |")
        return
    print(f"{'layers':24} {'count':>5} {'geomean':>8} {'worst':>7} {'10th %':>7} {'median':>7} {'< 0.75':>7}")
    for name, part in parts.items():
        s = summary(part)
        print(f"{name:24} {s['layers']:5} {s['geomean']:8.3f} {s['worst']:7.3f} {s['tenth']:7.3f} {s['median']:7.3f} "
              f"{s['below_0.75']:7}")


def print_coverage(rows, shares):
    mean = lambda name: sum(row[name] for row in rows) / len(rows)
    print(f"\nOf {mean('accepting'):.0f} kernels that accept a layer, {mean('timed'):.0f} were timed (means).")
    places = sorted(row["best_place"] for row in rows if "best_place" in row)
    times = sorted(row["best_predicted"] for row in rows if "best_predicted" in row)
    if places:
        at = lambda values, part: values[min(len(values) - 1, int(part * len(values)))]
        print(f"The best stood at place {at(places, 0.5) + 1} of the predictions in the median, within "
              f"{at(places, 0.9) + 1} in 9 of 10 layers and at {places[-1] + 1} at the latest; its prediction was {at(times, 0.9):.2f} times the "
              f"pick's in the ninth tenth, {times[-1]:.2f} at most.")
    if shares:
        print(f"On {len(shares)} layers every compiled kernel was timed: the search that leaves out what cannot win had "
              f"reached {geomean(shares):.4f} of the best's speed there, {min(shares):.3f} at worst.")


def print_worst(rows, count):
    print("\nWorst picks:")
    for row in sorted(rows, key=lambda r: r["quality"])[:count]:
        us = f"{row['pick_us']:.2f} us" if row["known"] else f"over {KEEP_BELOW:.0f} times, or new"
        print(f"  {row['quality']:.3f}  {row['problem']}\n         pick {us}: {row['pick']}\n"
              f"         best {row['best_us']:.2f} us: {row['best']}")


def report(args):
    data = load(args.data)
    if not data["layers"]:
        print(f"{args.data} holds no layers; run measure on a GPU first", file=sys.stderr)
        return 2
    rows = judge(args, data)
    parts, shares = parts_of(rows), control(data)
    device = data.get("device", {}).get("name", "?")
    print(f"{device}, measured {data.get('date')}: the pick's speed as a part of the best's\n")
    print_parts(parts, args.markdown)
    print_coverage(rows, shares)
    print_worst(rows, args.worst)
    if args.json:
        document = {"schema": 1, "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                    "command": args.command, "data": args.data.name, "device": data.get("device"),
                    "parts": {name: summary(part) for name, part in parts.items()},
                    "control": {"layers": len(shares), "geomean": round(geomean(shares), 4), "worst": min(shares)}
                    if shares else None,
                    "rows": [{k: v for k, v in row.items() if k != "known"} for row in rows]}
        write(args.json, document)
    all_layers = summary(rows)
    good = all_layers["geomean"] >= args.min_geomean and all_layers["worst"] >= args.min_worst
    print(f"\n{all_layers['layers']} layers, geometric mean {all_layers['geomean']:.3f} (wanted {args.min_geomean}), worst "
          f"{all_layers['worst']:.3f} (wanted {args.min_worst}): "
          f"{'reached' if good else 'NOT REACHED'}")
    return 0 if good else 1
