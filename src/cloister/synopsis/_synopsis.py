# SPDX-License-Identifier: Apache-2.0
"""The document around points: receipt, names and steps, what they were made by, and files."""

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cloister import validate
from cloister.algorithms import RESTARTS
from cloister.columns import Box, FloatArray, Table
from cloister.exceptions import ReleaseError
from cloister.files import read_whole, write_whole
from cloister.plotting import mark_seeded, plot_curve, plot_tree
from cloister.privacy import DISJOINT, SAME, Entropy, Receipt, StepRecord, refuse_seeded
from cloister.questions import RowCount
from cloister.release import (
    VERSION,
    Caution,
    CellSummary,
    Release,
    cell_cautions,
    library_versions,
    rebuild,
    size_cautions,
)
from cloister.synopsis._card import synopsis_card
from cloister.synopsis._cut import Cut
from cloister.synopsis._density import DensityClusters, cluster_by_density
from cloister.synopsis._files import FORMAT, decode, encode, file_kind, plain_fields, read_fields, refuse_misfit
from cloister.synopsis._grid import warn_of_few_cells
from cloister.synopsis._merge import join, join_steps, refuse_other_grid, refuse_other_unit
from cloister.synopsis._points import Points

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes

WHERE, PLOTS = "Synopsis.plot", ("curve", "tree")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Synopsis(Points):
    """Noisy numbers that were paid for once and answer for ever: points, or the cells of a grid, with their receipt.

    Parameters
    ----------
    method : str
        The estimator that it comes from.
    scaling : str
        How distances are measured; see :class:`Release`.
    receipt : Receipt
        Guarantee and events.
    feature_names : tuple of str, optional
        Names of the columns.
    steps : tuple of StepRecord
        What was asked, for what purpose; see :class:`Release`.
    versions : dict
        Versions of the libraries.
    column_cells : CellSummary, optional
        What part of each column was missing or outside its bounds, with noise, and where missing values were placed.
    frame, noisy_counts, sigma, total, max_clusters, places, grid
        The ``Points`` themselves.

    Notes
    -----
    **Privacy.** A synopsis may be published whole. All methods are post-processing: no further cost, however often they are
    used.

    Examples
    --------
    >>> from cloister import GridSynopsis
    >>> rows = [[0.2, 0.2]] * 300 + [[0.8, 0.7]] * 200
    >>> synopsis = GridSynopsis(n_clusters=2, epsilon=2.0, bounds=(0, 1), random_state=0).fit(rows).synopsis_
    >>> synopsis.count(([0, 0], [0.5, 0.5])).value > 200
    True
    """

    method: str
    scaling: str
    receipt: Receipt
    feature_names: tuple[str, ...] | None = None
    steps: tuple[StepRecord, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    column_cells: CellSummary | None = None

    @classmethod
    def around(cls, points: Points, **about: Any) -> Self:
        """Return the document around points; `about` is what else it says."""
        return cls(**{one.name: getattr(points, one.name) for one in fields(Points)}, **about)

    def __repr__(self) -> str:
        return synopsis_card(self).text()

    def _repr_html_(self) -> str:
        return synopsis_card(self).html()

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What to know before believing it, each with its remedy, as of a release."""
        sizes = size_cautions(self.receipt, self.n_rows, self.n_rows_error)
        return (*sizes, *cell_cautions(self.domain, self.feature_names, self.column_cells))

    @property
    def domain(self) -> Table:
        """Where rows lie: a box or ball, or what the columns are, where this was declared or found with noise."""
        domain: Table = self.frame.domain
        return domain

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the coordinates of a point, made up where columns have none; of a category one for each level."""
        return self.domain.published_names(self.feature_names)

    @property
    def n_features(self) -> int:
        """Number of coordinates of a point: columns, and of a category its levels."""
        return len(self.columns)

    @property
    def total_error(self) -> float:
        """Standard deviation of the noise of the answers that counted the rows; 0 where their number is public."""
        return math.hypot(*(one.standard_deviation for one in self.receipt.own_events if one.question_name == RowCount.name))

    @property
    def histogram(self) -> FloatArray:
        """The noisy counts of a grid as an array with one axis per column; those of leaves spread over the finest cells."""
        return self._index("histogram").spread(self.noisy_counts)

    @property
    def points(self) -> FloatArray:
        """The points, or the middles of cells, in the units of the input."""
        return self.frame.from_unit(self.cloud().points)

    @property
    def spreads(self) -> FloatArray:
        """Standard deviations of the rows around their point, by column, in the units of the input."""
        cloud = self.cloud()
        return self.frame.errors_from_unit(np.sqrt(cloud.variances), cloud.points)

    def cut(
        self, n_clusters: int, *, n_init: int = RESTARTS, representatives: str = "center", random_state: int | None = None
    ) -> Release:
        """Cluster the points or cells, weighted by their counts.

        Parameters
        ----------
        n_clusters : int
            Number of centres; any, as often as you like. Beyond half the number of points they say little.
        n_init : int, default=10
            Restarts, on public numbers.
        representatives : {"center", "slope"}, default="center"
            Where the rows of a cell of a grid are taken to be: at its centre, or moved towards the fuller neighbour.
        random_state : int, optional
            For the restarts and the errors.

        Returns
        -------
        Release
            Centres with total errors and the stability of clusters; predicts, saves, and can be reported. Of a grid of more
            than 16,384 cells the errors are those of the noise alone.

        Warns
        -----
        AccuracyWarning
            If a grid has fewer cells than clusters: the centres beyond one per cell lie at random places.
        """
        found = self.solve(n_clusters, n_init=n_init, representatives=representatives, random_state=random_state)
        release = self.release_of(found, representatives=representatives)
        if self.grid is not None:
            warn_of_few_cells("Synopsis.cut", self.grid, release.n_clusters)
        return release

    def release_of(self, found: Cut, *, representatives: str = "center") -> Release:
        """Return the document of a cut."""
        frame, total, noise = self.frame, found.total, found.noise
        shared = ("method", "domain", "scaling", "receipt", "feature_names", "steps")
        about: dict[str, Any] = {name: getattr(self, name) for name in shared}
        size: dict[str, Any] = {"n_points": self.n_points, "max_clusters": self.max_clusters}
        if self.grid is not None:
            leaves = {} if self.grid.split is None else {"rule": "adaptive", "leaves": self.n_points}
            size = {"cells": list(self.grid.cells), **leaves, "counts": self.grid.counts, "representatives": representatives}
        return Release(
            parameters={"n_clusters": len(found.centers), **size},
            cluster_centers=frame.from_unit(found.centers),
            center_errors=frame.errors_from_unit(noise if total is None else total.centers, found.centers),
            cluster_counts=found.counts,
            count_errors=found.count_noise if total is None else total.counts,
            center_noise=None if total is None else frame.errors_from_unit(noise, found.centers),
            count_noise=None if total is None else found.count_noise,
            stability=None if total is None else total.stability,
            cells=self.column_cells,
            details={
                "n_rows": self.n_rows,
                "n_rows_error": self.n_rows_error,
                **{name: frame.distance_unit**2 * value for name, value in found.losses.items()},
            },
            versions=self.versions or library_versions(),
            **about,
        )

    def density_clusters(
        self, *, min_density: float = 1.0, false_alarm: float = 0.01, radius: int | str = "auto"
    ) -> DensityClusters:
        """Find clusters of any shape in a grid: connected regions of dense cells, as DBSCAN finds them among rows.

        Parameters
        ----------
        min_density : float, default=1.0
            How many times as dense as evenly spread rows a cluster must be. 0: whatever stands out of the noise.
        false_alarm : float, default=0.01
            Chance that anything at all is called a cluster where no place is denser than `min_density` allows: in a table
            without rows or, by default, of evenly spread ones.
        radius : int or "auto", default="auto"
            How many cells on either side a cell is judged together with. By default none, or up to two where the noise of
            single cells would hide clusters.

        Returns
        -------
        DensityClusters
            Labels of the cells, noisy counts, and ``predict``; no cluster at all where nothing stands out.

        Notes
        -----
        **Privacy.** Post-processing; costs nothing. The thresholds follow from the noise, the number of cells and the noisy
        number of rows.

        Examples
        --------
        >>> from cloister import GridSynopsis
        >>> rows = [[0.2, 0.2]] * 300 + [[0.8, 0.7]] * 200
        >>> synopsis = GridSynopsis(epsilon=2.0, bounds=(0, 1), rule=12, random_state=0).fit(rows).synopsis_
        >>> found = synopsis.density_clusters()
        >>> found.n_clusters, found.cluster_counts.round(-1)
        (2, array([300., 200.]))
        """
        self._index("density_clusters")
        return cluster_by_density(self, min_density=min_density, false_alarm=false_alarm, radius=radius)

    def marginal(self, columns: Sequence[int | str]) -> Self:
        """Return the grid of some of the columns, all others added up. Its noise is larger: that of all cells it adds.

        That of an adaptive grid is of its coarse cells; see :meth:`coarse`.
        """
        grid = self._index("marginal")
        if grid.split is not None:
            return self.coarse().marginal(columns)
        axes = validate.columns("Synopsis.marginal.columns", columns, self.columns)
        others = tuple(axis for axis in range(self.n_features) if axis not in axes)
        added = self.histogram.sum(axis=others)
        counts = np.transpose(added, [sorted(axes).index(axis) for axis in axes])
        domain = self.domain.of_columns(axes)
        cells = None if self.column_cells is None else self.column_cells.of_columns(axes)
        return replace(
            self,
            frame=domain.frame(scaling=self.scaling, missing=None if cells is None else cells.places),
            noisy_counts=counts.ravel(),
            sigma=self.sigma * math.sqrt(self.n_points / counts.size),
            grid=replace(grid, box=Box(*domain.ranges), cells=counts.shape),
            feature_names=None if self.feature_names is None else tuple(self.feature_names[axis] for axis in axes),
            column_cells=cells,
        )

    def coarse(self) -> Self:
        """Return the uniform grid that an adaptive one was split from; a uniform grid returns itself.

        Its counts are the sums of the leaves. `sigma` is the noise of cells that were not split; that of others is smaller.
        """
        grid = self._index("coarse")
        if grid.split is None:
            return self
        counts = grid.split.add_up(self.noisy_counts)
        return replace(self, noisy_counts=counts, grid=replace(grid, cells=grid.split.coarse, split=None))

    def merge(self, other: Self, *, rows: str = "disjoint") -> Self:
        """Join two synopses on the same grid.

        Parameters
        ----------
        other : Synopsis
            On the same box with the same cells.
        rows : {"disjoint", "same"}, default="disjoint"
            Whether they are of tables that share no person (counts are added) or of one table counted twice (counts are
            averaged, the less noisy one weighing more). Two years of visits of the same patients share persons, though no row:
            they are neither, and their budgets add up.

        Returns
        -------
        Synopsis
            Its receipt keeps those of both apart, and its guarantee holds for the people of both: for disjoint tables one of
            their two guarantees if that is enough, otherwise what the worst-off were promised; for one table counted twice,
            what both add up to. This holds for merges of merges, too. Where persons are protected, both must name the same
            column of ids and count in the same way; of one table, the number of rows of a person must be the same, too.

        Raises
        ------
        ParameterError
            If they are not on one grid, or do not protect the same unit.

        Notes
        -----
        **Privacy.** Post-processing of both. That tables share no person is your statement: it cannot be checked, as no id is
        kept, and the guarantee of what is merged rests on it. Under ``neighbours="replace"`` it is about somebody who is
        replaced within their table.
        """
        validate.one_of("Synopsis.merge.rows", rows, (DISJOINT, SAME))
        refuse_other_grid(self, other)
        refuse_other_unit(self.receipt, other.receipt, same=rows == SAME)
        both: dict[str, Any] = {
            "receipt": join(self.receipt, other.receipt, rows),
            "steps": join_steps(self.steps, other.steps),
        }
        if rows == DISJOINT:
            total = None if self.total is None or other.total is None else self.total + other.total
            sigma, noisy = math.hypot(self.sigma, other.sigma), self.noisy_counts + other.noisy_counts
            return replace(self, noisy_counts=noisy, sigma=sigma, total=total, **both)
        mine, yours = self.sigma**-2, other.sigma**-2
        noisy = (mine * self.noisy_counts + yours * other.noisy_counts) / (mine + yours)
        return replace(self, noisy_counts=noisy, sigma=(mine + yours) ** -0.5, **both)

    def sample_table(self, n_rows: int, *, random_state: int | None = None) -> "pa.Table":
        """Draw synthetic rows as an Arrow table with the columns of the original one.

        As :meth:`sample`, but with levels, flags and dates in place of coordinates: the shares of levels at the drawn place
        are chances, from which one is drawn. ``.to_pandas()`` makes a data frame of it.

        Parameters
        ----------
        n_rows : int
            Any number.
        random_state : int, optional
            For the draws.

        Notes
        -----
        **Privacy.** Post-processing of the synopsis; costs nothing.
        """
        import pyarrow as pa

        rows = self.sample(n_rows, random_state=random_state)
        drawn = Entropy(random_state, where="Synopsis.sample_table.random_state").public_generator()
        other = drawn.spawn(1)[0]  # independent of what chose the rows, also with a seed
        parts = zip(self.domain.names(self.feature_names), self.domain.columns, self.domain.slices(), strict=True)
        return pa.table({name: declared.synthetic(rows[:, cut], other) for name, declared, cut in parts})

    def plot(
        self,
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
        validate.one_of(WHERE, kind, PLOTS)
        if kind == "tree":
            axes = self._plot_tree(ax, n_clusters, 0 if random_state is None else random_state)
        elif isinstance(n_clusters, int):
            validate.refuse(f"{WHERE}.n_clusters", "numbers to compare", n_clusters, remedy="Pass range(1, 13).")
        else:
            choice = self.choose_k(n_clusters, random_state=random_state)
            axes = plot_curve(choice.n_clusters, choice.held_out, choice.held_out_error, choice.best, ax, where=WHERE)
        return mark_seeded(axes, seeded=self.receipt.seeded)

    def _plot_tree(self, ax: Any, cut: Any, seed: int) -> "Axes":
        """Draw the joins; leaves are named by their noisy numbers of rows."""
        linkage, rows = self.tree(random_state=seed), self.tree_points(random_state=seed).weights
        if len(linkage) == 0:
            validate.refuse(WHERE, "at least two points above the noise", "one", remedy="There is nothing to join.")
        axes = plot_tree(linkage, [f"{one:,.0f}" for one in rows], cut, ax, where=WHERE)
        axes.set_xlabel(f"points, by their noisy numbers of {self.receipt.counted}")
        return axes

    def to_arrow(self) -> "pa.Table":
        """Return a row for each point or cell: its place and spread, or its borders, in every column, its count and weight."""
        import pyarrow as pa

        data: dict[str, Any] = {}
        if self.grid is None:
            for name, places, spreads in zip(self.columns, self.points.T, self.spreads.T, strict=True):
                data[name], data[f"{name}_spread"] = places, spreads
        else:
            ends = (self.grid.low, self.grid.low + self.grid.widths)
            lows, highs = (np.rint(one * self.grid.cells).astype(int).T for one in ends)
            for name, edges, low, high in zip(self.columns, self.grid.edges, lows, highs, strict=True):
                data[f"{name}_low"], data[f"{name}_high"] = edges[low], edges[high]
        data["noisy_count"], data["weight"] = self.noisy_counts, self.weights
        return pa.table(data)

    def to_dict(self) -> dict[str, Any]:
        """Return the synopsis as plain data."""
        return {
            "format": FORMAT,
            "version": VERSION,
            **plain_fields(self),
            "method": self.method,
            "feature_names": None if self.feature_names is None else list(self.feature_names),
            "domain": self.domain.to_dict(),
            "scaling": self.scaling,
            "receipt": self.receipt.to_dict(),
            "steps": [step.to_dict() for step in self.steps],
            "versions": self.versions,
            "column_cells": None if self.column_cells is None else self.column_cells.to_dict(),
            "warnings": [one.to_dict() for one in self.warnings],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote."""
        return rebuild("synopsis", data, cls._read, writer="save")

    @classmethod
    def _read(cls, data: dict[str, Any]) -> Self:
        synopsis = cls(**read_fields(data))
        refuse_misfit(synopsis)
        return synopsis

    def to_bytes(self, kind: str = "json") -> bytes:
        """Return what a ``"json"`` or ``"parquet"`` file of the synopsis holds."""
        return encode(self.to_dict(), self.to_arrow, kind)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False, allow_seeded: bool = False) -> None:
        """Write the synopsis to a ``.json`` or ``.parquet`` file. One that exists is refused, or replaced with `overwrite`.

        A synopsis with seeded noise is refused unless `allow_seeded` is set: it is for tests and benchmarks.
        """
        refuse_seeded("Synopsis.save", seeded=self.receipt.seeded, allow_seeded=allow_seeded)
        kind = file_kind("Synopsis.save.path", Path(path).name)
        write_whole("Synopsis.save", path, self.to_bytes(kind), overwrite=overwrite)


def load_synopsis(path: str | os.PathLike[str]) -> Synopsis:
    """Read a synopsis from a ``.json`` or ``.parquet`` file.

    Parameters
    ----------
    path : str or path
        What ``save`` wrote.

    Returns
    -------
    Synopsis
        With all its methods: of a grid, or of weighted points.

    Raises
    ------
    ReleaseError
        If the file cannot be read, is damaged, or is of another version.

    Notes
    -----
    **Privacy.** Reads public numbers; costs nothing.

    Examples
    --------
    >>> load_synopsis("missing.json")
    Traceback (most recent call last):
    ...
    cloister.exceptions.ReleaseError: load_synopsis: cannot read 'missing.json' (No such file or directory). Check the path.
    """
    return read_synopsis(read_whole("load_synopsis", path), name=repr(Path(path).name))


def read_synopsis(content: bytes, *, name: str) -> Synopsis:
    """Read what a file holds; `name` is for the error."""
    try:
        data = decode(content)
    except (OSError, LookupError, RecursionError, TypeError, ValueError):
        pass
    else:
        return Synopsis.from_dict(data)
    raise ReleaseError(f"load_synopsis: {name} is not a synopsis. Pass the file that 'save' wrote.")
