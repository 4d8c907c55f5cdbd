# SPDX-License-Identifier: Apache-2.0
"""The public numbers that a forecast is made from; where persons are protected, what using more rows of each costs and gains.

Persons are taken to have from 1 row to a number that the caller guesses, all numbers equally often. Beside it stands group
privacy: every row protected so much more that all rows of a person together are protected as much.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from cloister.cluster import Plan, Request, center_variances, noise_of_center, pick_max_rows, plan_fit
from cloister.columns import LARGEST_MAX_ROWS, FloatArray, Neighbours, PrivacyUnit, Relation
from cloister.methods import Method
from cloister.privacy import Entropy, Guarantee, Step

__all__ = ["LARGEST_ROWS", "PersonForecast", "Persons", "RowLimit", "Setting", "count_noise", "forecast_persons", "recommend"]

LARGEST_ROWS = 10**15
STEPS = (1, 2, 3, 5)  # times powers of ten: the numbers of rows that are compared


@dataclass(frozen=True, kw_only=True)
class Persons:
    """Persons as the unit of privacy of a fit that is forecast."""

    privacy_unit: PrivacyUnit  # with a number of rows
    most_rows: int  # persons are taken to have from 1 to this many
    finds: bool  # whether the fit finds with noise how many rows of each are used

    @property
    def max_rows(self) -> int:
        """Rows of a person that are used, at most."""
        assert self.privacy_unit.max_rows is not None
        return self.privacy_unit.max_rows

    @property
    def sizes(self) -> FloatArray:
        """How many rows persons have."""
        return np.arange(1.0, self.most_rows + 1)

    @property
    def mean_used(self) -> float:
        """Rows of a person that are used, on average."""
        return float(np.minimum(self.sizes, self.max_rows).mean())

    def variances(self, limits: Sequence[int], n_persons: int, *, noise: float, weighted: bool) -> FloatArray:
        """Return the expected squared error of a centre for some numbers of rows per person, as ``center_variances`` does."""
        persons = np.full(self.most_rows, n_persons / self.most_rows)
        return center_variances(limits, self.sizes, persons, noise=noise, weighted=weighted)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The public numbers that a forecast is made from."""

    n_rows: int  # or persons
    n_features: int
    n_clusters: int
    guarantee: Guarantee
    relation: Relation
    method: Method
    options: Mapping[str, Any] = field(default_factory=dict)  # parameters of the method's own
    describe: float = 0.0  # part of the budget that says what the clusters look like
    persons: Persons | None = None  # where they are protected, instead of rows

    @property
    def unit(self) -> str:
        """What is protected, and what there are `n_rows` of: "row" or "person"."""
        return "row" if self.persons is None else "person"

    @property
    def counted(self) -> str:
        """What counts are numbers of: "row" or "person"."""
        return "row" if self.persons is None or not self.persons.privacy_unit.is_weighted else "person"

    @property
    def size(self) -> int:
        """What counts add up to: rows that are used, or persons."""
        return self.n_rows if self.counted == "person" else self.rows_used

    @property
    def rows_used(self) -> int:
        """How many rows are used."""
        return self.n_rows if self.persons is None else round(self.n_rows * self.persons.mean_used)

    def limited(self, max_rows: int) -> "Setting":
        """Return the same with at most this many rows of a person."""
        assert self.persons is not None
        return replace(self, persons=replace(self.persons, privacy_unit=self.persons.privacy_unit.limited(max_rows)))

    def chance(self, size: float) -> float:
        """Return the sampling error of the mean of `size` rows or persons, in parts of their radius."""
        if self.persons is None:
            return 1 / math.sqrt(size)
        persons = self.persons
        weighted = persons.privacy_unit.is_weighted
        (variance,) = persons.variances([persons.max_rows], self.n_rows, noise=0.0, weighted=weighted).tolist()
        return math.sqrt(variance * self.size / size)

    def plan(self) -> Plan:
        """Return the plan of a fit that is given the number of rows or persons, in a box."""
        persons = self.persons
        parameters = dict(self.options)
        if self.describe:
            parameters["describe"] = self.describe
        if persons is not None:
            parameters |= {
                "privacy_unit": persons.privacy_unit.noun,
                "max_rows_per_unit": "auto" if persons.finds else persons.max_rows,
                "weighting": persons.privacy_unit.weighting,
            }
        model = self.method.estimator(
            self.n_clusters,
            guarantee=self.guarantee,
            bounds=(-1.0, 1.0),
            neighbours=self.relation.value,
            n_rows=min(self.n_rows, LARGEST_ROWS),
            **parameters,
        )
        max_rows = None if persons is None else persons.max_rows
        return plan_fit(model, self.n_features, max_rows=max_rows, expected=float(self.size))

    def center_noise(self) -> float:
        """Return the squared noise of a centre in units of its radius, times the square of the rows, for one row each."""
        request = Request(
            n_clusters=self.n_clusters,
            guarantee=self.guarantee,
            cost=self.guarantee.noise_budget(),
            relation=Neighbours(self.relation),
            n_rows=None,
            entropy=Entropy(0),
        )
        return noise_of_center(request, self.n_features)


