# SPDX-License-Identifier: Apache-2.0
"""The public function ``plan``: what a fit of :class:`cloister.KMeans` will ask, how noisy the answers are, what to expect."""

from dataclasses import dataclass
from typing import Any

from cloister import validate
from cloister.cluster._forecast_model import Outlook, Setting
from cloister.cluster._forecast_show import as_html, as_text
from cloister.cluster._forecast_words import advise, judge, standing_out
from cloister.cluster._kmeans_plan import KMeansPlan
from cloister.domain import Relation
from cloister.privacy import Guarantee, as_guarantee, to_dict

__all__ = ["CenterError", "Forecast", "Noise", "Step", "plan"]

LARGEST_ROWS = 10**15
LARGEST = 1 << 20
SIZES = (0.1, 1 / 3, 1.0, 3.0, 10.0)  # of clusters, in units of the average


@dataclass(frozen=True)
class Noise:
    """One question: its share of the budget and the standard deviation of the noise in each of its numbers."""

    of: str  # "distances", "counts" or "sums"
    share: float
    sigma: float  # in rows; of a coordinate of a sum, in rows times the radius that offsets are clipped to


@dataclass(frozen=True)
class Step:
    """One step of the fit: a few questions about the same points."""

    name: str
    n_points: int
    noise: tuple[Noise, ...]

    @property
    def share(self) -> float:
        """Its part of the budget."""
        return sum(one.share for one in self.noise)

    def sigma(self, of: str) -> float | None:
        """Return the noise of one of its questions; None if it is not asked."""
        return next((one.sigma for one in self.noise if one.of == of), None)


