# SPDX-License-Identifier: Apache-2.0
"""The synopsis itself: noisy counts of a grid, and everything that can be read off them at no further cost."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cloister import validate
from cloister.algorithms import (
    RESTARTS,
    CellNoise,
    GridSplit,
    KChoice,
    NoisyPoints,
    compare_numbers,
    compare_point_numbers,
    denoise_counts,
    denoise_leaves,
)
from cloister.columns import Box, ColumnDomain, Domain, FloatArray, Frame, IntArray, as_box
from cloister.exceptions import CloisterError, ReleaseError
from cloister.privacy import DISJOINT, SAME, Entropy, Receipt, StepRecord
from cloister.questions import RowCount
from cloister.release import CellSummary, Release
from cloister.synopsis._card import synopsis_card
from cloister.synopsis._cells import REPRESENTATIVES, RangeCount, cell_points, count_box
from cloister.synopsis._coarse import coarse_points
from cloister.synopsis._common import CommonSynopsis, read_numbers
from cloister.synopsis._cut import cut_cells, warn_of_few_cells
from cloister.synopsis._density import DensityClusters, cluster_by_density
from cloister.synopsis._files import FORMAT, VERSION, encode, read_fields, refuse_misfit, split_fields
from cloister.synopsis._merge import join, join_steps, refuse_other_grid, refuse_other_unit

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Synopsis"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Synopsis(CommonSynopsis):
    """Noisy counts of a grid over a box, and what can be read off them.

    The cells of an adaptive grid are split into leaves where many rows are; see `split`.

    Parameters
    ----------
    noisy_counts : array with one axis per column
        As released: whole numbers, some of them negative. Of an adaptive grid, those of the leaves, each spread evenly over the
        cells of the finest grid that it holds; see `cell_counts`.
    domain : Box
        Public.
    scaling : {"none", "bounds"}
        How distances between cells are measured.
    sigma : float
        Standard deviation of the noise of each count; of an adaptive grid, of each cell that is not split.
    counts : {"clip", "nonnegative-total", "none"}
        How counts become weights for clustering, sampling and marginals. Range counts use the noisy counts as they are.
    receipt : Receipt
        Guarantee and events.
    total : float, optional
        The number of rows, if it is public or was also counted by itself: then what that count and the sum of all cells say
        together. None: the noisy counts are added up.
    feature_names : tuple of str, optional
        Names of the columns.
    steps : tuple of StepRecord
        What was asked, for what purpose; see :class:`Release`.
    versions : dict
        Versions of the libraries.
    column_cells : CellSummary, optional
        What part of each column was missing or outside its bounds, with noise, and where missing values were placed.
    declared : ColumnDomain, optional
        What the columns are, where this was declared or found with noise; the box is theirs.
    split : GridSplit, optional
        How the cells of an adaptive grid are split, and the noise of their parts.

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

    noisy_counts: FloatArray
    domain: Box
    scaling: str
    sigma: float
    counts: str
    receipt: Receipt
    total: float | None = None
    feature_names: tuple[str, ...] | None = None
    steps: tuple[StepRecord, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    column_cells: CellSummary | None = None
    declared: ColumnDomain | None = None
    split: GridSplit | None = None

    def __repr__(self) -> str:
        return synopsis_card(self).text()

    def _repr_html_(self) -> str:
        return synopsis_card(self).html()

    @property
    def cells(self) -> tuple[int, ...]:
        """Cells along each axis; of an adaptive grid, of the finest."""
        return self.noisy_counts.shape

    @property
    def n_cells(self) -> int:
        """Number of cells; of an adaptive grid, of leaves."""
        return self.noisy_counts.size if self.split is None else self.split.n_leaves

    @property
    def noise(self) -> CellNoise:
        """The noise of cells, or of leaves."""
        return CellNoise(self.sigma, self.split)

    @cached_property
    def cell_counts(self) -> FloatArray:
        """Noisy counts of the cells or leaves, one after the other."""
        return self.noisy_counts.ravel() if self.split is None else self.split.gather(self.noisy_counts)

    @cached_property
    def cell_weights(self) -> FloatArray:
        """Their weights after the rule `counts`."""
        return self._weights(self.counts)

    @property
    def cell_half_widths(self) -> FloatArray:
        """Half the widths of a cell, or of each leaf, in the coordinates in which distances are measured."""
        if self.split is None:
            return np.asarray(self._half_widths / np.array(self.cells))
        return self.split.widths * self._half_widths

    @property
    def sum_error(self) -> float:
        """Standard deviation of the noise of the sum of all cells."""
        return float(self.noise.of_sums(np.ones(self.n_cells))[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.noisy_counts.ndim

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, made up where they have none."""
        return self.feature_names or tuple(f"x{index}" for index in range(self.n_features))

    @property
    def table(self) -> Domain:
        """What the columns are."""
        return self.declared or self.domain

    @property
    def n_rows(self) -> float:
        """The number of rows, or of persons where every person counts 1, as well as it is known."""
        return max(0.0, float(self.noisy_counts.sum())) if self.total is None else self.total

    @property
    def n_rows_error(self) -> float:
        """Its error: of the sum of all cells, of it and the answer that counted the rows, or none if the number is public."""
        added = self.sum_error
        if self.total is None:
            return added
        counted = math.hypot(*(one.standard_deviation for one in self.receipt.own_events if one.question_name == RowCount.name))
        return counted * added / math.hypot(counted, added)

    @property
    def frame(self) -> Frame:
        """The map to the unit ball in which distances are measured."""
        places = None if self.column_cells is None else self.column_cells.places
        return self.domain.frame(scaling=self.scaling, missing=places)

    @property
    def edges(self) -> tuple[FloatArray, ...]:
        """Borders of the cells along each axis, in the units of the input."""
        low, high = np.atleast_1d(self.domain.low), np.atleast_1d(self.domain.high)
        return tuple(np.linspace(low[axis], high[axis], count + 1) for axis, count in enumerate(self.cells))

    @property
    def weights(self) -> FloatArray:
        """The counts after the rule `counts`; never negative unless it is ``"none"``."""
        weights = self.cell_weights
        return weights.reshape(self.cells) if self.split is None else self.split.spread(weights)

    def cut(
        self,
        n_clusters: int,
        *,
        n_init: int = RESTARTS,
        representatives: str = "center",
        random_state: int | None = None,
    ) -> Release:
        """Cluster the cells, weighted by their counts.

        Parameters
        ----------
        n_clusters : int
            Number of centres; any, as often as you like.
        n_init : int, default=10
            Restarts, on public numbers.
        representatives : {"center", "slope"}, default="center"
            Where a cell's rows are taken to be: at its centre, or moved towards the fuller neighbour.
        random_state : int, optional
            For the restarts.

        Returns
        -------
        Release
            Centres with their errors; predicts, saves, and can be reported.

        Warns
        -----
        AccuracyWarning
            If there are fewer cells than clusters: the centres beyond one per cell lie at random places.
        """
        release = cut_cells(self, n_clusters, n_init=n_init, representatives=representatives, random_state=random_state)
        warn_of_few_cells("Synopsis.cut", self, release.n_clusters)
        return release

    def choose_k(self, n_clusters: Iterable[int] | None = None, *, random_state: int | None = None) -> KChoice:
        """Compare numbers of clusters, by an elbow and by a criterion that knows the noise.

        The noisy counts are split into two halves with independent noise (what one half adds, the other subtracts): centres are
        fitted to one and judged on the other, so that clusters made of noise do not pay. A further cluster lowers the loss even
        of rows without any clusters; so the elbow is the smallest number at which the held-out loss, relative to that of evenly
        spread mass, is as low as it gets. `best` is the elbow, but never more than the held-out loss supports. The leaves of an
        adaptive grid are first put together to points and compared as those of :class:`PointSynopsis` are.

        Parameters
        ----------
        n_clusters : iterable of int, optional
            Numbers to compare; by default 1 to 12.
        random_state : int, optional
            For restarts and for splitting the noise.
        """
        numbers = read_numbers("Synopsis.choose_k.n_clusters", range(1, 13) if n_clusters is None else n_clusters)
        generator = Entropy(random_state, where="Synopsis.choose_k.random_state").public_generator()
        if self.split is not None:
            return compare_point_numbers(numbers, self.noisy_points(generator), generator=generator).scaled(
                self.frame.distance_unit**2
            )
        choice = compare_numbers(
            numbers,
            self.noisy_counts,
            sigma=self.sigma,
            n_rows=max(self.n_rows, 1.0),
            points=self.cell_points(),
            half_widths=self._half_widths,
            counts=self._weighting,
            generator=generator,
        )
        return choice.scaled(self.frame.distance_unit**2)

    def density_clusters(
        self, *, min_density: float = 1.0, false_alarm: float = 0.01, radius: int | str = "auto"
    ) -> DensityClusters:
        """Find clusters of any shape: connected regions of dense cells, as DBSCAN finds them among rows.

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
        return cluster_by_density(self, min_density=min_density, false_alarm=false_alarm, radius=radius)

    def count(self, box: Any) -> RangeCount:
        """Return the noisy number of rows in a box given as (low, high) or Box, in the units of the input.

        Cells that the box cuts through count with the part of them inside it.
        """
        return count_box(as_box("Synopsis.count.box", box, self.n_features), self.edges, self.cell_counts, noise=self.noise)

    def sample(self, n_rows: int, *, random_state: int | None = None) -> FloatArray:
        """Draw synthetic rows: a cell in proportion to its count, then a place in it."""
        size = validate.integer("Synopsis.sample.n_rows", n_rows, low=0)
        generator = Entropy(random_state, where="Synopsis.sample.random_state").public_generator()
        mass = np.maximum(self.weights.ravel(), 0.0)
        mass = mass if mass.sum() > 0 else np.ones_like(mass)
        chosen = generator.choice(len(mass), size=size, p=mass / mass.sum())
        index = np.stack(np.unravel_index(chosen, self.cells), axis=1)
        widths = np.array([edges[1] - edges[0] for edges in self.edges])
        low = np.atleast_1d(self.domain.low)
        return self.domain.clip(low + (index + generator.random(index.shape)) * widths)

    def marginal(self, columns: Sequence[int | str]) -> "Synopsis":
        """Return the synopsis of some of the columns, all others added up. Its noise is larger: that of all cells it adds.

        That of an adaptive grid is of its coarse cells; see :meth:`coarse`.
        """
        if self.split is not None:
            return self.coarse().marginal(columns)
        axes = validate.columns("Synopsis.marginal.columns", columns, self.columns)
        others = tuple(axis for axis in range(self.n_features) if axis not in axes)
        kept = sorted(axes)
        added = self.noisy_counts.sum(axis=others) if others else self.noisy_counts
        noisy = np.transpose(added, [kept.index(axis) for axis in axes])
        low, high = np.atleast_1d(self.domain.low), np.atleast_1d(self.domain.high)
        return replace(
            self,
            noisy_counts=np.ascontiguousarray(noisy),
            domain=Box(low[axes], high[axes]),
            sigma=self.sigma * math.sqrt(self.noisy_counts.size / noisy.size),
            feature_names=None if self.feature_names is None else tuple(self.feature_names[axis] for axis in axes),
            column_cells=None if self.column_cells is None else self.column_cells.of_columns(axes),
            declared=None if self.declared is None else self.declared.of_columns(axes),
        )

    def coarse(self) -> "Synopsis":
        """Return the uniform grid that an adaptive one was split from; a uniform grid returns itself.

        Its counts are the sums of the leaves. `sigma` is the noise of cells that were not split; that of others is smaller.
        """
        if self.split is None:
            return self
        counts = self.split.add_up(self.cell_counts).reshape(self.split.coarse)
        return replace(self, noisy_counts=counts, split=None)

    def merge(self, other: "Synopsis", *, rows: str = "disjoint") -> "Synopsis":
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

    def to_arrow(self) -> "pa.Table":
        """Return one row per cell or leaf: its borders in every column, its noisy count, its weight by the rule `counts`."""
        import pyarrow as pa

        data: dict[str, Any] = {}
        for name, edges, (first, last) in zip(self.columns, self.edges, self._cell_ends(), strict=True):
            data[f"{name}_low"], data[f"{name}_high"] = edges[first], edges[last]
        data["noisy_count"], data["weight"] = self.cell_counts, self.cell_weights
        return pa.table(data)

    def to_bytes(self, kind: str = "json") -> bytes:
        """Return what a ``"json"`` or ``"parquet"`` file of the synopsis holds."""
        return encode(self.to_dict(), self.to_arrow, kind)

    def to_dict(self) -> dict[str, Any]:
        """Return the synopsis as plain data."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "feature_names": None if self.feature_names is None else list(self.feature_names),
            "domain": self.domain.to_dict(),
            "scaling": self.scaling,
            "cells": list(self.cells),
            "noisy_counts": self.cell_counts.tolist(),
            "sigma": self.sigma,
            "counts": self.counts,
            "total": self.total,
            "receipt": self.receipt.to_dict(),
            "steps": [step.to_dict() for step in self.steps],
            "versions": self.versions,
            "column_cells": None if self.column_cells is None else self.column_cells.to_dict(),
            "declared": None if self.declared is None else self.declared.to_dict(),
            **({} if self.split is None else {"split": split_fields(self.split)}),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote."""
        try:
            synopsis = cls(**read_fields(data))
            refuse_misfit(synopsis)
            return synopsis
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, CloisterError) as error:
            problem = repr(error)
        raise ReleaseError(f"load_synopsis: the file is damaged ({problem}). Write it again from the fit.")

    def noisy_points(self, generator: np.random.Generator) -> NoisyPoints:
        return coarse_points(
            self.cell_points(),
            self.cell_counts,
            np.maximum(self._weights(self._weighting), 0.0),
            noise=self.noise,
            inside=self.cell_half_widths**2 / 3,
            n_rows=max(self.n_rows, 1.0),
            generator=generator,
        )

    def cell_points(self, representatives: str = "center") -> FloatArray:
        """Return where the rows of each cell or leaf are taken to be, in the coordinates in which distances are measured."""
        if self.split is None:
            return cell_points(self._half_widths, self.weights, sigma=self.sigma, representatives=representatives)
        if validate.one_of("Synopsis.cut.representatives", representatives, REPRESENTATIVES) != "center":
            remedy = 'Leave representatives="slope" out: leaves have neighbours of other sizes.'
            validate.refuse("Synopsis.cut.representatives", "'center' for an adaptive grid", representatives, remedy=remedy)
        return (2 * self.split.low + self.split.widths - 1) * self._half_widths

    # -- helpers --------------------------------------------------------------------------------------------------------

    @property
    def _half_widths(self) -> FloatArray:
        widths = self.frame.half_widths
        assert widths is not None
        return widths

    @property
    def _weighting(self) -> str:
        return "nonnegative-total" if self.counts == "none" else self.counts

    def _weights(self, rule: str) -> FloatArray:
        if self.split is not None:
            return denoise_leaves(self.cell_counts, self.noise, rule, total=self.n_rows)
        return denoise_counts(self.noisy_counts, rule, total=self.n_rows).ravel()

    def _cell_ends(self) -> list[tuple[IntArray, IntArray]]:
        """Return between which edges each cell or leaf lies, along every axis."""
        if self.split is None:
            places = np.unravel_index(np.arange(self.noisy_counts.size), self.cells)
            return [(place, place + 1) for place in places]
        ends = (self.split.low, self.split.low + self.split.widths)
        first, last = (np.rint(one * np.array(self.cells)).astype(np.int64).T for one in ends)
        return list(zip(first, last, strict=True))
