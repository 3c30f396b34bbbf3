#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages in Markdown: lines that fit a screen, links that lead somewhere, names of files that exist, and every kernel.

    python3 scripts/check_docs.py               # README.md, CONTRIBUTING.md, CHANGELOG.md, examples/README.md and docs/
    python3 scripts/check_docs.py --self-test

scripts/check_style.sh runs both.
"""
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = 125  # outside tables, whose rows cannot be broken
NAME = re.compile(r"(?<![\w/.<>*{}-])([a-z_]+/[\w/.-]*\.(?:h|hpp|cc|cpp|c|py|sh|cmake|md|txt|json))\b")
BASES = ("", "src", "src/kernels")  # where a name may start; one whose first folder is in none of them is not ours
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def faults_of(page, root):
    """Sentences, each with the line. Commands in blocks may name files that they would write."""
    fenced = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        at = f"{page.relative_to(root)}:{number}"
        if line.startswith("```"):
            fenced = not fenced
        if len(line) > COLUMNS and not line.startswith("|"):
            yield f"{at}: {len(line)} columns, more than {COLUMNS}"
        if fenced or line.startswith("    "):
            continue
        for target in LINK.findall(line):
            if "://" not in target and not (page.parent / target).exists():
                yield f"{at}: the link {target} leads nowhere"
        for name in NAME.findall(LINK.sub("]", line)):
            bases = [root / base for base in BASES if (root / base / name.split("/")[0]).is_dir()]
            if bases and not any((base / name).exists() for base in bases):
                yield f"{at}: there is no file {name}"


def missing_kinds(page, kinds):
    """Kernels of the list in src/config/kinds.h that the page of kernels does not name; trial is a test's own."""
    named = set(re.findall(r"`(\w+)`", page))
    return [f"docs/kernels.md: the kind {kind} is missing" for kind in re.findall(r"KERNEL\(\w+, (\w+), k\w+\)", kinds)
            if kind not in named | {"trial"}]


def missing_examples(index, files):
    """Programs that the index of examples has no link to."""
    linked = set(LINK.findall(index))
    return [f"examples/README.md: {name} is missing" for name in sorted(files) if name not in linked]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "src/kernels/tma").mkdir(parents=True)
        (root / "src/kernels/tma/bind.cc").touch()
        (root / "docs").mkdir()
        page = root / "docs/page.md"
        page.write_text("tma/bind.cc, src/kernels/tma/bind.cc, nlohmann/json.hpp, [this](page.md#top), [web](https://x.org/a.md)\n"
                        f"| {'x' * 200} |\n    src/not/there.cc\n```\ntests/nor/here.cc\n```\n")
        assert not list(faults_of(page, root)), list(faults_of(page, root))
        page.write_text(f"{'x' * 126}\n[a](gone.md)\nsrc/kernels/tma/cost.cc and tma/view.h\n")
        found = list(faults_of(page, root))
        assert [fault.split(": ")[0] for fault in found] == [f"docs/page.md:{n}" for n in (1, 2, 3, 3)], found
    assert missing_examples("[a](a.cpp) [b](b/)", ["a.cpp", "b/c.py"]) == ["examples/README.md: b/c.py is missing"]
    kinds = "KERNEL(Tma, tma, kGemm) KERNEL(Taps, taps, kGemm) KERNEL(Trial, trial, kDirect)"
    assert missing_kinds("| `tma` | taps |", kinds) == ["docs/kernels.md: the kind taps is missing"]
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "examples/README.md", *sorted((ROOT / "docs").glob("*.md"))]
    faults = [fault for page in pages for fault in faults_of(page, ROOT)]
    faults += missing_kinds((ROOT / "docs/kernels.md").read_text(), (ROOT / "src/config/kinds.h").read_text())
    programs = [str(path.relative_to(ROOT / "examples")) for path in (ROOT / "examples").rglob("*")
                if path.suffix in (".c", ".cpp", ".py")]
    faults += missing_examples((ROOT / "examples/README.md").read_text(), programs)
    print("\n".join(faults) or f"docs: {len(pages)} pages are clean", file=sys.stderr if faults else sys.stdout)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
