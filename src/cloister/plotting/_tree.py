# SPDX-License-Identifier: Apache-2.0
"""The tree of a hierarchical clustering, from SciPy's linkage: which clusters join, and how far apart they are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister import validate
from cloister.plotting._axes import ACCENT, FAINT, INK, axes_for, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_tree"]

NAMED_LEAVES = 120
LEAF_STEP = 10.0  # SciPy places leaves at 5, 15, 25, ...


def plot_tree(
    linkage: Any,
    ax: Any = None,
    labels: Sequence[str] | None = None,
    cut: int | None = None,
    *,
    where: str = "plot_tree",
) -> "Axes":
    """Draw a dendrogram.

    Parameters
    ----------
    linkage : array of shape (n_leaves - 1, 4)
        In SciPy's format: which two clusters join, how far apart they are, and how many leaves they have.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    labels : sequence of str, optional
        Of the leaves, in the order of the linkage; their positions by default.
    cut : int, optional
        A number of clusters: a line is drawn where the tree has so many, and what joins below it is coloured.
    where : str
        Whose name errors carry.

    Returns
    -------
    Axes
        Whose first collection holds a bracket for each join.

    Notes
    -----
    **Privacy.** Draws public numbers; costs nothing.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> ax = plot_tree([[0, 1, 1.0, 2], [2, 3, 5.0, 3]], labels=["a", "b", "c"], cut=2)
    >>> [tick.get_text() for tick in ax.get_xticklabels()], list(ax.lines[0].get_ydata())
    (['c', 'a', 'b'], [3.0, 3.0])
    """
    from scipy.cluster.hierarchy import dendrogram, is_valid_linkage

    joins = np.asarray(linkage, dtype=np.float64)
    if joins.ndim != 2 or not is_valid_linkage(joins):
        remedy = "Pass what scipy.cluster.hierarchy.linkage returns."
        validate.refuse(f"{where}.linkage", "an array in SciPy's linkage format", joins.shape, remedy=remedy)
    n_leaves = len(joins) + 1
    if labels is not None and len(labels) != n_leaves:
        validate.refuse(f"{where}.labels", f"a label for each of {n_leaves} leaves", len(labels), remedy="Pass as many.")
    if cut is not None:
        cut = validate.integer(f"{where}.cut", cut, low=1, high=n_leaves)
    axes = axes_for(where, ax, size=(min(max(6.4, 0.16 * n_leaves + 1.5), 20.0), 4.2))
    height = _height_of(joins, cut)
    found: Any = dendrogram(joins, no_plot=True)
    _draw_brackets(axes, found, height)
    names = [str(leaf) if labels is None else short_name(labels[leaf]) for leaf in found["leaves"]]
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
        words = f"{cut} cluster{'' if cut == 1 else 's'}"
        place: dict[str, Any] = {"xytext": (-4, 3), "textcoords": "offset points", "ha": "right", "va": "bottom"}
        axes.annotate(words, (1.0, height), xycoords=("axes fraction", "data"), color=INK, fontsize=9, **place)
    return axes


def _height_of(joins: Any, cut: int | None) -> float | None:
    """Return the height at which the tree has `cut` clusters: halfway between two joins."""
    if cut is None:
        return None
    heights = np.concatenate([[0.0], np.sort(joins[:, 2]), [1.04 * float(joins[:, 2].max())]])
    last = len(joins) + 1 - cut
    return float(heights[last] + heights[last + 1]) / 2


def _draw_brackets(axes: "Axes", found: Any, height: float | None) -> None:
    from matplotlib.collections import LineCollection

    brackets = [np.column_stack(pair) for pair in zip(found["icoord"], found["dcoord"], strict=True)]
    below = [height is not None and bracket[:, 1].max() <= height for bracket in brackets]
    colours = [ACCENT if one else (INK if height is None else FAINT) for one in below]
    axes.add_collection(LineCollection(brackets, colors=colours, linewidths=1.4))
