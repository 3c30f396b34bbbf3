# SPDX-License-Identifier: Apache-2.0
"""A correction of the model's predictions, fitted to measurements: ridge regression over the fields of configurations."""
import math
import sys

from quality.data import load
from quality.judge import predictions

RIDGE = 4.0  # weight of the pull towards no correction, in measurements
NEAR = 2.0  # times the best: what lies within decides a choice and counts fully in a fit


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
