# SPDX-License-Identifier: Apache-2.0
"""The distribution of compiled kernels, installed and found; the GPU is the fake driver's."""
import os
import pathlib
import subprocess
import sys

import pytest

import wavetile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND, DRIVER = ROOT / "build/dev/bin/wavetile", ROOT / "build/dev/tests/fake_driver/libfake_cuda.so"
PROBLEM = "fwd bf16 n2 c64 k64 i9x9 f1x1"
PROGRAM = f"""
import sys, wavetile as wt
assert wt.__file__.startswith(sys.argv[1]), wt.__file__
plan = wt.Device("gpu:0").plan({PROBLEM!r})
print(plan.kernel, "|", plan.reason)
"""
built = pytest.mark.skipif(not (COMMAND.exists() and DRIVER.exists()), reason="needs build/dev with its tests' fake driver")


def run(*words, **more):
    around = {**os.environ, "WAVETILE_CUDA_DRIVER": str(DRIVER), **more}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, env=around)


@built
def test_kernels_are_a_distribution_of_their_own(tmp_path):
    pack, site = tmp_path / "sm_90a.wtpack", tmp_path / "site"
    made = run(COMMAND, "pack", "build", "--target", "sm_90a", "--problems", PROBLEM, "--most", "1", "-o", pack, "--no-progress")
    if "NVRTC" in made.stderr and made.returncode:
        pytest.skip("needs NVRTC")
    assert made.returncode == 0, made.stderr
    wheel = run(sys.executable, ROOT / "scripts/kernels_wheel.py", pack, "--out", tmp_path)
    assert wheel.returncode == 0, wheel.stderr
    # The package as it is installed, in a place of its own, so that the tests' own stays without a pack.
    package = pathlib.Path(wavetile.__file__).parent
    (site / "wavetile").mkdir(parents=True)
    for each in package.iterdir():
        target = site / "wavetile" / each.name
        if each.suffix == ".so" or ".so." in each.name:
            target.write_bytes(each.read_bytes())  # finds its files beside where it lies
        elif each.name != "__pycache__":
            target.symlink_to(each.resolve())
    # The library's path, too: a build tree's modules would take the one that they were linked with.
    nothing = {"PYTHONPATH": str(site), "LD_LIBRARY_PATH": str(site / "wavetile"), "WAVETILE_NVRTC": "/nonexistent", "WAVETILE_CACHE_LIMIT_MB": "0"}
    without = run(sys.executable, "-c", PROGRAM, site, **nothing)
    assert without.returncode != 0 and "NVRTC" in without.stderr, without.stdout + without.stderr
    installed = run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", tmp_path / "more",
                    wheel.stdout.strip())
    assert installed.returncode == 0, installed.stderr
    (site / "wavetile/sm_90a.wtpack").write_bytes((tmp_path / "more/wavetile/sm_90a.wtpack").read_bytes())
    found = run(sys.executable, "-c", PROGRAM, site, **nothing)
    assert found.returncode == 0 and "from pack" in found.stdout, found.stdout + found.stderr
