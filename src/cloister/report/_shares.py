# SPDX-License-Identifier: Apache-2.0
"""How the cost of a fit divides over its noisy answers."""

import math
from collections.abc import Sequence
from typing import Any

from cloister.privacy import Event

__all__ = ["group_events", "share_of"]


def share_of(part: Sequence[Event], whole: Sequence[Event]) -> float:
    """Return the share of some events in the cost of all of them."""
    own, all_of_it = (math.fsum(event.cost.weight for event in events) for events in (part, whole))
    return own / max(all_of_it, math.ulp(0.0))


def group_events(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Put events of one kind together, in the order in which the kinds first occur; where they differ, say how far."""
    groups: dict[tuple[str, ...], list[Event]] = {}
    for event in events:
        groups.setdefault((event.question_name, event.mechanism, event.relation), []).append(event)
    return [_group(group, events) for group in groups.values()]


def _group(group: Sequence[Event], events: Sequence[Event]) -> dict[str, Any]:
    sizes = [event.size for event in group]
    deviations = [event.standard_deviation for event in group]
    sensitivities = [event.sensitivity * event.unit for event in group]
    return {
        "asked": group[0].question_name,
        "mechanism": group[0].mechanism,
        "times": len(group),
        "smallest_size": min(sizes),
        "largest_size": max(sizes),
        "standard_deviation": min(deviations),
        "largest_standard_deviation": max(deviations),
        "sensitivity": min(sensitivities),
        "largest_sensitivity": max(sensitivities),
        "relation": group[0].relation,
        "share": share_of(group, events),
    }
