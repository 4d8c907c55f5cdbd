# SPDX-License-Identifier: Apache-2.0
"""The page of source-target clustering: a map of the public target, the chosen points and the sanitised source."""

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from cloister.algorithms import Plane, plane_of
from cloister.columns import FloatArray
from cloister.release import Release, TargetDetails
from cloister.report._axes import Axis
from cloister.report._badges import Frame, badge_marks, place_badges
from cloister.report._figures import MAP_WIDTH, Point, fit_map
from cloister.report._format import count_of, number, plain_text, share_text
from cloister.report._pages import Picture, Table, render_page
from cloister.report._plot import Plot
from cloister.report._steps import course_of
from cloister.report._tables import shared_parts

__all__ = ["source_target_html", "source_target_map", "source_target_summary"]

DRAWN_SOURCE = 600  # sanitised points, those with the largest counts
LABELLED_POINTS = 40
LISTED_COLUMNS = 16
LARGEST_DIAMOND = 13.0  # half its width
MARGIN = 30.0
MAP_HEIGHT = 420.0
BADGE = 12.0  # radius of a chosen point: two digits fit


def source_target_summary(release: Release) -> dict[str, Any]:
    """Return what the target, the chosen points and the source have to do with each other, as numbers and in words.

    Examples
    --------
    >>> from cloister import SourceTargetKMedoids
    >>> model = SourceTargetKMedoids(1, epsilon=5.0, random_state=0).fit([[0.0], [1.0]], source=[[1.0]] * 50)
    >>> source_target_summary(model.release_)["n_target"]
    2
    """
    found = _details(release)
    n_target, served, sources = found.n_target, found.served, len(found.source)
    cost, chosen, alone = found.cost, found.cost_of_chosen, found.cost_alone
    without = f"{number(chosen)} without it; {number(alone)} if the points had been chosen as if there were no source."
    bound, likely = found.error_bound, f"With probability {2 * found.confidence - 1:.4g}"
    bounded = [f"{likely} the sanitised source misjudges the cost of no choice by more than {number(bound)}."] if bound else []
    through = f"through {count_of(sources, 'sanitised point')}" if sources else "no part of it stands out from the noise"
    serves = f"{served:,} of {n_target:,} target points ({share_text(served / n_target)})"
    return {
        "n_target": n_target,
        "rows": list(found.rows),
        "served_by_source": served,
        "n_sanitized": sources,
        "cost": cost,
        "cost_of_chosen": chosen,
        "cost_alone": alone,
        "words": [
            f"The source, as sanitised, serves {serves}: {through}.",
            f"Mean distance of a target point to its nearest centre: {number(cost)} with the sanitised source, {without}",
            *bounded,
        ],
    }


def source_target_map(release: Release) -> dict[str, Any]:
    """Return the target, the chosen points and the sanitised source in a plane, and what its axes are."""
    width = release.n_features
    found = _details(release)
    source, counts = found.source, found.counts
    drawn = np.argsort(-counts, kind="stable")[:DRAWN_SOURCE]
    plane = _plane(found.target)
    return {
        "target": plane.project(found.target).tolist(),
        "chosen": plane.project(release.cluster_centers).tolist(),
        "source": plane.project(source[drawn]).tolist(),
        "counts": counts[drawn].tolist(),
        "n_source": len(source),
        "share": sum(plane.shares),
        "in_units": width == 2,
        "axes": list(release.columns[:2]) if width == 2 else ["axis 1", "axis 2"] if width > 2 else [release.columns[0], ""],
    }


def _details(release: Release) -> TargetDetails:
    found = release.source_target
    assert found is not None
    return found


def source_target_html(summary: dict[str, Any]) -> str:
    """Return the page, from what :func:`summary` returned."""
    found, drawn = summary["source_target"], summary["map"]
    picked = sorted(summary["ranking"][:LISTED_COLUMNS])
    served = f"{share_text(found['served_by_source'] / found['n_target'])} of the target, by sanitised points"
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
        chosen=_chosen(summary, picked),
        n_listed=len(picked),
        shared=shared_parts(summary),
        course=course_of(summary),
    )


