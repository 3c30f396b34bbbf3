#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/setup.sh - installs what building and testing needs, on Debian 12 or later, as root or with sudo.
#
#   scripts/setup.sh          what the build and its tests need
#   scripts/setup.sh --full   also the compilers for GPU kernels (NVRTC, clang), a HIP library and clang-format, as .ci/run
#                             needs
#
# Nothing that is already there is touched, and every command that changes the machine is printed first.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

# The same lists stand in README.md.
base_packages=(
  cmake ninja-build make g++                        # build tools
  libdnnl-dev                                       # oneDNN: convolutions on the CPU
  libcli11-dev libfmt-dev libspdlog-dev             # command line, formatting, log
  nlohmann-json3-dev libsqlite3-dev                 # reports, tuning database
  libgtest-dev libgmock-dev                         # tests
  python3-dev python3-venv                          # the Python package
)
full_packages=(
  libamdhip64-5 libamdhip64-dev                     # a real HIP, without a GPU, and its header
  clang-format-14 git                               # style check
  chromium                                          # the report page in a real browser
  python3 python3-pip                               # to fetch NVRTC
)

# Kernels for AMD GPUs. Debian 12's security archive has clang 22; other archives may not.
amd_compilers=(clang-22 lld-22 llvm-22 libclang-rt-22-dev)  # the last: libFuzzer, for fuzzers of parsers
older_amd_compilers=(clang-19 lld-19)  # without gfx950 and gfx1250

full=no
case "${1:-}" in
  "") ;;
  --full) full=yes ;;
  *) echo "usage: scripts/setup.sh [--full]" >&2; exit 2 ;;
esac

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "set-up: there is neither root nor sudo for: $*" >&2
    return 1
  fi
}

refresh_lists() {
  [ -n "${lists_are_fresh:-}" ] || as_root apt-get update -qq
  lists_are_fresh=yes
}

install_packages() {
  local missing=() package
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "set-up: all Debian packages are installed"
    return
  fi
  echo "set-up: installing Debian packages: ${missing[*]}"
  refresh_lists
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >build/setup.log 2>&1 || { tail -n 30 build/setup.log >&2; exit 1; }
  echo "set-up: done (log: build/setup.log)"
}

# The compilers for AMD GPUs that this system's archives have.
choose_amd_compilers() {
  if installed "${amd_compilers[0]}"; then return; fi
  refresh_lists
  if [ -n "$(apt-cache madison "${amd_compilers[0]}" 2>/dev/null)" ]; then return; fi
  echo "set-up: no ${amd_compilers[0]} in the archives; ${older_amd_compilers[0]} compiles neither gfx950 nor gfx1250"
  amd_compilers=("${older_amd_compilers[@]}")
}

# NVIDIA's run-time compiler, from its Python wheel; about 50 MB to fetch, 130 MB on disk, kept in .cache/nvrtc of this checkout.
fetch_nvrtc() {
  if [ -n "$(find_nvrtc)" ]; then
    echo "set-up: NVRTC found: $(find_nvrtc)"
    return
  fi
  echo "set-up: fetching NVRTC with: python3 -m pip download nvidia-cuda-nvrtc (into .cache/nvrtc)"
  local folder=.cache/nvrtc.new
  rm -rf "$folder" && mkdir -p "$folder"
  python3 -m pip download -q --no-deps --only-binary=:all: -d "$folder" 'nvidia-cuda-nvrtc>=13,<14'
  python3 -m zipfile -e "$folder"/*.whl "$folder"
  rm -f "$folder"/*.whl
  rm -rf .cache/nvrtc && mv "$folder" .cache/nvrtc
  if [ -z "$(find_nvrtc)" ]; then
    echo "set-up: the wheel held no libnvrtc.so" >&2
    exit 1
  fi
  echo "set-up: NVRTC found: $(find_nvrtc)"
}

mkdir -p build
if ! command -v apt-get >/dev/null; then
  echo "set-up: this is no Debian system; install the equivalents of: ${base_packages[*]}"
elif [ "$full" = yes ]; then
  choose_amd_compilers
  install_packages "${base_packages[@]}" "${full_packages[@]}" "${amd_compilers[@]}"
else
  install_packages "${base_packages[@]}"
fi
if [ "$full" = yes ]; then fetch_nvrtc; fi
