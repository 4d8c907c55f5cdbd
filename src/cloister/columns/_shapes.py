# SPDX-License-Identifier: Apache-2.0
"""Where rows may lie: what every domain offers, and two of them whose columns are plain numbers, boxes and balls.

Inside the vault every row lies in the unit ball, on a public grid. A :class:`Frame` is the public affine map between the
units of the input and that unit ball; ``Frame.clean`` is the only thing that is ever done to a raw row before a question
sees it, and it treats every row by itself, so it cannot change how many rows differ between two neighbouring tables.

Nobody asks which domain it is: a domain knows its columns. Anyone may import this module.
"""

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns._base import EXTENTS, FloatArray, grid_step, pull_in, quiet, refuse_narrow
from cloister.columns._column import LARGEST, Declaration
from cloister.columns._number import Number

TILE = 1 << 13  # numbers that an operation on rows and one vector takes at a time: as many as NumPy buffers, or more
WIDTHS_DIFFER = 1 + 1e-12


class Domain(ABC):
    """Public columns, and the map from them to the unit ball."""

    is_declared: ClassVar[bool] = False  # whether it was said what each column is
    sentence: ClassVar[str]  # that says where rows lie
    spreads: FloatArray | None = None  # standard deviations of columns, found with noise

    @cached_property
    def columns(self) -> tuple[Declaration, ...]:
        """What each column is: a number; a ball may reach farther than the bounds of a number may lie."""
        pairs = zip(*(np.clip(end, -LARGEST, LARGEST).tolist() for end in self.ranges), strict=True)
        return tuple(Number(*pair) for pair in pairs)

    @abstractmethod
    def spread(self, n_features: int) -> "Domain":
        """Return the same domain for so many columns."""

    @abstractmethod
    def clip(self, points: npt.ArrayLike) -> FloatArray:
        """Move published points into the domain."""

    @abstractmethod
    def frame(self, *, scaling: str = "none", missing: FloatArray | None = None) -> "Frame":
        """Return the map to the unit ball; `missing` is where missing values are placed by default, a published point."""

    @abstractmethod
    def choose_scaling(self, where: str, scaling: str) -> str:
        """Return how distances are measured, where "auto" leaves it to the domain."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the domain as plain data."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def ranges(self) -> tuple[FloatArray, FloatArray]:
        """Both ends of the raw numbers of each column: of a category, the positions of its levels."""
        low, high = np.array([one.interval for one in self.columns], dtype=np.float64).T
        return low, high

    @property
    def has_words(self) -> bool:
        """Whether the raw number of some column is none that a table holds: that of a level, of yes, of a date."""
        return not all(one.as_is for one in self.columns)

    @property
    def private(self) -> tuple[int, ...]:
        """Positions of the columns whose bounds are still to be found."""
        return tuple(index for index, one in enumerate(self.columns) if one.is_private)

    @property
    def measured(self) -> tuple[int, ...]:
        """Positions of the columns whose bounds and spread can be looked for."""
        return tuple(index for index, one in enumerate(self.columns) if one.is_measured)

    def with_bounds(
        self, bounds: dict[int, tuple[float, float]], spreads: FloatArray | None, guessed: Sequence[int] = ()
    ) -> "Domain":
        """Return the domain with bounds that were found for some columns, and spreads."""
        raise NotImplementedError  # of declared columns

    def relative(self, points: FloatArray) -> tuple[FloatArray, "Domain"]:
        """Return points, and the domain, in the units in which distances relative to bounds are measured."""
        return points, self

    def places(self, means: FloatArray | None) -> FloatArray | None:
        """Return where missing values lie, as a published point: as declared, else at `means`, else in the middle (None)."""
        return means

    def of_columns(self, indices: Sequence[int]) -> "Domain":
        """Return the box of some of the columns, in this order."""
        low, high = self.ranges
        return Box(low[list(indices)], high[list(indices)])

    def names(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """Return the names of the columns, made up where they have none."""
        return tuple(names or (f"x{index}" for index in range(self.n_columns)))

    def published_names(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """Return what the published coordinates are called."""
        pairs = zip(self.names(names), self.columns, strict=True)
        return tuple(each for name, one in pairs for each in one.published_names(name))

    def slices(self) -> tuple[slice, ...]:
        """Return which published coordinates belong to which column."""
        return cuts_of(one.size + one.has_own for one in self.columns)

    def plain_columns(self) -> list[dict[str, Any]]:
        """Return what is known of each column as plain data."""
        return [one.to_dict() for one in self.columns]


def cuts_of(sizes: Iterable[int]) -> tuple[slice, ...]:
    """Return which coordinates belong to which column, of which each has so many."""
    return tuple(slice(start, stop) for start, stop in pairwise(accumulate(sizes, initial=0)))


@dataclass(frozen=True, eq=False)
class Ball(Domain):
    """A public ball: every row is pulled into it along the ray from its centre.

    Parameters
    ----------
    radius : float
        From 1e-100 to 1e100, in the units of the input.
    center : float or array-like of shape (n_features,), default=0.0
        A number stands for all columns.

    Notes
    -----
    **Privacy.** The ball must be known without looking at the data. It is published with the release.

    Examples
    --------
    >>> Ball(2.0).clip([[3.0, 4.0]])
    array([[1.2, 1.6]])
    """

    sentence: ClassVar[str] = "A ball; its extent along each column. Rows outside were moved to its edge."
    radius: float
    center: Any = 0.0

    def __post_init__(self) -> None:
        shortest, longest = EXTENTS
        object.__setattr__(self, "radius", validate.number("Ball.radius", self.radius, low=shortest, high=longest))
        object.__setattr__(self, "center", _public_vector("Ball.center", self.center))
        refuse_narrow("Ball.radius", self.radius, np.abs(self.center))

    @property
    def ranges(self) -> tuple[FloatArray, FloatArray]:
        center = np.atleast_1d(self.center)
        return center - self.radius, center + self.radius

    def choose_scaling(self, where: str, scaling: str) -> str:
        if scaling == "spread":
            remedy = 'Pass bounds=(low, high), or scaling="none".'
            validate.refuse(where, "a box or declared columns for the spread of columns", "a ball", remedy=remedy)
        return "none" if scaling == "auto" else scaling

    def spread(self, n_features: int) -> "Ball":
        return Ball(self.radius, _broadcast("Ball.center", self.center, n_features))

    def clip(self, points: npt.ArrayLike) -> FloatArray:
        """Pull points outside the ball to its surface."""
        offsets = np.subtract(np.asarray(points, dtype=np.float64), self.center, order="C")
        self.shorten(offsets)
        return np.asarray(self.center + offsets)

    def shorten(self, offsets: FloatArray) -> None:
        """Shorten, in place, offsets from the centre that are longer than the radius."""
        with np.errstate(over="ignore"):  # an infinite square is outside, too
            outside = ~(np.einsum("...i,...i->...", offsets, offsets) <= self.radius**2)
        if outside.any():
            # Far points come nearer first, along the same ray: the square of 1e300 would overflow.
            far = offsets[outside]
            largest = np.max(np.abs(far), axis=-1, keepdims=True, initial=self.radius)
            far = np.where(largest > self.radius, far / largest * self.radius, far)
            norms = np.sqrt(np.sum(far * far, axis=-1, keepdims=True))
            offsets[outside] = far * (self.radius / np.maximum(norms, self.radius))

    def frame(self, *, scaling: str = "none", missing: FloatArray | None = None) -> "Frame":
        """Return the map that takes the ball to the unit ball (a ball has one width, so `scaling` changes nothing)."""
        center = np.atleast_1d(self.center)
        unit = math.sqrt(len(center)) if scaling == "bounds" else self.radius
        scale = np.full(center.shape, self.radius)
        return BallFrame(domain=self, center=center, scale=scale, distance_unit=unit, missing=missing)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "ball", "radius": self.radius, "center": np.atleast_1d(self.center).tolist()}


@dataclass(frozen=True, eq=False)
class Box(Domain):
    """A public box: every column of every row is cut to its interval.

    Parameters
    ----------
    low, high : float or array-like of shape (n_features,)
        Lower and upper ends, in the units of the input, with ``low < high`` in every column. A number stands for all columns.

    Notes
    -----
    **Privacy.** The box must be known without looking at the data: the range of an age, of a sensor, of a form. Taking the
    minimum and maximum of the rows would publish two of them exactly. The box is published with the release.

    Examples
    --------
    >>> Box(low=[0, 10], high=[120, 60]).clip([[130.0, 22.5]])
    array([[120. ,  22.5]])
    """

    sentence: ClassVar[str] = "A box. Rows outside were moved to its edge."
    low: Any
    high: Any

    def __post_init__(self) -> None:
        low, high = _public_vector("Box.low", self.low), _public_vector("Box.high", self.high)
        if 1 not in (np.size(low), np.size(high)) and np.size(low) != np.size(high):
            rule = f"as many numbers as low ({np.size(low)})"
            validate.refuse("Box.high", rule, np.size(high), remedy="Pass one pair per column.")
        low, high = (np.array(part) for part in np.broadcast_arrays(low, high))
        if not np.all(low < high):
            column = int(np.argmin(low < high))
            rule, pair = f"low < high in every column (column {column})", (float(low.flat[column]), float(high.flat[column]))
            validate.refuse("Box", rule, pair, remedy="Swap the two, or widen the interval.")
        refuse_narrow("Box", high - low, np.maximum(np.abs(low), np.abs(high)))
        for name, value in (("low", low), ("high", high)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def ranges(self) -> tuple[FloatArray, FloatArray]:
        return np.atleast_1d(self.low), np.atleast_1d(self.high)

    def choose_scaling(self, where: str, scaling: str) -> str:
        widths = np.atleast_1d(self.high - self.low)
        return ("bounds" if widths.max() > widths.min() * WIDTHS_DIFFER else "none") if scaling == "auto" else scaling

    def relative(self, points: FloatArray) -> tuple[FloatArray, "Domain"]:
        """Return points, and the box, with all widths one."""
        return (points - self.low) / (self.high - self.low), Box(0.0, 1.0).spread(self.n_columns)

    def spread(self, n_features: int) -> "Box":
        return Box(_broadcast("Box.low", self.low, n_features), _broadcast("Box.high", self.high, n_features))

    def clip(self, points: npt.ArrayLike) -> FloatArray:
        """Cut every column to its interval."""
        return np.asarray(np.clip(np.asarray(points, dtype=np.float64), self.low, self.high))

    def frame(self, *, scaling: str = "none", missing: FloatArray | None = None) -> "Frame":
        """Return the map that takes the box into the unit ball: one scale for all columns, or one each (``"bounds"``)."""
        low, high = self.ranges
        half = (high - low) / 2
        unit = math.sqrt(len(half)) if scaling == "bounds" else float(np.linalg.norm(half))
        scale = half * unit if scaling == "bounds" else np.full(half.shape, unit)
        return Frame(domain=self, center=low + half, scale=scale, distance_unit=unit, missing=missing)

    def to_dict(self) -> dict[str, Any]:
        low, high = self.ranges
        return {"kind": "box", "low": low.tolist(), "high": high.tolist()}


@dataclass(frozen=True, eq=False)
class Frame:
    """The public map between the units of the input and the unit ball, in which all questions are answered."""

    domain: Any  # a Domain
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
    def reach(self) -> FloatArray:
        """How far the domain reaches to either side of its centre, in units of distances."""
        half = self.half_widths
        return np.full(self.n_features, self.distance_unit) if half is None else half * self.distance_unit

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

    domain: Ball

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


def _public_vector(where: str, value: object) -> FloatArray:
    array = None
    # What is too large is refused below. A masked entry is a warning of NumPy's, and no number.
    with suppress(TypeError, ValueError, OverflowError, Warning), np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        if np.asarray(value).dtype.kind in "iufbO" and not isinstance(value, set | dict):
            array = np.array(value, dtype=np.float64)
    if array is None:
        validate.refuse(where, "a number or one number per column", value, remedy="Pass numbers.")
    if array.ndim > 1 or array.size == 0 or not np.isfinite(array).all():
        validate.refuse(where, "finite numbers, one or one per column", value, remedy="Pass finite numbers.")
    if np.abs(array).max() > EXTENTS[1]:
        validate.refuse(where, f"numbers of size at most {EXTENTS[1]:g}", value, remedy="Change the unit of the column.")
    array.setflags(write=False)
    return array


def _broadcast(where: str, value: FloatArray, n_features: int) -> FloatArray:
    if value.ndim == 1 and len(value) != n_features:
        validate.refuse(
            where, f"one number or {n_features}, one per column", len(value), remedy="Pass as many as the data has columns."
        )
    return np.broadcast_to(value, (n_features,)).copy()
