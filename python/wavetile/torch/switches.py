# SPDX-License-Identifier: Apache-2.0
"""Serving aten's convolutions, on and off."""
from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from typing import Iterator

import torch

from .library import library


@dataclass
class _State:
    serving: bool = False
    strict: bool = False


_state = _State()
_lock = threading.Lock()


def _set(serving: bool, strict: bool) -> None:
    binary = library()
    if serving:
        binary.override("CPU", True)
        if torch.version.cuda is not None:  # AMD's torch has the same dispatch key, and another runtime
            binary.override("CUDA", True)
    binary.c.wavetile_torch_switch(int(serving), int(strict))
    if not serving:
        for key in ("CPU", "CUDA"):
            binary.override(key, False)
    _state.serving, _state.strict = serving, strict


def enable(*, strict: bool = False) -> None:
    """Serves every convolution of this process by Wavetile, forward and backward, on the CPU and on NVIDIA GPUs.

    With strict, a convolution that Wavetile cannot serve raises, instead of going to torch's own kernel. It holds for all
    threads: torch computes gradients on threads of its own. Models that torch.compile has compiled are served too.
    """
    with _lock:
        _set(True, strict)


def disable() -> None:
    """Gives torch its own kernels back."""
    with _lock:
        if _state.serving:
            _set(False, False)


def is_enabled() -> bool:
    """Whether convolutions are served now."""
    return _state.serving


@contextlib.contextmanager
def enabled(*, strict: bool = False) -> Iterator[None]:
    """enable() inside a `with`; what held before holds after it. Like enable() it is the whole process's."""
    with _lock:
        before = (_state.serving, _state.strict)
        _set(True, strict)
    try:
        yield
    finally:
        with _lock:
            _set(*before)
