# SPDX-License-Identifier: Apache-2.0
"""PEMeans: k-means by private evolution, and its high-dimensional variant."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from cloister import validate
from cloister.algorithms import FEWEST_VARIATIONS, Evolution, EvolutionSettings, Generation, evolve, lift, random_projection
from cloister.cluster._base import Outcome, PrivateClusterer, Request, count_rows
from cloister.cluster._history import tell_history
from cloister.cluster._progress import Progress
from cloister.domain import FloatArray, Frame
from cloister.privacy import Guarantee, Ledger
from cloister.questions import Ask

__all__ = ["PEMeans"]

PROJECT_ABOVE = 32  # dimensions; the published high-dimensional runs project only beyond it
PROJECT_TO = 16
PROJECTED_ROUNDS = 14
LIFT_QUESTIONS = 2
LARGEST_EPSILON_FACTOR = 4.0  # rounds grow with epsilon up to the largest epsilon that was studied
ROWS_PER_CANDIDATE = 5
FEWEST_SETTLED_ROUNDS = 3  # to tell from the rounds how far centres move


@dataclass(frozen=True, kw_only=True)
class PEPlan:
    """Everything public numbers decide before the first question."""

    n_rounds: int
    dimension: int
    projected: bool
    n_variations: int | None  # None: from the number of rows, once it is known
    max_candidates: int
    selection: str
    adaptive: bool
    step: float
    levy_exponent: float
    n_init: int

    @property
    def n_questions(self) -> int:
        """Questions that share the budget equally."""
        return self.n_rounds + (LIFT_QUESTIONS if self.projected else 0)


class PEMeans(PrivateClusterer):
    """k-means by private evolution: candidates evolve, rows only vote for the nearest one.

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
    scaling : {"none", "bounds"}, default="none"
        Measure distances in the units of the input, or with every column divided by the width of its bounds.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Which tables count as neighbours.
    n_rows : int, optional
        The number of rows, if it is public. None spends 2 % of the budget on a noisy count.
    n_rounds : int or "auto", default="auto"
        Votes. ``"auto"`` is ``int(4 sqrt(d))``, times epsilon (at most 4) above 1; 14 when projected.
    n_variations : int or "auto", default="auto"
        Variations of each centre at the start; ``"auto"`` is ``max(n_rows / (5 n_clusters), 4)``.
    max_candidates : int, default=8192
        Cap on the candidates of a round, so that the cost grows linearly with the rows.
    projection : int, None or "auto", default="auto"
        Dimensions to project to at random before voting; None never projects. ``"auto"`` takes 16 above 32 columns.
    selection : {"kmeans", "top-k"}, default="kmeans"
        Choose centres by weighted k-means of the candidates, or take those with the most votes (the older rule).
    adaptive : bool, default=True
        Halve the variations while the votes drown in noise.
    step : float, default=0.01
        Size of a variation in units of the domain's radius.
    levy_exponent : float, default=1.75
        Tails of the variations: smaller is heavier.
    n_init : int, default=10
        Restarts of each weighted k-means, on public numbers.
    ledger : Ledger, optional
        A budget shared with other fits; the fit is refused where it does not fit.
    random_state : int, optional
        Makes noise and choices reproducible and stamps the receipt ``seeded``: for tests, not for publication.
    n_jobs : int, optional
        Threads; None uses all processors.
    progress : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        In the units of the input, inside the domain.
    cluster_counts_ : array of shape (n_clusters,)
        Noisy numbers of rows.
    release_ : Release
        What may be published.
    privacy_receipt_ : Receipt
        Guarantee and events.
    generations_ : tuple of Generation
        Candidates and noisy votes of every round, in the coordinates in which distances were measured.
    labels_ : array of shape (n_rows,)
        Row-level, not covered by the guarantee, absent from pickles. Only for tables in memory.
    n_features_in_, n_iter_ : int
        Columns and rounds.

    Notes
    -----
    **Privacy.** Each round asks how many rows have each candidate as their nearest: l2 sensitivity 1 for adding or removing
    a row, sqrt(2) for replacing one. All rounds get an equal share; Gaussian noise composes exactly (GDP). The projected
    variant spends two more shares on a count and a sum per cluster, the sum of sensitivity R (2 R for replacing), with an
    independent draw for every number. The bounds and, if given, n_rows are taken as public. Not covered: labels, and the
    score of rows you pass.

    The method is that of Humphries, Lin and Yekhanin, *PE-means*. It differs where their text and their published figures
    disagree (see the documentation), and in the cap on candidates.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal([[20.0], [60.0]], 2.0, size=(2, 500)).reshape(-1, 1)
    >>> model = PEMeans(n_clusters=2, epsilon=2.0, bounds=(0, 100), random_state=0).fit(rows)
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
        n_variations: int | str = "auto",
        max_candidates: int = 8192,
        projection: int | str | None = "auto",
        selection: str = "kmeans",
        adaptive: bool = True,
        step: float = 0.01,
        levy_exponent: float = 1.75,
        n_init: int = 10,
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
        self.n_variations = n_variations
        self.max_candidates = max_candidates
        self.projection = projection
        self.selection = selection
        self.adaptive = adaptive
        self.step = step
        self.levy_exponent = levy_exponent
        self.n_init = n_init
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _plan(self, request: Request, frame: Frame) -> PEPlan:
        where, n_features = self._where, frame.n_features
        dimension = self._dimension(n_features)
        projected = dimension < n_features
        return PEPlan(
            n_rounds=self._rounds(request.epsilon, dimension, projected=projected),
            dimension=dimension,
            projected=projected,
            n_variations=None
            if validate.is_word(self.n_variations, "auto")
            else validate.integer(where("n_variations"), self.n_variations, low=1, remedy='Pass "auto" or a whole number.'),
            max_candidates=validate.integer(where("max_candidates"), self.max_candidates, low=1),
            selection=validate.one_of(where("selection"), self.selection, ("kmeans", "top-k")),
            adaptive=validate.boolean(where("adaptive"), self.adaptive),
            step=validate.number(where("step"), self.step, low=0.0, high=1.0, open_low=True),
            levy_exponent=validate.number(where("levy_exponent"), self.levy_exponent, low=0.3, high=1.99),
            n_init=validate.integer(where("n_init"), self.n_init, low=1),
        )

    def _dimension(self, n_features: int) -> int:
        if self.projection is None:
            return n_features
        if validate.is_word(self.projection, "auto"):
            return PROJECT_TO if n_features > PROJECT_ABOVE else n_features
        remedy = 'Pass "auto", None, or the number of dimensions to project to.'
        return min(n_features, validate.integer(self._where("projection"), self.projection, low=1, remedy=remedy))

    def _rounds(self, epsilon: float, dimension: int, *, projected: bool) -> int:
        if not validate.is_word(self.n_rounds, "auto"):
            return validate.integer(self._where("n_rounds"), self.n_rounds, low=1, remedy='Pass "auto" or a whole number.')
        if projected:
            return PROJECTED_ROUNDS
        rounds = int(4 * dimension**0.5)
        return rounds if epsilon <= 1 else int(min(epsilon, LARGEST_EPSILON_FACTOR) * rounds)

    def _run(self, ask: Ask, request: Request, plan: PEPlan, frame: Frame, progress: Progress) -> Outcome:
        generator = request.entropy.public_generator()
        progress.expect(plan.n_questions)
        n_rows, budget = count_rows(ask, request)
        cost = budget.share(1 / plan.n_questions)
        projection = random_projection(generator, frame.n_features, plan.dimension) if plan.projected else None
        evolution = evolve(
            ask,
            cost,
            n_clusters=request.n_clusters,
            n_rows=n_rows,
            dimension=plan.dimension,
            settings=_settings(plan, request.n_clusters, n_rows),
            generator=generator,
            clip=_clip_ball if plan.projected else frame.clip_unit,
            half_widths=None if plan.projected else frame.half_widths,
            projection=projection,
            watch=progress.advance,
        )
        self.generations_ = evolution.generations
        if projection is None:
            return _outcome(evolution)
        centers, counts, errors = lift(ask, cost, evolution.centers, projection=projection, clip=frame.clip_unit)
        sigma = evolution.generations[-1].sigma
        return Outcome(
            centers=centers,
            center_errors=errors,
            counts=counts,
            count_errors=np.full(len(counts), sigma),
            n_rounds=plan.n_rounds,
            history=tell_history(evolution.generations),
        )


