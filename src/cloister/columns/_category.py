# SPDX-License-Identifier: Apache-2.0
"""A column that holds one of several levels. Anyone may import this module."""

import math
from collections.abc import KeysView, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from cloister import validate
from cloister.columns._base import FloatArray
from cloister.columns._column import MIDDLE, NUMBERS, OWN, PLACES, Declaration
from cloister.columns._parts import Part, Simplex
from cloister.columns._values import as_python, days_of, level_key
from cloister.columns._words import MORE, largest_levels, level_words
from cloister.text import count_of, plain_text, share_text

MOST_LEVELS = 1000
NO_LEVEL = -1.0
MISSING_LEVEL = "(missing)"


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
    needs: ClassVar[tuple[str, ...]] = ("levels",)
    fits: ClassVar[tuple[str, ...]] = (*NUMBERS, "text", "time", "anything")
    has_levels: ClassVar[bool] = True
    about: ClassVar[str] = "One of several levels."
    schema: ClassVar[dict[str, Any]] = {
        "levels": {
            "type": "array",
            "items": {"type": ["string", "integer", "boolean"]},
            "minItems": 1,
            "description": "All levels, in the order of the centres' coordinates.",
        }
    }

    def __post_init__(self) -> None:
        where, remedy = "Category.levels", 'Pass the levels, as in Category(["f", "m"]).'
        if isinstance(self.levels, Set | Mapping) and not isinstance(self.levels, KeysView):
            validate.refuse(where, "levels in an order that stays, as a list", self.levels, remedy=remedy)
        levels = tuple(as_python(one) for one in validate.items(where, self.levels, rule="two or more levels", remedy=remedy))
        for level in levels:
            is_fraction = isinstance(level, float) and not level.is_integer()
            if is_fraction or not isinstance(level, str | bool | int | float) or level_key(level) is None:
                validate.refuse(where, "words or whole numbers", level, remedy=remedy)
        if not 2 <= len(levels) <= MOST_LEVELS:
            validate.refuse(where, f"from 2 to {MOST_LEVELS} levels", len(levels), remedy=remedy)
        keys = [level_key(level) for level in levels]
        if len(set(keys)) != len(keys):
            twice = next(level for level in levels if keys.count(level_key(level)) > 1)
            validate.refuse(where, "every level once", twice, remedy="Leave the second one out.")
        object.__setattr__(self, "levels", levels)
        super().__post_init__()
        if self.missing in (MIDDLE, OWN) and self.missing in self.keys:
            remedy = "Rename the level: this word is a place of its own."
            validate.refuse("Category.missing", "a place that is not also the name of a level", self.missing, remedy=remedy)

    @cached_property
    def keys(self) -> dict[str, int]:
        """The position of each level, by the text that values are compared by."""
        return {str(level_key(level)): index for index, level in enumerate(self.levels)}

    @cached_property
    def _days(self) -> dict[float, float]:
        """The positions of the levels that are dates."""
        words = [(days_of(level), place) for place, level in enumerate(self.levels) if isinstance(level, str)]
        return {day: float(place) for day, place in reversed(words) if not math.isnan(day)}

    @property
    def level_names(self) -> tuple[str, ...]:
        return tuple(self.keys)

    def _check_place(self, where: str, value: object) -> Any:
        position = self.keys.get(str(level_key(value)))
        if position is None:
            validate.refuse(where, f"{PLACES} or one of the levels", value, remedy="Pass one of these.")
        return self.levels[position]

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "levels": list(self.levels)}

    @property
    def interval(self) -> tuple[float, float]:
        return 0.0, len(self.levels) - 1.0

    def read(self, value: Any) -> float:
        key = level_key(value)
        return math.nan if key is None else float(self.keys.get(key, NO_LEVEL))

    def from_day(self, day: float) -> float:
        return math.nan if math.isnan(day) else self._days.get(day, NO_LEVEL)

    @property
    def size(self) -> int:
        return len(self.levels)

    def part(self, scaling: str, spread: float = math.nan) -> Part:
        """Return the corners of a simplex; of its own, missing values have a further one."""
        return Simplex(size=self.weight, n_levels=len(self.levels) + self.has_own, own=self.has_own)

    def _published(self, value: Any) -> FloatArray:
        return np.asarray(np.eye(len(self.levels))[self.levels.index(value)])

    def published_names(self, name: str) -> list[str]:
        return [f"{name}={level}" for level in (*self.level_names, *([MISSING_LEVEL] if self.has_own else []))]

    def _told(self, values: Sequence[float], errors: Sequence[float]) -> dict[str, Any]:
        pairs = [[value, error] for value, error in zip(values, errors, strict=True)]
        return {"shares": dict(zip(self.level_names, pairs, strict=True))}

    @classmethod
    def told_words(cls, told: Mapping[str, Any], most_levels: int = 3, between: str = ", ") -> str:
        return level_words([(name, *pair) for name, pair in told["shares"].items()], most_levels, between)

    def place_words(self, place: Sequence[float]) -> str:
        levels = largest_levels([(name, share, 0.0) for name, share in zip(self.level_names, place, strict=False)], 3)
        words = [f"{plain_text(name)} {share_text(share)}" for name, share, _ in levels]
        return ", ".join([*words, *([MORE] if len(self.levels) > len(levels) else [])])

    @classmethod
    def extent_words(cls, plain: Mapping[str, Any], most_levels: int = 0) -> str:
        if not most_levels:
            return count_of(len(plain["levels"]), "level")
        levels = [plain_text(level) for level in plain["levels"]]
        more = f", {MORE} ({len(levels)} levels)" if len(levels) > most_levels else ""
        return ", ".join(levels[:most_levels]) + more

    def _drawn(self, values: FloatArray, generator: np.random.Generator) -> np.ndarray:
        upper = np.cumsum(np.maximum(values, 0.0) + 1e-300, axis=1)
        drawn = generator.random(len(values))[:, None] * upper[:, -1:]
        chosen = np.minimum((drawn >= upper).sum(axis=1), len(self.levels) - 1)
        return np.asarray(np.array(self.level_names, dtype=object)[chosen])
