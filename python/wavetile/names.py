# SPDX-License-Identifier: Apache-2.0
"""The words for the C API's enumerations, in the order of their numbers."""
from .errors import BadInputError

DIRECTIONS = ("fwd", "bwd_data", "bwd_weight")
TYPES = ("fp32", "tf32", "fp16", "bf16", "e4m3", "e5m2", "e2m1", "int8", "ue8m0", "ue4m3")
LAYOUTS = ("channels_last", "channels_first")
ACTIVATIONS = ("none", "relu", "leaky_relu", "clamp", "silu", "gelu", "sigmoid", "tanh", "hardswish", "hardsigmoid", "elu",
               "softplus", "mish", "gelu_tanh")
SCALES = ("none", "mx", "nv")
PADDINGS = ("explicit", "same", "valid", "causal")
BIAS_GRADIENTS = ("none", "y", "x")
TUNINGS = ("off", "cached", "first-use")
USES = ("unused", "read", "written")
KINDS = ("cpu", "gpu", "simulator", "hip")
ROLES = ("x", "w", "y", "scale", "bias", "residual", "amax", "bias_gradient", "history", "new_history", "aux0", "aux1",
         "aux2", "aux3", "x_scales", "w_scales")
CAPABILITIES = ("cuda_driver", "nvrtc", "host_compiler", "clang_amd", "onednn", "hip")


def number(words: tuple[str, ...], word: str, what: str) -> int:
    """The number of a word, or a BadInputError that lists the choices."""
    try:
        return words.index(word)
    except ValueError:
        raise BadInputError(f"{what}={word!r} is no choice; use one of {', '.join(words)}") from None