def count_noise(steps: Sequence[Step]) -> float | None:
    """Return the noise of the last counts that are asked for; None if there are none."""
    return next((noise for step in reversed(steps) if (noise := step.sigma("counts")) is not None), None)


# -- rows of a person ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RowLimit:
    """What it means to use so many rows of a person at most."""

    max_rows: int | None  # None: all rows, where single rows are protected so much more
    rows_used: int
    count_noise: float | None  # standard deviation of the noise of a last count, in what is counted; None without such a count
    noise_share: float | None  # of all that is counted
    center_error: float  # of a cluster of average size, in parts of its radius, sampling error included
    recommended: bool = False


@dataclass(frozen=True, kw_only=True)
class PersonForecast:
    """What a forecast says of persons.

    Attributes
    ----------
    rows_per_unit : int
        Persons are taken to have from 1 to so many rows, all numbers equally often: an assumption.
    max_rows : int
        Rows of a person that the forecast uses.
    found : bool
        Whether the fit finds that number with noise.
    weighting : str
        How rows count.
    limits : tuple of RowLimit
        What some numbers of rows cost and lose; one of them is recommended.
    divided : RowLimit
        The same for all rows, each protected under `row_guarantee`.
    row_guarantee : PureDP, ApproxDP, ZCDP or GDP
        What each row must be promised so that a person with `rows_per_unit` rows is promised as much as here.
    """

    rows_per_unit: int
    max_rows: int
    found: bool
    weighting: str
    limits: tuple[RowLimit, ...]
    divided: RowLimit
    row_guarantee: Guarantee

    @property
    def words(self) -> str:
        """What is protected."""
        return self._privacy_unit.words

    @property
    def counted(self) -> str:
        """What counts are numbers of."""
        return self._privacy_unit.counted

    @property
    def _privacy_unit(self) -> PrivacyUnit:
        return PrivacyUnit(max_rows=self.max_rows, weighting=self.weighting)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "unit": "person",
            "rows_per_unit": self.rows_per_unit,
            "max_rows": self.max_rows,
            "found": self.found,
            "weighting": self.weighting,
            "limits": [asdict(one) for one in self.limits],
            "divided": {**asdict(self.divided), "guarantee": self.row_guarantee.to_dict()},
        }


def recommend(setting: Setting, persons: Persons) -> int:
    """Return how many rows of a person to use, by the rule of a fit that finds it."""
    limits, weighted = _limits(persons), persons.privacy_unit.is_weighted
    noise = 0.0 if weighted else setting.center_noise()
    return pick_max_rows(limits, persons.variances(limits, setting.n_rows, noise=noise, weighted=weighted))


def forecast_persons(setting: Setting, persons: Persons) -> PersonForecast:
    """Return what numbers of rows cost and lose."""
    best, limits, most_rows = recommend(setting, persons), _limits(persons), persons.most_rows
    weighted, noise = persons.privacy_unit.is_weighted, setting.center_noise()
    variances = persons.variances(limits, setting.n_rows, noise=noise, weighted=weighted).tolist()
    guarantee, n_rows = setting.guarantee.for_each_of(most_rows), round(setting.n_rows * persons.sizes.mean())
    rows = replace(setting, persons=None, n_rows=n_rows, guarantee=guarantee)
    noise = rows.center_noise() / most_rows**2  # one row moves a sum, not all of a person
    (divided,) = persons.variances([most_rows], setting.n_rows, noise=noise, weighted=False).tolist()
    return PersonForecast(
        rows_per_unit=most_rows,
        max_rows=persons.max_rows,
        found=persons.finds,
        weighting=persons.privacy_unit.weighting,
        limits=tuple(
            _row_limit(setting.limited(limit), limit, variance, recommended=limit == best)
            for limit, variance in zip(limits, variances, strict=True)
        ),
        divided=_row_limit(rows, None, divided),
        row_guarantee=guarantee,
    )


def _limits(persons: Persons) -> list[int]:
    """Return the numbers of rows to compare: up to the first that nobody exceeds, and the one asked for."""
    all_of_them = [step * 10**power for power in range(4) for step in STEPS if step * 10**power <= LARGEST_MAX_ROWS]
    last = next((one for one in all_of_them if one >= persons.most_rows), LARGEST_MAX_ROWS)
    asked = set() if persons.finds else {persons.max_rows}
    return sorted({one for one in all_of_them if one <= last} | asked)


def _row_limit(setting: Setting, max_rows: int | None, variance: float, *, recommended: bool = False) -> RowLimit:
    noise = count_noise(setting.plan().all_steps)
    return RowLimit(
        max_rows=max_rows,
        rows_used=setting.rows_used,
        count_noise=noise,
        noise_share=None if noise is None else noise / setting.size,
        center_error=math.sqrt(variance * setting.n_clusters),
        recommended=recommended,
    )
