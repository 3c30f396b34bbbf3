#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/newcomer.sh - a newcomer's path, from the packages of a build to a result: packages the build, installs the .deb
# in a clean Debian 12 root, compiles and runs the README's C++ and C programs there, reads the man page, completes a
# subcommand, and makes a report.
#
#   scripts/newcomer.sh [BUILD]      default build/dev; needs root, debootstrap and a Debian archive
#
# Where no clean root can be made the script says so, and takes the same path from the tarball, unpacked beside. The
# README's own commands, which set up, build and test, are the step readme_tests of .ci/run.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/dev}
work=build/newcomer
rm -rf "$work" && mkdir -p "$work"

echo "== Packages"
cmake --build "$build" --target wavetile wavetile_command wavetile_compile wavetile_forms wavetile_system_tuning >"$work/build.log" 2>&1 ||
  { tail -n 20 "$work/build.log"; exit 1; }
(cd "$build" && rm -f wavetile_*.deb wavetile-*.tar.gz && cpack -G DEB && cpack -G TGZ) >"$work/cpack.log" 2>&1 ||
  { tail -n 20 "$work/cpack.log"; exit 1; }
deb=$(ls "$build"/wavetile_*.deb) tarball=$(ls "$build"/wavetile-*.tar.gz)
ls -sh "$deb" "$tarball"
for file in 'lib.*/libwavetile\.so\.0\.[0-9]+$\|libwavetile\.so\.0\.[0-9]* ' include/wavetile/wavetile.h include/wavetile/wavetile.hpp bin/wavetile \
  bash-completion/completions/wavetile zsh/vendor-completions/_wavetile fish/vendor_completions.d/wavetile.fish \
  man/man1/wavetile.1 wavetile/suites/quick.txt wavetile/tuning.db cmake/wavetile/wavetile-config.cmake \
  pkgconfig/wavetile.pc doc/wavetile/docs/api.md doc/wavetile/examples/forward.cpp; do
  dpkg-deb --contents "$deb" | grep -q -- "$file" || { echo "the .deb has no $file"; exit 1; }
done

# The README's blocks, as tests/api/readme_programs.cmake makes programs of them.
cp "$build"/tests/api/readme.cpp "$build"/tests/api/readme.c "$work"/

cat >"$work/path.sh" <<'INNER'
set -eu
cd /newcomer 2>/dev/null || cd "$(dirname "$0")"
echo "-- $(wavetile --version), $(wavetile suites | wc -l) suites"
c++ -std=c++20 readme.cpp $(pkg-config --cflags --libs wavetile) -o readme_cpp && ./readme_cpp && echo "-- the C++ program ran"
cc -std=c99 readme.c $(pkg-config --cflags --libs wavetile) -o readme_c && ./readme_c && echo "-- the C program ran"
page=$(man -w wavetile 2>/dev/null || ls "${WAVETILE_PREFIX:-/usr}"/share/man/man1/wavetile.1*)
{ zcat "$page" 2>/dev/null || cat "$page"; } | grep -q 'wavetile bench' && echo "-- the man page is $page"
bash -c 'source "${WAVETILE_PREFIX:-/usr}"/share/bash-completion/completions/wavetile
         COMP_WORDS=(wavetile expl); COMP_CWORD=1; _wavetile; [ "${COMPREPLY[*]}" = explain ]' && echo "-- expl completes to explain"
wavetile bench 'fwd fp32 n1 c8 k8 i9x9 f3x3 p1' --device cpu --no-target --repeat 3 --json results.json --quiet
wavetile report results.json -o report.html
INNER

base=.cache/clean-root
make_root() {
  command -v debootstrap >/dev/null || apt-get install -y -qq --no-install-recommends debootstrap >"$work/apt.log" 2>&1 || return 1
  [ -e "$base/whole" ] || { rm -rf "$base" && mkdir -p "$base" &&
    debootstrap --variant=minbase --include=g++,pkg-config,libdnnl2,libgomp1 bookworm "$base" >"$work/debootstrap.log" 2>&1 &&
    touch "$base/whole"; } || return 1
  cp -a "$base" "$work/root" && chroot "$work/root" true
}

if [ "$(id -u)" -eq 0 ] && make_root; then
  echo "== In a clean Debian 12 root"
  mkdir -p "$work/root/newcomer"
  cp "$work"/readme.* "$work/path.sh" "$deb" "$work/root/newcomer/"
  chroot "$work/root" sh -c 'dpkg -i /newcomer/*.deb >/newcomer/dpkg.log 2>&1 || { cat /newcomer/dpkg.log; exit 1; }; ldconfig; HOME=/root sh /newcomer/path.sh'
  cp "$work/root/newcomer/report.html" "$work/"
else
  echo "== NO CLEAN ROOT here (root rights, debootstrap and a Debian archive are needed): from the tarball instead"
  tail -n 3 "$work"/*.log 2>/dev/null || true
  mkdir -p "$work/prefix" && tar -xzf "$tarball" -C "$work/prefix" --strip-components=1
  prefix=$PWD/$work/prefix
  [ -d "$prefix/usr" ] && prefix=$prefix/usr
  libs=$(dirname "$(find "$prefix" -name 'libwavetile.so' | head -n 1)")
  PATH="$prefix/bin:$PATH" PKG_CONFIG_PATH="$libs/pkgconfig" LD_LIBRARY_PATH="$libs" WAVETILE_PREFIX=$prefix sh "$work/path.sh"
fi

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -n "$browser" ]; then
  "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$PWD/$work/profile" \
    --virtual-time-budget=5000 --dump-dom "file://$PWD/$work/report.html" 2>/dev/null | grep -q 'data-ready="yes"' &&
    echo "-- the report draws itself in $browser"
else
  echo "-- no browser here: the report was not looked at"
fi
rm -rf "$work/root"
echo "== The newcomer got there"
