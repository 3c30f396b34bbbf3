# SPDX-License-Identifier: Apache-2.0
"""How it is computed: a kernel that was chosen, compiled and bound for one problem on one device."""
from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core, names
from .arrays import DeviceArray, empty_like_framework, finish, framework_of
from .errors import BadInputError
from .problem import Problem

if TYPE_CHECKING:
    from .device import Device, Stream


@dataclass(frozen=True)
class Verification:
    """What a comparison with the reference found."""

    right: bool
    text: str
    """The first wrong elements; "" where all are right."""
    report: dict[str, Any]

    def __bool__(self) -> bool:
        return self.right


class Plan:
    """A problem's kernel on a device; Device.plan makes one. Call it with the arrays by role:

        y  = plan(x=x, w=w, bias=b)                       # "fwd"
        dx = plan(dy=dy, w=w)                             # "bwd_data"
        dw = plan(x=x, dy=dy)                             # "bwd_weight"
        y  = plan(input=x, w=w)                           # of Problem.transposed

    Arrays are anything that speaks DLPack or an array protocol, dense, where the device can reach them, in memory order
    (n, h, w, c for channels last) or as torch's channels_last has it. The result is new, in the framework of an input,
    or goes into `out`. Where more is written (bias_gradient, amax, new_history), a tuple of all comes back, the main
    result first. `stream` is the address of a CUDA stream; without it, torch's current stream or the default one.
    `workspace` is an array of at least workspace_bytes, 256-byte aligned; without it, memory is found.

    Many threads may call one plan at once; the interpreter's lock is released while the library works.
    """

    def __init__(self, device: Device, problem: Problem, handle: Any) -> None:
        self.device, self.problem, self._handle = device, problem, handle
        info = _core.plan_info(handle)
        self.kernel: str = info["kernel"]
        self.reason: str = info["reason"]
        """Why this kernel."""
        self.workspace_bytes: int = info["workspace_bytes"]
        self.predicted_us: float = info["predicted_us"]
        self.measured_us: float = info["measured_us"]
        """By tuning on this kind of GPU; 0 where never."""
        self.info: dict[str, Any] = info
        # By number of role: what is written, the main result first, and the names that a call takes.
        self._results = [names.ROLES.index(role) for role in (problem.output, *(
            role for role, spec in problem.tensors.items() if spec.use == "written" and role != problem.output))]
        self._index = {role: names.ROLES.index(role) for role in names.ROLES}
        self._index.update({other: names.ROLES.index(role) for other, role in self._other_names().items()})
        self._workspaces: dict[int, DeviceArray] = {}

    def _other_names(self) -> dict[str, str]:
        if self.problem.is_transposed:
            return {"input": "y", "output": "x"}
        return {"fwd": {}, "bwd_data": {"dy": "y", "dx": "x"}, "bwd_weight": {"dy": "y", "dw": "w"}}[self.problem.direction]

    def __call__(self, *, out: Any = None, stream: int | Stream | None = None, workspace: Any = None, **arrays: Any) -> Any:
        by_role: list[Any] = [None] * len(names.ROLES)
        index, results, like = self._index, self._results, None
        for name, array in arrays.items():
            if name not in index:
                raise BadInputError(f"a plan takes no {name}; {self.problem.text} has {', '.join(self.problem.tensors)}")
            by_role[index[name]] = array
            if like is None:
                like = array
        if out is not None:
            if by_role[results[0]] is not None:
                raise BadInputError(f"out and {self.problem.output} are the same tensor; give one of them")
            by_role[results[0]] = out
        for role in results:
            if by_role[role] is None:
                spec = self.problem.tensors[names.ROLES[role]]
                by_role[role] = empty_like_framework(spec.shape, spec.type, self.device, like)
        kind = self.device.kind
        if kind == "simulator":
            self._simulate(by_role, workspace)
        else:
            if workspace is None and self.workspace_bytes and kind != "cpu":
                workspace = self._workspace(like, stream)
            _core.execute(self._handle, tuple(by_role), None if stream is None else int(stream), workspace)
        if len(results) == 1:
            return finish(by_role[results[0]], like)
        return tuple(finish(by_role[role], like) for role in results)

    def _simulate(self, by_role: list[Any], workspace: Any) -> None:
        """The simulator checks every access against its own buffers, so arrays are copied there and back."""
        staged: list[Any] = []
        for role, array in zip(names.ROLES, by_role):
            spec = self.problem.tensors.get(role)
            if array is None or spec is None or isinstance(array, DeviceArray):
                staged.append(array)
                continue
            copy = DeviceArray(self.device, spec.shape, spec.type)
            _core.copy_array(self._handle, role, array, copy.address, True)
            staged.append(copy)
        if workspace is not None:
            raise BadInputError("the simulator has workspaces of its own; leave out workspace")
        if self.workspace_bytes:
            kept = self._workspace(None, 0)
            _core.execute(self._handle, tuple(staged), None, kept)
        else:
            _core.execute(self._handle, tuple(staged), None, None)
        for role, array, copy in zip(names.ROLES, by_role, staged):
            if copy is not array and self.problem.tensors[role].use == "written":
                _core.copy_array(self._handle, role, array, copy.address, False)

    def _workspace(self, like: Any, stream: int | Stream | None) -> Any:
        # WHY torch's own: its allocator reuses memory in the order of the current stream. Otherwise one a stream is kept.
        if framework_of(like) == "torch" and stream is None:
            torch = sys.modules["torch"]
            return torch.empty(self.workspace_bytes, dtype=torch.uint8, device=like.device)
        key = int(stream or 0)
        if key not in self._workspaces:
            self._workspaces[key] = self.device.empty((self.workspace_bytes,), "e4m3")
        kept = self._workspaces[key]
        return (kept.address, kept.bytes)

    def verify(self, seed: int = 1, *, exact: bool = False, exhaustive: bool = False) -> Verification:
        """Runs the plan once on data of its own and compares the result with plain loops in double precision. `exact`
        uses small integers, whose sums have no rounding."""
        right, report, text = _core.plan_verify(self._handle, seed, {"exact": int(exact), "exhaustive": int(exhaustive)})
        return Verification(right, text, report)

    @property
    def json(self) -> dict[str, Any]:
        """Everything about the plan, as `wavetile run --json` has it."""
        return json.loads(_core.plan_json(self._handle))

    def __repr__(self) -> str:
        return f"Plan({self.problem.text!r} on {self.device.id}: {self.kernel})"
