# SPDX-License-Identifier: Apache-2.0
"""The tree of a synopsis as inline SVG: a bracket for each join, a mark for each point, and a line where it is cut."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister.columns import FloatArray
from cloister.report._axes import Axis

__all__ = ["Dendrogram", "dendrogram_of"]

WIDTH, HEIGHT = 460.0, 230.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 6.0, 16.0, 18.0
LEAF_STEP = 10.0  # SciPy places leaves at 5, 15, 25, ...


@dataclass(frozen=True)
class Dendrogram:
    """Brackets in the order of their heights, places of the points in theirs, and how high the tree is cut for each k."""

    brackets: Sequence[str]
    leaves: Sequence[tuple[float, float]]
    cuts: Sequence[float]  # from 1 cluster on
    axis: str  # grid lines and numbers of the heights

    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT

    def joined(self, n_clusters: int) -> tuple[str, str]:
        """Return the brackets above and below the cut, as paths."""
        below = max(len(self.brackets) + 1 - n_clusters, 0)
        return "".join(self.brackets[below:]), "".join(self.brackets[:below])


def dendrogram_of(tree: FloatArray, n_cuts: int) -> Dendrogram:
    """Lay out a tree in SciPy's format. Heights are drawn by their square roots, so that late cuts can be told apart."""
    top = float(tree[:, 2].max(initial=0.0)) or 1.0
    n_leaves = len(tree) + 1
    axis = Axis("height", 0.0, top)

    def up(height: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * math.sqrt(axis.at(height))

    def across(place: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * place / (LEAF_STEP * n_leaves)

    layout = _layout(tree)
    order = np.argsort([max(heights) for heights in layout["dcoord"]], kind="stable")
    brackets = [_bracket(layout["icoord"][one], layout["dcoord"][one], across, up) for one in order]
    places = {leaf: across(LEAF_STEP * (index + 0.5)) for index, leaf in enumerate(layout["leaves"])}
    heights = np.concatenate([[0.0], np.sort(tree[:, 2]), [1.04 * top]])
    between = [(up(heights[n_leaves - k]) + up(heights[min(n_leaves - k + 1, n_leaves)])) / 2 for k in range(1, n_cuts + 1)]
    ticks = "".join(
        f'<path class="grid" d="M{LEFT:g} {up(tick.value):.1f}H{WIDTH - RIGHT:g}"/>'
        f'<text class="axis" x="{LEFT - 6:g}" y="{up(tick.value) + 4:.1f}" text-anchor="end">{tick.words}</text>'
        for tick in axis.ticks(4)
    )
    return Dendrogram(
        brackets=brackets,
        leaves=[(round(places[leaf], 1), HEIGHT - BOTTOM + 8) for leaf in range(n_leaves)],
        cuts=[round(one, 1) for one in between],
        axis=ticks,
    )


def _layout(tree: FloatArray) -> dict[str, Any]:
    from scipy.cluster.hierarchy import dendrogram

    if len(tree) == 0:
        return {"icoord": [], "dcoord": [], "leaves": [0]}
    return dict(dendrogram(tree, no_plot=True))


def _bracket(places: Sequence[float], heights: Sequence[float], across: Any, up: Any) -> str:
    x, y = [f"{across(one):.1f}" for one in places], [f"{up(one):.1f}" for one in heights]
    return f"M{x[0]} {y[0]}V{y[1]}H{x[2]}V{y[3]}"
