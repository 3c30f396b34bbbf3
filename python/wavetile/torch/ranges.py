# SPDX-License-Identifier: Apache-2.0
"""Convolutions by name in the time line of Nsight Systems and of torch's profiler."""
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


_open = threading.local()  # this thread's events of torch's profiler that have begun


def _mark(name: bytes | None) -> None:
    """What C calls around each convolution."""
    if name is None:
        event = _open.events.pop()
        if event is not None:
            event.__exit__(None, None, None)
        torch.cuda.nvtx.range_pop()
        return
    torch.cuda.nvtx.range_push(name.decode())
    event = None
    if torch.autograd._profiler_enabled():
        # WHY not record_function: that is a range of the user's, to which the profiler gives no kernels.
        event = torch._C._profiler._RecordFunctionFast(name.decode())
        event.__enter__()
    _open.__dict__.setdefault("events", []).append(event)


_callback = _RANGE(_mark)  # kept: a call in flight may still end its range


@contextlib.contextmanager
def ranges() -> Iterator[None]:
    """Inside, every convolution by Wavetile is an NVTX range that is named by its problem ("wavetile fwd bf16 n64 ..."), as
    `nsys profile -t cuda,nvtx` shows, and an operator of that name under torch.profiler. It holds for all threads: torch computes gradients on threads of its own."""
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
