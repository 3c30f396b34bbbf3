#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares docs/environment.md with the variables that the sources name: a literal "WAVETILE_..." in src/ and python/ is
one. Both ways: a variable without a line, and a line without a variable. And the library reads its environment in one
place, which ignores it in programs that have more rights than their caller (docs/security.md)."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def literals(texts):
    return {name for text in texts for name in re.findall(r'"(WAVETILE_[A-Z0-9_]+)"', text)}


def documented(page):
    return set(re.findall(r"`(WAVETILE_[A-Z0-9_]+)`", "\n".join(line for line in page.splitlines() if line.startswith("|"))))


# Reads a variable whatever the rights of the process.
UNGUARDED = re.compile(r"(?<![a-z_])getenv\b")


def main():
    assert UNGUARDED.search("std::getenv(x)") and UNGUARDED.search("::getenv(x)")
    assert not UNGUARDED.search("secure_getenv(x) environment(y)")
    assert literals(['getenv("WAVETILE_A"); f("WAVETILE_B=1")']) == {"WAVETILE_A"}
    assert documented("| `WAVETILE_A` | x |\n`WAVETILE_B`") == {"WAVETILE_A"}
    files = [path for folder in ("src", "python") for path in (ROOT / folder).rglob("*")
             if path.suffix in (".cc", ".h", ".inc", ".py") and path.is_file()]
    read, said = literals(path.read_text(errors="replace") for path in files), documented((ROOT / "docs/environment.md").read_text())
    for name in sorted(read - said):
        print(f"docs/environment.md does not say what {name} does, which the sources read")
    for name in sorted(said - read):
        print(f"docs/environment.md has {name}, which nothing in src/ or python/ reads")
    unguarded = [str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*") if path.suffix in (".cc", ".h")
                 and UNGUARDED.search(re.sub(r"//[^\n]*", "", path.read_text(errors="replace")))]
    for path in unguarded:
        print(f"{path} reads the environment by itself; base/environment.h knows when it must not be obeyed")
    return 1 if read != said or unguarded else 0


if __name__ == "__main__":
    sys.exit(main())
