# SPDX-License-Identifier: Apache-2.0
"""Numbered circles for points of a picture that do not cover each other: where two would, both step aside.

A circle that had to move is tied to its point by a line, and its point is marked by a dot.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.columns import FloatArray

__all__ = ["Badge", "Frame", "Point", "badge_marks", "numbered_badges", "place_badges"]

GAP = 2.5  # between circles
DOT = 3.0  # radius of the dot of a point
CLEARANCE = DOT + 2.5  # between a circle and the dots of others
MOVED = 2.0  # a circle farther than this from its point is tied to it
ROUNDS = 400
SHRINK, MOST_SHRINKS = 0.85, 8
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))

Point = tuple[float, float]
Places = npt.NDArray[np.complex128]


@dataclass(frozen=True)
class Frame:
    """The part of a picture that circles stay in."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Badge:
    """A circle with words in it, and the point it is for."""

    point: Point
    center: Point
    radius: float

    @property
    def is_moved(self) -> bool:
        """Whether it had to step aside."""
        return math.dist(self.point, self.center) > MOVED


def place_badges(points: Sequence[Point], radii: Sequence[float], frame: Frame) -> list[Badge]:
    """Return a circle for each point, none over another. Where they do not fit at all, they become smaller."""
    anchors, sizes = np.array([complex(x, y) for x, y in points]), np.array(radii, dtype=np.float64)
    for _ in range(MOST_SHRINKS):
        centers = _relax(anchors, sizes, frame)
        if not _depths(np.abs(centers[:, None] - centers), _reach(sizes)).any():
            break
        sizes = sizes * SHRINK
    return [
        Badge((float(point.real), float(point.imag)), (float(at.real), float(at.imag)), float(size))
        for point, at, size in zip(anchors, centers, sizes, strict=True)
    ]


def badge_marks(badge: Badge, words: str, *, kind: str, title: str) -> str:
    """Draw a circle with its words; a line and a dot where it had to move. `title` and `words` are plain text of our own."""
    (x, y), (across, down), radius = badge.point, badge.center, badge.radius
    tie = ""
    if badge.is_moved:
        part = max(1 - radius / math.dist(badge.point, badge.center), 0.0)
        tie = (
            f'<path class="leader" d="M{x:.1f} {y:.1f}L{x + part * (across - x):.1f} {y + part * (down - y):.1f}"/>'
            f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="{DOT:g}"/>'
        )
    label = f'<text class="label" x="{across:.1f}" y="{down:.1f}" dy="0.35em">{words}</text>' if words else ""
    circle = f'<circle class="{kind}" cx="{across:.1f}" cy="{down:.1f}" r="{radius:.1f}"/>'
    return f"<g><title>{title}</title>{tie}{circle}{label}</g>"


def numbered_badges(points: Sequence[Point], frame: Frame, *, name: str, most: int, radius: float, dot: float) -> str:
    """Draw a circle of one size for each point, with its number and a title; of more than `most` points, dots."""
    if len(points) > most:
        return "".join(f'<circle class="badge" cx="{x:.1f}" cy="{y:.1f}" r="{dot:g}"/>' for x, y in points)
    badges = enumerate(place_badges(points, [radius] * len(points), frame))
    return "".join(badge_marks(badge, str(label), kind="badge", title=f"{name} {label}") for label, badge in badges)


# Points are complex numbers from here on: one number is a place, and a difference of two is a way.


def _relax(anchors: Places, radii: FloatArray, frame: Frame) -> Places:
    """Push circles apart that overlap; those that moved also leave their own point free."""
    apart = np.abs(anchors[:, None] - anchors)
    np.fill_diagonal(apart, np.inf)
    is_inside = np.array_equal(anchors, _inside(anchors, radii, frame))
    if is_inside and not _depths(apart, _reach(radii)).any() and (apart >= radii[:, None] + CLEARANCE).all():
        return anchors  # no circle covers another one or another point
    centers = _push(anchors, anchors, radii, frame, own=np.zeros(len(anchors), dtype=bool))
    own = np.abs(centers - anchors) > MOVED
    return _push(centers, anchors, radii, frame, own=own) if own.any() else centers


def _push(start: Places, anchors: Places, radii: FloatArray, frame: Frame, *, own: npt.NDArray[np.bool_]) -> Places:
    n_circles, reach = len(anchors), _reach(radii)
    centers = start + 0.01 * np.exp(1j * GOLDEN_ANGLE * np.arange(n_circles))  # two points may be the same
    obstacle = ~np.eye(n_circles, dtype=bool) | np.diag(own)
    clear = np.where(obstacle, radii[:, None] + CLEARANCE, -np.inf)
    for index in range(2 * ROUNDS):
        calm = index / ROUNDS
        lines = centers[:, None] - centers
        apart = np.abs(lines)
        step = 0.5 * _away(lines, apart, _depths(apart, reach))
        if calm < 1:
            lines = centers[:, None] - anchors
            apart = np.abs(lines)
            step += 0.5 * _away(lines, apart, np.maximum(clear - apart, 0.0)) + 0.08 * (1 - calm) * (anchors - centers)
        elif not step.any():
            break
        centers = _inside(centers + step, radii, frame)
    return np.asarray(centers)


def _reach(radii: FloatArray) -> FloatArray:
    """Return how far apart any two circles must be."""
    reach = radii[:, None] + radii + GAP
    np.fill_diagonal(reach, -np.inf)
    return np.asarray(reach)


def _depths(apart: FloatArray, reach: FloatArray) -> FloatArray:
    """Return how far circles reach into each other, with the gap between them."""
    deep = reach - apart
    deep[deep < 0.5] = 0.0  # the gap is larger than this
    return deep


def _away(lines: Places, apart: FloatArray, depth: FloatArray) -> Places:
    """Return the sum of the ways out of each overlap."""
    return np.asarray((lines * (depth / np.maximum(apart, 1e-9))).sum(axis=1))


def _inside(places: Places, radii: FloatArray, frame: Frame) -> Places:
    across = np.minimum(np.maximum(places.real, frame.left + radii), np.maximum(frame.right - radii, frame.left + radii))
    down = np.minimum(np.maximum(places.imag, frame.top + radii), np.maximum(frame.bottom - radii, frame.top + radii))
    return np.asarray(across + 1j * down)
