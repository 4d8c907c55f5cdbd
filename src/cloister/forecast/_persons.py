# SPDX-License-Identifier: Apache-2.0
"""How many rows of a person to use: what each number costs in noise and loses in rows, from public numbers alone.

Persons are taken to have from 1 row to so many, all numbers equally often: a guess of whoever asks. Beside it stands what it
would take to protect persons by protecting rows so much more that all rows of a person together are protected as much: group
privacy, as one has to use without privacy_unit.
"""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from cloister import validate
from cloister.cluster import noise_of_center, pick_max_rows
from cloister.columns import LARGEST_MAX_ROWS, WEIGHTINGS, FloatArray, PrivacyUnit
from cloister.forecast._setting import Persons, Setting
from cloister.forecast._words import count_noise
from cloister.privacy import Guarantee

__all__ = ["USUAL_ROWS", "PersonForecast", "RowLimit", "forecast_persons", "read_persons", "recommend"]

USUAL_ROWS = 10  # of a person, where nobody says
LARGEST_ROWS = 10**4
STEPS = (1, 2, 3, 5)  # times powers of ten: the numbers that are compared


@dataclass(frozen=True, kw_only=True)
class RowLimit:
    """What it means to use so many rows of a person at most."""

    max_rows: int | None  # None: all rows, where single rows are protected so much more
    rows_used: int
    count_noise: float | None  # standard deviation of the noise of a last count, in what is counted; None without such a count
    noise_share: float | None  # of all that is counted
    center_error: float  # of a cluster of average size, in parts of its radius, the accident of who was collected included
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
        return PrivacyUnit(max_rows=self.max_rows, weighting=self.weighting).words

    @property
    def counted(self) -> str:
        """What counts are numbers of."""
        return "persons" if self.weighting == WEIGHTINGS[1] else "rows"

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


def read_persons(rows_per_unit: object, max_rows_per_unit: object, weighting: object) -> Persons:
    """Check the parameters of a forecast that concern persons; where the number of rows is to be found, it is 1 for now."""
    where, finds = "plan.max_rows_per_unit", validate.is_word(max_rows_per_unit, "auto")
    remedy = 'Pass "auto" or how many rows of a person are used.'
    max_rows = 1 if finds else validate.integer(where, max_rows_per_unit, low=1, high=LARGEST_MAX_ROWS, remedy=remedy)
    return Persons(
        privacy_unit=PrivacyUnit(max_rows=max_rows, weighting=validate.one_of("plan.weighting", weighting, WEIGHTINGS)),
        most_rows=validate.integer("plan.rows_per_unit", rows_per_unit, low=1, high=LARGEST_ROWS),
        finds=finds,
    )


def recommend(setting: Setting) -> int:
    """Return how many rows of a person to use, by the rule of a fit that finds it."""
    limits, persons = _limits(setting), _persons(setting)
    if not persons.privacy_unit.is_weighted:
        return pick_max_rows(limits, _variances(setting, limits))
    return pick_max_rows(limits, persons.variances(limits, setting.n_rows, noise=0.0, weighted=True))


def forecast_persons(setting: Setting) -> PersonForecast:
    """Return what numbers of rows cost and lose."""
    persons, limits = _persons(setting), _limits(setting)
    assert persons.privacy_unit.max_rows is not None
    best, variances = recommend(setting), _variances(setting, limits)
    rows, guarantee = _as_rows(setting)
    noise = noise_of_center(rows.request(), rows.n_features) / persons.most_rows**2  # one row moves a sum, not all of a person
    (divided,) = persons.variances([persons.most_rows], setting.n_rows, noise=noise, weighted=False).tolist()
    return PersonForecast(
        rows_per_unit=persons.most_rows,
        max_rows=persons.privacy_unit.max_rows,
        found=persons.finds,
        weighting=persons.privacy_unit.weighting,
        limits=tuple(
            _row_limit(setting.limited(limit), limit, variance, recommended=limit == best)
            for limit, variance in zip(limits, variances.tolist(), strict=True)
        ),
        divided=_row_limit(rows, None, divided),
        row_guarantee=guarantee,
    )


def _persons(setting: Setting) -> Persons:
    assert setting.persons is not None
    return setting.persons


def _limits(setting: Setting) -> list[int]:
    """Return the numbers of rows to compare: up to the first that nobody exceeds, and the one asked for."""
    persons = _persons(setting)
    all_of_them = [step * 10**power for power in range(4) for step in STEPS if step * 10**power <= LARGEST_MAX_ROWS]
    last = next((one for one in all_of_them if one >= persons.most_rows), LARGEST_MAX_ROWS)
    asked = set() if persons.finds else {persons.privacy_unit.max_rows or 1}
    return sorted({one for one in all_of_them if one <= last} | asked)


def _variances(setting: Setting, limits: list[int]) -> FloatArray:
    persons, noise = _persons(setting), noise_of_center(setting.request(), setting.n_features)
    return persons.variances(limits, setting.n_rows, noise=noise, weighted=persons.privacy_unit.is_weighted)


def _row_limit(setting: Setting, max_rows: int | None, variance: float, *, recommended: bool = False) -> RowLimit:
    noise = count_noise(setting.steps())
    return RowLimit(
        max_rows=max_rows,
        rows_used=round(setting.n_rows * (1 if setting.persons is None else setting.persons.mean_used)),
        count_noise=noise,
        noise_share=None if noise is None else noise / setting.size,
        center_error=math.sqrt(variance * setting.n_clusters),
        recommended=recommended,
    )


def _as_rows(setting: Setting) -> tuple[Setting, Guarantee]:
    """Return the fit that protects rows, so much that a person with all of their rows is protected as here."""
    persons = _persons(setting)
    guarantee, n_rows = setting.guarantee.for_each_of(persons.most_rows), round(setting.n_rows * persons.sizes.mean())
    return replace(setting, persons=None, n_rows=n_rows, guarantee=guarantee), guarantee
