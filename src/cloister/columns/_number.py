# SPDX-License-Identifier: Apache-2.0
"""A column of numbers, on a linear or a logarithmic scale. Anyone may import this module."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from cloister import validate
from cloister.columns._column import LARGEST, PLACES, PRIVATE, SPREAD_SCHEMA, Declaration
from cloister.columns._parts import Interval, Straight
from cloister.text import number, rounded

__all__ = ["Number"]

PROVISIONAL = (-1.0, 1.0)  # bounds that stand for those that are still to be found
REMEDY = 'Pass a finite number, or Number("private") to find the bounds with noise.'


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
    needs: ClassVar[tuple[str, ...]] = ("low", "high")
    are_numbers: ClassVar[bool] = True
    as_is: ClassVar[bool] = True
    can_be_private: ClassVar[bool] = True
    about: ClassVar[str] = "A number."
    schema: ClassVar[dict[str, Any]] = {
        "low": {"type": "number", "description": "Its lower bound."},
        "high": {"type": "number", "description": "Its upper bound."},
        "found": {
            "enum": ["noise", "guess"],
            "description": "Present where bounds were private: whether they were found with noise, or nothing was found and "
            "they are a guess.",
        },
        **SPREAD_SCHEMA,
    }

    def __post_init__(self) -> None:
        if validate.is_word(self.low, PRIVATE) and self.high is None:
            self._check_shared()
            return
        if self.low is None or self.high is None or isinstance(self.low, str):
            got = self.low if self.high is None else (self.low, self.high)
            validate.refuse("Number", "two bounds low < high", got, remedy='Pass Number(low, high), or Number("private").')
        for name in self.needs:
            end = validate.number(f"Number.{name}", getattr(self, name), low=-LARGEST, high=LARGEST, remedy=REMEDY)
            object.__setattr__(self, name, end)
        if not self.low < self.high:
            validate.refuse("Number", "low < high", (self.low, self.high), remedy="Swap the two, or widen the interval.")
        self._check_shared()

    def _check_place(self, where: str, value: object) -> float:
        remedy = f"Pass {PLACES} or a number within the bounds."
        if self.is_private:
            return validate.number(where, value, remedy=remedy)
        return validate.number(where, value, low=self.low, high=self.high, remedy=remedy)

    @property
    def is_private(self) -> bool:
        """Whether its bounds are to be found with noise."""
        return validate.is_word(self.low, PRIVATE)

    @property
    def is_measured(self) -> bool:
        """Whether its bounds and its spread can be looked for."""
        return True

    @property
    def is_interval(self) -> bool:
        """Whether it is one interval, which a grid can cut."""
        return not self.has_own

    @property
    def plain_pair(self) -> tuple[float, float] | None:
        """Two bounds, where nothing else is said of the column."""
        return None if self.is_private or self._options() else (self.low, self.high)

    def with_bounds(self, low: float, high: float) -> "Number":
        """Return the column with bounds that were found."""
        missing = min(max(self.missing, low), high) if self.has_place else self.missing
        return Number(low, high, missing=missing, weight=self.weight)

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as plain data, as a schema file holds it."""
        return {"type": self.kind, "bounds": PRIVATE, **self._options()} if self.is_private else super().to_dict()

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds; some that stand for them where they are still to be found."""
        return PROVISIONAL if self.is_private else (self.low, self.high)

    def _part(self, size: float) -> Straight:
        low, high = self.interval
        return Interval(size=size, low=low, high=high)

    @classmethod
    def inside_words(cls, plain: Mapping[str, Any], most_levels: int) -> str:
        """Return where values lie, from what ``to_dict`` wrote."""
        show = rounded if plain.get("found") else number
        return f"{show(plain['low'])} to {show(plain['high'])}"
