# SPDX-License-Identifier: Apache-2.0
"""Compiles, without a GPU, the kernels that the layers and the suites will be tuned with, into one compressed pack."""
import lzma
import shutil
import subprocess
import time
from pathlib import Path

from comparison.rows import PUBLIC_SUITES
from quality.layers import random_layers

ROOT = Path(__file__).resolve().parent.parent.parent


def prepare(args):
    start = time.monotonic()
    args.pack.parent.mkdir(parents=True, exist_ok=True)
    plain = args.pack.with_suffix("") if args.pack.suffix == ".xz" else args.pack
    problems = random_layers(args.layers, args.seed) + ([] if args.no_suites else PUBLIC_SUITES)
    command = [args.binary, "pack", "build", "--target", args.target, "--problems", *problems, "--most",
               str(args.kernels), "--seconds", str(args.seconds), "--allow-spills", "-o", str(plain)]
    code = subprocess.run(command).returncode
    if code not in (0, 4):  # 4: some kernels did not compile and are named; the others are there
        return code
    if args.pack.suffix == ".xz":
        with open(plain, "rb") as source, lzma.open(args.pack, "wb", preset=2) as target:
            shutil.copyfileobj(source, target, 1 << 20)
    print(f"{args.pack}: {args.pack.stat().st_size / 1e6:.1f} MB for {args.layers} layers"
          f"{'' if args.no_suites else ' and the suites ' + ', '.join(PUBLIC_SUITES)}, {time.monotonic() - start:.0f} s.\n"
          "It fits this very program only: after a build with other device headers, run prepare again.")
    return code


def unpacked(pack, folder):
    """The path of a pack, unpacked into `folder` where it is compressed."""
    if pack.suffix != ".xz":
        return pack
    plain = Path(folder) / pack.stem
    with lzma.open(pack) as source, open(plain, "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
    return plain
