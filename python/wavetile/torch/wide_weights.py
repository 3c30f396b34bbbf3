# SPDX-License-Identifier: Apache-2.0
"""Training with float32 weights and images of 16 bits: the weight's gradient comes as float32 sums, never rounded to 16 bits.

aten cannot say this: its convolutions have one type, so that autocast rounds the gradient and another kernel widens it.
"""
from __future__ import annotations

from typing import Any

import torch

from .operators import TYPES


class WideWeights(torch.autograd.Function):
    """wavetile::conv without an activation, in x's type. `shape` is the operator's seven arguments from stride to groups."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, residual: torch.Tensor | None,
                shape: tuple[Any, ...], out_type: int, last: bool) -> torch.Tensor:
        return torch.ops.wavetile.conv(x, weight.to(x.dtype), bias, residual, *shape, 0, 0.01, 0.0, 6.0, out_type, last)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        x, weight, bias, residual, ctx.shape, _, ctx.last = inputs
        ctx.save_for_backward(x, weight)
        ctx.bias_dtype = None if bias is None else bias.dtype
        ctx.residual_dtype = None if residual is None else residual.dtype

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[Any, ...]:
        x, weight = ctx.saved_tensors
        needs = ctx.needs_input_grad
        gradient = dy.to(x.dtype)
        dx = dw = db = None
        if needs[0]:
            dx = torch.ops.wavetile.conv_dx(gradient, weight.to(x.dtype), x.shape, *ctx.shape, ctx.last)
        if needs[1] or needs[2]:
            dw, db = torch.ops.wavetile.conv_dw(x, gradient, weight.shape, *ctx.shape, bool(needs[2]), TYPES[weight.dtype], ctx.last)
        return (dx, dw if needs[1] else None, db.to(ctx.bias_dtype) if needs[2] else None,
                dy.to(ctx.residual_dtype) if needs[3] else None, None, None, None)


def narrow(x: torch.Tensor, weight: torch.Tensor) -> bool:
    """Whether the weight is rounded to x's type for the convolution."""
    return weight.dtype == torch.float32 and x.dtype in (torch.bfloat16, torch.float16)


def wanted(x: torch.Tensor, weight: torch.Tensor) -> bool:
    """Whether a convolution of x with this weight has such a gradient."""
    return narrow(x, weight) and weight.requires_grad and torch.is_grad_enabled()