def _settings(plan: PEPlan, n_clusters: int, n_rows: float) -> EvolutionSettings:
    """Complete the plan with the number of variations, which depends on the (noisy or public) number of rows."""
    wanted = plan.n_variations
    if wanted is None:
        wanted = max(int(n_rows / (ROWS_PER_CANDIDATE * n_clusters)), FEWEST_VARIATIONS)
    cap = max(plan.max_candidates // n_clusters - 1, 1)
    return EvolutionSettings(
        n_rounds=plan.n_rounds,
        n_variations=min(wanted, cap),
        selection=plan.selection,
        adaptive=plan.adaptive,
        step=plan.step,
        levy_exponent=plan.levy_exponent,
        n_init=plan.n_init,
    )


def _outcome(evolution: Evolution) -> Outcome:
    """Read counts and standard errors off the last votes: free, because they have been paid for."""
    last = evolution.generations[-1]
    counts, count_errors, center_errors = _cells(last)
    return Outcome(
        centers=last.centers,
        center_errors=np.minimum(np.hypot(center_errors, _wander(evolution.generations)), 1.0),
        counts=counts,
        count_errors=count_errors,
        n_rounds=len(evolution.generations),
        history=tell_history(evolution.generations),
    )


def _cells(last: Generation) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return, per centre, the votes of its candidates, their noise, and the standard error of the weighted mean.

    A centre is the mean of the candidates that kept votes, weighted by them. To first order the noise of the votes moves it by
    sigma sqrt(sum (candidate - centre)^2) / (sum of votes).
    """
    alive = last.votes > 0
    points, votes, centers = last.candidates[alive], last.votes[alive], last.centers
    n_clusters = len(centers)
    if not len(points):
        return np.zeros(n_clusters), np.full(n_clusters, last.sigma), np.ones(centers.shape)
    owner = np.argmin(((points[:, None, :] - centers) ** 2).sum(axis=2), axis=1)
    counts = np.bincount(owner, weights=votes, minlength=n_clusters).astype(np.float64)
    sizes = np.bincount(owner, minlength=n_clusters)
    spread = np.zeros(centers.shape)
    np.add.at(spread, owner, (points - centers[owner]) ** 2)
    errors = last.sigma * np.sqrt(spread) / np.maximum(counts, last.sigma)[:, None]
    return counts, last.sigma * np.sqrt(np.maximum(sizes, 1)), np.minimum(errors, 1.0)


def _wander(generations: tuple[Generation, ...]) -> FloatArray:
    """Return the standard deviation of each centre over the second half of the rounds; an earlier centre is the nearest one.

    The noise of the last votes alone says several times too little: where the candidates happen to lie, and which of them kept
    votes, also moves a centre. Rounds repeat that draw, and looking at them is free.
    """
    last = generations[-1].centers
    settled = generations[len(generations) // 2 :]
    if len(settled) < FEWEST_SETTLED_ROUNDS:
        return np.zeros(last.shape)
    tracks = [one.centers[cKDTree(one.centers).query(last)[1]] for one in settled]
    return np.asarray(np.std(tracks, axis=0, ddof=1))


def _clip_ball(points: FloatArray) -> FloatArray:
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(points / np.maximum(norms, 1.0))
