#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/newcomer.sh - a newcomer's path as a test: in a clean Debian 12 root, the README's commands; then the tarball of a
# build unpacked there and the README's C++ and C programs compiled against it and run; then the same with the .deb
# installed, the man page read, a subcommand completed, and a report opened in a browser on a wide and a narrow screen.
#
#   scripts/newcomer.sh [--commands WHAT] [BUILD]      of BUILD (default build/dev) come the packages
#
#   --commands setup   the README's commands up to where they compile: set-up, and a configured build (the default)
#   --commands demo    scripts/demo.sh, whole: 15 minutes or so on two cores
#   --commands quick   that, and scripts/test.sh --quick
#   --commands all     that, and scripts/test.sh, as the README has them
#   --commands python  the Python package alone, from a clone: scripts/setup.sh, `pip install .` in a virtual environment, torch
#                      from PyPI, and the README's lines, which train a ResNet-50; 7 GB of disk, and no BUILD is needed
#
# Needs root, NVRTC, a Debian system whose apt reaches an archive, and chromium, which it installs with mmdebstrap where
# they are missing. Nothing is passed over: what cannot be done here is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh
commands=setup
if [ "${1:-}" = --commands ]; then
  commands=${2:-}
  shift 2
fi
case "$commands" in
  setup | demo | quick | all | python) ;;
  *) echo "usage: scripts/newcomer.sh [--commands setup|demo|quick|all|python] [BUILD]" >&2; exit 2 ;;
esac
build=${1:-build/dev}
work=$PWD/build/newcomer
base=$work/base root=$work/root
[ "$(id -u)" -eq 0 ] || { echo "newcomer: a clean root is made by root" >&2; exit 1; }
rm -rf "$work" && mkdir -p "$work"

# quiet LOG command...: its output goes to a file, whose end is shown where it fails.
quiet() {
  local log=$work/$1
  shift
  "$@" >"$log" 2>&1 || { echo "newcomer: failed: $*" >&2; tail -n 30 "$log" >&2; return 1; }
}

