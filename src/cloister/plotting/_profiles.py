# SPDX-License-Identifier: Apache-2.0
"""Profiles: a heat map of clusters and columns, coloured by how each cluster differs from all rows together."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister.columns import FloatArray
from cloister.plotting._axes import INK, axes_for, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_profiles"]

COLOURS = ("#5a78c2", "#f5f4f0", "#e08a3c")  # below, at and above the mean: apart for colour-blind readers, and dark text reads
NOTICED = 2.0  # standard errors: columns whose differences are smaller stay pale
WRITTEN = 12  # up to so many columns, the values are written into the cells
LARGEST_SIZE = 40.0  # inches


def plot_profiles(
    centers: FloatArray,
    errors: FloatArray,
    counts: FloatArray,
    *,
    names: Sequence[str],
    words: Sequence[Sequence[str]],
    labels: Sequence[str] | None = None,
    where: str = "plot_profiles",
    ax: Any = None,
) -> "Axes":
    """Draw a heat map of centres: one line for each cluster, one column for each coordinate.

    The colour is the difference from the mean of all rows, over the largest such difference in the column. Where that is below
    two standard errors, these take its place, so that columns that say nothing stay pale.

    Parameters
    ----------
    centers, errors : array of shape (n_clusters, n_features)
        Coordinates of the centres, and their standard errors.
    counts : array of shape (n_clusters,)
        Noisy numbers of rows, which weigh the mean.
    names : sequence of str
        Of the coordinates.
    words : sequence of sequences of str
        What to write into each cell, if the columns are few.
    labels : sequence of str, optional
        Of the clusters; their positions by default.
    where : str
        Whose name errors carry.
    ax : Axes, optional
        Where to draw; by default on a new figure that is as large as it must be.

    Returns
    -------
    Axes
        Whose first image has one value for each cell, from -1 to 1.

    Notes
    -----
    **Privacy.** Draws public numbers; costs nothing.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> centers, words = np.array([[20.0, 1.0], [60.0, 1.1]]), [["20", "1.0"], ["60", "1.1"]]
    >>> ax = plot_profiles(centers, np.full((2, 2), 0.25), np.array([100.0, 100.0]), names=("age", "size"), words=words)
    >>> ax.images[0].get_array().round(2).tolist()
    [[-1.0, -0.1], [1.0, 0.1]]
    """
    n_clusters, n_features = centers.shape
    written = n_features <= WRITTEN
    width, height = (0.95 if written else 0.32) * n_features, (0.42 if written else 0.32) * n_clusters
    size = (min(max(3.5, width + 2.0), LARGEST_SIZE), min(max(2.4, height + 1.6), LARGEST_SIZE))
    axes = axes_for(where, ax, size=size)
    from matplotlib.colors import LinearSegmentedColormap

    relative = _relative(centers, errors, counts)
    colours = LinearSegmentedColormap.from_list("differences", COLOURS)
    image = axes.imshow(relative, cmap=colours, vmin=-1.0, vmax=1.0, aspect="auto", interpolation="nearest")
    _name_ticks(axes.xaxis, [short_name(name) for name in names], upright=not written)
    _name_ticks(axes.yaxis, [str(index) for index in range(n_clusters)] if labels is None else list(labels))
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


def _relative(centers: FloatArray, errors: FloatArray, counts: FloatArray) -> FloatArray:
    """Return differences from the weighted mean, over the largest in each column or twice its typical error."""
    weights = np.maximum(counts, 0.0)
    weights = weights if weights.sum() > 0 else np.ones_like(weights)
    differences = centers - np.average(centers, axis=0, weights=weights)
    noise = NOTICED * np.sqrt(np.mean(errors**2, axis=0))
    largest = np.maximum(np.abs(differences).max(axis=0), noise)
    return np.asarray(differences / np.where(largest > 0, largest, 1.0))


def _name_ticks(axis: Any, names: Sequence[str], *, upright: bool = False) -> None:
    """Name every line or column, of very many only some."""
    step = max(1, len(names) // 100)
    axis.set_ticks(range(0, len(names), step), names[::step])
    if upright:
        axis.set_tick_params(rotation=90)
    elif axis.axis_name == "x" and max(map(len, names)) > 10:
        for label in axis.get_ticklabels():
            label.set(rotation=30, ha="right", rotation_mode="anchor")
