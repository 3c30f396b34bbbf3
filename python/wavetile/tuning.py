# SPDX-License-Identifier: Apache-2.0
"""What was measured, as text: to carry from one machine to another."""
from __future__ import annotations

from . import _core


def export_tuning() -> str:
    """The tuning database of this machine as JSON; `wavetile tuning import` takes it too."""
    return _core.tuning_export()


def import_tuning(text: str) -> int:
    """Takes over what the text has and this machine's database has not, or has older; how many rows that were. Plans that
    are made afterwards use it."""
    return _core.tuning_import(text)
