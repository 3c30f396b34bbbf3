# SPDX-License-Identifier: Apache-2.0
"""What is to be computed: one convolution, one of its gradients, or a transposed convolution."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

from . import _core, names

Size = int | Sequence[int]


@dataclass(frozen=True)
class TensorSpec:
    """One tensor of a problem, as it lies in memory: dense, its last dimension contiguous."""

    shape: tuple[int, ...]
    type: str
    use: str  # "read" or "written"
    bytes: int


def spread(value: Size, dims: int) -> list[int]:
    """One number for every dimension, or one each."""
    return [value] * dims if isinstance(value, int) else list(value)


class Problem:
    """A convolution with all its sizes, types and steps. It never changes, and it is checked when it is made.

    From its text (docs/problem-text.md):

        Problem("fwd bf16 n16 c256 k256 i56x56 f3x3 p1 +bias+relu")

    or with names, as Problem.create and Problem.transposed take them.
    """

    def __init__(self, text: str, *, _handle: Any = None, _transposed: bool = False) -> None:
        self._handle = _core.problem_parse(text) if _handle is None else _handle
        facts = _core.problem_facts(self._handle)
        self.text: str = facts["text"]
        self.canonical_text: str = facts["canonical_text"]
        self.flops: float = facts["flops"]
        """Two operations per multiply-add of the direct algorithm."""
        self.output: str = facts["output"]
        """The role that is written: "y", "x" (its gradient) or "w" (its gradient)."""
        self.fields: dict[str, Any] = facts["fields"]
        """wavetile_problem_desc, by name."""
        self.direction: str = names.DIRECTIONS[self.fields["direction"]]
        self.is_transposed = _transposed
        self.output_size: tuple[int, ...] = tuple(facts["output_size"][:self.fields["dims"]])
        """The spatial size of y."""
        self.tensors: dict[str, TensorSpec] = {
            role: TensorSpec(tuple(t["shape"][:t["rank"]]), names.TYPES[t["type"]], names.USES[t["use"]], t["bytes"])
            for role, t in facts["tensors"].items()}
        """Shape, type and size of every tensor, by role."""

    @classmethod
    def create(cls, direction: str = "fwd", *, n: int, c: int, k: int, size: Sequence[int], filter: Size, groups: int = 1,
               stride: Size = 1, padding: Size | str | Sequence[tuple[int, int]] = 0, dilation: Size = 1,
               type: str = "bf16", x_type: str | None = None, w_type: str | None = None, y_type: str | None = None,
               layout: str = "channels_last", activation: str = "none", bias_gradient: str = "none",
               **fields: Any) -> Problem:
        """A problem with names. `size` is the spatial size of x; `padding` is one number, one per dimension, a
        (lower, upper) pair per dimension, or "same", "valid" or "causal". `fields` are further fields of
        wavetile_problem_desc: bias=1, residual=1, slope=0.2, expression="acc * in.aux[0]", ...
        """
        desc = cls._desc(direction, n, c, k, size, filter, groups, stride, padding, dilation, type, x_type, w_type, y_type,
                         layout, activation, bias_gradient, fields)
        return cls("", _handle=_core.problem_create(desc, None))

    @classmethod
    def transposed(cls, direction: str = "fwd", *, n: int, c: int, k: int, size: Sequence[int], filter: Size,
                   groups: int = 1, stride: Size = 1, padding: Size | str | Sequence[tuple[int, int]] = 0,
                   output_padding: Size = 0, dilation: Size = 1, type: str = "bf16", x_type: str | None = None,
                   w_type: str | None = None, y_type: str | None = None, layout: str = "channels_last",
                   activation: str = "none", bias_gradient: str = "none", **fields: Any) -> Problem:
        """A transposed convolution, or with `direction` one of its gradients, in its own terms: `c` and `size` are its
        input's, `k` its output's. Its input is the tensor `input` of a call, its output `output` (docs/api.md).
        """
        desc = cls._desc(direction, n, c, k, size, filter, groups, stride, padding, dilation, type, x_type, w_type, y_type,
                         layout, activation, bias_gradient, fields)
        return cls("", _handle=_core.problem_create(desc, spread(output_padding, len(size))), _transposed=True)

    @staticmethod
    def _desc(direction: str, n: int, c: int, k: int, size: Sequence[int], filter: Size, groups: int, stride: Size,
              padding: Any, dilation: Size, type: str, x_type: str | None, w_type: str | None, y_type: str | None,
              layout: str, activation: str, bias_gradient: str, fields: dict[str, Any]) -> dict[str, Any]:
        dims = len(size)
        desc = {
            "direction": names.number(names.DIRECTIONS, direction, "direction"), "dims": dims, "n": n, "c": c, "k": k,
            "g": groups, "in": list(size), "filter": spread(filter, dims), "stride": spread(stride, dims),
            "dilation": spread(dilation, dims), "layout": names.number(names.LAYOUTS, layout, "layout"),
            "activation": names.number(names.ACTIVATIONS, activation, "activation"),
            "bias_gradient": names.number(names.BIAS_GRADIENTS, bias_gradient, "bias_gradient"),
            "x_type": names.number(names.TYPES, x_type or type, "x_type"),
            "w_type": names.number(names.TYPES, w_type or type, "w_type"),
            "y_type": names.number(names.TYPES, y_type or type, "y_type"),
        }
        for name in ("scale_type", "bias_type"):
            if name in fields:
                desc[name] = names.number(names.TYPES, fields.pop(name), name)
        if isinstance(fields.get("scales"), str):
            desc["scales"] = names.number(names.SCALES, fields.pop("scales"), "scales")
        if isinstance(padding, str):
            desc["padding"] = names.number(names.PADDINGS, padding, "padding")
        else:
            sides = [side if isinstance(side, (tuple, list)) else (side, side) for side in spread(padding, dims)]
            desc["pad_lower"] = [lower for lower, _ in sides]
            desc["pad_upper"] = [upper for _, upper in sides]
        if fields.get("expression") is not None or fields.get("store") is not None:
            desc.update({name: fields[name] for name in ("expression", "store") if fields.get(name) is not None})
        desc.update({name: int(value) if isinstance(value, bool) else value for name, value in fields.items()})
        return desc

    def __repr__(self) -> str:
        return f"Problem({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.canonical_text == other.canonical_text

    def __hash__(self) -> int:
        return hash(self.canonical_text)
