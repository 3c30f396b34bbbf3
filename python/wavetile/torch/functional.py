# SPDX-License-Identifier: Apache-2.0
"""Convolutions with what torch.nn.functional cannot say: sides of padding, epilogues, fp8, 1-D channels last."""
from __future__ import annotations

from typing import Any, Sequence

import torch
import torch.nn.functional as F

from .. import names
from ..errors import BadInputError
from . import wide_weights
from .library import library
from .operators import TYPES, is_last

Size = int | Sequence[int]
Padding = int | str | Sequence[int] | Sequence[tuple[int, int]]

ACTIVATIONS = {
    "none": lambda y, slope, low, high: y,
    "relu": lambda y, slope, low, high: F.relu(y),
    "leaky_relu": lambda y, slope, low, high: F.leaky_relu(y, slope),
    "clamp": lambda y, slope, low, high: y.clamp(low, high),
    "silu": lambda y, slope, low, high: F.silu(y),
    "gelu": lambda y, slope, low, high: F.gelu(y),
    "sigmoid": lambda y, slope, low, high: torch.sigmoid(y),
    "tanh": lambda y, slope, low, high: torch.tanh(y),
    "hardswish": lambda y, slope, low, high: F.hardswish(y),
    "hardsigmoid": lambda y, slope, low, high: F.hardsigmoid(y),
    "elu": lambda y, slope, low, high: F.elu(y),
    "softplus": lambda y, slope, low, high: F.softplus(y),
    "mish": lambda y, slope, low, high: F.mish(y),
    "gelu_tanh": lambda y, slope, low, high: F.gelu(y, approximate="tanh"),
}


def spread(value: Any, dims: int) -> list[int]:
    """One number for every dimension, or one each."""
    values = [value] * dims if isinstance(value, int) else list(value)
    if len(values) == 1:
        values *= dims
    if len(values) != dims:
        raise BadInputError(f"{value} has not one value for each of {dims} dimensions")
    return values


