# SPDX-License-Identifier: Apache-2.0
"""Declared columns as a domain: a product of intervals and simplices, with its own map to the unit ball.

Three kinds of coordinates occur. *Raw*: one double per column, as readers deliver it. *Published*: what a release tells, a
number in its own units, a date in days, a flag as the share of yes, a category as one share per level. *Unit*: the coordinates
in which questions are asked, inside the unit ball. Anyone may import this module.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns._base import Box, FloatArray, Frame, pull_in, quiet, refuse_narrow, snap
from cloister.columns._column import OWN, AnyDeclaration, Category, Date, Flag, Number, declare_columns
from cloister.columns._parts import Interval, OpenInterval, Part, Simplex
from cloister.columns._values import days_of

__all__ = ["ColumnDomain", "ColumnFrame"]

PROVISIONAL = (-1.0, 1.0)  # bounds that stand for those that are still to be found
WORDS = ("mean", "middle", OWN)  # places that are no value of the column
MISSING_LEVEL = "(missing)"


@dataclass(frozen=True, eq=False)
class ColumnDomain:
    """A public domain of declared columns: every value is moved into its own column's interval, or is one of its levels.

    Parameters
    ----------
    columns : tuple of Number, Category, Flag or Date
        What the columns are, in order.
    found : tuple of bool, optional
        Whose bounds were found with noise, instead of declared.
    spreads : array of shape (n_columns,), optional
        A standard deviation of each column, found with noise: what ``scaling="spread"`` divides numbers and dates by. NaN for
        categories and flags, whose width is what it is.
    guessed : tuple of bool, optional
        For whom nothing stood out of the noise, so that a stated interval was taken.

    Notes
    -----
    **Privacy.** Declarations must be known without looking at the data. Bounds and spreads that were found with noise have been
    paid for. All of it is published with the release.

    Examples
    --------
    >>> domain = ColumnDomain((Number(0, 100), Category(["a", "b", "c"])))
    >>> domain.frame(scaling="bounds").clean([[25.0, 1.0]]).shape
    (1, 3)
    """

    columns: tuple[AnyDeclaration, ...]
    found: tuple[bool, ...] = ()
    spreads: FloatArray | None = None
    guessed: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        for name in ("found", "guessed"):
            if not getattr(self, name):
                object.__setattr__(self, name, (False,) * len(self.columns))
        for declared in self.columns:
            if isinstance(declared, Number) and not declared.is_private:
                low, high = np.float64(declared.low), np.float64(declared.high)
                refuse_narrow("Number", high - low, np.maximum(abs(low), abs(high)))

    @classmethod
    def of_box(cls, box: Box) -> "ColumnDomain":
        """Return a box as a domain of columns of numbers."""
        pairs = zip(np.atleast_1d(box.low), np.atleast_1d(box.high), strict=True)
        return cls(tuple(Number(float(low), float(high)) for low, high in pairs))

    def of_columns(self, indices: Sequence[int]) -> "ColumnDomain":
        """Return the domain of some of the columns, in this order."""
        spreads = None if self.spreads is None else self.spreads[list(indices)]
        chosen = [(self.columns[index], self.found[index], self.guessed[index]) for index in indices]
        columns, found, guessed = zip(*chosen, strict=True)
        return ColumnDomain(columns, found, spreads, guessed)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def private(self) -> tuple[int, ...]:
        """Positions of the columns whose bounds are still to be found."""
        return tuple(index for index, one in enumerate(self.columns) if one.is_private)

    @property
    def measured(self) -> tuple[int, ...]:
        """Positions of numbers and dates, whose bounds and spread can be looked for."""
        return tuple(index for index, one in enumerate(self.columns) if isinstance(one, Number | Date))

    def interval(self, index: int) -> tuple[float, float]:
        """Return the bounds of a number, a date in days, or a flag."""
        declared = self.columns[index]
        if isinstance(declared, Date):
            return declared.days
        if isinstance(declared, Flag):
            return 0.0, 1.0
        assert isinstance(declared, Number)
        return PROVISIONAL if declared.is_private else (declared.low, declared.high)

    def spread(self, n_features: int) -> "ColumnDomain":
        """Return the same domain; as many columns must be declared as there are."""
        if n_features != self.n_columns:
            validate.refuse(
                "bounds", f"{n_features} columns, as in the table", self.n_columns, remedy="Declare every column that is used."
            )
        return self

    def with_bounds(self, bounds: dict[int, tuple[float, float]], spreads: FloatArray | None) -> "ColumnDomain":
        """Return the domain with bounds that were found for some columns, and spreads."""
        columns = list(self.columns)
        for index, (low, high) in bounds.items():
            declared = columns[index]
            assert isinstance(declared, Number)
            missing = declared.missing if isinstance(declared.missing, str) else min(max(declared.missing, low), high)
            columns[index] = Number(low, high, missing=missing, weight=declared.weight)
        found = tuple(was or index in bounds for index, was in enumerate(self.found))
        return ColumnDomain(tuple(columns), found, spreads)

    def parts(self, scaling: str) -> tuple[Part, ...]:
        """Return the parts of the product, each as large as it counts in distances."""
        return tuple(self._part(index, scaling) for index in range(self.n_columns))

    def _part(self, index: int, scaling: str) -> Part:
        declared = self.columns[index]
        if isinstance(declared, Category):
            own = declared.missing == OWN
            return Simplex(size=declared.weight, n_levels=len(declared.levels) + own, own=own)
        low, high = self.interval(index)
        size = declared.weight * self._relative(index, (high - low) / 2, scaling)
        kind = OpenInterval if declared.missing == OWN else Interval
        return kind(size=size, low=low, high=high, lowest=0.0 if isinstance(declared, Flag) else -math.inf)

    def _relative(self, index: int, half: float, scaling: str) -> float:
        """Return half the width of a column in the units of distances."""
        if scaling == "none":
            return half
        spread = math.nan if scaling != "spread" or self.spreads is None else float(self.spreads[index])
        return half / spread if math.isfinite(spread) else 1.0

    def frame(self, *, scaling: str = "bounds", missing: npt.ArrayLike | None = None) -> "ColumnFrame":
        """Return the map to the unit ball; `missing` is where missing values are placed by default, a published point."""
        parts = self.parts(scaling)
        radius = math.sqrt(sum(part.radius**2 for part in parts))
        center = np.concatenate([part.center for part in parts])
        ones = np.ones((1, sum(part.dimension for part in parts)))
        scale = radius * np.concatenate([part.errors(one) for part, one in _cut(parts, ones)], axis=1)[0]
        given = None if missing is None else np.asarray(missing, dtype=np.float64)
        return ColumnFrame(domain=self, center=center, scale=scale, distance_unit=radius, missing=given, parts=parts)

    def places(self, means: FloatArray | None) -> FloatArray | None:
        """Return where missing values lie, as a published point: as declared, else at `means`, else in the middle.

        None where all lie in the middle.
        """
        if means is None and all(isinstance(one.missing, str) and one.missing in WORDS for one in self.columns):
            return None
        parts = self.parts("bounds")
        given = [None] * self.n_columns if means is None else [means[cut] for cut in self.slices()]
        return np.concatenate([_published_place(*each) for each in zip(self.columns, parts, given, strict=True)])

    def published_names(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """Return what the published coordinates are called."""
        own = names or [f"x{index}" for index in range(self.n_columns)]
        return tuple(each for name, one in zip(own, self.columns, strict=True) for each in _published_names_of(name, one))

    def slices(self) -> tuple[slice, ...]:
        """Return which published coordinates belong to which column."""
        ends = np.cumsum([0, *(len(_published_names_of("", one)) for one in self.columns)])
        return tuple(slice(int(start), int(stop)) for start, stop in pairwise(ends))

    def clip(self, points: npt.ArrayLike) -> FloatArray:
        """Move points in published coordinates into the domain."""
        array = np.asarray(points, dtype=np.float64)
        frame = self.frame(scaling="bounds")
        return frame.from_unit(frame.to_unit(array))

    def to_dict(self) -> dict[str, Any]:
        """Return the domain as plain data."""
        columns = []
        for index, declared in enumerate(self.columns):
            one = declared.to_dict()
            if self.found[index]:
                one["found"] = "guess" if self.guessed[index] else "noise"
            if self.spreads is not None and math.isfinite(self.spreads[index]):
                one["spread"] = float(self.spreads[index])
            columns.append(one)
        return {"kind": "columns", "columns": columns}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "ColumnDomain":
        """Read what ``to_dict`` wrote."""
        plain = [dict(one) for one in data["columns"]]
        found = [one.pop("found", "") for one in plain]
        spreads = [one.pop("spread", None) for one in plain]
        declared = declare_columns("domain", {str(index): one for index, one in enumerate(plain)})
        if any(one.is_private for one in declared.values()):
            raise ValueError("bounds")
        numbers = None
        if any(one is not None for one in spreads):
            numbers = np.array([math.nan if one is None else float(one) for one in spreads])
            if not (np.isnan(numbers) | (numbers > 0)).all():
                raise ValueError("spread")
        return cls(tuple(declared.values()), tuple(map(bool, found)), numbers, tuple(one == "guess" for one in found))


@dataclass(frozen=True, eq=False)
class ColumnFrame(Frame):
    """The public map between declared columns and the unit ball.

    `center` and `scale` are in published coordinates; `scale` is what a unit of the ball is worth there.
    """

    parts: tuple[Part, ...] = field(kw_only=True)

    @property
    def n_features(self) -> int:
        """Coordinates of the unit ball."""
        return sum(part.dimension for part in self.parts)

    @property
    def n_raw(self) -> int:
        """Columns of raw rows."""
        return len(self.parts)

    @property
    def widths(self) -> tuple[int, ...]:
        """Coordinates of the unit ball that each raw column has."""
        return tuple(part.dimension for part in self.parts)

    @cached_property
    def half_widths(self) -> FloatArray | None:
        """Half the widths of the box, where every column is an interval; otherwise None."""
        if any(type(part) is not Interval for part in self.parts):
            return None
        return np.array([part.size for part in self.parts]) / self.distance_unit

    @cached_property
    def _places(self) -> FloatArray:
        """Where missing values lie, in the coordinates of the parts."""
        assert isinstance(self.domain, ColumnDomain)
        places = self.domain.places(self.missing)
        return np.zeros(self.n_features) if places is None else np.asarray(self._coordinates(places[None])[0])

    @quiet
    def clean(self, block: npt.ArrayLike) -> FloatArray:
        """Return raw rows as points of the grid in the unit ball; a value that is missing is placed by itself.

        One output row per input row, each a function of its own input row alone, and none longer than 1: exactly, because the
        last step pulls rows in and is exact.
        """
        rows = np.asarray(block, dtype=np.float64)
        clean = np.empty((len(rows), self.n_features))
        for index, (part, cut) in enumerate(zip(self.parts, _unit_slices(self.parts), strict=True)):
            missing = part.place(rows[:, index], clean[:, cut])
            if missing.any():
                clean[missing, cut] = self._places[cut]
        clean /= self.distance_unit
        return pull_in(snap(clean, out=clean))

    def _coordinates(self, points: FloatArray) -> FloatArray:
        assert isinstance(self.domain, ColumnDomain)
        cuts = self.domain.slices()
        return np.concatenate([part.to_coordinates(points[:, cut]) for part, cut in zip(self.parts, cuts, strict=True)], axis=1)

    def to_unit(self, points: npt.ArrayLike) -> FloatArray:
        """Return points given in published coordinates in the unit ball's."""
        return np.asarray(self._coordinates(np.asarray(points, dtype=np.float64)) / self.distance_unit)

    def from_unit(self, points: npt.ArrayLike) -> FloatArray:
        """Return points of the unit ball in published coordinates, inside the domain."""
        scaled = np.asarray(points, dtype=np.float64) * self.distance_unit
        return np.concatenate([part.from_coordinates(one) for part, one in _cut(self.parts, scaled)], axis=1)

    def errors_from_unit(self, errors: npt.ArrayLike, points: npt.ArrayLike | None = None) -> FloatArray:
        """Return standard errors of the unit ball's coordinates, at some points, as those of published ones."""
        scaled = np.asarray(errors, dtype=np.float64) * self.distance_unit
        if points is None:
            return np.concatenate([part.errors(one) for part, one in _cut(self.parts, scaled)], axis=1)
        places = np.asarray(points, dtype=np.float64) * self.distance_unit
        pairs = zip(_cut(self.parts, scaled), _cut(self.parts, places), strict=True)
        return np.concatenate([part.errors(one, place) for (part, one), (_, place) in pairs], axis=1)

    def draw(self, generator: np.random.Generator, count: int) -> FloatArray:
        """Draw points that span the domain, in the unit ball's coordinates."""
        drawn = np.concatenate([part.draw(generator, count) for part in self.parts], axis=1)
        return np.asarray(drawn / self.distance_unit)


def _unit_slices(parts: Sequence[Part]) -> Iterator[slice]:
    start = 0
    for part in parts:
        yield slice(start, start + part.dimension)
        start += part.dimension


def _cut(parts: Sequence[Part], points: FloatArray) -> Iterator[tuple[Part, FloatArray]]:
    for part, cut in zip(parts, _unit_slices(parts), strict=True):
        yield part, points[:, cut]


def _published_place(declared: AnyDeclaration, part: Part, mean: FloatArray | None) -> FloatArray:
    """Return where a missing value of a column lies: as declared, else at a mean, else in the middle."""
    missing = declared.missing
    if missing == "mean" and mean is not None:
        return mean
    if isinstance(missing, str) and missing in WORDS:
        return part.center
    if isinstance(declared, Category):
        return np.asarray(np.eye(len(declared.levels))[declared.levels.index(missing)])
    return np.array([days_of(missing) if isinstance(declared, Date) else float(missing)])


def _published_names_of(name: str, declared: AnyDeclaration) -> list[str]:
    own = declared.missing == OWN
    if isinstance(declared, Category):
        return [f"{name}={level}" for level in (*declared.names, *([MISSING_LEVEL] if own else []))]
    return [name, f"{name} is missing"] if own else [name]
