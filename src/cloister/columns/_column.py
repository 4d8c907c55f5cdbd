# SPDX-License-Identifier: Apache-2.0
"""What a column is: declared once, in public, never inferred from values. Each kind of column is a module of its own here.

A declaration says where values may lie, where a missing one is placed, and how much the column weighs in distances. It owns all
that is done with such a column: how a value becomes one double (the *raw* number), where that lies in distances, what is
*published* of it, which bins it is counted in, how synthetic values are drawn, how it is written, and its JSON. Nobody else
asks what kind a column is. A kind is added by a subclass of :class:`Declaration` that ``columns/__init__`` imports. Anyone may
import this module.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cloister import validate
from cloister.columns._base import FloatArray
from cloister.columns._parts import Apart, Part, Straight
from cloister.columns._words import Coordinate, Share

if TYPE_CHECKING:
    import pyarrow as pa

PRIVATE = "private"  # bounds that nobody knows: found with noise
MEAN, MIDDLE, OWN = "mean", "middle", "own"
HEAVIEST, LIGHTEST = 1e6, 1e-6
LARGEST = 1e100  # of a bound: squares of widths do not overflow
LARGEST_EDGE = 1e120  # of a bin: its square is finite
WORDS = (MEAN, MIDDLE, OWN)
PLACES = f'"{MEAN}", "{MIDDLE}", "{OWN}"'
KINDS: dict[str, "type[Declaration]"] = {}  # by the word that files call them by
NUMBERS = ("bool", "integer", "fraction")
SHARED_SCHEMA = {
    "missing": {
        "type": ["string", "number", "boolean"],
        "description": "Where a missing value is placed: `mean` (the default), `middle`, `own`, or a value of the column.",
    },
    "weight": {
        "type": "number",
        "exclusiveMinimum": 0,
        "description": "How much the column counts in distances; 1 where absent.",
    },
}
SPREAD_SCHEMA = {
    "spread": {
        "type": "number",
        "exclusiveMinimum": 0,
        "description": "Noisy standard deviation of the column, where distances are measured in it.",
    }
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Declaration(ABC):
    """What all kinds of columns share, and what each of them answers; most answers are those of a number."""

    missing: Any = MEAN
    weight: float = 1.0

    kind: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()  # what must be said of it, in this order
    inline: ClassVar[tuple[str, ...]] = ()  # what may be said after that, on a command line
    fits: ClassVar[tuple[str, ...]] = (*NUMBERS, "text", "anything")  # what the type of a column in a table may hold
    are_numbers: ClassVar[bool] = False  # whether values are read as numbers; otherwise each distinct one is read by itself
    as_is: ClassVar[bool] = False  # whether a number in a table is the raw one
    has_levels: ClassVar[bool] = False  # told by shares; a value that is no level is missing
    can_be_private: ClassVar[bool] = False
    about: ClassVar[str]  # in the JSON Schema, as are the fields of its own:
    schema: ClassVar[dict[str, Any]] = {}
    edge_limits: ClassVar[tuple[float, float]] = (-LARGEST_EDGE, LARGEST_EDGE)  # of bins
    n_levels: ClassVar[int | None] = None  # where all columns of the kind have so many

    def __init_subclass__(cls) -> None:
        KINDS[cls.kind] = cls

    # -- declared ----------------------------------------------------------------------------------------------------------

    def __post_init__(self) -> None:
        owner = type(self).__name__
        remedy = f"Pass a number from {LIGHTEST:g} to {HEAVIEST:g}; 1 is usual."
        weight = validate.number(f"{owner}.weight", self.weight, low=LIGHTEST, high=HEAVIEST, remedy=remedy)
        object.__setattr__(self, "weight", weight)
        if self.has_place:
            object.__setattr__(self, "missing", self._check_place(f"{owner}.missing", self.missing))

    @abstractmethod
    def _check_place(self, where: str, value: object) -> Any:
        """Check a place for missing values that is none of the words."""

    @property
    def is_private(self) -> bool:
        """Whether its bounds are to be found with noise."""
        return False

    @property
    def is_measured(self) -> bool:
        """Whether its bounds and its spread can be looked for."""
        return not self.has_levels and self._part(1.0).is_interval

    @property
    def is_interval(self) -> bool:
        """Whether it is one interval, which a grid can cut."""
        return self.part("bounds").is_interval

    def with_bounds(self, low: float, high: float) -> "Declaration":
        """Return the column with bounds that were found."""
        raise NotImplementedError  # of columns that can be private

    def weighed(self, factor: float) -> "Declaration":
        """Return the column with its weight multiplied by `factor`."""
        return replace(self, weight=min(max(self.weight * factor, LIGHTEST), HEAVIEST))

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as plain data, as a schema file holds it."""
        return {"type": self.kind, **{name: getattr(self, name) for name in self.needs}, **self._options()}

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of what ``to_dict`` writes."""
        own = {"type": {"const": cls.kind, "description": cls.about}}
        return {"type": "object", "required": ["type", *cls.needs], "properties": {**own, **cls.schema, **SHARED_SCHEMA}}

    def __repr__(self) -> str:
        words = [repr(getattr(self, name)) for name in self.needs if getattr(self, name) is not None]
        return f"{type(self).__name__}({', '.join(words + [f'{key}={value!r}' for key, value in self._options().items()])})"

    def _options(self) -> dict[str, Any]:
        """Return what differs from its default."""
        found: dict[str, Any] = {} if self.missing == MEAN else {"missing": self.missing}
        return found if self.weight == 1.0 else {**found, "weight": self.weight}

    # -- read --------------------------------------------------------------------------------------------------------------

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of raw numbers."""
        raise NotImplementedError

    @property
    def reading(self) -> tuple[Any, ...]:
        """What decides how values are read: columns with equal ones become the same numbers."""
        return (self.kind, *self.level_names)

    def read(self, value: Any) -> float:
        """Return the raw number of one value that is no time; NaN where it is missing, -1 where it is no level."""
        return math.nan

    def from_day(self, day: float) -> float:
        """Return the raw number of a time, given in days since 1970-01-01."""
        return math.nan

    def from_days(self, days: FloatArray) -> FloatArray:
        """Return the raw numbers of many times."""
        distinct, places = np.unique(days, return_inverse=True)
        return np.array([self.from_day(day) for day in distinct.tolist()], dtype=np.float64)[places.ravel()]

    def from_numbers(self, numbers: FloatArray) -> FloatArray:
        """Return the raw numbers that the numbers of a table become, where values are numbers."""
        return numbers

    # -- placed ------------------------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Published numbers, but for the share of missing values."""
        return 1

    @property
    def has_own(self) -> bool:
        """Whether missing values lie apart from all others, and their share is published."""
        return bool(self.missing == OWN)

    def part(self, scaling: str, spread: float = math.nan) -> Part:
        """Return the coordinates in which distances are taken, as large as the column counts in them."""
        half = 1.0  # of the width of the column, in the units of distances
        if scaling == "none":
            half = self._half_width
        elif scaling == "spread" and math.isfinite(spread):
            half = self._half_width / spread
        part = self._part(self.weight * half)
        return Apart(size=part.size, inner=part) if self.has_own else part

    def variance(self, scaling: str, spread: float = math.nan) -> float:
        """Return the variance in distances by what is public: of the spread that was found, or of values that are even."""
        size = self.part(scaling, spread).size
        if self.has_levels:
            return 2 * size**2 * (1 - 1 / max(self.size, 2))
        return (size / self._half_width * spread) ** 2 if math.isfinite(spread) else size**2 / 3

    def _part(self, size: float) -> Straight:
        """Return the coordinates of what is not missing."""
        raise NotImplementedError

    @property
    def _half_width(self) -> float:
        return self._part(1.0).stretch

    def place(self, part: Part, mean: FloatArray | None) -> FloatArray:
        """Return where a missing value lies, as published numbers: as declared, else at a mean, else in the middle."""
        if self.missing == MEAN and mean is not None:
            return mean
        return self._published(self.missing) if self.has_place else part.center

    @property
    def at_mean(self) -> bool:
        """Whether missing values lie at a mean: it stands for values that nobody knows."""
        return bool(self.missing == MEAN)

    @property
    def has_place(self) -> bool:
        """Whether missing values lie at a value of the column."""
        return not (isinstance(self.missing, str) and self.missing in WORDS)

    def _published(self, value: Any) -> FloatArray:
        """Return the published numbers of a place for missing values."""
        return np.array([float(value)])

    # -- counted -----------------------------------------------------------------------------------------------------------

    @property
    def level_names(self) -> tuple[str, ...]:
        """What its bins stand for, where these are levels."""
        return ()

    @property
    def is_log(self) -> bool:
        """Whether distances and bins are those of logarithms."""
        return False

    @classmethod
    def unroll(cls, edges: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return bins and counts in the order in which means and quantiles are taken; the last count is of missing values."""
        return edges, counts

    @classmethod
    def wrap(cls, value: float, edges: FloatArray) -> float:
        """Return a mean or a quantile as a value of the column."""
        return value

    @classmethod
    def difference(cls, values: FloatArray, other: FloatArray | float, edges: FloatArray) -> FloatArray:
        """Return by how much means differ from another one."""
        return values - other

    # -- told --------------------------------------------------------------------------------------------------------------

    @classmethod
    def axis(cls, name: str, low: float, high: float, spread: float = math.nan) -> Coordinate:
        """Return the axis on which values are drawn and written; of a column with levels, there is none."""
        return Coordinate(name, low, high, spread)

    def on_axis(self, values: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return published numbers, row by row, as one value on the axis and its error; NaN where there is none."""
        return values[:, 0], errors[:, 0]

    def published_names(self, name: str) -> list[str]:
        """Return what the published numbers of a column are called."""
        return [name, f"{name} is missing"] if self.has_own else [name]

    def coordinates(self, names: Sequence[str], spread: float = math.nan) -> list[Coordinate]:
        """Return what each published number is."""
        first = [] if self.has_levels else [self.axis(names[0], *self.interval, spread)]
        return [*first, *map(Share, names[len(first) :])]

    def told(self, values: Sequence[float], errors: Sequence[float]) -> dict[str, Any]:
        """Return what the column is in one cluster, as plain data."""
        size = self.size
        found = {"type": self.kind, **self._told(values[:size], errors[:size])}
        return found if len(values) == size else {**found, "missing": [values[size], errors[size]]}

    def _told(self, values: Sequence[float], errors: Sequence[float]) -> dict[str, Any]:
        return {"value": values[0], "error": errors[0]}

    @classmethod
    def told_words(cls, told: Mapping[str, Any], most_levels: int = 3, between: str = ", ") -> str:
        """Return in words what ``told`` returned; levels may stand on lines of their own."""
        return " ± ".join(cls.axis("", 0.0, 1.0).words(told["value"], told["error"]))

    def place_words(self, place: Sequence[float]) -> str:
        """Return a place for missing values, given as published numbers, in words."""
        value, _ = self.on_axis(np.array([place]), np.zeros((1, len(place))))
        return self.axis("", *self.interval).text(float(value[0]))

    @classmethod
    def extent_words(cls, plain: Mapping[str, Any], most_levels: int = 0) -> str:
        """Return where values lie, from what ``to_dict`` wrote; without levels, in few words."""
        raise NotImplementedError

    def synthetic(self, values: FloatArray, generator: np.random.Generator) -> "pa.Array":
        """Draw values of the column from published numbers; the last one may be the chance that the value is missing."""
        import pyarrow as pa

        size = self.size
        chance = values[:, size] if values.shape[1] > size else None
        absent = np.zeros(len(values), dtype=bool) if chance is None else generator.random(len(values)) < chance
        return pa.array(self._drawn(values[:, :size], generator), mask=absent)

    def _drawn(self, values: FloatArray, generator: np.random.Generator) -> np.ndarray:
        return values[:, 0]
