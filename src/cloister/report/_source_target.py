# SPDX-License-Identifier: Apache-2.0
"""The page of source-target clustering: a map of the public target, the chosen points and the sanitised source."""

import math
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np

from cloister.algorithms import Plane, plane_of
from cloister.release import Release
from cloister.report._axes import MAP_WIDTH, Axis, plot_columns, plot_plane
from cloister.report._badges import Point, numbered_badges
from cloister.report._pages import Picture, Table, render_page
from cloister.report._steps import course_of
from cloister.report._tables import shared_parts
from cloister.text import count_of, number, plain_text, share_text

__all__ = ["source_target_html", "source_target_of"]

DRAWN_SOURCE = 600  # sanitised points, those with the largest counts
LABELLED_POINTS = 40
LISTED_COLUMNS = 16
LARGEST_DIAMOND = 13.0  # half its width
MARGIN = 30.0
MAP_HEIGHT = 420.0
BADGE = 12.0  # radius of a chosen point: two digits fit


def source_target_of(release: Release) -> dict[str, Any]:
    """Return what the target, the chosen points and the source have to do with each other, and a map of them.

    Examples
    --------
    >>> from cloister import SourceTargetKMedoids
    >>> model = SourceTargetKMedoids(1, epsilon=5.0, random_state=0).fit([[0.0], [1.0]], source=[[1.0]] * 50)
    >>> source_target_of(model.release_)["source_target"]["n_target"]
    2
    """
    found, width = release.source_target, release.n_features
    if found is None:
        return {}
    n_target, sources = found.n_target, len(found.source)
    served, through = share_text(found.served / n_target), "no part of it stands out from the noise"
    if sources:
        through = f"through {count_of(sources, 'sanitised point')}"
    costs = [number(one) for one in (found.cost, found.cost_of_chosen, found.cost_alone)]
    without = f"{costs[1]} without it; {costs[2]} if the points had been chosen as if there were no source."
    words = [
        f"The source, as sanitised, serves {found.served:,} of {n_target:,} target points ({served}): {through}.",
        f"Mean distance of a target point to its nearest centre: {costs[0]} with the sanitised source, {without}",
    ]
    if found.error_bound:
        likely, bound = f"With probability {2 * found.confidence - 1:.4g}", number(found.error_bound)
        words.append(f"{likely} the sanitised source misjudges the cost of no choice by more than {bound}.")
    drawn = np.argsort(-found.counts, kind="stable")[:DRAWN_SOURCE]
    # The plane to draw the target in: its own columns if there are two.
    plane = plane_of(found.target) if width > 2 else Plane(np.zeros(width), np.eye(width, 2), (1.0, 0.0))
    return {
        "source_target": {
            "n_target": n_target,
            "rows": list(found.rows),
            "served_by_source": found.served,
            "n_sanitized": sources,
            "cost": found.cost,
            "cost_of_chosen": found.cost_of_chosen,
            "cost_alone": found.cost_alone,
            "words": words,
        },
        "map": {
            "target": plane.project(found.target).tolist(),
            "chosen": plane.project(release.cluster_centers).tolist(),
            "source": plane.project(found.source[drawn]).tolist(),
            "counts": found.counts[drawn].tolist(),
            "n_source": sources,
            "share": sum(plane.shares),
            "in_units": width == 2,
            "axes": ["axis 1", "axis 2"] if width > 2 else [*release.columns, ""][:2],
        },
    }


def source_target_html(summary: dict[str, Any]) -> str:
    """Return the page, from what :func:`summary` returned."""
    found, drawn = summary["source_target"], summary["map"]
    picked = sorted(summary["ranking"][:LISTED_COLUMNS])
    served = f"{share_text(found['served_by_source'] / found['n_target'])} of the target, by sanitised points"
    heads = ["Label", "Row of the target", "Points served", *(summary["columns"][index] for index in picked)]
    rows = [
        [str(one["label"]), str(row), number(one["count"]), *(number(one["center"][index]) for index in picked)]
        for one, row in zip(summary["clusters"], found["rows"], strict=True)
    ]
    return render_page(
        "source_target.html",
        title=f"{count_of(summary['n_clusters'], 'point')} chosen from a public target of {found['n_target']:,}",
        summary=summary,
        found=found,
        drawn=drawn,
        facts=[
            ("Served by the source", f"{found['served_by_source']:,}", served),
            ("Mean distance", number(found["cost"]), f"{number(found['cost_alone'])} had the source been ignored"),
        ],
        map=Picture("", _picture(drawn)),
        labelled=summary["n_clusters"] <= LABELLED_POINTS,
        chosen=Table(heads, rows, numeric=range(len(heads))),
        n_listed=len(picked),
        shared=shared_parts(summary),
        course=course_of(summary),
    )


def _picture(drawn: dict[str, Any]) -> str:
    parts = [[(x, y) for x, y in drawn[name]] for name in ("target", "chosen", "source")]
    everything = [point for part in parts for point in part]
    names = [plain_text(name) if name else "" for name in drawn["axes"]]
    if drawn["in_units"]:
        across, up = (_axis_of(name, values) for name, values in zip(names, zip(*everything, strict=True), strict=True))
        plot = plot_columns(across, up, MAP_HEIGHT)
    else:
        plot = plot_plane(everything, MARGIN)
        axes = (
            f'<text class="axis" x="{MAP_WIDTH - 8:g}" y="{plot.height - 8:.0f}" text-anchor="end">{escape(names[0])}</text>'
            f'<text class="axis" transform="translate(16 8) rotate(-90)" text-anchor="end">{escape(names[1])}</text>'
        )
        plot = replace(plot, axes=axes)
    target, chosen, source = (list(map(plot.place, part)) for part in parts)
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in target)
    largest = max([*drawn["counts"], 1.0])
    crowd = LARGEST_DIAMOND * min(1.0, math.sqrt(25 / max(len(source), 1)))
    diamonds = "".join(
        _diamond(point, crowd * math.sqrt(max(count, 0.0) / largest), count)
        for point, count in zip(source, drawn["counts"], strict=True)
    )
    badges = numbered_badges(chosen, plot.frame, name="Chosen point", most=LABELLED_POINTS, radius=BADGE, dot=4)
    marks = f'<path class="served" d="{dots}"/><g class="source">{diamonds}</g>{badges}'
    return plot.svg(marks, "Target, chosen points and sanitised source")


def _axis_of(name: str, values: Sequence[float]) -> Axis:
    """Return an axis that holds all values."""
    extra = 0.04 * (max(values) - min(values)) or 1.0
    return Axis(name, min(values) - extra, max(values) + extra)


def _diamond(at: Point, half: float, count: float) -> str:
    reach = f"{max(half, 2.5):.1f}"
    return (
        f'<path d="M{at[0]:.1f} {at[1] - float(reach):.1f}l{reach} {reach}l-{reach} {reach}l-{reach} -{reach}z">'
        f"<title>Sanitised source: about {number(round(count, 1))}</title></path>"
    )
