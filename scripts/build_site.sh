#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/build_site.sh - the pages of docs/ as a site with search, in build/site; mkdocs-material comes from PyPI into
# build/site-tools.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=build/site-tools
[ -x "$tools/bin/mkdocs" ] || {
  python3 -m venv "$tools"
  "$tools/bin/pip" install -q --disable-pip-version-check 'mkdocs-material>=9,<10'
}
NO_MKDOCS_2_WARNING=1 "$tools/bin/mkdocs" build --quiet --strict
for page in api.html command-line.html search/search_index.json; do
  [ -s "build/site/$page" ] || { echo "the site has no $page" >&2; exit 1; }
done
echo "build/site: $(find build/site -name '*.html' | wc -l) pages"
