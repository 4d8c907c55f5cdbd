# SPDX-License-Identifier: Apache-2.0
"""How the cost of a fit divides over what it asked: the squares of mu add up, or the epsilons."""

import math
from collections.abc import Sequence
from typing import Any

from cloister.privacy import Event

__all__ = ["group_events", "shares_of"]


def shares_of(events: Sequence[Event]) -> list[float]:
    """Return the part of the whole cost that each event takes."""
    weights = [_weight(event) for event in events]
    whole = max(sum(weights), math.ulp(0.0))
    return [weight / whole for weight in weights]


def group_events(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Put events of one kind together, in the order in which they were first asked; where they differ, say how far."""
    groups: dict[tuple[str, ...], dict[str, Any]] = {}
    for event, share in zip(events, shares_of(events), strict=True):
        sensitivity = event.sensitivity * event.unit
        group = groups.setdefault(
            (event.question_name, event.mechanism, event.relation),
            {
                "asked": event.question_name,
                "mechanism": event.mechanism,
                "times": 0,
                "smallest_size": event.size,
                "largest_size": event.size,
                "standard_deviation": event.standard_deviation,
                "largest_standard_deviation": event.standard_deviation,
                "sensitivity": sensitivity,
                "largest_sensitivity": sensitivity,
                "relation": event.relation,
                "share": 0.0,
            },
        )
        group["times"] += 1
        group["share"] += share
        _widen(group, "smallest_size", "largest_size", event.size)
        _widen(group, "standard_deviation", "largest_standard_deviation", event.standard_deviation)
        _widen(group, "sensitivity", "largest_sensitivity", sensitivity)
    return list(groups.values())


def _widen(group: dict[str, Any], low: str, high: str, value: float) -> None:
    group[low], group[high] = min(group[low], value), max(group[high], value)


def _weight(event: Event) -> float:
    """Return what adds up when events compose: the square of mu, or epsilon."""
    ratio = event.sensitivity / event.scale
    return ratio**2 if event.mechanism == "rounded_gaussian" else ratio
