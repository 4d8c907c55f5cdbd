# SPDX-License-Identifier: Apache-2.0
"""Tables of plain numbers: a box, whose columns are read as they are, and a ball, the second shape that rows may lie in.

Anyone may import this module.
"""

import math
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns._base import EXTENTS, FloatArray, refuse_narrow
from cloister.columns._column import LARGEST, Declaration
from cloister.columns._frame import BallFrame, Frame
from cloister.columns._number import Number
from cloister.columns._table import Table

WIDTHS_DIFFER = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class PlainTable(Table):
    """A table of numbers of which nothing but bounds is known."""

    is_declared: ClassVar[bool] = False
    columns: tuple[Declaration, ...] = field(init=False, repr=False)
    found: tuple[str, ...] = field(init=False, repr=False)
    spreads: FloatArray | None = field(default=None, init=False, repr=False)

    def _hold(self, **values: Any) -> None:
        """Keep what was checked, and declare the columns; a ball may reach farther than the bounds of a number may lie."""
        for name, value in values.items():
            object.__setattr__(self, name, value)
        pairs = zip(*(np.clip(end, -LARGEST, LARGEST).tolist() for end in self.ranges), strict=True)
        object.__setattr__(self, "columns", tuple(Number(*pair) for pair in pairs))
        object.__setattr__(self, "found", ("",) * len(self.columns))


@dataclass(frozen=True, eq=False)
class Box(PlainTable):
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
        low.setflags(write=False)
        high.setflags(write=False)
        self._hold(low=low, high=high)

    @property
    def ranges(self) -> tuple[FloatArray, FloatArray]:
        return np.atleast_1d(self.low), np.atleast_1d(self.high)

    def choose_scaling(self, where: str, scaling: str) -> str:
        widths = np.atleast_1d(self.high - self.low)
        return ("bounds" if widths.max() > widths.min() * WIDTHS_DIFFER else "none") if scaling == "auto" else scaling

    def relative(self, points: FloatArray) -> tuple[FloatArray, Table]:
        return (points - self.low) / (self.high - self.low), Box(0.0, 1.0).spread(self.n_columns)

    def of_columns(self, indices: Sequence[int]) -> "Box":
        low, high = self.ranges
        return Box(low[list(indices)], high[list(indices)])

    def spread(self, n_features: int) -> "Box":
        return Box(_broadcast("Box.low", self.low, n_features), _broadcast("Box.high", self.high, n_features))

    def clip(self, points: npt.ArrayLike) -> FloatArray:
        """Cut every column to its interval."""
        return np.asarray(np.clip(np.asarray(points, dtype=np.float64), self.low, self.high))

    def frame(self, *, scaling: str = "none", missing: FloatArray | None = None) -> Frame:
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
class Ball(PlainTable):
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
        radius = validate.number("Ball.radius", self.radius, low=shortest, high=longest)
        center = _public_vector("Ball.center", self.center)
        refuse_narrow("Ball.radius", radius, np.abs(center))
        self._hold(radius=radius, center=center)

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

    def frame(self, *, scaling: str = "none", missing: FloatArray | None = None) -> Frame:
        """Return the map that takes the ball to the unit ball (a ball has one width, so `scaling` changes nothing)."""
        center = np.atleast_1d(self.center)
        unit = math.sqrt(len(center)) if scaling == "bounds" else self.radius
        scale = np.full(center.shape, self.radius)
        return BallFrame(domain=self, center=center, scale=scale, distance_unit=unit, missing=missing)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "ball", "radius": self.radius, "center": np.atleast_1d(self.center).tolist()}


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
