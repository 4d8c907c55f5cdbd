# SPDX-License-Identifier: Apache-2.0
"""The plan of a source-target fit, and what it says beforehand: the noise, and the part of the error that it decides.

The theorems are those of Schnapp and Sabato (2025), in units of the domain's diameter there and in units of the input here.
"""

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from scipy.special import ndtri

from cloister.cluster._plan import Plan, Request
from cloister.cluster._target import DIAMETER, Representatives
from cloister.privacy import Guarantee, Step

if TYPE_CHECKING:
    from cloister.cluster._source_target import SourceTargetKMedoids

LARGEST_EXPONENT = 700.0
THEOREMS = {"pure": "Theorem 5.10", "approx": "Theorem 5.5", "zcdp": "Theorem 5.12"}


def noise_norm(sigma: float, *, n_points: int, n_features: int, gamma: float, is_gaussian: bool) -> float:
    """Return what the noise on none of `n_points` averages is longer than, but for a probability of `gamma`.

    With noise of standard deviation `sigma` on every coordinate this is the additive term of Theorems 5.5, 5.10 and 5.12: a
    vector is at most sqrt(d) times as long as its largest coordinate, and all coordinates are bounded together.

    Examples
    --------
    >>> round(noise_norm(0.1, n_points=100, n_features=4, gamma=0.01, is_gaussian=True), 3)
    0.95
    """
    numbers = n_points * n_features
    if is_gaussian:
        largest = sigma * math.sqrt(2 * math.log(2 * numbers / gamma))
    else:
        largest = sigma / math.sqrt(2) * math.log(numbers / gamma)
    return math.sqrt(n_features) * largest


def paper_noise_ratio(epsilon: float, delta: float, n_points: int) -> float:
    """Return sigma over the l2 sensitivity of all `n_points` averages, as the paper sets it for NAS under (epsilon, delta).

    Each average is released with the classical Gaussian mechanism, and advanced composition adds them up:
    sqrt(18 log(1/delta) log(1.25 (n + 1)/delta)) / epsilon.

    Examples
    --------
    >>> round(paper_noise_ratio(0.5, 1e-6, 158) * 158**0.5 * 2 / 150, 1)  # the unit ball's diameter is 2
    23.1
    """
    return math.sqrt(18 * math.log(1 / delta) * math.log(1.25 * (n_points + 1) / delta)) / epsilon


@dataclass(frozen=True, kw_only=True)
class SourceTargetPlan(Plan):
    """The step that asks the source, about as many points as represent the target, and one that asks how far it is."""

    source: Step
    distance: Step | None = None
    n_neighbors: int  # of each average of NAS
    threshold: float | None  # that the paper's noisy counts must reach; None follows from the confidence


@dataclass(frozen=True, kw_only=True)
class SourceTargetForecast:
    """What is known of a fit before the source is asked: public numbers, in units of the input.

    Printed, it is a page of plain sentences.
    """

    method: str
    guarantee: Guarantee
    confidence: float
    n_clusters: int
    n_points: int  # representatives that the source is asked about
    n_features: int
    n_neighbors: int | None  # t of NAS
    diameter: float  # of the domain
    coreset_radius: float  # C: how far a target point may be from the one that stands for it
    noise: dict[str, float]  # standard deviation on each number of an answer, by question; of counts in rows
    threshold: float | None  # that a noisy count must reach; None for NAS
    noise_term: float | None  # Lambda, for the noise that will be drawn; None for NNA, for which there is no bound
    paper_term: float | None  # Lambda of the theorem, for the paper's noise; None where it states none
    shares: dict[str, float]  # of the budget, by question

    @property
    def additive_term(self) -> float | None:
        """Lambda + C of Corollary B.1: all of the bound that public numbers decide; the rest is Delta_t(S)."""
        return None if self.noise_term is None else self.noise_term + self.coreset_radius

    @property
    def floor(self) -> float:
        """The error that no private method avoids on every data set (Observation 4.2), in units of the input."""
        return self.diameter / 2 / (2 * self.n_clusters + 4)

    @property
    def words(self) -> tuple[str, ...]:
        """The same in sentences."""
        asked = f"The source is asked about {self.n_points:,} points"
        stand = f"no target point is farther than {self.coreset_radius:.3g} from its own"
        lines = [f"{asked}; {stand}. The domain has a diameter of {self.diameter:.3g}."]
        lines += [
            f"Noise on {name}: {sigma:.3g}, for {100 * self.shares[name]:.3g} % of the budget."
            for name, sigma in self.noise.items()
        ]
        if self.method == "nas":
            lines += self._bound()
        else:
            assert self.threshold is not None
            seen = f"An average is used from a noisy count of {self.threshold:.3g} on"
            lines.append(f"{seen}: fewer source rows around a representative are not seen.")
            lines.append("For NNA there is no bound on the error.")
        how_often = "often"
        if self.guarantee.is_pure or self.guarantee.stated_delta:  # its strength is an epsilon
            likely = (1 - 2 * self.guarantee.stated_delta) / 2 * math.exp(-min(self.guarantee.strength, LARGEST_EXPONENT))
            how_often = f"with probability {max(likely, 0.0):.2g} or more"
        limit = f"On some data every private method is off by at least {self.floor:.3g}, {how_often} (Observation 4.2)."
        return (*lines, limit)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        kept = {name: value for name, value in asdict(self).items() if name != "guarantee"}
        return {**kept, "guarantee": self.guarantee.to_dict(), "additive_term": self.additive_term, "words": list(self.words)}

    def __str__(self) -> str:
        return "\n".join((f"SourceTargetKMedoids, {self.method.upper()}, {self.guarantee}", "", *self.words))

    def _bound(self) -> list[str]:
        assert self.noise_term is not None
        likely, parts = f"With probability {self.confidence:g}", f"{self.noise_term:.3g} for the noise (Lambda)"
        sum_of = f"the sum of {parts}, {self.coreset_radius:.3g} for the coreset, and Delta_t(S)"
        distance = f"the mean distance of a representative to its {self.n_neighbors:,} nearest source rows"
        lines = [
            f"{likely} the cost of no choice is misjudged by more than {sum_of}.",
            f"Delta_t(S) is {distance}. Only the source knows it; distance_share buys it.",
        ]
        if self.noise_term >= self.diameter:
            lines.append("That is more than the diameter: the bound promises nothing, and the averages are noise.")
        if self.paper_term is not None:
            theorem = THEOREMS.get(self.guarantee.kind, THEOREMS["zcdp"])
            lines.append(f"{theorem} states {self.paper_term:.3g} for the noise, with the paper's own.")
        return lines


