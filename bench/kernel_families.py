#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which family of kernels is fastest on each layer of a suite, from committed timings.

    python3 bench/kernel_families.py retinanet37 --direction bwd_weight

One row per layer: the best time of the TMA kernels, of those with load and math warps (wavelet), and of all others, in us. A
dash: no such kernel accepts the layer, or none was timed. The last line tells by how much wavelet loses to TMA. --self-test
needs no suite.
"""
import argparse
import json
import math
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAMILIES = ("tma", "wavelet", "other")


def family_of(kernel):
    """By the kind, which follows the target; names from before kinds existed have "gemm_" before it."""
    kind = re.search(r"_sm\d+a?_(?:gemm_|portable_)?(tma|wavelet)(?=_)", kernel)
    return kind.group(1) if kind else "other"


def suite_layers(suite, direction):
    """(name, problem) of every layer, in the given direction."""
    for line in (ROOT / "bench/suites" / f"{suite}.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, text = line.split(":", 1)
            yield name.strip(), " ".join([direction, *text.split()[1:]])


def best_times(data):
    """The least median of each family, by problem."""
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


def ratios(suite, direction, best):
    """Wavelet's time over TMA's, on the layers where both were timed."""
    layers = [best.get(problem, {}) for _, problem in suite_layers(suite, direction)]
    return sorted(times["wavelet"] / times["tma"] for times in layers if "wavelet" in times and "tma" in times)


def self_test():
    (name, problem), *others = suite_layers("retinanet37", "bwd_data")
    kernels = ["wt_bwd_data_bf16_nhwc_sm90a_tma_halo_t64", "wt_bwd_data_sm90a_wavelet_t64", "wt_bwd_data_sm90a_gemm_tma_t64"]
    best = best_times({"kernels": kernels, "layers": {problem: {"kept": [[0, 5.0], [1, 3.0], [2, 4.0]]}}})
    lines = list(table("retinanet37", "bwd_data", best))
    assert problem.startswith("bwd_data ") and best[problem] == {"tma": 4.0, "wavelet": 3.0}, best
    assert lines[2] == f"| {name} | 4.0 | 3.0 | - | wavelet |", lines[2]
    assert len(lines) == 3 + len(others) and lines[3].endswith("| - | - | - | - |"), lines[3]
    assert ratios("retinanet37", "bwd_data", best) == [0.75], best
    # WHY: the families are read off names, so a change of names would make every kernel an "other" in silence.
    stored = json.loads((ROOT / "bench/results/model_suites_h200.json").read_text())["kernels"]
    assert {family_of(kernel) for kernel in stored} == set(FAMILIES), "the committed timings lack a family"
    print("kernel_families: the table of made-up timings is right")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", nargs="?")
    parser.add_argument("--direction", choices=("fwd", "bwd_data", "bwd_weight"), default="fwd")
    parser.add_argument("--data", type=Path, default=ROOT / "bench/results/model_suites_h200.json")
    parser.add_argument("--self-test", action="store_true", help="check the table on made-up timings")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if not options.suite:
        parser.error("which suite?")
    best = best_times(json.loads(options.data.read_text()))
    for line in table(options.suite, options.direction, best):
        print(line)
    both = ratios(options.suite, options.direction, best)
    if both:
        print(f"\nwavelet takes {both[0]:.2f} to {both[-1]:.2f} times as long as tma on {len(both)} layers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
