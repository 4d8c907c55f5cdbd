# SPDX-License-Identifier: Apache-2.0
"""The recipe for an estimator, followed: a toy in one module, with public names only, listed in the table of methods.

As a plugin (``pytest -p tests.common._recipe tests/common -k VoteMeans``) it puts the toy through the common suite.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from cloister import methods, rivals
from cloister.algorithms import Space, weighted_kmeans
from cloister.cluster import Outcome, Plan, Planner, PrivateClusterer, Request, estimator
from cloister.columns import FloatArray, Frame
from cloister.privacy import Step
from cloister.questions import Ask, NearestCounts

METHOD = methods.Method(
    name="VoteMeans",
    room="cloister.rivals",
    command="vote",
    summary="one vote for random candidates, then k-means of them",
    origin="an example",
    short={"n_init": 1, "max_candidates": 16},
)


@dataclass(frozen=True, kw_only=True)
class VotePlan(Plan):
    """One vote."""

    vote: Step

    @property
    def steps(self) -> tuple[Step, ...]:
        return (self.vote,)


@estimator
class VoteMeans(PrivateClusterer):
    """k-means of random candidates, each as heavy as the rows that are nearest to it.

    Parameters
    ----------
    max_candidates : int, default=64
        Candidates, if there are not more clusters.
    n_init : int, default=4
        Restarts of the k-means of the candidates.

    Notes
    -----
    **Privacy.** One question with the sensitivity of a histogram: 1 for adding or removing a row; for replacing one 2 in l1 and
    sqrt(2) in l2. It gets the whole budget.

    Examples
    --------
    >>> VoteMeans(2, bounds=(0, 1), random_state=0).fit([[0.1], [0.9]]).cluster_centers_.shape
    (2, 1)
    """

    max_candidates: int = 64
    n_init: int = 4

    def _needs_n_rows(self) -> bool:
        return False

    def _plan(self, request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> VotePlan:
        self._whole("n_init")
        n_points = max(request.n_clusters, self._whole("max_candidates"))
        question = NearestCounts(points=np.zeros((1, frame.n_features)))
        return VotePlan(vote=planner.step("vote", "Votes for the nearest candidate", n_points=n_points, counts=(question, 1.0)))

    def _run(self, ask: Ask, plan: VotePlan, frame: Frame, *, n_rows: float, generator: np.random.Generator) -> Outcome:
        space, n_clusters = Space(frame), int(self.n_clusters)
        points = space.clip(generator.uniform(-space.reach, space.reach, size=(plan.vote.n_points, frame.n_features)))
        votes = ask(NearestCounts(points=points), plan.vote["counts"])
        weights = np.maximum(votes.value, 1e-9)
        centers = weighted_kmeans(points, weights, n_clusters, generator=generator, restarts=int(self.n_init))
        return Outcome(
            centers=space.clip(centers),
            center_errors=np.ones(centers.shape),
            counts=_add_up(points, votes.value, centers),
            count_errors=np.full(n_clusters, votes.event.standard_deviation * plan.vote.n_points**0.5),
            n_rounds=1,
        )


def _add_up(points: FloatArray, votes: FloatArray, centers: FloatArray) -> FloatArray:
    nearest = np.linalg.norm(points[:, None] - centers, axis=2).argmin(axis=1)
    return np.bincount(nearest, weights=votes, minlength=len(centers))


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """List the toy, as a plugin, before the suite reads the table."""
    rivals.VoteMeans = VoteMeans  # type: ignore[attr-defined]
    methods.METHODS[METHOD.name] = METHOD