tools() {
  local missing=() tool needed=(mmdebstrap chromium)
  if [ "$commands" = python ]; then needed=(mmdebstrap); fi
  for tool in "${needed[@]}"; do command -v "$tool" >/dev/null || missing+=("$tool"); done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  echo "newcomer: installing ${missing[*]}"
  quiet apt.log apt-get update -qq && quiet apt.log env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# With a pack of compiled kernels, so that the first call on a Hopper GPU needs no compiler: here of the few kernels of the
# rule set `tiny`, compiled by the NVRTC of this machine.
packages() {
  export_nvrtc
  quiet build.log cmake -DWAVETILE_SYSTEM_PACKS=sm_90a -DWAVETILE_SYSTEM_PACK_RULES=tiny "$build"
  quiet build.log cmake --build "$build" --target wavetile wavetile_command wavetile_compile wavetile_onednn wavetile_forms wavetile_system_tuning wavetile_system_packs
  rm -f "$build"/wavetile_*.deb "$build"/wavetile-*.tar.gz
  (cd "$build" && quiet deb.log cpack -G DEB && quiet tgz.log cpack -G TGZ)
  quiet build.log cmake -DWAVETILE_SYSTEM_PACKS= -DWAVETILE_SYSTEM_PACK_RULES=default "$build"  # as the build was
  ls -sh "$build"/wavetile_*.deb "$build"/wavetile-*.tar.gz
  dpkg-deb --contents "$build"/wavetile_*.deb | awk '{print $6}' >"$work/deb.files"
  tar -tzf "$build"/wavetile-*.tar.gz >"$work/tgz.files"
  local list file
  for list in deb tgz; do
    for file in 'lib[^ ]*/libwavetile\.so\.0\.[0-9]+$' 'lib[^ ]*/wavetile/tuning\.db$' 'lib[^ ]*/wavetile/sm_90a\.wtpack$' 'lib[^ ]*/wavetile/wavetile-compile$' \
      include/wavetile/wavetile.h include/wavetile/wavetile.hpp 'bin/wavetile$' share/bash-completion/completions/wavetile \
      share/zsh/vendor-completions/_wavetile share/fish/vendor_completions.d/wavetile.fish share/man/man1/wavetile.1 \
      share/wavetile/suites/quick.txt cmake/wavetile/wavetile-config.cmake pkgconfig/wavetile.pc share/doc/wavetile/docs/api.md \
      share/doc/wavetile/examples/README.md share/doc/wavetile/examples/forward.cpp; do
      grep -qE -- "$file" "$work/$list.files" || { echo "newcomer: the $list has no $file" >&2; return 1; }
    done
  done
}

# A Debian 12 with nothing but apt.
clean_root() {
  quiet root.log debian_12 "$base" --variant=apt --include=ca-certificates --dpkgopt=force-unsafe-io
  du -sh "$base" | cut -f1
}

mounted=no
leave() {
  local places=("$root/dev/pts" "$root/dev/shm" "$root/proc")
  if [ "$mounted" = yes ]; then umount "${places[@]}" || umount -l "${places[@]}"; fi
  mounted=no
  rm -rf --one-file-system "$root"
}
trap 'leave; rm -rf "$base"' EXIT

# inside command...: in the clean root, with nothing of this environment.
inside() { chroot "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"; }

# A fresh copy of the clean root, with the packages that another one has fetched.
enter() {
  leave
  cp -a "$base" "$root"
  mount -t proc proc "$root/proc"
  mkdir -p "$root/dev/shm" && mount -t tmpfs tmpfs "$root/dev/shm"
  # As every running Debian has it: without it a test of what the command draws on a terminal has no terminal.
  mkdir -p "$root/dev/pts" && mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
  ln -sf pts/ptmx "$root/dev/ptmx"
  mounted=yes
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  inside apt-get update -qq
  if [ -n "$(inside sh -c 'command -v g++ cmake python3 wavetile' || true)" ]; then echo "newcomer: the root is not clean" >&2; return 1; fi
}

# What git has of this checkout, as a clone would.
clone() {
  enter
  mkdir -p "$root/wavetile"
  git ls-files -z --cached --others --exclude-standard | tar -cf - --null -T - | tar -xf - -C "$root/wavetile"
}

readme_commands() {
  clone
  local step
  case "$commands" in
    setup)
      inside sh -ec 'cd /wavetile && scripts/setup.sh && cmake --preset release >build/configure.log 2>&1 ||
        { cat build/configure.log; exit 1; }; grep -E "^-- (oneDNN|Tests)" build/configure.log || true
        cmake --build --preset release --target wt_base'  # the first of the libraries: compiler and headers are there
      ;;
    demo) set -- scripts/demo.sh ;;
    quick) set -- scripts/demo.sh 'scripts/test.sh --quick' ;;
    all) set -- scripts/demo.sh scripts/test.sh ;;
  esac
  for step in "$@"; do inside sh -ec "cd /wavetile && $step"; done
  mv "$root"/var/cache/apt/archives/*.deb "$base/var/cache/apt/archives/"
}

# docs/python.md's commands and the README's lines, after which no convolution may have gone to torch.
python_package() {
  clone
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"  # whom this machine trusts, for pip
  awk '/^```python$/ {on = 1; next} /^```$/ {on = 0} on' README.md >"$root/lines.py"
  [ "$(wc -l <"$root/lines.py")" -eq 4 ] || { echo "newcomer: README.md has not four lines of Python" >&2; return 1; }
  cat >>"$root/lines.py" <<'END'
import sys
report = wavetile.torch.report()
gradients = [parameter.grad for parameter in model.parameters()]
print(f"{len(report.plans)} plans, {sum(row['calls'] for row in report.plans)} calls, fallbacks: {report.fallbacks}")
sys.exit(bool(report.fallbacks) or sum(row["calls"] for row in report.plans) < 3 * 53 - 1 or
         not all(gradient is not None and gradient.isfinite().all() for gradient in gradients))
END
  inside PIP_CERT=/etc/ssl/certs/ca-certificates.crt bash -ec 'cd /wavetile
    scripts/setup.sh
    python3 -m venv .venv
    source .venv/bin/activate
    SECONDS=0
    pip install -q --disable-pip-version-check .
    echo "pip install .: $SECONDS s"
    pip install -q --disable-pip-version-check torch torchvision
    echo "with torch: $SECONDS s"
    cd /
    python lines.py
    echo "with the README'"'"'s lines: $SECONDS s"'
}

# The README's blocks as tests/api/readme_programs.cmake makes programs of them; nothing here knows the checkout.
readme_programs='
  c++ -std=c++20 readme.cpp $(pkg-config --cflags --libs wavetile) -o readme_cpp
  ./readme_cpp
  cc -std=c99 readme.c $(pkg-config --cflags --libs wavetile) -o readme_c
  ./readme_c
  echo "the C++ and the C program ran"'

# Unpacked in a folder of its own, with a compiler and pkg-config and nothing else beside it.
tarball() {
  enter
  mkdir -p "$root/newcomer" "$root/opt/unpacked"
  cp "$build"/tests/api/readme.cpp "$build"/tests/api/readme.c "$root/newcomer/"
  tar -xf "$(ls "$build"/wavetile-*.tar.gz)" -C "$root/opt/unpacked"
  inside sh -ec 'cd /newcomer
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends g++ libc6-dev pkg-config >apt.log 2>&1 || { tail -n 20 apt.log; exit 1; }
    pc=$(find /opt/unpacked -name wavetile.pc)
    export PKG_CONFIG_PATH=$(dirname "$pc") LD_LIBRARY_PATH=$(dirname "$(dirname "$pc")")
    case $(pkg-config --cflags wavetile) in *"-I/opt/unpacked/"*) ;; *) echo "not relocated: $(cat "$pc")"; exit 1 ;; esac
    '"$readme_programs"'
    "$(find /opt/unpacked -path "*/bin/wavetile")" run "fwd fp32 n1 c8 k8 i9x9 f3x3 p1" --device cpu --exact | tail -n 2'
  rm -rf "$root/newcomer" "$root/opt/unpacked"
}

