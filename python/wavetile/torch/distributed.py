# SPDX-License-Identifier: Apache-2.0
"""Convolutions of images and videos that one GPU cannot hold: rows or frames sharded over a process group.

Everything goes through torch.distributed. DDP, FSDP2 and DTensor need none of this: they call aten's convolutions, which
wavetile.torch.enable() serves.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

import torch
import torch.distributed as dist

from ..errors import BadInputError
from .functional import spread
from .library import library
from ..tuning import export_tuning, import_tuning
from .operators import TYPES, is_last


@dataclass(frozen=True)
class _Part:
    """One rank's share. Its outputs read, one after the other: padding, rows of the rank before, own rows, rows of the rank
    after, padding."""

    lower: int    # padding above the image's first row
    above: int    # rows of the rank before
    skip: int     # own first rows that no window of ours reaches
    own: int      # rows from there on that one does
    below: int    # rows of the rank after
    upper: int    # padding below the image's last row
    outputs: int


def _parts(rows: Sequence[int], taps: int, stride: int, padding: int, dilation: int) -> list[_Part]:
    """How an image of sum(rows) rows is divided: a rank computes the outputs whose window begins (without padding) in it."""
    total = sum(rows)
    reach = dilation * (taps - 1)
    count = (total + 2 * padding - reach - 1) // stride + 1
    if padding > reach:
        raise BadInputError(f"padding={padding} is more than the {reach} rows that a filter of {taps} taps reaches over an edge")
    parts, begin = [], 0
    for rank, own in enumerate(rows):
        end = begin + own
        first = -(-begin // stride)
        last = count if rank == len(rows) - 1 else min(count, -(-end // stride))
        low, high = first * stride - padding, (last - 1) * stride - padding + reach + 1
        skip = max(0, low - begin)
        part = _Part(lower=max(0, -low), above=max(0, begin - max(low, 0)), skip=skip,
                     own=max(0, min(end, high) - begin - skip), below=max(0, min(high, total) - end),
                     upper=max(0, high - total), outputs=last - first)
        if part.outputs < 1:
            raise BadInputError(f"rank {rank} has {own} of {total} rows and no row of the result; shard over fewer ranks")
        if (rank and part.above > rows[rank - 1]) or (rank + 1 < len(rows) and part.below > rows[rank + 1]):
            raise BadInputError(f"rank {rank} needs {part.above} rows from above and {part.below} from below, more than its "
                                f"neighbours hold (rows {list(rows)}); shard over fewer ranks")
        parts.append(part)
        begin = end
    return parts


def _rank(group: Any, member: int) -> int:
    return member if group is None else dist.get_global_rank(group, member)


class _Exchange:
    """Rows on their way between neighbours."""

    def __init__(self, group: Any) -> None:
        self.group, self.operations, self.works = group, [], []

    def send(self, tensor: torch.Tensor, to: int) -> None:
        if tensor.shape[2]:
            self.operations.append(dist.P2POp(dist.isend, tensor.contiguous(), _rank(self.group, to), self.group))

    def receive(self, like: torch.Tensor, rows: int, source: int) -> torch.Tensor:
        buffer = like.new_empty(*like.shape[:2], rows, *like.shape[3:])
        if rows:
            self.operations.append(dist.P2POp(dist.irecv, buffer, _rank(self.group, source), self.group))
        return buffer

    def start(self) -> None:
        self.works = dist.batch_isend_irecv(self.operations) if self.operations else []

    def finish(self) -> None:
        for work in self.works:
            work.wait()


class _Sharded(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor | None, rows: Sequence[int], stride: list[int],
                padding: list[int], dilation: list[int], groups: int, group: Any) -> torch.Tensor:
        me, world = dist.get_rank(group), dist.get_world_size(group)
        parts = _parts(rows, w.shape[2], stride[0], padding[0], dilation[0])
        part = parts[me]
        exchange = _Exchange(group)
        top, bottom = x.new_empty(0), x.new_empty(0)
        if me > 0:
            exchange.send(x[:, :, :parts[me - 1].below], me - 1)
            top = exchange.receive(x, part.above, me - 1)
        if me < world - 1:
            exchange.send(x[:, :, x.shape[2] - parts[me + 1].above:], me + 1)
            bottom = exchange.receive(x, part.below, me + 1)
        exchange.start()

        def conv(piece: torch.Tensor, lower: int, upper: int) -> torch.Tensor:
            return torch.ops.wavetile.conv(piece, w, bias, None, stride, [lower, *padding[1:]], [upper, *padding[1:]],
                                           dilation, False, [0] * len(stride), groups, 0, 0.01, 0.0, 6.0, -1, is_last(x))

        ctx.part, ctx.parts, ctx.group = part, parts, group
        ctx.words = (stride, padding, dilation, groups)
        ctx.bias_dtype = None if bias is None else bias.dtype
        y = _in_pieces(conv, x, exchange, part, (top, bottom), w.shape[2], stride[0], dilation[0])
        ctx.save_for_backward(x, w, top, bottom)
        return y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[Any, ...]:
        x, w, top, bottom = ctx.saved_tensors
        stride, padding, dilation, groups = ctx.words
        part, parts, group = ctx.part, ctx.parts, ctx.group
        me, world = dist.get_rank(group), dist.get_world_size(group)
        whole = _joined(_own(x, part), top, bottom, part)
        shape = (stride, [part.lower, *padding[1:]], [part.upper, *padding[1:]], dilation, False, [0] * len(stride), groups)
        last, needs = is_last(x), ctx.needs_input_grad
        dx = dw = db = None
        exchange = _Exchange(group)
        from_above, from_below = x.new_empty(0), x.new_empty(0)
        if needs[0]:
            wide = torch.ops.wavetile.conv_dx(dy, w, whole.shape, *shape, last)
            size = wide.shape[2]
            # What we read of the neighbours' rows goes back to them, and theirs of ours comes.
            if me > 0:
                exchange.send(wide[:, :, :part.above], me - 1)
                from_above = exchange.receive(x, parts[me - 1].below, me - 1)
            if me < world - 1:
                exchange.send(wide[:, :, size - part.below:], me + 1)
                from_below = exchange.receive(x, parts[me + 1].above, me + 1)
            exchange.start()
        if needs[1] or needs[2]:  # meanwhile
            dw, db = torch.ops.wavetile.conv_dw(whole, dy, w.shape, *shape, bool(needs[2]), TYPES[w.dtype], last)
            db = db.to(ctx.bias_dtype) if needs[2] else None
        if needs[0]:
            exchange.finish()
            dx = torch.zeros_like(x)
            _own(dx, part).copy_(wide[:, :, part.above:size - part.below])
            if me > 0 and from_above.numel():
                dx[:, :, :from_above.shape[2]] += from_above
            if me < world - 1 and from_below.numel():
                dx[:, :, dx.shape[2] - from_below.shape[2]:] += from_below
        return dx, dw if needs[1] else None, db, *[None] * 6


def _own(x: torch.Tensor, part: _Part) -> torch.Tensor:
    return x[:, :, part.skip:part.skip + part.own]


def _joined(own: torch.Tensor, top: torch.Tensor, bottom: torch.Tensor, part: _Part) -> torch.Tensor:
    pieces = [*([top] if part.above else []), own, *([bottom] if part.below else [])]
    return torch.cat(pieces, 2) if len(pieces) > 1 else own


def _in_pieces(conv: Any, x: torch.Tensor, exchange: _Exchange, part: _Part, halos: tuple[torch.Tensor, torch.Tensor], taps: int,
               stride: int, dilation: int) -> torch.Tensor:
    """The interior while the halos are on their way, then the borders. Output j reads the rows from j * stride on, counted
    from the first padding; own rows begin at `start`."""
    own = _own(x, part)
    reach, start = dilation * (taps - 1) + 1, part.lower + part.above
    first = -(-start // stride) if part.above else 0
    last = min(part.outputs, (start + part.own - reach) // stride + 1) if part.below else part.outputs
    if last <= first or not (part.above or part.below):  # no interior, or nothing to wait for
        exchange.finish()
        return conv(_joined(own, *halos, part), part.lower, part.upper)
    begin = first * stride - start if part.above else 0
    end = (last - 1) * stride + reach - start if part.below else part.own
    pieces = [conv(own[:, :, begin:end], 0 if part.above else part.lower, 0 if part.below else part.upper)]
    exchange.finish()
    if first > 0:
        rows = (first - 1) * stride + reach - part.lower
        beyond = max(0, rows - part.above - part.own)  # of the image, where these windows pass all own rows
        pieces.insert(0, conv(torch.cat([halos[0], own], 2)[:, :, :rows], part.lower, beyond))
    if last < part.outputs:
        begin = last * stride - start
        pieces.append(conv(torch.cat([own[:, :, max(0, begin):], halos[1]], 2), max(0, -begin), part.upper))
    return torch.cat(pieces, 2)


def conv(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, stride: Any = 1, padding: Any = 0,
         dilation: Any = 1, groups: int = 1, *, rows: Sequence[int] | None = None, group: Any = None) -> torch.Tensor:
    """A convolution of an image (n, c, h, w) or video (n, c, d, h, w) whose rows or frames, its third dimension, are sharded
    over the ranks of a process group, in their order. Gives this rank's rows of the result.

    `rows` says how many rows each rank holds; without it, all hold as many as this one. Rows that a window needs of a
    neighbour are exchanged while the interior is computed; padding (numbers only) stands at the image's own edge. Result and
    gradients equal those of the whole image; the gradients of weight and bias are this rank's part: sum them over the group.
    """
    library()
    dims = x.dim() - 2
    if dims not in (2, 3):
        raise BadInputError(f"x has {x.dim()} dimensions; images have 4 and videos 5")
    world, me = dist.get_world_size(group), dist.get_rank(group)
    rows = list(rows) if rows is not None else [x.shape[2]] * world
    if len(rows) != world or rows[me] != x.shape[2]:
        raise BadInputError(f"rows={rows} is not one number for each of {world} ranks, with {x.shape[2]} for rank {me}")
    return _Sharded.apply(x, weight, bias, rows, spread(stride, dims), spread(padding, dims), spread(dilation, dims), groups,
                          group)


def tune(model: torch.nn.Module, inputs: Any, seconds: float = 120.0, *, backward: bool | None = None, group: Any = None
         ) -> dict[str, Any]:
    """wavetile.torch.tune on all GPUs of a machine or a cluster, under torchrun: each rank measures its share of the model's
    convolutions, and what it finds goes into the tuning database of every machine. Afterwards every rank's plans are the
    tuned ones."""
    from . import preparation
    rank, world = dist.get_rank(group), dist.get_world_size(group)
    calls = preparation.record(model, inputs, backward=backward)
    mine = calls[rank::world]
    done, failed = preparation.rehearse(mine, 1, max(0.1, seconds / max(1, 2 * len(mine))))
    taken = merge_tuning(group)
    preparation.rehearse(calls, 1, 0.1)  # measured by others meanwhile: only read
    return {"convolutions": len(calls), "tuned": done, "failed": failed, "from_other_machines": taken}


def merge_tuning(group: Any = None) -> int:
    """Brings the tuning databases of all ranks' machines to the same content: of each problem what was measured last. Gives
    how many rows were new to this rank's."""
    own = export_tuning()
    texts: list[Any] = [None] * dist.get_world_size(group)
    dist.all_gather_object(texts, own, group)  # also a barrier: all have measured
    return sum(import_tuning(text) for text in set(texts) - {own})
