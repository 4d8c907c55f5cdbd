# SPDX-License-Identifier: Apache-2.0
"""What pictures are drawn on: axes with round numbers, dates or shares along them, and circles that do not cover each other.

A circle with words in it stands at its point; where two would cover each other, both step aside. A circle that had to move is
tied to its point by a line, and its point is marked by a dot.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister.columns import FloatArray
from cloister.text import cut_text, number, plain_text

EPOCH = date(1970, 1, 1).toordinal()
WHISKER = 1.96  # standard errors: about 95 %
FEWEST_TICKS = 3
MOST_TICKS = 7
MARGIN = 0.08  # of the stretch that holds all values, to each side
NARROW = 0.5  # part of the bounds: a stretch of less is drawn by itself
LARGEST_PLAIN, SMALLEST_PLAIN = 1e7, 1e-4
STEPS = (1.0, 2.0, 2.5, 5.0)
DECADES = ((1, 2, 5), (1, 3), (1,))  # steps of a logarithmic axis; the first that are few enough
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000)
DAYS = (1, 2, 7, 14)
SCALES = {"": float, "root": math.sqrt, "log": math.log}
MAP_WIDTH = 520.0
LETTER = 8.2  # width of a digit beside an axis, as large as a phone shows it
TOP, RIGHT, BOTTOM, TURNED = 12.0, 18.0, 50.0, 32.0  # margins; the last is for the name that is turned upward
NAMELESS = 22.0  # less, where an axis has no name
LONGEST_NAME = 48
INSET = 4.0  # of a plane's marks
GAP = 2.5  # between circles
DOT = 3.0  # radius of the dot of a point
CLEARANCE = DOT + 2.5  # between a circle and the dots of others
MOVED = 2.0  # a circle farther than this from its point is tied to it
MESH = 2.0  # between the places that circles may step aside to
SHRINK = 0.85

Point = tuple[float, float]
Tick = tuple[float, str]  # a place on an axis and what stands there
Places = npt.NDArray[np.complex128]


# -- axes --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Axis:
    """A stretch from `low` to `high`.

    `unit` says what the numbers are: "days" since 1970-01-01, "share" from 0 to 1, "steps" that are counted, or anything.
    """

    name: str
    low: float
    high: float
    unit: str = ""
    scale: str = ""  # one of SCALES; that of a logarithm begins above zero
    most: int = MOST_TICKS
    whole: bool = True  # whether the stretch is that of the bounds

    def at(self, value: float) -> float:
        """Return where a value stands, from 0 to 1; what lies outside stands at the end."""
        if not self.high > self.low:
            return 0.5
        low, high, inside = map(SCALES[self.scale], (self.low, self.high, min(max(value, self.low), self.high)))
        return (inside - low) / (high - low)

    def ticks(self, most: int | None = None) -> list[Tick]:
        """Return round values, at most so many."""
        most = self.most if most is None else most
        if self.high <= self.low or not most:
            return []
        if self.unit == "days":
            return self._dates(most)
        if self.scale == "log":
            return self._decades()
        span, counted = self.high - self.low, self.unit == "steps"
        power = 10.0 ** math.floor(math.log10(span / most))
        steps = (one * scale * power for scale in (1.0, 10.0, 100.0, 1000.0) for one in STEPS)
        step = next(one for one in steps if span / one <= most - 1 + 1e-9 and (not counted or one.is_integer()))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        values = [index * step for index in range(first, last + 1)]
        return [(value, f"{100 * value:g} %" if self.unit == "share" else _words(value, step)) for value in values]

    def _decades(self) -> list[Tick]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for steps in DECADES:
            levels = [step * 10.0**power for power in powers for step in steps if self.low <= step * 10.0**power <= self.high]
            if len(levels) <= MOST_TICKS - 1:
                break
        return [(level, number(level)) for level in levels]

    def _dates(self, most: int) -> list[Tick]:
        """Return first days of years or months, or single days."""
        first, last = (_day(end) for end in (self.low, self.high))
        step = next((months for months in MONTHS if (self.high - self.low) / (30.4 * months) <= most), MONTHS[-1])
        found = []
        for index in range(-(-(12 * first.year + first.month - 1) // step) * step, 12 * (last.year + 1), step):
            day = date(max(index // 12, 1), index % 12 + 1, 1)
            if first <= day <= last:
                found.append((float(day.toordinal() - EPOCH), str(day.year) if step % 12 == 0 else f"{day:%Y-%m}"))
        if len(found) >= FEWEST_TICKS:
            return found
        days = next((step for step in DAYS if (self.high - self.low) / step <= most), DAYS[-1])
        start = math.ceil(self.low / days) * days
        return [(float(day), str(_day(day))) for day in range(start, math.floor(self.high) + 1, days)]


def axis_for(name: str, values: Sequence[float], errors: Sequence[float], *, low: float, high: float, unit: str = "") -> Axis:
    """Return the axis of a column: its bounds, or the part of them that holds all values, where that is much less."""
    reach = WHISKER * np.array(errors)
    first, last = float(np.min(values - reach)), float(np.max(values + reach))
    extra = MARGIN * (last - first)
    first, last = max(first - extra, low), min(last + extra, high)
    if len(values) < 2 or not NARROW * (high - low) > last - first > 1e-9 * max(abs(first), abs(last), high - low):
        return Axis(name, low, high, unit)
    return Axis(name, first, last, unit, whole=False)


def _words(value: float, step: float) -> str:
    largest = max(abs(value), step)
    if largest >= LARGEST_PLAIN or step < SMALLEST_PLAIN:
        return "0" if value == 0 else f"{value:.{max(1, math.ceil(math.log10(largest / step)) + 1)}g}"
    text = f"{value:,.{max(0, -math.floor(math.log10(step) + 1e-9)) + (f'{step:e}'.startswith('2.5') and step < 10)}f}"
    return text.lstrip("-") if not text.strip("-0.,") else text


def _day(days: float) -> date:
    return date.fromordinal(min(max(round(days) + EPOCH, 1), date.max.toordinal()))


# -- plots ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Frame:
    """The part of a picture that circles stay in."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Plot:
    """Two axes, drawn, and the part of a picture between them."""

    across: Axis
    up: Axis
    frame: Frame
    width: float
    height: float
    axes: str = ""

    def place(self, point: Point) -> Point:
        """Return where a point stands."""
        frame, (x, y) = self.frame, point
        return (
            frame.left + (frame.right - frame.left) * self.across.at(x),
            frame.bottom - (frame.bottom - frame.top) * self.up.at(y),
        )

    def line(self, points: Iterable[Point]) -> str:
        """Return a path from point to point."""
        places = map(self.place, points)
        return "".join(f"{'L' if index else 'M'}{x:.1f} {y:.1f}" for index, (x, y) in enumerate(places))

    def dots(self, points: Iterable[Point]) -> str:
        """Return a path of nothing but points, which a round pen shows as dots."""
        return "".join(f"M{x:.1f} {y:.1f}h0" for x, y in map(self.place, points))

    def box(self, corner: Point, opposite: Point) -> str:
        """Return the outline of a box; of one that begins at the bottom, a bar."""
        (left, bottom), (right, top) = self.place(corner), self.place(opposite)
        return f"M{left:.1f} {bottom:.1f}V{top:.1f}H{right:.1f}V{bottom:.1f}z"

    def crosses(self, points: Sequence[Point], errors: Sequence[Point]) -> str:
        """Return a path with 1.96 standard errors to each side of every point, as far as they are inside."""
        path = ""
        for (x, y), (wide, tall) in zip(points, errors, strict=True):
            left, low = self.place((x - WHISKER * wide, y - WHISKER * tall))
            right, high = self.place((x + WHISKER * wide, y + WHISKER * tall))
            across, up = self.place((x, y))
            path += f"M{left:.1f} {up:.1f}H{right:.1f}M{across:.1f} {high:.1f}V{low:.1f}"
        return path

    def svg(self, marks: str, label: str, kind: str = "map") -> str:
        """Return the picture with these marks between the axes."""
        box, words = f'viewBox="0 0 {self.width:g} {self.height:.0f}"', escape(plain_text(label))
        return f'<svg class="{kind}" {box} role="img" aria-label="{words}">{self.axes}{marks}</svg>'


