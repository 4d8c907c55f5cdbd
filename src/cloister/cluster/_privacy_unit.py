# SPDX-License-Identifier: Apache-2.0
"""Persons as the unit of privacy of a fit: what its parameters say of them, and how many rows of each are used.

That number may be found with noise: a histogram of how many persons have how many rows, for a stated share of the budget. The
choice follows from it and from public numbers by a rule that is written here.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from cloister import validate
from cloister.cluster._plan import Request
from cloister.columns import LARGEST_MAX_ROWS, WEIGHTINGS, FloatArray, PrivacyUnit, Relation
from cloister.privacy import Cost, Entropy, Query
from cloister.questions import Ask, NearestSums, RowsPerUnit, deviation

SIZES = "rows per person"  # name of the step that asks how many rows persons have
SIZES_SHARE = 0.02  # of the budget
STARTS = (1, 2, 3, 4, 5, 6, 8, 11, 15, 21, 29, 41, 57, 80)  # smallest numbers of rows of the bins
PLANNED_ROWS = 5  # stands for the number of rows per person while that is not known
# What a rule can know of rows without looking at them. Of the spread of rows in a cluster, half is taken to lie between persons
# and half within them. Offsets are clipped at about twice the spread, and the last sums have about a third of the budget.
BETWEEN = 0.5
CLIPPED_AT, PART_OF_SUMS = 2.0, 1 / 3
AS_GOOD = 1.05  # times the least expected error: the smallest number of rows that is as good is taken
SEEN = 2.0  # standard deviations from which on a bin is taken to hold persons


class PersonParameters:
    """What an estimator reads of its parameters `privacy_unit`, `max_rows_per_unit`, `weighting` and `units_bounded`."""

    privacy_unit: Any
    max_rows_per_unit: Any
    weighting: str
    units_bounded: bool
    _ids: Any  # during a fit: the ids that it was given, one for each row
    # Under scikit-learn's metadata routing a pipeline or a search hands `privacy_unit` on without being asked to.
    __metadata_request__fit: ClassVar[Mapping[str, bool]] = {"privacy_unit": True}

    @abstractmethod
    def _where(self, parameter: str) -> str:
        """Return what a message calls a parameter."""

    def _read_privacy_unit(self) -> PrivacyUnit | None:
        """Return the persons that the fit protects; None where it protects single rows."""
        where = self._where
        max_rows = self._max_rows()
        weighting = validate.one_of(where("weighting"), self.weighting, WEIGHTINGS)
        stated = validate.boolean(where("units_bounded"), self.units_bounded)
        name = ""
        if self.privacy_unit is None and self._ids is None:
            # Options for persons must not make somebody believe that persons are protected.
            for option, is_given in (
                ("max_rows_per_unit", max_rows is not None),
                ("weighting", weighting != WEIGHTINGS[0]),
                ("units_bounded", stated),
            ):
                if is_given:
                    remedy = "Pass privacy_unit=, the name of the column that says whose row it is, or leave it out."
                    validate.refuse(where(option), "privacy_unit with it", getattr(self, option), remedy=remedy)
            return None
        if self.privacy_unit is not None:
            if not isinstance(self.privacy_unit, str) or not self.privacy_unit:
                rule, remedy = (
                    "the name of the column that says whose row it is",
                    "Pass the ids themselves to fit(X, privacy_unit=ids).",
                )
                validate.refuse(where("privacy_unit"), rule, type(self.privacy_unit).__name__, remedy=remedy)
            if self._ids is not None:
                remedy = "Name a column, or pass fit(X, privacy_unit=ids)."
                validate.refuse(where("privacy_unit"), "ids once", "a column and an array", remedy=remedy)
            name = validate.text(where("privacy_unit"), self.privacy_unit)
        if stated and (max_rows is None or weighting != WEIGHTINGS[0]):
            rule = "False unless max_rows_per_unit is a number and every row counts"
            validate.refuse(where("units_bounded"), rule, True, remedy="Pass the largest number of rows that anybody has.")
        return PrivacyUnit(name=name, max_rows=max_rows, weighting=weighting, stated=stated)

    def _counts_units(self) -> bool:
        """Whether counts are numbers of what is protected: of rows, or of persons."""
        privacy_unit = self._read_privacy_unit()
        return privacy_unit is None or privacy_unit.is_weighted or privacy_unit.max_rows == 1

    def _max_rows(self) -> int | None:
        value, remedy = self.max_rows_per_unit, 'Pass "auto" or how many rows of a person are used.'
        if validate.is_word(value, "auto"):
            return None
        return validate.integer(self._where("max_rows_per_unit"), value, low=1, high=LARGEST_MAX_ROWS, remedy=remedy)

    @contextmanager
    def _with_ids(self, ids: Any, unknown: Mapping[str, object]) -> Iterator[None]:
        """Have a fit know the ids it was given, and nothing else: `unknown` are further arguments, which are refused."""
        if "groups" in unknown:  # scikit-learn's splitters take it; whoever passes it here means persons
            remedy = "Pass fit(X, privacy_unit=ids), or privacy_unit=COLUMN to the estimator."
            validate.refuse(self._where("fit"), "ids of the rows' owners as privacy_unit=", "groups=", remedy=remedy)
        if unknown:
            raise TypeError(f"{self._where('fit')}: unexpected argument {next(iter(unknown))!r}.")
        self._ids = ids
        try:
            yield
        finally:
            del self._ids


def unit_options(privacy_unit: Any, *, units_bounded: bool, entropy: Entropy) -> dict[str, Any]:
    """Return how ``open_rows`` reads whose rows they are: nothing where rows have no owners. A seed gives the key, too."""
    if privacy_unit is None:
        return {}
    return {"privacy_unit": privacy_unit, "unit_key": entropy.key("privacy_unit"), "units_bounded": units_bounded}


def assume_rows(request: Request, max_rows: int) -> Request:
    """Return the request with so many rows per person, where that is to be found."""
    privacy_unit = request.relation.privacy_unit
    if privacy_unit is None or privacy_unit.max_rows is not None:
        return request
    return replace(request, relation=replace(request.relation, privacy_unit=privacy_unit.limited(max_rows)))


def find_max_rows(ask: Ask, query: Query, request: Request, n_features: int) -> int:
    """Return how many rows of a person are used, by a noisy histogram of how many they have."""
    answer = ask(RowsPerUnit(starts=STARTS), query)
    persons = np.where(answer.value > SEEN * answer.sigma, answer.value, 0.0)
    privacy_unit = request.relation.privacy_unit
    assert privacy_unit is not None
    shape = {"n_features": n_features, "n_clusters": request.n_clusters}
    noise = noise_of_center(request.cost, request.relation.relation, **shape)
    return choose_max_rows(persons, noise=noise, weighted=privacy_unit.is_weighted)


def noise_of_center(cost: Cost, relation: Relation, *, n_features: int, n_clusters: int) -> float:
    """Return the variance of the noise of a centre over that of its rows, times the square of the rows, for one row each."""
    sums = NearestSums(points=np.zeros((1, n_features)), radius=1.0)
    sigma = deviation(sums, cost.share(PART_OF_SUMS), relation)
    return n_features * n_clusters * (CLIPPED_AT * sigma) ** 2


def choose_max_rows(persons: FloatArray, *, noise: float, weighted: bool) -> int:
    """Return the number of rows per person with about the least expected error of a centre.

    `persons` says about how many have as many rows as each bin of ``STARTS``; `noise` is the variance of the noise in a sum of
    rows, all columns together, if every person had one row, over that of one row; `weighted` whether every person counts 1.
    """
    ends = np.array([*STARTS[1:], STARTS[-1] + 1]) - 1
    sizes = (np.array(STARTS) + ends) / 2
    if not persons.any():
        return PLANNED_ROWS if weighted else 1
    # Where every person counts, the noise is the same whatever the number is, and must not hide what it gains.
    noise = 0.0 if weighted else noise
    return pick_max_rows(STARTS, center_variances(STARTS, sizes, persons, noise=noise, weighted=weighted))


def pick_max_rows(limits: Sequence[int], variances: FloatArray) -> int:
    """Return the smallest number of rows per person that is about as good as the best of them; they ascend."""
    return int(limits[int(np.flatnonzero(variances <= AS_GOOD * variances.min())[0])])


def center_variances(
    limits: Sequence[int], sizes: FloatArray, persons: FloatArray, *, noise: float, weighted: bool
) -> FloatArray:
    """Return the expected squared error of a centre if at most so many rows of a person are used, for each of `limits`.

    `persons` is about how many have so many rows (`sizes`). The error is in units of the squared radius of a cluster, as if all
    rows were in one: times the number of clusters, that of one of average size.

    Of the rows of a person k are used, m at most. Where every row counts, N rows are used in all, and the error of a centre has
    the variance (b sum k^2 + (1 - b) N) / N^2 of a sample in clusters, b being the part of the spread that lies between
    persons, and m^2 noise / N^2. Where every person counts, they are the sum of b + (1 - b) / k over all n persons, and the
    noise, over n^2.
    """
    most = np.array(limits, dtype=float)
    used = np.minimum(sizes, most[:, None])  # by how many are used at most, and by size
    weights = np.ones_like(most) if weighted else most  # of a person, at most
    counted = np.full(len(most), persons.sum()) if weighted else used @ persons
    spread = BETWEEN + (1 - BETWEEN) / used  # of the mean of the rows of a person
    sampled = (spread if weighted else used**2 * spread) @ persons
    variances: FloatArray = (sampled + noise * weights**2) / counted**2
    return variances
