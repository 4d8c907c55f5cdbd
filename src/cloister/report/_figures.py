# SPDX-License-Identifier: Apache-2.0
"""The report's pictures as inline SVG, made of published numbers. Colours come from the page's style sheet.

Marks differ in shape, size and position as well as in colour, so every picture can be read in grey. All text that comes from
outside passes ``html.escape``.
"""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from cloister.report._format import chance_text, number, plain_text

__all__ = [
    "MAP_WIDTH",
    "WHISKER",
    "Chart",
    "Point",
    "count_bar",
    "count_chart",
    "fit_map",
    "guess_meter",
    "line_chart",
    "step_panels",
    "strip",
]

Point = tuple[float, float]

WHISKER = 1.96  # standard errors: about 95 %
MAP_WIDTH = 520.0
MAP_TALLEST = 0.8  # height over width
PANEL, PANEL_FLATTEST, PANEL_MARGINS = 200.0, 48.0, 16.0
CHART_WIDTH, CHART_HEIGHT, CHART_TITLE = 460.0, 150.0, 18.0


def strip(value: float, error: float, *, low: float, high: float, others: Sequence[float] = ()) -> str:
    """Draw one coordinate of one centre across its bounds: a dot, a whisker, and light ticks where other centres are."""
    ticks = "".join(f'<path class="other" d="M0 4v8" transform="translate({_at(one, low, high)} 0)"/>' for one in others)
    reach = WHISKER * error
    left, middle, right = (_at(one, low, high) for one in (value - reach, value, value + reach))
    return (
        '<svg class="strip" viewBox="0 0 120 16" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="rule" d="M0 8H120M0 5v6M120 5v6"/>{ticks}'
        f'<path class="whisker" d="M{left} 8H{right}"/><path class="dot" d="M{middle} 8h0"/></svg>'
    )


def count_bar(value: float, error: float, *, low: float, high: float) -> str:
    """Draw one noisy count as a bar from zero, with a whisker."""
    reach = WHISKER * error
    zero, end, left, right = (_at(one, low, high) for one in (0.0, value, value - reach, value + reach))
    return (
        '<svg class="strip" viewBox="0 0 120 16" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="bar" d="M{zero} 8H{end}"/><path class="whisker" d="M{left} 8H{right}"/>'
        f'<path class="rule" d="M{zero} 2v12"/></svg>'
    )


def step_panels(panels: Sequence[dict[str, Any]]) -> list[str]:
    """Draw steps side by side at one scale: discs for the points they asked about, crosses for the centres chosen."""
    everything = [point for panel in panels for name in ("candidates", "centers") for point in _points(panel, name)]
    if not everything:
        return []
    place, height = _fit_panel(everything)
    return [_panel(panel, place, height) for panel in panels]


def count_chart(totals: Sequence[float], kept: Sequence[float], label: str) -> str:
    """Draw a bar per step, its dark part for what was kept."""
    chart = Chart(len(totals), max(totals, default=0.0))
    bars = "".join(
        f'<path class="pale" d="{chart.bar(index, total)}"/><path class="full" d="{chart.bar(index, part)}"/>'
        for index, (total, part) in enumerate(zip(totals, kept, strict=True))
    )
    return chart.svg(bars, label)


def line_chart(values: Sequence[float], label: str) -> str:
    """Draw a number from step to step."""
    chart = Chart(len(values), max(values, default=0.0))
    places = [(chart.x(index), chart.y(value)) for index, value in enumerate(values)]
    line = "".join(f"{'L' if index else 'M'}{x:.1f} {y:.1f}" for index, (x, y) in enumerate(places))
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places)
    return chart.svg(f'<path class="line" d="{line}"/><path class="dots" d="{dots}"/>', label)


def guess_meter(chance: float) -> str:
    """Draw how far a guess can rise above the toss of a coin."""
    x = 10 + 440 * min(max(2 * chance - 1, 0.0), 1.0)
    anchor = "start" if x < 60 else "end" if x > 400 else "middle"
    return (
        '<svg class="meter" viewBox="0 0 460 58" role="img" aria-label="Chance of a right guess">'
        '<path class="track" d="M10 30H450"/>'
        f'<path class="reach" d="M10 30H{x:.1f}"/><path class="pin" d="M{x:.1f} 21v18"/>'
        f'<text class="value" x="{min(max(x, 10), 450):.1f}" y="15" text-anchor="{anchor}">{chance_text(chance)}</text>'
        '<text class="axis" x="10" y="54">50 %: a coin</text>'
        '<text class="axis" x="450" y="54" text-anchor="end">100 %: certainty</text></svg>'
    )


# -- scales -------------------------------------------------------------------------------------------------------------


def _at(value: float, low: float, high: float) -> str:
    """Place a value on a strip of 120 units; what lies outside is drawn at the end."""
    share = (value - low) / (high - low) if high > low else 0.5
    return f"{3 + 114 * min(max(share, 0.0), 1.0):.1f}"


class _Place:
    """Maps a plane to a picture, with y upward and one scale for both axes."""

    def __init__(self, middle: Point, scale: float, target: Point) -> None:
        self._middle, self.scale, self._target = middle, scale, target

    def __call__(self, point: Point) -> Point:
        return (
            self._target[0] + (point[0] - self._middle[0]) * self.scale,
            self._target[1] - (point[1] - self._middle[1]) * self.scale,
        )


def fit_map(points: Sequence[Point], margin: float) -> tuple[_Place, float]:
    """Return the map of a plane to a picture of full width that holds all points, and the picture's height."""
    left, right, bottom, top = _extent(points)
    scale = (MAP_WIDTH - 2 * margin) / max(right - left, (top - bottom) / MAP_TALLEST, 1e-9)
    if right - left < 1e-9 and top - bottom < 1e-9:
        scale = 1.0
    height = max((top - bottom) * scale + 2 * margin, 170.0)
    return _Place(((left + right) / 2, (bottom + top) / 2), scale, (MAP_WIDTH / 2, height / 2)), height


