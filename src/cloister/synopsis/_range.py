# SPDX-License-Identifier: Apache-2.0
"""How many rows of a grid lie in a box: the cells inside it, parts of those that it cuts through, and the errors of both.

Where the rows of a cut cell lie is not known. The cells beside it tell: how the number of rows changes from cell to cell, and
how far it departs from a smooth change. Arithmetic on public numbers.
"""

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister.algorithms import CellNoise
from cloister.columns import Box, FloatArray, as_box

if TYPE_CHECKING:
    from cloister.synopsis._grid import Grid

REACH = 3  # cells on either side of a cut cell that tell how its rows lie
ON_A_BORDER = 1e-9  # of a cell: a box that ends so near to a border of cells does not cut them
WHOLE = 1 / 1.96  # of a count: an interval of 1.96 such errors around any part of it holds all that may be inside
ROUGH = 0.25  # of a count: cells that depart so far from a smooth change may hold rows on single values


@dataclass(frozen=True)
class RangeCount:
    """A noisy number of rows in a box, with what makes it uncertain. It is unbiased by the noise, so it may be negative."""

    value: float
    noise_error: float  # standard deviation of the noise of the cells that were added
    edge_error: float  # standard error from cells the box cuts through: where in them their rows lie is not known

    @property
    def standard_error(self) -> float:
        """Both together."""
        return math.hypot(self.noise_error, self.edge_error)

    def __str__(self) -> str:
        return f"{self.value:,.0f} ± {self.standard_error:,.0f}"


@dataclass(frozen=True)
class CutLine:
    """Cells in a line across a border of a box, one of which it cuts: numbers of rows, each added up along that border."""

    counts: FloatArray
    noise: float  # variance of a count
    own: int  # the cell that is cut
    place: float  # where it is cut, from 0 to 1
    tie: float  # the part of its rows that may lie on the border itself

    @property
    def moved(self) -> float:
        """How many more rows lie below the border than if they were spread evenly.

        The density is taken to be linear within the cell, as steep as at the flatter of its two ends; flat at a peak.
        """
        own, falls = self.counts[self.own], -np.diff(self.counts[max(self.own - 1, 0) : self.own + 2])
        if not falls.size or own <= 0 or np.ptp(np.sign(falls)) > 0:
            return 0.0
        fall = np.clip(falls[np.argmin(np.abs(falls))], -2 * own, 2 * own)
        return float(fall * self.place * (1 - self.place) / 2)

    @property
    def variance(self) -> float:
        """Squared standard error of the number of rows on either side of the border.

        How far counts depart from a smooth change is read off their third differences, less the noise: at least as far as
        independent rows, at most by all rows of the cell. An outermost cell is compared with what continues the next two. Rows
        that lie on the border itself, if values are rounded, may be on either side of it.
        """
        own, last = max(float(self.counts[self.own]), 0.0), len(self.counts) - 1
        order = min(3, last)
        found = float(np.mean(np.diff(self.counts, n=order) ** 2)) / math.comb(2 * order, order) - self.noise
        if self.own in (0, last):
            order = min(2, last)
            outer = np.diff(self.counts if self.own else self.counts[::-1], n=order)[-1]
            found = max(found, float(outer**2) - math.comb(2 * order, order) * self.noise)
        rough = min(max(found, own), max(own**2, self.noise))
        tie = own * min(self.tie, 1.0) if self.tie < 1 or rough > (ROUGH * own) ** 2 else 0.0
        return WHOLE**2 * rough + tie**2 / 3


def count_range(grid: "Grid", box: Any, noisy_counts: FloatArray, noise: CellNoise) -> RangeCount:
    """Add up the cells in a box, with a part of those that it cuts through."""
    query = as_box("Synopsis.count.box", box, len(grid.cells))
    overlaps = []
    for ends, low, high in zip(grid.edges, *query.ranges, strict=True):
        overlap = np.minimum(ends[1:], high) - np.maximum(ends[:-1], low)
        overlaps.append(np.clip(overlap / np.diff(ends), 0.0, 1.0))
    whole = functools.reduce(np.multiply.outer, overlaps)
    part = whole.ravel() if grid.split is None else grid.split.average(whole)
    value, variance = float(np.sum(part * noisy_counts)), 0.0
    for sign, even, rough in _cut_lines(grid, query, overlaps, noisy_counts, noise):
        value += sign * even.moved
        variance += rough.variance
    return RangeCount(value, float(noise.of_sums(part)[0]), math.sqrt(variance))


def _cut_lines(
    grid: "Grid", query: Box, overlaps: list[FloatArray], noisy_counts: FloatArray, noise: CellNoise
) -> Iterator[tuple[int, CutLine, CutLine]]:
    """Yield the cells across each border of a box that cuts some, and 1 for an upper border, -1 for a lower one.

    Cells are added up between the other borders of the box, so that what they have in common, such as values that many rows
    share, adds up as well. Leaves of each width make a line of their own. Cells in a corner of the box count in the first line
    with their part inside the other borders; in the second, which is for errors, with its root, as rows on single places do.
    """
    counts = grid.spread(noisy_counts)
    variances = grid.spread(np.broadcast_to(noise.of_each**2, noisy_counts.shape))
    widths = np.broadcast_to(1, counts.shape)
    if (split := grid.split) is not None:
        widths = (split.finest // split.factors.ravel()[split.owners])[split.labels]
    for axis, ends in enumerate(grid.edges):
        others, step = overlaps[:axis] + overlaps[axis + 1 :], float(ends[1] - ends[0])
        inside = np.ix_(*(np.flatnonzero(other) for other in others))
        weights = functools.reduce(np.multiply.outer, others, np.ones(()))[inside].ravel()
        for bound, sign in zip((float(side[axis]) for side in query.ranges), (-1, 1), strict=True):
            place = (bound - float(ends[0])) / step  # in cells of the finest grid
            if not 0 < place < len(ends) - 1:
                continue
            cut = _beside(widths, axis, slice(int(place), int(place) + 1), inside)[0]
            for width in np.unique(cut):
                chosen, cell = cut == width, int(place / width)
                within = place / width - cell
                if not ON_A_BORDER < within < 1 - ON_A_BORDER:
                    continue
                first, last = max(cell - REACH, 0), min(cell + REACH + 1, (len(ends) - 1) // width)
                near, mass = slice(first * width, last * width), weights[chosen]
                rows = _beside(counts, axis, near, inside)[:, chosen]
                own = slice(cell * width, (cell + 1) * width)
                shared = float(np.sum(_beside(variances, axis, own, inside)[:, chosen] @ mass))
                for_value, for_error = ((rows @ by).reshape(-1, width).sum(axis=1) for by in (mass, np.sqrt(mass)))
                about = {"noise": shared, "own": cell - first, "place": within, "tie": _resolution(bound) / (width * step)}
                yield sign, CutLine(for_value, **about), CutLine(for_error, **about)


def _beside(values: FloatArray, axis: int, cells: slice, inside: tuple[Any, ...]) -> FloatArray:
    """Return cells along an axis, in rows, beside each other between the other borders of a box, in columns."""
    chosen = np.moveaxis(values, axis, 0)[cells]
    return chosen[(slice(None), *inside)].reshape(len(chosen), -1)


def _resolution(bound: float) -> float:
    """Return the place of the last digit of a number, 1 of whole numbers: values that are rounded to it may lie on it.

    Examples
    --------
    >>> _resolution(65.0), _resolution(0.25)
    (1.0, 0.01)
    """
    return float(10.0 ** min(int(Decimal(repr(bound)).normalize().as_tuple().exponent), 0))
