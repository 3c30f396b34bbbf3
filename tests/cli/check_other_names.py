#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command of docs/other-names.md and looks for what the row says it shows.

    check_other_names.py --binary build/dev/bin/wavetile --page docs/other-names.md
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

# Of commands that answer "no": the answer is what is shown.
GOOD = (0, 3)


def rows(text):
    """Their name, command and expected text of each row of the table."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != 4 or not cells[2].startswith("`wavetile "):
            continue
        yield cells[0], cells[2].strip("`"), cells[3].strip("`").replace("\\|", "|")


def fault_of(binary, name, command, shows):
    words = command.split()[1:]
    done = subprocess.run([binary, *words], capture_output=True, text=True, timeout=120)
    if done.returncode not in GOOD:
        return f"{name}: {command}\n  ended with {done.returncode}: {done.stderr.strip()}"
    if shows not in done.stdout:
        return f"{name}: {command}\n  does not show '{shows}': {(done.stdout + done.stderr).strip()[:400]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--page", required=True)
    arguments = parser.parse_args()
    with open(arguments.page, encoding="utf-8") as page:
        table = list(rows(page.read()))
    if len(table) < 30:
        sys.exit(f"{arguments.page} has {len(table)} rows with a command; the table is not read")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [fault for fault in pool.map(lambda row: fault_of(arguments.binary, *row), table) if fault]
    print("\n".join(faults) or f"{len(table)} rows are shown by their commands")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