def sides(padding: Padding, size: Sequence[int], taps: Sequence[int], stride: list[int], dilation: list[int]
          ) -> tuple[list[int], list[int]]:
    """The two sides of every dimension from what people write."""
    dims = len(stride)
    if isinstance(padding, str):
        if padding == "valid":
            return [0] * dims, [0] * dims
        if padding not in ("same", "causal"):
            raise BadInputError(f"padding={padding!r} is no choice; use numbers, 'same', 'valid' or 'causal'")
        total = [max(0, (-(-size[i] // stride[i]) - 1) * stride[i] + dilation[i] * (taps[i] - 1) + 1 - size[i])
                 for i in range(dims)]
        lower = [each // 2 for each in total]
        if padding == "causal":  # all of it before the outermost dimension's pixels
            total[0] = dilation[0] * (taps[0] - 1)
            lower[0] = total[0]
        return lower, [each - low for each, low in zip(total, lower)]
    values = [padding] * dims if isinstance(padding, int) else list(padding)
    if len(values) == 1:
        values *= dims
    if len(values) != dims:
        raise BadInputError(f"padding={padding} has not one value or pair for each of {dims} dimensions")
    pairs = [value if isinstance(value, (tuple, list)) else (value, value) for value in values]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def autocast(*tensors: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
    """Tensors in the type that autocast asks for, as aten's convolutions have it; fp8 and float64 stay."""
    device = tensors[0].device.type
    if not torch.is_autocast_enabled(device) or tensors[0].dtype.itemsize == 1:
        return tensors
    dtype = torch.get_autocast_dtype(device)
    return tuple(t if t is None or t.dtype == torch.float64 else t.to(dtype) for t in tensors)


def conv(dims: int, transposed: bool, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, stride: Size,
         padding: Padding, output_padding: Size, dilation: Size, groups: int, activation: str, slope: float, low: float,
         high: float, residual: torch.Tensor | None, out_dtype: torch.dtype | None) -> torch.Tensor:
    """All of them."""
    library()
    batched = x.dim() == dims + 2
    if not batched:
        if x.dim() != dims + 1:
            raise BadInputError(f"x has {x.dim()} dimensions; {dims + 2} are needed, or {dims + 1} for one image")
        x, residual = x.unsqueeze(0), None if residual is None else residual.unsqueeze(0)
    x, residual = autocast(x, residual)
    wide = wide_weights.wanted(x, weight)
    if not wide:
        weight, = autocast(weight)
        weight = weight.to(x.dtype) if wide_weights.narrow(x, weight) else weight
    step, spacing = spread(stride, dims), spread(dilation, dims)
    lower, upper = sides(padding, x.shape[2:], weight.shape[2:], step, spacing)
    number = names.number(names.ACTIVATIONS, activation, "activation")
    # WHY: the gradient of an activation needs its input, which the fused kernel never writes.
    outside = number and torch.is_grad_enabled() and any(
        t is not None and t.requires_grad for t in (x, weight, bias, residual))
    shape = (step, lower, upper, spacing, transposed, spread(output_padding, dims), groups)
    out_type, last = -1 if out_dtype is None else TYPES[out_dtype], is_last(x) or is_last(weight) and dims > 1
    if wide:
        y = wide_weights.WideWeights.apply(x, weight, bias, residual, shape, out_type, last)
    else:
        y = torch.ops.wavetile.conv(x, weight, bias, residual, *shape, 0 if outside else number, slope, low, high, out_type, last)
    if outside:
        y = ACTIVATIONS[activation](y, slope, low, high)
    return y if batched else y.squeeze(0)


_SHARED = """

    padding is a number, one or a (lower, upper) pair per dimension, "same", "valid" or "causal" (all of it before the
    outermost dimension). activation is one of none, relu, leaky_relu (slope), clamp (low, high), silu, gelu, sigmoid,
    tanh, hardswish, hardsigmoid, elu, softplus, mish and gelu_tanh, and is computed before the result is rounded; residual
    is added before it. fp8 inputs need out_dtype. float32 weights of 16-bit images, as under autocast, have float32 gradients
    that were never rounded to 16 bits. Where a gradient is needed, the activation runs as torch's own. Memory
    format: channels last where x or the filter are, in one dimension where x is a transposed n, l, c tensor.
    """


def _make(dims: int, transposed: bool) -> Any:
    name = f"conv{'_transpose' if transposed else ''}{dims}d"
    if transposed:
        def function(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, stride: Size = 1,
                     padding: Padding = 0, output_padding: Size = 0, groups: int = 1, dilation: Size = 1, *,
                     activation: str = "none", slope: float = 0.01, low: float = 0.0, high: float = 6.0,
                     residual: torch.Tensor | None = None, out_dtype: torch.dtype | None = None) -> torch.Tensor:
            return conv(dims, True, x, weight, bias, stride, padding, output_padding, dilation, groups, activation, slope,
                        low, high, residual, out_dtype)
    else:
        def function(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, stride: Size = 1,
                     padding: Padding = 0, dilation: Size = 1, groups: int = 1, *, activation: str = "none",
                     slope: float = 0.01, low: float = 0.0, high: float = 6.0, residual: torch.Tensor | None = None,
                     out_dtype: torch.dtype | None = None) -> torch.Tensor:
            return conv(dims, False, x, weight, bias, stride, padding, 0, dilation, groups, activation, slope, low, high,
                        residual, out_dtype)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"torch.nn.functional.{name} by Wavetile, with more." + _SHARED
    return function


conv1d, conv2d, conv3d = (_make(dims, False) for dims in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (_make(dims, True) for dims in (1, 2, 3))


def causal_conv1d(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None,
                  seq_idx: torch.Tensor | None = None, initial_states: torch.Tensor | None = None,
                  return_final_states: bool = False, final_states_out: torch.Tensor | None = None,
                  activation: str | None = None) -> Any:
    """A depthwise causal convolution, with the signature of the package causal-conv1d, for filters of any width.

    x is (batch, channels, length), fastest as a transposed (batch, length, channels) tensor; weight (channels, width);
    bias (channels,); initial_states and final_states_out (batch, channels, width - 1). activation is None, "silu" or
    "swish". Gives the result, and with return_final_states the states for the next call as well; gradients pass through
    both states. seq_idx is not there yet and raises.
    """
    library()
    if activation not in (None, "silu", "swish"):
        raise NotImplementedError("activation must be None, silu, or swish")
    if seq_idx is not None:
        raise NotImplementedError("seq_idx is not supported yet; split the sequences instead")
    x, weight = autocast(x, weight)
    wanted = torch.is_grad_enabled() and any(
        t is not None and t.requires_grad for t in (x, weight, bias, initial_states))
    if initial_states is not None:
        initial_states = initial_states.to(x.dtype)
    number = 4 if activation and not wanted else 0
    keep = return_final_states or final_states_out is not None
    if keep and initial_states is None and weight.shape[1] > 1:  # what comes after continues what was before: nothing
        initial_states = x.new_zeros(x.shape[0], weight.shape[1] - 1, x.shape[1]).transpose(1, 2)
    y, after = torch.ops.wavetile.causal_conv(x, weight.unsqueeze(1), bias, initial_states, x.shape[1], 1, number, keep)
    if activation and wanted:
        y = F.silu(y)
    if keep and weight.shape[1] == 1:
        after = x.new_empty(x.shape[0], x.shape[1], 0)
    if final_states_out is not None:
        final_states_out.copy_(after)
        after = final_states_out
    return (y, after) if return_final_states else y
