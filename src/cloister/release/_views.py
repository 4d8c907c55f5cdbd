# SPDX-License-Identifier: Apache-2.0
"""How a release shows itself: on a terminal, in a notebook, and as pictures with matplotlib."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from cloister.release._card import TEXT_COLUMNS, release_card
from cloister.release._plot import plot_release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cloister.release._release import Release

__all__ = ["ReleaseViews"]


class ReleaseViews:
    """The part of a release that shows it."""

    def __repr__(self) -> str:
        return release_card(cast("Release", self), TEXT_COLUMNS).text()

    def _repr_html_(self) -> str:
        return release_card(cast("Release", self)).html()

    def plot(self, kind: str = "map", ax: Any = None, *, columns: Sequence[int | str] | None = None) -> "Axes":
        """Draw the clusters with matplotlib, which ``pip install 'cloister[plot]'`` installs.

        Parameters
        ----------
        kind : {"map", "profiles", "curve"}, default="map"
            Centres in a plane, as large as their noisy counts and with error bars: two columns are the axes themselves; of more
            it is the plane in which the centres differ most. Or a heat map of clusters and columns, coloured by how each
            cluster differs from the mean of all rows. Or, where ``n_clusters="auto"`` chose the number of clusters, the
            held-out loss that spoke for it.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure.
        columns : sequence of str or int, optional
            Columns to draw: one or two of a map, any of a heat map. By default all, of more than 40 those that tell the
            clusters apart best.

        Returns
        -------
        matplotlib.axes.Axes
            Nothing is shown or saved: ``ax.figure.savefig("clusters.png")``.

        Raises
        ------
        ParameterError
            If matplotlib is not installed, or something else than these is asked for.

        Notes
        -----
        **Privacy.** Post-processing of the release; costs nothing.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from cloister import PEMeans
        >>> model = PEMeans(n_clusters=2, epsilon=5.0, bounds=(0, 1), random_state=0).fit([[0.1, 0.1], [0.9, 0.8]] * 500)
        >>> ax = model.release_.plot()
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('x0', 'x1')
        """
        return plot_release(cast("Release", self), kind, columns, ax)
