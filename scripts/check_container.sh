#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/check_container.sh - builds the Containerfile by buildah, on a Debian 12 that mmdebstrap makes in place of a
# registry's image, and runs the image: its version, its devices, and a verified convolution.
#
# Needs root and a Debian system whose apt reaches an archive; installs buildah and mmdebstrap where they are missing. It
# compiles the library once more: a quarter of an hour on two cores. What is not committed is built too, as git sees it.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh
work=$PWD/build/container
[ "$(id -u)" -eq 0 ] || { echo "container: an image is built by root here" >&2; exit 1; }
rm -rf "$work" && mkdir -p "$work/tree"

missing=()
for tool in buildah mmdebstrap; do command -v "$tool" >/dev/null || missing+=("$tool"); done
if [ ${#missing[@]} -gt 0 ]; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

# A storage of its own, which leaves nothing behind, and no network name spaces, which a container may lack.
with=(--root "$work/storage" --runroot "$work/run" --storage-driver vfs)
image() { buildah "${with[@]}" "$@"; }
working=()
leave() {
  local container
  for container in "${working[@]}"; do image rm "$container" >/dev/null || true; done
  rm -rf "$work/storage" "$work/run" "$work/debian.tar"
}
trap leave EXIT

debian() {
  debian_12 "$work/debian.tar" --variant=minbase --format=tar --include=ca-certificates --dpkgopt=force-unsafe-io >"$work/debian.log" 2>&1 ||
    { tail -n 30 "$work/debian.log" >&2; return 1; }
  local container
  container=$(image from scratch)
  image add "$container" "$work/debian.tar" / >/dev/null
  image commit --quiet --rm "$container" docker.io/library/debian:12 >/dev/null
  rm "$work/debian.tar"
}

build_image() {
  git ls-files -z --cached --others --exclude-standard | tar -cf - --null -T - | tar -xf - -C "$work/tree"
  image build --isolation chroot --pull-never --layers=false --tag wavetile "$work/tree" >"$work/build.log" 2>&1 ||
    { tail -n 40 "$work/build.log" >&2; return 1; }
}

# The command as the image starts it; chroot isolation has no ENTRYPOINT of its own.
run_image() {
  local container
  container=$(image from --pull-never localhost/wavetile)
  working+=("$container")
  local entry
  entry=$(image inspect --format '{{index .OCIv1.Config.Entrypoint 0}} {{index .OCIv1.Config.Cmd 0}}' "$container")
  [ "$entry" = "wavetile --help" ] || { echo "container: it starts with '$entry'" >&2; return 1; }
  image run --isolation chroot "$container" -- wavetile --version
  image run --isolation chroot "$container" -- wavetile devices | grep -F oneDNN
  image run --isolation chroot "$container" -- wavetile run 'fwd fp32 n1 c8 k8 i9x9 f3x3 p1' --device cpu --exact | grep '^verified  yes'
  image run --isolation chroot "$container" -- wavetile run 'fwd bf16 n1 c8 k8 i9x9 f3x3 p1' --device sim:sm_90a --exact | grep '^verified  yes'
}

step "A Debian 12 image" debian
step "The image of the Containerfile" build_image
step "The image, run" run_image
