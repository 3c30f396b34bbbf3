# SPDX-License-Identifier: Apache-2.0
"""libwavetile_torch.so: its operators in torch's dispatcher, and the kernels that served before."""
from __future__ import annotations

import ctypes
import pathlib
import warnings
from typing import Any

import torch

from .. import errors

_FLAGS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
_TF32, _BENCHMARK, _CAPTURING = 1, 2, 4
_STOCK = {"convolution": "stock_convolution", "convolution_backward": "stock_convolution_backward"}


def tf32_allowed() -> bool:
    """Whether torch's flags let float32 convolutions on a GPU use tf32: the newer settings, from the closest to the widest,
    and where none says, the older one."""
    cudnn = torch.backends.cudnn
    for owner in (getattr(cudnn, "conv", None), cudnn, torch.backends):
        precision = getattr(owner, "fp32_precision", "none")
        if precision in ("tf32", "ieee"):
            return precision == "tf32"
    try:
        return cudnn.allow_tf32
    except RuntimeError:  # torch refuses to read it once the newer ones were used
        return False


def _read_flags(device: int) -> int:
    """What C asks for through a callback, which no exception may leave."""
    flags = 0
    if device < 0:  # the CPU
        return flags
    try:
        flags |= _TF32 if tf32_allowed() else 0
        flags |= _BENCHMARK if torch.backends.cudnn.benchmark else 0
        if torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
            flags |= _CAPTURING
    except Exception as error:  # noqa: BLE001
        warnings.warn(f"wavetile.torch could not read torch's flags: {error}", stacklevel=2)
    return flags


class Library:
    """The loaded library, once per process."""

    def __init__(self) -> None:
        self.path = pathlib.Path(__file__).resolve().parent.parent / "libwavetile_torch.so"
        if not self.path.exists():  # a build tree: the package's files are links into the sources
            self.path = pathlib.Path(__import__("wavetile").__file__).parent / "libwavetile_torch.so"
        self.c = ctypes.CDLL(str(self.path))
        for name in ("load", "override", "report"):
            getattr(self.c, "wavetile_torch_" + name).restype = ctypes.c_char_p
        self.c.wavetile_torch_rehearse.argtypes = [ctypes.c_int, ctypes.c_double]
        self._flags = _FLAGS(lambda device: _read_flags(device))  # kept: C calls it for the life of the process
        self.check(self.c.wavetile_torch_load(self._flags))
        self._stock: dict[str, torch.library.Library] = {}
        self._definitions = torch.library.Library("wavetile", "FRAGMENT")
        for name, stock in _STOCK.items():
            schema = str(getattr(torch.ops.aten, name).default._schema).split("::", 1)[1]
            self._definitions.define(stock + schema[schema.index("("):])

    @staticmethod
    def check(text: bytes) -> None:
        if text:
            raise errors.Error(text.decode())

    def override(self, key: str, on: bool) -> None:
        """Puts our kernels in the place of aten's for a dispatch key, or takes them away."""
        if on and key not in self._stock:
            self._stock[key] = self._keep_stock(key)
        self.check(self.c.wavetile_torch_override(key.encode(), int(on)))

    def _keep_stock(self, key: str) -> torch.library.Library:
        library = torch.library.Library("wavetile", "IMPL")
        for name, stock in _STOCK.items():
            kernel = torch.library.get_kernel(f"aten::{name}", key)
            results = len(getattr(torch.ops.aten, name).default._schema.returns)
            library.impl(stock, self._stock_call(kernel, results), key, with_keyset=True)
        return library

    def _stock_call(self, kernel: Any, results: int) -> Any:
        def call(keys: Any, *arguments: Any) -> Any:
            try:
                return kernel.call_boxed(keys, *arguments)
            except Exception as error:  # noqa: BLE001 - the text goes around torch's C interface, which would lose it
                self.c.wavetile_torch_set_error((str(error) or type(error).__name__).encode())
                nothing = torch.empty(0)
                return nothing if results == 1 else (nothing,) * results
        return call


_library: Any = None


def _load() -> Any:
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version >= (2, 10):
        return Library()
    if version < (2, 6):
        raise errors.UnsupportedError(f"wavetile.torch needs torch 2.6 or newer, and this is {torch.__version__}")
    from .older import Older
    return Older(lambda device: _read_flags(device))


def library() -> Any:
    """The library, loaded when first needed: a Library, or an Older where torch is before 2.10."""
    global _library
    if _library is None:
        _library = _load()
        from . import operators
        operators.register()
    return _library


def libraries() -> dict[str, str]:
    """Where the binaries lie, for bug reports."""
    return {"torch": torch.__version__, "wavetile": str(library().path)}
