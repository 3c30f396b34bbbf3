# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# scripts/environment.sh - what the other scripts share; sourced, from the root of the checkout.

# The folder or file of an NVRTC for this checkout, or nothing: WAVETILE_NVRTC, a CUDA toolkit, or .cache/nvrtc.
find_nvrtc() {
  local place
  if [ -n "${WAVETILE_NVRTC:-}" ]; then echo "$WAVETILE_NVRTC"; return; fi
  for place in /usr/local/cuda/lib64/libnvrtc.so.1[23] "$PWD"/.cache/nvrtc/nvidia/*/lib/libnvrtc.so.1[23]; do
    if [ -e "$place" ]; then dirname "$place"; return; fi
  done
}

# Lets the programs of this checkout find NVRTC where setup.sh put it.
export_nvrtc() {
  local folder
  folder=$(find_nvrtc)
  if [ -n "$folder" ]; then export WAVETILE_NVRTC="$folder"; fi
}

# step "Title" command...: runs a command under a title and says how long it took.
step() {
  local title=$1 begin=$SECONDS
  shift
  printf '\n== %s\n' "$title"
  "$@"
  printf -- '-- %s: %d s\n' "$title" $((SECONDS - begin))
}

# build PRESET [TARGET...]: configures and builds, all of it or the targets.
build() {
  local preset=$1
  shift
  cmake --preset "$preset" >"build/$preset.configure.log" 2>&1 || { cat "build/$preset.configure.log" >&2; return 1; }
  grep -E '^-- (oneDNN|Wavetile|wavetile|Tests|tests)' "build/$preset.configure.log" || true
  cmake --build --preset "$preset" ${1+--target "$@"}
}

# debian_12 FOLDER OPTION...: a Debian 12 by mmdebstrap, from the archives that apt has here, through what apt goes through here.
debian_12() {
  local folder=$1 sources options=() option
  shift
  sources=$(apt-get indextargets --format "deb \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" 'Created-By: Packages' | sort -u | grep -E ' bookworm(-|/| )') ||
    { echo "apt has no archive of Debian 12 here" >&2; return 1; }
  while read -r option; do options+=(--aptopt="$option"); done < <(apt-config dump | grep -E '^Acquire::(http|https|Check-Valid-Until)' || true)
  mmdebstrap --mode=root "${options[@]}" "$@" bookworm "$folder" - <<<"$sources"
}
