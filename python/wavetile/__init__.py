# SPDX-License-Identifier: Apache-2.0
"""Wavetile: convolutions by kernels that are written for each problem, on GPUs and on the CPU.

    import numpy as np, wavetile as wt

    device = wt.Device("auto")                            # the first GPU, else the CPU
    problem = wt.Problem("fwd fp32 n2 c16 k32 i28x28 f3x3 p1 +bias+relu")
    plan = device.plan(problem)                           # chosen, compiled, bound: the slow step
    y = plan(x=x, w=w, bias=b)                            # numpy, torch, cupy or jax arrays
    print(plan.kernel, plan.reason)

    y = wt.conv(x, w, stride=2, padding=1)                # or in one line; plans are remembered

Arrays are channels last (n, h, w, c; filters k, h, w, c/g) unless the problem says "nchw". wavetile.torch serves
unchanged PyTorch models, wavetile.jax is for JAX.
"""
from . import _core
from .arrays import DeviceArray, from_bits, to_bits
from .device import Device, Stream, capabilities, devices
from .errors import (BadInputError, CompileError, DeviceError, Error, FileError, InternalError, OutOfMemoryError,
                     UnsupportedError, VerificationError)
from .functional import conv, conv_input_gradient, conv_transpose, conv_weight_gradient
from .plan import Plan, Verification
from .problem import Problem, TensorSpec
from .tuning import export_tuning, import_tuning

__version__: str = _core.version()

__all__ = [
    "BadInputError", "CompileError", "Device", "DeviceArray", "DeviceError", "Error", "FileError", "InternalError",
    "OutOfMemoryError", "Plan", "Problem", "Stream", "TensorSpec", "UnsupportedError", "Verification",
    "VerificationError", "capabilities", "conv", "conv_input_gradient", "conv_transpose", "conv_weight_gradient",
    "devices", "export_tuning", "from_bits", "import_tuning", "to_bits",
]
