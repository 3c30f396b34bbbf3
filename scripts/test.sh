#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/test.sh - sets up, builds with warnings as errors and runs the tests. Needs Debian 12 or later, root or sudo
# where packages are missing, and no GPU.
#
#   scripts/test.sh           all tests but the matrix of types, which is .ci/run's step cells
#   scripts/test.sh --quick   the two-minute subset
#   scripts/test.sh --full    all tests; NVRTC, clang and HIP's library are installed where missing, and required
#
# Tests of a compiler that is absent are left out; the end of the output says what was not run and why.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

setup=() selection=(-LE cells) title="Tests"
case "${1:-}" in
  "") ;;
  --quick) selection=(-L quick) title="Quick tests" ;;
  --full)
    setup=(--full)
    export WAVETILE_REQUIRE="${WAVETILE_REQUIRE:-nvrtc clang gfx950 host onednn libamdhip64 browser}"
    ;;
  *) echo "usage: scripts/test.sh [--quick|--full]" >&2; exit 2 ;;
esac

step "Set-up" scripts/setup.sh "${setup[@]}"
export_nvrtc
step "Build" build dev
step "$title" ctest --test-dir build/dev -j "$(nproc)" --output-on-failure --no-tests=error "${selection[@]}" \
  --progress
printf '\nWhat this machine has; tests of what it does not have were not run:\n'
build/dev/examples/example_capabilities
grep -E '^-- (Tests|oneDNN)' build/dev.configure.log || true
printf '\nAll tests passed.\n'
