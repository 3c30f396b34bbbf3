# SPDX-License-Identifier: Apache-2.0
"""torch.compile(model, backend=wavetile.torch.backend): inductor, after one-dimensional convolutions were recognised.

torch has no channels-last format in one dimension, so a convolution of n, l, c tokens is written between two transposes,
and every compiler believes that its memory is n, c, l: two passes over memory that nobody wanted. Here

    conv1d(x.transpose(1, 2), w, padding=k - 1)[..., :l].transpose(1, 2)

becomes one convolution on x as it lies, causal where only the first l results are used; a module of wavetile.torch.nn
or of fuse() too.

The other thing that inductor cannot know: in which memory format our operators want their tensors. It would make each of
them as an eager step has it, often channels first after a norm, and the operator would copy it; here it writes channels last
at once.
"""
from __future__ import annotations

import functools
import operator
from typing import Any, Callable

import torch
import torch.fx

from . import functional
from .library import library

_CONV1D = (torch.conv1d, torch.nn.functional.conv1d)
_NAMES = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
_DEFAULTS = {"bias": None, "stride": 1, "padding": 0, "dilation": 1, "groups": 1}


def conv1d_last(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, stride: Any, lower: int, upper: int,
                dilation: Any, groups: int) -> torch.Tensor:
    """What such a convolution becomes: n, c, l by name, n, l, c in memory."""
    x, weight = functional.autocast(x, weight)
    return torch.ops.wavetile.conv(x, weight, bias, None, functional.spread(stride, 1), [lower], [upper],
                                   functional.spread(dilation, 1), False, [0], groups, 0, 0.01, 0.0, 6.0, -1, True)


def _swaps(node: Any) -> bool:
    """x.transpose(1, 2) of three dimensions, in any of its spellings."""
    if not isinstance(node, torch.fx.Node):
        return False
    named = (node.op == "call_method" and node.target in ("transpose", "swapaxes", "mT")) or (
        node.op == "call_function" and node.target in (torch.transpose, torch.swapaxes))
    if named and len(node.args) == 3:
        return {axis % 3 if isinstance(axis, int) else axis for axis in node.args[1:]} == {1, 2}
    permuted = (node.op == "call_method" and node.target == "permute") or (
        node.op == "call_function" and node.target is torch.permute)
    if permuted:
        order = node.args[1] if len(node.args) == 2 else node.args[1:]
        return tuple(order) == (0, 2, 1)
    return False


def _kept(node: torch.fx.Node) -> int | None:
    """How many results a node [..., :n] or [:, :, :n] keeps."""
    if node.op != "call_function" or node.target is not operator.getitem or not isinstance(node.args[1], tuple):
        return None
    *before, last = node.args[1]
    whole = before == [Ellipsis] or before == [slice(None)] * 2
    if whole and isinstance(last, slice) and last.start is None and last.step is None and isinstance(last.stop, int):
        return last.stop
    return None


def _causal(node: torch.fx.Node, length: int, lower: int, upper: int, reach: int, stride: list[int]) -> bool:
    """Whether all that is used of a convolution with `lower` and `upper` padding sees no later token than its own."""
    kept = [_kept(user) == length for user in node.users]
    return lower == upper == reach and stride == [1] and bool(kept) and all(kept)


def _value(node: Any) -> Any:
    return node.meta.get("example_value") if isinstance(node, torch.fx.Node) else None


def recognise(graph: torch.fx.GraphModule) -> int:
    """Replaces conv1d of transposed tensors; how many."""
    count = 0
    for node in list(graph.graph.nodes):
        if node.op != "call_function" or node.target not in _CONV1D:
            continue
        given = {**_DEFAULTS, **dict(zip(_NAMES, node.args)), **node.kwargs}
        x, weight = given["input"], _value(given["weight"])
        if not _swaps(x) or weight is None or isinstance(given["padding"], str) or not _served(_value(x), weight):
            continue
        (pad,) = functional.spread(given["padding"], 1)
        lower, upper = pad, pad
        slices = list(node.users)
        reach = functional.spread(given["dilation"], 1)[0] * (weight.shape[2] - 1)
        causal = _causal(node, _value(x).shape[2], lower, upper, reach, functional.spread(given["stride"], 1))
        if causal:
            upper = 0
        with graph.graph.inserting_before(node):
            new = graph.graph.call_function(conv1d_last, (x, given["weight"], given["bias"], given["stride"], lower, upper,
                                                          given["dilation"], given["groups"]))
        for old in ([*slices, node] if causal else [node]):
            old.replace_all_uses_with(new)
            graph.graph.erase_node(old)
        count += 1
    count += _recognise_own(graph)
    if count:
        graph.graph.lint()
        graph.recompile()
    return count


def _recognise_own(graph: torch.fx.GraphModule) -> int:
    """The same of our own operator, whose memory is right already: what is left is to compute no result that is not used."""
    count = 0
    for node in list(graph.graph.nodes):
        if node.target not in (torch.ops.wavetile.conv, torch.ops.wavetile.conv.default) or len(node.args) != 17:
            continue
        x, w, _, residual, stride, lower, upper, dilation, transposed = node.args[:9]
        x, w = _value(x), _value(w)
        if x is None or w is None or x.dim() != 3 or residual is not None or transposed:
            continue
        if not _causal(node, x.shape[2], lower[0], upper[0], dilation[0] * (w.shape[2] - 1), list(stride)):
            continue
        node.args = (*node.args[:6], [0], *node.args[7:])
        for old in list(node.users):
            old.replace_all_uses_with(node)
            graph.graph.erase_node(old)
        count += 1
    return count


def _channels_last(node: Any, *arguments: Any, **words: Any) -> Any:
    """Inductor's constraint on the tensors of our operators whose last argument says channels last."""
    from torch._inductor import ir
    from torch._inductor.lowering import constrain_to_fx_strides
    if words or arguments[-1] is not True:
        return constrain_to_fx_strides(node, *arguments, **words)

    def last(value: Any) -> Any:
        dims = len(value.get_size()) if isinstance(value, ir.IRNode) else 0
        # The innermost is 0: channels; then the pixels, the images outermost.
        return ir.ExternKernel.require_stride_order(value, [dims - 1, 0, *range(dims - 2, 0, -1)]) if dims > 2 else value
    return tuple(last(value) for value in arguments), words


@functools.cache
def _tell_inductor() -> None:
    """Once; importing inductor takes seconds."""
    from torch._inductor.lowering import make_fallback
    for name in ("conv", "conv_dx", "conv_dw"):
        make_fallback(getattr(torch.ops.wavetile, name).default, layout_constraint=_channels_last, warn=False)


def _served(x: Any, weight: Any) -> bool:
    types = (torch.float32, torch.float16, torch.bfloat16)
    return x is not None and x.dtype in types and weight.dtype in types and x.device.type in ("cpu", "cuda")


def backend(graph: torch.fx.GraphModule, inputs: list[Any], *, compiler: Callable[..., Any] | None = None) -> Any:
    """A backend for torch.compile: recognises convolutions of n, l, c tokens, then compiles with inductor. Other convolutions
    are inductor's, which wavetile.torch.enable() serves."""
    library()
    recognise(graph)
    if compiler is None:
        from torch._inductor.compile_fx import compile_fx
        _tell_inductor()
        compiler = compile_fx
    return compiler(graph, inputs)
