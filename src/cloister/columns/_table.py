# SPDX-License-Identifier: Apache-2.0
"""A table: columns in order, and where their rows may lie. Boxes and balls are tables whose columns are plain numbers.

Three kinds of coordinates occur. *Raw*: one double per column, as readers deliver it. *Published*: what a release states, a
number in its own units, a date in days, a flag as the share of yes, a category as one share per level. *Unit*: the coordinates
in which questions are asked, inside the unit ball; :meth:`Table.frame` is the one map to them.

Nobody asks which table it is: a table knows its columns. Anyone may import this module.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns._base import FloatArray, refuse_narrow
from cloister.columns._column import Declaration
from cloister.columns._frame import ColumnFrame, Frame, cuts_of
from cloister.columns._parts import Part


@dataclass(frozen=True, eq=False)
class Table:
    """Public columns, each with its own interval or levels, and the map from them to the unit ball.

    `found` is ``"noise"`` for a column whose bounds were found with noise, and empty for declared bounds. `spreads` are
    standard deviations found with noise, by which ``scaling="spread"`` divides numbers and dates; NaN for categories and flags,
    whose width is what it is.

    Notes
    -----
    **Privacy.** Declarations must be known without looking at the data. Bounds and spreads that were found with noise have been
    paid for. All of it is published with the release.

    Examples
    --------
    >>> from cloister.columns import Category, Number
    >>> table = Table((Number(0, 100), Category(["a", "b", "c"])))
    >>> table.frame(scaling="bounds").clean([[25.0, 1.0]]).shape
    (1, 3)
    """

    is_declared: ClassVar[bool] = True  # whether it was said what each column is
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

    # -- columns -----------------------------------------------------------------------------------------------------------

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

    @property
    def is_mixed(self) -> bool:
        """Whether there are columns with levels beside some whose spread can be looked for."""
        return bool(self.measured) and any(one.has_levels for one in self.columns)

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

    # -- other tables ------------------------------------------------------------------------------------------------------

    def of_columns(self, indices: Sequence[int]) -> "Table":
        """Return the table of some of the columns, in this order."""
        columns, found = zip(*((self.columns[index], self.found[index]) for index in indices), strict=True)
        return Table(columns, found, None if self.spreads is None else self.spreads[list(indices)])

    def spread(self, n_features: int) -> "Table":
        """Return the same table for so many columns; of declared columns, there must be as many."""
        if n_features != self.n_columns:
            validate.refuse(
                "bounds", f"{n_features} columns, as in the table", self.n_columns, remedy="Declare every column that is used."
            )
        return self

    def with_bounds(self, bounds: dict[int, tuple[float, float]], spreads: FloatArray | None) -> "Table":
        """Return the table with bounds that were found for some columns, and spreads."""
        columns, found = list(self.columns), list(self.found)
        for index, (low, high) in bounds.items():
            columns[index] = columns[index].with_bounds(low, high)
            found[index] = "noise"
        return Table(tuple(columns), tuple(found), spreads)

    def weigh_levels(self, factor: float) -> "Table":
        """Return the table with the weights of categories and flags multiplied by `factor`."""
        columns = (one.weighed(factor) if one.has_levels else one for one in self.columns)
        return replace(self, columns=tuple(columns))

    def relative(self, points: FloatArray) -> tuple[FloatArray, "Table"]:
        """Return points, and the table, in the units in which distances relative to bounds are measured."""
        return points, self

    # -- the map to the unit ball ------------------------------------------------------------------------------------------

    def choose_scaling(self, where: str, scaling: str) -> str:
        """Return how distances are measured, where "auto" leaves it to the table."""
        if scaling == "none" and any(one.has_levels and one.size > 1 for one in self.columns):
            remedy = 'Pass scaling="bounds", "spread" or "auto".'
            validate.refuse(where, "distances relative to bounds or spread, as categories have no unit", scaling, remedy=remedy)
        return ("spread" if self.is_mixed else "bounds") if scaling == "auto" else scaling

    def parts(self, scaling: str) -> tuple[Part, ...]:
        """Return the parts of the product, each as large as it counts in distances."""
        spreads = [math.nan] * self.n_columns if self.spreads is None else self.spreads.tolist()
        return tuple(one.part(scaling, spread) for one, spread in zip(self.columns, spreads, strict=True))

    def variances(self, scaling: str) -> FloatArray:
        """Return the variance of each column in distances, as far as public numbers tell it."""
        spreads = [math.nan] * self.n_columns if self.spreads is None else self.spreads.tolist()
        return np.array([one.variance(scaling, spread) for one, spread in zip(self.columns, spreads, strict=True)])

    def frame(self, *, scaling: str = "bounds", missing: FloatArray | None = None) -> Frame:
        """Return the map to the unit ball; `missing` is where missing values are placed by default, a published point."""
        parts = self.parts(scaling)
        radius = math.sqrt(sum(part.radius**2 for part in parts))
        center = np.concatenate([part.center for part in parts])
        scale = radius * np.concatenate([part.errors(np.ones((1, part.dimension))) for part in parts], axis=1)[0]
        return ColumnFrame(
            domain=self, center=center, scale=scale, distance_unit=radius, missing=missing, parts=parts, scaling=scaling
        )

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
        """Move published points into the table's bounds."""
        frame = self.frame()
        return frame.from_unit(frame.to_unit(points))

    # -- files -------------------------------------------------------------------------------------------------------------

    def plain_columns(self) -> list[dict[str, Any]]:
        """Return what is known of each column as plain data."""
        columns = [one.to_dict() for one in self.columns]
        for index, one in enumerate(columns):
            if self.found[index]:
                one["found"] = self.found[index]
            if self.spreads is not None and math.isfinite(self.spreads[index]):
                one["spread"] = float(self.spreads[index])
        return columns

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {"kind": "columns", "columns": self.plain_columns()}
