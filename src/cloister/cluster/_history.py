# SPDX-License-Identifier: Apache-2.0
"""The public course of an algorithm, small enough to be kept in a release: positions in a plane, round by round."""

from typing import Any

import numpy as np

from cloister.algorithms import Generation, Located, Refined, project_to_total
from cloister.domain import FloatArray

__all__ = ["plane_of", "tell_history", "tell_placing"]

LARGEST_SNAPSHOT = 150  # candidates kept per round: those with the most votes
LARGEST_CROWD = 1000  # centres kept per round
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


def tell_placing(located: Located, refined: Refined, *, n_rows: float, projection: FloatArray | None) -> list[dict[str, Any]]:
    """Return where the last vote found rows, and where the centres were after each round, in the plane of the final centres.

    What was voted on in a projection is drawn where its span lies in the full space, and says in how many dimensions that was.
    """
    origin, axes = plane_of(refined.centers)
    axes_of_votes = axes if projection is None else projection.T @ axes
    shift = origin if projection is None else origin @ projection
    votes = project_to_total(located.votes.value, n_rows)
    strongest = np.argsort(-votes, kind="stable")[:LARGEST_SNAPSHOT]
    first = {
        "round": 0,
        "n_candidates": len(located.candidates),
        "n_voted": int(np.count_nonzero(votes)),
        "sigma": round(located.votes.sigma, 4),
        "candidates": _flatten(located.candidates[strongest], shift, axes_of_votes),
        "votes": np.round(votes[strongest], 1).tolist(),
        "n_centers": len(located.points),
        "centers": _flatten(located.points[:LARGEST_CROWD], shift, axes_of_votes),
        **({} if projection is None else {"dimension": projection.shape[1]}),
    }
    rounds = [
        {"round": index + 1, "n_centers": len(centers), "centers": _flatten(centers[:LARGEST_CROWD], origin, axes)}
        for index, centers in enumerate(refined.steps)
    ]
    return [first, *rounds]


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
