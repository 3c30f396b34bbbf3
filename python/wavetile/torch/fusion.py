# SPDX-License-Identifier: Apache-2.0
"""Inference with fewer passes over memory: batch norm folded into the filter; bias, residual and activation fused."""
from __future__ import annotations

import copy
import operator
from typing import Any

import torch
import torch.fx
from torch.nn import functional as F
from torch.nn.modules import conv as stock
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.utils.fusion import fuse_conv_bn_eval

from . import nn as ours
from .library import library

_STOCK = (stock.Conv1d, stock.Conv2d, stock.Conv3d, stock.ConvTranspose1d, stock.ConvTranspose2d, stock.ConvTranspose3d)
_ADDS = (operator.add, operator.iadd, torch.add)
_GELUS = {"none": "gelu", "tanh": "gelu_tanh"}
_SOFTPLUS_END = 17  # from here on softplus(x) is x in fp32, as torch has it beyond its threshold


def _activation(node: torch.fx.Node, modules: dict[str, torch.nn.Module]) -> dict[str, Any] | None:
    """The epilogue that a node is, by our names; None for any other node."""
    if node.op == "call_module":
        module = modules[node.target]
        simple = {torch.nn.ReLU: "relu", torch.nn.SiLU: "silu", torch.nn.Sigmoid: "sigmoid", torch.nn.Tanh: "tanh",
                  torch.nn.Hardswish: "hardswish", torch.nn.Hardsigmoid: "hardsigmoid", torch.nn.Mish: "mish"}
        if type(module) in simple:
            return {"activation": simple[type(module)]}
        if type(module) is torch.nn.GELU:
            return {"activation": _GELUS[module.approximate]}
        if type(module) is torch.nn.ELU and module.alpha == 1:
            return {"activation": "elu"}
        if type(module) is torch.nn.Softplus and module.beta == 1 and module.threshold >= _SOFTPLUS_END:
            return {"activation": "softplus"}
        if type(module) is torch.nn.ReLU6:
            return {"activation": "clamp", "low": 0.0, "high": 6.0}
        if type(module) is torch.nn.LeakyReLU:
            return {"activation": "leaky_relu", "slope": module.negative_slope}
        return None
    if node.op in ("call_function", "call_method") and len(node.args) == 1:
        simple = {F.relu: "relu", torch.relu: "relu", "relu": "relu", F.silu: "silu", torch.sigmoid: "sigmoid",
                  F.sigmoid: "sigmoid", "sigmoid": "sigmoid", torch.tanh: "tanh", F.tanh: "tanh", "tanh": "tanh",
                  F.hardswish: "hardswish", F.hardsigmoid: "hardsigmoid", F.mish: "mish", F.softplus: "softplus"}
        if node.target in simple and set(node.kwargs) <= {"inplace"}:
            return {"activation": simple[node.target]}
        if node.target is F.elu and set(node.kwargs) <= {"alpha", "inplace"} and node.kwargs.get("alpha", 1.0) == 1:
            return {"activation": "elu"}
        if node.target is F.gelu and set(node.kwargs) <= {"approximate"}:
            return {"activation": _GELUS[node.kwargs.get("approximate", "none")]}
    return None


class _Tracer(torch.fx.Tracer):
    """Modules that cannot be traced stay whole."""

    def __init__(self, leaves: tuple[type, ...]) -> None:
        super().__init__()
        self.leaves = leaves

    def is_leaf_module(self, module: torch.nn.Module, name: str) -> bool:
        return isinstance(module, self.leaves) or super().is_leaf_module(module, name)


def _alone(node: Any) -> bool:
    return isinstance(node, torch.fx.Node) and len(node.users) == 1


def _replace(graph: torch.fx.GraphModule, name: str, module: torch.nn.Module) -> None:
    parent, _, leaf = name.rpartition(".")
    setattr(graph.get_submodule(parent), leaf, module)


def _drop_idle(graph: torch.fx.GraphModule) -> int:
    """Takes out what does nothing in inference and would stand between a convolution and what follows it."""
    count = 0
    modules = dict(graph.named_modules())
    for node in list(graph.graph.nodes):
        if node.op == "call_module":
            kind = type(modules[node.target]).__name__
            idle = kind == "Identity" or kind.startswith(("Dropout", "StochasticDepth"))
        else:
            name = getattr(node.target, "__name__", "") if node.op == "call_function" else ""
            training = node.kwargs.get("training", node.args[-1] if node.args else None)
            idle = name in ("stochastic_depth", "dropout") and training is False
        if idle:
            node.replace_all_uses_with(node.args[0])
            graph.graph.erase_node(node)
            count += 1
    return count


