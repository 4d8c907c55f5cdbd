# SPDX-License-Identifier: Apache-2.0
"""A rectangle with a column along its bottom and another along its left side: places, grid lines, ticks and names."""

from html import escape

from cloister.report._axes import MOST_TICKS, Axis
from cloister.report._badges import Frame
from cloister.report._figures import MAP_WIDTH, Point

__all__ = ["Plot"]

LETTER = 8.2  # width of a digit beside an axis, as large as a phone shows it
TOP, RIGHT, BOTTOM, TURNED = 12.0, 18.0, 50.0, 32.0  # margins; the last is for the name that is turned upward


class Plot:
    """Two axes and the part of a picture between them.

    Parameters
    ----------
    across, up : Axis
        Along the bottom, and along the left side.
    height : float
        Of the picture.
    width : float
        Of the picture.
    n_up : int
        Ticks along the left side, at most.
    """

    def __init__(self, across: Axis, up: Axis, height: float, *, width: float = MAP_WIDTH, n_up: int = MOST_TICKS) -> None:
        self._across, self._up, self._width, self._height = across, up, width, height
        self._marks_up = up.ticks(n_up)
        left = TURNED + LETTER * max((len(tick.words) for tick in self._marks_up), default=1)
        self.frame = Frame(left, TOP, width - RIGHT, height - BOTTOM)
        widest = LETTER * max((len(tick.words) for tick in across.ticks()), default=1) + 10
        self._marks_across = across.ticks(max(2, min(MOST_TICKS, int((self.frame.right - left) / widest))))

    def place(self, x: float, y: float) -> Point:
        """Return where a point stands."""
        frame = self.frame
        return (
            frame.left + (frame.right - frame.left) * self._across.at(x),
            frame.bottom - (frame.bottom - frame.top) * self._up.at(y),
        )

    def length_across(self, value: float) -> float:
        """Return how long a stretch of the bottom axis is drawn."""
        return (self.frame.right - self.frame.left) * min(value / (self._across.high - self._across.low), 1.0)

    def length_up(self, value: float) -> float:
        """Return how long a stretch of the left axis is drawn."""
        return (self.frame.bottom - self.frame.top) * min(value / (self._up.high - self._up.low), 1.0)

    def svg(self, marks: str, label: str) -> str:
        """Return the picture with these marks between the axes."""
        return (
            f'<svg class="map" viewBox="0 0 {self._width:g} {self._height:g}" role="img" aria-label="{escape(label)}">'
            f"{self.axes()}{marks}</svg>"
        )

    def axes(self) -> str:
        """Draw frame, grid lines, ticks and names."""
        frame = self.frame
        right = [(self.place(tick.value, self._up.low)[0], escape(tick.words)) for tick in self._marks_across]
        upward = [(self.place(self._across.low, tick.value)[1], escape(tick.words)) for tick in self._marks_up]
        grid = "".join(f"M{x:.1f} {frame.top:g}V{frame.bottom:.1f}" for x, _ in right)
        grid += "".join(f"M{frame.left:.1f} {y:.1f}H{frame.right:g}" for y, _ in upward)
        words = "".join(
            f'<text class="axis" x="{x:.1f}" y="{frame.bottom + 18:.1f}" text-anchor="middle">{text}</text>'
            for x, text in right
        )
        words += "".join(
            f'<text class="axis" x="{frame.left - 7:.1f}" y="{y:.1f}" dy="0.35em" text-anchor="end">{text}</text>'
            for y, text in upward
        )
        middle, center = (frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2
        places = (f'x="{middle:.1f}" y="{self._height - 10:.1f}"', f'transform="translate(16 {center:.1f}) rotate(-90)"')
        names = "".join(
            f'<text class="title" {place} text-anchor="middle">{_short(axis.name)}</text>'
            for place, axis in zip(places, (self._across, self._up), strict=True)
        )
        spine = f"M{frame.left:.1f} {frame.top:g}V{frame.bottom:.1f}H{frame.right:g}"
        return f'<path class="grid" d="{grid}"/><path class="spine" d="{spine}"/>{words}{names}'


def _short(name: str, longest: int = 48) -> str:
    return escape(name if len(name) <= longest else name[: longest - 1].rstrip() + "\u2026")