# In the root of the tarball, where nothing of it is left.
install_deb() {
  if inside sh -c 'command -v wavetile || pkg-config --exists wavetile'; then echo "newcomer: the root has a Wavetile" >&2; return 1; fi
  mkdir -p "$root/newcomer"
  cp "$build"/wavetile_*.deb "$build"/tests/api/readme.cpp "$build"/tests/api/readme.c "$root/newcomer/"
  # It recommends oneDNN and a compiler; the rest is what a person has beside it.
  inside sh -ec 'cd /newcomer && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq ./wavetile_*.deb pkg-config man-db \
    bash-completion bsdextrautils >apt.log 2>&1 || { tail -n 20 apt.log; exit 1; }'
}

programs() { inside sh -ec "cd /newcomer
  $readme_programs"; }

command_line() {
  inside bash -ec 'cd /newcomer
    wavetile --version
    wavetile devices | grep -F "oneDNN"
    wavetile pack verify "$(dpkg -L wavetile | grep "/sm_90a\.wtpack$")"
    [ "$(wavetile suites | wc -l)" -gt 10 ]
    man wavetile | col -b >page.txt
    grep -q "wavetile bench" page.txt && echo "the man page has $(wc -l <page.txt) lines"
    source /usr/share/bash-completion/bash_completion
    _completion_loader wavetile || [ $? -eq 124 ]  # its way to say that it found one
    COMP_WORDS=(wavetile expl) COMP_CWORD=1 COMP_LINE="wavetile expl" COMP_POINT=13
    "$(complete -p wavetile | sed "s/.*-F \([^ ]*\) .*/\1/")"
    [ "${COMPREPLY[*]}" = explain ] && echo "expl completes to explain"
    wavetile run "fwd fp32 n1 c8 k8 i9x9 f3x3 p1" --device cpu --exact | tail -n 2
    wavetile bench quick --filter "*conv*" --direction fwd --device cpu --no-target --repeat 3 --json results.json --quiet
    wavetile report results.json -o report.html'
  cp "$root/newcomer/report.html" "$work/"
}

browser() { python3 -B tests/cli/report_in_browser.py --browser "$(command -v chromium)" --page "$work/report.html" --keep "$work/screens"; }

tools
if [ "$commands" = python ]; then
  step "A clean Debian 12 root" clean_root
  step "The Python package there" python_package
  exit
fi
step "Packages of $build" packages
step "A clean Debian 12 root" clean_root
step "The README's commands there ($commands)" readme_commands
step "The tarball, unpacked there" tarball
step "The .deb, installed there" install_deb
step "The README's programs" programs
step "The command, its man page, a completion, a report" command_line
step "The report in a browser" browser
printf '\nThe newcomer got there in %d s.\n' "$SECONDS"
