# SPDX-License-Identifier: Apache-2.0
"""Clusters: where their centres lie, as large as their counts, and how they differ from all rows, column by column."""

import math
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cloister.columns import FloatArray
from cloister.plotting._charts import ACCENT, FAINT, INK, LONGEST_NAME, axes_for, label_of
from cloister.text import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WHERE = "Release.plot"
LARGEST_RADIUS = 22.0  # points, of the largest count
SMALLEST_RADIUS = 2.5
LABELLED = 200  # of more centres, none is labelled
FONT = 9.0
BESIDE = ((1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))  # where a label may be, seen from its disc
FURTHER = (0.0, 7.0)  # points from it
HIDDEN_DISC = 0.3  # how much a label on another disc matters, beside one on another label
COLOURS = ("#5a78c2", "#f5f4f0", "#e08a3c")  # below, at and above the mean: apart for colour-blind readers, and dark text reads
NOTICED = 2.0  # standard errors: a difference that is smaller stays pale
WRITTEN = 12  # up to so many columns, the values are written into the cells
LARGEST_SIZE = 40.0  # inches


# -- the map -------------------------------------------------------------------------------------------------------------------


def plot_map(
    positions: FloatArray,
    errors: FloatArray,
    counts: FloatArray,
    *,
    names: Sequence[str],
    dates: Sequence[bool],
    counted: str,
    ax: Any,
) -> "Axes":
    """Draw centres in a plane, with their standard errors; areas of discs are noisy counts, hollow diamonds are none.

    `dates` says which of the axes are days since 1970-01-01, `counted` what the counts are numbers of.
    """
    axes = axes_for(WHERE, ax, size=(7.0, 5.2))
    # Radii are in points; with many centres all of them are smaller.
    largest = max(float(np.max(counts, initial=0.0)), 1e-9)
    top = max(LARGEST_RADIUS / math.sqrt(max(1.0, len(counts) / 10)), 2 * SMALLEST_RADIUS)
    radii = np.maximum(top * np.sqrt(np.maximum(counts, 0.0) / largest), SMALLEST_RADIUS)
    (x, y), full = positions.T, counts > 0
    axes.errorbar(x, y, xerr=errors[:, 0], yerr=errors[:, 1], fmt="none", ecolor=INK, elinewidth=0.8, zorder=3)
    style: dict[str, Any] = {"alpha": 0.45, "color": ACCENT, "linewidths": 0.8, "edgecolors": ACCENT}
    axes.scatter(x[full], y[full], s=(2 * radii[full]) ** 2, zorder=2, **style)
    if not full.all():
        hollow: dict[str, Any] = {"marker": "D", "facecolors": "none", "edgecolors": INK, "zorder": 2}
        axes.scatter(x[~full], y[~full], s=30.0, label=f"no {counted} above the noise", **hollow)
    for place, date in zip(("x", "y"), dates, strict=True):
        if date:
            getattr(axes, f"{place}axis_date")()
    axes.set_xlabel(label_of(names[0]))
    axes.set_ylabel(label_of(names[1]))
    axes.margins(0.12)
    axes.grid(color=FAINT, alpha=0.2, linewidth=0.6)
    axes.set_axisbelow(True)
    _add_legend(axes, counts, radii, counted)
    _add_labels(axes, positions, radii)
    return axes


def _add_legend(axes: "Axes", counts: FloatArray, radii: FloatArray, counted: str) -> None:
    """Say what the areas mean, by the radius of a round number of rows."""
    from matplotlib.lines import Line2D

    handles, texts = axes.get_legend_handles_labels()
    largest = float(np.max(counts, initial=0.0))
    if largest >= 1:
        level = 10.0 ** math.floor(math.log10(largest))
        level *= next(step for step in (5, 2, 1) if step * level <= largest)
        radius = float(radii.max()) * math.sqrt(level / largest)
        disc = Line2D([], [], marker="o", linestyle="", markersize=2 * radius, color=ACCENT, alpha=0.45)
        handles, texts = [disc, *handles], [f"{number(level)} {counted}", *texts]
    if handles:
        size = max(2 * float(radii.max()) / FONT, 1.5)
        room: dict[str, Any] = {"handlelength": size, "handleheight": size}
        axes.legend(handles, texts, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=FONT, **room)


