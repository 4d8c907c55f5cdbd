# SPDX-License-Identifier: Apache-2.0
"""A synopsis cut at every number of clusters: centres, errors, loss, where the points of a cluster go, and the tree of all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cloister.algorithms import NoisyPoints, nearest_of, silhouette
from cloister.columns import FloatArray, IntArray
from cloister.plotting import cut_height
from cloister.release import Release
from cloister.report._plot import Axis, Plot, Point, plot_columns
from cloister.synopsis import LossEstimate, Synopsis

MOST_CLUSTERS = 30
LARGEST_COMPARED = 1 << 14  # cells; comparing numbers of clusters on a larger grid takes long, so it is done on demand
LARGEST_QUICK = 1 << 6  # cells; on a larger grid fewer numbers are compared
FEWER_CLUSTERS = 12
TREE_WIDTH, TREE_HEIGHT = 460.0, 230.0
ROOM = 1.06  # above the highest join
LEAF_STEP = 10.0  # SciPy places leaves at 5, 15, 25, ...
LEAF_DEPTH = 8.0  # of the marks below the tree


@dataclass(frozen=True, eq=False)
class Cut:
    """One number of clusters."""

    release: Release
    owners: IntArray  # the cluster of each point
    loss: LossEstimate
    silhouette: float
    lines: tuple[int, ...]  # of descent: a cluster keeps the line of the one that most of its rows come from


@dataclass(frozen=True, eq=False)
class Cuts:
    """All cuts, for 1 cluster, 2, and so on, of the same weighted points, and the tree of the points."""

    points: NoisyPoints
    tree: FloatArray
    cuts: tuple[Cut, ...]


def most_clusters(synopsis: Synopsis) -> int:
    """Return how many clusters are compared on a page; 0 where that would take long."""
    if synopsis.grid is None:
        return min(synopsis.max_clusters, MOST_CLUSTERS)
    n_cells = synopsis.n_points
    if n_cells > LARGEST_COMPARED:
        return 0
    return min(MOST_CLUSTERS if n_cells <= LARGEST_QUICK else FEWER_CLUSTERS, n_cells)


def cuts_of(synopsis: Synopsis, most: int, *, random_state: int, known: Release | None = None) -> Cuts:
    """Cut a synopsis at 1 to `most` clusters, or as many as it has points. A `known` cut of it takes the place of its own."""
    points = synopsis.tree_points(random_state=random_state)
    cuts: list[Cut] = []
    for count in range(1, min(most, len(points.points)) + 1):
        release = known if known is not None and known.n_clusters == count else synopsis.cut(count, random_state=random_state)
        centers = synopsis.frame.to_unit(release.cluster_centers)
        loss = LossEstimate(release.details["loss"], release.details["loss_error"])
        cut = Cut(release, nearest_of(points.points, centers), loss, silhouette(points, centers), (0,))
        cuts.append(replace(cut, lines=_descent(cuts[-1], cut, points.weights)) if cuts else cut)
    return Cuts(points, synopsis.tree(random_state=random_state), tuple(cuts))


def flows_between(cut: Cut, other: Cut, weights: FloatArray) -> FloatArray:
    """Return how many rows of each cluster of a cut are in each cluster of another one, as the points tell."""
    flows = np.zeros((cut.release.n_clusters, other.release.n_clusters))
    np.add.at(flows, (cut.owners, other.owners), weights)
    return flows


def _descent(before: Cut, cut: Cut, weights: FloatArray) -> tuple[int, ...]:
    """Return the line of each cluster: handed on along the largest flows, each once; the others begin new ones."""
    flows, n_clusters = flows_between(before, cut, weights), cut.release.n_clusters
    lines: dict[int, int] = {}
    for place in np.argsort(-flows, axis=None, kind="stable"):
        parent, child = divmod(int(place), n_clusters)
        if flows[parent, child] > 0 and child not in lines and before.lines[parent] not in lines.values():
            lines[child] = before.lines[parent]
    unused = (line for line in range(2 * n_clusters) if line not in {*lines.values()})
    return tuple(lines[child] if child in lines else next(unused) for child in range(n_clusters))


# -- the tree ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dendrogram:
    """Brackets in the order of their heights, places of the points in theirs, and how high the tree is cut for each k."""

    plot: Plot
    brackets: Sequence[str]
    leaves: Sequence[Point]
    cuts: Sequence[float]  # from 1 cluster on

    def joined(self, n_clusters: int) -> tuple[str, str]:
        """Return the brackets above and below the cut, as paths."""
        below = max(len(self.brackets) + 1 - n_clusters, 0)
        return "".join(self.brackets[below:]), "".join(self.brackets[:below])


def dendrogram_of(tree: FloatArray, n_cuts: int) -> Dendrogram:
    """Lay out a tree in SciPy's format. Heights are drawn by their square roots, so that late cuts can be told apart."""
    from scipy.cluster.hierarchy import dendrogram

    top, n_leaves = float(tree[:, 2].max(initial=0.0)) or 1.0, len(tree) + 1
    up = Axis("", 0.0, ROOM * top, scale="root", most=4)
    plot = plot_columns(Axis("", 0.0, LEAF_STEP * n_leaves, most=0), up, TREE_HEIGHT, width=TREE_WIDTH)
    layout: Any = dendrogram(tree, no_plot=True) if len(tree) else {"icoord": [], "dcoord": [], "leaves": [0]}
    brackets = []
    for across, heights in sorted(zip(layout["icoord"], layout["dcoord"], strict=True), key=lambda one: max(one[1])):
        (left, foot), (_, height), (right, _), (_, other) = map(plot.place, zip(across, heights, strict=True))
        brackets.append(f"M{left:.1f} {foot:.1f}V{height:.1f}H{right:.1f}V{other:.1f}")
    places = {leaf: plot.place((LEAF_STEP * (index + 0.5), 0.0)) for index, leaf in enumerate(layout["leaves"])}
    return Dendrogram(
        plot=plot,
        brackets=brackets,
        leaves=[(round(x, 1), round(y + LEAF_DEPTH, 1)) for x, y in (places[leaf] for leaf in range(n_leaves))],
        cuts=[round(plot.place((0.0, cut_height(tree, count)))[1], 1) for count in range(1, n_cuts + 1)],
    )
