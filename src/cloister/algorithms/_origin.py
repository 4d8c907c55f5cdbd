# SPDX-License-Identifier: Apache-2.0
"""Where the rows are, as one place and one length: their mean, and how far they lie from it.

The noise of a mean grows with the radius at which offsets are clipped, which at first is that of the domain. Where the rows
fill a small part of it, the mean is asked again, clipped at the distance within which nearly all rows were seen, and so is the
histogram: each time the noise shrinks by the ratio of the two radii, so that bounds a thousand times too wide cost two more
small steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cloister.algorithms._refine import Lengths, quantile, shrinkage
from cloister.algorithms._space import Space
from cloister.columns import FloatArray
from cloister.questions import Ask, DistanceHistogram, NearestSums, Step

__all__ = ["Origin", "find_origin"]

OCTAVES = 18  # that a fine histogram covers, below the domain's radius: as far as the grid resolves
OCTAVES_COARSE = 12  # that a coarse one covers: few rows, so that every further bin adds noise
NEARLY_ALL = 0.9  # of the rows lie within the distance at which the next mean is clipped
ROOM = 2.0  # times that distance
USUAL = 0.5  # of a radius: a mean is rarely farther from where it is looked for, so noise is not taken for more than that
NARROW = 0.25  # of the last radius: below, the next step is worth its price


@dataclass(frozen=True, eq=False)
class Origin:
    """The mean of the rows and the histogram of their distances from it."""

    point: FloatArray
    profile: Lengths
    n_asked: int  # steps


def find_origin(ask: Ask, steps: Sequence[Step], space: Space, *, n_rows: float, fineness: int) -> Origin:
    """Ask the steps, each for sums and distances, as long as rows turn out to fill a small part of what was looked at."""
    octaves = OCTAVES if fineness > 1 else OCTAVES_COARSE
    edges = 2.0 ** (np.arange(-octaves * fineness, 1) / fineness)
    point, radius = np.zeros(space.n_features), 1.0
    n_asked = 0
    for step in steps:
        n_asked += 1
        point = _move_to_mean(ask, step, point, radius, space, n_rows=n_rows)
        histogram = ask(DistanceHistogram(edges=edges, points=point[None]), step["distances"])
        profile = Lengths(edges, histogram.value, histogram.sigma)
        within = ROOM * quantile(profile, n_rows=n_rows, part=NEARLY_ALL)
        if within > NARROW * radius:
            break
        radius = within
    return Origin(point, profile, n_asked)


def _move_to_mean(ask: Ask, step: Step, point: FloatArray, radius: float, space: Space, *, n_rows: float) -> FloatArray:
    """Return the mean of the rows, shrunk towards `point` as far as its noise demands."""
    sums = ask(NearestSums(points=point[None], radius=radius), step["sums"])
    offset = sums.value / max(n_rows, 1.0)
    variance = np.array([(sums.sigma / max(n_rows, 1.0)) ** 2])
    moved = point + (shrinkage(offset, variance, longest=USUAL * radius)[:, None] * offset)[0]
    return np.asarray(space.clip(moved[None])[0])