def forecast(
    model: "SourceTargetKMedoids", plan: SourceTargetPlan, asked: Representatives, request: Request
) -> SourceTargetForecast:
    """Return what a plan says of a fit, in units of the input."""
    unit, near = asked.frame.distance_unit, model.method == "nas"
    queries = {query.name: query for step in plan.steps for query in step.queries}
    radius = 1.0 if model.calibration == "paper" else asked.radius
    lengths = {"counts": 1.0, "sums": radius * unit, "means": unit, "distance": unit}
    gamma, threshold = 1 - model.confidence, plan.threshold
    if near:
        threshold = None
    elif threshold is not None:
        threshold = max(threshold, 1.0)
    else:
        counts = plan.source["counts"]
        tail = ndtri(model.confidence) if counts.cost.is_gaussian else math.log(1 / (2 * gamma)) / math.sqrt(2)
        threshold = 1 + max(0.0, counts.sigma * float(tail))
    return SourceTargetForecast(
        method=model.method,
        guarantee=request.guarantee,
        confidence=model.confidence,
        n_clusters=request.n_clusters,
        n_points=len(asked.points),
        n_features=asked.frame.n_features,
        n_neighbors=plan.n_neighbors if near else None,
        diameter=DIAMETER * unit,
        coreset_radius=asked.coreset_radius * unit,
        noise={name: query.sigma * lengths[name] for name, query in queries.items()},
        threshold=threshold,
        noise_term=unit * largest_noise(plan, asked, gamma) if near else None,
        paper_term=unit * _paper_term(plan, asked, request.guarantee, gamma) if near else None,
        shares={name: query.share for name, query in queries.items()},
    )


def largest_noise(plan: SourceTargetPlan, asked: Representatives, gamma: float) -> float:
    """Return what the noise on no average of NAS is longer than, but for a probability of `gamma`, in the unit ball."""
    query, (n_points, n_features) = plan.source["means"], asked.points.shape
    return noise_norm(query.sigma, n_points=n_points, n_features=n_features, gamma=gamma, is_gaussian=query.cost.is_gaussian)


def _paper_term(plan: SourceTargetPlan, asked: Representatives, guarantee: Guarantee, gamma: float) -> float:
    """Return the additive term of the theorem for a guarantee: the noise that the paper states, for diameter 2."""
    n_points, n_features = asked.points.shape
    moved = math.sqrt(n_points) * DIAMETER / plan.n_neighbors  # in l2
    budget = guarantee.noise_budget()
    if guarantee.stated_delta:
        sigma = moved * paper_noise_ratio(guarantee.strength, guarantee.stated_delta, n_points)
    else:
        sigma = budget.deviation(l1=moved * math.sqrt(n_points * n_features), l2=moved)
    return noise_norm(sigma, n_points=n_points, n_features=n_features, gamma=gamma, is_gaussian=budget.is_gaussian)
