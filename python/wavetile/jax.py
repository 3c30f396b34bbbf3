# SPDX-License-Identifier: Apache-2.0
"""Wavetile for JAX: convolutions as custom calls of XLA, with gradients of any order, under jit and vmap.

    import wavetile.jax as wtj
    y = wtj.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

A plan is made while a function is traced, for the backend that is JAX's default then, and kept for the life of the process:
compiled functions hold its address, so they cannot be exported to another process.
"""
from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, Sequence

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from . import _core, names
from .device import Device
from .errors import UnsupportedError
from .plan import Plan
from .problem import Problem

_TYPES = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}
_TARGET = "wavetile_plan"
_kept: list[Plan] = []  # compiled functions hold addresses of plans


@functools.cache
def _device() -> Device:
    platform = jax.default_backend()
    if platform not in ("cpu", "gpu", "cuda"):
        raise UnsupportedError(f"Wavetile has no JAX backend {platform}; use cpu or cuda")
    jax.ffi.register_ffi_target(_TARGET, _core.xla_handler(), platform="cpu" if platform == "cpu" else "CUDA")
    return Device("cpu" if platform == "cpu" else "gpu:0")


@dataclass(frozen=True)
class _Shape:
    """What every pass of a convolution shares; sizes are x's and w's, channels as `layout` says."""

    x: tuple[int, ...]
    w: tuple[int, ...]
    stride: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    groups: int
    layout: str
    type: str

    def problem(self, direction: str) -> Problem:
        last = self.layout == "channels_last"
        c = self.x[-1] if last else self.x[1]
        return Problem.create(direction, n=self.x[0], c=c, k=self.w[0], size=self.x[1:-1] if last else self.x[2:],
                              filter=self.w[1:-1] if last else self.w[2:], groups=self.groups, stride=self.stride,
                              padding=self.pads, dilation=self.dilation, type=self.type, layout=self.layout)


@functools.lru_cache(maxsize=None)
def _plan(shape: _Shape, direction: str) -> Plan:
    plan = _device().plan(shape.problem(direction), fallback=True)
    _kept.append(plan)
    return plan


def _call(direction: str, shape: _Shape, inputs: dict[str, Any]) -> jax.Array:
    plan = _plan(shape, direction)
    output = plan.problem.output
    spec = plan.problem.tensors[output]
    dtype = next(iter(inputs.values())).dtype
    results = [jax.ShapeDtypeStruct(spec.shape, dtype)]
    if plan.workspace_bytes:
        results.append(jax.ShapeDtypeStruct((plan.workspace_bytes + 256,), jnp.uint8))
    roles = 0
    for i, role in enumerate((*inputs, output)):
        roles |= names.ROLES.index(role) << (4 * i)
    call = jax.ffi.ffi_call(_TARGET, results, vmap_method="sequential")
    return call(*inputs.values(), plan=np.int64(_core.plan_address(plan._handle)), roles=np.int64(roles))[0]


def _batched(function: Any, roles: tuple[str, str], merged: str) -> Any:
    """Under vmap a batch of images joins the images; a batch of filters is taken one by one."""
    @functools.lru_cache(maxsize=None)
    def of_shape(shape: _Shape) -> Any:
        @jax.custom_batching.custom_vmap
        def call(a: jax.Array, b: jax.Array) -> jax.Array:
            return function(shape, a, b)

        @call.def_vmap
        def rule(size: int, batched: list[bool], a: jax.Array, b: jax.Array) -> tuple[jax.Array, bool]:
            if batched == [True, False] and merged:
                joined = a.reshape(-1, *a.shape[2:])
                wide = replace(shape, x=(shape.x[0] * size, *shape.x[1:]))
                y = of_shape(wide)(joined, b)
                return y.reshape(size, -1, *y.shape[1:]), True
            a = a if batched[0] else jnp.broadcast_to(a, (size, *a.shape))
            b = b if batched[1] else jnp.broadcast_to(b, (size, *b.shape))
            return lax.map(lambda pair: call(*pair), (a, b)), True
        return call
    return of_shape


