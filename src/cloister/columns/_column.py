# SPDX-License-Identifier: Apache-2.0
"""What a column is: a number, a category, a flag or a date. Declared once, in public, never inferred from values.

A declaration says where values may lie, where a missing one is placed, and how much the column weighs in distances. It also
says how one value becomes one number: a category the position of its level, a flag 0 or 1, a date the days since 1970-01-01.
Anyone may import this module.
"""

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import KeysView, Mapping, Sequence, Set
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

from cloister import validate
from cloister.columns._values import as_python, days_of, iso_date, level_key

__all__ = [
    "PRIVATE",
    "AnyDeclaration",
    "Category",
    "Date",
    "Flag",
    "Number",
    "declare_columns",
]

PRIVATE = "private"  # bounds that nobody knows: found with noise
MEAN, MIDDLE, OWN = "mean", "middle", "own"
MOST_LEVELS = 1000
HEAVIEST, LIGHTEST = 1e6, 1e-6
LARGEST = 1e100  # of a bound: squares of widths do not overflow
WORDS = (MEAN, MIDDLE, OWN)
PLACES = f'"{MEAN}", "{MIDDLE}", "{OWN}"'


@dataclass(frozen=True, kw_only=True, repr=False)
class Declaration(ABC):
    """What all declarations share: where a missing value is placed, and the weight in distances."""

    missing: Any = MEAN
    weight: float = 1.0

    kind: ClassVar[str]

    def _check_shared(self) -> None:
        owner = type(self).__name__
        remedy = f"Pass a number from {LIGHTEST:g} to {HEAVIEST:g}; 1 is usual."
        weight = validate.number(f"{owner}.weight", self.weight, low=LIGHTEST, high=HEAVIEST, remedy=remedy)
        object.__setattr__(self, "weight", weight)
        if not (isinstance(self.missing, str) and self.missing in WORDS):
            object.__setattr__(self, "missing", self._place(f"{owner}.missing", self.missing))

    @abstractmethod
    def _place(self, where: str, value: object) -> Any:
        """Check a place for missing values that is none of the words."""

    @property
    def is_private(self) -> bool:
        """Whether its bounds are to be found with noise."""
        return False

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as plain data, as a schema file holds it."""

    def __repr__(self) -> str:
        own = [getattr(self, name, None) for name in ("levels", "low", "high")]
        words = [repr(value) for value in own if value is not None]
        return f"{type(self).__name__}({', '.join(words + [f'{key}={value!r}' for key, value in self._shared_dict().items()])})"

    def _shared_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {} if self.missing == MEAN else {"missing": self.missing}
        return found if self.weight == 1.0 else {**found, "weight": self.weight}


@dataclass(frozen=True, repr=False)
class Number(Declaration):
    """A column of numbers between two public bounds.

    Parameters
    ----------
    low, high : float
        Values outside are moved to the nearer one. ``Number("private")`` finds both with noise, for a share of the budget.
    missing : {"mean", "middle", "own"} or float, default="mean"
        Where a missing value is placed, in this column alone: at a private mean of the column (paid for with a stated share
        of the budget), at the middle of the bounds, apart from all numbers, or at a number.
    weight : float, default=1.0
        How much the column counts in distances.

    Notes
    -----
    **Privacy.** Bounds, weight and a number for `missing` must be known without looking at the data; they are published.

    Examples
    --------
    >>> Number(40, 400, missing="middle")
    Number(40.0, 400.0, missing='middle')
    >>> Number("private").is_private
    True
    """

    low: Any = field(kw_only=False)
    high: Any = field(default=None, kw_only=False)
    kind: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        if validate.is_word(self.low, PRIVATE) and self.high is None:
            self._check_shared()
            return
        if self.low is None or self.high is None or isinstance(self.low, str):
            got = self.low if self.high is None else (self.low, self.high)
            validate.refuse("Number", "two bounds low < high", got, remedy='Pass Number(low, high), or Number("private").')
        remedy = 'Pass a finite number, or Number("private") to find the bounds with noise.'
        low = validate.number("Number.low", self.low, low=-LARGEST, high=LARGEST, remedy=remedy)
        high = validate.number("Number.high", self.high, low=-LARGEST, high=LARGEST, remedy=remedy)
        if not low < high:
            validate.refuse("Number", "low < high", (low, high), remedy="Swap the two, or widen the interval.")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        self._check_shared()

    @property
    def is_private(self) -> bool:
        """Whether its bounds are to be found with noise."""
        return validate.is_word(self.low, PRIVATE)

    def _place(self, where: str, value: object) -> float:
        remedy = f"Pass {PLACES} or a number within the bounds."
        if self.is_private:
            return validate.number(where, value, remedy=remedy)
        return validate.number(where, value, low=self.low, high=self.high, remedy=remedy)

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as plain data, as a schema file holds it."""
        bounds = {"bounds": PRIVATE} if self.is_private else {"low": self.low, "high": self.high}
        return {"type": self.kind, **bounds, **self._shared_dict()}


