# SPDX-License-Identifier: Apache-2.0
"""The map of a page on which k can be moved: the points of a synopsis stay where they are, the centres change with k.

One column: the points as stems, as high as their rows, and the centres above them. Two columns: as they are. More: principal
axes of the points.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister.algorithms import plane_of
from cloister.columns import FloatArray, days_of
from cloister.release import plane_of_centers
from cloister.report._axes import Axis, axis_for
from cloister.report._badges import Frame, badge_marks, place_badges
from cloister.report._cuts import Cut, Cuts
from cloister.report._figures import MAP_WIDTH, WHISKER, Point, fit_map
from cloister.report._format import plain_text, with_error
from cloister.report._maps import DRAWN_ON_AXES, LINE_HEIGHT, MAP_HEIGHT
from cloister.report._plot import Plot
from cloister.report._words import axis_words

__all__ = ["COLOURS", "ScatterMap", "count_words", "scatter_map"]

COLOURS = 12  # of clusters, in the style sheet
SMALLEST, LARGEST = 12.0, 26.0  # radius of a circle
DOT = 6.0  # radius of the heaviest point
MAP_MARGIN = LARGEST + 8
LANE = 1.35  # height of the picture of one column, over that of the highest stem
NO_ROWS = "none above the noise"

Place = Callable[[FloatArray], Point]


@dataclass(frozen=True)
class ScatterMap:
    """What stays (axes and points), and the marks of every cut. `kind` is "line", "columns" or "plane"."""

    kind: str
    height: float
    axes: str
    points: Sequence[str]  # attributes of each, without its colour
    marks: Sequence[str]
    words: Sequence[str]  # of principal axes

    width: float = MAP_WIDTH


@dataclass(frozen=True)
class _Layout:
    """Where points and the centres of each cut stand, and how far a standard error reaches."""

    kind: str
    height: float
    axes: str
    frame: Frame
    points: Sequence[Point]
    centers: Sequence[Sequence[Point]]
    spreads: Sequence[Sequence[tuple[float, float]]]
    words: Sequence[str] = ()


def scatter_map(cuts: Cuts, summary: dict[str, Any]) -> ScatterMap:
    """Draw the points and the centres of all cuts; `summary` is that of the synopsis."""
    columns = _drawn_columns(summary)
    layout = {0: _on_plane, 1: _on_line, 2: _on_columns}[len(columns)](cuts, columns)
    weights, line = cuts.points.weights, layout.kind == "line"
    sizes = np.maximum(DOT * np.sqrt(weights / max(float(weights.max()), 1e-300)), 1.6)
    points = [
        f'd="M{x:.1f} {layout.frame.bottom:.1f}V{y:.1f}"' if line else f'cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"'
        for (x, y), size in zip(layout.points, sizes, strict=True)
    ]
    parts = zip(cuts.cuts, layout.centers, layout.spreads, strict=True)
    marks = [_marks(cut, centers, spreads, layout.frame, cuts.points.n_rows, alike=line) for cut, centers, spreads in parts]
    return ScatterMap(layout.kind, layout.height, layout.axes, points, marks, layout.words)


def count_words(cut: Cut, label: int) -> str:
    """Return the noisy number of rows, or persons, of a cluster, or that it does not stand out of the noise."""
    release = cut.release
    if not release.stands_out[label]:
        return NO_ROWS
    count, error = with_error(float(release.cluster_counts[label]), float(release.count_errors[label]))
    return f"{count} ± {error} {release.receipt.counted}"


# -- where things stand ----------------------------------------------------------------------------------------------------


def _drawn_columns(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the columns where there are one or two and each is a single number; otherwise none."""
    table = summary["table"]
    alone = len(table) == summary["n_features"] <= 2 and all(one["type"] in DRAWN_ON_AXES for one in table)
    return list(table) if alone else []


def _axis(column: dict[str, Any], index: int, places: FloatArray) -> Axis:
    values, name = places[:, index].tolist(), plain_text(column["name"])
    if column["type"] == "flag":
        return axis_for(f"{name} (share of yes)", values, [0.0] * len(values), low=0.0, high=1.0, kind="share")
    low, high = (float(days_of(end) if isinstance(end, str) else end) for end in (column["low"], column["high"]))
    return axis_for(name, values, [0.0] * len(values), low=low, high=high, kind=column["type"])


def _places(cuts: Cuts) -> FloatArray:
    return cuts.cuts[0].release.frame.from_unit(cuts.points.points)


