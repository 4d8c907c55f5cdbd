# SPDX-License-Identifier: Apache-2.0
"""Counts of raw cells by cluster: how many are missing, and histograms of what the rows nearest to each centre look like.

The questions see raw rows, histograms also of columns that clusters were not found by. A row belongs to one centre, and each of
its cells to one bin of its own column.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from cloister import validate
from cloister.columns import FloatArray, Frame, IntArray, quiet
from cloister.questions._base import public_points, refuse_misfit
from cloister.questions._columns import ColumnCounts
from cloister.questions._search import Nearest


@dataclass(frozen=True, kw_only=True)
class ColumnBins:
    """The bins of one raw column.

    Of an interval: parts of it, and one bin for cells that are missing or not finite. What lies outside is moved to the nearer
    end. Of levels: one bin for each position, one for cells that are no level, one for missing ones.

    Parameters
    ----------
    low, high : float
        Public ends. Of levels: 0 and how many there are.
    n_bins : int
        Parts of the interval, or levels.
    are_levels : bool, default=False
        Whether cells are positions of levels.
    inner : tuple of float, default=()
        Public numbers at which the second and all further parts begin, where parts are not equal.
    """

    low: float
    high: float
    n_bins: int
    are_levels: bool = False
    inner: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not (self.low < self.high and math.isfinite(self.low) and math.isfinite(self.high)):
            validate.refuse("ColumnBins", "finite ends low < high", (self.low, self.high), remedy="Pass public bounds.")
        validate.integer("ColumnBins.n_bins", self.n_bins, low=1)
        edges = (self.low, *self.inner, self.high)
        if self.inner and (len(edges) != self.n_bins + 1 or not all(one < other for one, other in pairwise(edges))):
            validate.refuse("ColumnBins.inner", "increasing numbers, one less than bins", self.inner, remedy="Sort them.")

    @classmethod
    def of_levels(cls, n_levels: int) -> "ColumnBins":
        """Return the bins of so many levels."""
        return cls(low=0.0, high=float(n_levels), n_bins=n_levels, are_levels=True)

    @classmethod
    def between(cls, edges: FloatArray) -> "ColumnBins":
        """Return the bins between increasing edges."""
        low, *inner, high = edges.tolist()
        return cls(low=low, high=high, n_bins=len(inner) + 1, inner=tuple(inner))

    @property
    def size(self) -> int:
        """How many bins there are, those for other and for missing cells included."""
        return self.n_bins + (2 if self.are_levels else 1)

    def find(self, cells: FloatArray) -> IntArray:
        """Return the bin of each cell; every cell has one, whatever it holds."""
        if self.inner:
            places = np.searchsorted(np.array(self.inner), cells, side="right")
            return np.where(np.isfinite(cells), places, self.size - 1).astype(np.int64)
        parts = cells if self.are_levels else (cells - self.low) / (self.high - self.low) * self.n_bins
        places = np.clip(np.nan_to_num(np.floor(parts)), 0, self.n_bins - 1)
        if self.are_levels:
            places = np.where((cells >= 0) & (cells < self.n_bins), places, self.n_bins)
        return np.where(np.isfinite(cells), places, self.size - 1).astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class NearestColumns(ColumnCounts):
    """A question about some raw columns of the rows that have each of the public points as their nearest.

    A row adds to counts of its nearest point alone.

    Parameters
    ----------
    points : array of shape (n_points, n_features)
        Public, in the unit ball.
    frame : Frame
        The public map through which rows are compared to the points; it takes the first columns of a row.
    columns : tuple of int
        Positions of the raw columns.
    """

    points: FloatArray
    frame: Frame
    columns: tuple[int, ...]

    def __post_init__(self) -> None:
        self.keep(points=public_points(f"{type(self).__name__}.points", self.points))

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    def labels(self, rows: FloatArray) -> IntArray:
        """Return the nearest point of each raw row."""
        return Nearest(self.points, longest_row=1.0)(self.frame.clean(rows[:, : self.frame.n_raw]))


@dataclass(frozen=True, kw_only=True, eq=False)
class NearestMissing(NearestColumns):
    """How many cells of some columns are missing among the rows that have each of the public points as their nearest.

    Parameters
    ----------
    points, frame, columns
        Which rows belong to which point, and the raw columns.
    lowest : array of shape (n_columns,)
        What is below it is missing as well: a word that is no level.
    """

    lowest: FloatArray
    name: ClassVar[str] = "nearest_missing"

    @property
    def shape(self) -> tuple[int, ...]:
        """One count per point and column."""
        return (len(self.points), len(self.columns))

    def exact(self, rows: FloatArray) -> IntArray:
        """Count the missing cells of one block of raw rows."""
        labels = self.labels(rows)
        cells = np.asarray(rows, dtype=np.float64)[:, list(self.columns)]
        missing = ~np.isfinite(cells) | (cells < self.lowest)
        counts = [np.bincount(labels[column], minlength=len(self.points)) for column in missing.T]
        return np.stack(counts, axis=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class NearestHistograms(NearestColumns):
    """For each of the public points, histograms of some columns over the rows that have it as their nearest.

    Parameters
    ----------
    points, frame, columns
        Which rows belong to which point, and the raw columns.
    bins : tuple of ColumnBins
        Their bins, which stand side by side in the answer.
    """

    bins: tuple[ColumnBins, ...]
    name: ClassVar[str] = "nearest_histograms"
    whole_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.columns:
            validate.refuse("NearestHistograms.columns", "at least one column", self.columns, remedy="Pass their positions.")
        refuse_misfit("NearestHistograms.bins", (len(self.bins),), (len(self.columns),))
        self._refuse_too_many_bins("Use fewer points or columns.")

    @property
    def shape(self) -> tuple[int, ...]:
        """One histogram of all columns, end to end, for each point."""
        return (len(self.points), sum(one.size for one in self.bins))

    @quiet
    def exact(self, rows: FloatArray) -> IntArray:
        """Count the cells of one block of raw rows."""
        cells = np.asarray(rows, dtype=np.float64)
        labels, counts = self.labels(cells), []
        for column, bins in zip(self.columns, self.bins, strict=True):
            places = labels * bins.size + bins.find(cells[:, column])
            found = np.bincount(places, minlength=len(self.points) * bins.size)
            counts.append(found.reshape(len(self.points), bins.size))
        return np.concatenate(counts, axis=1)
