# SPDX-License-Identifier: Apache-2.0
"""A column that holds yes or no. Anyone may import this module."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cloister import validate
from cloister.columns._base import FloatArray
from cloister.columns._column import PLACES, Declaration
from cloister.columns._parts import Interval, Straight
from cloister.columns._values import LEVELS_OF_A_FLAG, to_number
from cloister.columns._words import Share
from cloister.text import share_text

NO_LEVEL = -1.0


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
    has_levels: ClassVar[bool] = True
    n_levels: ClassVar[int | None] = 2
    about: ClassVar[str] = "Yes or no."

    def _check_place(self, where: str, value: object) -> bool:
        if not isinstance(value, bool):
            validate.refuse(where, f"{PLACES}, True or False", value, remedy="Pass one of these.")
        return value

    @property
    def interval(self) -> tuple[float, float]:
        return 0.0, 1.0

    def read(self, value: Any) -> float:
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if isinstance(value, str):
            word = value.strip().lower()
            return LEVELS_OF_A_FLAG.get(word, NO_LEVEL) if word else math.nan
        number = to_number(value)
        if math.isnan(number):
            return math.nan
        return float(number == 1) if number in (0, 1) else NO_LEVEL

    def from_day(self, day: float) -> float:
        return math.nan if math.isnan(day) else NO_LEVEL

    def _part(self, size: float) -> Straight:
        return Interval(size=size, low=0.0, high=1.0, lowest=0.0)

    @property
    def level_names(self) -> tuple[str, ...]:
        return ("no", "yes")

    def _told(self, values: Sequence[float], errors: Sequence[float]) -> dict[str, Any]:
        return {"share": values[0], "error": errors[0]}

    @classmethod
    def told_words(cls, told: Mapping[str, Any], most_levels: int = 3, between: str = ", ") -> str:
        return " ± ".join(Share("").words(told["share"], told["error"]))

    def place_words(self, place: Sequence[float]) -> str:
        return f"yes {share_text(place[0])}"

    @classmethod
    def extent_words(cls, plain: Mapping[str, Any], most_levels: int = 0) -> str:
        return "yes or no" if most_levels else "share of yes"

    def _drawn(self, values: FloatArray, generator: np.random.Generator) -> np.ndarray:
        return generator.random(len(values)) < values[:, 0]
