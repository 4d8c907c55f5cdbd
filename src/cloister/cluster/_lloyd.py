# SPDX-License-Identifier: Apache-2.0
"""LloydKMeans: Lloyd's iterations on noisy counts and sums, as proposed by Su et al.; and what FastLloyd shares with it."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from cloister import validate
from cloister.algorithms import LloydRound, Space, lloyd, pack_widest, rounds_within, split_round
from cloister.cluster._clusterer import PrivateClusterer
from cloister.cluster._declare import estimator
from cloister.cluster._pictures import draw_lloyd
from cloister.cluster._plan import Outcome, Plan, Planner, Request
from cloister.columns import FloatArray, Frame
from cloister.privacy import Step
from cloister.questions import Ask, BoundedSums, NearestCounts, NearestSums

__all__ = ["LloydEstimator", "LloydKMeans", "LloydPlan"]

SMALLEST_SHARE = 1e-6


@dataclass(frozen=True, kw_only=True)
class LloydPlan(Plan):
    """Rounds of a count and a sum for each centre, which share the budget equally."""

    rounds: tuple[Step, ...]
    radius: float  # of the rounds after the first

    @property
    def steps(self) -> tuple[Step, ...]:
        """What will be asked, in order."""
        return self.rounds


@estimator
class LloydEstimator(PrivateClusterer):
    """What the two methods share: the start, the split, the number of rounds, and what is read off the last one."""

    n_rounds: int | str = "auto"
    count_share: float | str = "auto"

    @abstractmethod
    def _iterate(self, ask: Ask, plan: LloydPlan, starts: FloatArray, space: Space) -> tuple[LloydRound, ...]:
        """Run the rounds."""

    def _radius(self, n_clusters: int, n_features: int) -> float:
        """Return the radius of the later rounds."""
        return 1.0

    def _needs_n_rows(self) -> bool:
        return validate.is_word(self.n_rounds, "auto")

    def _plan(self, request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> LloydPlan:
        n_rounds, share = self._whole_or_auto("n_rounds"), None
        if not validate.is_word(self.count_share, "auto"):
            where, remedy = self._where("count_share"), 'Pass "auto" or a part of the budget.'
            share = validate.number(where, self.count_share, low=SMALLEST_SHARE, high=1 - SMALLEST_SHARE, remedy=remedy)
        n_clusters, n_features = request.n_clusters, frame.n_features
        radius = self._radius(n_clusters, n_features)
        split = split_round(planner.budget, n_features, request.relation, counts=share)
        if n_rounds is None:
            n_rounds = rounds_within(
                planner.budget, split, n_clusters=n_clusters, n_rows=n_rows, n_features=n_features, radius=radius
            )
        point = np.zeros((1, n_features))
        sums = [NearestSums(points=point, radius=1.0), BoundedSums(points=point, radius=1.0)]
        return LloydPlan(
            rounds=tuple(
                planner.step(
                    f"round {index + 1}",
                    "Counts and sums of the rows at each centre",
                    n_points=n_clusters,
                    counts=(NearestCounts(points=point), split.counts / n_rounds),
                    sums=(sums[index > 0 and radius < 1], split.sums / n_rounds),
                )
                for index in range(n_rounds)
            ),
            radius=radius,
        )

    def _run(self, ask: Ask, plan: LloydPlan, frame: Frame, *, n_rows: float, generator: np.random.Generator) -> Outcome:
        space = Space(frame)
        packing = pack_widest(generator, self.n_clusters, frame.n_features, half_widths=frame.half_widths)
        self.rounds_ = self._iterate(ask, plan, space.clip(packing), space)
        last = self.rounds_[-1]
        return Outcome(
            centers=last.centers,
            center_errors=last.center_errors,
            counts=last.counts,
            count_errors=np.full(len(last.counts), last.count_sigma),
            n_rounds=len(self.rounds_),
            decisions=draw_lloyd(self.rounds_, unit=frame.distance_unit),
        )


@estimator
class LloydKMeans(LloydEstimator):
    """k-means by Lloyd's iterations on noisy counts and sums (DPLloyd, as improved by Su et al.).

    Parameters
    ----------
    n_rounds : int or "auto", default="auto"
        ``"auto"`` is the rule of the paper: as many rounds as keep the expected error of each below 0.004 (as a squared
        distance in [-1, 1]^d), at least 2 and at most 7.
    count_share : float or "auto", default="auto"
        Part of each round's budget that goes to the counts; ``"auto"`` minimises the expected error of a centre.

    Attributes
    ----------
    cluster_counts_ : array of shape (n_clusters,)
        Noisy numbers of rows, of the last round, about the centres it began with.
    rounds_ : tuple of LloydRound
        Centres, noisy counts and noisy sums of every round, in the coordinates in which distances were measured.

    Notes
    -----
    **Privacy.** Each round asks two questions about the cells of the present centres: how many rows, and their sum, measured
    from the middle of the domain. For adding or removing a row the counts have sensitivity 1; the sums have R in l2 and
    sqrt(d) R in l1, with R the radius of the domain (half the diagonal of a box). For replacing a row the counts have
    2 in l1 and sqrt(2) in l2, the sums twice the above. Rounds get equal shares. Every number has an independent draw, also in
    empty cells. The bounds and, if given, n_rows are taken as public. Not covered: labels, and the score of rows you pass.

    The method is that of Su, Cao, Li, Bertino and Jin, *Differentially private k-means clustering* (2016; 2017). It differs in
    the domain, a ball or a box instead of [-1, 1]^d (for a cube the Laplace noise is the paper's); in Gaussian noise for
    ``delta > 0``, for which the paper's split and number of rounds are derived anew from its error analysis; in the
    relation, where replacing a row needs the larger sensitivities; and in that a centre whose noisy count is below one stays.
    """

    def _iterate(self, ask: Ask, plan: LloydPlan, starts: FloatArray, space: Space) -> tuple[LloydRound, ...]:
        return lloyd(ask, plan.rounds, starts, space)
