# SPDX-License-Identifier: Apache-2.0
"""Pictures of a synopsis as inline SVG: heat maps and bars.

Counts are drawn as released; what is not above zero is left empty. Seven steps of one hue, from near the paper to far from it,
keep their order in grey, in the dark and on paper.
"""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from cloister.columns import FloatArray
from cloister.report._badges import Frame, Point, badge_marks, place_badges
from cloister.synopsis import Synopsis
from cloister.text import number, plain_text

__all__ = ["bars", "drawn_cells", "heat_map"]

STEPS = 7
LARGEST_DRAWN = 96  # cells along an axis; finer grids are drawn with neighbouring cells taken together
LABELLED_CENTRES = 30
BADGE = 11.0  # radius of a centre's circle: two digits fit
LEFT, RIGHT, TOP, BOTTOM = 21.0, 8.0, 8.0, 26.0
BARS_WIDTH, BARS_HEIGHT = 720.0, 240.0


def heat_map(synopsis: Synopsis, centers: FloatArray, *, width: float = 520.0) -> str:
    """Draw a synopsis of two columns, and centres with a label each; the first column runs to the right."""
    picture = _Picture(synopsis, width)
    counts = _coarse(synopsis.noisy_counts)
    top = max(float(counts.max()), 1e-9)
    steps = np.where(counts > 0, np.ceil(STEPS * np.sqrt(np.maximum(counts, 0.0) / top)), 0).astype(int)
    cells = "".join(f'<path class="h{step}" d="{picture.cells(steps == step)}"/>' for step in range(1, STEPS + 1))
    marks = _badges([picture.place(center) for center in centers], Frame(LEFT, TOP, width - RIGHT, picture.height - BOTTOM))
    names = [escape(plain_text(name)) for name in synopsis.columns]
    return (
        f'<svg class="heat" viewBox="0 0 {width:g} {picture.height:.0f}" role="img" '
        f'aria-label="Noisy counts of {names[0]} and {names[1]}" shape-rendering="crispEdges">'
        f'{cells}<g shape-rendering="auto">{picture.frame()}{marks}{picture.axes()}</g></svg>{_legend(top, width)}'
    )


def bars(synopsis: Synopsis, centers: FloatArray) -> str:
    """Draw a synopsis of one column as bars, with a dashed line for each centre."""
    counts = _coarse(synopsis.noisy_counts)
    low, high = synopsis.edges[0][0], synopsis.edges[0][-1]
    left, right, floor, roof = 56.0, BARS_WIDTH - 10, BARS_HEIGHT - 40, 26.0
    top = max(float(counts.max()), 1e-9)

    def x(share: float) -> float:
        return left + (right - left) * share

    ends = _ends(synopsis.cells[0]) / synopsis.cells[0]
    body = "".join(
        f"M{x(start):.1f} {floor:g}V{floor - (floor - roof) * count / top:.1f}H{x(end):.1f}V{floor:g}z"
        for start, end, count in zip(ends[:-1], ends[1:], counts, strict=True)
        if count > 0
    )
    shares = [(float(center[0]) - low) / (high - low) for center in centers]
    stems = "".join(f"M{x(share):.1f} {roof - 4:g}V{floor:g}" for share in shares)
    labels = "".join(
        f'<text class="name" x="{x(share):.1f}" y="{roof - 9:g}" text-anchor="middle">{index}</text>'
        for index, share in enumerate(shares[:LABELLED_CENTRES])
    )
    name = escape(plain_text(synopsis.columns[0]))
    return (
        f'<svg class="chart" viewBox="0 0 {BARS_WIDTH:g} {BARS_HEIGHT:g}" role="img" aria-label="Noisy counts of {name}">'
        f'<path class="pale" d="{body}"/><path class="rule" d="M{left:g} {floor:g}H{right:g}M{left:g} {roof:g}H{right:g}"/>'
        f'<path class="stem" d="{stems}"/>{labels}'
        f"{_label(left - 6, floor + 4, '0', 'end')}{_label(left - 6, roof + 4, number(round(top)), 'end')}"
        f"{_label(left, floor + 17, number(float(low)), 'start')}{_label(right, floor + 17, number(float(high)), 'end')}"
        f"{_label((left + right) / 2, floor + 17, name, 'middle')}</svg>"
    )


def drawn_cells(cells: Sequence[int]) -> bool:
    """Whether every cell is drawn by itself."""
    return max(cells) <= LARGEST_DRAWN


