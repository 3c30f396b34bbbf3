#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/demo.sh - sets up, builds the `wavetile` command and runs its main job: a benchmark of real layers, each
# result verified. Needs Debian 12 or later, root or sudo where packages are missing, and no GPU.
#
#   scripts/demo.sh [arguments of `wavetile bench` instead of "quick"]
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

step "Set-up" scripts/setup.sh
step "Build" build release wavetile_command
export_nvrtc
if [ $# -eq 0 ]; then set -- quick; fi
step "wavetile bench $*" build/release/bin/wavetile bench "$@"
printf '\nThe command is build/release/bin/wavetile; try: build/release/bin/wavetile --help\n'
