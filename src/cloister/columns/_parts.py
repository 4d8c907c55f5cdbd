# SPDX-License-Identifier: Apache-2.0
"""The parts of a product domain: intervals and simplices, each with the coordinates that distances are taken in.

A part maps one raw column (a number, days, 0 or 1, the position of a level; NaN where it is missing) to one or more
coordinates around the part's own centre, and public points back to the column's own words. Anyone in `columns` may import this.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.linalg import helmert

from cloister.columns._base import FloatArray

NEARLY_ALL_MISSING = 0.999  # beyond this share the mean of what is not missing is not published: the middle stands for it


@dataclass(frozen=True, eq=False, kw_only=True)
class Part(ABC):
    """One column of a product domain.

    `size` is half of what the two ends of a number, or two levels of a category, lie apart.
    """

    size: float
    is_interval: ClassVar[bool] = False  # whether published numbers and coordinates are one interval each

    @property
    def radius(self) -> float:
        """The farthest that a value, or a missing one, lies from the centre."""
        return self.size

    @property
    @abstractmethod
    def center(self) -> FloatArray:
        """The centre, in published numbers."""

    @property
    def dimension(self) -> int:
        """Coordinates in which distances are taken."""
        return len(self.center)

    @property
    def corners(self) -> FloatArray:
        """The coordinates of places between which all values lie: of a number its ends, of a category its levels."""
        ends = math.sqrt(self.dimension) * self.size * np.eye(self.dimension)
        return np.concatenate([-ends, ends])

    @abstractmethod
    def place(self, values: FloatArray, out: FloatArray) -> npt.NDArray[np.bool_]:
        """Write the coordinates of raw values to `out`, and return which of them are missing and not yet placed."""

    @abstractmethod
    def to_coordinates(self, published: FloatArray) -> FloatArray:
        """Return published numbers as coordinates."""

    @abstractmethod
    def from_coordinates(self, points: FloatArray) -> FloatArray:
        """Return coordinates as published numbers, moved into the domain."""

    @abstractmethod
    def errors(self, errors: FloatArray, points: FloatArray | None = None) -> FloatArray:
        """Return standard errors of coordinates, at some points, as those of published numbers."""

    def flatten(self, published: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return published numbers and their errors on a scale on which equal differences lie equally far apart."""
        return published, errors

    @abstractmethod
    def draw(self, generator: np.random.Generator, count: int) -> FloatArray:
        """Draw coordinates that span the domain, for public candidates."""


class Straight(Part):
    """A part whose published numbers are its coordinates, moved and stretched; or become so when they are straightened."""

    @property
    @abstractmethod
    def middle(self) -> FloatArray:
        """The centre, straightened."""

    @property
    @abstractmethod
    def stretch(self) -> float:
        """What a unit of the coordinates is worth in straightened numbers."""

    @abstractmethod
    def clip(self, straight: FloatArray) -> FloatArray:
        """Move straightened numbers into the domain."""

    def straighten(self, published: FloatArray) -> FloatArray:
        """Return published numbers as those in which distances are straight."""
        return published

    def bend(self, straight: FloatArray) -> FloatArray:
        """Return straightened numbers as published ones."""
        return straight

    def slope(self, straight: FloatArray) -> FloatArray | float:
        """Return by how much published numbers move, at some place, where straightened ones move by one."""
        return 1.0

    @property
    def center(self) -> FloatArray:
        return self.bend(self.middle)

    def to_coordinates(self, published: FloatArray) -> FloatArray:
        return np.asarray((self.straighten(published) - self.middle) / self.stretch)

    def from_coordinates(self, points: FloatArray) -> FloatArray:
        return self.bend(self.clip(self.middle + points * self.stretch))

    def errors(self, errors: FloatArray, points: FloatArray | None = None) -> FloatArray:
        straight = self.middle if points is None else self.clip(self.middle + points * self.stretch)
        return np.asarray(errors * self.stretch * self.slope(straight))


@dataclass(frozen=True, eq=False, kw_only=True)
class Interval(Straight):
    """Numbers between two bounds, dates in days, or a flag as 0 and 1; `lowest` is the least raw value that is a value."""

    low: float
    high: float
    lowest: float = -math.inf
    is_interval: ClassVar[bool] = True

    @property
    def middle(self) -> FloatArray:
        return np.array([self.low + (self.high - self.low) / 2])

    @property
    def stretch(self) -> float:
        return (self.high - self.low) / 2 / self.size

    def clip(self, straight: FloatArray) -> FloatArray:
        return np.clip(straight, self.low, self.high)

    def place(self, values: FloatArray, out: FloatArray) -> npt.NDArray[np.bool_]:
        missing = ~np.isfinite(values) | (values < self.lowest)
        inside = np.minimum(np.maximum(values, self.low), self.high)
        out[:, 0] = (inside - self.middle[0]) / self.stretch
        return missing

    def draw(self, generator: np.random.Generator, count: int) -> FloatArray:
        return np.asarray(self.size * (2 * generator.random((count, 1)) - 1))


