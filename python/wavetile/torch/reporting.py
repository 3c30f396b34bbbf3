# SPDX-License-Identifier: Apache-2.0
"""What was served by which kernel, and what was not."""
from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .library import library


@dataclass(frozen=True)
class Report:
    """The convolutions so far. print() shows a table."""

    plans: list[dict[str, Any]]
    """problem, device, calls, kernel, reason, predicted_us, measured_us, workspace_bytes of each."""
    fallbacks: list[dict[str, Any]]
    """problem, why and calls of those that torch's own kernels served."""

    def __str__(self) -> str:
        lines = [f"{'calls':>7} {'predicted':>10} {'measured':>9}  problem and kernel"]
        for row in sorted(self.plans, key=lambda row: -row["calls"] * (row["measured_us"] or row["predicted_us"])):
            measured = f"{row['measured_us']:.1f}" if row["measured_us"] else "-"
            predicted = f"{row['predicted_us']:.1f}" if row["predicted_us"] else "-"
            place = "cpu" if row["device"] < 0 else f"gpu:{row['device']}"
            lines.append(f"{row['calls']:7d} {predicted:>10} {measured:>9}  {row['problem']}  [{place}]")
            lines.append(f"{'':29} {row['kernel']}")
        if self.fallbacks:
            lines.append("served by torch itself:")
        for row in self.fallbacks:
            lines.append(f"{row['calls']:7d} {row['problem']}: {row['why']}")
        return "\n".join(lines)


def report() -> Report:
    """A table of the layers that were served: kernel, predicted and measured time (us), or why one fell back."""
    facts = json.loads(library().c.wavetile_torch_report().decode())
    return Report([row for row in facts["plans"] if row["calls"]], facts["fallbacks"])


def clear_report() -> None:
    """Sets the counts to zero; plans stay."""
    library().c.wavetile_torch_clear_report()