def _add_labels(axes: "Axes", positions: FloatArray, radii: FloatArray) -> None:
    """Write each label on its disc or, where it is too small or the place is taken, beside it."""
    from matplotlib.patheffects import withStroke

    if len(positions) > LABELLED:
        return
    axes.autoscale_view()
    points = axes.transData.transform(positions) * 72 / axes.figure.dpi
    discs = np.hstack([points - radii[:, None], points + radii[:, None]])
    taken: list[FloatArray] = []
    for label in np.argsort(-radii, kind="stable"):
        half = np.array([0.31 * FONT * len(str(label)) + 1.0, 0.5 * FONT])
        # A label may lie inside a disc that is large enough, else around it; in points from its centre.
        offsets = [np.zeros(2)] if radii[label] >= half.max() else []
        for further, step in product(FURTHER, map(np.array, BESIDE)):
            offsets.append(step / np.linalg.norm(step) * (radii[label] + further) + step * half)
        boxes = [np.concatenate([points[label] + offset - half, points[label] + offset + half]) for offset in offsets]
        others = np.delete(discs, label, axis=0)
        costs = [_overlap(box, taken) + HIDDEN_DISC * _overlap(box, others) for box in boxes]
        best = int(np.argmin(costs))
        taken.append(boxes[best])
        axes.annotate(
            str(label),
            positions[label],
            xytext=(offsets[best][0], offsets[best][1]),
            textcoords="offset points",
            ha="center",
            va="center",
            color=INK,
            fontsize=FONT,
            annotation_clip=False,
            path_effects=[withStroke(linewidth=2.0, foreground="white", alpha=0.8)],
            zorder=4,
        )


def _overlap(box: FloatArray, others: Any) -> float:
    """Return the area that a box, as (left, bottom, right, top), shares with others."""
    if not len(others):
        return 0.0
    boxes = np.asarray(others)
    sides = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    return float(np.prod(np.maximum(sides, 0.0), axis=1).sum())


# -- profiles ------------------------------------------------------------------------------------------------------------------


def plot_profiles(
    centers: FloatArray,
    errors: FloatArray,
    counts: FloatArray,
    *,
    units: FloatArray,
    names: Sequence[str],
    words: Sequence[Sequence[str]],
    ax: Any,
) -> "Axes":
    """Draw a heat map of centres: one line for each cluster, one column for each coordinate.

    The colour is the difference from the mean of all rows in `units` of the column, over the largest such difference. What does
    not exceed two standard errors stays pale. `words` are written into the cells where the columns are few.
    """
    n_clusters, n_features = centers.shape
    written = n_features <= WRITTEN
    width, height = (0.95 if written else 0.32) * n_features, (0.42 if written else 0.32) * n_clusters
    size = (min(max(3.5, width + 2.0), LARGEST_SIZE), min(max(2.4, height + 1.6), LARGEST_SIZE))
    axes = axes_for(WHERE, ax, size=size)
    from matplotlib.colors import LinearSegmentedColormap

    deviations, noticed = deviations_of(centers, errors, counts, units)
    shown = np.where(noticed, deviations, 0.0)
    relative = shown / (float(np.abs(shown).max()) or 1.0)
    colours = LinearSegmentedColormap.from_list("differences", COLOURS)
    image = axes.imshow(relative, cmap=colours, vmin=-1.0, vmax=1.0, aspect="auto", interpolation="nearest")
    _name_ticks(axes.xaxis, [label_of(name, LONGEST_NAME) for name in names], upright=not written)
    _name_ticks(axes.yaxis, [str(index) for index in range(n_clusters)])
    axes.set_ylabel("cluster")
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if written:
        for line, column in np.ndindex(relative.shape):
            axes.text(column, line, words[line][column], ha="center", va="center", color=INK, fontsize=8)
    bar = axes.figure.colorbar(image, ax=axes, ticks=[-1, 0, 1], shrink=0.9, pad=0.02)
    bar.ax.set_yticklabels(["below", "mean of\nall rows", "above"])
    bar.outline.set_visible(False)
    return axes


def deviations_of(
    centers: FloatArray, errors: FloatArray, counts: FloatArray, units: FloatArray
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return how far centres lie from the mean of all rows, in units of each column, and whether that stands out.

    Examples
    --------
    >>> deviations, noticed = deviations_of(np.array([[20.0], [60.0]]), np.ones((2, 1)), np.ones(2), np.array([100.0]))
    >>> deviations.tolist(), noticed.tolist()
    ([[-0.2], [0.2]], [[True], [True]])
    """
    weights = np.maximum(counts, 0.0)
    weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))
    deviations = (centers - weights @ centers) / units
    return deviations, np.abs(deviations) > NOTICED * errors / units


def _name_ticks(axis: Any, names: Sequence[str], *, upright: bool = False) -> None:
    """Name every line or column, of very many only some."""
    step = max(1, len(names) // 100)
    axis.set_ticks(range(0, len(names), step), names[::step])
    if upright:
        axis.set_tick_params(rotation=90)
    elif axis.axis_name == "x" and max(map(len, names)) > 10:
        for label in axis.get_ticklabels():
            label.set(rotation=30, ha="right", rotation_mode="anchor")
