# SPDX-License-Identifier: Apache-2.0
"""torch.ops.wavetile: shapes for tracing, and derivatives. The kernels are in libwavetile_torch.so."""
from __future__ import annotations

from typing import Any, Sequence

import torch

TYPES = {torch.float32: 0, torch.float16: 2, torch.bfloat16: 3, torch.float8_e4m3fn: 4, torch.float8_e5m2: 5}
DTYPES = {**{number: dtype for dtype, number in TYPES.items()}, 1: torch.float32}


def is_last(x: torch.Tensor) -> bool:
    """Whether a tensor's memory has its channels innermost, in one dimension too, there also as a part of wider tokens."""
    if x.dim() == 3:
        return x.stride(1) == 1 and x.size(1) > 1 and x.stride(2) >= x.size(1)
    return x.dim() in (4, 5) and x.is_contiguous(
        memory_format=torch.channels_last if x.dim() == 4 else torch.channels_last_3d) and not x.is_contiguous()


def empty(size: Sequence[Any], last: bool, dtype: torch.dtype, like: torch.Tensor) -> torch.Tensor:
    """New and dense, channels last or first."""
    size = list(size)
    if not last:
        return like.new_empty(size, dtype=dtype)
    memory = like.new_empty([size[0], *size[2:], size[1]], dtype=dtype)
    return memory.permute(0, len(size) - 1, *range(1, len(size) - 1))


