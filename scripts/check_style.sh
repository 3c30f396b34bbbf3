#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/check_style.sh - formatting, licence lines and leftovers of every file that git knows, and the pages in
# Markdown. --fix formats.
set -euo pipefail
cd "$(dirname "$0")/.."

format=clang-format-14
command -v "$format" >/dev/null || { echo "$format is missing; scripts/setup.sh --full installs it" >&2; exit 1; }
mapfile -t sources < <(git ls-files '*.h' '*.hpp' '*.cc' '*.cpp' '*.c' '*.inc')
mapfile -t scripts < <(git ls-files '*.sh' '*.cmake' '*CMakeLists.txt' '*.py' .ci/run)

if [ "${1:-}" = --fix ]; then
  "$format" -i "${sources[@]}"
  exit
fi

faults=0
"$format" --dry-run -Werror "${sources[@]}" || faults=1
for file in "${sources[@]}" "${scripts[@]}"; do
  if ! head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0'; then
    echo "$file: no SPDX line at its head" >&2
    faults=1
  fi
done
# Written so that this line does not find itself.
if git grep -nE '\b(TO''DO|FIX''ME|XX''X)\b' -- "${sources[@]}" "${scripts[@]}" >&2; then
  echo "the lines above leave something undone" >&2
  faults=1
fi
# Variables of the environment have one reader, which does not obey them in setuid programs (base/environment.h).
if git grep -nE '\bgetenv\(' -- 'src/*.cc' 'src/*.h' ':!src/base/environment.cc' >&2; then
  echo "the lines above read the environment past base/environment.h" >&2
  faults=1
fi
python3 -B scripts/check_docs.py --self-test && python3 -B scripts/check_docs.py || faults=1
if [ "$faults" -ne 0 ]; then
  echo "style: faults found; 'scripts/check_style.sh --fix' formats the sources" >&2
  exit 1
fi
echo "style: ${#sources[@]} sources and ${#scripts[@]} scripts are clean"