def _chosen(summary: dict[str, Any], picked: Sequence[int]) -> Table:
    heads = ["Label", "Row of the target", "Points served", *(summary["columns"][index] for index in picked)]
    rows = [
        [str(one["label"]), str(row), number(one["count"]), *(number(one["center"][index]) for index in picked)]
        for one, row in zip(summary["clusters"], summary["source_target"]["rows"], strict=True)
    ]
    return Table(heads, rows, numeric=range(len(heads)))


# -- the picture --------------------------------------------------------------------------------------------------------


def _picture(drawn: dict[str, Any]) -> str:
    target, chosen, source = ([(x, y) for x, y in drawn[name]] for name in ("target", "chosen", "source"))
    label = "Target, chosen points and sanitised source"
    if drawn["in_units"]:
        plot = _plot(drawn["axes"], [*target, *chosen, *source])
        return plot.svg(_marks(drawn, lambda point: plot.place(*point), plot.frame), label)
    place, height = fit_map([*target, *chosen, *source], MARGIN)
    frame = Frame(4.0, 4.0, MAP_WIDTH - 4, height - 4)
    across, up = (escape(plain_text(name)) if name else "" for name in drawn["axes"])
    return (
        f'<svg class="map" viewBox="0 0 {MAP_WIDTH:g} {height:.0f}" role="img" aria-label="{label}">'
        f"{_marks(drawn, place, frame)}"
        f'<text class="axis" x="{MAP_WIDTH - 8:g}" y="{height - 8:.0f}" text-anchor="end">{across}</text>'
        f'<text class="axis" transform="translate(16 8) rotate(-90)" text-anchor="end">{up}</text></svg>'
    )


def _plot(names: Sequence[str], points: Sequence[Point]) -> Plot:
    """Return two columns as axes that hold all points."""
    axes = []
    for name, values in zip(names, zip(*points, strict=True), strict=True):
        extra = 0.04 * (max(values) - min(values)) or 1.0
        axes.append(Axis(plain_text(name), min(values) - extra, max(values) + extra))
    return Plot(axes[0], axes[1], MAP_HEIGHT)


def _marks(drawn: dict[str, Any], place: Callable[[Point], Point], frame: Frame) -> str:
    """Draw target, source and chosen points."""
    target, chosen, source = ([place((x, y)) for x, y in drawn[name]] for name in ("target", "chosen", "source"))
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in target)
    largest = max([*drawn["counts"], 1.0])
    crowd = LARGEST_DIAMOND * min(1.0, math.sqrt(25 / max(len(source), 1)))
    diamonds = "".join(
        _diamond(point, crowd * math.sqrt(max(count, 0.0) / largest), count)
        for point, count in zip(source, drawn["counts"], strict=True)
    )
    return f'<path class="served" d="{dots}"/><g class="source">{diamonds}</g>{_badges(chosen, frame)}'


def _diamond(at: Point, half: float, count: float) -> str:
    reach = f"{max(half, 2.5):.1f}"
    return (
        f'<path d="M{at[0]:.1f} {at[1] - float(reach):.1f}l{reach} {reach}l-{reach} {reach}l-{reach} -{reach}z">'
        f"<title>Sanitised source: about {number(round(count, 1))}</title></path>"
    )


def _badges(points: Sequence[Point], frame: Frame) -> str:
    if len(points) > LABELLED_POINTS:
        return "".join(f'<circle class="badge" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in points)
    badges = enumerate(place_badges(points, [BADGE] * len(points), frame))
    return "".join(badge_marks(badge, str(label), kind="badge", title=f"Chosen point {label}") for label, badge in badges)


def _plane(target: FloatArray) -> Plane:
    """Return the plane to draw the target in: its own columns if there are two."""
    width = target.shape[1]
    return plane_of(target) if width > 2 else Plane(np.zeros(width), np.eye(width, 2), (1.0, 0.0))