def _on_line(cuts: Cuts, columns: Sequence[dict[str, Any]]) -> _Layout:
    places, weights = _places(cuts), cuts.points.weights
    highest = max(float(weights.max()), 1.0)
    counted = f"{cuts.cuts[0].release.receipt.counted} of a point (noisy)"
    plot = Plot(_axis(columns[0], 0, places), Axis(counted, 0.0, LANE * highest), LINE_HEIGHT, n_up=5)
    centers = [[plot.place(float(x), 1.2 * highest) for x in cut.release.cluster_centers[:, 0]] for cut in cuts.cuts]
    spreads = [[(plot.length_across(float(one)), 0.0) for one in cut.release.center_errors[:, 0]] for cut in cuts.cuts]
    points = [plot.place(float(x), float(y)) for x, y in zip(places[:, 0], weights, strict=True)]
    return _Layout("line", LINE_HEIGHT, plot.axes(), plot.frame, points, centers, spreads)


def _on_columns(cuts: Cuts, columns: Sequence[dict[str, Any]]) -> _Layout:
    places = _places(cuts)
    across, up = (_axis(column, index, places) for index, column in enumerate(columns))
    plot = Plot(across, up, MAP_HEIGHT)
    releases = [cut.release for cut in cuts.cuts]
    centers = [[plot.place(float(x), float(y)) for x, y in one.cluster_centers] for one in releases]
    spreads = [[(plot.length_across(float(x)), plot.length_up(float(y))) for x, y in one.center_errors] for one in releases]
    points = [plot.place(float(x), float(y)) for x, y in places]
    return _Layout("columns", MAP_HEIGHT, plot.axes(), plot.frame, points, centers, spreads)


def _on_plane(cuts: Cuts, columns: Sequence[dict[str, Any]]) -> _Layout:
    plane = plane_of(cuts.points.points, cuts.points.weights)
    positions = [(float(x), float(y)) for x, y in plane.project(cuts.points.points)]
    place, height = fit_map(positions, MAP_MARGIN)
    drawn = [plane_of_centers(cut.release, plane) for cut in cuts.cuts]
    x, y = place((0.0, 0.0))
    axes = (
        f'<path class="rule" d="M8 {y:.1f}H{MAP_WIDTH - 8:g}M{x:.1f} 8V{height - 8:.1f}"/>'
        f'<text class="axis" x="{MAP_WIDTH - 8:g}" y="{y - 5:.1f}" text-anchor="end">axis 1</text>'
        f'<text class="axis" x="{x + 5:.1f}" y="18">axis 2</text>'
    )
    words = [axis_words(*pair, spread="spread") for pair in zip(drawn[0].shares, drawn[0].loadings, strict=True)]
    return _Layout(
        kind="plane",
        height=height,
        axes=axes,
        frame=Frame(4.0, 4.0, MAP_WIDTH - 4, height - 4),
        points=[place(one) for one in positions],
        centers=[[place((float(x), float(y))) for x, y in one.positions] for one in drawn],
        spreads=[[(place.scale * float(wide), place.scale * float(tall)) for wide, tall in one.errors] for one in drawn],
        words=words,
    )


# -- marks -----------------------------------------------------------------------------------------------------------------


def _marks(
    cut: Cut, centers: Sequence[Point], spreads: Sequence[tuple[float, float]], frame: Frame, n_rows: float, *, alike: bool
) -> str:
    """Draw a cross and a numbered circle for each centre, the larger the more rows."""
    counts = np.maximum(cut.release.cluster_counts, 0.0) / max(n_rows, 1.0)
    radii = [SMALLEST if alike else max(SMALLEST, LARGEST * math.sqrt(min(float(share), 1.0))) for share in counts]
    badges = place_badges(centers, radii, frame)
    lines = "".join(
        f"M{max(x - WHISKER * wide, frame.left):.1f} {y:.1f}H{min(x + WHISKER * wide, frame.right):.1f}"
        f"M{x:.1f} {max(y - WHISKER * tall, frame.top):.1f}V{min(y + WHISKER * tall, frame.bottom):.1f}"
        for (x, y), (wide, tall) in zip(centers, spreads, strict=True)
    )
    circles = "".join(_circle(cut, label, badge) for label, badge in enumerate(badges))
    return f'<path class="whisker" d="{lines}"/>{circles}'


def _circle(cut: Cut, label: int, badge: Any) -> str:
    kind = "seal" if cut.release.stands_out[label] else "seal unseen"
    marks = badge_marks(badge, str(label), kind=kind, title=f"Cluster {label}: {count_words(cut, label)}")
    return f'<g class="c{cut.lines[label] % COLOURS}" data-label="{label}">{marks}</g>'
