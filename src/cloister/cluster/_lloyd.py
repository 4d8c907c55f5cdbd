# SPDX-License-Identifier: Apache-2.0
"""LloydKMeans: Lloyd's iterations on noisy counts and sums, as proposed by Su et al.; and what FastLloyd shares with it."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister import validate
from cloister.algorithms import LloydRound, LloydSplit, lloyd, pack_widest, rounds_within, split_round
from cloister.cluster._base import Outcome, PrivateClusterer, Request, count_rows
from cloister.cluster._progress import Progress
from cloister.domain import FloatArray, Frame
from cloister.privacy import Guarantee, Ledger
from cloister.questions import Ask, Cost

__all__ = ["LloydEstimator", "LloydKMeans", "LloydPlan"]

SMALLEST_SHARE = 1e-6


@dataclass(frozen=True, kw_only=True)
class LloydPlan:
    """Everything public numbers decide before the first question."""

    n_rounds: int | None  # None: from the number of rows, once it is known
    split: LloydSplit
    radius: float = 1.0  # of the later rounds


class LloydEstimator(PrivateClusterer):
    """What the two methods share: the start, the split, the number of rounds, and what is read off the last one."""

    n_rounds: int | str
    count_share: float | str

    @abstractmethod
    def _iterate(
        self, ask: Ask, cost: Cost, starts: FloatArray, *, n_rounds: int, plan: LloydPlan, frame: Frame, progress: Progress
    ) -> tuple[LloydRound, ...]:
        """Run the rounds."""

    def _plan(self, request: Request, frame: Frame) -> LloydPlan:
        n_rounds, share = None, None
        if not validate.is_word(self.n_rounds, "auto"):
            where, remedy = self._where("n_rounds"), 'Pass "auto" or a whole number.'
            n_rounds = validate.integer(where, self.n_rounds, low=1, remedy=remedy)
        if not validate.is_word(self.count_share, "auto"):
            where, remedy = self._where("count_share"), 'Pass "auto" or a part of the budget.'
            share = validate.number(where, self.count_share, low=SMALLEST_SHARE, high=1 - SMALLEST_SHARE, remedy=remedy)
        split = split_round(request.cost, frame.n_features, request.relation, counts=share)
        return LloydPlan(n_rounds=n_rounds, split=split)

    def _run(self, ask: Ask, request: Request, plan: LloydPlan, frame: Frame, progress: Progress) -> Outcome:
        n_rounds, cost = self._count_rounds(ask, request, plan, frame)
        progress.expect(n_rounds)
        generator = request.entropy.public_generator()
        packing = pack_widest(generator, request.n_clusters, frame.n_features, half_widths=frame.half_widths)
        starts = frame.clip_unit(packing)
        self.rounds_ = self._iterate(ask, cost, starts, n_rounds=n_rounds, plan=plan, frame=frame, progress=progress)
        return _outcome(self.rounds_)

    def _count_rounds(self, ask: Ask, request: Request, plan: LloydPlan, frame: Frame) -> tuple[int, Cost]:
        """Return the number of rounds and what they may spend; asks for the number of rows only where the rule needs it."""
        if plan.n_rounds is not None:
            return plan.n_rounds, request.cost
        n_rows, cost = count_rows(ask, request)
        sizes = {"n_clusters": request.n_clusters, "n_features": frame.n_features}
        return rounds_within(cost, plan.split, n_rows=n_rows, radius=plan.radius, **sizes), cost


class LloydKMeans(LloydEstimator):
    """k-means by Lloyd's iterations on noisy counts and sums (DPLloyd, as improved by Su et al.).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of centres; always exactly so many are returned.
    epsilon, delta : float, default=1.0 and 1e-6
        The guarantee. ``delta=0`` is pure differential privacy, with Laplace noise.
    guarantee : PureDP, ApproxDP, ZCDP or GDP, optional
        Replaces `epsilon` and `delta`.
    bounds : (low, high), Box or Ball
        Where rows may lie, known without looking at them. Rows outside are moved to the boundary.
    n_rounds : int or "auto", default="auto"
        ``"auto"`` is the rule of the paper: as many rounds as keep the expected error of each below 0.004 (as a squared
        distance in [-1, 1]^d), at least 2 and at most 7.
    count_share : float or "auto", default="auto"
        Part of each round's budget that goes to the counts; ``"auto"`` minimises the expected error of a centre.
    scaling, neighbours, n_rows, ledger, random_state, n_jobs, progress
        As for :class:`PEMeans`. With ``n_rounds="auto"`` and ``n_rows=None``, 2 % of the budget is spent on the number of rows.

    Attributes
    ----------
    rounds_ : tuple of LloydRound
        Centres, noisy counts and noisy sums of every round, in the coordinates in which distances were measured.
    cluster_centers_, cluster_counts_, release_, privacy_receipt_, labels_, n_features_in_, n_iter_
        As for :class:`PEMeans`. Counts are those of the last round, about the centres it began with.

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

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal([[20.0], [60.0]], 2.0, size=(2, 500)).reshape(-1, 1)
    >>> model = LloydKMeans(n_clusters=2, epsilon=2.0, bounds=(0, 100), random_state=0).fit(rows)
    >>> np.sort(model.cluster_centers_[:, 0]).round(-1)
    array([20., 60.])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        guarantee: Guarantee | None = None,
        bounds: Any = None,
        scaling: str = "none",
        neighbours: str = "add-remove",
        n_rows: int | None = None,
        n_rounds: int | str = "auto",
        count_share: float | str = "auto",
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.guarantee = guarantee
        self.bounds = bounds
        self.scaling = scaling
        self.neighbours = neighbours
        self.n_rows = n_rows
        self.n_rounds = n_rounds
        self.count_share = count_share
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _iterate(
        self, ask: Ask, cost: Cost, starts: FloatArray, *, n_rounds: int, plan: LloydPlan, frame: Frame, progress: Progress
    ) -> tuple[LloydRound, ...]:
        watch = progress.advance
        return lloyd(ask, cost, starts, n_rounds=n_rounds, split=plan.split, clip=frame.clip_unit, watch=watch)


def _outcome(rounds: tuple[LloydRound, ...]) -> Outcome:
    """Read counts and errors off the last round: they have been paid for."""
    last = rounds[-1]
    return Outcome(
        centers=last.centers,
        center_errors=last.center_errors,
        counts=last.counts,
        count_errors=np.full(len(last.counts), last.count_sigma),
        n_rounds=len(rounds),
        history=[
            {"round": index, "radius": one.radius, "count_sigma": one.count_sigma, "sum_sigma": one.sum_sigma}
            for index, one in enumerate(rounds, start=1)
        ],
    )