class _Picture:
    """Two columns as a rectangle: in proportion to the box where distances are in input units, else square."""

    def __init__(self, synopsis: Synopsis, width: float) -> None:
        self._synopsis = synopsis
        low, high = np.atleast_1d(synopsis.domain.low), np.atleast_1d(synopsis.domain.high)
        self._low, self._span = low, high - low
        ratio = float(self._span[1] / self._span[0]) if synopsis.scaling == "none" else 0.8
        self._wide = width - LEFT - RIGHT
        self._tall = self._wide * min(max(ratio, 0.35), 0.9)
        self.height = self._tall + TOP + BOTTOM

    def place(self, point: FloatArray) -> tuple[float, float]:
        """Where a point of the box stands."""
        share = (point - self._low) / self._span
        return LEFT + self._wide * float(share[0]), TOP + self._tall * (1 - float(share[1]))

    def cells(self, chosen: Any) -> str:
        """Outline the chosen cells, runs along the second column in one piece."""
        across, up = (_ends(count) / count for count in self._synopsis.cells)
        parts = []
        for column in range(chosen.shape[0]):
            left, right = LEFT + self._wide * across[column], LEFT + self._wide * across[column + 1]
            padded = np.concatenate([[0], chosen[column].astype(int), [0]])
            starts, stops = np.flatnonzero(np.diff(padded) == 1), np.flatnonzero(np.diff(padded) == -1)
            for start, stop in zip(starts, stops, strict=True):
                low, high = TOP + self._tall * (1 - up[start]), TOP + self._tall * (1 - up[stop])
                parts.append(f"M{left:.1f} {low:.1f}V{high:.1f}H{right:.1f}V{low:.1f}z")
        return "".join(parts)

    def frame(self) -> str:
        """Outline the box."""
        return f'<path class="edge" d="M{LEFT:g} {TOP:g}h{self._wide:g}v{self._tall:.1f}h-{self._wide:g}z"/>'

    def axes(self) -> str:
        """Name both columns and their ends."""
        floor, right = TOP + self._tall, LEFT + self._wide
        names = [escape(plain_text(name)) for name in self._synopsis.columns]
        ends = [(number(float(low)), number(float(low + span))) for low, span in zip(self._low, self._span, strict=True)]
        turned = (
            f'<text class="axis" transform="translate({LEFT - 7:g} {floor:.1f}) rotate(-90)">{ends[1][0]}</text>'
            f'<text class="axis" transform="translate({LEFT - 7:g} {TOP:g}) rotate(-90)" text-anchor="end">{ends[1][1]}</text>'
            f'<text class="axis" transform="translate({LEFT - 7:g} {TOP + self._tall / 2:.1f}) rotate(-90)" '
            f'text-anchor="middle">{names[1]}</text>'
        )
        return (
            f"{_label(LEFT, floor + 16, ends[0][0], 'start')}{_label(right, floor + 16, ends[0][1], 'end')}"
            f"{_label((LEFT + right) / 2, floor + 16, names[0], 'middle')}{turned}"
        )


def _badges(points: Sequence[Point], frame: Frame) -> str:
    """Draw a numbered circle for each centre, none over another; dots where they are many."""
    if len(points) > LABELLED_CENTRES:
        return "".join(f'<circle class="badge" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in points)
    badges = enumerate(place_badges(points, [BADGE] * len(points), frame))
    return "".join(badge_marks(badge, str(index), kind="badge", title=f"Centre {index}") for index, badge in badges)


def _legend(top: float, width: float) -> str:
    """Draw the steps with the counts at which they begin."""
    size = min(58.0, (width - LEFT - RIGHT) / (STEPS + 1))
    boxes, labels = [], []
    for step in range(1, STEPS + 1):
        left = LEFT + size * (step - 1)
        boxes.append(f'<path class="h{step}" d="M{left:.1f} 2h{size:.1f}v12h-{size:.1f}z"/>')
        if step % 2 or size > 40:  # too narrow for all of them
            labels.append(_label(left, 28, _rounded(top * ((step - 1) / STEPS) ** 2), "start" if step == 1 else "middle"))
    labels.append(_label(LEFT + size * STEPS, 28, _rounded(top), "start"))
    edge = f'<path class="edge" d="M{LEFT:g} 2h{size * STEPS:.1f}v12h-{size * STEPS:.1f}z"/>'
    return (
        f'<svg class="heat" viewBox="0 0 {width:g} 34" role="img" aria-label="Scale of the counts">'
        f"{''.join(boxes)}{edge}{''.join(labels)}</svg>"
    )


def _label(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text class="axis" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def _rounded(value: float) -> str:
    return number(round(value)) if value >= 10 or value == 0 else f"{value:.2g}"


def _coarse(counts: FloatArray) -> FloatArray:
    """Take neighbouring cells together where there are too many to draw: their mean count."""
    for axis, size in enumerate(counts.shape):
        ends = _ends(size)
        sums = np.add.reduceat(counts, ends[:-1], axis=axis)
        shape = [-1 if one == axis else 1 for one in range(counts.ndim)]
        counts = sums / np.diff(ends).reshape(shape)
    return counts


def _ends(size: int) -> Any:
    """Return where drawn cells begin and end, counted in cells."""
    step = math.ceil(size / LARGEST_DRAWN)
    return np.array([*range(0, size, step), size])
