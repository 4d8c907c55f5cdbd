# SPDX-License-Identifier: Apache-2.0
"""The report's small pictures as inline SVG, made of published numbers. Colours come from the page's style sheet.

Marks differ in shape, size and position as well as in colour, so every picture can be read in grey. All text that comes from
outside passes ``html.escape``.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cloister.columns import FloatArray
from cloister.report._pages import Picture
from cloister.report._plot import WHISKER, Axis, Plot, Point, plot_columns, plot_plane
from cloister.text import chance_text

STRIP, STRIP_EDGE = 120.0, 3.0  # width of a picture in a cell, and how far from its sides the ends of an axis stand
HISTOGRAM, GAP = 36.0, 0.6  # height; between bars
PANEL, PANEL_MARGIN, PANEL_FLATTEST = 200.0, 8.0, 48.0
CHART_WIDTH, CHART_HEIGHT, CURVE_HEIGHT = 460.0, 150.0, 260.0
HALF_BAR = 0.36  # of the distance between two bars
ROOM = 1.05  # above the largest value of a chart


# -- in cells of tables ------------------------------------------------------------------------------------------------------


def strip(value: float, error: float, *, low: float, high: float, others: Sequence[float] = ()) -> Picture:
    """Draw a value across its bounds: a dot, a whisker, and light ticks where other values are."""
    at = _along(low, high)
    return _small(
        f'<path class="rule" d="M0 8H120M0 5v6M120 5v6"/>{_ticks(at, others)}{_whisker(at, value, error)}'
        f'<path class="dot" d="M{at(value)} 8h0"/>'
    )


def bar(value: float, error: float = 0.0, *, low: float = 0.0, high: float = 1.0, others: Sequence[float] = ()) -> Picture:
    """Draw a count or a share as a bar from zero, with a whisker, and light ticks where other values are."""
    at = _along(low, high)
    zero = at(0.0)
    body = f'<path class="bar" d="M{zero} 8H{at(value)}"/>{_ticks(at, others)}{_whisker(at, value, error)}'
    return _small(f'{body}<path class="rule" d="M{zero} 2v12"/>')


def histogram(shares: FloatArray, whole: FloatArray, edges: FloatArray) -> Picture:
    """Draw the density of a cluster as bars, and that of all rows as an outline, to one scale.

    Bins may be of any width: `edges` say where they stand, from 0 to 1; what lies outside is not drawn.
    """
    widths, at = np.diff(edges), STRIP * np.clip(edges, 0.0, 1.0)
    drawn = np.diff(at) > 0
    bars, outline = (part / widths if len(part) else part for part in (shares, whole))
    tallest = max([*bars[drawn], *(outline[drawn] if len(outline) else []), 1e-9])

    def y(density: float) -> str:
        return f"{HISTOGRAM - (HISTOGRAM - 2) * density / tallest:.1f}"

    def x(length: float) -> str:
        return f"{max(length, 0.1):.1f}"

    foot, places = f"{HISTOGRAM:g}", np.flatnonzero(drawn)
    d = "".join(
        f"M{at[one]:.1f} {foot}V{y(bars[one])}h{x(at[one + 1] - at[one] - GAP)}V{foot}z" for one in places if shares[one] > 0
    )
    line = "".join(f"V{y(outline[one])}H{at[one + 1]:.1f}" for one in places) if len(outline) else ""
    edge = f'<path class="outline" d="M0 {foot}{line}V{foot}"/>' if line else ""
    rule = f'<path class="rule" d="M0 {foot}H{STRIP:g}"/>'
    return _small(f'<path class="bars" d="{d}"/>{edge}{rule}', "histogram", HISTOGRAM)


def _small(marks: str, kind: str = "strip", height: float = 16.0) -> Picture:
    box = f'viewBox="0 0 {STRIP:g} {height:g}" preserveAspectRatio="none" aria-hidden="true"'
    return Picture(f'<svg class="{kind}" {box}>{marks}</svg>')


def _along(low: float, high: float) -> Any:
    """Return where values stand on a strip; what lies outside is drawn at the end."""
    axis = Axis("", low, high)
    return lambda value: f"{STRIP_EDGE + (STRIP - 2 * STRIP_EDGE) * axis.at(value):.1f}"


def _ticks(at: Any, values: Sequence[float]) -> str:
    return "".join(f'<path class="other" d="M{at(one)} 4v8"/>' for one in values)


def _whisker(at: Any, value: float, error: float) -> str:
    return f'<path class="whisker" d="M{at(value - WHISKER * error)} 8H{at(value + WHISKER * error)}"/>' if error else ""


# -- steps of a fit ----------------------------------------------------------------------------------------------------------


def step_panels(panels: Sequence[dict[str, Any]]) -> list[str]:
    """Draw steps side by side at one scale: discs for the points they asked about, crosses for the centres chosen."""
    everything = [(x, y) for panel in panels for name in ("candidates", "centers") for x, y in panel[name]]
    if not everything:
        return []
    plot = plot_plane(everything, PANEL_MARGIN, width=PANEL, tallest=1.0, flattest=PANEL_FLATTEST)
    return [_panel(panel, replace(plot, axes="")) for panel in panels]


def _panel(panel: dict[str, Any], plot: Plot) -> str:
    voted, silent, largest = "", [], max([*panel["votes"], 1.0])
    for point, vote in zip(panel["candidates"], panel["votes"], strict=True):
        if vote > 0:
            x, y = plot.place(point)
            voted += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{1 + 4.5 * math.sqrt(vote / largest):.1f}"/>'
        else:
            silent.append(point)
    crosses = "".join(f"M{x - 4:.1f} {y:.1f}h8M{x:.1f} {y - 4:.1f}v8" for x, y in map(plot.place, panel["centers"]))
    marks = f'<path class="silent" d="{plot.dots(silent)}"/><g class="voted">{voted}</g><path class="cross" d="{crosses}"/>'
    return plot.svg(marks, panel["name"], "panel")


def count_chart(totals: Sequence[float], kept: Sequence[float], label: str) -> Picture:
    """Draw a bar per step, its dark part for what was kept; the caption says so where that is not all."""
    plot, marks = _step_plot(totals), ""
    for kind, values in (("pale", totals), ("full", kept)):
        bars = "".join(plot.box((n - HALF_BAR, 0.0), (n + HALF_BAR, value)) for n, value in enumerate(values, start=1))
        marks += f'<path class="{kind}" d="{bars}"/>'
    return Picture(plot.svg(marks, label, "chart"), label, "The dark part was kept." if totals != kept else "")


def line_chart(values: Sequence[float], label: str) -> Picture:
    """Draw a number from step to step."""
    plot, points = _step_plot(values), list(enumerate(values, start=1))
    marks = f'<path class="line" d="{plot.line(points)}"/><path class="dots" d="{plot.dots(points)}"/>'
    return Picture(plot.svg(marks, label, "chart"), label)


def _step_plot(values: Sequence[float]) -> Plot:
    across = Axis("", 0.5, len(values) + 0.5, "steps", most=12)
    return plot_columns(across, Axis("", 0.0, ROOM * max(values) or 1.0, most=4), CHART_HEIGHT, width=CHART_WIDTH)


# -- charts ------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Curve:
    """The losses of all numbers of clusters, and where each number stands in the picture."""

    picture: Picture
    places: Mapping[int, float]


def curve_of(choice: dict[str, Any], *, at: int | None = None) -> Curve:
    """Draw the loss, the held-out loss with its errors, and that of rows without clusters, for each number of clusters.

    A line marks the number `at`, where a page has such a line.
    """
    numbers, best, good = choice["n_clusters"], choice["best"], choice["as_good"]
    values = [value for name in ("loss", "held_out", "even") for value in choice[name] if value > 0]
    across = Axis("number of clusters", min(numbers) - 0.5, max(numbers) + 0.5, "steps", most=12)
    up = Axis("", min(values, default=1.0) / 1.4, max(values, default=1.0) * 1.4, scale="log")
    plot = plot_columns(across, up, CURVE_HEIGHT, width=CHART_WIDTH)
    loss, held_out, even = (list(zip(numbers, choice[name], strict=True)) for name in ("loss", "held_out", "even"))
    errors = [(0.0, error) for error in choice["held_out_error"]]
    places = {count: round(plot.place((count, up.low))[0], 1) for count in numbers}
    marker = ""
    if at is not None:
        hidden = "" if at in places else ' visibility="hidden"'
        frame, shift = plot.frame, f'transform="translate({places.get(at, 0.0):g} 0)"'
        marker = f'<g id="curve-at" {shift}{hidden}><path class="cut" d="M0 {frame.top:g}V{frame.bottom:g}"/></g>'
    marks = _rings(plot, loss, "open", 3.2)
    marks += _rings(plot, [held_out[numbers.index(count)] for count in good if count != best], "ring near", 6.0)
    marks += _rings(plot, [held_out[numbers.index(best)]], "ring", 8.0)
    x, y = plot.place(loss[numbers.index(best)])
    right = across.at(best) > 0.7
    place = f'x="{x - 4:.1f}" y="{y - 13:.1f}" text-anchor="end"' if right else f'x="{x + 4:.1f}" y="{y - 13:.1f}"'
    lines = (
        f'{marker}<path class="even" d="{plot.line(even)}"/><path class="line" d="{plot.line(loss)}"/>'
        f'<path class="whisker" d="{plot.crosses(held_out, errors)}"/><path class="dots" d="{plot.dots(held_out)}"/>'
    )
    name = f'<text class="name" {place}>best: {best}</text>'
    return Curve(Picture(plot.svg(f"{lines}{marks}{name}", "Loss for each number of clusters", "chart")), places)


def _rings(plot: Plot, points: Sequence[Point], kind: str, radius: float) -> str:
    places = map(plot.place, points)
    return "".join(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>' for x, y in places)


def guess_meter(chance: float) -> Picture:
    """Draw how far a guess can rise above the toss of a coin."""
    x = 10 + 440 * min(max(2 * chance - 1, 0.0), 1.0)
    anchor = "start" if x < 60 else "end" if x > 400 else "middle"
    return Picture(
        '<svg class="meter" viewBox="0 0 460 58" role="img" aria-label="Chance of a right guess">'
        '<path class="track" d="M10 30H450"/>'
        f'<path class="reach" d="M10 30H{x:.1f}"/><path class="pin" d="M{x:.1f} 21v18"/>'
        f'<text class="value" x="{min(max(x, 10), 450):.1f}" y="15" text-anchor="{anchor}">{chance_text(chance)}</text>'
        '<text class="axis" x="10" y="54">50 %: a coin</text>'
        '<text class="axis" x="450" y="54" text-anchor="end">100 %: certainty</text></svg>'
    )