def output_size(x: Sequence[Any], w: Sequence[Any], stride: Any, lower: Any, upper: Any, dilation: Any, transposed: bool,
                output_padding: Any, groups: Any) -> list[Any]:
    """The size of a convolution's result; lists hold one value per dimension."""
    size = [x[0], w[1] * groups if transposed else w[0]]
    for i in range(len(x) - 2):
        reach = dilation[i] * (w[2 + i] - 1) + 1
        if transposed:
            size.append((x[2 + i] - 1) * stride[i] - lower[i] - upper[i] + reach + output_padding[i])
        else:
            size.append((x[2 + i] + lower[i] + upper[i] - reach) // stride[i] + 1)
    return size


def _fake_conv(x: Any, w: Any, bias: Any, residual: Any, stride: Any, lower: Any, upper: Any, dilation: Any,
               transposed: bool, output_padding: Any, groups: Any, activation: int, slope: float, low: float, high: float,
               out_type: int, last: bool) -> torch.Tensor:
    size = output_size(x.shape, w.shape, stride, lower, upper, dilation, transposed, output_padding, groups)
    return empty(size, last, DTYPES[out_type] if out_type >= 0 else x.dtype, x)


def _fake_dx(dy: Any, w: Any, x_size: Any, *rest: Any) -> torch.Tensor:
    return empty(x_size, rest[-1], dy.dtype, dy)


def _fake_dw(x: Any, dy: Any, w_size: Any, *rest: Any) -> tuple[torch.Tensor, torch.Tensor]:
    bias, w_type, last = rest[-3:]
    channels = dy.shape[1] if bias else 0
    return (empty(w_size, last, DTYPES[w_type] if w_type >= 0 else x.dtype, x),
            x.new_empty([channels], dtype=torch.float32))


def _fake_causal(x: Any, w: Any, bias: Any, history: Any, groups: Any, dilation: Any, activation: int,
                 new_history: bool) -> tuple[torch.Tensor, torch.Tensor]:
    reach = dilation * (w.shape[2] - 1)
    state = empty([x.shape[0], x.shape[1], reach], True, x.dtype, x) if new_history and w.shape[2] > 1 \
        else x.new_empty([0])
    return empty([x.shape[0], w.shape[0], x.shape[2]], True, x.dtype, x), state


def _conv_context(ctx: Any, inputs: Any, output: Any) -> None:
    x, w, bias, residual, *rest = inputs
    if rest[7] != 0:
        raise NotImplementedError("wavetile::conv has no gradient through an activation; wavetile.torch.conv2d and the "
                                  "others apply it outside where a gradient is needed")
    ctx.save_for_backward(x, w)
    ctx.shape, ctx.last = rest[:7], rest[12]
    ctx.bias_dtype = None if bias is None else bias.dtype
    ctx.out_dtype = output.dtype


def _conv_backward(ctx: Any, dy: torch.Tensor) -> tuple[Any, ...]:
    x, w = ctx.saved_tensors
    needs = ctx.needs_input_grad
    dx = dw = db = None
    grad = dy.to(x.dtype)
    if needs[0]:
        dx = torch.ops.wavetile.conv_dx(grad, w, x.shape, *ctx.shape, ctx.last)
    if needs[1] or needs[2]:
        dw, db = torch.ops.wavetile.conv_dw(x, grad, w.shape, *ctx.shape, bool(needs[2]), TYPES[w.dtype], ctx.last)
        db = db.to(ctx.bias_dtype) if needs[2] else None
    return (dx, dw if needs[1] else None, db, dy if needs[3] else None, *[None] * 13)


def _dx_context(ctx: Any, inputs: Any, output: Any) -> None:
    dy, w, _, *rest = inputs
    ctx.save_for_backward(dy, w)
    ctx.shape, ctx.last = rest[:7], rest[7]


def _dx_backward(ctx: Any, g: torch.Tensor) -> tuple[Any, ...]:
    """conv_dx is linear in dy and w: its own derivatives are a convolution and a weight gradient."""
    dy, w = ctx.saved_tensors
    g = g.to(dy.dtype)
    to_dy = to_w = None
    if ctx.needs_input_grad[0]:
        to_dy = _plain_conv(g, w, ctx.shape, ctx.last)
    if ctx.needs_input_grad[1]:
        to_w = torch.ops.wavetile.conv_dw(g, dy, w.shape, *ctx.shape, False, TYPES[w.dtype], ctx.last)[0]
    return (to_dy, to_w, *[None] * 9)


def _dw_context(ctx: Any, inputs: Any, output: Any) -> None:
    x, dy, _, *rest = inputs
    ctx.save_for_backward(x, dy)
    ctx.shape, ctx.bias, ctx.last = rest[:7], rest[7], rest[9]


def _dw_backward(ctx: Any, gw: torch.Tensor, gb: torch.Tensor) -> tuple[Any, ...]:
    x, dy = ctx.saved_tensors
    gw = gw.to(x.dtype)
    to_x = to_dy = None
    if ctx.needs_input_grad[0]:
        to_x = torch.ops.wavetile.conv_dx(dy, gw, x.shape, *ctx.shape, ctx.last)
    if ctx.needs_input_grad[1]:
        to_dy = _plain_conv(x, gw, ctx.shape, ctx.last)
        if ctx.bias:
            to_dy = to_dy + gb.to(dy.dtype).reshape(1, -1, *[1] * (dy.dim() - 2))
    return (to_x, to_dy, *[None] * 11)


def _plain_conv(x: torch.Tensor, w: torch.Tensor, shape: Any, last: bool) -> torch.Tensor:
    return torch.ops.wavetile.conv(x, w, None, None, *shape, 0, 0.01, 0.0, 6.0, -1, last)


def _causal_context(ctx: Any, inputs: Any, output: Any) -> None:
    x, w, bias, history, groups, dilation, activation, new_history = inputs
    if activation != 0:
        raise NotImplementedError("wavetile::causal_conv has gradients only without activation; "
                                  "wavetile.torch.causal_conv1d applies the activation outside where one is needed")
    ctx.save_for_backward(x, w, history)
    ctx.keeps = new_history and w.shape[2] > 1  # else what comes after is an empty tensor
    ctx.groups, ctx.dilation = groups, dilation
    ctx.bias_dtype = None if bias is None else bias.dtype
    ctx.set_materialize_grads(False)


def _causal_backward(ctx: Any, dy: Any, d_after: Any) -> tuple[Any, ...]:
    """The history meets the first results alone, so that its part is a convolution of few pixels: x is not copied."""
    d_after = d_after if ctx.keeps else None
    if dy is None and d_after is None:
        return (None,) * 8
    x, w, history = ctx.saved_tensors
    reach, length = ctx.dilation * (w.shape[2] - 1), x.shape[2]
    shape = ([1], [reach], [0], [ctx.dilation], False, [0], ctx.groups)
    needs = ctx.needs_input_grad
    dx = dw = db = dh = None
    dy = x.new_zeros(x.shape[0], w.shape[0], length) if dy is None else dy.to(x.dtype)
    met = min(length, reach)
    first, alone = dy[..., :met], ([1], [0], [met], [ctx.dilation], False, [0], ctx.groups)
    if needs[0]:
        dx = torch.ops.wavetile.conv_dx(dy, w, x.shape, *shape, True)
    if needs[1] or needs[2]:
        met_too = history is not None and needs[1]
        kind = torch.float32 if met_too else w.dtype  # two sums are added before they are rounded
        dw, db = torch.ops.wavetile.conv_dw(x, dy, w.shape, *shape, bool(needs[2]), TYPES[kind], True)
        if met_too:
            dw = (dw + torch.ops.wavetile.conv_dw(history, first, w.shape, *alone, False, TYPES[kind], True)[0]).to(w.dtype)
        db = db.to(ctx.bias_dtype) if needs[2] else None
    if needs[3]:
        dh = torch.ops.wavetile.conv_dx(first, w, history.shape, *alone, True)
    if d_after is not None:  # the states after are the last pixels of those before and x
        kept, given = max(0, reach - length), d_after.to(x.dtype)
        if dx is not None:
            dx[..., length - (reach - kept):] += given[..., kept:]
        if dh is not None and kept > 0:
            dh[..., length:] += given[..., :kept]
    return dx, dw if needs[1] else None, db, dh, None, None, None, None


def register() -> None:
    """Once, after the library has defined the operators."""
    for name, fake, backward, context in (("conv", _fake_conv, _conv_backward, _conv_context),
                                          ("conv_dx", _fake_dx, _dx_backward, _dx_context),
                                          ("conv_dw", _fake_dw, _dw_backward, _dw_context),
                                          ("causal_conv", _fake_causal, _causal_backward, _causal_context)):
        torch.library.register_fake(f"wavetile::{name}", fake)
        torch.library.register_autograd(f"wavetile::{name}", backward, setup_context=context)
