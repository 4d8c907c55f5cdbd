# SPDX-License-Identifier: Apache-2.0
"""The steps of a fit: what each of them asked and cost, what was decided then, and where the points were.

All of it is read off the records of a release and the events that carry their names. A file may have been edited: a picture
that does not fit is left out.
"""

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from cloister.privacy import FIGURES, StepRecord
from cloister.release import Release
from cloister.report._figures import count_chart, line_chart, step_panels
from cloister.report._pages import Picture, Table
from cloister.report._receipt import share_of
from cloister.text import count_of, number, sentence, share_text, span_of

MOST_PANELS = 16  # of more, the first, the last and some between are drawn
LONGEST_RUN, LONGEST_ALIKE = 12, 2  # steps of one kind that get a line each; of the same figures
BARS = ("n_points", "n_kept")  # the figures that one chart holds: the part of the points that was kept


def steps_of(release: Release) -> list[dict[str, Any]]:
    """Return one entry per step: name, purpose, how many answers it got, its share of the cost, and its figures."""
    return [
        {
            "name": step.name,
            "purpose": step.purpose,
            "answers": len(release.events_of(step)),
            "share": share_of(release.events_of(step), release.receipt.events),
            "figures": {name: step.figures[name] for name in FIGURES if name in step.figures},
        }
        for step in release.steps
    ]


def panels_of(release: Release) -> list[dict[str, Any]]:
    """Return the steps that can be drawn: discs for what was asked about, by votes if there were any, crosses for centres."""
    panels: list[dict[str, Any]] = []
    votes = {_kind(step.name) for step in release.steps if "votes" in step.picture}
    for step in release.steps:
        if "centers" in step.picture and ("candidates" in step.picture or _kind(step.name) not in votes):
            with suppress(AttributeError, KeyError, TypeError, ValueError):
                panels.append(_panel(step, panels[-1]["centers"] if panels else None))
    # Of steps of one kind that keep all their points, only the first and the last: the others look the same.
    runs = [list(run) for _, run in groupby(panels, key=lambda panel: (_kind(panel["name"]), panel["caption"]))]
    panels = [panel for run in runs for panel in (run if run[0]["voted"] or len(run) < 3 else (run[0], run[-1]))]
    last, most = len(panels) - 1, min(MOST_PANELS, len(panels))
    return [panels[round(index * last / max(most - 1, 1))] for index in range(most)]


def _panel(step: StepRecord, before: list[list[float]] | None) -> dict[str, Any]:
    """Return a step as it is drawn; without candidates, it asked about the centres of the step before."""
    centers, voted = _pairs(step.picture["centers"]), "votes" in step.picture
    votes = [float(vote) for vote in step.picture.get("votes", ())]
    points = _pairs(step.picture["candidates"]) if "candidates" in step.picture else before or centers
    if voted and len(votes) != len(points):
        raise ValueError("votes")
    n_points = int(step.figures.get("n_points", len(points)))
    n_kept = int(step.figures.get("n_kept", n_points))
    left = f", {n_kept:,} left" if n_kept < n_points else ""
    return {
        "name": step.name,
        "caption": f"{count_of(n_points, 'candidate')}, {n_kept:,} kept votes"
        if voted
        else count_of(n_points, "centre") + left,
        "voted": voted,
        "candidates": points,
        "votes": votes or [1.0] * len(points),
        "centers": centers,
    }


def _pairs(points: Any) -> list[list[float]]:
    return [[float(x), float(y)] for x, y in points]


def course_of(summary: dict[str, Any]) -> dict[str, Any]:
    """Return how the centres were found, for the page: what there is to say, pictures, and a table of the steps."""
    steps, panels = summary["steps"], summary["panels"]
    rounds = [step["figures"] for step in steps if "radius" in step["figures"]]
    return {
        "voted": any(panel["voted"] for panel in panels),
        "moved": any(not panel["voted"] for panel in panels),
        "improved": len(rounds) > 1,
        "joined": any(figures.get("n_kept", math.inf) < figures.get("n_points", 0.0) for figures in rounds),
        "settled": any(_kind(step["name"]) == "settling" for step in steps),
        "projected": summary["projected"],
        "panels": [
            Picture(svg, sentence(panel["name"]), panel["caption"])
            for panel, svg in zip(panels, step_panels(panels), strict=False)
        ],
        "charts": _charts(steps),
        "steps": _step_table(steps) if len(steps) > 1 else None,
    }


def _step_table(steps: Sequence[dict[str, Any]]) -> Table:
    """Return a line per step, or per run of many steps of one kind, with the figures that any of them has."""
    figures = [name for name in FIGURES if any(name in step["figures"] for step in steps)]
    runs: list[list[dict[str, Any]]] = []
    for _, many in groupby(steps, key=lambda step: _kind(step["name"])):
        run = list(many)
        alike = len(run) > LONGEST_ALIKE and all(step["figures"] == run[0]["figures"] for step in run)
        runs += [run] if alike or len(run) > LONGEST_RUN else [[step] for step in run]
    names = [(run[0]["name"], run[-1]["name"]) for run in runs]
    columns = {
        "Step": [sentence(first if first == last else f"{first} to {last.split()[-1]}") for first, last in names],
        "What for": [sentence(run[0]["purpose"]) for run in runs],
        "Noisy answers": [sum(step["answers"] for step in run) for run in runs],
        "Share of the cost": [share_text(sum(step["share"] for step in run), 1) for run in runs],
    }
    for name in figures:
        columns[FIGURES[name]] = [_span([step["figures"][name] for step in run if name in step["figures"]]) for run in runs]
    return Table.of(columns, numeric=list(columns)[2:], kind="steps")


def _kind(name: str) -> str:
    """Return the name of a step without its numbers."""
    return re.sub(r" *\d+", "", name)


def _span(values: Sequence[float]) -> str:
    if not values:
        return "-"
    return span_of(*(number(value) if value == round(value) else f"{value:.4g}" for value in (min(values), max(values))))


def _charts(steps: Sequence[dict[str, Any]]) -> list[Picture]:
    """Draw the figures that change from step to step of one kind: points and how many were kept, radii, errors."""
    charts = []
    for kind in dict.fromkeys(_kind(step["name"]) for step in steps):
        run = [step["figures"] for step in steps if _kind(step["name"]) == kind]
        each = f"in each {kind}"
        if len(run) > 1 and any(_changes(run, name) for name in BARS):
            points, kept = ([max(figures.get(name, figures.get("n_points", 0.0)), 0.0) for figures in run] for name in BARS)
            charts.append(count_chart(points, kept, f"{FIGURES['n_points']} {each}"))
        for name in (name for name in FIGURES if name not in BARS and _changes(run, name)):
            charts.append(line_chart([max(figures[name], 0.0) for figures in run], f"{FIGURES[name]} {each}"))
    return charts


def _changes(run: Sequence[dict[str, float]], name: str) -> bool:
    return all(name in figures for figures in run) and len({figures[name] for figures in run}) > 1
