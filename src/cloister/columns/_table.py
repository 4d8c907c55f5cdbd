# SPDX-License-Identifier: Apache-2.0
"""Declared columns as a domain: a product of intervals and simplices, with its own map to the unit ball.

Three kinds of coordinates occur. *Raw*: one double per column, as readers deliver it. *Published*: what a release tells, a
number in its own units, a date in days, a flag as the share of yes, a category as one share per level. *Unit*: the coordinates
in which questions are asked, inside the unit ball. Anyone may import this module.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns._base import FloatArray, pull_in, quiet, refuse_narrow, snap
from cloister.columns._column import Declaration
from cloister.columns._parts import Part
from cloister.columns._shapes import Domain, Frame, cuts_of

SMALL = 1e-6  # step of a derivative, in the unit ball


@dataclass(frozen=True, eq=False)
class ColumnDomain(Domain):
    """A public domain of declared columns: every value is moved into its own column's interval, or is one of its levels.

    `found` is ``"noise"`` for a column whose bounds were found with noise, ``"guess"`` where nothing stood out of it, and empty
    for declared bounds. `spreads` are standard deviations found with noise, by which ``scaling="spread"`` divides numbers and
    dates; NaN for categories and flags, whose width is what it is.

    Notes
    -----
    **Privacy.** Declarations must be known without looking at the data. Bounds and spreads that were found with noise have been
    paid for. All of it is published with the release.

    Examples
    --------
    >>> from cloister.columns import Category, Number
    >>> domain = ColumnDomain((Number(0, 100), Category(["a", "b", "c"])))
    >>> domain.frame(scaling="bounds").clean([[25.0, 1.0]]).shape
    (1, 3)
    """

    is_declared: ClassVar[bool] = True
    sentence: ClassVar[str] = (
        "Declared columns. A value outside its bounds was moved to the nearer one; what is no level counts as missing."
    )
    columns: tuple[Declaration, ...] = ()
    found: tuple[str, ...] = ()
    spreads: FloatArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "found", self.found or ("",) * len(self.columns))
        low, high = self.ranges
        public = [index for index, one in enumerate(self.columns) if not one.is_private]
        refuse_narrow("Number", (high - low)[public], np.maximum(np.abs(low), np.abs(high))[public])

    def of_columns(self, indices: Sequence[int]) -> "ColumnDomain":
        columns, found = zip(*((self.columns[index], self.found[index]) for index in indices), strict=True)
        return ColumnDomain(columns, found, None if self.spreads is None else self.spreads[list(indices)])

    def spread(self, n_features: int) -> "ColumnDomain":
        """Return the same domain; as many columns must be declared as there are."""
        if n_features != self.n_columns:
            validate.refuse(
                "bounds", f"{n_features} columns, as in the table", self.n_columns, remedy="Declare every column that is used."
            )
        return self

    def choose_scaling(self, where: str, scaling: str) -> str:
        if scaling == "none" and any(one.has_levels and one.size > 1 for one in self.columns):
            remedy = 'Pass scaling="bounds", "spread" or "auto".'
            validate.refuse(where, "distances relative to bounds or spread, as categories have no unit", scaling, remedy=remedy)
        return "bounds" if scaling == "auto" else scaling

    def with_bounds(
        self, bounds: dict[int, tuple[float, float]], spreads: FloatArray | None, guessed: Sequence[int] = ()
    ) -> "ColumnDomain":
        columns, found = list(self.columns), list(self.found)
        for index, (low, high) in bounds.items():
            columns[index] = columns[index].with_bounds(low, high)
            found[index] = "guess" if index in guessed else "noise"
        return ColumnDomain(tuple(columns), tuple(found), spreads)

    def parts(self, scaling: str) -> tuple[Part, ...]:
        """Return the parts of the product, each as large as it counts in distances."""
        spreads = [math.nan] * self.n_columns if self.spreads is None else self.spreads.tolist()
        return tuple(one.part(scaling, spread) for one, spread in zip(self.columns, spreads, strict=True))

    def frame(self, *, scaling: str = "bounds", missing: FloatArray | None = None) -> "ColumnFrame":
        parts = self.parts(scaling)
        radius = math.sqrt(sum(part.radius**2 for part in parts))
        center = np.concatenate([part.center for part in parts])
        scale = radius * np.concatenate([part.errors(np.ones((1, part.dimension))) for part in parts], axis=1)[0]
        return ColumnFrame(domain=self, center=center, scale=scale, distance_unit=radius, missing=missing, parts=parts)

    def places(self, means: FloatArray | None) -> FloatArray | None:
        """Return where missing values lie, as a published point: as declared, else at `means`, else in the middle.

        None where all lie in the middle.
        """
        if means is None and not any(one.has_place for one in self.columns):
            return None
        given = [None] * self.n_columns if means is None else [means[cut] for cut in self.slices()]
        triples = zip(self.columns, self.parts("bounds"), given, strict=True)
        return np.concatenate([one.place(part, mean) for one, part, mean in triples])

    def clip(self, points: npt.ArrayLike) -> FloatArray:
        frame = self.frame()
        return frame.from_unit(frame.to_unit(points))

    def plain_columns(self) -> list[dict[str, Any]]:
        columns = super().plain_columns()
        for index, one in enumerate(columns):
            if self.found[index]:
                one["found"] = self.found[index]
            if self.spreads is not None and math.isfinite(self.spreads[index]):
                one["spread"] = float(self.spreads[index])
        return columns

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "columns", "columns": self.plain_columns()}


@dataclass(frozen=True, eq=False)
class ColumnFrame(Frame):
    """The public map between declared columns and the unit ball.

    `center` and `scale` are in published coordinates; `scale` is what a unit of the ball is worth there.
    """

    parts: tuple[Part, ...] = field(kw_only=True)

    @property
    def n_features(self) -> int:
        return sum(self.widths)

    @cached_property
    def widths(self) -> tuple[int, ...]:
        return tuple(part.dimension for part in self.parts)

    @cached_property
    def half_widths(self) -> FloatArray | None:
        """Half the widths of the box, where every column is an interval; otherwise None."""
        if not all(part.is_interval for part in self.parts):
            return None
        return np.array([part.size for part in self.parts]) / self.distance_unit

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
        rows = np.asarray(block, dtype=np.float64)
        clean = np.empty((len(rows), self.n_features))
        for index, (part, cut, _) in enumerate(self._cuts):
            missing = part.place(rows[:, index], clean[:, cut])
            if missing.any():
                clean[missing, cut] = self._places[cut]
        clean /= self.distance_unit
        return pull_in(snap(clean, out=clean))

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
