# SPDX-License-Identifier: Apache-2.0
"""What a release keeps of the steps of an algorithm: figures, and positions in the plane of the final centres."""

from typing import Any

import numpy as np

from cloister.algorithms import Generation, Located, Refined, Space, plane_of, project_to_total
from cloister.cluster._plan import Decision
from cloister.columns import FloatArray

LARGEST_SNAPSHOT = 150  # candidates kept per step: those with the most votes
LARGEST_CROWD = 1000  # centres kept per step
LARGEST_HISTORY = 8  # votes that keep their candidates: first, last and some between


def draw_generations(generations: tuple[Generation, ...], space: Space) -> dict[str, Decision]:
    """Return, for every vote of an evolution, how many candidates kept votes and where the centres were.

    What was voted on in a projection is drawn there, and says in how many dimensions that was.
    """
    projected = {} if space.projection is None else {"dimension": space.dimension}
    plane = plane_of(generations[-1].centers)
    drawn = set(np.linspace(0, len(generations) - 1, min(LARGEST_HISTORY, len(generations))).round().astype(int).tolist())
    decisions = {}
    for index, one in enumerate(generations):
        picture: dict[str, Any] = {"centers": plane.place(one.centers), **projected}
        if index in drawn:
            picture |= _strongest(one.candidates, one.votes, plane.place)
        decisions[f"vote {index + 1}"] = Decision(figures={"n_kept": float(np.count_nonzero(one.votes))}, picture=picture)
    return decisions


def draw_placing(located: Located, refined: Refined, *, n_rows: float, unit: float) -> dict[str, Decision]:
    """Return where the last vote found rows, and where the centres were after each round.

    What was voted on in a projection is drawn where its span lies in the full space, and says in how many dimensions that was.
    """
    plane, space = plane_of(refined.centers), located.space

    def place(points: FloatArray) -> list[list[float]]:
        return plane.place(space.lift(points))

    votes = project_to_total(located.votes.value, n_rows)
    picture = _strongest(located.candidates, votes, place) | {"centers": place(located.points[:LARGEST_CROWD])}
    if space.projection is not None:
        picture["dimension"] = space.dimension
    figures = {"n_kept": float(np.count_nonzero(votes))}
    decisions = {located.votes.event.step: Decision(figures=figures, picture=picture)}
    for move in refined.moves:
        decisions[move.step] = Decision(
            figures={"n_kept": float(len(move.centers)), "radius": move.radius * unit},
            picture={"centers": plane.place(move.centers[:LARGEST_CROWD])},
        )
    return decisions


def _strongest(candidates: FloatArray, votes: FloatArray, place: Any) -> dict[str, Any]:
    strongest = np.argsort(-votes, kind="stable")[:LARGEST_SNAPSHOT]
    return {"candidates": place(candidates[strongest]), "votes": np.round(votes[strongest], 1).tolist()}
