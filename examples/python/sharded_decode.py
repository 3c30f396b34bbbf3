# SPDX-License-Identifier: Apache-2.0
"""Decodes an image that is too large for one GPU: each process holds some rows of every activation.

    torchrun --nproc-per-node 2 examples/python/sharded_decode.py --rows 128

The model is the plain one of bench/networks.py. Its convolutions exchange halos with their neighbours
(wavetile.torch.distributed.conv), its group norms sum their statistics over the group, and its attention, whose image is
small, gathers all rows. The result equals that of the whole image, which rank 0 checks with --check.
"""
import argparse
import copy
import pathlib
import sys

import torch
import torch.distributed as dist

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import networks  # noqa: E402

from wavetile.torch import distributed as wtd  # noqa: E402


class ShardedConv(torch.nn.Module):
    def __init__(self, conv):
        super().__init__()
        self.conv = conv

    def forward(self, x):
        c = self.conv
        return wtd.conv(x, c.weight, c.bias, c.stride, c.padding, c.dilation, c.groups)


class ShardedGroupNorm(torch.nn.Module):
    """Statistics of the whole image: sums of values and squares, over all processes."""

    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, x):
        n, groups = x.shape[0], self.norm.num_groups
        values = x.float().reshape(n, groups, -1)
        sums = torch.stack([values.sum(-1), values.square().sum(-1)])
        dist.all_reduce(sums)
        mean, square = sums / (values.shape[-1] * dist.get_world_size())
        scale = (square - mean.square() + self.norm.eps).rsqrt()
        y = ((values - mean[..., None]) * scale[..., None]).reshape(x.shape)
        shape = (1, -1, *[1] * (x.dim() - 2))
        return (y * self.norm.weight.view(shape) + self.norm.bias.view(shape)).to(x.dtype)


class Gathered(torch.nn.Module):
    """A module that needs all rows at once."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        x = x.contiguous()
        parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, x)
        return self.module(torch.cat(parts, 2)).split(x.shape[2], 2)[dist.get_rank()]


def sharded(module):
    """The model with every layer in the form that works on shards."""
    for name, child in list(module.named_children()):
        if isinstance(child, networks.Attention):
            setattr(module, name, Gathered(child))
        elif isinstance(child, torch.nn.Conv2d):
            setattr(module, name, ShardedConv(child))
        elif isinstance(child, torch.nn.GroupNorm):
            setattr(module, name, ShardedGroupNorm(child))
        else:
            sharded(child)
    return module


def decode(latents, model):
    """This process's rows of the decoded image."""
    mine = latents.chunk(dist.get_world_size(), 2)[dist.get_rank()]
    with torch.no_grad():
        return sharded(copy.deepcopy(model).eval())(mine.contiguous())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--width", type=int, default=16, help="channels at the full size; 128 in a real decoder")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if cuda else "gloo")
    device = torch.device("cuda", dist.get_rank() % torch.cuda.device_count()) if cuda else torch.device("cpu")
    torch.manual_seed(0)
    model = networks.VaeDecoder(arguments.width).to(device)
    latents = torch.randn(1, 16, arguments.rows, arguments.rows, device=device)
    rows = decode(latents, model)
    print(f"rank {dist.get_rank()}: rows {tuple(rows.shape)}", flush=True)
    if arguments.check:
        with torch.no_grad():
            whole = model.eval()(latents).chunk(dist.get_world_size(), 2)[dist.get_rank()]
        error = float((rows - whole).norm() / whole.norm())
        print(f"rank {dist.get_rank()}: relative difference from the whole image {error:.1e}")
        assert error < 1e-4
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
