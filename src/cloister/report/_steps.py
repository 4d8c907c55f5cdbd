# SPDX-License-Identifier: Apache-2.0
"""The steps of a fit: what each asked and cost, and what was decided then."""

import math
from typing import Any

from cloister.privacy import FIGURES
from cloister.release import Release
from cloister.report._shares import shares_of

__all__ = ["step_summary"]


def step_summary(release: Release) -> list[dict[str, Any]]:
    """Return one entry per step: its name and purpose, how many answers it got, its share of the cost, and its figures."""
    events = [(step, release.events_of(step)) for step in release.steps]
    shares = iter(shares_of([event for _, answers in events for event in answers]))
    return [
        {
            "name": step.name,
            "purpose": step.purpose,
            "answers": len(answers),
            "share": math.fsum(next(shares) for _ in answers),
            "figures": {name: step.figures[name] for name in FIGURES if name in step.figures},
        }
        for step, answers in events
    ]
