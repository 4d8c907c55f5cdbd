# SPDX-License-Identifier: Apache-2.0
"""The map: centres where they lie, as large as their counts, with error bars and labels that keep out of each other's way."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister.columns import FloatArray
from cloister.plotting._axes import ACCENT, FAINT, INK, axes_for
from cloister.text import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_map"]

LARGEST_RADIUS = 22.0  # points, of the largest count
SMALLEST_RADIUS = 2.5
LABELLED = 200  # of more centres, none is labelled
FONT = 9.0
BESIDE = ((1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))  # where a label may be, seen from its disc
FURTHER = (0.0, 7.0)  # points from it
HIDDEN_DISC = 0.3  # how much a label on another disc matters, beside one on another label


def plot_map(
    positions: FloatArray,
    errors: FloatArray,
    counts: FloatArray,
    *,
    names: Sequence[str],
    dates: Sequence[bool] = (False, False),
    counted: str = "rows",
    where: str = "plot_map",
    ax: Any = None,
) -> "Axes":
    """Draw centres in a plane.

    Parameters
    ----------
    positions, errors : array of shape (n_clusters, 2)
        Where the centres lie, and their standard errors.
    counts : array of shape (n_clusters,)
        Noisy numbers of rows: the areas of the discs. A count of zero or less is a hollow diamond.
    names : pair of str
        Labels of the axes.
    dates : pair of bool
        Which of the axes are days since 1970-01-01, to be written as dates.
    counted : str, default="rows"
        What the counts are numbers of.
    where : str
        Whose name errors carry.
    ax : Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes
        With the error bars, the discs and a text for each label.

    Notes
    -----
    **Privacy.** Draws public numbers; costs nothing.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> places, errors = np.array([[0.2, 0.3], [0.8, 0.7]]), np.full((2, 2), 0.01)
    >>> ax = plot_map(places, errors, np.array([300.0, 120.0]), names=("age", "income"))
    >>> ax.get_xlabel(), [text.get_text() for text in ax.texts]
    ('age', ['0', '1'])
    """
    axes = axes_for(where, ax, size=(7.0, 5.2))
    radii, (x, y), full = _radii(counts), positions.T, counts > 0
    axes.errorbar(x, y, xerr=errors[:, 0], yerr=errors[:, 1], fmt="none", ecolor=INK, elinewidth=0.8, zorder=3)
    style: dict[str, Any] = {"alpha": 0.45, "color": ACCENT, "linewidths": 0.8, "edgecolors": ACCENT}
    axes.scatter(x[full], y[full], s=(2 * radii[full]) ** 2, zorder=2, **style)
    if not full.all():
        hollow: dict[str, Any] = {"marker": "D", "facecolors": "none", "edgecolors": INK, "zorder": 2}
        axes.scatter(x[~full], y[~full], s=30.0, label=f"no {counted} above the noise", **hollow)
    for place, date in zip(("x", "y"), dates, strict=True):
        if date:
            getattr(axes, f"{place}axis_date")()
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[1])
    axes.margins(0.12)
    axes.grid(color=FAINT, alpha=0.2, linewidth=0.6)
    axes.set_axisbelow(True)
    _add_legend(axes, counts, radii, counted)
    _add_labels(axes, positions, radii)
    return axes


def _radii(counts: FloatArray) -> FloatArray:
    """Return radii in points; with many centres all of them are smaller."""
    largest = max(float(np.max(counts, initial=0.0)), 1e-9)
    top = max(LARGEST_RADIUS / math.sqrt(max(1.0, len(counts) / 10)), 2 * SMALLEST_RADIUS)
    return np.maximum(top * np.sqrt(np.maximum(counts, 0.0) / largest), SMALLEST_RADIUS)


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
        offsets = _offsets(half, float(radii[label]))
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


def _offsets(half: FloatArray, radius: float) -> list[FloatArray]:
    """Return where a label may lie, in points from its centre: inside a disc that is large enough, else around it."""
    inside = [np.zeros(2)] if radius >= half.max() else []
    around = [
        np.array(step) / math.hypot(*step) * (radius + further) + np.array(step) * half
        for further in FURTHER
        for step in BESIDE
    ]
    return [*inside, *around]


def _overlap(box: FloatArray, others: Any) -> float:
    """Return the area that a box, as (left, bottom, right, top), shares with others."""
    if not len(others):
        return 0.0
    boxes = np.asarray(others)
    sides = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    return float(np.prod(np.maximum(sides, 0.0), axis=1).sum())
