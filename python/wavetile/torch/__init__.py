# SPDX-License-Identifier: Apache-2.0
"""Wavetile for PyTorch: unchanged models, their convolutions served by Wavetile.

    import wavetile.torch as wtt

    wtt.enable()                                  # every convolution from now on; wtt.disable() ends it
    with wtt.enabled(strict=True):                # or for a while; strict: raise instead of falling back
        loss(model(x)).backward()
    print(wtt.report())                           # each layer: kernel, predicted and measured time, or why not

    wtt.prepare(model, (x,))                      # compile every plan on all cores, before a CUDA graph's capture
    wtt.tune(model, (x,), seconds=120)            # measure the candidates, remember the fastest
    fast = wtt.fuse(model.eval())                 # inference: batch norm folded; bias, residual, activation fused

    y = wtt.conv2d(x, w, b, padding=((0, 1), (0, 1)), activation="silu", residual=r)
    y = wtt.causal_conv1d(x, w, b, activation="silu")
    fast = torch.compile(model, backend=wtt.backend)   # inductor; conv1d of n, l, c tokens without transposes

What Wavetile does not serve (float64, complex numbers, ...) goes to the kernels that torch had before.
"""
from . import nn
from .compilation import backend
from .functional import (causal_conv1d, conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d)
from .fusion import fuse
from .library import libraries
from .preparation import prepare, tune
from .ranges import ranges
from .reporting import Report, clear_report, report
from .switches import disable, enable, enabled, is_enabled

__all__ = ["Report", "backend", "causal_conv1d", "clear_report", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
           "conv_transpose3d", "disable", "enable", "enabled", "fuse", "is_enabled", "libraries", "nn", "prepare", "ranges",
           "report", "tune"]
