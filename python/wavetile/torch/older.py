# SPDX-License-Identifier: Apache-2.0
"""The operators in Python, for torch 2.6 to 2.9, whose stable C interface cannot register kernels.

It stands in the place of libwavetile_torch.so (library.py) and does what python/aten does, slower by some tens of
microseconds a call; under CUDA graphs that vanishes. The kernels that served before are reached by the dispatch key of
a backend that has none of its own, where torch keeps the same functions.
"""
from __future__ import annotations

import json
import threading
from collections import Counter
from typing import Any, Callable, Sequence

import torch

from ..device import Device
from ..errors import Error
from ..names import ACTIVATIONS, LAYOUTS, TYPES as WORDS
from ..plan import Plan
from ..problem import Problem
from .operators import DTYPES, TYPES, output_size

_SHAPE = ("SymInt[] stride, SymInt[] lower, SymInt[] upper, SymInt[] dilation, bool transposed, SymInt[] output_padding, "
          "SymInt groups")
_SCHEMAS = {
    "conv": f"(Tensor x, Tensor w, Tensor? bias, Tensor? residual, {_SHAPE}, int activation, float slope, float low, float high, "
            "int out_type, bool last) -> Tensor",
    "conv_dx": f"(Tensor dy, Tensor w, SymInt[] x_size, {_SHAPE}, bool last) -> Tensor",
    "conv_dw": f"(Tensor x, Tensor dy, SymInt[] w_size, {_SHAPE}, bool bias, int w_type, bool last) -> (Tensor, Tensor)",
    "causal_conv": "(Tensor x, Tensor w, Tensor? bias, Tensor? history, SymInt groups, SymInt dilation, int activation, "
                   "bool new_history) -> (Tensor, Tensor)",
}
_BENCHMARK_SECONDS = 1.0  # as python/aten/plans.cc has it
_TF32, _BENCHMARK, _CAPTURING = 1, 2, 4


class _Declined(Exception):
    """Why Wavetile does not serve a call."""


def suggests_last(tensor: torch.Tensor) -> bool:
    """torch's own rule of what memory format a result should have."""
    sizes, strides = tensor.shape, tensor.stride()
    if len(sizes) not in (4, 5) or strides[1] == 0:
        return False
    least = 0
    for i in (1, *range(len(sizes) - 1, 1, -1), 0):
        if sizes[i] == 0 or strides[i] < least or (i == 0 and least == strides[1]):
            return False
        least = strides[i] * max(1, sizes[i])
    return True


def _dense(tensor: torch.Tensor, last: bool, dtype: torch.dtype) -> torch.Tensor:
    """In memory order and aligned; a copy only where it has to be."""
    tensor = tensor.detach().to(dtype)
    tensor = (tensor.movedim(1, -1) if last and tensor.dim() > 1 else tensor).contiguous()
    tensor = tensor.clone() if tensor.data_ptr() % 16 else tensor
    return tensor.view(torch.uint8) if dtype.itemsize == 1 else tensor  # its DLPack has no float8: the bits travel


def _back(memory: torch.Tensor, last: bool) -> torch.Tensor:
    return memory.movedim(-1, 1) if last and memory.dim() > 1 else memory


class _Request:
    """A convolution's shape, as python/aten/request.h has it."""

    def __init__(self, x: Sequence[int], w: Sequence[int], stride: Any, lower: Any, upper: Any, dilation: Any, transposed: bool,
                 output_padding: Any, groups: int) -> None:
        dims = len(x) - 2
        if len(x) != len(w) or dims not in (1, 2, 3):
            raise _Declined("shapes that do not fit together")
        lists = [list(v) * (dims if len(v) == 1 else 1) for v in (stride, lower, upper, dilation, output_padding)]
        if any(len(v) != dims for v in lists[:4]) or (transposed and len(lists[4]) != dims):
            raise _Declined("lists of another length than the dimensions")
        if groups <= 0:
            raise _Declined("no groups")
        self.stride, self.lower, self.upper, self.dilation, self.output_padding = lists
        self.x, self.w, self.transposed, self.groups, self.dims = list(x), list(w), transposed, groups, dims
        self.k = w[1] * groups if transposed else w[0]
        if x[1] != (w[0] if transposed else w[1] * groups) or x[1] % groups or self.k % groups:
            raise _Declined("shapes that do not fit together")
        if 0 in (*x, *w):
            raise _Declined("empty tensors")
        if min(*self.stride, *self.dilation) < 1 or min(*self.lower, *self.upper) < 0:
            raise _Declined("a stride or padding below 0")
        reach = [self.dilation[i] * (w[2 + i] - 1) + 1 for i in range(dims)]
        if not transposed and any(x[2 + i] + self.lower[i] + self.upper[i] < reach[i] for i in range(dims)):
            raise _Declined("a filter that is larger than its input")
        self.y = output_size(x, w, self.stride, self.lower, self.upper, self.dilation, transposed, self.output_padding, groups)
        if min(self.y[2:]) < 1:
            raise _Declined("an output without pixels")

    def words(self) -> dict[str, Any]:
        words = {"n": self.x[0], "c": self.x[1], "k": self.k, "size": tuple(self.x[2:]), "filter": tuple(self.w[2:]),
                 "groups": self.groups, "stride": tuple(self.stride), "dilation": tuple(self.dilation),
                 "padding": tuple(zip(self.lower, self.upper))}
        if self.transposed:
            words["output_padding"] = tuple(self.output_padding)
        return words


