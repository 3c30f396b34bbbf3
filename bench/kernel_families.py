#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which family of kernels is fastest on each layer of a suite, from committed timings.

    python3 bench/kernel_families.py retinanet37 --direction bwd_weight

One row a layer: the best time of the TMA kernels, of those whose load and math warps are apart (wavelet), and of all
others, in us. A dash: no such kernel accepts the layer, or none was timed.
"""
import argparse
import json
import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAMILIES = ("tma", "wavelet", "other")


def family_of(kernel):
    if "_gemm_wavelet_" in kernel:
        return "wavelet"
    return "tma" if "_gemm_tma_" in kernel else "other"


def suite_layers(suite, direction):
    """(name, problem) of every layer, in the given direction."""
    for line in (ROOT / "bench/suites" / f"{suite}.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, text = line.split(":", 1)
            yield name.strip(), " ".join([direction, *text.split()[1:]])


def best_times(data):
    """Of each problem, the least median of each family."""
    best = {}
    for problem, layer in data["layers"].items():
        times = best.setdefault(problem, {})
        for kernel, us in layer["kept"]:
            family = family_of(data["kernels"][kernel])
            times[family] = min(us, times.get(family, math.inf))
    return best


def table(suite, direction, best):
    yield "| layer | " + " | ".join(FAMILIES) + " | fastest |"
    yield "|---|" + "---:|" * len(FAMILIES) + "---|"
    for name, problem in suite_layers(suite, direction):
        times = best.get(problem, {})
        cells = [f"{times[family]:.1f}" if family in times else "-" for family in FAMILIES]
        yield f"| {name} | " + " | ".join(cells) + f" | {min(times, key=times.get) if times else '-'} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--direction", choices=("fwd", "bwd_data", "bwd_weight"), default="fwd")
    parser.add_argument("--data", type=Path, default=ROOT / "bench/results/model_suites_h200.json")
    options = parser.parse_args()
    for line in table(options.suite, options.direction, best_times(json.loads(options.data.read_text()))):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
