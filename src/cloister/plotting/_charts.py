# SPDX-License-Identifier: Apache-2.0
"""Curves and trees of public numbers, and what all pictures share: axes to draw on, and colours that stay apart in grey."""

import importlib.util
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister import validate
from cloister.columns import FloatArray
from cloister.text import count_of, cut_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT, ACCENT, RED = "#1f2430", "#8a8f9c", "#2f6fb0", "#c62828"
SEEDED = "SEEDED: not for publication"
LONGEST_NAME = 24
NAMED_LEAVES = 120
LEAF_STEP = 10.0  # SciPy places leaves at 5, 15, 25, ...
ABOVE = 1.04  # the highest join, where the tree has one cluster


def axes_for(where: str, ax: Any, *, size: tuple[float, float]) -> "Axes":
    """Return the given axes, or those of a new figure whose labels do not overlap."""
    if importlib.util.find_spec("matplotlib") is None:
        remedy = "Run pip install 'cloister[plot]'."
        validate.refuse(where, "matplotlib, which draws the picture", "none installed", remedy=remedy)
    from matplotlib import pyplot
    from matplotlib.axes import Axes

    if ax is None:
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    if not isinstance(ax, Axes):
        validate.refuse(f"{where}.ax", "the Axes of matplotlib, or None", ax, remedy="Pass ax=figure.subplots().")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def mark_seeded(ax: "Axes", *, seeded: bool) -> "Axes":
    """Return the axes; with a title in red, at the right, where what they show has seeded noise."""
    if seeded:
        ax.set_title(SEEDED, loc="right", color=RED, fontsize="small")
    return ax


def label_of(name: object, longest: int = sys.maxsize) -> str:
    """Return a name as a label: cut where it is long, with the signs that matplotlib reads as formulas taken literally."""
    return cut_text(name, longest).replace("$", r"\$")


def plot_curve(numbers: Sequence[int], loss: Any, errors: Any, chosen: int, ax: Any, *, where: str) -> "Axes":
    """Draw the held-out loss for each number of clusters, with its standard errors, and mark the chosen number."""
    axes = axes_for(where, ax, size=(6.4, 4.0))
    from matplotlib.ticker import MaxNLocator

    axes.plot(numbers, loss, marker="o", markersize=5, color=ACCENT, zorder=2)
    axes.errorbar(numbers, loss, yerr=errors, fmt="none", ecolor=FAINT, capsize=3, zorder=1)
    axes.set_xlabel("number of clusters")
    axes.set_ylabel("held-out mean squared distance")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    low, high = float(np.min(loss)), float(np.max(loss))
    if low >= 0 and low < 0.5 * high:
        axes.set_ylim(bottom=0.0)
    axes.axvline(chosen, color=INK, linestyle="--", linewidth=1.0, zorder=0)
    left = chosen > (min(numbers) + max(numbers)) / 2
    axes.annotate(
        count_of(chosen, "cluster"),
        (chosen, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(-5 if left else 5, -3),
        textcoords="offset points",
        ha="right" if left else "left",
        va="top",
        color=INK,
    )
    return axes


def plot_tree(joins: FloatArray, labels: Sequence[str], cut: int | None, ax: Any, *, where: str) -> "Axes":
    """Draw a dendrogram in SciPy's format, with `labels` of its leaves.

    With a number of clusters to `cut` at, a line is drawn where the tree has so many, and what joins below it is coloured.
    """
    from matplotlib.collections import LineCollection
    from scipy.cluster.hierarchy import dendrogram

    n_leaves = len(joins) + 1
    if cut is not None:
        cut = validate.integer(f"{where}.n_clusters", cut, low=1, high=n_leaves)
    axes = axes_for(where, ax, size=(min(max(6.4, 0.16 * n_leaves + 1.5), 20.0), 4.2))
    height = None if cut is None else cut_height(joins, cut)
    found: Any = dendrogram(joins, no_plot=True)
    brackets = [np.column_stack(pair) for pair in zip(found["icoord"], found["dcoord"], strict=True)]
    below = [height is not None and bracket[:, 1].max() <= height for bracket in brackets]
    colours = [ACCENT if one else (INK if height is None else FAINT) for one in below]
    axes.add_collection(LineCollection(brackets, colors=colours, linewidths=1.4))
    names = [label_of(labels[leaf], LONGEST_NAME) for leaf in found["leaves"]]
    if n_leaves <= NAMED_LEAVES:
        turned = n_leaves > 25 or max(map(len, names)) > 3
        axes.set_xticks(LEAF_STEP * (np.arange(n_leaves) + 0.5), names, rotation=90 if turned else 0, fontsize=8)
    else:
        axes.set_xticks([])
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(0.0, LEAF_STEP * n_leaves)
    axes.set_ylim(0.0, 1.05 * float(joins[:, 2].max()) or 1.0)
    axes.set_ylabel("distance at which clusters join")
    axes.spines["bottom"].set_visible(False)
    if height is not None and cut is not None:
        axes.axhline(height, color=INK, linestyle="--", linewidth=1.0)
        place: dict[str, Any] = {"xytext": (-4, 3), "textcoords": "offset points", "ha": "right", "va": "bottom"}
        axes.annotate(
            count_of(cut, "cluster"), (1.0, height), xycoords=("axes fraction", "data"), color=INK, fontsize=9, **place
        )
    return axes


def cut_height(joins: FloatArray, n_clusters: int) -> float:
    """Return the height at which a tree in SciPy's format has `n_clusters` clusters: halfway between two joins.

    Examples
    --------
    >>> cut_height(np.array([[0, 1, 1.0, 2], [2, 3, 5.0, 3]]), 2)
    3.0
    """
    heights = np.concatenate([[0.0], np.sort(joins[:, 2]), [ABOVE * float(joins[:, 2].max(initial=0.0))]])
    last = len(joins) + 1 - n_clusters
    return float(heights[last : last + 2].mean())
