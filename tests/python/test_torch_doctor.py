# SPDX-License-Identifier: Apache-2.0
"""What wavetile.torch.doctor records of a script is what the same script asks Wavetile for."""
import os
import subprocess
import sys

from conftest import import_or_skip

torch = import_or_skip("torch")

import wavetile as wt  # noqa: E402
import wavetile.torch as wtt  # noqa: E402
from wavetile.torch import doctor  # noqa: E402

SCRIPT = '''
import sys
import torch
from torch import nn

def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, stride=2), nn.Conv2d(8, 8, 3, groups=8, bias=False),
                          nn.ConvTranspose2d(8, 4, 3, stride=2, output_padding=1, groups=2))
    x = torch.randn(2, 3, 12, 11)
    if sys.argv[1] == "last":
        model, x = (t.to(memory_format=torch.channels_last) for t in (model, x))
    with torch.autocast("cpu", torch.bfloat16, enabled=sys.argv[1] == "last"):
        for _ in range(2):
            model(x).float().sum().backward()
    nn.functional.conv1d(torch.randn(1, 2, 7, dtype=torch.double), torch.randn(2, 2, 3, dtype=torch.double))
    nn.functional.conv1d(torch.randn(1, 2, 9), torch.randn(2, 2, 3), padding=2, dilation=2)

main()
'''


def served(path, word):
    """The problems of the script's plans where Wavetile serves it, with their calls."""
    sys.argv, before = ["script", word], sys.argv
    wtt.clear_report()
    try:
        with wtt.enabled():
            exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})
    finally:
        sys.argv = before
    return {wt.Problem(row["problem"]).canonical_text: row["calls"] for row in wtt.report().plans
            if "bias gradient alone" not in row["problem"]}


def test_recorded_and_served_are_the_same(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    for word in ("first", "last"):
        layers = doctor.record([str(path), word], module=False)
        found = {layer.problem.canonical_text: layer.calls for layer in layers}
        assert len(found) == len(layers) == 9 and found == served(path, word)
        assert all(layer.torch_us > 0 for layer in layers)
        times = [layer.torch_us for layer in layers]
        assert times == sorted(times, reverse=True)


def test_kernels_are_counted_for_the_call_that_launched_them():
    facts = {"Input Dims": [[1, 8, 4, 4], [8, 8, 3, 3], [], [], [], [], [], [], []], "Input Strides": [[128, 16, 4, 1], [72, 9, 3, 1]],
             "Input type": ["float", "float", ""],
             "Concrete Inputs": ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"]}
    call = {"name": "aten::convolution", "tid": 1, "ts": 10.0, "dur": 20.0, "args": facts}

    def launch(thread, at, number):
        return {"name": "cudaLaunchKernel", "cat": "cuda_runtime", "tid": thread, "ts": at, "dur": 1.0, "args": {"correlation": number}}

    def kernel(number, us):
        return {"name": "k", "cat": "kernel", "tid": 7, "ts": 100.0, "dur": us, "args": {"correlation": number}}
    events = [call, launch(1, 12.0, 1), kernel(1, 5.0), launch(1, 15.0, 2), kernel(2, 2.5), launch(2, 15.0, 3), kernel(3, 9.0),
              launch(1, 31.0, 4), kernel(4, 9.0)]
    (layer,) = doctor.layers_of(events)
    assert (layer.calls, layer.torch_us) == (1, 7.5)


def test_the_list_is_handed_on(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = tmp_path / "wavetile"
    command.write_text('#!/bin/sh\n[ "$2" = --help ] && exit 0\necho "judged: $1 $(grep -c ^layer "$2")"; exit 3\n')
    command.chmod(0o755)
    words = ["--out", str(tmp_path / "layers.txt"), str(tmp_path / "script.py"), "first"]
    done = subprocess.run([sys.executable, "-m", "wavetile.torch.doctor", *words], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode == 3 and "judged: doctor 9" in done.stdout, done.stdout + done.stderr
    lines = [line for line in (tmp_path / "layers.txt").read_text().splitlines() if not line.startswith("#")]
    assert all(wt.Problem(line.partition(": ")[2]) for line in lines)
