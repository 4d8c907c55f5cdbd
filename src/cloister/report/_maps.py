# SPDX-License-Identifier: Apache-2.0
"""Where the centres lie, as inline SVG: one column beside the number of rows, two columns as they are, more on principal axes.

A circle is a cluster, the larger the more rows; its number is the label. No circle covers another.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cloister.columns import days_of
from cloister.release import NONE
from cloister.report._axes import Axis, axis_for
from cloister.report._badges import Frame, badge_marks, place_badges
from cloister.report._figures import MAP_WIDTH, WHISKER, Point, fit_map
from cloister.report._format import plain_text, with_error
from cloister.report._plot import Plot

__all__ = ["ClusterMap", "cluster_map"]

LINE_HEIGHT, MAP_HEIGHT = 280.0, 420.0
SMALLEST, LARGEST = 12.0, 27.0  # radius of a circle; the smallest holds two digits
LABELLED = 100  # circles with numbers; of more, the clusters are dots
DOT = 2.5
MAP_MARGIN = 34.0
COUNTS_ROOM = 1.12  # above the largest count
DRAWN_ON_AXES = ("number", "date", "flag")


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


def cluster_map(summary: dict[str, Any]) -> ClusterMap:
    """Draw the centres of what :func:`summary` returned."""
    axes, clusters, counted = _column_axes(summary), summary["clusters"], summary["receipt"]["counted"]
    if len(axes) == 1:
        return ClusterMap("line", _line(axes[0], clusters, counted), axes)
    if len(axes) == 2:
        return ClusterMap("columns", _columns(axes[0], axes[1], clusters, counted), axes)
    return ClusterMap("plane", _plane(summary["plane"], clusters, counted))


def _column_axes(summary: dict[str, Any]) -> list[Axis]:
    """Return an axis for each column, where there are one or two and each is a single number; otherwise none."""
    table = summary["table"]
    if not len(table) == summary["n_features"] <= 2 or any(one["type"] not in DRAWN_ON_AXES for one in table):
        return []
    return [_axis(one, index, summary["clusters"]) for index, one in enumerate(table)]


def _axis(column: dict[str, Any], index: int, clusters: Sequence[dict[str, Any]]) -> Axis:
    values, errors = ([cluster[name][index] for cluster in clusters] for name in ("center", "center_error"))
    name = plain_text(column["name"])
    if column["type"] == "flag":
        return axis_for(f"{name} (share of yes)", values, errors, low=0.0, high=1.0, kind="share")
    low, high = (float(days_of(end) if isinstance(end, str) else end) for end in (column["low"], column["high"]))
    return axis_for(name, values, errors, low=low, high=high, kind=column["type"])


# -- pictures --------------------------------------------------------------------------------------------------------------


def _line(axis: Axis, clusters: Sequence[dict[str, Any]], counted: str) -> str:
    """Draw the centres along their column, each as high as its noisy count; `counted` is what that is a number of."""
    counts = [max(cluster["count"], 0.0) for cluster in clusters]
    highest = max(
        COUNTS_ROOM * max(count + WHISKER * one["count_error"] for count, one in zip(counts, clusters, strict=True)), 1.0
    )
    plot = Plot(axis, Axis(f"{counted} (noisy)", 0.0, highest), LINE_HEIGHT, n_up=5)
    points = [plot.place(cluster["center"][0], count) for cluster, count in zip(clusters, counts, strict=True)]
    stems = "".join(f"M{x:.1f} {y:.1f}V{plot.frame.bottom:.1f}" for x, y in points)
    spreads = [(plot.length_across(one["center_error"][0]), plot.length_up(one["count_error"])) for one in clusters]
    circles = _circles(points, clusters, plot.frame, counted, alike=True)
    marks = f'<path class="lolly" d="{stems}"/>{_whiskers(points, spreads)}{circles}'
    return plot.svg(marks, f"Cluster centres along {axis.name}")


def _columns(across: Axis, up: Axis, clusters: Sequence[dict[str, Any]], counted: str) -> str:
    """Draw the centres on their two columns."""
    plot = Plot(across, up, MAP_HEIGHT)
    points = [plot.place(*cluster["center"]) for cluster in clusters]
    spreads = [(plot.length_across(one["center_error"][0]), plot.length_up(one["center_error"][1])) for one in clusters]
    marks = _whiskers(points, spreads) + _circles(points, clusters, plot.frame, counted)
    return plot.svg(marks, f"Cluster centres by {across.name} and {up.name}")


def _plane(plane: dict[str, Any], clusters: Sequence[dict[str, Any]], counted: str) -> str:
    """Draw the centres on their first two principal axes."""
    positions = [(float(x), float(y)) for x, y in plane["positions"]]
    place, height = fit_map(positions, LARGEST + MAP_MARGIN)
    points = [place(position) for position in positions]
    spreads = [(place.scale * float(wide), place.scale * float(tall)) for wide, tall in plane["errors"]]
    x, y = place((0.0, 0.0))
    frame = Frame(4.0, 4.0, MAP_WIDTH - 4, height - 4)
    return (
        f'<svg class="map" viewBox="0 0 {MAP_WIDTH:g} {height:.0f}" role="img" aria-label="Cluster centres on their first two '
        'principal axes">'
        f'<path class="rule" d="M8 {y:.1f}H{MAP_WIDTH - 8:g}M{x:.1f} 8V{height - 8:.1f}"/>'
        f'<text class="axis" x="{MAP_WIDTH - 8:g}" y="{y - 5:.1f}" text-anchor="end">axis 1</text>'
        f'<text class="axis" x="{x + 5:.1f}" y="18">axis 2</text>'
        f"{_whiskers(points, spreads)}{_circles(points, clusters, frame, counted)}</svg>"
    )


# -- marks -----------------------------------------------------------------------------------------------------------------


def _whiskers(points: Sequence[Point], spreads: Sequence[tuple[float, float]]) -> str:
    """Draw a cross of 1.96 standard errors to each side of every point; `spreads` are standard errors in the picture."""
    reach = [(x, y, WHISKER * wide, WHISKER * tall) for (x, y), (wide, tall) in zip(points, spreads, strict=True)]
    lines = "".join(
        f"M{x - wide:.1f} {y:.1f}h{2 * wide:.1f}M{x:.1f} {y - tall:.1f}v{2 * tall:.1f}" for x, y, wide, tall in reach
    )
    return f'<path class="whisker" d="{lines}"/>'


def _circles(
    points: Sequence[Point], clusters: Sequence[dict[str, Any]], frame: Frame, counted: str, *, alike: bool = False
) -> str:
    """Draw a circle for each cluster, dashed where no rows stand out of the noise; dots where they are too many."""
    if len(clusters) > LABELLED:
        return "".join(
            f'<g><title>{_title(one, counted)}</title><circle class="{_kind(one)}" cx="{x:.1f}" cy="{y:.1f}" r="{DOT:g}"/></g>'
            for one, (x, y) in zip(clusters, points, strict=True)
        )
    largest = max(max(cluster["count"] for cluster in clusters), 1.0)
    crowd = LARGEST * min(1.0, math.sqrt(12 / len(clusters)))
    shares = [
        0.0 if alike or not cluster["stands_out"] else math.sqrt(max(cluster["count"], 0.0) / largest) for cluster in clusters
    ]
    badges = place_badges(points, [max(SMALLEST, crowd * share) for share in shares], frame)
    return "".join(
        badge_marks(badge, str(one["label"]), kind=_kind(one), title=_title(one, counted))
        for badge, one in zip(badges, clusters, strict=True)
    )


def _kind(cluster: dict[str, Any]) -> str:
    return "bubble" if cluster["stands_out"] else "hollow"


def _title(cluster: dict[str, Any], counted: str) -> str:
    if not cluster["stands_out"]:
        return f"Cluster {cluster['label']}: {NONE}"
    count, error = with_error(cluster["count"], cluster["count_error"])
    return f"Cluster {cluster['label']}: about {count} ± {error} {counted}"
