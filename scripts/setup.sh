#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/setup.sh - installs what building and testing needs, on Debian 12 or later, as root or with sudo.
#
#   scripts/setup.sh          what the build and its tests need
#   scripts/setup.sh --full   also the compilers for GPU kernels (NVRTC, clang) and clang-format, as .ci/run needs
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
)
full_packages=(
  clang-19 lld-19                                   # kernels for AMD GPUs
  clang-format-14 git                               # style check
  python3 python3-pip                               # to fetch NVRTC
)

full=no
case "${1:-}" in
  "") ;;
  --full) full=yes ;;
  *) echo "usage: scripts/setup.sh [--full]" >&2; exit 2 ;;
esac

install_packages() {
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "set-up: all Debian packages are installed"
    return
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "set-up: these packages are missing, and there is neither root nor sudo to install them: ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "set-up: installing Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >build/setup.log 2>&1 || { tail -n 30 build/setup.log >&2; exit 1; }
  echo "set-up: done (log: build/setup.log)"
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
  install_packages "${base_packages[@]}" "${full_packages[@]}"
else
  install_packages "${base_packages[@]}"
fi
if [ "$full" = yes ]; then fetch_nvrtc; fi
