# SPDX-License-Identifier: Apache-2.0
"""FastLloyd: Lloyd's iterations on noisy offsets from the present centres, of the rows within a radius (Diaa et al.)."""

from dataclasses import replace
from typing import Any

from cloister import validate
from cloister.algorithms import LloydRound, bounded_radius, fast_lloyd
from cloister.cluster._base import Request
from cloister.cluster._lloyd import LloydEstimator, LloydPlan
from cloister.cluster._progress import Progress
from cloister.domain import FloatArray, Frame
from cloister.privacy import Guarantee, Ledger
from cloister.questions import Ask, Cost

__all__ = ["FastLloyd"]

LARGEST_ALPHA = 2.0  # with one cluster it is the diameter of the domain: no row is left out
SMALLEST_ALPHA = 1e-3


class FastLloyd(LloydEstimator):
    """k-means by Lloyd's iterations on noisy offsets from the present centres, of the rows within a radius of them.

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
    n_rounds : int or "auto", default=6
        ``"auto"`` is the rule of :class:`LloydKMeans`, with the noise of the smaller radius.
    alpha : float, default=0.8
        From the second round on rows farther than ``alpha R / n_clusters^(1/d)`` from their centre are left out, with R the
        radius of the domain (half the diagonal of a box): `alpha` times half the diagonal of one of k equal parts.
    count_share : float or "auto", default="auto"
        Part of each round's budget that goes to the counts; ``"auto"`` minimises the expected error of a centre.
    scaling, neighbours, n_rows, ledger, random_state, n_jobs, progress
        As for :class:`PEMeans`. The number of rows matters for ``n_rounds="auto"`` alone.

    Attributes
    ----------
    rounds_ : tuple of LloydRound
        Centres, noisy counts and noisy sums of every round, in the coordinates in which distances were measured.
    cluster_centers_, cluster_counts_, release_, privacy_receipt_, labels_, n_features_in_, n_iter_
        As for :class:`PEMeans`. Counts are those of the last round: of the rows within the radius of the centres it began with.

    Notes
    -----
    **Privacy.** Each round asks how many rows belong to each centre and for the sum of their offsets. For adding or removing a
    row the counts have sensitivity 1; the sums have r in l2 and sqrt(d) r in l1, with r the radius of the round. For
    replacing a row the counts have 2 in l1 and sqrt(2) in l2, the sums twice the above. A row beyond the radius moves
    nothing. Rounds get equal shares. Every number has an independent draw, also in empty cells. The bounds and, if given,
    n_rows are taken as public. Not covered: labels, and the score of rows you pass.

    The method is that of Diaa, Humphries and Kerschbaum, *FastLloyd* (2025), for one holder of the rows: the secure aggregation
    between several is left out. The paper's first round bounds offsets by the diagonal of the domain, which leaves no row
    out; here that round measures them from the middle of the domain, which leaves none out either and halves the noise. The
    radius of the later rounds is the paper's "diagonal then fraction", read for a domain of radius R. Centres that leave a
    box are reflected at its faces, as in the paper; those that leave a ball at its surface, along their ray. A centre whose
    noisy count is below one stays. The split of the budget is the paper's principle, the smallest expected error, with
    exact GDP composition and the sensitivities of the relation.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal([[20.0], [60.0]], 2.0, size=(2, 500)).reshape(-1, 1)
    >>> model = FastLloyd(n_clusters=2, epsilon=2.0, bounds=(0, 100), random_state=0).fit(rows)
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
        n_rounds: int | str = 6,
        alpha: float = 0.8,
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
        self.alpha = alpha
        self.count_share = count_share
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _plan(self, request: Request, frame: Frame) -> LloydPlan:
        alpha = validate.number(self._where("alpha"), self.alpha, low=SMALLEST_ALPHA, high=LARGEST_ALPHA)
        radius = bounded_radius(alpha, request.n_clusters, frame.n_features)
        return replace(super()._plan(request, frame), radius=radius)

    def _iterate(
        self, ask: Ask, cost: Cost, starts: FloatArray, *, n_rounds: int, plan: LloydPlan, frame: Frame, progress: Progress
    ) -> tuple[LloydRound, ...]:
        return fast_lloyd(
            ask,
            cost,
            starts,
            n_rounds=n_rounds,
            radius=plan.radius,
            split=plan.split,
            clip=frame.clip_unit,
            half_widths=frame.half_widths,
            watch=progress.advance,
        )
