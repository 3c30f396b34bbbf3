# SPDX-License-Identifier: Apache-2.0
"""Memory: arrays of a device, the bits of types that numpy lacks, and new outputs in the caller's own framework."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _core, names
from .errors import BadInputError

if TYPE_CHECKING:
    from .device import Device

# What numpy holds the types in; the bits of those that it lacks lie in unsigned integers.
NUMPY_TYPES = {"fp32": np.dtype(np.float32), "tf32": np.dtype(np.float32), "fp16": np.dtype(np.float16),
               "bf16": np.dtype(np.uint16), "e4m3": np.dtype(np.uint8), "e5m2": np.dtype(np.uint8),
               "e2m1": np.dtype(np.uint8), "int8": np.dtype(np.int8), "ue8m0": np.dtype(np.uint8), "ue4m3": np.dtype(np.uint8)}
FRAMEWORK_TYPES = {"fp32": "float32", "tf32": "float32", "fp16": "float16", "bf16": "bfloat16", "e4m3": "float8_e4m3fn",
                   "e5m2": "float8_e5m2", "e2m1": "uint8", "int8": "int8", "ue8m0": "uint8", "ue4m3": "uint8"}


def _packed(shape: tuple[int, ...], type: str) -> tuple[int, ...]:
    """Of numbers that lie two in a byte, the last dimension counts bytes."""
    if type != "e2m1":
        return shape
    if not shape or shape[-1] % 2:
        raise BadInputError(f"e2m1 numbers lie two in a byte; the last dimension of {shape} is not even")
    return (*shape[:-1], shape[-1] // 2)


def to_bits(values: Any, type: str) -> np.ndarray:
    """float32 numbers rounded to a type, to nearest even: float16 or float32 arrays, or bits as uint16 or uint8."""
    source = np.ascontiguousarray(values, np.float32)
    number = names.number(names.TYPES, type, "type")
    target = np.empty(_packed(source.shape, type), NUMPY_TYPES[type])
    _core.convert(number, source, target.view(np.uint8) if target.dtype == np.int8 else target, False)
    return target


def from_bits(values: Any, type: str) -> np.ndarray:
    """The float32 values of what to_bits gave."""
    number = names.number(names.TYPES, type, "type")
    source = np.ascontiguousarray(values)
    if source.dtype.itemsize != NUMPY_TYPES[type].itemsize:
        raise BadInputError(f"{source.dtype} does not hold the bits of {type}")
    shape = (*source.shape[:-1], source.shape[-1] * 2) if type == "e2m1" else source.shape
    target = np.empty(shape, np.float32)
    _core.convert(number, source.view(np.uint8 if source.dtype.itemsize == 1 else source.dtype), target, True)
    return target


class DeviceArray:
    """A dense array in a device's memory, for programs without a framework that has such arrays."""

    def __init__(self, device: Device, shape: Sequence[int], type: str) -> None:
        self.device, self.shape, self.type = device, tuple(shape), type
        names.number(names.TYPES, type, "type")
        self.bytes = int(np.prod(self.shape, dtype=np.int64)) * NUMPY_TYPES[type].itemsize
        self.address = _core.allocate(device._handle, max(self.bytes, 1))

    @classmethod
    def of(cls, device: Device, values: Any, type: str | None = None) -> DeviceArray:
        """A copy of a numpy array. Without `type`, float32 and float16 arrays are what they are."""
        source = np.asarray(values)
        if type is None:
            type = {"float32": "fp32", "float16": "fp16"}.get(source.dtype.name)
            if type is None:
                raise BadInputError(f"an array of {source.dtype} needs a type: one of {', '.join(names.TYPES)}")
        elif source.dtype.itemsize != NUMPY_TYPES[type].itemsize:
            source = to_bits(source, type)
        array = cls(device, source.shape, type)
        _core.copy(device._handle, array.address, np.ascontiguousarray(source).reshape(-1).view(np.uint8), True)
        return array

    def numpy(self) -> np.ndarray:
        """A copy on the host: float32 and float16, or the bits of other types (see from_bits)."""
        self.device.synchronize()
        target = np.empty(self.shape, NUMPY_TYPES[self.type])
        _core.copy(self.device._handle, self.address, target.reshape(-1).view(np.uint8), False)
        return target

    def _interface(self) -> dict[str, Any]:
        return {"version": 3, "shape": self.shape, "data": (self.address, False), "strides": None,
                "typestr": NUMPY_TYPES[self.type].str}

    def __getattr__(self, name: str) -> Any:
        # Only the interface of the memory that it really is.
        kind = self.__dict__["device"].kind if "device" in self.__dict__ else None
        if name == ("__cuda_array_interface__" if kind in ("gpu", "hip") else "__array_interface__"):
            return self._interface()
        raise AttributeError(name)

    def __del__(self) -> None:
        if "address" in self.__dict__:
            _core.release(self.device._handle, self.address)

    def __repr__(self) -> str:
        return f"DeviceArray({self.shape}, {self.type!r}) on {self.device.id}"


def framework_of(array: Any) -> str:
    """The package that an array comes from: "numpy", "torch", "cupy", "jax", ..."""
    root = type(array).__module__.partition(".")[0]
    return "jax" if root == "jaxlib" else root


def empty_like_framework(shape: tuple[int, ...], type: str, device: Device, like: Any) -> Any:
    """A new array for a result, of the framework that an input came from."""
    framework = framework_of(like)
    if framework == "torch":
        torch = sys.modules["torch"]
        dtype = like.dtype if like.dtype.itemsize == NUMPY_TYPES[type].itemsize and not like.dtype.is_floating_point \
            else getattr(torch, FRAMEWORK_TYPES[type])
        return torch.empty(shape, dtype=dtype, device=like.device)
    if framework == "cupy":
        return sys.modules["cupy"].empty(shape, NUMPY_TYPES[type])
    if isinstance(like, DeviceArray) or device.kind in ("gpu", "hip"):
        return DeviceArray(device, shape, type)
    dtype = NUMPY_TYPES[type]
    if framework == "numpy" and like.dtype.name == FRAMEWORK_TYPES[type]:
        dtype = like.dtype  # ml_dtypes' bfloat16
    elif framework == "jax" and type in ("bf16", "e4m3", "e5m2"):
        dtype = np.dtype(getattr(sys.modules["ml_dtypes"], FRAMEWORK_TYPES[type]))
    return np.empty(shape, dtype)


def finish(array: Any, like: Any) -> Any:
    """The result as the caller's framework has it: jax arrays are made from numpy ones, the others are themselves."""
    if "jax" in sys.modules and framework_of(like) == "jax":
        return sys.modules["jax"].numpy.asarray(array)
    return array
