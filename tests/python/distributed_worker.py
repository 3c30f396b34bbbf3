# SPDX-License-Identifier: Apache-2.0
"""What each of two processes does in test_torch_distributed.py: python distributed_worker.py RANK WORLD FILE CASE"""
import os
import pathlib
import sys

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import wavetile.torch as wtt  # noqa: E402
from wavetile.torch import distributed as wtd  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANK, WORLD = int(sys.argv[1]), int(sys.argv[2])


def close(a, b):
    error = float((a - b).abs().max() / (b.abs().max() + 1e-9))
    assert a.shape == b.shape and error < 1e-5, (a.shape, b.shape, error)


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 3, groups=2))


def ddp():
    torch.manual_seed(1)
    data = torch.randn(2 * WORLD, 3, 8, 8)
    one = network()
    one(data).square().mean().backward()
    wtt.enable(strict=True)
    net = nn.parallel.DistributedDataParallel(network())
    net(data.chunk(WORLD)[RANK]).square().mean().backward()
    for a, b in zip(net.parameters(), one.parameters()):
        close(a.grad, b.grad)


def fsdp():
    from torch.distributed.fsdp import fully_shard
    torch.manual_seed(1)
    data = torch.randn(2 * WORLD, 3, 8, 8)
    one = network()
    one(data).square().mean().backward()
    wtt.enable(strict=True)
    net = network()
    mesh = dist.init_device_mesh("cpu", (WORLD,))
    for layer in net:
        if isinstance(layer, nn.Conv2d):
            fully_shard(layer, mesh=mesh)
    fully_shard(net, mesh=mesh)
    net(data.chunk(WORLD)[RANK]).square().mean().backward()
    for a, b in zip(net.parameters(), one.parameters()):
        close(a.grad.full_tensor(), b.grad)


def dtensor():
    """Images sharded by the batch. (By their last dimension torch 2.15's own DTensor gives results of another size.)"""
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor
    mesh = dist.init_device_mesh("cpu", (WORLD,))
    torch.manual_seed(1)
    x, w = torch.randn(4, 3, 8, 8), torch.randn(6, 3, 3, 3)
    leaves = [t.clone().requires_grad_() for t in (x, w)]
    expected = F.conv2d(*leaves, padding=1)
    dy = torch.randn_like(expected)
    expected.backward(dy)
    ours = [distribute_tensor(x, mesh, [Shard(0)]).requires_grad_(), distribute_tensor(w, mesh, [Replicate()]).requires_grad_()]
    wtt.clear_report()
    with wtt.enabled(strict=True):
        y = F.conv2d(*ours, padding=1)
        y.backward(distribute_tensor(dy, mesh, [Shard(0)]))
    close(y.full_tensor().detach(), expected.detach())
    for got, stock in zip(ours, leaves):
        close(got.grad.full_tensor(), stock.grad)
    kinds = {row["problem"].split()[0] for row in wtt.report().plans if " n2 c3 " in row["problem"]}  # of what each rank holds
    assert kinds == {"fwd", "bwd_data", "bwd_weight"}, str(wtt.report())


CASES = [  # size, taps, stride, padding, dilation, rows, channels last
    ((16, 6), 3, 1, 1, 1, None, False), ((16, 6), 3, 1, 1, 1, (7, 9), True), ((16, 6), 5, 1, 2, 1, (10, 6), False),
    ((16, 6), 3, 2, 1, 1, None, True), ((17, 6), 3, 2, 1, 1, (8, 9), False), ((16, 6), 3, 1, 2, 2, None, False),
    ((16, 6), 1, 2, 0, 1, (7, 9), False), ((16, 6), 4, 1, 0, 1, None, True), ((8, 4, 4), 3, 1, 1, 1, None, False),
    ((4, 6), 3, 1, 1, 1, None, False), ((12, 6), 3, 1, 2, 1, (2, 10), False), ((16, 6), 5, 1, 3, 2, (10, 6), True),
]


