# SPDX-License-Identifier: Apache-2.0
"""The file of measurements: layers, and of each the kernels that were timed, as numbers into one list of names."""
import json

KEEP_BELOW = 4.0  # times the best; slower kernels say nothing about a choice and are not kept


def nothing():
    return {"schema": 1, "kernels": [], "layers": {}}


def load(path):
    return json.loads(path.read_text()) if path.exists() else nothing()


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
