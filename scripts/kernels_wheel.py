#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The second distribution: compiled kernels for one GPU, so that a machine compiles nothing.

    wavetile pack build --target sm_90a --rule-set default -o sm_90a.wtpack      # two minutes on two cores
    python scripts/kernels_wheel.py sm_90a.wtpack --out dist                     # wavetile_kernels_sm90a-0.2.0-py3-none-any.whl
    python scripts/kernels_wheel.py --build build/dev/bin/wavetile --target sm_90a --out dist        # both

The wheel puts the pack beside the package's library, where that looks for it (docs/packs.md); it asks for the package of
its own version, and installing or removing it changes nothing else.
"""
import argparse
import base64
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
MANIFEST_AT = slice(16, 32)  # of a pack: offset and size of the manifest (docs/packs.md)


def version():
    return re.search(r"project\(wavetile VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def manifest(pack):
    """What a pack says of itself."""
    data = pack.read_bytes()
    if data[:8] != b"WTPACK\r\n":
        sys.exit(f"{pack} is no pack")
    offset, size = (int.from_bytes(data[MANIFEST_AT][i:i + 8], "little") for i in (0, 8))
    return json.loads(data[offset:offset + size])


def wheel(pack, out):
    target, release = manifest(pack)["target"], version()
    name = "wavetile_kernels_" + target.replace("_", "")
    info = f"{name}-{release}.dist-info"
    files = {
        f"wavetile/{target}.wtpack": pack.read_bytes(),
        f"{info}/METADATA": (f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {release}\n"
                             f"Summary: Compiled kernels of wavetile for {target}\nLicense: Apache-2.0\n"
                             f"Requires-Dist: wavetile (=={release})\n").encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: kernels_wheel.py\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}-{release}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for each, data in files.items():
            # WHY a fixed date: the same pack makes the same wheel.
            made.writestr(zipfile.ZipInfo(each, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return path


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", nargs="?", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, metavar="WAVETILE", help="the command, to build the pack first")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--rule-set", default="default")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    arguments = parser.parse_args()
    if bool(arguments.pack) == bool(arguments.build):
        parser.error("a pack is needed, or --build")
    if arguments.pack:
        print(wheel(arguments.pack, arguments.out))
        return
    with tempfile.TemporaryDirectory() as folder:
        pack = pathlib.Path(folder) / f"{arguments.target}.wtpack"
        subprocess.run([arguments.build, "pack", "build", "--target", arguments.target, "--rule-set", arguments.rule_set,
                        "-o", pack], check=True)
        print(wheel(pack, arguments.out))


if __name__ == "__main__":
    main()
