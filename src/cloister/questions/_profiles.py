# SPDX-License-Identifier: Apache-2.0
"""Histograms of columns by cluster: what the rows nearest to each centre look like.

The question sees raw rows, also of columns that clusters were not found by. A row belongs to one centre, and each of its cells
to one bin of its own column.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cloister import validate
from cloister.columns import FloatArray, Frame, IntArray, Relation, quiet
from cloister.questions._base import Question, public_points, refuse_misfit
from cloister.questions._columns import LARGEST_HISTOGRAMS, root_above
from cloister.questions._search import Nearest

__all__ = ["ColumnBins", "NearestHistograms"]


@dataclass(frozen=True, kw_only=True)
class ColumnBins:
    """The bins of one raw column.

    Of an interval: equal parts of it, and one bin for cells that are missing or not finite. What lies outside is moved to the
    nearer end. Of levels: one bin for each position, one for cells that are no level, one for missing ones.

    Parameters
    ----------
    low, high : float
        Public ends. Of levels: 0 and how many there are.
    n_bins : int
        Parts of the interval, or levels.
    are_levels : bool, default=False
        Whether cells are positions of levels.
    """

    low: float
    high: float
    n_bins: int
    are_levels: bool = False

    def __post_init__(self) -> None:
        if not (self.low < self.high and math.isfinite(self.low) and math.isfinite(self.high)):
            validate.refuse("ColumnBins", "finite ends low < high", (self.low, self.high), remedy="Pass public bounds.")
        validate.integer("ColumnBins.n_bins", self.n_bins, low=1)

    @classmethod
    def of_levels(cls, n_levels: int) -> "ColumnBins":
        """Return the bins of so many levels."""
        return cls(low=0.0, high=float(n_levels), n_bins=n_levels, are_levels=True)

    @property
    def size(self) -> int:
        """How many bins there are, those for other and for missing cells included."""
        return self.n_bins + (2 if self.are_levels else 1)

    def find(self, cells: FloatArray) -> IntArray:
        """Return the bin of each cell; every cell has one, whatever it holds."""
        parts = cells if self.are_levels else (cells - self.low) / (self.high - self.low) * self.n_bins
        places = np.clip(np.nan_to_num(np.floor(parts)), 0, self.n_bins - 1)
        if self.are_levels:
            places = np.where((cells >= 0) & (cells < self.n_bins), places, self.n_bins)
        return np.where(np.isfinite(cells), places, self.size - 1).astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class NearestHistograms(Question):
    """For each of the public points, histograms of some columns over the rows that have it as their nearest.

    Parameters
    ----------
    points : array of shape (n_points, n_features)
        Public, in the unit ball.
    frame : Frame
        The public map through which rows are compared to the points; it takes the first columns of a row.
    columns : tuple of int
        Positions of the raw columns.
    bins : tuple of ColumnBins
        Their bins, which stand side by side in the answer.
    """

    points: FloatArray
    frame: Frame
    columns: tuple[int, ...]
    bins: tuple[ColumnBins, ...]
    name: ClassVar[str] = "nearest_histograms"
    raw: ClassVar[bool] = True
    whole_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", public_points("NearestHistograms.points", self.points))
        if not self.columns:
            validate.refuse("NearestHistograms.columns", "at least one column", self.columns, remedy="Pass their positions.")
        refuse_misfit("NearestHistograms.bins", (len(self.bins),), (len(self.columns),))
        if math.prod(self.shape) > LARGEST_HISTOGRAMS:
            rule = f"at most {LARGEST_HISTOGRAMS:,} bins in all"
            validate.refuse("NearestHistograms", rule, math.prod(self.shape), remedy="Use fewer points or columns.")

    @property
    def shape(self) -> tuple[int, ...]:
        """One histogram of all columns, end to end, for each point."""
        return (len(self.points), sum(one.size for one in self.bins))

    @quiet
    def exact(self, rows: FloatArray) -> IntArray:
        """Count the cells of one block of raw rows."""
        cells = np.asarray(rows, dtype=np.float64)
        labels = Nearest(self.points, longest_row=1.0)(self.frame.clean(cells[:, : self.frame.n_raw]))
        counts = []
        for column, bins in zip(self.columns, self.bins, strict=True):
            places = labels * bins.size + bins.find(cells[:, column])
            found = np.bincount(places, minlength=len(self.points) * bins.size)
            counts.append(found.reshape(len(self.points), bins.size))
        return np.concatenate(counts, axis=1)

    def l1_sensitivity(self, relation: Relation) -> float:
        # A row adds one to one bin of each column, all of them at its nearest point. Replacing it takes as many ones away.
        return float(len(self.columns) if relation is Relation.ADD_REMOVE else 2 * len(self.columns))

    def l2_sensitivity(self, relation: Relation) -> float:
        # The bins of different columns are different numbers: as many changes of one. Replacing changes at most twice as many,
        # and none by more than one: in each column it takes one from a bin and gives one to another, or to the same.
        return root_above(self.l1_sensitivity(relation))
