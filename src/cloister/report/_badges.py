# SPDX-License-Identifier: Apache-2.0
"""Numbered circles for points of a picture that do not cover each other: where two would, both step aside.

A circle that had to move is tied to its point by a line, and its point is marked by a dot.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cloister.domain import FloatArray

__all__ = ["Badge", "Frame", "badge_marks", "place_badges"]

GAP = 2.5  # between circles
DOT = 3.0  # radius of the dot of a point
CLEARANCE = DOT + 2.5  # between a circle and the dots of others
MOVED = 2.0  # a circle farther than this from its point is tied to it
ROUNDS = 400
SHRINK, MOST_SHRINKS = 0.85, 8
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


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

    point: tuple[float, float]
    center: tuple[float, float]
    radius: float

    @property
    def is_moved(self) -> bool:
        """Whether it had to step aside."""
        return math.dist(self.point, self.center) > MOVED


def place_badges(points: Sequence[tuple[float, float]], radii: Sequence[float], frame: Frame) -> list[Badge]:
    """Return a circle for each point, none over another. Where they do not fit at all, they become smaller."""
    anchors, sizes = np.array(points, dtype=np.float64).reshape(-1, 2), np.array(radii, dtype=np.float64)
    for _ in range(MOST_SHRINKS):
        centers = _relax(anchors, sizes, frame)
        if not _overlaps(centers, sizes).any():
            break
        sizes = sizes * SHRINK
    return [
        Badge((float(x), float(y)), (float(at[0]), float(at[1])), float(size))
        for (x, y), at, size in zip(anchors, centers, sizes, strict=True)
    ]


def badge_marks(badge: Badge, words: str, *, kind: str, title: str) -> str:
    """Draw a circle with its words; a line and a dot where it had to move. `title` and `words` are plain text of our own."""
    (x, y), (across, down), radius = badge.point, badge.center, badge.radius
    tie = ""
    if badge.is_moved:
        part = max(1 - radius / math.dist(badge.point, badge.center), 0.0)
        end = (x + part * (across - x), y + part * (down - y))
        tie = (
            f'<path class="leader" d="M{x:.1f} {y:.1f}L{end[0]:.1f} {end[1]:.1f}"/>'
            f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="{DOT:g}"/>'
        )
    label = f'<text class="label" x="{across:.1f}" y="{down:.1f}" dy="0.35em">{words}</text>' if words else ""
    circle = f'<circle class="{kind}" cx="{across:.1f}" cy="{down:.1f}" r="{radius:.1f}"/>'
    return f"<g><title>{title}</title>{tie}{circle}{label}</g>"


def _relax(anchors: FloatArray, radii: FloatArray, frame: Frame) -> FloatArray:
    """Push circles apart that overlap; those that moved also leave their own point free."""
    if _is_clear(anchors, radii, frame):
        return anchors
    own = np.zeros(len(anchors), dtype=bool)
    centers = _push(anchors, anchors, radii, frame, own)
    own = np.hypot(*(centers - anchors).T) > MOVED
    return _push(centers, anchors, radii, frame, own) if own.any() else centers


def _is_clear(anchors: FloatArray, radii: FloatArray, frame: Frame) -> bool:
    """Whether every circle can stand at its own point: it covers no other circle and no other point, and is inside."""
    apart = np.hypot(*np.moveaxis(anchors[:, None] - anchors[None], 2, 0))
    np.fill_diagonal(apart, np.inf)
    inside = (
        (anchors[:, 0] >= frame.left + radii)
        & (anchors[:, 0] <= frame.right - radii)
        & (anchors[:, 1] >= frame.top + radii)
        & (anchors[:, 1] <= frame.bottom - radii)
    )
    return bool(inside.all() and not _overlaps(anchors, radii).any() and (apart >= radii[:, None] + CLEARANCE).all())


def _push(
    start: FloatArray, anchors: FloatArray, radii: FloatArray, frame: Frame, own: "np.typing.NDArray[np.bool_]"
) -> FloatArray:
    n = len(anchors)
    angles = GOLDEN_ANGLE * np.arange(n)
    centers = start + 0.01 * np.stack([np.cos(angles), np.sin(angles)], axis=1)  # two points may be the same
    obstacle = ~np.eye(n, dtype=bool) | np.diag(own)
    low = np.stack([frame.left + radii, frame.top + radii], axis=1)
    high = np.maximum(np.stack([frame.right - radii, frame.bottom - radii], axis=1), low)
    for index in range(2 * ROUNDS):
        calm = index / ROUNDS
        step = 0.5 * _away(centers, centers, _overlaps(centers, radii))
        if calm < 1:
            apart = np.hypot(*np.moveaxis(centers[:, None] - anchors[None], 2, 0))
            hidden = np.where(obstacle, np.maximum(radii[:, None] + CLEARANCE - apart, 0.0), 0.0)
            step += 0.5 * _away(centers, anchors, hidden) + 0.08 * (1 - calm) * (anchors - centers)
        elif not step.any():
            break
        centers = np.clip(centers + step, low, high)
    return centers


def _overlaps(centers: FloatArray, radii: FloatArray) -> FloatArray:
    """Return how far circles reach into each other, with the gap between them."""
    apart = np.hypot(*np.moveaxis(centers[:, None] - centers[None], 2, 0))
    deep = np.maximum(radii[:, None] + radii[None] + GAP - apart, 0.0)
    np.fill_diagonal(deep, 0.0)
    return np.where(deep < 0.5, 0.0, deep)  # the gap is larger than this


def _away(centers: FloatArray, others: FloatArray, depth: FloatArray) -> FloatArray:
    """Return the sum of the ways out of each overlap."""
    lines = centers[:, None] - others[None]
    lengths = np.maximum(np.hypot(*np.moveaxis(lines, 2, 0)), 1e-9)
    return np.asarray((lines * (depth / lengths)[:, :, None]).sum(axis=1))
