# SPDX-License-Identifier: Apache-2.0
"""A column of numbers, on a linear or a logarithmic scale. Anyone may import this module."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns._base import EXTENTS, FloatArray
from cloister.columns._column import LARGEST, PLACES, PRIVATE, SPREAD_SCHEMA, Declaration
from cloister.columns._parts import Interval, Straight
from cloister.columns._words import factor_words
from cloister.text import number, rounded

LINEAR, LOG = "linear", "log"
LARGEST_LOG = 300.0  # of a factor that is a double
PROVISIONAL = (-1.0, 1.0)  # bounds that stand for those that are still to be found
REMEDY = 'Pass a finite number, or Number("private") to find the bounds with noise.'


@dataclass(frozen=True, repr=False)
class Number(Declaration):
    """A column of numbers between two public bounds, on a linear or a logarithmic scale.

    Parameters
    ----------
    low, high : float
        Values outside are moved to the nearer one. ``Number("private")`` finds both with noise, for a share of the budget.
    missing : {"mean", "middle", "own"} or float, default="mean"
        Where a missing value is placed, in this column alone: at a private mean of the column (paid for with a stated share
        of the budget), at the middle of the bounds, apart from all numbers, or at a number.
    weight : float, default=1.0
        How much the column counts in distances.
    scale : {"linear", "log"}, default="linear"
        "log" is for positive numbers that differ by factors, such as doses and incomes: distances, means and the bins of
        histograms are those of logarithms. Bounds are public then. Centres are published in the units of the input.

    Notes
    -----
    **Privacy.** Bounds, scale, weight and a number for `missing` must be known without looking at the data; they are published.

    Examples
    --------
    >>> Number(40, 400, missing="middle")
    Number(40.0, 400.0, missing='middle')
    >>> Number("private").is_private
    True
    """

    low: Any = field(kw_only=False)
    high: Any = field(default=None, kw_only=False)
    scale: str = LINEAR
    kind: ClassVar[str] = "number"
    needs: ClassVar[tuple[str, ...]] = ("low", "high")
    inline: ClassVar[tuple[str, ...]] = ("scale",)
    are_numbers: ClassVar[bool] = True
    as_is: ClassVar[bool] = True
    can_be_private: ClassVar[bool] = True
    about: ClassVar[str] = "A number."
    schema: ClassVar[dict[str, Any]] = {
        "low": {"type": "number", "description": "Its lower bound."},
        "high": {"type": "number", "description": "Its upper bound."},
        "found": {"const": "noise", "description": "Present where bounds were found with noise."},
        "scale": {"const": "log", "description": "Present where distances and bins are those of logarithms."},
        **SPREAD_SCHEMA,
    }

    def __post_init__(self) -> None:
        validate.one_of("Number.scale", self.scale, (LINEAR, LOG))
        if validate.is_word(self.low, PRIVATE) and self.high is None:
            if self.is_log:
                remedy = 'Pass Number(low, high, scale="log") with low above 0: bounds are found on a linear scale.'
                validate.refuse("Number", 'public bounds for scale="log"', PRIVATE, remedy=remedy)
            super().__post_init__()
            return
        if self.low is None or self.high is None or isinstance(self.low, str):
            got = self.low if self.high is None else (self.low, self.high)
            validate.refuse("Number", "two bounds low < high", got, remedy='Pass Number(low, high), or Number("private").')
        for name in self.needs:
            end = validate.number(f"Number.{name}", getattr(self, name), low=-LARGEST, high=LARGEST, remedy=REMEDY)
            object.__setattr__(self, name, end)
        if not self.low < self.high:
            validate.refuse("Number", "low < high", (self.low, self.high), remedy="Swap the two, or widen the interval.")
        if self.is_log and self.low < EXTENTS[0]:
            remedy = "Pass the smallest number that matters: what lies below is moved to it."
            validate.refuse("Number.low", f'a number of at least {EXTENTS[0]:g} for scale="log"', self.low, remedy=remedy)
        super().__post_init__()

    def _check_place(self, where: str, value: object) -> float:
        remedy = f"Pass {PLACES} or a number within the bounds."
        if self.is_private:
            return validate.number(where, value, remedy=remedy)
        return validate.number(where, value, low=self.low, high=self.high, remedy=remedy)

    @property
    def is_log(self) -> bool:
        return self.scale == LOG

    @property
    def is_private(self) -> bool:
        return validate.is_word(self.low, PRIVATE)

    def with_bounds(self, low: float, high: float) -> "Number":
        missing = min(max(self.missing, low), high) if self.has_place else self.missing
        return Number(low, high, missing=missing, weight=self.weight)

    def to_dict(self) -> dict[str, Any]:
        return {"type": self.kind, "bounds": PRIVATE, **self._options()} if self.is_private else super().to_dict()

    def _options(self) -> dict[str, Any]:
        return {"scale": LOG, **super()._options()} if self.is_log else super()._options()

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds; some that stand for them where they are still to be found."""
        return PROVISIONAL if self.is_private else (self.low, self.high)

    def _part(self, size: float) -> Straight:
        low, high = self.interval
        if not self.is_log:
            return Interval(size=size, low=low, high=high)
        return LogInterval(size=size, low=math.log(low), high=math.log(high), ends=(low, high))

    def _told(self, values: Sequence[float], errors: Sequence[float]) -> dict[str, Any]:
        found = super()._told(values, errors)
        return {**found, "factor": math.exp(min(errors[0] / values[0], LARGEST_LOG))} if self.is_log else found

    @classmethod
    def told_words(cls, told: Mapping[str, Any], most_levels: int = 3, between: str = ", ") -> str:
        return factor_words(told["value"], told["factor"]) if "factor" in told else super().told_words(told)

    @classmethod
    def extent_words(cls, plain: Mapping[str, Any], most_levels: int = 0) -> str:
        show = rounded if plain.get("found") else number
        scale = " (log scale: geometric means)" if plain.get("scale") == LOG else ""
        return f"{show(plain['low'])} to {show(plain['high'])}{scale}"


@dataclass(frozen=True, eq=False, kw_only=True)
class LogInterval(Interval):
    """Positive numbers whose logarithms lie between two bounds; `ends` are the numbers themselves.

    A cell is mapped by itself: it is moved between the ends, then its logarithm is, so it is no longer than half the width.
    """

    ends: tuple[float, float]
    is_interval: ClassVar[bool] = False  # in published numbers

    def place(self, values: FloatArray, out: FloatArray) -> npt.NDArray[np.bool_]:
        return super().place(np.log(np.maximum(values, self.ends[0])), out)

    def straighten(self, published: FloatArray) -> FloatArray:
        return np.log(np.maximum(published, self.ends[0]))

    def bend(self, straight: FloatArray) -> FloatArray:
        return np.clip(np.exp(straight), *self.ends)

    def slope(self, straight: FloatArray) -> FloatArray:
        """Return the numbers themselves: a step of the logarithm is a part of them."""
        return np.exp(straight)

    def flatten(self, published: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return logarithms and their errors, in units that are as large in the middle as those of the numbers."""
        return self.straighten(published) * self.center, errors * (self.center / np.maximum(published, self.ends[0]))
