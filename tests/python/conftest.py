# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share. They need no GPU; what needs torch, jax or another package is left out
where it is absent, unless WAVETILE_REQUIRE names it."""
import os
import subprocess
import sys
import textwrap

import pytest

# WHY: torch and oneDNN each have OpenMP threads; those that wait must not take the cores from those that work.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")  # some virtual machines promise AMX and have none


def required(package):
    return package in os.environ.get("WAVETILE_REQUIRE", "").split()


def import_or_skip(package):
    """The package; where it is absent the test is left out, or fails if WAVETILE_REQUIRE names it."""
    if required(package):
        return __import__(package)
    return pytest.importorskip(package)


@pytest.fixture
def run_python():
    """Runs a program in a fresh interpreter and gives its output."""
    def run(program, **environment):
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
                              env={**os.environ, **environment}, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return run
