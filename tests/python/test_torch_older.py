# SPDX-License-Identifier: Apache-2.0
"""The operators in Python, which serve torch 2.6 to 2.9, by this torch: what test_torch_override.py and
test_torch_operators.py say holds for them too. With an older torch itself: pytest tests/python in its environment."""
import pathlib
import subprocess
import sys

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")

PROGRAM = """
import sys, torch
torch.__version__ = "2.9.0"
import pytest, wavetile.torch.library as library
from wavetile.torch.older import Older
assert isinstance(library.library(), Older)
sys.exit(pytest.main(["-q", *sys.argv[1:]]))
"""


@pytest.mark.parametrize("name", ["override", "operators"])
def test_the_same_tests_pass(name):
    tests = pathlib.Path(__file__).with_name(f"test_torch_{name}.py")
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(tests)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and " passed" in done.stdout and "skipped" not in done.stdout, done.stdout[-4000:] + done.stderr[-1000:]


def test_what_is_older_still_is_refused(run_python):
    assert "needs torch 2.6 or newer, and this is 2.5.1" in run_python("""
        import torch
        torch.__version__ = "2.5.1"
        import wavetile as wt, wavetile.torch
        try:
            wavetile.torch.enable()
        except wt.UnsupportedError as error:
            print(error)
    """)
