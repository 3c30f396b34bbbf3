# SPDX-License-Identifier: Apache-2.0
"""torch.nn's convolutions by Wavetile, with epilogues and paddings of two sides. Parameters and state dictionaries are
torch.nn's own."""
from __future__ import annotations

from typing import Any

import torch
from torch.nn.modules import conv as stock

from . import functional


class _Convolution:
    """What the modules share: an epilogue after torch.nn's own arguments."""

    def __init__(self, *arguments: Any, padding: Any = 0, activation: str = "none", slope: float = 0.01, low: float = 0.0,
                 high: float = 6.0, **words: Any) -> None:
        super().__init__(*arguments, **words)  # type: ignore[call-arg]
        if self.padding_mode != "zeros":  # type: ignore[attr-defined]
            raise NotImplementedError(f"padding_mode={self.padding_mode!r} is not supported; use 'zeros'")  # type: ignore
        self.sides = padding
        self.activation, self.slope, self.low, self.high = activation, slope, low, high

    def forward(self, x: torch.Tensor, residual: torch.Tensor | None = None) -> torch.Tensor:
        """The convolution of x; residual is added before the activation."""
        module: Any = self
        function = getattr(functional, f"conv{'_transpose' if module.transposed else ''}{len(module.kernel_size)}d")
        words = dict(stride=module.stride, padding=self.sides, dilation=module.dilation, groups=module.groups,
                     activation=self.activation, slope=self.slope, low=self.low, high=self.high, residual=residual)
        if module.transposed:
            words["output_padding"] = module.output_padding
        return function(x, module.weight, module.bias, **words)

    def extra_repr(self) -> str:
        text = super().extra_repr()  # type: ignore[misc]
        return f"{text}, padding={self.sides}, activation={self.activation}"


def _like(module: type, name: str) -> type:
    return type(name, (_Convolution, module), {"__doc__": f"torch.nn.{name} by Wavetile.", "__module__": __name__})


Conv1d, Conv2d, Conv3d = (_like(getattr(stock, f"Conv{d}d"), f"Conv{d}d") for d in (1, 2, 3))
ConvTranspose1d, ConvTranspose2d, ConvTranspose3d = (
    _like(getattr(stock, f"ConvTranspose{d}d"), f"ConvTranspose{d}d") for d in (1, 2, 3))


def from_stock(module: torch.nn.Module, **epilogue: Any) -> torch.nn.Module:
    """A Wavetile module over the same parameters as one of torch.nn's."""
    made = globals()[type(module).__name__](
        module.in_channels, module.out_channels, module.kernel_size, stride=module.stride, dilation=module.dilation,
        groups=module.groups, bias=module.bias is not None, device="meta", dtype=module.weight.dtype,
        padding_mode=module.padding_mode, padding=module.padding,
        **({"output_padding": module.output_padding} if module.transposed else {}), **epilogue)
    made.weight, made.bias = module.weight, module.bias
    return made.train(module.training)


class CausalConv1d(torch.nn.Conv1d):
    """A depthwise causal convolution over (batch, channels, length), by causal_conv1d."""

    def __init__(self, channels: int, width: int, bias: bool = True, activation: str | None = None, **words: Any) -> None:
        super().__init__(channels, channels, width, groups=channels, bias=bias, **words)
        self.activation = activation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.causal_conv1d(x, self.weight.squeeze(1), self.bias, activation=self.activation)
