# SPDX-License-Identifier: Apache-2.0
"""Two processes over gloo: DDP, FSDP2, DTensor, convolutions of sharded images, and divided tuning."""
import pathlib
import subprocess
import sys

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")

import wavetile as wt  # noqa: E402
from wavetile.torch import distributed as wtd  # noqa: E402

# torch 2.9's own DTensor gives wrong convolutions of a batch that is sharded, whoever computes them.
NEWER = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 10)
CASES = ["ddp", "fsdp", *(["dtensor"] if NEWER else []), "halo", "decode", "tune", "merge", "gpus"]


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed")
def test_two_processes(tmp_path):
    worker = pathlib.Path(__file__).with_name("distributed_worker.py")
    processes = [subprocess.Popen([sys.executable, str(worker), str(rank), "2", str(tmp_path / "meet"), ",".join(CASES)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(2)]
    results = []
    for process in processes:
        try:
            results.append(process.communicate(timeout=400))
        except subprocess.TimeoutExpired:
            for each in processes:
                each.kill()
            results.append(process.communicate())
    for process, (out, err) in zip(processes, results):
        assert process.returncode == 0, f"{out}\n{err}\n" + "\n".join(each[1] for each in results)
        said = [line for line in out.splitlines() if not line.startswith("[Gloo]")]  # gloo's own words, before torch 2.10
        assert said == [f"{name} right" for name in CASES]


def test_pieces_make_the_whole():
    """The division into interior and borders alone, in one process, for many sizes."""
    import itertools
    import torch.nn.functional as F

    class Arrived:
        def finish(self):
            pass
    done = 0
    for rows, taps, stride, pad, dilation in itertools.product(
            ((8, 8), (7, 9), (10, 6), (5, 5, 6), (2, 10)), (1, 2, 3, 5), (1, 2, 3), (0, 1, 2, 3), (1, 2)):
        try:
            parts = wtd._parts(rows, taps, stride, pad, dilation)
        except wt.BadInputError:
            continue
        x, w = torch.randn(1, 2, sum(rows), 3, dtype=torch.double), torch.randn(3, 2, taps, 1, dtype=torch.double)

        def conv(t, lower, upper):
            return F.conv2d(F.pad(t, (0, 0, lower, upper)), w, stride=(stride, 1), dilation=(dilation, 1))
        shards, results = x.split(rows, 2), []
        for rank, part in enumerate(parts):
            top = shards[rank - 1][:, :, rows[rank - 1] - part.above:] if part.above else x.new_empty(0)
            bottom = shards[rank + 1][:, :, :part.below] if part.below else x.new_empty(0)
            results.append(wtd._in_pieces(conv, shards[rank], Arrived(), part, (top, bottom), taps, stride, dilation))
            assert results[-1].shape[2] == part.outputs
        torch.testing.assert_close(torch.cat(results, 2), conv(x, pad, pad))
        done += 1
    assert done > 200


def test_parts_of_an_image():
    parts = wtd._parts([8, 8, 8], 3, 1, 1, 1)
    assert [(p.above, p.below, p.lower, p.upper, p.outputs) for p in parts] == [
        (0, 1, 1, 0, 8), (1, 1, 0, 0, 8), (1, 0, 0, 1, 8)]
    with pytest.raises(wt.BadInputError, match="more than its neighbours hold"):
        wtd._parts([8, 1, 8], 7, 1, 3, 1)
    with pytest.raises(wt.BadInputError, match="padding=1 is more than the 0 rows"):
        wtd._parts([8, 8], 1, 1, 1, 1)
    with pytest.raises(wt.BadInputError, match="no row of the result"):
        wtd._parts([7, 1], 1, 2, 0, 1)