def _fold_batch_norms(graph: torch.fx.GraphModule) -> int:
    count = 0
    for node in list(graph.graph.nodes):
        modules = dict(graph.named_modules())
        if node.op != "call_module" or not isinstance(modules[node.target], _BatchNorm):
            continue
        source = node.args[0]
        if not (_alone(source) and source.op == "call_module" and isinstance(modules[source.target], _STOCK)):
            continue
        norm, conv = modules[node.target], modules[source.target]
        if norm.running_mean is None or sum(n.target == source.target for n in graph.graph.nodes) > 1:
            continue
        _replace(graph, source.target, fuse_conv_bn_eval(conv, norm, conv.transposed))
        node.replace_all_uses_with(source)
        graph.graph.erase_node(node)
        count += 1
    return count


def _is_ours(graph: torch.fx.GraphModule, node: Any) -> bool:
    return _alone(node) and node.op == "call_module" and isinstance(graph.get_submodule(node.target), ours._Convolution)


def _swap(graph: torch.fx.GraphModule) -> int:
    count = 0
    for name, module in list(graph.named_modules()):
        if type(module) in _STOCK and module.padding_mode == "zeros":
            _replace(graph, name, ours.from_stock(module))
            count += 1
    return count


def _fuse_residuals(graph: torch.fx.GraphModule) -> int:
    count = 0
    order = {node: i for i, node in enumerate(graph.graph.nodes)}
    for node in list(graph.graph.nodes):
        if node.op != "call_function" or node.target not in _ADDS or len(node.args) != 2 or node.kwargs:
            continue
        # WHY the later one: its other operand exists by then.
        for conv, other in sorted((node.args, node.args[::-1]), key=lambda pair: -order.get(pair[0], -1)):
            if not _is_ours(graph, conv) or not isinstance(other, torch.fx.Node) or other is conv or conv.kwargs:
                continue
            with graph.graph.inserting_before(node):
                fused = graph.graph.call_module(conv.target, conv.args, {"residual": other})
            node.replace_all_uses_with(fused)
            graph.graph.erase_node(node)
            graph.graph.erase_node(conv)
            order[fused] = order[node]
            count += 1
            break
    return count


def _fuse_activations(graph: torch.fx.GraphModule) -> int:
    count = 0
    for node in list(graph.graph.nodes):
        epilogue = _activation(node, dict(graph.named_modules()))
        source = node.args[0] if node.args else None
        if epilogue is None or not _is_ours(graph, source):
            continue
        module = graph.get_submodule(source.target)
        if module.activation != "none" or sum(n.target == source.target for n in graph.graph.nodes) > 1:
            continue
        for name, value in epilogue.items():
            setattr(module, name, value)
        node.replace_all_uses_with(source)
        graph.graph.erase_node(node)
        count += 1
    return count


def fuse(model: torch.nn.Module, *, leaves: tuple[type, ...] = ()) -> torch.fx.GraphModule:
    """The model for inference: batch norms folded into the convolutions before them, convolutions by Wavetile, and what
    follows them (the residual's addition, the activation) in their epilogues.

    The model must be in eval mode and traceable by torch.fx; `leaves` are classes of modules whose forward is not, which
    stay as they are. The model given is not changed. `.fused` of the result counts what was done.

    A residual is only fused where it has the convolution's own size: one that would be broadcast raises when it is run.
    """
    if model.training:
        raise ValueError("fuse() is for inference; call model.eval() first")
    library()
    root = copy.deepcopy(model)
    graph = torch.fx.GraphModule(root, _Tracer(leaves).trace(root))
    _drop_idle(graph)
    counts = {"batch_norms": _fold_batch_norms(graph), "convolutions": _swap(graph), "residuals": _fuse_residuals(graph),
              "activations": _fuse_activations(graph)}
    graph.graph.lint()
    graph.delete_all_unused_submodules()
    graph.recompile()
    graph.fused = counts
    return graph.eval()
