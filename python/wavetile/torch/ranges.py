# SPDX-License-Identifier: Apache-2.0
"""Convolutions by name in the time line of Nsight Systems."""
from __future__ import annotations

import contextlib
import ctypes
import threading
from typing import Iterator

import torch

from .library import library

_RANGE = ctypes.CFUNCTYPE(None, ctypes.c_char_p)
_lock = threading.Lock()
_wanted = 0


def _mark(name: bytes | None) -> None:
    """What C calls around each convolution."""
    if name is None:
        torch.cuda.nvtx.range_pop()
    else:
        torch.cuda.nvtx.range_push(name.decode())


_callback = _RANGE(_mark)  # kept: a call in flight may still end its range


@contextlib.contextmanager
def ranges() -> Iterator[None]:
    """Inside, every convolution by Wavetile is an NVTX range that is named by its problem ("wavetile fwd bf16 n64 ..."), as
    `nsys profile -t cuda,nvtx` shows. It holds for all threads: torch computes gradients on threads of its own."""
    global _wanted
    c = library().c
    with _lock:
        _wanted += 1
        c.wavetile_torch_ranges(_callback)
    try:
        yield
    finally:
        with _lock:
            _wanted -= 1
            if not _wanted:
                c.wavetile_torch_ranges(_RANGE())
