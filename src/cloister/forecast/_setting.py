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

from cloister.cluster import Plan, center_variances, noise_of_center, pick_max_rows, plan_fit
from cloister.columns import LARGEST_MAX_ROWS, FloatArray, PrivacyUnit, Relation
from cloister.methods import Method
from cloister.privacy import Guarantee, Step

LARGEST_ROWS = 10**15
STEPS = (1, 2, 3, 5)  # times powers of ten: the numbers of rows that are compared


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The public numbers that a forecast is made from. Where rows are protected, each is that of a person with one row."""

    n_rows: int  # or persons
    n_features: int
    n_clusters: int
    guarantee: Guarantee
    relation: Relation
    method: Method
    options: Mapping[str, Any] = field(default_factory=dict)  # parameters of the method's own
    describe: float = 0.0  # part of the budget that says what the clusters look like
    privacy_unit: PrivacyUnit | None = None  # where persons are protected; with a number of rows
    most_rows: int = 1  # persons are taken to have from 1 to this many
    finds: bool = False  # whether the fit finds with noise how many rows of each are used

    @property
    def unit(self) -> str:
        """What is protected, and what there are `n_rows` of: "row" or "person"."""
        return "row" if self.privacy_unit is None else "person"

    @property
    def counted(self) -> str:
        """What counts are numbers of: "row" or "person"."""
        return "person" if self.is_weighted else "row"

    @property
    def is_weighted(self) -> bool:
        """Whether every person counts 1."""
        return self.privacy_unit is not None and self.privacy_unit.is_weighted

    @property
    def max_rows(self) -> int:
        """Rows of a person that are used, at most."""
        return 1 if self.privacy_unit is None or self.privacy_unit.max_rows is None else self.privacy_unit.max_rows

    @property
    def sizes(self) -> FloatArray:
        """How many rows persons have."""
        return np.arange(1.0, self.most_rows + 1)

    @property
    def rows_used(self) -> int:
        """How many rows are used."""
        return round(self.n_rows * float(np.minimum(self.sizes, self.max_rows).mean()))

    @property
    def size(self) -> int:
        """What counts add up to: rows that are used, or persons."""
        return self.n_rows if self.is_weighted else self.rows_used

    def limited(self, max_rows: int) -> "Setting":
        """Return the same with at most this many rows of a person."""
        assert self.privacy_unit is not None
        return replace(self, privacy_unit=self.privacy_unit.limited(max_rows))

    def variances(self, limits: Sequence[int], *, noise: float, weighted: bool) -> FloatArray:
        """Return the expected squared error of a centre for some numbers of rows per person, as ``center_variances`` does."""
        persons = np.full(self.most_rows, self.n_rows / self.most_rows)
        return center_variances(limits, self.sizes, persons, noise=noise, weighted=weighted)

    def chance(self, size: float) -> float:
        """Return the sampling error of the mean of `size` rows or persons, in parts of their radius."""
        (variance,) = self.variances([self.max_rows], noise=0.0, weighted=self.is_weighted).tolist()
        return math.sqrt(variance * self.size / size)

    def plan(self, *, own_noise: bool = True) -> Plan:
        """Return the plan of a fit that is given the number of rows or persons, in a box."""
        parameters, max_rows = dict(self.options), None
        if self.describe:
            parameters["describe"] = self.describe
        if self.privacy_unit is not None:
            max_rows = self.max_rows
            parameters |= {
                "privacy_unit": self.privacy_unit.noun,
                "max_rows_per_unit": "auto" if self.finds else max_rows,
                "weighting": self.privacy_unit.weighting,
            }
        model = self.method.estimator(
            self.n_clusters,
            guarantee=self.guarantee,
            bounds=(-1.0, 1.0),
            neighbours=self.relation.value,
            n_rows=min(self.n_rows, LARGEST_ROWS),
            **parameters,
        )
        return plan_fit(model, self.n_features, max_rows=max_rows, expected=float(self.size), own_noise=own_noise)

    def center_noise(self) -> float:
        """Return the squared noise of a centre in units of its radius, times the square of the rows, for one row each."""
        cost = self.guarantee.noise_budget()
        return noise_of_center(cost, self.relation, n_features=self.n_features, n_clusters=self.n_clusters)


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
        plain = {"unit": "person", **asdict(self)}
        del plain["row_guarantee"]
        return {**plain, "divided": {**plain["divided"], "guarantee": self.row_guarantee.to_dict()}}


def recommend(setting: Setting) -> int:
    """Return how many rows of a person to use, by the rule of a fit that finds it."""
    limits, weighted = _limits(setting), setting.is_weighted
    noise = 0.0 if weighted else setting.center_noise()
    return pick_max_rows(limits, setting.variances(limits, noise=noise, weighted=weighted))


def forecast_persons(setting: Setting) -> PersonForecast | None:
    """Return what numbers of rows cost and lose; None where single rows are protected."""
    if setting.privacy_unit is None:
        return None
    best, limits, most_rows = recommend(setting), _limits(setting), setting.most_rows
    variances = setting.variances(limits, noise=setting.center_noise(), weighted=setting.is_weighted).tolist()
    guarantee, n_rows = setting.guarantee.for_each_of(most_rows), round(setting.n_rows * setting.sizes.mean())
    rows = replace(setting, privacy_unit=None, most_rows=1, finds=False, n_rows=n_rows, guarantee=guarantee)
    noise = rows.center_noise() / most_rows**2  # one row moves a sum, not all of a person
    (divided,) = setting.variances([most_rows], noise=noise, weighted=False).tolist()
    return PersonForecast(
        rows_per_unit=most_rows,
        max_rows=setting.max_rows,
        found=setting.finds,
        weighting=setting.privacy_unit.weighting,
        limits=tuple(
            _row_limit(setting.limited(limit), limit, variance, recommended=limit == best)
            for limit, variance in zip(limits, variances, strict=True)
        ),
        divided=_row_limit(rows, None, divided),
        row_guarantee=guarantee,
    )


def _limits(setting: Setting) -> list[int]:
    """Return the numbers of rows to compare: up to the first that nobody exceeds, and the one asked for."""
    all_of_them = [step * 10**power for power in range(4) for step in STEPS if step * 10**power <= LARGEST_MAX_ROWS]
    last = next((one for one in all_of_them if one >= setting.most_rows), LARGEST_MAX_ROWS)
    asked = set() if setting.finds else {setting.max_rows}
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
