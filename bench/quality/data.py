# SPDX-License-Identifier: Apache-2.0
"""The file of measurements: layers, and of each the kernels that were timed, as numbers into one list of names."""
import json
import os

KEEP_BELOW = 4.0  # times the best; slower kernels say nothing about a choice and are not kept


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


def add_row(data, row, exhaustive):
    """Keeps what `wavetile tune --json` says of one layer; False where no kernel of it was timed."""
    index = {name: i for i, name in enumerate(data["kernels"])}
    timed = [k for k in row.get("kernels", []) if k.get("median_us") and k["outcome"] in ("timed", "slower")]
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
    layer = {"best_us": rounded(best), "kept": kept, "exhaustive": exhaustive}
    for name in ("candidates", "tried", "cut", "not_compiled", "wrong", "failed", "complete"):
        layer[name] = row.get(name, 0)
    known = data["layers"].get(row["problem"])
    if exhaustive and known and "best" in known:
        layer["before"] = known["best"]  # the best of those that were not cut, to be compared with
    # What tuning decided for, after the fastest few were timed once more, side by side.
    if row.get("kernel") in index:
        layer["best"] = index[row["kernel"]]
    data["layers"][row["problem"]] = layer
    return True


def best_of(data, layer, among=None):
    """Name and time of a layer's best kernel, of those in `among` where given."""
    measured = {data["kernels"][i]: us for i, us in layer["kept"]}
    if among is not None:
        measured = {name: us for name, us in measured.items() if name in among}
    decided = data["kernels"][layer["best"]] if "best" in layer else None
    best = decided if decided in measured else min(measured, key=measured.get)
    return best, measured[best], measured
