# SPDX-License-Identifier: Apache-2.0
"""A column that holds yes or no. Anyone may import this module."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns._base import FloatArray
from cloister.columns._column import PLACES, Declaration
from cloister.columns._parts import Interval, Straight
from cloister.columns._values import LEVELS_OF_A_FLAG, to_number
from cloister.columns._words import Share
from cloister.text import share_text

if TYPE_CHECKING:
    import pyarrow as pa

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

    def __post_init__(self) -> None:
        self._check_shared()

    def _check_place(self, where: str, value: object) -> bool:
        if not isinstance(value, bool):
            validate.refuse(where, f"{PLACES}, True or False", value, remedy="Pass one of these.")
        return value

    @property
    def interval(self) -> tuple[float, float]:
        """No and yes."""
        return 0.0, 1.0

    def read(self, value: Any) -> float:
        """Return 0 for no, 1 for yes."""
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
        """Return that a date is neither."""
        return math.nan if math.isnan(day) else NO_LEVEL

    def _part(self, size: float) -> Straight:
        return Interval(size=size, low=0.0, high=1.0, lowest=0.0)

    @property
    def level_names(self) -> tuple[str, ...]:
        """What its bins stand for."""
        return ("no", "yes")

    def _told(self, values: Sequence[float], errors: Sequence[float]) -> dict[str, Any]:
        return {"share": values[0], "error": errors[0]}

    @classmethod
    def told_words(cls, told: Mapping[str, Any], most_levels: int = 3, between: str = ", ") -> str:
        """Return in words what ``told`` returned."""
        return " ± ".join(Share("").words(told["share"], told["error"]))

    def place_words(self, place: Sequence[float]) -> str:
        """Return a place for missing values in words."""
        return f"yes {share_text(place[0])}"

    @classmethod
    def inside_words(cls, plain: Mapping[str, Any], most_levels: int) -> str:
        """Return where values lie."""
        return "yes or no"

    @classmethod
    def extent_words(cls, plain: Mapping[str, Any]) -> str:
        """Return what is published."""
        return "share of yes"

    def _synthetic(self, values: FloatArray, absent: npt.NDArray[np.bool_], generator: np.random.Generator) -> "pa.Array":
        import pyarrow as pa

        return pa.array(generator.random(len(values)) < values[:, 0], mask=absent)