def halo():
    for size, taps, stride, padding, dilation, rows, last in CASES:
        dims = len(size)
        torch.manual_seed(2)
        x, w, b = torch.randn(2, 4, *size), torch.randn(6, 2, *[taps] * dims), torch.randn(6)
        rows = list(rows or [size[0] // WORLD] * WORLD)
        function = F.conv2d if dims == 2 else F.conv3d
        leaves = [t.clone().requires_grad_() for t in (x, w, b)]
        whole = function(*leaves, stride=stride, padding=padding, dilation=dilation, groups=2)
        dy = torch.randn_like(whole)
        whole.backward(dy)
        mine = x.split(rows, 2)[RANK].clone()
        if last:
            mine = mine.contiguous(memory_format=torch.channels_last)
        mine.requires_grad_()
        ours = [t.clone().requires_grad_() for t in (w, b)]
        y = wtd.conv(mine, *ours, stride=stride, padding=padding, dilation=dilation, groups=2, rows=rows)
        counts = [part.outputs for part in wtd._parts(rows, taps, stride, padding, dilation)]
        assert sum(counts) == whole.shape[2], counts
        close(y, whole.split(counts, 2)[RANK])
        y.backward(dy.split(counts, 2)[RANK])
        close(mine.grad, leaves[0].grad.split(rows, 2)[RANK])
        for got, expected in zip(ours, leaves[1:]):
            dist.all_reduce(got.grad)
            close(got.grad, expected.grad)


def decode():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"))
    import sharded_decode
    torch.manual_seed(0)
    model, latents = sharded_decode.networks.VaeDecoder(16).eval(), torch.randn(1, 16, 8, 6)
    rows = sharded_decode.decode(latents, model)
    with torch.no_grad():
        whole = model(latents).chunk(WORLD, 2)[RANK]
    assert rows.shape == whole.shape and float((rows - whole).norm() / whole.norm()) < 1e-4


def tune():
    net, x = network(), torch.randn(2, 3, 9, 9)
    done = wtd.tune(net, (x,), seconds=10, backward=False)
    assert done["convolutions"] == 2 and done["tuned"] == 1 and not done["failed"], done
    with wtt.enabled(strict=True):
        net(x)


def merge():
    """Machines of their own, as their databases show: each has an entry that the other has not."""
    import json
    import tempfile
    import wavetile as wt
    all_entries = json.loads((ROOT / "bench/results/tuning_h200.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WAVETILE_TUNING_DB"] = f"{folder}/tuning.db"
        assert json.loads(wt.export_tuning())["entries"] == []
        mine = {**all_entries, "entries": [all_entries["entries"][RANK]]}
        assert wt.import_tuning(json.dumps(mine)) == 1 and wt.import_tuning(json.dumps(mine)) == 0
        assert wtd.merge_tuning() == 1 and wtd.merge_tuning() == 0
        known = {entry["problem"] for entry in json.loads(wt.export_tuning())["entries"]}
        assert known == {entry["problem"] for entry in all_entries["entries"][:2]}, known
        try:
            wt.import_tuning("{}")
            raise AssertionError("a text that is no tuning was taken")
        except wt.BadInputError:
            pass


def gpus():
    """Each process its own GPU of two, by its index; the GPUs are the fake driver's, which runs no kernel."""
    import ctypes
    import wavetile as wt
    driver = ROOT / "build/dev/tests/fake_driver/libfake_cuda.so"
    if not driver.exists():
        return
    fake = ctypes.CDLL(str(driver.with_name("libfake_gpu.so")))
    fake.fake_set_device(2, 9, 0)
    os.environ["WAVETILE_CUDA_DRIVER"] = str(driver)
    try:
        device = wt.Device(f"gpu:{RANK}")
    except wt.Error as error:  # another test of this process has met the machine's own driver
        raise AssertionError(f"the fake driver was not taken: {error}") from error
    import numpy as np
    plan = device.plan("fwd fp32 n1 c8 k8 i5x5 f1x1", kernel=None)
    x, w = (device.array(np.zeros(size, np.float32)) for size in ((1, 5, 5, 8), (8, 1, 1, 8)))
    plan(x=x, w=w)
    count = fake.fake_launch_count()
    used = {fake.fake_launch_device(i) for i in range(count)}
    assert count >= 1 and used == {RANK}, (count, used)
    everyone = [None] * WORLD
    dist.all_gather_object(everyone, sorted(used))
    assert everyone == [[0], [1]], everyone
    # One process may use both, each with plans of its own.
    other = wt.Device(f"gpu:{1 - RANK}")
    other_plan = other.plan("fwd fp32 n1 c8 k8 i5x5 f1x1")
    other_plan(x=other.array(np.zeros((1, 5, 5, 8), np.float32)), w=other.array(np.zeros((8, 1, 1, 8), np.float32)))
    assert fake.fake_launch_device(fake.fake_launch_count() - 1) == 1 - RANK
    try:
        wt.Device("gpu:2")
        raise AssertionError("there are two GPUs")
    except wt.Error as error:
        assert "2" in str(error)


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{sys.argv[3]}", rank=RANK, world_size=WORLD)
    for name in sys.argv[4].split(","):
        globals()[name]()
        wtt.disable()
        dist.barrier()
        print(name, "right", flush=True)
    dist.destroy_process_group()
