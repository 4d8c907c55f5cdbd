# SPDX-License-Identifier: Apache-2.0
"""Histograms of single columns: what is missing or outside, of which magnitude values are, and where in an interval they lie.

The other questions see clean rows, in the unit ball. These see raw rows: each cell, by itself, belongs to one bin of its own
column. So a row adds one to exactly one bin of each column, whatever its cells hold.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns import FloatArray, IntArray, Relation, quiet
from cloister.questions._base import Question

SMALLEST_OCTAVE, LARGEST_OCTAVE = -64, 127  # what is smaller counts as zero, what is larger as the largest
TILE = 1 << 10  # numbers that are compared with as many others at a time
LARGEST_HISTOGRAMS = 1 << 24  # numbers, each of which gets its own draw of noise


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnCounts(Question):
    """A question in which each row adds at most one to at most one count of each of some columns, by its raw cells."""

    raw: ClassVar[bool] = True

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """How many columns it is about."""

    def l1_sensitivity(self, relation: Relation) -> float:
        # A row adds at most one to one count of each column. Replacing it takes one from a count of each and gives one to
        # another, or to the same.
        return float(self.n_columns if relation is Relation.ADD_REMOVE else 2 * self.n_columns)

    def l2_sensitivity(self, relation: Relation) -> float:
        # Counts of different columns are different numbers, and no count moves by more than one: the root of the number of
        # counts that move, rounded up where it is no whole number.
        moved = int(self.l1_sensitivity(relation))
        root = math.isqrt(moved)
        return float(root) if root * root == moved else math.nextafter(math.sqrt(moved), math.inf)

    def _refuse_too_many_bins(self, remedy: str) -> None:
        if math.prod(self.shape) > LARGEST_HISTOGRAMS:
            rule = f"at most {LARGEST_HISTOGRAMS:,} bins in all"
            validate.refuse(type(self).__name__, rule, math.prod(self.shape), remedy=remedy)


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnHistograms(ColumnCounts):
    """A question that puts each cell of some columns into one bin of its column, and counts."""

    def __post_init__(self) -> None:
        self._refuse_too_many_bins("Use fewer columns.")

    @property
    def n_columns(self) -> int:
        return self.shape[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class CellStates(ColumnHistograms):
    """How many cells of each column lie within its bounds, are missing (or not finite), and lie outside: three bins.

    Parameters
    ----------
    low, high : array of shape (n_columns,)
        Public bounds of the raw values.
    """

    low: FloatArray
    high: FloatArray
    name: ClassVar[str] = "cell_states"
    MISSING: ClassVar[int] = 1
    OUTSIDE: ClassVar[int] = 2

    @property
    def shape(self) -> tuple[int, ...]:
        """Three bins for each column."""
        return (len(self.low), 3)

    @quiet
    def exact(self, rows: FloatArray) -> IntArray:
        """Count the cells of one block of raw rows. Columns that lie within their bounds as a whole are not looked at twice."""
        cells = np.asarray(rows, dtype=np.float64)
        odd = ~self._all_within(cells)
        if odd.all():
            return _count_states(cells, self.low, self.high)
        counts = np.zeros(self.shape, dtype=np.int64)
        counts[:, 0] = len(cells)
        counts[odd] = _count_states(cells[:, odd], self.low[odd], self.high[odd])
        return counts

    def _all_within(self, cells: FloatArray) -> npt.NDArray[np.bool_]:
        """Say of each column whether all of its cells are finite and within its bounds; NaN is its own smallest and largest."""
        if not len(cells):
            return np.ones(len(self.low), dtype=bool)
        lowest, highest = _extremes(np.minimum, cells), _extremes(np.maximum, cells)
        return np.asarray((lowest >= self.low) & (highest <= self.high) & np.isfinite(lowest) & np.isfinite(highest))


@dataclass(frozen=True, kw_only=True, eq=False)
class BinnedColumns(ColumnHistograms):
    """Histograms of columns by the number of a bin."""

    @abstractmethod
    def bins(self, rows: FloatArray) -> npt.NDArray[Any]:
        """Return the bin of each cell, one column of bins for each column that is asked about."""

    @quiet
    def exact(self, rows: FloatArray) -> IntArray:
        """Count the cells of one block of raw rows."""
        n_columns, n_bins = self.shape
        bins = self.bins(np.asarray(rows, dtype=np.float64))
        # Whatever a cell holds, it is counted in one bin of its own column and nowhere else.
        places = np.clip(np.nan_to_num(bins), 0, n_bins - 1).astype(np.int64)
        places += np.arange(n_columns, dtype=np.int64) * n_bins
        return np.bincount(places.ravel(), minlength=n_columns * n_bins).reshape(self.shape)


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnMagnitudes(BinnedColumns):
    """How many cells of some columns have each sign and power of two, from the most negative to the largest.

    Zero is in the middle; the last bin is for cells that are missing or not finite.

    Parameters
    ----------
    columns : tuple of int
        Positions of the columns.
    """

    columns: tuple[int, ...]
    name: ClassVar[str] = "column_magnitudes"
    N_OCTAVES: ClassVar[int] = LARGEST_OCTAVE - SMALLEST_OCTAVE + 1
    ZERO: ClassVar[int] = N_OCTAVES

    @property
    def shape(self) -> tuple[int, ...]:
        """A bin for each sign and power, one for zero, and one for missing cells."""
        return (len(self.columns), 2 * self.N_OCTAVES + 2)

    def bins(self, rows: FloatArray) -> FloatArray:
        """Return the bin of each cell."""
        cells = rows[:, list(self.columns)]
        octaves = np.frexp(cells)[1] - 1 - SMALLEST_OCTAVE
        steps = np.clip(octaves + 1, 0, self.N_OCTAVES)  # 0: too small to count
        places = self.ZERO + np.where(cells == 0, 0, np.sign(cells) * steps)
        return np.where(np.isfinite(cells), places, 2 * self.N_OCTAVES + 1)

    @classmethod
    def edges(cls, first: int, last: int) -> tuple[float, float]:
        """Return the interval that the bins from `first` to `last` cover."""
        return cls._edge(first, outer=first < cls.ZERO), cls._edge(last, outer=last > cls.ZERO)

    @classmethod
    def _edge(cls, place: int, *, outer: bool) -> float:
        step = place - cls.ZERO
        if step == 0:
            return 0.0
        power = 2.0 ** (SMALLEST_OCTAVE + abs(step) - 1 + outer)
        return power if step > 0 else -power


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnIntervals(BinnedColumns):
    """How many cells of some columns lie in each of some equal intervals between two ends.

    The first bin is for what lies below, the last two for what lies above, and for cells that are missing or not finite.

    Parameters
    ----------
    columns : tuple of int
        Positions of the columns.
    low, high : array of shape (n_columns,)
        Public ends, low below high.
    n_intervals : int
        Between the ends.
    """

    columns: tuple[int, ...]
    low: FloatArray
    high: FloatArray
    n_intervals: int
    name: ClassVar[str] = "column_intervals"

    @property
    def shape(self) -> tuple[int, ...]:
        """The intervals of each column and three bins more."""
        return (len(self.columns), self.n_intervals + 3)

    def bins(self, rows: FloatArray) -> FloatArray:
        """Return the bin of each cell."""
        cells = rows[:, list(self.columns)]
        inside = 1 + np.floor((cells - self.low) / (self.high - self.low) * self.n_intervals)
        places = np.clip(inside, 1, self.n_intervals)
        places = np.where(cells < self.low, 0, np.where(cells > self.high, self.n_intervals + 1, places))
        return np.where(np.isfinite(cells), places, self.n_intervals + 2)


def _count_states(cells: FloatArray, low: FloatArray, high: FloatArray) -> IntArray:
    """Return how many cells of each column are within bounds, missing and outside; each is one of the three."""
    finite = np.isfinite(cells)
    outside = ((cells < low) | (cells > high)) & finite
    every = np.ones(len(cells))
    n_finite, n_outside = every @ finite, every @ outside  # whole numbers below 2**53
    return np.stack([n_finite - n_outside, len(cells) - n_finite, n_outside], axis=1).astype(np.int64)


def _extremes(extreme: np.ufunc, cells: FloatArray) -> FloatArray:
    """Return the smallest or the largest cell of each column; NaN where any is. Several rows at a time: columns are few."""
    n_columns = cells.shape[1]
    height = max(1, TILE // n_columns)
    whole = len(cells) - len(cells) % height if cells.flags.c_contiguous else 0
    parts = [cells[whole:]]
    if whole:
        parts.append(extreme.reduce(cells[:whole].reshape(-1, height * n_columns), axis=0).reshape(height, n_columns))
    return np.asarray(extreme.reduce(np.concatenate(parts), axis=0))
