# SPDX-License-Identifier: Apache-2.0
"""A column of dates or times between two public ones, in days since 1970-01-01. Anyone may import this module."""

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from cloister import validate
from cloister.columns._base import FloatArray
from cloister.columns._column import PLACES, PRIVATE, SPREAD_SCHEMA, Declaration
from cloister.columns._parts import Interval, Straight
from cloister.columns._values import SECONDS_A_DAY, days_of, iso_date
from cloister.columns._words import Coordinate, Moment, days_words

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
    needs: ClassVar[tuple[str, ...]] = ("low", "high")
    fits: ClassVar[tuple[str, ...]] = ("time", "text", "anything")
    edge_limits: ClassVar[tuple[float, float]] = (-719_162.0, 2_932_896.0)  # the first and the last that can be written
    about: ClassVar[str] = "A date."
    schema: ClassVar[dict[str, Any]] = {
        "low": {"type": "string", "description": "The first day or time."},
        "high": {"type": "string", "description": "The last day or time."},
        **SPREAD_SCHEMA,
    }

    def __post_init__(self) -> None:
        if self.high is None or validate.is_word(self.low, PRIVATE):
            got = self.low if self.high is None else (self.low, self.high)
            validate.refuse("Date", "two dates low < high", got, remedy=KNOWN)
        low, high = iso_date(_public_days("Date.low", self.low)), iso_date(_public_days("Date.high", self.high))
        if not days_of(low) < days_of(high):  # to the second, as they are written
            validate.refuse("Date", "low < high", (self.low, self.high), remedy="Swap the two, or widen the interval.")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        super().__post_init__()

    def _check_place(self, where: str, value: object) -> str:
        low, high = self.interval
        place = days_of(value)
        if not low <= place <= high:
            validate.refuse(where, f"{PLACES} or a date within the bounds", value, remedy="Pass one of these.")
        return iso_date(place)

    @cached_property
    def interval(self) -> tuple[float, float]:
        return days_of(self.low), days_of(self.high)

    def read(self, value: Any) -> float:
        """Return the days of text that is a date; a number is none."""
        return days_of(value)

    def from_day(self, day: float) -> float:
        return day

    def from_days(self, days: FloatArray) -> FloatArray:
        return days

    def _part(self, size: float) -> Straight:
        low, high = self.interval
        return Interval(size=size, low=low, high=high)

    def _published(self, value: Any) -> FloatArray:
        return np.array([days_of(value)])

    @classmethod
    def axis(cls, name: str, low: float, high: float, spread: float = math.nan) -> Coordinate:
        return Moment(name, low, high, spread)

    def _told(self, values: Sequence[float], errors: Sequence[float]) -> dict[str, Any]:
        return {"value": self.axis("", *self.interval).text(values[0]), "error_days": errors[0]}

    @classmethod
    def told_words(cls, told: Mapping[str, Any], most_levels: int = 3, between: str = ", ") -> str:
        return f"{told['value']} ± {days_words(told['error_days'])}"

    @classmethod
    def extent_words(cls, plain: Mapping[str, Any], most_levels: int = 0) -> str:
        return f"{plain['low']} to {plain['high']}"

    def _drawn(self, values: FloatArray, generator: np.random.Generator) -> np.ndarray:
        """Return days, or times to the second where the bounds are times."""
        if all(end.is_integer() for end in self.interval):
            return np.rint(values[:, 0]).astype("datetime64[D]")
        return np.rint(values[:, 0] * SECONDS_A_DAY).astype("datetime64[s]")


def _public_days(where: str, value: object) -> float:
    days = math.nan if isinstance(value, numbers.Real) else days_of(value)
    if math.isnan(days):
        validate.refuse(where, "a date such as 2026-12-31", value, remedy="Write it as year-month-day.")
    return days
