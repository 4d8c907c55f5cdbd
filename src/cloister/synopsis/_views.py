# SPDX-License-Identifier: Apache-2.0
"""How a synopsis shows itself: pictures with matplotlib."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from cloister import validate
from cloister.plotting import mark_seeded, plot_curve, plot_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cloister.algorithms import KChoice, NoisyPoints
    from cloister.columns import FloatArray
    from cloister.privacy import Receipt

__all__ = ["SYNOPSIS_PLOTS", "SynopsisViews"]

SYNOPSIS_PLOTS = ("curve", "tree")


class _Comparing(Protocol):
    @property
    def receipt(self) -> "Receipt": ...

    def choose_k(self, n_clusters: Iterable[int] = ..., *, random_state: int | None) -> "KChoice": ...

    def tree(self, *, random_state: int | None) -> "FloatArray": ...

    def tree_points(self, *, random_state: int | None) -> "NoisyPoints": ...


class SynopsisViews:
    """The part of a synopsis that draws it."""

    def plot(
        self: _Comparing,
        kind: str = "curve",
        ax: Any = None,
        *,
        n_clusters: Iterable[int] | int | None = None,
        random_state: int | None = None,
    ) -> "Axes":
        """Draw the synopsis with matplotlib, which ``pip install 'cloister[plot]'`` installs.

        Parameters
        ----------
        kind : {"curve", "tree"}, default="curve"
            The held-out loss for each number of clusters, with its standard error and the best number marked; see
            :meth:`choose_k`. Or how the points are joined to ever fewer clusters; see :meth:`tree`.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure.
        n_clusters : iterable of int or int, optional
            Of a curve, the numbers to compare; by default those of :meth:`choose_k`. Of a tree, a number of clusters: a line
            shows where it has so many.
        random_state : int, optional
            For the comparison, and for the tree of a grid.

        Returns
        -------
        matplotlib.axes.Axes
            Nothing is shown or saved: ``ax.figure.savefig("curve.png")``.

        Raises
        ------
        ParameterError
            If matplotlib is not installed, or something else than these is asked for.

        Notes
        -----
        **Privacy.** Post-processing of the synopsis; costs nothing.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from cloister import GridSynopsis
        >>> rows = [[0.2, 0.2]] * 300 + [[0.8, 0.7]] * 200
        >>> synopsis = GridSynopsis(n_clusters=2, epsilon=2.0, bounds=(0, 1), random_state=0).fit(rows).synopsis_
        >>> synopsis.plot("curve", n_clusters=range(1, 5), random_state=0).get_xlabel()
        'number of clusters'
        """
        validate.one_of("Synopsis.plot", kind, SYNOPSIS_PLOTS)
        if kind == "tree":
            return _draw_tree(self, ax, n_clusters, 0 if random_state is None else random_state)
        if isinstance(n_clusters, int):
            validate.refuse("Synopsis.plot.n_clusters", "numbers to compare", n_clusters, remedy="Pass range(1, 13).")
        given = () if n_clusters is None else (n_clusters,)
        choice = self.choose_k(*given, random_state=random_state)
        drawn = plot_curve(choice.n_clusters, choice.held_out, choice.held_out_error, choice.best, ax, where="Synopsis.plot")
        return mark_seeded(drawn, seeded=self.receipt.seeded)


def _draw_tree(synopsis: _Comparing, ax: Any, cut: Any, seed: int) -> "Axes":
    """Draw the joins; leaves are named by their noisy numbers of rows."""
    where = "Synopsis.plot"
    number = None if cut is None else validate.integer(f"{where}.n_clusters", cut, low=1)
    linkage, rows = synopsis.tree(random_state=seed), synopsis.tree_points(random_state=seed).weights
    if len(linkage) == 0:
        rule, remedy = "at least two points above the noise", "There is nothing to join."
        validate.refuse(where, rule, "one", remedy=remedy)
    axes = plot_tree(linkage, [f"{one:,.0f}" for one in rows], number, ax, where=where)
    axes.set_xlabel(f"points, by their noisy numbers of {synopsis.receipt.counted}")
    return mark_seeded(axes, seeded=synopsis.receipt.seeded)
