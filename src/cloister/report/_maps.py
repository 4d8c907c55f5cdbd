# SPDX-License-Identifier: Apache-2.0
"""Where the centres lie, as inline SVG: one column beside the number of rows, two columns as they are, more on principal axes.

A circle is a cluster, the larger the more rows; its number is the label. No circle covers another. On a page on which k can be
moved, the points of the synopsis stay where they are, and the centres change with k.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister.algorithms import plane_of
from cloister.columns import FloatArray, days_of
from cloister.release import NONE, plane_of_centers
from cloister.report._axes import MAP_WIDTH, WHISKER, Axis, Plot, axis_for, plot_columns, plot_plane
from cloister.report._badges import Point, badge_marks, place_badges
from cloister.report._cuts import Cut, Cuts
from cloister.report._words import axis_words
from cloister.text import plain_text, with_error

__all__ = ["COLOURS", "ClusterMap", "ScatterMap", "cluster_map", "count_words", "scatter_map"]

LINE_HEIGHT, MAP_HEIGHT = 280.0, 420.0
SMALLEST, LARGEST = 12.0, 27.0  # radius of a circle; the smallest holds two digits
MAP_MARGIN = 61.0
LABELLED = 100  # circles with numbers; of more, the clusters are dots
DOT = 2.5
COUNTS_ROOM = 1.12  # above the largest count
DRAWN_ON_AXES = ("number", "date", "flag")
COLOURS = 12  # of clusters, in the style sheet
LARGEST_SEAL, SEAL_MARGIN = 26.0, 34.0  # of a centre among points
HEAVIEST = 6.0  # radius of the heaviest point
LANE = 1.35  # height of the picture of one column, over that of the highest stem


@dataclass(frozen=True)
class ClusterMap:
    """A picture of the centres; `kind` is "line", "columns" or "plane"."""

    kind: str
    svg: str
    axes: Sequence[Axis] = ()

    @property
    def is_zoomed(self) -> bool:
        """Whether an axis shows less than the bounds of its column."""
        return not all(axis.whole for axis in self.axes)


@dataclass(frozen=True)
class ScatterMap:
    """What stays (axes and points), and the marks of every cut. `kind` is that of a map."""

    kind: str
    height: float
    axes: str
    points: Sequence[str]  # attributes of each, without its colour
    marks: Sequence[str]
    words: Sequence[str]  # of principal axes

    width: float = MAP_WIDTH


def cluster_map(summary: dict[str, Any]) -> ClusterMap:
    """Draw the centres of what :func:`summary` returned."""
    clusters, counted = summary["clusters"], summary["receipt"]["counted"]
    positions, errors = (np.array([one[name] for one in clusters]) for name in ("center", "center_error"))
    axes = _column_axes(summary, positions, errors)
    stems = ""
    if len(axes) == 1:
        counts, spreads = (np.array([one[name] for one in clusters]) for name in ("count", "count_error"))
        counts = np.maximum(counts, 0.0)
        highest = max(COUNTS_ROOM * float(np.max(counts + WHISKER * spreads)), 1.0)
        plot = plot_columns(axes[0], Axis(f"{counted} (noisy)", 0.0, highest), LINE_HEIGHT, n_up=5)
        positions, errors = np.column_stack([positions, counts]), np.column_stack([errors, spreads])
        stems = "".join(f"M{x:.1f} {y:.1f}V{plot.frame.bottom:.1f}" for x, y in map(plot.place, positions.tolist()))
        kind, stems, label = "line", f'<path class="lolly" d="{stems}"/>', f"along {axes[0].name}"
    elif axes:
        kind, label, plot = "columns", f"by {axes[0].name} and {axes[1].name}", plot_columns(axes[0], axes[1], MAP_HEIGHT)
    else:
        positions, errors = (np.array(summary["plane"][name]) for name in ("positions", "errors"))
        plot = plot_plane(positions.tolist(), MAP_MARGIN)
        kind, label = "plane", "on their first two principal axes"
    points = [plot.place(one) for one in positions.tolist()]
    # A cross of 1.96 standard errors to each side of every point.
    lines = "".join(
        f"M{x - WHISKER * wide:.1f} {y:.1f}h{2 * WHISKER * wide:.1f}M{x:.1f} {y - WHISKER * tall:.1f}v{2 * WHISKER * tall:.1f}"
        for (x, y), (wide, tall) in zip(points, map(plot.reach, errors.tolist()), strict=True)
    )
    marks = f'{stems}<path class="whisker" d="{lines}"/>{_circles(points, clusters, plot, counted, alike=kind == "line")}'
    return ClusterMap(kind, plot.svg(marks, f"Cluster centres {label}"), axes)


def scatter_map(cuts: Cuts, summary: dict[str, Any]) -> ScatterMap:
    """Draw the points and the centres of all cuts; `summary` is that of the synopsis."""
    releases, weights = [cut.release for cut in cuts.cuts], cuts.points.weights
    places = releases[0].frame.from_unit(cuts.points.points)
    axes = _column_axes(summary, places, np.zeros_like(places))
    centers = [(one.cluster_centers, one.center_errors) for one in releases]
    words: list[str] = []
    if len(axes) == 1:
        highest = max(float(weights.max()), 1.0)
        counted = f"{releases[0].receipt.counted} of a point (noisy)"
        plot = plot_columns(axes[0], Axis(counted, 0.0, LANE * highest), LINE_HEIGHT, n_up=5)
        places = np.column_stack([places, weights])
        centers = [(_beside(center, 1.2 * highest), _beside(error, 0.0)) for center, error in centers]
    elif axes:
        plot = plot_columns(axes[0], axes[1], MAP_HEIGHT)
    else:
        plane = plane_of(cuts.points.points, weights)
        places = plane.project(cuts.points.points)
        plot = plot_plane(places.tolist(), SEAL_MARGIN)
        drawn = [plane_of_centers(one, plane) for one in releases]
        centers = [(one.positions, one.errors) for one in drawn]
        words = [axis_words(*pair, spread="spread") for pair in zip(drawn[0].shares, drawn[0].loadings, strict=True)]
    kind = ("plane", "line", "columns")[len(axes)]
    sizes = np.maximum(HEAVIEST * np.sqrt(weights / max(float(weights.max()), 1e-300)), 1.6)
    points = [
        f'd="M{x:.1f} {plot.frame.bottom:.1f}V{y:.1f}"' if kind == "line" else f'cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"'
        for (x, y), size in zip(map(plot.place, places.tolist()), sizes, strict=True)
    ]
    marks = [_seals(cut, *pair, plot, cuts.points.n_rows, kind) for cut, pair in zip(cuts.cuts, centers, strict=True)]
    return ScatterMap(kind, plot.height, plot.axes, points, marks, words)


def count_words(cut: Cut, label: int) -> str:
    """Return the noisy number of rows, or persons, of a cluster, or that it does not stand out of the noise."""
    release = cut.release
    if not release.stands_out[label]:
        return NONE
    count, error = with_error(float(release.cluster_counts[label]), float(release.count_errors[label]))
    return f"{count} ± {error} {release.receipt.counted}"


def _column_axes(summary: dict[str, Any], values: FloatArray, errors: FloatArray) -> list[Axis]:
    """Return an axis for each column, where there are one or two and each is a single number; otherwise none."""
    table, axes = summary["table"], []
    if not len(table) == summary["n_features"] <= 2 or any(one["type"] not in DRAWN_ON_AXES for one in table):
        return []
    for column, own, spreads in zip(table, values.T.tolist(), errors.T.tolist(), strict=True):
        name = plain_text(column["name"])
        if column["type"] == "flag":
            axes.append(axis_for(f"{name} (share of yes)", own, spreads, low=0.0, high=1.0, kind="share"))
        else:
            low, high = (float(days_of(end) if isinstance(end, str) else end) for end in (column["low"], column["high"]))
            axes.append(axis_for(name, own, spreads, low=low, high=high, kind=column["type"]))
    return axes


def _beside(column: FloatArray, value: float) -> FloatArray:
    return np.column_stack([column, np.full(len(column), value)])


def _circles(points: Sequence[Point], clusters: Sequence[dict[str, Any]], plot: Plot, counted: str, *, alike: bool) -> str:
    """Draw a circle for each cluster, dashed where no rows stand out of the noise; dots where they are too many."""
    kinds = ["bubble" if one["stands_out"] else "hollow" for one in clusters]
    titles = [
        f"Cluster {one['label']}: "
        + (f"about {' ± '.join(with_error(one['count'], one['count_error']))} {counted}" if one["stands_out"] else NONE)
        for one in clusters
    ]
    if len(clusters) > LABELLED:
        return "".join(
            f'<g><title>{title}</title><circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{DOT:g}"/></g>'
            for title, kind, (x, y) in zip(titles, kinds, points, strict=True)
        )
    largest = max(max(one["count"] for one in clusters), 1.0)
    crowd = LARGEST * min(1.0, math.sqrt(12 / len(clusters)))
    shares = [0.0 if alike or not one["stands_out"] else math.sqrt(max(one["count"], 0.0) / largest) for one in clusters]
    badges = place_badges(points, [max(SMALLEST, crowd * share) for share in shares], plot.frame)
    return "".join(
        badge_marks(badge, str(one["label"]), kind=kind, title=title)
        for badge, one, kind, title in zip(badges, clusters, kinds, titles, strict=True)
    )


def _seals(cut: Cut, centers: FloatArray, errors: FloatArray, plot: Plot, n_rows: float, kind: str) -> str:
    """Draw a cross and a numbered circle for each centre of a cut, the larger the more rows."""
    release, frame, places = cut.release, plot.frame, [plot.place(one) for one in centers.tolist()]
    shares = np.maximum(release.cluster_counts, 0.0) / max(n_rows, 1.0)
    radii = [SMALLEST if kind == "line" else max(SMALLEST, LARGEST_SEAL * math.sqrt(min(float(one), 1.0))) for one in shares]
    lines = "".join(
        f"M{max(x - WHISKER * wide, frame.left):.1f} {y:.1f}H{min(x + WHISKER * wide, frame.right):.1f}"
        f"M{x:.1f} {max(y - WHISKER * tall, frame.top):.1f}V{min(y + WHISKER * tall, frame.bottom):.1f}"
        for (x, y), (wide, tall) in zip(places, map(plot.reach, errors.tolist()), strict=True)
    )
    circles = []
    for label, badge in enumerate(place_badges(places, radii, frame)):
        seal = "seal" if release.stands_out[label] else "seal unseen"
        marks = badge_marks(badge, str(label), kind=seal, title=f"Cluster {label}: {count_words(cut, label)}")
        circles.append(f'<g class="c{cut.lines[label] % COLOURS}" data-label="{label}">{marks}</g>')
    return f'<path class="whisker" d="{lines}"/>{"".join(circles)}'
