# SPDX-License-Identifier: Apache-2.0
"""How a synopsis shows itself: pictures with matplotlib."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from cloister import validate
from cloister.plotting import plot_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cloister.algorithms import KChoice

__all__ = ["SYNOPSIS_PLOTS", "SynopsisViews"]

SYNOPSIS_PLOTS = ("curve",)


class _Comparing(Protocol):
    def choose_k(self, n_clusters: Iterable[int], *, random_state: int | None) -> "KChoice": ...


class SynopsisViews:
    """The part of a synopsis that draws it."""

    def plot(
        self: _Comparing,
        kind: str = "curve",
        ax: Any = None,
        *,
        n_clusters: Iterable[int] = range(1, 13),
        random_state: int | None = None,
    ) -> "Axes":
        """Draw the synopsis with matplotlib, which ``pip install 'cloister[plot]'`` installs.

        Parameters
        ----------
        kind : {"curve"}, default="curve"
            The held-out loss for each number of clusters, with its standard error and the best number marked; see
            :meth:`choose_k`.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure.
        n_clusters : iterable of int, default=range(1, 13)
            Numbers to compare.
        random_state : int, optional
            For the comparison.

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
        choice = self.choose_k(n_clusters, random_state=random_state)
        name = "held-out mean squared distance"
        return plot_curve(
            choice.n_clusters, choice.held_out, choice.held_out_error, choice.best, ax, name=name, where="Synopsis.plot"
        )