@dataclass(frozen=True)
class CenterError:
    """How far the centre of a cluster of so many rows may be off."""

    size: int
    error: float  # in units of the root mean squared distance of its rows
    found: bool  # whether a cluster of that size stands out of the noise at all


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What :func:`cloister.plan` returns; prints as a page, in a notebook too.

    Attributes
    ----------
    n_rows, n_features, n_clusters : int
        What it was asked about.
    guarantee : PureDP, ApproxDP, ZCDP or GDP
        The same.
    neighbours : str
        The same.
    plan : KMeansPlan
        How the fit will divide its budget, exactly.
    steps : tuple of Step
        The steps in order, with the share and the noise of every question.
    smallest_cluster : float
        Rows of the smallest cluster that is found more often than not; more than there are rows if none is.
    center_errors : tuple of CenterError
        The expected error of a centre for some sizes of clusters, the average among them.
    stands_out_at : float or None
        The epsilon (rho, mu) from which on a cluster of average size is found; None if no usual one is enough.
    verdict, advice : tuple of str
        What to expect, and what to change.
    """

    n_rows: int
    n_features: int
    n_clusters: int
    guarantee: Guarantee
    neighbours: str
    plan: KMeansPlan
    steps: tuple[Step, ...]
    smallest_cluster: float
    center_errors: tuple[CenterError, ...]
    stands_out_at: float | None
    verdict: tuple[str, ...]
    advice: tuple[str, ...]

    def error(self, size: float) -> float:
        """Return the expected error of the centre of a cluster of `size` rows, in units of its radius."""
        return Outlook(self.plan).error(validate.number("Forecast.error", size, low=1.0))

    def to_dict(self) -> dict[str, Any]:
        """Return the forecast as plain data."""
        return {
            "n_rows": self.n_rows,
            "n_features": self.n_features,
            "n_clusters": self.n_clusters,
            "guarantee": to_dict(self.guarantee),
            "neighbours": self.neighbours,
            "n_projected": self.plan.dimension if self.plan.projected else None,
            "steps": [_step_dict(step) for step in self.steps],
            "smallest_cluster": self.smallest_cluster,
            "center_errors": [{"size": one.size, "error": one.error, "found": one.found} for one in self.center_errors],
            "stands_out_at": self.stands_out_at,
            "verdict": list(self.verdict),
            "advice": list(self.advice),
        }

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def plan(
    n_rows: int,
    n_features: int,
    n_clusters: int,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    guarantee: Guarantee | None = None,
    neighbours: str = "add-remove",
) -> Forecast:
    """Forecast a fit of :class:`cloister.KMeans` from public numbers, before any budget is spent.

    Parameters
    ----------
    n_rows : int
        About how many rows there are. It is yours to give: take a number that is public, or a guess.
    n_features, n_clusters : int
        Columns and centres.
    epsilon, delta : float, default=1.0 and 1e-6
        The guarantee. ``delta=0`` is pure differential privacy.
    guarantee : PureDP, ApproxDP, ZCDP or GDP, optional
        Replaces `epsilon` and `delta`.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Which tables count as neighbours.

    Returns
    -------
    Forecast
        ``steps`` (shares and noise of every question), ``smallest_cluster`` (rows), ``center_errors`` (for some sizes; any
        other by ``error(size)``), ``stands_out_at`` (the epsilon from which on an average cluster is found), ``verdict`` and
        ``advice`` (sentences). Prints as a page; ``to_dict()`` is plain data.

    Raises
    ------
    ParameterError
        For numbers that no fit could have.

    Notes
    -----
    **Privacy.** Sees no rows and spends nothing: sensitivity 0, any relation. What it says follows from the numbers you pass,
    so pass public ones.

    Errors are those of round clusters about five radii apart, against the mean of their rows, in units of the cluster's own
    radius (the root mean squared distance of its rows). On such data fits agree within a factor of 2. Clusters that overlap do
    worse, and so do clusters much farther apart in many columns. The fit is assumed to be told `n_rows`; otherwise it
    spends 2 % of the budget on that number.

    Examples
    --------
    >>> forecast = plan(10_000, 8, 16, epsilon=1.0)
    >>> print(forecast.verdict[0])
    With 10,000 rows and epsilon 1 expect clusters of average size (625 rows) to be found.
    >>> forecast.error(600) < 0.1
    True
    """
    setting = Setting(
        n_rows=validate.integer("plan.n_rows", n_rows, low=1, high=LARGEST_ROWS),
        n_features=validate.integer("plan.n_features", n_features, low=1, high=LARGEST),
        n_clusters=validate.integer("plan.n_clusters", n_clusters, low=1, high=LARGEST),
        guarantee=as_guarantee("plan", epsilon, delta, guarantee),
        relation=Relation.parse("plan.neighbours", neighbours),
    )
    outlook = setting.outlook()
    return Forecast(
        n_rows=setting.n_rows,
        n_features=setting.n_features,
        n_clusters=setting.n_clusters,
        guarantee=setting.guarantee,
        neighbours=setting.relation.value,
        plan=outlook.plan,
        steps=_steps(outlook.plan),
        smallest_cluster=outlook.smallest,
        center_errors=_center_errors(outlook),
        stands_out_at=standing_out(setting),
        verdict=judge(setting, outlook),
        advice=advise(setting, outlook),
    )


def _steps(plan: KMeansPlan) -> tuple[Step, ...]:
    steps = [
        Step("mean", 1, (Noise("sums", plan.mean, plan.sum_noise(plan.mean)),)),
        Step("spread", 1, (Noise("distances", plan.scale, plan.count_noise(plan.scale)),)),
    ]
    for index, share in enumerate(plan.votes):
        steps.append(Step(f"vote {index + 1}", plan.n_candidates[index], (Noise("counts", share, plan.count_noise(share)),)))
    for index, centers in enumerate((plan.n_start, *plan.left[:-1])):
        steps.append(Step(f"round {index + 1}", centers, _round_noise(plan, index)))
    return tuple(steps)


def _round_noise(plan: KMeansPlan, index: int) -> tuple[Noise, ...]:
    distances, counts, sums = plan.shares_of(index)
    return (
        Noise("distances", distances, plan.count_noise(distances)),
        Noise("counts", counts, plan.count_noise(counts)),
        Noise("sums", sums, plan.sum_noise(sums)),
    )


def _center_errors(outlook: Outlook) -> tuple[CenterError, ...]:
    most = int(outlook.plan.n_rows)
    sizes = sorted({min(most, max(1, round(size * outlook.average))) for size in SIZES})
    return tuple(CenterError(size, outlook.error(size), size >= outlook.smallest) for size in sizes)


def _step_dict(step: Step) -> dict[str, Any]:
    questions = [{"of": one.of, "share": one.share, "sigma": one.sigma} for one in step.noise]
    return {"name": step.name, "n_points": step.n_points, "share": step.share, "questions": questions}