def _fit_panel(points: Sequence[Point]) -> tuple[_Place, float]:
    """Return the map of a plane to a panel that holds all points, and the panel's height: flat where the points are."""
    left, right, bottom, top = _extent(points)
    scale = (PANEL - PANEL_MARGINS) / max(right - left, top - bottom, 1e-9)
    height = max((top - bottom) * scale + PANEL_MARGINS, PANEL_FLATTEST)
    return _Place(((left + right) / 2, (bottom + top) / 2), scale, (PANEL / 2, height / 2)), height


def _extent(points: Sequence[Point]) -> tuple[float, float, float, float]:
    xs, ys = [point[0] for point in points], [point[1] for point in points]
    return min(xs), max(xs), min(ys), max(ys)


def _points(panel: dict[str, Any], name: str) -> list[Point]:
    return [(x, y) for x, y in panel[name]]


class Chart:
    """A small chart with steps, or whatever the names say, along the bottom; logarithmic if it has a lowest value."""

    def __init__(
        self, n_steps: int, largest: float, *, names: Sequence[str] = (), lowest: float = 0.0, across: str = ""
    ) -> None:
        self._n = max(n_steps, 1)
        self._names = names or [str(index + 1) for index in range(self._n)]
        self._floor, self._top = lowest, largest if lowest else _nice(largest)
        self._height = CHART_HEIGHT * (1.6 if lowest else 1.0)
        self._left, self._right, self._low, self._high = 52.0, CHART_WIDTH - 6, self._height - 30, 12.0
        self._across, self._height = across, self._height + (CHART_TITLE if across else 0.0)

    @property
    def top(self) -> float:
        """Where the part between the axes begins."""
        return self._high

    @property
    def bottom(self) -> float:
        """Where it ends."""
        return self._low

    def x(self, index: int) -> float:
        """Return where a step stands."""
        return self._left + (index + 0.5) * (self._right - self._left) / self._n

    def y(self, value: float) -> float:
        """Return where a value stands; what lies outside is drawn at the end."""
        if self._floor:
            share = math.log(max(value, self._floor) / self._floor) / math.log(self._top / self._floor)
        else:
            share = value / self._top
        return self._low - (self._low - self._high) * min(max(share, 0.0), 1.0)

    def bar(self, index: int, value: float) -> str:
        """Return the outline of a bar."""
        half = 0.36 * (self._right - self._left) / self._n
        return f"M{self.x(index) - half:.1f} {self._low:.1f}V{self.y(value):.1f}h{2 * half:.1f}V{self._low:.1f}z"

    def svg(self, marks: str, label: str) -> str:
        """Return the picture: grid lines, marks, and both axes."""
        levels = _decades(self._floor, self._top) if self._floor else [0.0, self._top / 2, self._top]
        grid = "".join(f"M{self._left:g} {self.y(level):.1f}H{self._right:g}" for level in levels)
        ticks = "".join(
            f'<text class="axis" x="{self._left - 6:g}" y="{self.y(level) + 4:.1f}" text-anchor="end">{number(level)}</text>'
            for level in levels
        )
        step = max(1, math.ceil(self._n / (12 if self._floor else 10)))
        names = "".join(
            f'<text class="axis" x="{self.x(index):.1f}" y="{self._low + 17:.1f}" text-anchor="middle">'
            f"{escape(self._names[index])}</text>"
            for index in range(0, self._n, step)
        )
        title = (
            f'<text class="title" x="{(self._left + self._right) / 2:.1f}" y="{self._height - 5:g}" text-anchor="middle">'
            f"{escape(self._across)}</text>"
        )
        return (
            f'<svg class="chart" viewBox="0 0 {CHART_WIDTH:g} {self._height:g}" role="img" aria-label="{escape(label)}">'
            f'<path class="rule" d="{grid}"/>{marks}{ticks}{names}{title if self._across else ""}</svg>'
        )


def _decades(low: float, high: float) -> list[float]:
    """Return round numbers between two positive ones, at most about six."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        levels = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
        if len(levels) <= 6:
            break
    return levels


def _nice(value: float) -> float:
    """Return a round number of at least `value`."""
    if not (value > 0 and math.isfinite(value)):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 5, 6, 8, 10, 20) if step * power >= value)


# -- marks --------------------------------------------------------------------------------------------------------------


def _panel(panel: dict[str, Any], place: _Place, height: float) -> str:
    candidates, centers, votes = _points(panel, "candidates"), _points(panel, "centers"), panel["votes"]
    largest = max([*votes, 1.0])
    silent, voted = [], []
    for index, point in enumerate(candidates):
        x, y = place(point)
        vote = votes[index] if index < len(votes) else 0.0
        if vote > 0:
            voted.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{1 + 4.5 * math.sqrt(vote / largest):.1f}"/>')
        else:
            silent.append(f"M{x:.1f} {y:.1f}h0")
    crosses = "".join(f"M{x - 4:.1f} {y:.1f}h8M{x:.1f} {y - 4:.1f}v8" for x, y in map(place, centers))
    return (
        f'<svg class="panel" viewBox="0 0 {PANEL:g} {height:.0f}" role="img" aria-label="{escape(plain_text(panel["name"]))}">'
        f'<path class="silent" d="{"".join(silent)}"/><g class="voted">{"".join(voted)}</g>'
        f'<path class="cross" d="{crosses}"/></svg>'
    )
