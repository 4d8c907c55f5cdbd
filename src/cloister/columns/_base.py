# SPDX-License-Identifier: Apache-2.0
"""Boxes and balls that rows may lie in, what a neighbour is, and the grid that values are rounded to.

Inside the vault every row lies in the unit ball, on a public grid. A :class:`Frame` is the public affine map between the
units of the input and that unit ball; ``Frame.clean`` is the only thing that is ever done to a raw row before a question
sees it, and it treats every row by itself, so it cannot change how many rows differ between two neighbouring tables.

The grid is chosen so that squared distances between grid points are exact in double precision: 2 (b + 2) + log2(d) bits
are at most 53. So a nearest centre is a fact, not a matter of rounding, and no order of rows, blocks or threads can change
an answer. Anyone may import this module.
"""

import enum
import math
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cloister import validate

__all__ = [
    "BLOCK_NUMBERS",
    "EXACT_BITS",
    "Ball",
    "Box",
    "FloatArray",
    "Frame",
    "IntArray",
    "Relation",
    "clip_to_unit_ball",
    "grid_step",
    "pull_in",
    "quiet",
    "refuse_narrow",
    "row_blocks",
    "snap",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

EXACT_BITS = 53  # significant bits of a double
quiet = np.errstate(all="ignore")  # decorates what computes with raw rows: a warning would reveal that one is odd or large
BLOCK_NUMBERS = 1 << 18  # numbers in work at a time: two megabytes of doubles stay in the processor's cache
TILE = 1 << 13  # numbers that an operation on rows and one vector takes at a time: as many as NumPy buffers, or more
EXTENTS = (1e-100, 1e100)  # of a domain: their squares neither overflow nor vanish
RESOLUTION = 1e-10  # a domain narrower than this part of its largest coordinate drowns in the rounding of doubles


class Relation(enum.Enum):
    """Which tables count as neighbours: the privacy guarantee is about telling two neighbours apart."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"

    @classmethod
    def parse(cls, where: str, value: object) -> "Relation":
        """Read ``"add-remove"`` or ``"replace"``."""
        if isinstance(value, cls):
            return value
        return cls(validate.one_of(where, value, [relation.value for relation in cls]))


@dataclass(frozen=True, eq=False)
class Ball:
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

    radius: float
    center: Any = 0.0

    def __post_init__(self) -> None:
        shortest, longest = EXTENTS
        object.__setattr__(self, "radius", validate.number("Ball.radius", self.radius, low=shortest, high=longest))
        object.__setattr__(self, "center", _public_vector("Ball.center", self.center))
        refuse_narrow("Ball.radius", self.radius, np.abs(self.center))

    def spread(self, n_features: int) -> "Ball":
        """Return the same ball with a centre of `n_features` numbers."""
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
            offsets[outside] = self._pull(offsets[outside])

    def _pull(self, offsets: FloatArray) -> FloatArray:
        # Far points come nearer first, along the same ray: the square of 1e300 would overflow.
        largest = np.max(np.abs(offsets), axis=-1, keepdims=True, initial=self.radius)
        offsets = np.where(largest > self.radius, offsets / largest * self.radius, offsets)
        norms = np.sqrt(np.sum(offsets * offsets, axis=-1, keepdims=True))
        return np.asarray(offsets * (self.radius / np.maximum(norms, self.radius)))

    def frame(self, *, scaling: str = "none", missing: npt.ArrayLike | None = None) -> "Frame":
        """Return the map that takes the ball to the unit ball (a ball has one width, so `scaling` changes nothing)."""
        center = np.atleast_1d(self.center)
        unit = math.sqrt(len(center)) if scaling == "bounds" else self.radius
        scale = np.full(center.shape, self.radius)
        return Frame(domain=self, center=center, scale=scale, distance_unit=unit, missing=_place(missing))

    def to_dict(self) -> dict[str, Any]:
        """Return the ball as plain data."""
        return {"kind": "ball", "radius": self.radius, "center": np.atleast_1d(self.center).tolist()}


@dataclass(frozen=True, eq=False)
class Box:
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

    low: Any
    high: Any

    def __post_init__(self) -> None:
        low, high = _public_vector("Box.low", self.low), _public_vector("Box.high", self.high)
        if 1 not in (np.size(low), np.size(high)) and np.size(low) != np.size(high):
            validate.refuse(
                "Box.high", f"as many numbers as low ({np.size(low)})", np.size(high), remedy="Pass one pair per column."
            )
        low, high = (np.array(part) for part in np.broadcast_arrays(low, high))
        if not np.isfinite(high - low).all():
            validate.refuse("Box", "a width that is finite in every column", (low, high), remedy="Narrow the interval.")
        if not np.all(low < high):
            column = int(np.argmax(~np.atleast_1d(low < high)))
            pair = (float(np.atleast_1d(low)[column]), float(np.atleast_1d(high)[column]))
            validate.refuse(
                "Box", f"low < high in every column (column {column})", pair, remedy="Swap the two, or widen the interval."
            )
        refuse_narrow("Box", high - low, np.maximum(np.abs(low), np.abs(high)))
        for name, value in (("low", low), ("high", high)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    def spread(self, n_features: int) -> "Box":
        """Return the same box with `n_features` intervals."""
        return Box(_broadcast("Box.low", self.low, n_features), _broadcast("Box.high", self.high, n_features))

    def clip(self, points: npt.ArrayLike) -> FloatArray:
        """Cut every column to its interval."""
        return np.asarray(np.clip(np.asarray(points, dtype=np.float64), self.low, self.high))

    def frame(self, *, scaling: str = "none", missing: npt.ArrayLike | None = None) -> "Frame":
        """Return the map that takes the box into the unit ball: one scale for all columns, or one each (``"bounds"``)."""
        low, high = np.atleast_1d(self.low), np.atleast_1d(self.high)
        half = (high - low) / 2
        unit = math.sqrt(len(half)) if scaling == "bounds" else float(np.linalg.norm(half))
        scale = half * unit if scaling == "bounds" else np.full(half.shape, unit)
        return Frame(domain=self, center=low + half, scale=scale, distance_unit=unit, missing=_place(missing))

    def to_dict(self) -> dict[str, Any]:
        """Return the box as plain data."""
        return {"kind": "box", "low": np.atleast_1d(self.low).tolist(), "high": np.atleast_1d(self.high).tolist()}


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
        return self.n_features

    @property
    def widths(self) -> tuple[int, ...]:
        """Coordinates of the unit ball that each raw column has."""
        return (1,) * self.n_features

    @property
    def half_widths(self) -> FloatArray | None:
        """Half the widths of a box in the unit ball's coordinates; None for a ball."""
        return (self.domain.high - self.center) / self.scale if isinstance(self.domain, Box) else None

    @quiet
    def clean(self, block: npt.ArrayLike) -> FloatArray:
        """Return raw rows as points of the grid in the unit ball; a value that is not finite is placed by itself.

        One output row per input row, each a function of its own input row alone, and none longer than 1: exactly, whatever the
        rounding on the way, because the last step pulls rows in and is exact.
        """
        rows = np.asarray(block, dtype=np.float64)
        return self._clean_ball(rows, self.domain) if isinstance(self.domain, Ball) else self._clean_any(rows)

    def _clean_ball(self, rows: FloatArray, ball: Ball) -> FloatArray:
        """Scale and round all rows. The few that are not finite or not well inside the ball are cleaned once more, with care.

        Rounding to the grid moves a row by at most half of step * sqrt(n_features), so one that is shorter than the radius by
        twice that is not pulled in afterwards, whatever the rounding of its length. The length of a row with a value that is
        not finite is not finite.
        """
        offsets = self._tiled(np.subtract, rows, self.center) if self.center.any() else rows
        squares = np.einsum("ij,ij->i", offsets, offsets)
        inside = ball.radius * max(0.0, 1 - grid_step(self.n_features) * math.sqrt(self.n_features))
        rest = np.flatnonzero(~(squares <= inside**2))
        if len(rest) > len(rows) // 4:
            return self._clean_any(rows)
        clean = self._round(offsets, out=None if offsets is rows else offsets)
        if rest.size:
            clean[rest] = self._clean_any(rows[rest])
        return clean

    def _clean_any(self, rows: FloatArray) -> FloatArray:
        if not np.isfinite(np.sum(rows)):  # else no entry is infinite or missing
            rows = np.where(np.isfinite(rows), rows, self.center if self.missing is None else self.missing)
        clean = self._offsets(rows)
        return pull_in(self._round(clean, out=clean))

    def _offsets(self, rows: FloatArray) -> FloatArray:
        """Return the rows, moved into the domain, as seen from its centre: an array of its own, rows side by side in memory."""
        if isinstance(self.domain, Ball):
            offsets = self._tiled(np.subtract, rows, self.center)
            self.domain.shorten(offsets)
            return offsets
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
        """Return standard errors of the unit ball's coordinates in the units of the input."""
        return np.asarray(np.asarray(errors, dtype=np.float64) * self.scale)

    def draw(self, generator: np.random.Generator, count: int) -> FloatArray:
        """Draw points that span the domain, in the unit ball's coordinates; of a ball, only their directions matter."""
        if self.half_widths is None:
            return generator.standard_normal((count, self.n_features))
        return np.asarray(self.half_widths * (2 * generator.random((count, self.n_features)) - 1))


def grid_step(n_features: int) -> float:
    """Return the step of the public grid in `n_features` dimensions: the finest on which squared distances are exact.

    Coordinates of the difference of two points are below 4, so they have b + 2 bits for a step of 2**-b; their squares have
    twice as many, and the sum of d of them log2(d) more.

    Examples
    --------
    >>> grid_step(16) == 2.0**-22
    True
    """
    carry = math.ceil(math.log2(max(n_features, 1)))
    return 2.0 ** -((EXACT_BITS - carry) // 2 - 2)


def snap(points: npt.ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
    """Round points to the nearest point of the grid of their dimension."""
    array = np.asarray(points, dtype=np.float64)
    step = grid_step(array.shape[-1])
    snapped = np.multiply(array, 1 / step, out=out)  # exact: the step is a power of two
    np.rint(snapped, out=snapped)
    return np.multiply(snapped, step, out=snapped)


def clip_to_unit_ball(points: FloatArray) -> FloatArray:
    """Pull points outside the unit ball to its surface, along the ray from the origin.

    Examples
    --------
    >>> clip_to_unit_ball(np.array([[3.0, 4.0], [0.5, 0.0]]))
    array([[0.6, 0.8],
           [0.5, 0. ]])
    """
    norms = np.sqrt(np.sum(points * points, axis=1, keepdims=True))
    return np.asarray(points / np.maximum(norms, 1.0))


def row_blocks(n_rows: int, size: int) -> Iterator[slice]:
    """Yield slices that cut `n_rows` rows into blocks of `size`."""
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def pull_in(points: FloatArray) -> FloatArray:
    """Pull, in place, points of the grid that lie outside the unit ball to points of the grid inside.

    Rounding, to the grid and of coordinates far from zero, can take a row out. Squared lengths are exact, multiples of step^2.
    A point outside is scaled to length 1, which is good to a few units of 2^-53, and rounded towards zero: its squared length
    is below 1 + 2^-49, hence, with step^2 of at least 2^-48, at most 1.
    """
    squares = np.einsum("ij,ij->i", points, points)
    outside = np.flatnonzero(squares > 1.0)
    if outside.size:
        step = grid_step(points.shape[1])
        points[outside] = np.trunc(clip_to_unit_ball(points[outside]) / step) * step
    return points


def _place(missing: npt.ArrayLike | None) -> FloatArray | None:
    return None if missing is None else np.asarray(missing, dtype=np.float64)


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


def refuse_narrow(where: str, extent: Any, size: Any) -> None:
    if np.any(extent < np.maximum(EXTENTS[0], RESOLUTION * size)):
        rule = f"a width of at least {EXTENTS[0]:g}, and of {RESOLUTION:g} times the coordinates"
        validate.refuse(where, rule, float(np.min(extent)), remedy="Move the origin or change the unit of the column.")


def _broadcast(where: str, value: FloatArray, n_features: int) -> FloatArray:
    if value.ndim == 1 and len(value) != n_features:
        validate.refuse(
            where, f"one number or {n_features}, one per column", len(value), remedy="Pass as many as the data has columns."
        )
    return np.broadcast_to(value, (n_features,)).copy()
