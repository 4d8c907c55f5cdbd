# SPDX-License-Identifier: Apache-2.0
"""The public course of an evolution, small enough to be kept in a release: positions in a plane, round by round."""

from typing import Any

import numpy as np

from cloister.algorithms import Generation
from cloister.domain import FloatArray

__all__ = ["plane_of", "tell_history"]

LARGEST_SNAPSHOT = 150  # candidates kept per round: those with the most votes
LARGEST_HISTORY = 8  # rounds that keep their candidates: first, last and some between


def tell_history(generations: tuple[Generation, ...]) -> list[dict[str, Any]]:
    """Return one entry per round: how many candidates, how noisy, where the centres were; for some rounds the candidates."""
    if not generations:
        return []
    origin, axes = plane_of(generations[-1].centers)
    drawn = set(np.linspace(0, len(generations) - 1, min(LARGEST_HISTORY, len(generations))).round().astype(int).tolist())
    story = []
    for index, generation in enumerate(generations):
        entry: dict[str, Any] = {
            "round": index + 1,
            "n_candidates": len(generation.candidates),
            "n_voted": int(np.count_nonzero(generation.votes)),
            "sigma": round(generation.sigma, 4),
            "centers": _flatten(generation.centers, origin, axes),
        }
        if index in drawn:
            strongest = np.argsort(-generation.votes, kind="stable")[:LARGEST_SNAPSHOT]
            entry["candidates"] = _flatten(generation.candidates[strongest], origin, axes)
            entry["votes"] = np.round(generation.votes[strongest], 1).tolist()
        story.append(entry)
    return story


def plane_of(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean of public points and their first two principal axes, as (origin, axes of shape (n_features, 2))."""
    origin = points.mean(axis=0)
    axes = np.linalg.svd(points - origin, full_matrices=True)[2][:2].T
    plane = np.zeros((points.shape[1], 2))
    plane[:, : axes.shape[1]] = axes
    # The sign of an axis is arbitrary: let its largest entry be positive, so that pictures can be compared.
    largest = plane[np.abs(plane).argmax(axis=0), [0, 1]]
    return origin, plane * np.where(largest < 0, -1.0, 1.0)


def _flatten(points: FloatArray, origin: FloatArray, axes: FloatArray) -> list[list[float]]:
    return np.round((points - origin) @ axes, 5).tolist()  # type: ignore[no-any-return]
