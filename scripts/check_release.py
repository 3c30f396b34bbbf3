#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One version everywhere, and a README that shows what the files behind it hold.

    python3 scripts/check_release.py               # the tree
    python3 scripts/check_release.py --self-test

CMakeLists.txt has the version; the header, the newest entry of CHANGELOG.md, tests/api/abi.txt and the names that
docs/api.md and CHANGELOG.md give must be of it, and a tag of the commit at hand too. The README's sample of the demo must
be lines of bench/results/demo_cpu.txt, its figures those of the comparison that it names. What git does not keep, a
container's build does not get.
"""
import json
import math
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def found(pattern, text, what):
    match = re.search(pattern, text, re.MULTILINE)
    assert match, f"{what}: nothing like {pattern}"
    return ".".join(group for group in match.groups() if group is not None)


def version_faults(texts, tags=()):
    """texts: the content of each file by its name."""
    version = found(r"^project\(wavetile VERSION ([\d.]+)", texts["CMakeLists.txt"], "CMakeLists.txt")
    minor = version.rsplit(".", 1)[0]
    own_name = minor if version.startswith("0.") else version.split(".")[0]
    said = {
        "include/wavetile/wavetile.h": (found(r"VERSION_MAJOR (\d+)\n#define WAVETILE_VERSION_MINOR (\d+)\n"
                                              r"#define WAVETILE_VERSION_PATCH (\d+)",
                                              texts["include/wavetile/wavetile.h"], "wavetile.h"), version),
        "a comment of wavetile.h": (found(r'and as "([\d.]+)"', texts["include/wavetile/wavetile.h"], "wavetile.h"), version),
        "CHANGELOG.md": (found(r"^## \[([\d.]+)\] - \d{4}-\d\d-\d\d$", texts["CHANGELOG.md"], "CHANGELOG.md"), version),
        "tests/api/abi.txt": (found(r"^version: ([\d.]+)$", texts["tests/api/abi.txt"], "abi.txt"), minor),
        "find_package in docs/api.md": (found(r"find_package\(wavetile ([\d.]+)\)", texts["docs/api.md"], "api.md"), minor),
        "the SONAME in docs/api.md": (found(r"libwavetile\.so\.([\d.]+)`", texts["docs/api.md"], "api.md"), own_name),
    }
    faults = [f"{where} says {has}, and CMakeLists.txt {version}" for where, (has, wanted) in said.items() if has != wanted]
    return faults + [f"the commit has the tag {tag}, and CMakeLists.txt {version}" for tag in tags
                     if re.fullmatch(r"v\d+\.\d+\.\d+", tag) and tag != f"v{version}"]


def sample_faults(readme, printed):
    """Lines of the README's block with times that are not those of the file; "..." stands for what was left out."""
    block = found(r"ends like this[^`]*```\n([\s\S]*?)```", readme, "README.md")
    lines = {" ".join(line.split()) for line in printed.splitlines()}
    faults = []
    for line in block.splitlines():
        words = " ".join(line.split())
        if not words or set(words) == {"-"}:
            continue
        pattern = re.compile(r"\S*".join(re.escape(part) for part in words.split("...")))
        if not any(pattern.fullmatch(other) for other in lines):
            faults.append(f"README.md shows a line that bench/results/demo_cpu.txt has not: {words}")
    return faults


def figure_faults(readme, rows):
    words = " ".join(readme.split())
    by = {}
    for row in rows:
        by.setdefault(row["direction"], []).append(row["cudnn_tuned"]["us"] / row["wavetile"]["us"])
    mean = {name: math.exp(sum(map(math.log, values)) / len(values)) for name, values in by.items()}
    every = [value for values in by.values() for value in values]
    sentences = [
        f"{mean['fwd']:.2f} times as fast as autotuned cuDNN", f"forward, {mean['bwd_data']:.2f} times backward data",
        f"{mean['bwd_weight']:.2f} times backward weight", f"the same {len(by['fwd'])} layers",
        f"It loses on {sum(value < 1 for value in every)} of the {len(every)} rows",
        f"on {sum(value < 0.95 for value in every)} of them by more than 5 %",
        f"the worst row runs at {min(every):.2f} of cuDNN's speed"]
    return [f"README.md does not say '{sentence}', which the file behind it does" for sentence in sentences
            if sentence not in words]


def ignored_faults(git, container):
    kept = [line.strip("/") for line in git.splitlines() if line and not line.startswith("#")]
    left_out = {re.sub(r"^(\*\*/|/)", "", line).strip("/") for line in container.splitlines()}
    return [f".dockerignore lacks {line}, which .gitignore has" for line in kept if line not in left_out]


def self_test():
    texts = {name: (ROOT / name).read_text() for name in FILES}
    assert version_faults(texts, ["v99.0.0", "other"]) == [
        f"the commit has the tag v99.0.0, and CMakeLists.txt {found(r'VERSION ([0-9.]+) LANG', texts['CMakeLists.txt'], '')}"]
    newer = dict(texts, **{"CMakeLists.txt": "project(wavetile VERSION 98.7.6 LANGUAGES CXX)"})
    assert len(version_faults(newer)) == 6, version_faults(newer)
    page = "the demo ends like this (x):\n\n```\na  b...d 1 ms\n----\n```\n"
    assert not sample_faults(page, "a bccd  1 ms\n") and len(sample_faults(page, "a bccd 2 ms\n")) == 1
    assert ignored_faults("/build*/\n*.pyc\n", "build*\n") == [".dockerignore lacks *.pyc, which .gitignore has"]
    rows = [{"direction": d, "cudnn_tuned": {"us": 2.0}, "wavetile": {"us": 1.0}} for d in ("fwd", "bwd_data", "bwd_weight")]
    assert len(figure_faults("nothing", rows)) == 7
    return 0


FILES = ("CMakeLists.txt", "include/wavetile/wavetile.h", "CHANGELOG.md", "tests/api/abi.txt", "docs/api.md")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    try:
        tags = subprocess.run(["git", "-C", str(ROOT), "tag", "--points-at", "HEAD"], capture_output=True, text=True).stdout.split()
    except FileNotFoundError:
        tags = []
    readme, results = (ROOT / "README.md").read_text(), ROOT / "bench/results"
    source = found(r"That command made \[bench/results/([\w.]+)\]", readme, "README.md")
    faults = version_faults({name: (ROOT / name).read_text() for name in FILES}, tags)
    faults += sample_faults(readme, (results / "demo_cpu.txt").read_text())
    faults += figure_faults(readme, json.loads((results / source).read_text())["rows"])
    faults += ignored_faults((ROOT / ".gitignore").read_text(), (ROOT / ".dockerignore").read_text())
    print("\n".join(faults) or "one version, and the README's figures are those of their files")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
