#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/check_onednn3.sh - builds the oneDNN provider against oneDNN 3, beside the system's version 2, and runs the CPU's
# tests with it. Needs a build of runtime_tests (build/dev) and PyPI; what is fetched stays in .cache/onednn3.
#
# The provider is also compiled, not run, with the newest headers of version 3; and a build is configured with a oneDNN
# that the provider does not compile with, which must leave it out with a message.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

place=.cache/onednn3
fetch() {  # fetch FOLDER PACKAGE...: unpacks wheels there
  local folder=$place/$1
  shift
  [ ! -e "$folder/whole" ] || return 0
  rm -rf "$folder" && mkdir -p "$folder"
  python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: -d "$folder" "$@"
  local wheel
  for wheel in "$folder"/*.whl; do python3 -m zipfile -e "$wheel" "$folder"; done
  rm -f "$folder"/*.whl
  touch "$folder/whole"
}
fetch gomp onednn-cpu-gomp onednn-devel-cpu-gomp  # the last packages that need nothing but OpenMP: oneDNN 3.2
fetch newest onednn-devel

compile() { g++ -std=c++20 -O2 -Wall -Wextra -Werror -fopenmp -fPIC -fvisibility=hidden -Isrc src/runtime/cpu/plugin/provider.cc "$@"; }
include=("$place"/gomp/*.data/data/include) lib=("$PWD/$place"/gomp/*.data/data/lib) newest=("$place"/newest/*.data/data/include)
grep -E '#define DNNL_VERSION_(MAJOR|MINOR)' "${include[0]}/oneapi/dnnl/dnnl_version.h" "${newest[0]}/oneapi/dnnl/dnnl_version.h"
mkdir -p build/onednn3
compile -isystem "${newest[0]}" -fsyntax-only
compile -isystem "${include[0]}" -shared -o build/onednn3/libwavetile_onednn.so -L"${lib[0]}" -Wl,-rpath,"${lib[0]}" -ldnnl
export WAVETILE_ONEDNN_PROVIDER=$PWD/build/onednn3/libwavetile_onednn.so
build/dev/bin/wavetile devices | grep -F 'oneDNN 3.'
build/dev/tests/runtime_tests --gtest_brief=1 --gtest_filter='Cpu*:*Onednn*:*OneDnn*'

foreign=build/onednn3/foreign
rm -rf "$foreign" && mkdir -p "$foreign/include/oneapi/dnnl"
echo '#error "version 4"' >"$foreign/include/oneapi/dnnl/dnnl.hpp"
cmake -S . -B "$foreign/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWAVETILE_TESTS=OFF -DWAVETILE_DNNL_INCLUDE="$PWD/$foreign/include" \
  >"$foreign/configure.log" 2>&1 || { tail -n 20 "$foreign/configure.log"; exit 1; }
tr -s '[:space:]' ' ' <"$foreign/configure.log" | grep -o 'oneDNN provider: not built, since it does not compile with'
grep -q libwavetile_onednn "$foreign/build/build.ninja" && { echo "the provider would be built all the same" >&2; exit 1; }
echo "a oneDNN that does not compile is left out"
