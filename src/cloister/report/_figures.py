# SPDX-License-Identifier: Apache-2.0
"""The report's small pictures as inline SVG, made of published numbers. Colours come from the page's style sheet.

Marks differ in shape, size and position as well as in colour, so every picture can be read in grey. All text that comes from
outside passes ``html.escape``.
"""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from cloister.report._axes import WHISKER, Plot, plot_plane
from cloister.text import chance_text, number, plain_text

__all__ = ["Chart", "count_bar", "count_chart", "guess_meter", "line_chart", "step_panels", "strip"]

PANEL, PANEL_MARGIN, PANEL_FLATTEST = 200.0, 8.0, 48.0
CHART_WIDTH, CHART_HEIGHT, CHART_TITLE = 460.0, 150.0, 18.0


def strip(value: float, error: float, *, low: float, high: float, others: Sequence[float] = ()) -> str:
    """Draw one coordinate of one centre across its bounds: a dot, a whisker, and light ticks where other centres are."""
    ticks = "".join(f'<path class="other" d="M0 4v8" transform="translate({_at(one, low, high)} 0)"/>' for one in others)
    return _strip(
        f'<path class="rule" d="M0 8H120M0 5v6M120 5v6"/>{ticks}{_whisker(value, error, low, high)}'
        f'<path class="dot" d="M{_at(value, low, high)} 8h0"/>'
    )


def count_bar(value: float, error: float, *, low: float, high: float) -> str:
    """Draw one noisy count as a bar from zero, with a whisker."""
    zero, end = _at(0.0, low, high), _at(value, low, high)
    whisker = _whisker(value, error, low, high)
    return _strip(f'<path class="bar" d="M{zero} 8H{end}"/>{whisker}<path class="rule" d="M{zero} 2v12"/>')


def _strip(marks: str) -> str:
    return f'<svg class="strip" viewBox="0 0 120 16" preserveAspectRatio="none" aria-hidden="true">{marks}</svg>'


def _whisker(value: float, error: float, low: float, high: float) -> str:
    left, right = (_at(value + side * WHISKER * error, low, high) for side in (-1, 1))
    return f'<path class="whisker" d="M{left} 8H{right}"/>'


def _at(value: float, low: float, high: float) -> str:
    """Place a value on a strip of 120 units; what lies outside is drawn at the end."""
    share = (value - low) / (high - low) if high > low else 0.5
    return f"{3 + 114 * min(max(share, 0.0), 1.0):.1f}"


def step_panels(panels: Sequence[dict[str, Any]]) -> list[str]:
    """Draw steps side by side at one scale: discs for the points they asked about, crosses for the centres chosen."""
    everything = [(x, y) for panel in panels for name in ("candidates", "centers") for x, y in panel[name]]
    if not everything:
        return []
    plot = plot_plane(everything, PANEL_MARGIN, width=PANEL, tallest=1.0, flattest=PANEL_FLATTEST)
    return [_panel(panel, plot) for panel in panels]


def _panel(panel: dict[str, Any], plot: Plot) -> str:
    votes = panel["votes"]
    largest = max([*votes, 1.0])
    silent, voted = [], []
    for index, point in enumerate(panel["candidates"]):
        x, y = plot.place(point)
        vote = votes[index] if index < len(votes) else 0.0
        if vote > 0:
            voted.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{1 + 4.5 * math.sqrt(vote / largest):.1f}"/>')
        else:
            silent.append(f"M{x:.1f} {y:.1f}h0")
    crosses = "".join(f"M{x - 4:.1f} {y:.1f}h8M{x:.1f} {y - 4:.1f}v8" for x, y in map(plot.place, panel["centers"]))
    label = escape(plain_text(panel["name"]))
    return (
        f'<svg class="panel" viewBox="0 0 {PANEL:g} {plot.height:.0f}" role="img" aria-label="{label}">'
        f'<path class="silent" d="{"".join(silent)}"/><g class="voted">{"".join(voted)}</g>'
        f'<path class="cross" d="{crosses}"/></svg>'
    )


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


class Chart:
    """A small chart with steps, or whatever the names say, along the bottom; logarithmic if it has a lowest value."""

    def __init__(
        self, n_steps: int, largest: float, *, names: Sequence[str] = (), lowest: float = 0.0, across: str = ""
    ) -> None:
        self._n = max(n_steps, 1)
        self._names = names or [str(index + 1) for index in range(self._n)]
        self._floor, self._largest = lowest, largest if lowest else _nice(largest)
        self._height = CHART_HEIGHT * (1.6 if lowest else 1.0)
        self._left, self._right, self.bottom, self.top = 52.0, CHART_WIDTH - 6, self._height - 30, 12.0
        self._across, self._height = across, self._height + (CHART_TITLE if across else 0.0)

    def x(self, index: int) -> float:
        """Return where a step stands."""
        return self._left + (index + 0.5) * (self._right - self._left) / self._n

    def y(self, value: float) -> float:
        """Return where a value stands; what lies outside is drawn at the end."""
        if self._floor:
            share = math.log(max(value, self._floor) / self._floor) / math.log(self._largest / self._floor)
        else:
            share = value / self._largest
        return self.bottom - (self.bottom - self.top) * min(max(share, 0.0), 1.0)

    def bar(self, index: int, value: float) -> str:
        """Return the outline of a bar."""
        half = 0.36 * (self._right - self._left) / self._n
        return f"M{self.x(index) - half:.1f} {self.bottom:.1f}V{self.y(value):.1f}h{2 * half:.1f}V{self.bottom:.1f}z"

    def svg(self, marks: str, label: str) -> str:
        """Return the picture: grid lines, marks, and both axes."""
        levels = _decades(self._floor, self._largest) if self._floor else [0.0, self._largest / 2, self._largest]
        grid = "".join(f"M{self._left:g} {self.y(level):.1f}H{self._right:g}" for level in levels)
        ticks = "".join(
            f'<text class="axis" x="{self._left - 6:g}" y="{self.y(level) + 4:.1f}" text-anchor="end">{number(level)}</text>'
            for level in levels
        )
        step = max(1, math.ceil(self._n / (12 if self._floor else 10)))
        names = "".join(
            f'<text class="axis" x="{self.x(index):.1f}" y="{self.bottom + 17:.1f}" text-anchor="middle">'
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
