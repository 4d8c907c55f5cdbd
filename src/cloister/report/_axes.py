# SPDX-License-Identifier: Apache-2.0
"""Axes of the pictures: a stretch of a column with round numbers, dates or shares along it, and two of them as a plot."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from html import escape

from cloister.report._badges import Frame, Point

__all__ = ["MAP_WIDTH", "WHISKER", "Axis", "Plot", "Tick", "axis_for", "plot_columns", "plot_plane"]

EPOCH = date(1970, 1, 1).toordinal()
WHISKER = 1.96  # standard errors: about 95 %
FEWEST_TICKS = 3
MOST_TICKS = 7
MARGIN = 0.08  # of the stretch that holds all values, to each side
NARROW = 0.5  # part of the bounds: a stretch of less is drawn by itself
LARGEST_PLAIN, SMALLEST_PLAIN = 1e7, 1e-4
STEPS = (1.0, 2.0, 2.5, 5.0)
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000)
DAYS = (1, 2, 7, 14)
MAP_WIDTH = 520.0
LETTER = 8.2  # width of a digit beside an axis, as large as a phone shows it
TOP, RIGHT, BOTTOM, TURNED = 12.0, 18.0, 50.0, 32.0  # margins; the last is for the name that is turned upward
LONGEST_NAME = 48
INSET = 4.0  # of a plane's marks


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
        span = self.high - self.low
        power = 10.0 ** math.floor(math.log10(span / most))
        steps = (one * scale * power for scale in (1.0, 10.0, 100.0) for one in STEPS)
        step = next(one for one in steps if span / one <= most - 1 + 1e-9)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        values = [index * step for index in range(first, last + 1)]
        return [Tick(value, f"{100 * value:g} %" if self.kind == "share" else _words(value, step)) for value in values]

    def _dates(self, most: int) -> list[Tick]:
        """Return first days of years or months, or single days."""
        first, last = (_day(end) for end in (self.low, self.high))
        step = next((months for months in MONTHS if (self.high - self.low) / (30.4 * months) <= most), MONTHS[-1])
        found = []
        for index in range(-(-(12 * first.year + first.month - 1) // step) * step, 12 * (last.year + 1), step):
            day = date(max(index // 12, 1), index % 12 + 1, 1)
            if first <= day <= last:
                found.append(Tick(float(day.toordinal() - EPOCH), str(day.year) if step % 12 == 0 else f"{day:%Y-%m}"))
        if len(found) >= FEWEST_TICKS:
            return found
        days = next((step for step in DAYS if (self.high - self.low) / step <= most), DAYS[-1])
        start = math.ceil(self.low / days) * days
        return [Tick(float(day), str(_day(day))) for day in range(start, math.floor(self.high) + 1, days)]


def axis_for(
    name: str, values: Sequence[float], errors: Sequence[float], *, low: float, high: float, kind: str = "number"
) -> Axis:
    """Return the axis of a column: its bounds, or the part of them that holds all values, where that is much less."""
    first = min(value - WHISKER * error for value, error in zip(values, errors, strict=True))
    last = max(value + WHISKER * error for value, error in zip(values, errors, strict=True))
    extra = MARGIN * (last - first)
    first, last = max(first - extra, low), min(last + extra, high)
    if len(values) < 2 or not NARROW * (high - low) > last - first > 1e-9 * max(abs(first), abs(last), high - low):
        return Axis(name, low, high, kind)
    return Axis(name, first, last, kind, whole=False)


def _words(value: float, step: float) -> str:
    largest = max(abs(value), step)
    if largest >= LARGEST_PLAIN or step < SMALLEST_PLAIN:
        return "0" if value == 0 else f"{value:.{max(1, math.ceil(math.log10(largest / step)) + 1)}g}"
    text = f"{value:,.{max(0, -math.floor(math.log10(step) + 1e-9)) + (f'{step:e}'.startswith('2.5') and step < 10)}f}"
    return text.lstrip("-") if not text.strip("-0.,") else text


def _day(days: float) -> date:
    return date.fromordinal(min(max(round(days) + EPOCH, 1), date.max.toordinal()))


@dataclass(frozen=True)
class Plot:
    """Two axes, drawn, and the part of a picture between them."""

    across: Axis
    up: Axis
    frame: Frame
    height: float
    axes: str = ""

    def place(self, point: Point) -> Point:
        """Return where a point stands."""
        frame, (x, y) = self.frame, point
        return (
            frame.left + (frame.right - frame.left) * self.across.at(x),
            frame.bottom - (frame.bottom - frame.top) * self.up.at(y),
        )

    def reach(self, spread: Point) -> Point:
        """Return how long two stretches, along the bottom and along the left side, are drawn."""
        frame, (wide, tall) = self.frame, spread
        return (
            (frame.right - frame.left) * min(wide / max(self.across.high - self.across.low, 1e-300), 1.0),
            (frame.bottom - frame.top) * min(tall / max(self.up.high - self.up.low, 1e-300), 1.0),
        )

    def svg(self, marks: str, label: str) -> str:
        """Return the picture with these marks between the axes."""
        return (
            f'<svg class="map" viewBox="0 0 {MAP_WIDTH:g} {self.height:.0f}" role="img" aria-label="{escape(label)}">'
            f"{self.axes}{marks}</svg>"
        )


def plot_columns(across: Axis, up: Axis, height: float, *, n_up: int = MOST_TICKS) -> Plot:
    """Return a plot of two columns: frame, grid lines, at most `n_up` ticks along the left side, and names."""
    marks_up = up.ticks(n_up)
    left = TURNED + LETTER * max((len(tick.words) for tick in marks_up), default=1)
    frame = Frame(left, TOP, MAP_WIDTH - RIGHT, height - BOTTOM)
    plot = Plot(across, up, frame, height)
    widest = LETTER * max((len(tick.words) for tick in across.ticks()), default=1) + 10
    marks_across = across.ticks(max(2, min(MOST_TICKS, int((frame.right - left) / widest))))
    right = [(plot.place((tick.value, up.low))[0], escape(tick.words)) for tick in marks_across]
    upward = [(plot.place((across.low, tick.value))[1], escape(tick.words)) for tick in marks_up]
    grid = "".join(f"M{x:.1f} {frame.top:g}V{frame.bottom:.1f}" for x, _ in right)
    grid += "".join(f"M{frame.left:.1f} {y:.1f}H{frame.right:g}" for y, _ in upward)
    words = [f'x="{x:.1f}" y="{frame.bottom + 18:.1f}" text-anchor="middle">{text}' for x, text in right]
    words += [f'x="{frame.left - 7:.1f}" y="{y:.1f}" dy="0.35em" text-anchor="end">{text}' for y, text in upward]
    middle, center = (frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2
    places = (f'x="{middle:.1f}" y="{height - 10:.1f}"', f'transform="translate(16 {center:.1f}) rotate(-90)"')
    names = "".join(
        f'<text class="title" {place} text-anchor="middle">{escape(_short(axis.name))}</text>'
        for place, axis in zip(places, (across, up), strict=True)
    )
    spine = f"M{frame.left:.1f} {frame.top:g}V{frame.bottom:.1f}H{frame.right:g}"
    texts = "".join(f'<text class="axis" {one}</text>' for one in words)
    return Plot(across, up, frame, height, f'<path class="grid" d="{grid}"/><path class="spine" d="{spine}"/>{texts}{names}')


def plot_plane(
    points: Sequence[Point], margin: float, *, width: float = MAP_WIDTH, tallest: float = 0.8, flattest: float = 170.0
) -> Plot:
    """Return a plot of a plane that holds all points, at one scale along both axes: as flat as they are.

    `tallest` is its height over its width, at most; `flattest` its height, at least.
    """
    xs, ys = [x for x, _ in points], [y for _, y in points]
    wide, tall = max(xs) - min(xs), max(ys) - min(ys)
    scale = 1.0 if max(wide, tall) < 1e-9 else (width - 2 * margin) / max(wide, tall / tallest)
    height = max(tall * scale + 2 * margin, flattest)
    middle, half = ((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2), (width / 2 - INSET, height / 2 - INSET)
    across, up = (
        Axis(f"axis {index}", center - reach / scale, center + reach / scale)
        for index, center, reach in zip((1, 2), middle, half, strict=True)
    )
    plot = Plot(across, up, Frame(INSET, INSET, width - INSET, height - INSET), height)
    x, y = plot.place((0.0, 0.0))
    axes = (
        f'<path class="rule" d="M8 {y:.1f}H{width - 8:g}M{x:.1f} 8V{height - 8:.1f}"/>'
        f'<text class="axis" x="{width - 8:g}" y="{y - 5:.1f}" text-anchor="end">{across.name}</text>'
        f'<text class="axis" x="{x + 5:.1f}" y="18">{up.name}</text>'
    )
    return Plot(across, up, plot.frame, height, axes)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1].rstrip() + "\u2026"