@dataclass(frozen=True, repr=False)
class Category(Declaration):
    """A column that holds one of several levels.

    Two different levels lie as far apart as the two ends of a number. Centres are published as the share of each level.

    Parameters
    ----------
    levels : sequence of str, int or bool
        All levels, known without looking at the data, in an order that stays: no set. A value that is none of them counts as
        missing. Numbers must be whole.
    missing : {"mean", "middle", "own"} or a level, default="mean"
        Where a missing or unknown value is placed: at the shares that the levels have in the whole table (with noise),
        as far from all levels, at a level of its own, or at one of the levels. The three words always mean these places: a
        level that is called "mean", "middle" or "own" cannot be chosen as one. Where a level is called "middle" or "own", that
        word is refused here; rename the level.
    weight : float, default=1.0
        How much the column counts in distances.

    Notes
    -----
    **Privacy.** The levels must be known without looking at the data: a level that only one person has would publish that
    person. They are published with the release.

    Examples
    --------
    >>> Category(["f", "m"]).levels
    ('f', 'm')
    """

    levels: Any = field(kw_only=False)
    kind: ClassVar[str] = "category"

    def __post_init__(self) -> None:
        where, remedy = "Category.levels", 'Pass the levels, as in Category(["f", "m"]).'
        if isinstance(self.levels, Set | Mapping) and not isinstance(self.levels, KeysView):
            validate.refuse(where, "levels in an order that stays, as a list", self.levels, remedy=remedy)
        levels = tuple(as_python(one) for one in validate.items(where, self.levels, rule="two or more levels", remedy=remedy))
        for level in levels:
            if not _is_level(level):
                validate.refuse(where, "words or whole numbers", level, remedy=remedy)
        if not 2 <= len(levels) <= MOST_LEVELS:
            validate.refuse(where, f"from 2 to {MOST_LEVELS} levels", len(levels), remedy=remedy)
        keys = [level_key(level) for level in levels]
        if len(set(keys)) != len(keys):
            twice = next(level for level in levels if keys.count(level_key(level)) > 1)
            validate.refuse(where, "every level once", twice, remedy="Leave the second one out.")
        object.__setattr__(self, "levels", levels)
        self._check_shared()
        if self.missing in (MIDDLE, OWN) and self.missing in self.keys:
            remedy = "Rename the level: this word is a place of its own."
            validate.refuse("Category.missing", "a place that is not also the name of a level", self.missing, remedy=remedy)

    @property
    def keys(self) -> dict[str, int]:
        """The position of each level, by the text that values are compared by."""
        return {str(level_key(level)): index for index, level in enumerate(self.levels)}

    @property
    def names(self) -> tuple[str, ...]:
        """The levels as text."""
        return tuple(self.keys)

    def _place(self, where: str, value: object) -> Any:
        position = self.keys.get(str(level_key(value)))
        if position is None:
            validate.refuse(where, f"{PLACES} or one of the levels", value, remedy="Pass one of these.")
        return self.levels[position]

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as plain data, as a schema file holds it."""
        return {"type": self.kind, "levels": list(self.levels), **self._shared_dict()}


@dataclass(frozen=True, repr=False)
class Flag(Declaration):
    """A column that holds yes or no. A cluster's centre is published as the share of yes.

    Parameters
    ----------
    missing : {"mean", "middle", "own"} or bool, default="mean"
        Where a missing value is placed: at the share that yes has in the whole table (with noise), between yes and no, apart
        from both, or at one of them.
    weight : float, default=1.0
        How much the column counts in distances.

    Notes
    -----
    **Privacy.** True and 1, and the words true, yes, y, t and on are yes; False and 0, and false, no, n, f and off are no, in
    upper or lower case. Everything else counts as missing: no value can raise an error.

    Examples
    --------
    >>> Flag(weight=2).weight
    2.0
    """

    kind: ClassVar[str] = "flag"

    def __post_init__(self) -> None:
        self._check_shared()

    def _place(self, where: str, value: object) -> bool:
        if not isinstance(value, bool):
            validate.refuse(where, f"{PLACES}, True or False", value, remedy="Pass one of these.")
        return value

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as plain data, as a schema file holds it."""
        return {"type": self.kind, **self._shared_dict()}


