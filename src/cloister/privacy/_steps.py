# SPDX-License-Identifier: Apache-2.0
"""The steps of a fit as data: its questions and their costs, and afterwards what was decided. Public numbers only.

A plan yields steps before the first question. Each question is passed to the vault with its query, so that its event carries
the name of the step, and a release keeps one record per step. Forecast, progress bar, receipt and report read these; the order
of a method's questions is written down nowhere else.
"""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from cloister.privacy._guarantees import Cost

# What a record may say of a step, and how a report calls it; distances are in the units that `transform` returns.
FIGURES = {
    "n_points": "Points",
    "n_kept": "Points kept",
    "radius": "Clipping radius",
    "count_error": "Error of a count",
    "max_rows": "Rows used per person",
    "weight": "Weight of levels",
    "explained": "Dependence explained",
}


@dataclass(frozen=True)
class Query:
    """One question of a step: what it may cost, and how noisy its answer will be."""

    step: str  # name of the step
    name: str  # within the step: "counts", "sums", "distances", ...
    cost: Cost
    share: float  # of the budget of the fit
    sigma: float  # standard deviation of the noise in each number; of sums, per unit of the radius they are clipped at
    row_share: float = 1.0  # part of the rows that it is answered on: below 1 a secret random sample, see _coins.py

    def times(self, factor: float) -> "Query":
        """Return the query with so many times its share, where another step left something over."""
        cost = self.cost.share(factor)
        quieter = cost.deviation(l1=1.0, l2=1.0) / self.cost.deviation(l1=1.0, l2=1.0)
        return replace(self, cost=cost, share=self.share * factor, sigma=self.sigma * quieter)


@dataclass(frozen=True, kw_only=True)
class Step:
    """A few questions about the same points, planned from public numbers before the first of them."""

    name: str  # unique within a fit: "mean", "vote 2", "round 1"
    purpose: str  # in plain words, for progress bar, forecast and report
    n_points: int  # that it asks about
    queries: tuple[Query, ...]

    @property
    def share(self) -> float:
        """Its part of the budget."""
        return sum(query.share for query in self.queries)

    def times(self, factor: float) -> "Step":
        """Return the step with so many times its share."""
        return replace(self, queries=tuple(query.times(factor) for query in self.queries))

    def with_all_rows(self, *names: str) -> "Step":
        """Return the step with the named queries asked of all rows instead of a sample."""
        queries = (replace(query, row_share=1.0) if query.name in names else query for query in self.queries)
        return replace(self, queries=tuple(queries))

    def __getitem__(self, name: str) -> Query:
        return next(query for query in self.queries if query.name == name)

    def sigma(self, name: str) -> float | None:
        """Return the noise of one of its questions; None if it does not ask it."""
        return next((query.sigma for query in self.queries if query.name == name), None)


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """What a release keeps of a step: its events are those that carry its name."""

    name: str
    purpose: str
    figures: dict[str, float] = field(default_factory=dict)  # what was decided, by the names in FIGURES
    picture: dict[str, Any] = field(default_factory=dict)  # centres and candidates in a plane, see cluster/_pictures.py

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return asdict(self)
