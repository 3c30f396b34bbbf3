# SPDX-License-Identifier: Apache-2.0
"""Convolutions in one line. The plans of the shapes that were met are remembered."""
from __future__ import annotations

import functools
from typing import Any, Sequence

import numpy as np

from . import names
from .arrays import NUMPY_TYPES, framework_of
from .device import Device
from .errors import BadInputError
from .plan import Plan
from .problem import Problem, Size

_DTYPE_NAMES = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}


@functools.lru_cache(maxsize=64)
def _device(id: str) -> Device:
    return Device(id)


@functools.lru_cache(maxsize=1024)
def _plan(id: str, transposed: bool, fields: tuple[tuple[str, Any], ...]) -> Plan:
    make = Problem.transposed if transposed else Problem.create
    return _device(id).plan(make(**dict(fields)))


def _device_id(array: Any) -> str:
    """Where an array lies: torch's and cupy's say, others are on the host."""
    device = getattr(array, "device", None)
    if framework_of(array) == "torch" and device is not None and device.type == "cuda":
        return f"gpu:{device.index or 0}"
    if framework_of(array) == "cupy":
        return f"gpu:{device.id}"
    return "cpu"


def _type_of(array: Any, type: str | None) -> str:
    name = str(array.dtype).rpartition(".")[2]
    if type is None:
        if name not in _DTYPE_NAMES:
            raise BadInputError(f"type= must say what the bits of {name} are: one of {', '.join(names.TYPES)}")
        return _DTYPE_NAMES[name]
    return type


def _bias(array: Any) -> dict[str, Any]:
    """The fields of a problem with this bias: an array that is neither float16 nor bfloat16 must be float32."""
    if array is None:
        return {}
    type = _DTYPE_NAMES.get(str(array.dtype).rpartition(".")[2])
    return {"bias": True, "bias_type": type if type in ("fp16", "bf16") else "fp32"}


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, (list, tuple)) else value


def _dense(array: Any) -> Any:
    """numpy views are copied where they are not dense or not aligned; others are the caller's business."""
    if isinstance(array, np.ndarray):
        array = np.ascontiguousarray(array)
        if array.ctypes.data % 16:
            array = array.copy()
    return array


def _sizes(x: Any, layout: str) -> tuple[int, int, tuple[int, ...]]:
    shape = tuple(int(size) for size in x.shape)
    names.number(names.LAYOUTS, layout, "layout")
    if not 3 <= len(shape) <= 5:
        raise BadInputError(f"an array of shape {shape} is no batch of images; 3 to 5 dimensions are needed")
    if layout == "channels_last":
        return shape[0], shape[-1], shape[1:-1]
    return shape[0], shape[1], shape[2:]


def _run(direction: str, transposed: bool, x_shape: tuple[int, int, tuple[int, ...]], w_shape: tuple[int, int, tuple[int, ...]],
         like: Any, device: str | None, type: str | None, groups: int, layout: str, arrays: dict[str, Any],
         out: Any = None, **fields: Any) -> Any:
    n, c, size = x_shape
    k = w_shape[1] * groups if transposed else w_shape[0]
    fields.update(direction=direction, n=n, c=c, k=k, size=size, filter=w_shape[2], groups=groups,
                  type=_type_of(like, type), layout=layout)
    id = device or _device_id(like)
    key = tuple((name, _frozen(value)) for name, value in fields.items())
    try:
        plan = _plan(id, transposed, key)
    except TypeError as error:
        raise BadInputError(str(error)) from None
    return plan(out=out, **{name: _dense(array) for name, array in arrays.items() if array is not None})


def conv(x: Any, w: Any, bias: Any = None, *, stride: Size = 1, padding: Size | str | Sequence[tuple[int, int]] = 0,
         dilation: Size = 1, groups: int = 1, layout: str = "channels_last", activation: str = "none",
         residual: Any = None, type: str | None = None, device: str | None = None, out: Any = None) -> Any:
    """A convolution of x (n, spatial, c) with w (k, spatial, c / groups), in one to three dimensions.

    bias is float32, float16 or bfloat16, one value per output channel; residual is added before the activation. padding
    is a number, one or a (lower, upper) pair per dimension, "same" or "causal". device is where the arrays lie, "cpu" for
    numpy.
    """
    return _run("fwd", False, _sizes(x, layout), _sizes(w, layout), x, device, type, groups, layout,
                {"x": x, "w": w, "bias": bias, "residual": residual}, out, stride=stride, padding=padding,
                dilation=dilation, activation=activation, residual=residual is not None, **_bias(bias))


def conv_input_gradient(dy: Any, w: Any, size: Sequence[int], *, stride: Size = 1,
                        padding: Size | str | Sequence[tuple[int, int]] = 0, dilation: Size = 1, groups: int = 1,
                        layout: str = "channels_last", type: str | None = None, device: str | None = None,
                        out: Any = None) -> Any:
    """The gradient of conv's x, of spatial size `size`, from that of its result."""
    w_shape = _sizes(w, layout)
    return _run("bwd_data", False, (_sizes(dy, layout)[0], w_shape[1] * groups, tuple(size)), w_shape, dy, device, type,
                groups, layout, {"dy": dy, "w": w}, out, stride=stride, padding=padding, dilation=dilation)


def conv_weight_gradient(x: Any, dy: Any, filter: Sequence[int], *, stride: Size = 1,
                         padding: Size | str | Sequence[tuple[int, int]] = 0, dilation: Size = 1, groups: int = 1,
                         layout: str = "channels_last", type: str | None = None, device: str | None = None,
                         bias_gradient: bool = False, out: Any = None) -> Any:
    """The gradient of conv's w, of spatial size `filter`; with bias_gradient also that of its bias, as a pair."""
    x_shape = _sizes(x, layout)
    w_shape = (_sizes(dy, layout)[1], x_shape[1] // groups, tuple(filter))
    return _run("bwd_weight", False, x_shape, w_shape, x, device, type, groups, layout, {"x": x, "dy": dy}, out,
                stride=stride, padding=padding, dilation=dilation, bias_gradient="y" if bias_gradient else "none")


def conv_transpose(x: Any, w: Any, bias: Any = None, *, stride: Size = 1,
                   padding: Size | Sequence[tuple[int, int]] = 0, output_padding: Size = 0, dilation: Size = 1,
                   groups: int = 1, layout: str = "channels_last", activation: str = "none", type: str | None = None,
                   device: str | None = None, out: Any = None) -> Any:
    """A transposed convolution of x (n, spatial, c) with w (c, spatial, k / groups)."""
    return _run("fwd", True, _sizes(x, layout), _sizes(w, layout), x, device, type, groups, layout,
                {"input": x, "w": w, "bias": bias}, out, stride=stride, padding=padding, output_padding=output_padding,
                dilation=dilation, activation=activation, **_bias(bias))


__all__ = ["conv", "conv_input_gradient", "conv_transpose", "conv_weight_gradient", "NUMPY_TYPES"]
