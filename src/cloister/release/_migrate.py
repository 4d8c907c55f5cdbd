# SPDX-License-Identifier: Apache-2.0
"""Releases of file version 1 kept a free-form history and events without steps: both become step records here.

Nothing else may guess a step from the names of its questions or undo a sensitivity: from version 2 on the fit says both. A file
may have been edited, so what does not fit is left out.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from cloister.columns import Frame
from cloister.privacy import Event, Receipt, StepRecord

__all__ = ["migrate_receipt", "migrate_steps"]


@dataclass(frozen=True)
class _Kind:
    """A kind of step: its questions in version 1, in order."""

    name: str
    purpose: str
    questions: tuple[str, ...]
    numbered: bool = False


LARGEST_FIGURE = 1e150
COUNT = _Kind("count", "How many rows there are", ("row_count",))
VOTE = _Kind("vote", "Votes for the nearest candidate", ("nearest_counts",), numbered=True)
ROUND = _Kind("round", "Counts and sums of the rows nearest to each centre", ("nearest_counts", "nearest_sums"), numbered=True)
AVERAGE = _Kind("average", "Counts and sums of the rows nearest to each centre", ("nearest_counts", "nearest_sums"))
GRID = _Kind("grid", "How many rows lie in each cell of the grid", ("grid_counts",))
# By method, in the order in which steps followed each other.
KINDS: dict[str, tuple[_Kind, ...]] = {
    "KMeans": (
        COUNT,
        _Kind("mean", "The mean of the rows", ("nearest_sums",)),
        _Kind("spread", "How far rows lie from their mean", ("distance_histogram",)),
        VOTE,
        replace(
            ROUND,
            purpose="How far rows lie from the nearest centre, how many they are, and the sum of their clipped offsets",
            questions=("distance_histogram", *ROUND.questions),
        ),
    ),
    "PEMeans": (COUNT, VOTE, AVERAGE),
    "LloydKMeans": (COUNT, ROUND),
    "FastLloyd": (COUNT, ROUND, replace(ROUND, questions=("bounded_counts", "bounded_sums"))),
    "CoresetKMeans": (
        COUNT,
        _Kind("level", "How many rows lie on either side of a hyperplane", ("hash_counts",), numbered=True),
        _Kind("leaves", "Counts and sums of the rows in each leaf", ("hash_counts", "hash_sums")),
    ),
    "TreeKMeans": (
        COUNT,
        _Kind("level", "How many rows lie in each cube", ("cube_counts",), numbered=True),
        _Kind("swap", "Which centre to swap for which candidate", ("swap_costs",), numbered=True),
        _Kind("choice", "Which set of centres was the best", ("set_costs",)),
        AVERAGE,
    ),
    "GridKMeans": (COUNT, GRID),
    "GridSynopsis": (COUNT, GRID),
    "SourceTargetKMedoids": (
        COUNT,
        _Kind("source", "Number and mean of the source rows near public points", ROUND.questions),
        _Kind("source", "Mean of the source rows near public points", ("neighbour_means",)),
    ),
}


def migrate_receipt(method: str, receipt: Receipt) -> Receipt:
    """Return a receipt of version 1 with events that name their steps; as it is if they are not those of the method."""
    parts = _split(method, receipt.events)
    stamped = tuple(replace(event, step=name) for name, _, part in parts for event in part)
    return replace(receipt, events=stamped or receipt.events)


def migrate_steps(method: str, events: tuple[Event, ...], history: Sequence[Any], frame: Frame) -> tuple[StepRecord, ...]:
    """Return the steps that a history and the names of questions describe; none if they are not those of the method."""
    entries, parts = _by_step(history), _split(method, events)
    steps = []
    for name, kind, part in parts:
        entry = entries.get(name, {})
        figures = {**_figures(part), **_decided(entry, frame)}
        if len(kind.questions) == 3:  # the histogram suggested a radius, which only the sensitivity of the sums tells
            figures["radius"] = _radius(part[-1], frame)
        # An average after votes alone is that of PEMeans, whose candidates were compared in a projection.
        projected = {"dimension": None} if kind is VOTE and parts[-1][1] is AVERAGE else {}
        picture = {**_picture(entry), **projected}
        steps.append(StepRecord(name=name, purpose=kind.purpose, figures=figures, picture=picture))
    return _with_start(steps, entries)


def _split(method: str, events: Sequence[Event]) -> list[tuple[str, _Kind, Sequence[Event]]]:
    """Cut the events where steps begin, the longest kind that fits first; nothing if they are not those of the method."""
    kinds, names = KINDS.get(method, ()), [event.question_name for event in events]
    parts: list[tuple[str, _Kind, Sequence[Event]]] = []
    seen: Counter[str] = Counter()
    first = at = 0
    while at < len(events):
        fitting = [
            (len(kind.questions), -index)
            for index, kind in enumerate(kinds)
            if index >= first and tuple(names[at : at + len(kind.questions)]) == kind.questions
        ]
        if not fitting:
            return []
        length, place = max(fitting)
        kind = kinds[-place]
        seen[kind.name] += 1
        parts.append((f"{kind.name} {seen[kind.name]}" if kind.numbered else kind.name, kind, events[at : at + length]))
        first, at = -place + (not kind.numbered), at + length
    return parts


def _by_step(history: Sequence[Any]) -> dict[str, Mapping[str, Any]]:
    """Return the entries of a history by the name of their step; round 0 of KMeans is its last vote."""
    entries: dict[str, Mapping[str, Any]] = {}
    for entry in history:
        with suppress(KeyError, TypeError, ValueError):
            if "level" in entry:
                entries[f"level {int(entry['level'])}"] = entry
            elif "votes" in entry or "n_voted" in entry:
                entries[f"vote {int(entry['round'])}"] = entry
            else:
                entries[f"round {int(entry['round'])}"] = entry
    return entries


def _with_start(steps: list[StepRecord], entries: dict[str, Mapping[str, Any]]) -> tuple[StepRecord, ...]:
    """Return the steps, the last vote of KMeans with where it found rows."""
    votes = [index for index, step in enumerate(steps) if step.name.startswith("vote ")]
    entry = entries.get("vote 0")
    if votes and entry is not None:
        last = steps[votes[-1]]
        figures = {**last.figures, **_kept(entry, "n_voted")}
        steps[votes[-1]] = replace(last, figures=figures, picture=_picture(entry))
    return tuple(steps)


def _figures(part: Sequence[Event]) -> dict[str, float]:
    """Return how many points a step asked about and how noisy a count was, as far as an event of counts says it."""
    for event in part:
        if event.question_name == "row_count":
            return {"count_error": event.standard_deviation}
        if event.question_name.endswith("_counts"):
            return {"n_points": float(event.size), "count_error": event.standard_deviation}
    return {}


def _decided(entry: Mapping[str, Any], frame: Frame) -> dict[str, float]:
    """Return what a round decided: how many points it kept, and the radius it clipped at."""
    radius = {name: frame.distance_unit * value for name, value in _kept(entry, "radius", "radius").items()}
    return {**_kept(entry, "n_centers"), **_kept(entry, "n_voted"), **radius}


def _kept(entry: Mapping[str, Any], key: str, name: str = "n_kept") -> dict[str, float]:
    with suppress(KeyError, TypeError, ValueError):
        value = float(entry[key])
        return {name: value} if abs(value) <= LARGEST_FIGURE else {}
    return {}


def _picture(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in ("centers", "candidates", "votes", "dimension") if name in entry}


def _radius(sums: Event, frame: Frame) -> float:
    """Return what offsets were clipped at, as `transform` measures distances: the sensitivity, undone."""
    norm = sums.sensitivity * sums.unit / (2.0 if sums.relation == "replace" else 1.0)
    return frame.distance_unit * norm / (1.0 if sums.cost.is_gaussian else math.sqrt(frame.n_features))