def plot_columns(across: Axis, up: Axis, height: float, *, width: float = MAP_WIDTH) -> Plot:
    """Return a plot of two columns: frame, grid lines, ticks and names."""
    marks_up = up.ticks()
    left = (TURNED if up.name else TURNED - NAMELESS) + LETTER * max((len(words) for _, words in marks_up), default=1)
    frame = Frame(left, TOP, width - RIGHT, height - (BOTTOM if across.name else BOTTOM - NAMELESS))
    plot = Plot(across, up, frame, width, height)
    widest = LETTER * max((len(words) for _, words in across.ticks()), default=1) + 10
    marks_across = across.ticks(min(across.most, max(2, int((frame.right - left) / widest))))
    right = [(plot.place((value, up.low))[0], escape(words)) for value, words in marks_across]
    upward = [(plot.place((across.low, value))[1], escape(words)) for value, words in marks_up]
    grid = "".join(f"M{x:.1f} {frame.top:g}V{frame.bottom:.1f}" for x, _ in right)
    grid += "".join(f"M{frame.left:.1f} {y:.1f}H{frame.right:g}" for y, _ in upward)
    words = [f'x="{x:.1f}" y="{frame.bottom + 18:.1f}" text-anchor="middle">{text}' for x, text in right]
    words += [f'x="{frame.left - 7:.1f}" y="{y:.1f}" dy="0.35em" text-anchor="end">{text}' for y, text in upward]
    middle, center = (frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2
    places = (f'x="{middle:.1f}" y="{height - 10:.1f}"', f'transform="translate(16 {center:.1f}) rotate(-90)"')
    names = "".join(
        f'<text class="title" {place} text-anchor="middle">{escape(cut_text(axis.name, LONGEST_NAME))}</text>'
        for place, axis in zip(places, (across, up), strict=True)
        if axis.name
    )
    spine = f"M{frame.left:.1f} {frame.top:g}V{frame.bottom:.1f}H{frame.right:g}"
    texts = "".join(f'<text class="axis" {one}</text>' for one in words)
    return replace(plot, axes=f'<path class="grid" d="{grid}"/><path class="spine" d="{spine}"/>{texts}{names}')


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
    plot = Plot(across, up, Frame(INSET, INSET, width - INSET, height - INSET), width, height)
    x, y = plot.place((0.0, 0.0))
    axes = (
        f'<path class="rule" d="M8 {y:.1f}H{width - 8:g}M{x:.1f} 8V{height - 8:.1f}"/>'
        f'<text class="axis" x="{width - 8:g}" y="{y - 5:.1f}" text-anchor="end">{across.name}</text>'
        f'<text class="axis" x="{x + 5:.1f}" y="18">{up.name}</text>'
    )
    return replace(plot, axes=axes)


# -- circles -------------------------------------------------------------------------------------------------------------------


def place_badges(points: Sequence[Point], radii: Sequence[float], frame: Frame) -> list[tuple[Point, float]]:
    """Return centre and radius of a circle for each point, none over another. Where they do not fit, they become smaller."""
    anchors, sizes = np.array([complex(x, y) for x, y in points]), np.array(radii, dtype=np.float64)
    while (centers := _free_places(anchors, sizes, frame)) is None:
        sizes = sizes * SHRINK
    return [((float(at.real), float(at.imag)), float(size)) for at, size in zip(centers, sizes, strict=True)]


def _free_places(anchors: Places, radii: FloatArray, frame: Frame) -> Places | None:
    """Return where circles go, the largest first: to their points or the nearest free places; None if one finds none.

    Places are complex numbers: a difference of two is a way. A circle stays where it covers neither another one nor another
    point. One that steps aside leaves all points free, also its own, as far as there is room.
    """
    across, down = np.meshgrid(np.arange(frame.left, frame.right, MESH), np.arange(frame.top, frame.bottom, MESH))
    mesh = (across + 1j * down).ravel()
    apart = np.abs(anchors[:, None] - anchors)
    np.fill_diagonal(apart, np.inf)
    centers, placed = anchors.copy(), np.zeros(len(anchors), dtype=bool)
    order = np.argsort(-radii, kind="stable")
    for one in order:
        covers = (apart[one] < radii[one] + np.where(placed, radii + GAP, CLEARANCE)).any()
        placed[one] = not covers and _inside(anchors[one], radii[one], frame)
    to_point = np.min([np.abs(mesh - point) for point in anchors], axis=0)
    to_circle = np.min([np.abs(mesh - centers[one]) - radii[one] for one in order[placed[order]]], axis=0, initial=np.inf)
    for one in order[~placed[order]]:
        free = (to_circle >= radii[one] + GAP) & _inside(mesh, radii[one], frame)
        clear = free & (to_point >= radii[one] + CLEARANCE)
        found = mesh[clear if clear.any() else free]
        if not found.size:
            return None
        centers[one] = found[np.argmin(np.abs(found - anchors[one]))]
        to_circle = np.minimum(to_circle, np.abs(mesh - centers[one]) - radii[one])
    return centers


def _inside(places: Any, radius: float, frame: Frame) -> Any:
    across, down = places.real, places.imag
    inside = (across >= frame.left + radius) & (across <= frame.right - radius)
    return inside & (down >= frame.top + radius) & (down <= frame.bottom - radius)


def draw_badges(
    points: Sequence[Point],
    radii: Sequence[float],
    frame: Frame,
    *,
    kinds: Sequence[str],
    titles: Sequence[str],
    most: int,
    dot: float,
) -> list[str]:
    """Draw a circle for each point, with its number and a title of our own, tied to it where it had to move.

    Of more than `most` points, dots of a radius of `dot`.
    """
    if len(points) > most:
        return [
            f'<g><title>{title}</title><circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{dot:g}"/></g>'
            for title, kind, (x, y) in zip(titles, kinds, points, strict=True)
        ]
    marks = []
    placed = zip(points, place_badges(points, radii, frame), kinds, titles, strict=True)
    for label, ((x, y), ((across, down), radius), kind, title) in enumerate(placed):
        tie, way = "", math.dist((x, y), (across, down))
        if way > MOVED:
            part = max(1 - radius / way, 0.0)
            tie = (
                f'<path class="leader" d="M{x:.1f} {y:.1f}L{x + part * (across - x):.1f} {y + part * (down - y):.1f}"/>'
                f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="{DOT:g}"/>'
            )
        circle = f'<circle class="{kind}" cx="{across:.1f}" cy="{down:.1f}" r="{radius:.1f}"/>'
        number = f'<text class="label" x="{across:.1f}" y="{down:.1f}" dy="0.35em">{label}</text>'
        marks.append(f"<g><title>{title}</title>{tie}{circle}{number}</g>")
    return marks


def numbered_badges(points: Sequence[Point], frame: Frame, *, name: str, most: int, radius: float, dot: float) -> str:
    """Draw a circle of one size for each point, with its number; of more than `most` points, dots."""
    size = len(points)
    titles, kinds = [f"{name} {label}" for label in range(size)], ["badge"] * size
    return "".join(draw_badges(points, [radius] * size, frame, kinds=kinds, titles=titles, most=most, dot=dot))