KNOWN = "The bounds of dates must be known, as they are not found with noise. Pass Date(low, high)."


@dataclass(frozen=True, repr=False)
class Date(Declaration):
    """A column of dates or times between two public ones.

    Parameters
    ----------
    low, high : str, date or datetime
        In the form 2026-12-31, or 2026-12-31T23:59:59. Times without a zone are taken as UTC.
    missing : {"mean", "middle", "own"} or a date, default="mean"
        Where a missing value is placed.
    weight : float, default=1.0
        How much the column counts in distances.

    Notes
    -----
    **Privacy.** The two dates must be known without looking at the data; they are published.

    Examples
    --------
    >>> Date("2020-01-01", "2026-12-31").low
    '2020-01-01'
    """

    low: Any = field(kw_only=False)
    high: Any = field(default=None, kw_only=False)
    kind: ClassVar[str] = "date"

    def __post_init__(self) -> None:
        if self.high is None or validate.is_word(self.low, PRIVATE):
            validate.refuse(
                "Date", "two dates low < high", self.low if self.high is None else (self.low, self.high), remedy=KNOWN
            )
        low, high = iso_date(_public_days("Date.low", self.low)), iso_date(_public_days("Date.high", self.high))
        if not days_of(low) < days_of(high):  # to the second, as they are written
            validate.refuse("Date", "low < high", (self.low, self.high), remedy="Swap the two, or widen the interval.")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        self._check_shared()

    @property
    def days(self) -> tuple[float, float]:
        """Both ends, in days since 1970-01-01."""
        return days_of(self.low), days_of(self.high)

    def _place(self, where: str, value: object) -> str:
        low, high = self.days
        place = days_of(value)
        if not low <= place <= high:
            validate.refuse(where, f"{PLACES} or a date within the bounds", value, remedy="Pass one of these.")
        return iso_date(place)

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as plain data, as a schema file holds it."""
        return {"type": self.kind, "low": self.low, "high": self.high, **self._shared_dict()}


AnyDeclaration: TypeAlias = Number | Category | Flag | Date
KINDS: dict[str, type[Any]] = {one.kind: one for one in (Number, Category, Flag, Date)}
REMEDY = (
    'Pass (low, high), "private", Number(low, high), Category(levels), Flag() or Date(low, high), or in a file '
    '{"type": "category", "levels": ["f", "m"]}.'
)


def declare_columns(where: str, columns: Mapping[Any, Any]) -> dict[str, AnyDeclaration]:
    """Read a mapping of columns to declarations, or to what stands for one: a pair, a word, plain data of a schema file.

    Examples
    --------
    >>> declare_columns("bounds", {"age": (0, 120), "income": "private", "smoker": {"type": "flag"}})["smoker"]
    Flag()
    """
    if not columns:
        validate.refuse(where, "at least one column", dict(columns), remedy='Pass {"age": (0, 120)}.')
    found: dict[str, AnyDeclaration] = {}
    for name, value in columns.items():
        if not isinstance(name, str) or not name:
            validate.refuse(where, "names of columns as keys", name, remedy='Pass {"age": (0, 120)}.')
        found[name] = _declare(f"{where}[{name!r}]", value)
    return found


def _declare(where: str, value: object) -> AnyDeclaration:
    if isinstance(value, Number | Category | Flag | Date):
        return value
    if validate.is_word(value, PRIVATE):
        return Number(PRIVATE)
    if validate.is_word(value, Flag.kind):
        return Flag()
    if isinstance(value, Mapping):
        return _from_plain(where, value)
    pair = _as_pair(value)
    if pair is None:
        validate.refuse(where, "what the column is", value, remedy=REMEDY)
    if _are_dates(pair):
        return Date(*pair)
    low, high = (validate.number(where, end, remedy="Pass two numbers or two dates.") for end in pair)
    if not low < high:
        validate.refuse(where, "low < high", (low, high), remedy="Swap the two, or widen the interval.")
    return Number(low, high)


def _from_plain(where: str, data: Mapping[Any, Any]) -> AnyDeclaration:
    """Read the plain data of a schema file."""
    given = {str(key): value for key, value in data.items()}
    kind = validate.one_of(f"{where}.type", given.pop("type", _kind_of(given)), tuple(KINDS))
    chosen = KINDS[kind]
    bounds = given.pop("bounds", None)
    if validate.is_word(bounds, PRIVATE) and chosen is Number:
        given["low"] = PRIVATE
    elif bounds is not None:
        pair = _as_pair(bounds)
        if validate.is_word(bounds, PRIVATE) and chosen is Date:
            validate.refuse(f"{where}.bounds", "a pair [low, high]", bounds, remedy=KNOWN)
        if pair is None or chosen not in (Number, Date):
            validate.refuse(f"{where}.bounds", "a pair [low, high]", bounds, remedy=REMEDY)
        given["low"], given["high"] = pair
    allowed = {one.name for one in fields(chosen)}
    needed = {one.name for one in fields(chosen) if one.default is MISSING} | ({"high"} if chosen is Date else set())
    if odd := set(given) - allowed:
        remedy = f"A {kind} has: {', '.join(sorted(allowed))}."
        validate.refuse(where, f"what belongs to a {kind}", sorted(odd)[0], remedy=remedy)
    if lacking := needed - set(given):
        remedy = KNOWN if validate.is_word(given.get("low"), PRIVATE) else REMEDY
        validate.refuse(where, f"{' and '.join(sorted(needed))} for a {kind}", f"no {sorted(lacking)[0]}", remedy=remedy)
    made: AnyDeclaration = chosen(**given)
    return made


def _kind_of(given: Mapping[str, Any]) -> str:
    """Return the type of a column that does not say it: what has levels is a category, what lies between dates is one."""
    if "levels" in given:
        return Category.kind
    ends = _as_pair(given.get("bounds")) or (given.get("low"), given.get("high"))
    return Date.kind if _are_dates(ends) else Number.kind


def _is_level(value: object) -> bool:
    if isinstance(value, float) and not value.is_integer():
        return False
    return isinstance(value, str | bool | int | float) and level_key(value) is not None


def _are_dates(ends: tuple[Any, Any]) -> bool:
    return all(not isinstance(end, numbers.Real) and not math.isnan(days_of(end)) for end in ends)


def _as_pair(value: object) -> tuple[Any, Any] | None:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes) and len(value) == 2:
        return value[0], value[1]
    if hasattr(value, "tolist") and hasattr(value, "shape") and tuple(value.shape) == (2,):
        low, high = value.tolist()
        return low, high
    return None


def _public_days(where: str, value: object) -> float:
    days = math.nan if isinstance(value, numbers.Real) else days_of(value)
    if math.isnan(days):
        validate.refuse(where, "a date such as 2026-12-31", value, remedy="Write it as year-month-day.")
    return days
