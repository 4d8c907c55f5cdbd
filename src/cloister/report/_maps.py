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
from cloister.columns import FloatArray
from cloister.release import NONE, Release, axis_words, coordinates_of, plane_of_centers, rows_words
from cloister.report._cuts import Cuts
from cloister.report._pages import Picture
from cloister.report._plot import WHISKER, Axis, Plot, axis_for, draw_badges, plot_columns, plot_plane
from cloister.text import plain_text

LINE_HEIGHT, MAP_HEIGHT = 280.0, 420.0
SMALLEST, LARGEST = 12.0, 27.0  # radius of a circle; the smallest holds two digits
MAP_MARGIN = 61.0
LABELLED = 100  # circles with numbers; of more, the clusters are dots
DOT = 2.5
COUNTS_ROOM = 1.12  # above the largest count
COUNT_TICKS = 5
COLOURS = 12  # of clusters, in the style sheet
LARGEST_SEAL, SEAL_MARGIN = 26.0, 34.0  # of a centre among points
HEAVIEST = 6.0  # radius of the heaviest point
LANE, ABOVE = 1.35, 1.2  # height of the picture of one column, and of its centres, over that of the highest stem
KINDS = ("plane", "line", "columns")  # of a map, by the number of its axes


@dataclass(frozen=True)
class ScatterMap:
    """What stays (axes and points), and the marks of every cut. `kind` is "line", "columns" or "plane"."""

    kind: str
    plot: Plot
    points: Sequence[str]  # attributes of each, without its colour
    marks: Sequence[str]
    words: Sequence[str]  # of principal axes


def cluster_map(release: Release) -> dict[str, Any]:
    """Draw the centres of a release; `words` are those of principal axes.

    A map is zoomed where an axis shows less than the bounds of its column.
    """
    centers, errors, counts = release.cluster_centers, release.center_errors, np.maximum(release.cluster_counts, 0.0)
    axes, stems, words = _column_axes(release, centers, errors), "", []
    kind = KINDS[len(axes)]
    if kind == "line":
        highest = max(COUNTS_ROOM * float(np.max(counts + WHISKER * release.count_errors)), 1.0)
        up = Axis(f"{release.receipt.counted} (noisy)", 0.0, highest, most=COUNT_TICKS)
        plot, label = plot_columns(axes[0], up, LINE_HEIGHT), f"along {axes[0].name}"
        centers, errors = np.column_stack([centers, counts]), np.column_stack([errors, release.count_errors])
        lines = "".join(f"M{x:.1f} {y:.1f}V{plot.frame.bottom:.1f}" for x, y in map(plot.place, centers.tolist()))
        stems = f'<path class="lolly" d="{lines}"/>'
    elif kind == "columns":
        plot, label = plot_columns(axes[0], axes[1], MAP_HEIGHT), f"by {axes[0].name} and {axes[1].name}"
    else:
        plane = plane_of_centers(release)
        centers, errors = plane.positions, plane.errors
        plot, label = plot_plane(centers.tolist(), MAP_MARGIN), "on their first two principal axes"
        words = [axis_words(*pair) for pair in zip(plane.shares, plane.loadings, strict=True)]
    largest = 0.0 if kind == "line" else LARGEST * min(1.0, math.sqrt(12 / release.n_clusters))
    circles = "".join(_circles(release, centers, float(counts.max()), largest, plot, ("bubble", "hollow")))
    marks = f'{stems}<path class="whisker" d="{plot.crosses(centers.tolist(), errors.tolist())}"/>{circles}'
    picture = Picture(plot.svg(marks, f"Cluster centres {label}"))
    return {"kind": kind, "picture": picture, "words": words, "is_zoomed": not all(axis.whole for axis in axes)}


