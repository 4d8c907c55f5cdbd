# SPDX-License-Identifier: Apache-2.0
"""A column of numbers that begin again: an hour of the day, a day of the year, a bearing. Anyone may import this module."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns._base import EXTENTS, FloatArray, quiet
from cloister.columns._column import PLACES, Declaration
from cloister.columns._parts import Straight
from cloister.columns._words import Coordinate
from cloister.text import number

SURE = 2.0  # standard errors that a centre must lie from the middle of the circle, to have a preferred value
LEAST = 0.05  # of the radius, likewise
NO_VALUE = "no preferred value"


@dataclass(frozen=True, repr=False)
class Cyclic(Declaration):
    """A column of numbers on a circle: the first hour of a day follows the last one.

    Two opposite values lie as far apart as the two ends of a number. A centre is published as the mean of points on a
    circle of radius one (two coordinates), and told as the value in whose direction it lies.

    Parameters
    ----------
    period : float
        After which values begin again: 24 for hours, 365.25 for days of a year, 360 for degrees. Values are taken modulo it.
    missing : {"mean", "middle", "own"} or float, default="mean"
        Where a missing value is placed: at a private mean of the column, in the middle of the circle, apart from all values, or
        at a value.
    weight : float, default=1.0
        How much the column counts in distances.

    Notes
    -----
    **Privacy.** Period, weight and a value for `missing` must be known without looking at the data; they are published. Every
    cell is mapped by itself, to a point of a circle with a public radius, so that a row is as long as the domain says whatever
    the cell holds.

    Examples
    --------
    >>> Cyclic(24)
    Cyclic(24.0)
    """

    period: Any = field(kw_only=False)
    kind: ClassVar[str] = "cyclic"
    needs: ClassVar[tuple[str, ...]] = ("period",)
    are_numbers: ClassVar[bool] = True
    about: ClassVar[str] = "A number that begins again after a period."
    schema: ClassVar[dict[str, Any]] = {
        "period": {"type": "number", "exclusiveMinimum": 0, "description": "After which values begin again."}
    }

    def __post_init__(self) -> None:
        remedy = "Pass the number after which values begin again, such as 24 for hours."
        period = validate.number("Cyclic.period", self.period, low=EXTENTS[0], high=EXTENTS[1], remedy=remedy)
        object.__setattr__(self, "period", period)
        super().__post_init__()

    def _check_place(self, where: str, value: object) -> float:
        return validate.number(where, value, remedy=f"Pass {PLACES} or a number.") % float(self.period)

    @property
    def interval(self) -> tuple[float, float]:
        return 0.0, self.period

    @property
    def reading(self) -> tuple[Any, ...]:
        return (self.kind, self.period)

    @quiet
    def from_numbers(self, numbers: FloatArray) -> FloatArray:
        """Return numbers modulo the period; what is not finite is missing."""
        return np.asarray(np.mod(numbers, self.period))

    @property
    def size(self) -> int:
        return 2

    def _part(self, size: float) -> Straight:
        return Disc(size=size, period=self.period)

    @property
    def _half_width(self) -> float:
        """The radius of the circle on which values close to each other lie as far apart as they differ."""
        return float(self.period) / (2 * math.pi)

    def _published(self, value: Any) -> FloatArray:
        angle = 2 * math.pi * value / self.period
        return np.array([math.cos(angle), math.sin(angle)])

    @classmethod
    def unroll(cls, edges: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Cut the circle opposite to the mean direction, so that means and quantiles do not depend on where it begins."""
        own, period = np.maximum(counts[:-1], 0.0), edges[-1] - edges[0]
        middles = (edges[:-1] + edges[1:]) / 2
        angles = 2 * math.pi * (middles - edges[0]) / period
        opposite = math.atan2(-float(own @ np.sin(angles)), -float(own @ np.cos(angles))) % (2 * math.pi)
        first = min(int(np.searchsorted(edges, edges[0] + opposite / (2 * math.pi) * period, side="right")) - 1, len(own) - 1)
        around = np.concatenate([edges[first:-1], edges[: first + 1] + period])
        return around, np.append(np.roll(counts[:-1], -first), counts[-1])

    @classmethod
    def wrap(cls, value: float, edges: FloatArray) -> float:
        return float(value % (edges[-1] - edges[0]))

    @classmethod
    def difference(cls, values: FloatArray, other: FloatArray | float, edges: FloatArray) -> FloatArray:
        """Return by how much means differ, the shorter way round."""
        period = edges[-1] - edges[0]
        return np.asarray((values - other + period / 2) % period - period / 2)

    @classmethod
    def axis(cls, name: str, low: float, high: float, spread: float = math.nan) -> Coordinate:
        return Turn(name, low, high, spread)

    def on_axis(self, values: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the value in whose direction each point lies, and its error; NaN where the point is near the middle."""
        (x, y), (x_error, y_error) = values[:, :2].T, errors[:, :2].T
        length, angle = np.hypot(x, y), np.arctan2(y, x)
        along = np.hypot(np.cos(angle) * x_error, np.sin(angle) * y_error)
        across = np.hypot(np.sin(angle) * x_error, np.cos(angle) * y_error)
        known = length > np.maximum(SURE * along, LEAST)
        value = self._value(angle)
        error = across / np.maximum(length, LEAST) * self._half_width
        return np.where(known, value, np.nan), np.where(known, np.minimum(error, self.period / 2), np.nan)

    def _value(self, angle: FloatArray) -> FloatArray:
        """Return angles as values from zero to below the period."""
        value = np.mod(angle * self._half_width, self.period)
        return np.where(value < self.period, value, 0.0)

    def published_names(self, name: str) -> list[str]:
        return [f"{name} (cos)", f"{name} (sin)", *super().published_names(name)[1:]]

    def coordinates(self, names: Sequence[str], spread: float = math.nan) -> list[Coordinate]:
        return [*(Coordinate(name, -1.0, 1.0) for name in names[:2]), *super().coordinates(names[1:])[1:]]

    def _told(self, values: Sequence[float], errors: Sequence[float]) -> dict[str, Any]:
        """Return the value, None where none is preferred, and how far from the middle of the circle the centre lies."""
        value, error = (float(one[0]) for one in self.on_axis(np.array([values]), np.array([errors])))
        axis = self.axis("", *self.interval)
        return {"value": axis.plain(value), "error": axis.plain(error), "concentration": math.hypot(*values)}

    @classmethod
    def told_words(cls, told: Mapping[str, Any], most_levels: int = 3, between: str = ", ") -> str:
        return NO_VALUE if told["value"] is None else super().told_words(told, most_levels, between)

    @classmethod
    def extent_words(cls, plain: Mapping[str, Any], most_levels: int = 0) -> str:
        return f"0 to {number(plain['period'])}, a circle"

    def _drawn(self, values: FloatArray, generator: np.random.Generator) -> np.ndarray:
        return self._value(np.arctan2(values[:, 1], values[:, 0]))


@dataclass(frozen=True)
class Turn(Coordinate):
    """A value on a circle, of which there may be none."""

    def words(self, value: float, error: float) -> tuple[str, str]:
        return super().words(value, error) if math.isfinite(value) else (NO_VALUE, "")

    def text(self, value: float) -> str:
        return super().text(value) if math.isfinite(value) else NO_VALUE


@dataclass(frozen=True, eq=False, kw_only=True)
class Disc(Straight):
    """A circle, and all that lies inside; published are coordinates on one of radius one.

    A cell lies on the circle whatever it holds, so it is no longer than the radius; what is not finite is placed as all missing
    values are. Rounding may take a row out by a few units of the last digit: cleaning ends by pulling rows in.
    """

    period: float

    @property
    def middle(self) -> FloatArray:
        return np.zeros(2)

    @property
    def stretch(self) -> float:
        """What a unit of the coordinates is worth: the radius becomes one."""
        return 1 / self.size

    def clip(self, straight: FloatArray) -> FloatArray:
        return np.asarray(straight / np.maximum(np.hypot(straight[..., :1], straight[..., 1:]), 1.0))

    def place(self, values: FloatArray, out: FloatArray) -> npt.NDArray[np.bool_]:
        angles = 2 * math.pi * (np.mod(values, self.period) / self.period)
        out[:, 0], out[:, 1] = self.size * np.cos(angles), self.size * np.sin(angles)
        return ~np.isfinite(values)

    def draw(self, generator: np.random.Generator, count: int) -> FloatArray:
        angles, lengths = 2 * math.pi * generator.random(count), self.size * np.sqrt(generator.random(count))
        return np.column_stack([lengths * np.cos(angles), lengths * np.sin(angles)])
