# SPDX-License-Identifier: Apache-2.0
"""Axes of the pictures: a stretch of a column, and round numbers, dates or shares along it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

__all__ = ["Axis", "Tick", "axis_for"]

EPOCH = date(1970, 1, 1).toordinal()
FEWEST_TICKS = 3
MOST_TICKS = 7
MARGIN = 0.08  # of the stretch that holds all values, to each side
NARROW = 0.5  # part of the bounds: a stretch of less is drawn by itself
REACH = 1.96  # standard errors
LARGEST_PLAIN, SMALLEST_PLAIN = 1e7, 1e-4
STEPS = (1.0, 2.0, 2.5, 5.0)
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000)
DAYS = (1, 2, 7, 14)


@dataclass(frozen=True)
class Tick:
    """A place on an axis and what stands there."""

    value: float
    words: str


@dataclass(frozen=True)
class Axis:
    """A stretch of a column from `low` to `high`: numbers, dates (in days since 1970-01-01) or shares (from 0 to 1)."""

    name: str
    low: float
    high: float
    kind: str = "number"
    whole: bool = True  # whether the stretch is that of the bounds

    def at(self, value: float) -> float:
        """Return where a value stands, from 0 to 1; what lies outside stands at the end."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return min(max(share, 0.0), 1.0)

    def ticks(self, most: int = MOST_TICKS) -> list[Tick]:
        """Return round values, at most so many."""
        if self.high <= self.low:
            return []
        if self.kind == "date":
            return self._dates(most)
        step = _step(self.high - self.low, most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        values = [index * step for index in range(first, last + 1)]
        if self.kind == "share":
            return [Tick(value, f"{100 * value:g} %") for value in values]
        return [Tick(value, _words(value, step)) for value in values]

    def _dates(self, most: int) -> list[Tick]:
        """Return first days of years or months, or single days."""
        first, last = (_day(end) for end in (self.low, self.high))
        for months in MONTHS:
            if (self.high - self.low) / (30.4 * months) <= most:
                found = _months(first, last, months)
                break
        if len(found) >= FEWEST_TICKS:
            return found
        days = next((step for step in DAYS if (self.high - self.low) / step <= most), DAYS[-1])
        start = math.ceil(self.low / days) * days
        return [Tick(float(day), str(_day(day))) for day in range(start, math.floor(self.high) + 1, days)]


def axis_for(
    name: str, values: Sequence[float], errors: Sequence[float], *, low: float, high: float, kind: str = "number"
) -> Axis:
    """Return the axis of a column: its bounds, or the part of them that holds all values, where that is much less."""
    first = min(value - REACH * error for value, error in zip(values, errors, strict=True))
    last = max(value + REACH * error for value, error in zip(values, errors, strict=True))
    extra = MARGIN * (last - first)
    first, last = max(first - extra, low), min(last + extra, high)
    if len(values) < 2 or not NARROW * (high - low) > last - first > 1e-9 * max(abs(first), abs(last), high - low):
        return Axis(name, low, high, kind)
    return Axis(name, first, last, kind, whole=False)


def _step(span: float, most: int) -> float:
    """Return the smallest round step of which at most `most` fit into a span."""
    power = 10.0 ** math.floor(math.log10(span / most))
    steps = (step * scale * power for scale in (1.0, 10.0, 100.0) for step in STEPS)
    return next(step for step in steps if span / step <= most - 1 + 1e-9)


def _words(value: float, step: float) -> str:
    largest = max(abs(value), step)
    if largest >= LARGEST_PLAIN or step < SMALLEST_PLAIN:
        return "0" if value == 0 else f"{value:.{max(1, math.ceil(math.log10(largest / step)) + 1)}g}"
    text = f"{value:,.{max(0, -math.floor(math.log10(step) + 1e-9)) + (f'{step:e}'.startswith('2.5') and step < 10)}f}"
    return text.lstrip("-") if not text.strip("-0.,") else text


def _day(days: float) -> date:
    return date.fromordinal(min(max(round(days) + EPOCH, 1), date.max.toordinal()))


def _months(first: date, last: date, step: int) -> list[Tick]:
    """Return the first days of every `step` months between two days."""
    index = -(-(12 * first.year + first.month - 1) // step) * step
    found = []
    while index // 12 <= min(last.year, date.max.year):
        day = date(max(index // 12, 1), index % 12 + 1, 1)
        if first <= day <= last:
            found.append(Tick(float(day.toordinal() - EPOCH), str(day.year) if step % 12 == 0 else f"{day:%Y-%m}"))
        index += step
    return found
