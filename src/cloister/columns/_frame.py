# SPDX-License-Identifier: Apache-2.0
"""The map from the units of the input to the unit ball, and the cleaning of rows.

Inside the vault every row lies in the unit ball, on a public grid. :class:`Frame` is the public map to it; ``Frame.clean`` is
the only thing that is ever done to a raw row before a question sees it, and it treats every row by itself, so it cannot change
how many rows differ between two neighbouring tables. Anyone may import this module.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister.columns._base import FloatArray, grid_step, pull_in, quiet, snap
from cloister.columns._parts import Part

TILE = 1 << 13  # numbers that an operation on rows and one vector takes at a time: as many as NumPy buffers, or more
SMALL = 1e-6  # step of a derivative, in the unit ball


def cuts_of(sizes: Iterable[int]) -> tuple[slice, ...]:
    """Return which coordinates belong to which column, of which each has so many."""
    return tuple(slice(start, stop) for start, stop in pairwise(accumulate(sizes, initial=0)))


@dataclass(frozen=True, eq=False)
class Frame:
    """The public map between a box, in the units of the input, and the unit ball, in which all questions are answered."""

    domain: Any  # a Table
    center: FloatArray  # (n_features,)
    scale: FloatArray  # (n_features,)
    distance_unit: float  # length 1 of the unit ball, in units of the input; of half the bounds, if every column is scaled
    missing: FloatArray | None = None  # where missing values are placed, each in its own column; None: at the centre

    @property
    def n_features(self) -> int:
        """Coordinates of the unit ball."""
        return len(self.center)

    @property
    def n_raw(self) -> int:
        """Columns of raw rows."""
        return len(self.widths)

    @property
    def widths(self) -> tuple[int, ...]:
        """Coordinates of the unit ball that each raw column has."""
        return (1,) * self.n_features

    @property
    def half_widths(self) -> FloatArray | None:
        """Half the widths of a box in the unit ball's coordinates; None where the domain is none."""
        return np.asarray((self.domain.high - self.center) / self.scale)

    @property
    def spreads(self) -> FloatArray | None:
        """About the standard deviation of each coordinate, where columns have a spread that was found; otherwise None."""
        return None

    @property
    def reach(self) -> FloatArray:
        """How far the domain reaches to either side of its centre, in units of distances."""
        half = self.half_widths
        return np.full(self.n_features, self.distance_unit) if half is None else half * self.distance_unit

    @property
    def corners(self) -> tuple[FloatArray, ...]:
        """For each column the places, in the unit ball's coordinates, between which its values lie; none of a ball."""
        half = self.half_widths
        return () if half is None else tuple(np.array([[-one], [one]]) for one in half)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frame) or self.domain.to_dict() != other.domain.to_dict():
            return False
        return all(np.array_equal(getattr(self, one), getattr(other, one)) for one in ("scale", "distance_unit", "missing"))

    def __hash__(self) -> int:
        return hash(self.distance_unit)

    @quiet
    def clean(self, block: npt.ArrayLike) -> FloatArray:
        """Return raw rows as points of the grid in the unit ball; a value that is not finite is placed by itself.

        One output row per input row, each a function of its own input row alone, and none longer than 1: exactly, whatever the
        rounding on the way, because the last step pulls rows in and is exact.
        """
        return self._clean_any(np.asarray(block, dtype=np.float64))

    def clean_with_gaps(self, block: npt.ArrayLike) -> tuple[FloatArray, npt.NDArray[np.bool_] | None]:
        """Return clean rows, and which of their coordinates are missing and stand at a mean that was found; None: no such."""
        rows = np.asarray(block, dtype=np.float64)
        if self.missing is None or np.isfinite(quiet(np.sum)(rows)):
            return self.clean(rows), None
        return self.clean(rows), ~np.isfinite(rows)

    def _clean_any(self, rows: FloatArray) -> FloatArray:
        if not np.isfinite(np.sum(rows)):  # else no entry is infinite or missing
            rows = np.where(np.isfinite(rows), rows, self.center if self.missing is None else self.missing)
        clean = self._offsets(rows)
        return pull_in(self._round(clean, out=clean))

    def _offsets(self, rows: FloatArray) -> FloatArray:
        """Return the rows, moved into the domain, as seen from its centre: an array of its own, rows side by side in memory."""
        inside = self._tiled(np.maximum, rows, self.domain.low)
        self._tiled(np.minimum, inside, self.domain.high, out=inside)
        return self._tiled(np.subtract, inside, self.center, out=inside)

    def _round(self, offsets: FloatArray, *, out: FloatArray | None) -> FloatArray:
        """Return offsets in the unit ball's coordinates, rounded to the grid.

        The step is a power of two: dividing by scale * step gives, to the last bit, what dividing by the scale and then by the
        step does. (Where the quotient is too small for that, both are rounded to zero.)
        """
        step = grid_step(self.n_features)
        steps = self._tiled(np.divide, offsets, self.scale * step, out=out)
        np.rint(steps, out=steps)
        return np.multiply(steps, step, out=steps)

    def _tiled(self, operation: np.ufunc, rows: FloatArray, vector: FloatArray, *, out: FloatArray | None = None) -> FloatArray:
        """Return ``operation(rows, vector)``, many rows at a time: a loop over a few columns is slow.

        Cleaning is done for every row in every round.
        """
        rows = np.ascontiguousarray(rows)
        result = np.empty(rows.shape) if out is None else out
        height = max(1, min(-(-TILE // self.n_features), len(rows)))
        tile = np.tile(np.broadcast_to(vector, self.n_features), height)
        flat, into = rows.reshape(-1), result.reshape(-1)  # views
        whole = flat.size - flat.size % tile.size
        operation(flat[:whole].reshape(-1, tile.size), tile, out=into[:whole].reshape(-1, tile.size))
        operation(flat[whole:], tile[: flat.size - whole], out=into[whole:])
        return result

    def to_unit(self, points: npt.ArrayLike) -> FloatArray:
        """Return points given in the units of the input in the unit ball's coordinates."""
        return np.asarray((np.asarray(points, dtype=np.float64) - self.center) / self.scale)

    def from_unit(self, points: npt.ArrayLike) -> FloatArray:
        """Return points of the unit ball in the units of the input, inside the domain."""
        return np.asarray(self.domain.clip(self.center + np.asarray(points, dtype=np.float64) * self.scale))

    def clip_unit(self, points: npt.ArrayLike) -> FloatArray:
        """Move points of the unit ball's coordinates into the image of the domain."""
        return self.to_unit(self.from_unit(points))

    def errors_from_unit(self, errors: npt.ArrayLike, points: npt.ArrayLike | None = None) -> FloatArray:
        """Return standard errors of the unit ball's coordinates, at some points, as those of published ones."""
        return np.asarray(np.asarray(errors, dtype=np.float64) * self.scale)

    def relative(self, points: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return published points and their errors in units of the ball, each coordinate by itself."""
        return points / self.scale, errors / self.scale

    def errors_to_unit(self, errors: FloatArray, points: FloatArray) -> FloatArray:
        """Return errors of published points in the unit ball's coordinates."""
        return self.relative(points, errors)[1]

    def published_axes(self, axes: FloatArray) -> list[FloatArray]:
        """Return how much each published coordinate grows along each of some axes of the unit ball."""
        return list(axes.T)

    def draw(self, generator: np.random.Generator, count: int) -> FloatArray:
        """Draw points that span the domain, in the unit ball's coordinates."""
        return np.asarray(np.asarray(self.half_widths) * (2 * generator.random((count, self.n_features)) - 1))


class BallFrame(Frame):
    """The map of a ball: rows are shortened along the ray from its centre."""

    @property
    def half_widths(self) -> FloatArray | None:
        return None

    @quiet
    def clean(self, block: npt.ArrayLike) -> FloatArray:
        """Scale and round all rows. The few that are not finite or not well inside the ball are cleaned once more, with care.

        Rounding to the grid moves a row by at most half of step * sqrt(n_features), so one that is shorter than the radius by
        twice that is not pulled in afterwards, whatever the rounding of its length. The length of a row with a value that is
        not finite is not finite.
        """
        rows = np.asarray(block, dtype=np.float64)
        offsets = self._tiled(np.subtract, rows, self.center) if self.center.any() else rows
        squares = np.einsum("ij,ij->i", offsets, offsets)
        inside = self.domain.radius * max(0.0, 1 - grid_step(self.n_features) * math.sqrt(self.n_features))
        rest = np.flatnonzero(~(squares <= inside**2))
        if len(rest) > len(rows) // 4:
            return self._clean_any(rows)
        clean = self._round(offsets, out=None if offsets is rows else offsets)
        if rest.size:
            clean[rest] = self._clean_any(rows[rest])
        return clean

    def _offsets(self, rows: FloatArray) -> FloatArray:
        offsets = self._tiled(np.subtract, rows, self.center)
        self.domain.shorten(offsets)
        return offsets

    def draw(self, generator: np.random.Generator, count: int) -> FloatArray:
        """Draw points of which only the directions matter."""
        return generator.standard_normal((count, self.n_features))


@dataclass(frozen=True, eq=False)
class ColumnFrame(Frame):
    """The public map between the columns of a table, part by part, and the unit ball.

    `center` and `scale` are in published coordinates; `scale` is what a unit of the ball is worth there.
    """

    parts: tuple[Part, ...] = field(kw_only=True)
    scaling: str = field(kw_only=True)

    @property
    def n_features(self) -> int:
        return sum(self.widths)

    @cached_property
    def widths(self) -> tuple[int, ...]:
        return tuple(part.dimension for part in self.parts)

    @cached_property
    def spreads(self) -> FloatArray | None:
        if self.domain.spreads is None:
            return None
        each = self.domain.variances(self.scaling) / self.widths
        return np.asarray(np.sqrt(np.repeat(each, self.widths)) / self.distance_unit)

    @cached_property
    def half_widths(self) -> FloatArray | None:
        """Half the widths of the box, where every column is an interval; otherwise None."""
        if not all(part.is_interval for part in self.parts):
            return None
        return np.array([part.size for part in self.parts]) / self.distance_unit

    @property
    def corners(self) -> tuple[FloatArray, ...]:
        return tuple(part.corners / self.distance_unit for part in self.parts)

    @cached_property
    def _cuts(self) -> tuple[tuple[Part, slice, slice], ...]:
        """Each part, which coordinates of the unit ball are its own, and which published ones."""
        return tuple(zip(self.parts, cuts_of(self.widths), self.domain.slices(), strict=True))

    @cached_property
    def _places(self) -> FloatArray:
        """Where missing values lie, in the coordinates of the parts."""
        places = self.domain.places(self.missing)
        return np.zeros(self.n_features) if places is None else self._coordinates(places[None])[0]

    @quiet
    def clean(self, block: npt.ArrayLike) -> FloatArray:
        """Return raw rows as points of the grid in the unit ball; a value that is missing is placed by itself.

        One output row per input row, each a function of its own input row alone, and none longer than 1: exactly, because the
        last step pulls rows in and is exact.
        """
        return self.clean_with_gaps(block)[0]

    @quiet
    def clean_with_gaps(self, block: npt.ArrayLike) -> tuple[FloatArray, npt.NDArray[np.bool_] | None]:
        rows = np.asarray(block, dtype=np.float64)
        clean, gaps = np.empty((len(rows), self.n_features)), None
        for index, (part, cut, _) in enumerate(self._cuts):
            missing = part.place(rows[:, index], clean[:, cut])
            if missing.any():
                clean[missing, cut] = self._places[cut]
                if self.missing is not None and self.domain.columns[index].at_mean:
                    gaps = np.zeros(clean.shape, dtype=bool) if gaps is None else gaps
                    gaps[missing, cut] = True
        clean /= self.distance_unit
        return pull_in(snap(clean, out=clean)), gaps

    def _coordinates(self, points: FloatArray) -> FloatArray:
        return np.concatenate([part.to_coordinates(points[:, cut]) for part, _, cut in self._cuts], axis=1)

    def to_unit(self, points: npt.ArrayLike) -> FloatArray:
        return np.asarray(self._coordinates(np.asarray(points, dtype=np.float64)) / self.distance_unit)

    def from_unit(self, points: npt.ArrayLike) -> FloatArray:
        scaled = np.asarray(points, dtype=np.float64) * self.distance_unit
        return np.concatenate([part.from_coordinates(scaled[:, cut]) for part, cut, _ in self._cuts], axis=1)

    def errors_from_unit(self, errors: npt.ArrayLike, points: npt.ArrayLike | None = None) -> FloatArray:
        scaled = np.asarray(errors, dtype=np.float64) * self.distance_unit
        places = None if points is None else np.asarray(points, dtype=np.float64) * self.distance_unit
        found = [part.errors(scaled[:, cut], None if places is None else places[:, cut]) for part, cut, _ in self._cuts]
        return np.concatenate(found, axis=1)

    @property
    def reach(self) -> FloatArray:
        return np.concatenate([np.full(part.dimension, part.radius) for part in self.parts])

    def relative(self, points: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
        flat = [part.flatten(points[:, cut], errors[:, cut]) for part, _, cut in self._cuts]
        first, second = (np.concatenate(one, axis=1) for one in zip(*flat, strict=True))
        return super().relative(first, second)

    def errors_to_unit(self, errors: FloatArray, points: FloatArray) -> FloatArray:
        """Return errors of published points in the unit ball's coordinates: a common one for all of a column's."""
        relative = self.relative(points, errors)[1]
        means = [np.repeat(relative[:, cut].mean(axis=1, keepdims=True), part.dimension, axis=1) for part, _, cut in self._cuts]
        return np.concatenate(means, axis=1)

    def published_axes(self, axes: FloatArray) -> list[FloatArray]:
        middle = self.to_unit(self.center[None])
        return list((self.from_unit(middle + SMALL * axes.T) - self.center) / self.scale / SMALL)

    def draw(self, generator: np.random.Generator, count: int) -> FloatArray:
        drawn = np.concatenate([part.draw(generator, count) for part in self.parts], axis=1)
        return np.asarray(drawn / self.distance_unit)
