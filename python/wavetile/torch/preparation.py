# SPDX-License-Identifier: Apache-2.0
"""Plans before they are needed: compiled on all cores, or tuned."""
from __future__ import annotations

import contextlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Iterator

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .library import library
from .switches import enabled

_ATEN = {torch.ops.aten.convolution.default, torch.ops.aten.convolution_backward.default}


class _Recorder(TorchDispatchMode):
    """Notes the arguments of every convolution that is called under it."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), words: Any = None) -> Any:
        if function in _ATEN or getattr(function, "namespace", "") == "wavetile":
            facts = tuple((tuple(a.shape), a.stride(), a.dtype, a.device) if isinstance(a, torch.Tensor)
                          else tuple(a) if isinstance(a, (list, tuple)) else a for a in arguments)
            self.calls.setdefault((function, facts), (function, arguments))
        return function(*arguments, **(words or {}))


@contextlib.contextmanager
def _unchanged(model: torch.nn.Module) -> Iterator[None]:
    """Gives gradients and buffers (the statistics of batch norms) back as they were."""
    gradients = [(parameter, parameter.grad) for parameter in model.parameters()]
    buffers = [(buffer, buffer.clone()) for buffer in model.buffers()]
    random = torch.random.get_rng_state()
    try:
        yield
    finally:
        torch.random.set_rng_state(random)
        for parameter, gradient in gradients:
            parameter.grad = gradient
        with torch.no_grad():
            for buffer, copy in buffers:
                buffer.copy_(copy)


def record(model: torch.nn.Module, inputs: Any, *, backward: bool | None = None) -> list[tuple[Any, ...]]:
    """The distinct convolutions of a step of the model, forward and backward, with their arguments. Convolutions and
    everything else are only traced (fake tensors): nothing is computed."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    backward = model.training if backward is None else backward
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    # WHY before the recorder: a fake tensor of a parameter must be one and the same for all of the step.
    with _unchanged(model), fake:
        recorder = _Recorder()
        arguments = [fake.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in inputs]
        state = {name: fake.from_tensor(t) for name, t in
                 [*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False)]}
        with recorder, torch.set_grad_enabled(backward):
            result = torch.func.functional_call(model, state, tuple(arguments))
            if backward:
                _scalar(result).backward()
    return list(recorder.calls.values())


def _scalar(result: Any) -> torch.Tensor:
    if isinstance(result, torch.Tensor):
        return result.float().sum()
    if isinstance(result, dict):
        result = list(result.values())
    parts = [_scalar(part) for part in result if isinstance(part, (torch.Tensor, list, tuple, dict))]
    return sum(parts[1:], parts[0])


def rehearse(calls: list[tuple[Any, ...]], threads: int, tuning_seconds: float = 0.0, deadline: float = float("inf")
             ) -> tuple[int, list[str]]:
    """Calls every convolution on memory of its sizes, computing nothing; how many plans there are, and what failed."""
    switch = library().c.wavetile_torch_rehearse
    failed: list[str] = []

    def one(call: tuple[Any, ...]) -> bool:
        function, arguments = call
        if time.time() > deadline:
            return False
        real = [torch.empty_strided(a.shape, a.stride(), dtype=a.dtype, device=a.device)
                if isinstance(a, torch.Tensor) else a for a in arguments]
        switch(1, tuning_seconds)
        try:
            with torch.no_grad():
                function(*real)
            return True
        except RuntimeError as error:
            failed.append(str(error))
            return False
        finally:
            switch(0, 0.0)
    with enabled(strict=True), ThreadPoolExecutor(threads) as pool:
        done = sum(pool.map(one, calls))
    return done, failed


def prepare(model: torch.nn.Module, inputs: Any, *, backward: bool | None = None, threads: int | None = None
            ) -> dict[str, Any]:
    """Compiles the plan of every convolution that a step of the model will need, on all cores, and says what was done.

    Call it before a CUDA graph is captured, and before training starts, under the autocast that the model will run in.
    The model is traced, not run: its parameters, gradients and statistics stay as they are. backward: gradients too; as
    the model's training mode, unless given. The plans are ready for the model as it is and as torch.compile makes it,
    where that keeps the memory format. "failed" lists what Wavetile cannot serve.
    """
    begin = time.time()
    calls = record(model, inputs, backward=backward)
    done, failed = rehearse(calls, threads or os.cpu_count() or 1)
    return {"convolutions": len(calls), "prepared": done, "failed": failed, "seconds": time.time() - begin}


def tune(model: torch.nn.Module, inputs: Any, seconds: float = 120.0, *, backward: bool | None = None) -> dict[str, Any]:
    """Measures the candidates of every convolution of the model, verifies them, and remembers the fastest: for this
    process and, in the tuning database, for later ones. It takes at most about `seconds`; what was measured before is
    remembered and costs nothing.
    """
    begin = time.time()
    calls = record(model, inputs, backward=backward)
    share = max(0.1, seconds / max(1, 2 * len(calls)))  # a backward call tunes two problems
    done, failed = rehearse(calls, 1, share, begin + seconds)
    return {"convolutions": len(calls), "tuned": done, "failed": failed, "seconds": time.time() - begin}