class Older:
    """What library.Library is for newer torch; `c` has its C functions."""

    def __init__(self, flags: Callable[[int], int]) -> None:
        self.path, self.c, self._flags = __file__, self, flags
        self.serving = self.strict = False
        self._lock = threading.Lock()
        self._own = threading.local()
        self._devices: dict[int, Device] = {}
        self._plans: dict[Any, Plan | str] = {}  # a text: why there is none
        self._tuned: set[Any] = set()
        self._calls: Counter[Any] = Counter()
        self._fallbacks: Counter[tuple[str, str]] = Counter()
        self._range: Any = None
        self._overrides: dict[str, torch.library.Library] = {}
        self._library = torch.library.Library("wavetile", "FRAGMENT")
        for name, schema in _SCHEMAS.items():
            self._library.define(name + schema)
            for key in ("CPU", "CUDA"):
                self._library.impl(name, getattr(self, "_" + name), key)

    # What the others call of the C library.
    def override(self, key: str, on: bool) -> None:
        if not on:
            library = self._overrides.pop(key, None)
            if library is not None:
                library._destroy()
        elif key not in self._overrides:
            self._overrides[key] = torch.library.Library("aten", "IMPL")
            for name in ("convolution", "convolution_backward"):
                self._overrides[key].impl(name, getattr(self, "_" + name), key)

    def wavetile_torch_switch(self, serving: int, strict: int) -> None:
        self.serving, self.strict = bool(serving), bool(strict)

    def wavetile_torch_rehearse(self, on: int, seconds: float) -> None:
        self._own.rehearsal = float(seconds) if on else None

    def wavetile_torch_ranges(self, callback: Any) -> None:
        self._range = callback or None

    def wavetile_torch_clear_report(self) -> None:
        with self._lock:
            self._calls.clear()
            self._fallbacks.clear()

    def wavetile_torch_report(self) -> bytes:
        with self._lock:
            plans = [{"problem": plan.problem.text, "device": key[2], "calls": self._calls[key], "kernel": plan.kernel,
                      "reason": plan.reason, "predicted_us": plan.predicted_us, "measured_us": plan.measured_us,
                      "workspace_bytes": plan.workspace_bytes}
                     for key, plan in self._plans.items() if isinstance(plan, Plan)]
            fallbacks = [{"problem": what, "why": why, "calls": calls} for (what, why), calls in self._fallbacks.items()]
        return json.dumps({"plans": plans, "fallbacks": fallbacks}).encode()

    # Plans.
    def _type(self, tensor: torch.Tensor) -> str:
        if tensor.dtype not in TYPES:
            raise _Declined("a type that Wavetile does not have")
        tf32 = tensor.dtype == torch.float32 and self._flags(_index(tensor)) & _TF32
        return "tf32" if tf32 else WORDS[TYPES[tensor.dtype]]

    def _plan(self, direction: str, request: _Request, device: int, last: bool, types: Sequence[str], **fields: Any
              ) -> tuple[Any, Plan | str]:
        words = {**request.words(), **dict(zip(("x_type", "w_type", "y_type"), types)), "layout": LAYOUTS[not last], **fields}
        written = {"fwd": "y_type", "bwd_data": "x_type", "bwd_weight": "w_type"}[direction]
        if words[written] == "tf32":
            words[written] = "fp32"
        key = (direction, request.transposed, device, tuple(sorted(words.items())))
        seconds = getattr(self._own, "rehearsal", None)
        tuning = bool(seconds)
        found = self._plans.get(key)
        if found is None or (tuning and key not in self._tuned):
            made = self._make(direction, request.transposed, device, words, seconds)
            with self._lock:
                found = self._plans[key] = made if tuning else self._plans.get(key, made)
                if tuning:
                    self._tuned.add(key)
        return key, found

    def _make(self, direction: str, transposed: bool, device: int, words: dict[str, Any], seconds: float | None) -> Plan | str:
        try:
            problem = (Problem.transposed if transposed else Problem.create)(direction, **words)
        except Error as error:
            return str(error)
        flags = self._flags(device)
        if flags & _CAPTURING:
            raise RuntimeError(f"no plan for \"{problem.text}\" is ready, and none can be compiled while a CUDA graph is captured; "
                               "call wavetile.torch.prepare(model, inputs), or run the model once, before the capture")
        with self._lock:
            if device not in self._devices:
                self._devices[device] = Device("cpu" if device < 0 else f"gpu:{device}")
        limit = seconds or (_BENCHMARK_SECONDS if flags & _BENCHMARK else 0.0)
        try:
            return self._devices[device].plan(problem, fallback=True, tuning="first-use" if limit else "cached",
                                              tuning_seconds=limit or 10.0)
        except Error as error:
            return str(error)

    def _run(self, found: tuple[Any, Plan | str], arrays: dict[str, torch.Tensor]) -> Any:
        """The result, or a tuple of all, in memory order."""
        key, plan = found
        if isinstance(plan, str):
            raise RuntimeError(f"wavetile cannot run this convolution: {plan}")
        like = next(iter(arrays.values()))
        if getattr(self._own, "rehearsal", None) is not None:
            roles = [plan.problem.output, *(role for role, spec in plan.problem.tensors.items()
                                            if spec.use == "written" and role != plan.problem.output)]
            empty = [like.new_empty(plan.problem.tensors[role].shape, dtype=DTYPES[WORDS.index(plan.problem.tensors[role].type)])
                     for role in roles]
            return empty[0] if len(empty) == 1 else tuple(empty)
        with self._lock:
            self._calls[key] += 1
        more: dict[str, Any] = {}
        if like.device.type == "cuda":  # torch's memory and stream
            more["stream"] = torch.cuda.current_stream(like.device).cuda_stream
            if plan.workspace_bytes:
                more["workspace"] = torch.empty(plan.workspace_bytes, dtype=torch.uint8, device=like.device)
        spec = plan.problem.tensors[plan.problem.output]
        result = DTYPES[WORDS.index(spec.type)]
        if result.itemsize == 1:
            more["out"] = torch.empty(spec.shape, dtype=torch.uint8, device=like.device)
        mark = self._range
        if mark:
            mark(f"wavetile {plan.problem.text}".encode())
        try:
            y = plan(**arrays, **more)
            return y.view(result) if "out" in more else y
        finally:
            if mark:
                mark(None)

    # torch.ops.wavetile.
    def _conv(self, x: Any, w: Any, bias: Any, residual: Any, stride: Any, lower: Any, upper: Any, dilation: Any, transposed: bool,
              output_padding: Any, groups: int, activation: int, slope: float, low: float, high: float, out_type: int, last: bool
              ) -> torch.Tensor:
        request = self._asked(x.shape, w.shape, stride, lower, upper, dilation, transposed, output_padding, groups)
        if residual is not None and list(residual.shape) != request.y:
            raise _refused("a residual of another size than the output")
        if bias is not None and list(bias.shape) != [request.k]:
            raise _refused("a bias of another size than k")
        types = [self._type_or_raise(t) for t in (x, w)]
        types.append(WORDS[out_type] if out_type >= 0 else types[0])
        return self._forward(request, x, w, bias, last, types, residual=residual, activation=ACTIVATIONS[activation], slope=slope,
                             low=low, high=high)

    def _forward(self, request: _Request, x: Any, w: Any, bias: Any, last: bool, types: Sequence[str],
                 residual: Any = None, found: Any = None, **fields: Any) -> torch.Tensor:
        found = found or self._forward_plan(request, x, bias, last, types, residual is not None, **fields)
        into, _ = _roles(request)
        arrays = {into: _dense(x, last, x.dtype), "w": _dense(w, last, w.dtype)}
        if bias is not None:
            arrays["bias"] = _dense(bias, False, _bias_dtype(bias))
        if residual is not None:
            written = types[2] if types[2] != "tf32" else "fp32"
            arrays["residual"] = _dense(residual, last, DTYPES[WORDS.index(written)])
        return _back(self._run(found, arrays), last)

    def _forward_plan(self, request: _Request, x: Any, bias: Any, last: bool, types: Sequence[str], residual: bool = False,
                      **fields: Any) -> Any:
        if bias is not None:
            fields.update(bias=1, bias_type=WORDS[TYPES[_bias_dtype(bias)]])
        if residual:
            fields["residual"] = 1
        return self._plan("fwd", request, _index(x), last, types, **fields)

    def _conv_dx(self, dy: Any, w: Any, x_size: Any, stride: Any, lower: Any, upper: Any, dilation: Any, transposed: bool,
                 output_padding: Any, groups: int, last: bool) -> torch.Tensor:
        request = self._asked(x_size, w.shape, stride, lower, upper, dilation, transposed, output_padding, groups)
        self._fits(dy, request)
        types = [self._type_or_raise(dy), self._type_or_raise(w), self._type_or_raise(dy)]
        return self._input_gradient(self._plan("bwd_data", request, _index(dy), last, types), request, dy, w, last, dy.dtype)

    def _input_gradient(self, found: Any, request: _Request, dy: Any, w: Any, last: bool, dtype: torch.dtype) -> torch.Tensor:
        _, out = _roles(request)
        return _back(self._run(found, {out: _dense(dy, last, dtype), "w": _dense(w, last, w.dtype)}), last)

    def _conv_dw(self, x: Any, dy: Any, w_size: Any, stride: Any, lower: Any, upper: Any, dilation: Any, transposed: bool,
                 output_padding: Any, groups: int, bias: bool, w_type: int, last: bool) -> tuple[torch.Tensor, torch.Tensor]:
        request = self._asked(x.shape, w_size, stride, lower, upper, dilation, transposed, output_padding, groups)
        self._fits(dy, request)
        kind = self._type_or_raise(x)
        types = [kind, WORDS[w_type] if w_type >= 0 else kind, self._type_or_raise(dy)]
        found = self._plan("bwd_weight", request, _index(x), last, types, bias_gradient="y" if bias else "none")
        return self._weight_gradient(found, request, x, dy, bias, last, dy.dtype)

    def _weight_gradient(self, found: Any, request: _Request, x: Any, dy: Any, bias: bool, last: bool, dtype: torch.dtype
                         ) -> tuple[torch.Tensor, torch.Tensor]:
        into, out = _roles(request)
        result = self._run(found, {into: _dense(x, last, x.dtype), out: _dense(dy, last, dtype)})
        dw, db = result if bias else (result, x.new_empty(0, dtype=torch.float32))
        return _back(dw, last), db

    def _causal_conv(self, x: Any, w: Any, bias: Any, history: Any, groups: int, dilation: int, activation: int, new_history: bool
                     ) -> tuple[torch.Tensor, torch.Tensor]:
        if w.dim() != 3:
            raise _refused("a filter that is not (k, c / groups, width)")
        reach = dilation * (w.shape[2] - 1)
        request = self._asked(x.shape, w.shape, [1], [reach], [0], [dilation], False, [0], groups)
        if history is not None and list(history.shape) != [x.shape[0], x.shape[1], reach]:
            raise _refused("a history that is not (n, c, dilation * (width - 1))")
        if history is not None and reach == 0:
            raise _refused("a history for a filter of width 1, which looks at nothing before")
        kind = self._type_or_raise(x)
        keep = new_history and reach > 0
        fields: dict[str, Any] = {"activation": ACTIVATIONS[activation]}
        fields.update({name: 1 for name, on in (("history", history is not None), ("new_history", keep)) if on})
        arrays = {"x": _dense(x, True, x.dtype), "w": _dense(w, True, w.dtype)}
        if bias is not None:
            fields.update(bias=1, bias_type=WORDS[TYPES[_bias_dtype(bias)]])
            arrays["bias"] = _dense(bias, False, _bias_dtype(bias))
        if history is not None:
            arrays["history"] = _dense(history, True, x.dtype)
        result = self._run(self._plan("fwd", request, _index(x), True, (kind, self._type_or_raise(w), kind), **fields), arrays)
        y, after = result if keep else (result, x.new_empty(0))
        return _back(y, True), _back(after, True)

    def _asked(self, *shape: Any) -> _Request:
        try:
            return _Request(*shape)
        except _Declined as why:
            raise _refused(str(why)) from None

    def _type_or_raise(self, tensor: torch.Tensor) -> str:
        try:
            return self._type(tensor)
        except _Declined as why:
            raise _refused(str(why)) from None

    @staticmethod
    def _fits(dy: torch.Tensor, request: _Request) -> None:
        if list(dy.shape) != request.y:
            raise _refused("an output gradient of another size")

    # aten's own.
    def _stock(self, name: str, *arguments: Any) -> Any:
        operator = getattr(torch.ops.aten, name).default
        return operator.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.XLA), *arguments)

    def _decline(self, what: str, x: torch.Tensor, w: torch.Tensor, why: str) -> None:
        text = f"{what} of x {_text(x)} and w {_text(w)}"
        if self.strict and why != "empty tensors":
            raise RuntimeError(f"wavetile.torch is strict and cannot serve {text}: {why}")
        with self._lock:
            self._fallbacks[text, why] += 1

    def _given(self, x: torch.Tensor, w: torch.Tensor, *shape: Any) -> tuple[_Request, bool, list[str]]:
        kind = self._type(x)
        if w.dtype != x.dtype:
            raise _Declined("two types")
        if w.device != x.device:
            raise _Declined("two devices")
        stride, padding, dilation, transposed, output_padding, groups = shape
        request = _Request(x.shape, w.shape, stride, padding, padding, dilation, transposed, output_padding, groups)
        return request, suggests_last(x) or suggests_last(w), [kind] * 3

    @staticmethod
    def _ready(found: tuple[Any, Plan | str]) -> tuple[Any, Plan | str]:
        if isinstance(found[1], str):
            raise _Declined(found[1])
        return found

    def _convolution(self, x: Any, w: Any, bias: Any, *shape: Any) -> torch.Tensor:
        if not self.serving:
            return self._stock("convolution", x, w, bias, *shape)
        try:
            request, last, types = self._given(x, w, *shape)
            if bias is not None:
                if list(bias.shape) != [request.k] or bias.device != x.device:
                    raise _Declined("a bias of another size or device")
                if bias.dtype != x.dtype:
                    raise _Declined("a bias of another type")
            found = self._ready(self._forward_plan(request, x, bias, last, types))
        except _Declined as why:
            self._decline("convolution", x, w, str(why))
            return self._stock("convolution", x, w, bias, *shape)
        return self._forward(request, x, w, bias, last, types, found=found)

    def _convolution_backward(self, dy: Any, x: Any, w: Any, bias_sizes: Any, *rest: Any) -> tuple[Any, Any, Any]:
        *shape, mask = rest
        if not self.serving:
            return self._stock("convolution_backward", dy, x, w, bias_sizes, *rest)
        try:
            request, last, types = self._given(x, w, *shape)
            if list(dy.shape) != request.y or dy.device != x.device or dy.dtype not in TYPES:
                raise _Declined("an output gradient of another size, type or device")
            to_x = self._ready(self._plan("bwd_data", request, _index(x), last, types)) if mask[0] else None
            to_w = self._ready(self._plan("bwd_weight", request, _index(x), last, types,
                                          bias_gradient="y" if mask[2] else "none")) if mask[1] else None
        except _Declined as why:
            self._decline("convolution_backward", x, w, str(why))
            return self._stock("convolution_backward", dy, x, w, bias_sizes, *rest)
        dx = dw = db = None
        if to_x:
            dx = self._input_gradient(to_x, request, dy, w, last, x.dtype)
        if to_w:
            dw, db = self._weight_gradient(to_w, request, x, dy, mask[2], last, x.dtype)
        if mask[2]:
            if not to_w:
                db = dy.float().sum([0, *range(2, dy.dim())])
            db = db.to(x.dtype)
        return dx, dw, db if mask[2] else None


def _roles(request: _Request) -> tuple[str, str]:
    """The roles of input and output: a transposed convolution's input is the tensor y (docs/api.md)."""
    return ("y", "x") if request.transposed else ("x", "y")


def _index(tensor: torch.Tensor) -> int:
    return tensor.device.index if tensor.device.type == "cuda" else -1


def _bias_dtype(bias: torch.Tensor) -> torch.dtype:
    return bias.dtype if bias.dtype in (torch.float16, torch.bfloat16) else torch.float32


def _text(tensor: torch.Tensor) -> str:
    return "(" + ", ".join(map(str, tensor.shape)) + ")"


def _refused(why: str) -> RuntimeError:
    return RuntimeError(f"wavetile cannot run this convolution: {why}")