def scatter_map(cuts: Cuts) -> ScatterMap:
    """Draw the points and the centres of all cuts."""
    releases, weights = [cut.release for cut in cuts.cuts], cuts.points.weights
    places = releases[0].frame.from_unit(cuts.points.points)
    axes, heaviest = _column_axes(releases[0], places, np.zeros_like(places)), float(weights.max())
    kind, words = KINDS[len(axes)], []
    centers = [(one.cluster_centers, one.center_errors) for one in releases]
    if kind == "line":
        highest = max(heaviest, 1.0)
        up = Axis(f"{releases[0].receipt.counted} of a point (noisy)", 0.0, LANE * highest, most=COUNT_TICKS)
        plot, places = plot_columns(axes[0], up, LINE_HEIGHT), np.column_stack([places, weights])
        centers = [(_beside(center, ABOVE * highest), _beside(error, 0.0)) for center, error in centers]
    elif kind == "columns":
        plot = plot_columns(axes[0], axes[1], MAP_HEIGHT)
    else:
        plane = plane_of(cuts.points.points, weights)
        places = plane.project(cuts.points.points)
        plot, drawn = plot_plane(places.tolist(), SEAL_MARGIN), [plane_of_centers(one, plane) for one in releases]
        centers = [(one.positions, one.errors) for one in drawn]
        words = [axis_words(*pair, spread="spread") for pair in zip(drawn[0].shares, drawn[0].loadings, strict=True)]
    sizes = np.maximum(HEAVIEST * np.sqrt(weights / max(heaviest, 1e-300)), 1.6)
    points = [
        f'd="M{x:.1f} {plot.frame.bottom:.1f}V{y:.1f}"' if kind == "line" else f'cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"'
        for (x, y), size in zip(map(plot.place, places.tolist()), sizes, strict=True)
    ]
    marks, largest = [], 0.0 if kind == "line" else LARGEST_SEAL
    for cut, (center, error) in zip(cuts.cuts, centers, strict=True):
        circles = _circles(cut.release, center, cuts.points.n_rows, largest, plot, ("seal", "seal unseen"))
        seals = "".join(
            f'<g class="c{line % COLOURS}" data-label="{label}">{circle}</g>'
            for label, (line, circle) in enumerate(zip(cut.lines, circles, strict=True))
        )
        marks.append(f'<path class="whisker" d="{plot.crosses(center.tolist(), error.tolist())}"/>{seals}')
    return ScatterMap(kind, plot, points, marks, words)


def count_words(release: Release, label: int) -> str:
    """Return the noisy number of rows, or persons, of a cluster, or that it does not stand out of the noise."""
    if not release.stands_out[label]:
        return NONE
    return f"{rows_words(float(release.cluster_counts[label]), float(release.count_errors[label]))} {release.receipt.counted}"


def _column_axes(release: Release, values: FloatArray, errors: FloatArray) -> list[Axis]:
    """Return an axis for each column, where there are one or two and each is a single number; otherwise none."""
    if not release.n_columns == release.n_features <= 2:
        return []
    axes = []
    for one, own, spreads in zip(coordinates_of(release.domain, release.columns), values.T, errors.T, strict=True):
        name = f"{plain_text(one.name)} (share of yes)" if one.is_share else plain_text(one.name)
        axes.append(axis_for(name, own, spreads, low=one.low, high=one.high, unit=one.unit_name))
    return axes


def _beside(column: FloatArray, value: float) -> FloatArray:
    return np.column_stack([column, np.full(len(column), value)])


def _circles(
    release: Release, centers: FloatArray, whole: float, largest: float, plot: Plot, kinds: tuple[str, str]
) -> list[str]:
    """Draw a circle for each cluster, dots where they are many; the `largest` would hold the `whole` number of rows.

    Where no rows stand out of the noise, it is the smallest, and of the second kind.
    """
    shares = np.where(release.stands_out, np.maximum(release.cluster_counts, 0.0), 0.0) / max(whole, 1.0)
    radii = [max(SMALLEST, largest * math.sqrt(min(share, 1.0))) for share in shares.tolist()]
    points = [plot.place(one) for one in centers.tolist()]
    own = [kinds[0] if seen else kinds[1] for seen in release.stands_out]
    titles = [f"Cluster {label}: {count_words(release, label)}" for label in range(release.n_clusters)]
    return draw_badges(points, radii, plot.frame, kinds=own, titles=titles, most=LABELLED, dot=DOT)
