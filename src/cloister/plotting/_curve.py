# SPDX-License-Identifier: Apache-2.0
"""The curve that speaks for a number of clusters: the loss for each, with its error."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister.plotting._axes import ACCENT, FAINT, INK, axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_curve"]


def plot_curve(
    numbers: Sequence[int],
    loss: Any,
    errors: Any = None,
    chosen: int | None = None,
    ax: Any = None,
    *,
    name: str = "mean squared distance",
    where: str = "plot_curve",
) -> "Axes":
    """Draw the loss for each number of clusters.

    Parameters
    ----------
    numbers : sequence of int
        Numbers of clusters.
    loss : array of shape (n_numbers,)
        The loss of each.
    errors : array of shape (n_numbers,), optional
        Standard errors, as bars.
    chosen : int, optional
        The number to mark.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    name : str
        What the loss is.
    where : str
        Whose name errors carry.

    Returns
    -------
    Axes
        Whose first line is the curve.

    Notes
    -----
    **Privacy.** Draws public numbers; costs nothing.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> ax = plot_curve([1, 2, 3], [4.0, 1.0, 0.9], chosen=2)
    >>> ax.lines[0].get_xydata().tolist(), ax.texts[0].get_text()
    ([[1.0, 4.0], [2.0, 1.0], [3.0, 0.9]], '2 clusters')
    """
    axes = axes_for(where, ax, size=(6.4, 4.0))
    from matplotlib.ticker import MaxNLocator

    axes.plot(numbers, loss, marker="o", markersize=5, color=ACCENT, zorder=2)
    if errors is not None:
        axes.errorbar(numbers, loss, yerr=errors, fmt="none", ecolor=FAINT, capsize=3, zorder=1)
    axes.set_xlabel("number of clusters")
    axes.set_ylabel(name)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    low, high = float(np.min(loss)), float(np.max(loss))
    if low >= 0 and low < 0.5 * high:
        axes.set_ylim(bottom=0.0)
    if chosen is not None:
        axes.axvline(chosen, color=INK, linestyle="--", linewidth=1.0, zorder=0)
        words = f"{chosen} cluster{'' if chosen == 1 else 's'}"
        left = chosen > (min(numbers) + max(numbers)) / 2
        axes.annotate(
            words,
            (chosen, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(-5 if left else 5, -3),
            textcoords="offset points",
            ha="right" if left else "left",
            va="top",
            color=INK,
        )
    return axes