@dataclass(frozen=True, eq=False, kw_only=True)
class Apart(Part):
    """A part and, apart from it, a place for what is missing: as far from its ends as these are from each other.

    Two ends and that place are the corners of a triangle with equal sides, in a plane of its own; the centre is the triangle's.
    Published are the mean of what is not missing, and the share that is.
    """

    inner: Straight

    @property
    def radius(self) -> float:
        """From the centre of the triangle to a corner."""
        return 2 / math.sqrt(3) * self.size

    @property
    def corners(self) -> FloatArray:
        inner = self.inner.corners
        there = np.column_stack([inner, np.full(len(inner), -self.size / math.sqrt(3))])
        return np.vstack([there, np.append(np.zeros(inner.shape[1]), 2 * self.size / math.sqrt(3))])

    @property
    def center(self) -> FloatArray:
        """The middle of the part, a third missing."""
        return np.array([*self.inner.center, 1 / 3])

    def place(self, values: FloatArray, out: FloatArray) -> npt.NDArray[np.bool_]:
        """Write the coordinates of raw values to `out`; missing ones have their own place."""
        missing = self.inner.place(values, out[:, :-1])
        out[missing, :-1] = 0.0
        out[:, -1] = np.where(missing, 2.0, -1.0) * (self.size / math.sqrt(3))
        return np.zeros(len(values), dtype=bool)

    def to_coordinates(self, published: FloatArray) -> FloatArray:
        inner, share = self.inner, published[:, -1:]
        along = (1 - share) * (inner.straighten(published[:, :-1]) - inner.middle) / inner.stretch
        away = (share - 1 / 3) * math.sqrt(3) * self.size
        return np.column_stack([along, away])

    def _there(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the share that is missing, about what is there, and straightened numbers of that."""
        share = np.clip(points[:, -1:] / (math.sqrt(3) * self.size) + 1 / 3, 0.0, 1.0)
        there = np.maximum(1 - share, 1 - NEARLY_ALL_MISSING)
        along = np.where(share <= NEARLY_ALL_MISSING, points[:, :-1], 0.0)
        return share, there, self.inner.clip(self.inner.middle + along / there * self.inner.stretch)

    def from_coordinates(self, points: FloatArray) -> FloatArray:
        share, _, straight = self._there(points)
        return np.column_stack([self.inner.bend(straight), share])

    def errors(self, errors: FloatArray, points: FloatArray | None = None) -> FloatArray:
        along, share = errors[:, :-1], errors[:, -1:] / (math.sqrt(3) * self.size)
        straight = self.inner.middle
        if points is not None:  # the mean of what is there is a ratio
            _, there, straight = self._there(points)
            along = np.minimum(np.hypot(along, points[:, :-1] / there * share) / there, self.size)
        return np.column_stack([along * self.inner.stretch * self.inner.slope(straight), share])

    def flatten(self, published: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
        pairs = zip(self.inner.flatten(published[:, :-1], errors[:, :-1]), (published, errors), strict=True)
        first, second = (np.column_stack([inner, whole[:, -1]]) for inner, whole in pairs)
        return first, second

    def draw(self, generator: np.random.Generator, count: int) -> FloatArray:
        away = np.where(generator.random((count, 1)) < 1 / 3, 2.0, -1.0)
        along = np.where(away < 0, self.inner.draw(generator, count), 0.0)
        return np.column_stack([along, away * (self.size / math.sqrt(3))])


@dataclass(frozen=True, eq=False, kw_only=True)
class Simplex(Part):
    """The levels of a category, any two of them equally far apart; one less coordinate than levels.

    `own` says that the last level stands for what is missing or unknown.
    """

    n_levels: int
    own: bool = False

    @property
    def radius(self) -> float:
        """From the centre to a level."""
        return self.size * math.sqrt(2 * (1 - 1 / self.n_levels))

    @property
    def center(self) -> FloatArray:
        return np.full(self.n_levels, 1 / self.n_levels)

    @property
    def dimension(self) -> int:
        return self.n_levels - 1

    @cached_property
    def corners(self) -> FloatArray:
        """Where the levels lie: the unit vectors of as many dimensions as levels, seen in the plane that they span.

        The rows of a Helmert matrix are an orthonormal basis of that plane.
        """
        return np.ascontiguousarray(math.sqrt(2) * self.size * helmert(self.n_levels).T)

    def place(self, values: FloatArray, out: FloatArray) -> npt.NDArray[np.bool_]:
        known = np.isfinite(values) & (values >= 0) & (values < self.n_levels - self.own)
        levels = np.where(known, values, self.n_levels - 1).astype(np.int64)
        np.take(self.corners, levels, axis=0, out=out)
        return np.zeros(len(values), dtype=bool) if self.own else ~known

    def to_coordinates(self, published: FloatArray) -> FloatArray:
        return np.asarray(published @ self.corners)

    def from_coordinates(self, points: FloatArray) -> FloatArray:
        """Return coordinates as shares of the levels: none negative, one in all."""
        return project_to_simplex(1 / self.n_levels + points @ self.corners.T / (2 * self.size**2))

    def errors(self, errors: FloatArray, points: FloatArray | None = None) -> FloatArray:
        return np.sqrt(errors**2 @ (self.corners.T / (2 * self.size**2)) ** 2)

    def draw(self, generator: np.random.Generator, count: int) -> FloatArray:
        return np.asarray(self.corners[generator.integers(self.n_levels, size=count)])


def project_to_simplex(shares: FloatArray) -> FloatArray:
    """Return, for each row, the nearest numbers that are not negative and add up to one."""
    ordered = -np.sort(-shares, axis=1)
    excess = (np.cumsum(ordered, axis=1) - 1) / np.arange(1, shares.shape[1] + 1)
    last = np.sum(ordered > excess, axis=1) - 1
    projected = np.maximum(shares - np.take_along_axis(excess, last[:, None], axis=1), 0.0)
    return np.asarray(projected / projected.sum(axis=1, keepdims=True))
