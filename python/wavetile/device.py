# SPDX-License-Identifier: Apache-2.0
"""Where it is computed: a GPU, the CPU, or a simulated GPU."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core, names
from .problem import Problem

if TYPE_CHECKING:
    from .arrays import DeviceArray
    from .plan import Plan


def devices() -> list[dict[str, Any]]:
    """Every device that could be opened here: its id, name, kind, memory and so on."""
    return [{**row, "kind": names.KINDS[row["kind"]]} for row in _core.device_list()]


def capabilities() -> dict[str, tuple[bool, str]]:
    """What this machine can do: for each capability whether it is there, and what was found or how to get it."""
    return {name: _core.capability(number) for number, name in enumerate(names.CAPABILITIES)}


class Stream:
    """A stream of a device of its own. Frameworks' streams are passed as their address instead."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.address = _core.stream_create(device._handle)

    def synchronize(self) -> None:
        """Waits for everything that was sent to the stream."""
        _core.stream_synchronize(self._device._handle, self.address)

    def __int__(self) -> int:
        return self.address

    def __del__(self) -> None:
        if hasattr(self, "address"):
            _core.stream_destroy(self._device._handle, self.address)


class Device:
    """Opens a device: "auto" (the first GPU, else the CPU), "cpu", "gpu", "gpu:1", "hip:0" or "sim:sm_90a"."""

    def __init__(self, id: str = "auto") -> None:
        self._handle = _core.device_open(id)
        info = _core.device_info(self._handle)
        self.id: str = info["id"]
        self.name: str = info["name"]
        self.kind: str = names.KINDS[info["kind"]]
        self.target: str = info["target"]
        """What kernels are compiled for, such as "sm_90a"; "" for the CPU."""
        self.info: dict[str, Any] = info

    def plan(self, problem: Problem | str, *, tuning: str = "cached", deterministic: bool = True,
             strict_nonfinite: bool = False, workspace_limit: int | None = None, kernel: str | None = None,
             tuning_seconds: float = 10.0, fallback: bool = False, stream: int | None = None,
             batch_invariant: bool = False) -> Plan:
        """Chooses, compiles (or finds in the cache) and binds a kernel. The first call is slow; the device remembers.

        tuning: "off" trusts the cost model, "cached" also earlier measurements, "first-use" measures now where there
        are none. workspace_limit: bytes. kernel: run this one. fallback: where the chosen kernel cannot be compiled,
        take the next and say so in its reason. batch_invariant: an image's result has the same bits whatever else is in
        the batch, and wherever in it.
        """
        from .plan import Plan
        if isinstance(problem, str):
            problem = Problem(problem)
        options = self._options(tuning=tuning, deterministic=deterministic, strict_nonfinite=strict_nonfinite,
                                workspace_limit=workspace_limit, kernel=kernel, tuning_seconds=tuning_seconds,
                                fallback=fallback, stream=stream, batch_invariant=batch_invariant)
        return Plan(self, problem, _core.plan_create(self._handle, problem._handle, options))

    def tune(self, problem: Problem | str, seconds: float = 10.0, **options: Any) -> Plan:
        """Measures the candidates of a problem, verifies them, remembers the best for later plans, and gives its plan."""
        return self.plan(problem, tuning="first-use", tuning_seconds=seconds, **options)

    def explain(self, problem: Problem | str, *, json: bool = False, **options: Any) -> str:
        """Which kernels could run a problem, in the order of preference, and why each of the others cannot."""
        if isinstance(problem, str):
            problem = Problem(problem)
        return _core.explain(self._handle, problem._handle, self._options(**options), int(json))

    def empty(self, shape: tuple[int, ...], type: str) -> DeviceArray:
        """An uninitialised array in this device's memory, for those without a framework that has them."""
        from .arrays import DeviceArray
        return DeviceArray(self, shape, type)

    def array(self, values: Any, type: str | None = None) -> DeviceArray:
        """A copy of a numpy array in this device's memory; `type` names bits that numpy cannot ("bf16" of uint16)."""
        from .arrays import DeviceArray
        return DeviceArray.of(self, values, type)

    def stream(self) -> Stream:
        """A new stream."""
        return Stream(self)

    def synchronize(self, stream: int | Stream | None = None) -> None:
        """Waits for a stream, or for the default one."""
        _core.stream_synchronize(self._handle, int(stream or 0))

    @staticmethod
    def _options(tuning: str = "cached", deterministic: bool = True, strict_nonfinite: bool = False,
                 workspace_limit: int | None = None, kernel: str | None = None, tuning_seconds: float = 10.0,
                 fallback: bool = False, stream: int | None = None,
                 batch_invariant: bool = False) -> dict[str, Any]:
        return {"tuning": names.number(names.TUNINGS, tuning, "tuning"), "deterministic": int(deterministic),
                "strict_nonfinite": int(strict_nonfinite), "kernel": kernel, "tuning_seconds": tuning_seconds,
                "workspace_limit": -1 if workspace_limit is None else workspace_limit, "fallback": int(fallback),
                "stream": None if stream is None else int(stream), "batch_invariant": int(batch_invariant)}

    def __repr__(self) -> str:
        return f"Device({self.id!r})  # {self.name}"
