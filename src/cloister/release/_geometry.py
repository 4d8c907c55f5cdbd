# SPDX-License-Identifier: Apache-2.0
"""How released centres lie to each other: which columns tell them apart, and the plane in which they are drawn.

Arithmetic on published numbers, for the report, the plots and the tables.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister.columns import MORE, FloatArray
from cloister.release._profile import described_columns
from cloister.text import plain_text, share_text

if TYPE_CHECKING:
    from cloister.algorithms import Plane
    from cloister.release._release import Release

SMALLEST_ERROR = 1e-6  # of the domain: what is more exact than this counts as exact
NAMED_COLUMNS = 3  # of an axis, with at least this part of the largest weight:
LEAST_LOADING = 0.2
MOST_SHARES = 5  # columns whose part of the distances is said


@dataclass(frozen=True, eq=False)
class CenterPlane:
    """The first two principal axes of the centres, as distances see them."""

    positions: FloatArray  # (n_clusters, 2), in units of the unit ball
    errors: FloatArray  # (n_clusters, 2), standard errors along the axes
    shares: tuple[float, float]  # of the spread between centres, along each axis
    loadings: tuple[list[list[Any]], list[list[Any]]]  # columns of each axis with their weights, the largest first


def plane_of_centers(release: "Release", plane: "Plane | None" = None) -> CenterPlane:
    """Project the centres, as distances see them, on their first two principal axes, or on a given plane."""
    from cloister.algorithms import plane_of

    points = release.frame.to_unit(release.cluster_centers)
    plane = plane_of(points) if plane is None else plane
    frame, centers, spreads = release.frame, release.cluster_centers, release.center_errors
    errors = np.sqrt((frame.errors_to_unit(spreads, centers) ** 2) @ plane.axes**2)
    loadings = []
    for axis in frame.published_axes(plane.axes):
        least = LEAST_LOADING * np.abs(axis).max(initial=0.0)
        order = np.argsort(-np.abs(axis), kind="stable")[:NAMED_COLUMNS]
        loadings.append([[release.columns[index], float(axis[index])] for index in order if abs(axis[index]) > least])
    return CenterPlane(plane.project(points), errors, plane.shares, (loadings[0], loadings[1]))


def rank_columns(release: "Release") -> list[int]:
    """Return the columns by how well they tell the centres apart, best first; noisy differences count less."""
    points, errors = release.frame.relative(release.cluster_centers, release.center_errors)
    weights = 1 / np.maximum(errors, SMALLEST_ERROR) ** 2
    middle = (weights * points).sum(axis=0) / weights.sum(axis=0)
    spread = (weights * (points - middle) ** 2).sum(axis=0)
    return [int(index) for index in np.argsort(-spread, kind="stable")]


def rank_table(release: "Release") -> list[int]:
    """Return the columns of the table by how well they tell the centres apart, each by the best of its coordinates."""
    ranking = rank_columns(release)
    owner = {place: index for index, cut in enumerate(release.domain.slices()) for place in range(cut.start, cut.stop)}
    return list(dict.fromkeys(owner[place] for place in ranking))


def distance_shares(release: "Release") -> FloatArray:
    """Return which part of the squared distances between centres each column of the table makes; zeros where there are none.

    Clusters count by their noisy numbers of rows, and what the noise of the centres adds is taken away.
    """
    frame, counts = release.frame, np.maximum(release.cluster_counts, 0.0)
    parts = counts / max(float(counts.sum()), 1e-300)
    points = frame.to_unit(release.cluster_centers)
    noise = release.center_errors if release.center_noise is None else release.center_noise
    errors = frame.errors_to_unit(noise, release.cluster_centers)
    squares = parts @ (points - parts @ points) ** 2 - (parts * (1 - parts)) @ errors**2
    ends = np.cumsum((0, *frame.widths[:-1]))
    columns = np.maximum(np.add.reduceat(squares, ends), 0.0)
    return np.asarray(columns / max(float(columns.sum()), 1e-300))


def distance_words(release: "Release") -> str:
    """Say which columns make the distances between centres; nothing where all columns are plain numbers."""
    shares = distance_shares(release)
    if not release.domain.is_declared or len(shares) < 2 or not shares.any():
        return ""
    names = [one[0] for one in described_columns(release)]
    order = np.argsort(-shares, kind="stable")[:MOST_SHARES]
    words = ", ".join(f"{plain_text(names[index])} {share_text(float(shares[index]))}" for index in order)
    more = f", {MORE}" if len(shares) > MOST_SHARES else ""
    return f"Part of the squared distances between centres that each column makes: {words}{more}."