_forward = _batched(lambda shape, x, w: _call("fwd", shape, {"x": x, "w": w}), ("x", "w"), "x")
_input_gradient = _batched(lambda shape, dy, w: _call("bwd_data", shape, {"y": dy, "w": w}), ("y", "w"), "y")
_weight_gradient = _batched(lambda shape, x, dy: _call("bwd_weight", shape, {"x": x, "y": dy}), ("x", "y"), "")


# Each pass is linear in both arguments, so that its derivatives are the other two.
@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _conv(shape: _Shape, x: jax.Array, w: jax.Array) -> jax.Array:
    return _forward(shape)(x, w)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _conv_dx(shape: _Shape, dy: jax.Array, w: jax.Array) -> jax.Array:
    return _input_gradient(shape)(dy, w)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _conv_dw(shape: _Shape, x: jax.Array, dy: jax.Array) -> jax.Array:
    return _weight_gradient(shape)(x, dy)


_conv.defvjp(lambda shape, x, w: (_conv(shape, x, w), (x, w)),
             lambda shape, kept, g: (_conv_dx(shape, g, kept[1]), _conv_dw(shape, kept[0], g)))
_conv_dx.defvjp(lambda shape, dy, w: (_conv_dx(shape, dy, w), (dy, w)),
                lambda shape, kept, g: (_conv(shape, g, kept[1]), _conv_dw(shape, g, kept[0])))
_conv_dw.defvjp(lambda shape, x, dy: (_conv_dw(shape, x, dy), (x, dy)),
                lambda shape, kept, g: (_conv_dx(shape, kept[1], g), _conv(shape, kept[0], g)))


def conv_general_dilated(lhs: jax.Array, rhs: jax.Array, window_strides: Sequence[int],
                         padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None = None,
                         rhs_dilation: Sequence[int] | None = None, dimension_numbers: Any = None,
                         feature_group_count: int = 1, batch_group_count: int = 1, precision: Any = None,
                         preferred_element_type: Any = None) -> jax.Array:
    """jax.lax.conv_general_dilated by Wavetile, in float32, float16 and bfloat16, one to three dimensions.

    Arrays whose channels stand second or last are read as they are; in other orders they are transposed by XLA, as filters
    are. lhs_dilation, batch_group_count and preferred_element_type are refused; precision has no effect: sums are float32.
    """
    dims = lhs.ndim - 2
    if lhs_dilation is not None and any(d != 1 for d in lhs_dilation):
        raise UnsupportedError("lhs_dilation is not supported; use the gradient of a convolution, which is a transposed one")
    if batch_group_count != 1:
        raise UnsupportedError("batch_group_count is not supported; use jax.lax.conv_general_dilated")
    if preferred_element_type is not None and jnp.dtype(preferred_element_type) != lhs.dtype:
        raise UnsupportedError(f"a result of {preferred_element_type} from {lhs.dtype} is not supported")
    if lhs.dtype != rhs.dtype or lhs.dtype.name not in _TYPES or not 1 <= dims <= 3:
        raise UnsupportedError(f"a convolution of {lhs.dtype} {lhs.shape} with {rhs.dtype} {rhs.shape} is not supported")
    order = lax.conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    last = order.lhs_spec == (0, dims + 1, *range(1, dims + 1))  # n, c, then pixels, where they stand
    x = jnp.transpose(lhs, order.lhs_spec)
    w = jnp.transpose(rhs, order.rhs_spec)  # o, i, taps
    dilation = tuple(rhs_dilation or (1,) * dims)
    if isinstance(padding, str):
        reach = [(size - 1) * d + 1 for size, d in zip(w.shape[2:], dilation)]
        padding = lax.padtype_to_pads(x.shape[2:], reach, window_strides, padding)
    if last:
        inward = (0, *range(2, dims + 2), 1)
        x, w = jnp.transpose(x, inward), jnp.transpose(w, inward)
    shape = _Shape(x.shape, w.shape, tuple(int(s) for s in window_strides),
                   tuple((int(a), int(b)) for a, b in padding), dilation, feature_group_count,
                   "channels_last" if last else "channels_first", _TYPES[lhs.dtype.name])
    y = _conv(shape, x, w)
    if last:
        y = jnp.transpose(y, (0, dims + 1, *range(1, dims + 1)))
    return jnp.transpose(y, tuple(int(i) for i in np.argsort(order.out_spec)))


__all__ = ["conv_general_dilated"]
