# SPDX-License-Identifier: Apache-2.0
"""The public numbers that a forecast is made from, and the plan that follows from them. Imported by the other files here."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cloister.cluster import (
    Description,
    FirstSteps,
    KMeans,
    Plan,
    Planner,
    Request,
    center_variances,
    make_plan,
    plan_first,
    plan_fit,
)
from cloister.columns import Box, FloatArray, Neighbours, PrivacyUnit, Relation
from cloister.forecast._model import Outlook
from cloister.methods import Method
from cloister.privacy import Entropy, Guarantee, Step

__all__ = ["Persons", "Setting"]


@dataclass(frozen=True, kw_only=True)
class Persons:
    """Persons as the unit of privacy of a fit that is planned."""

    privacy_unit: PrivacyUnit  # with a number of rows
    most_rows: int  # persons are taken to have from 1 to so many, all numbers equally often
    finds: bool  # whether the fit finds with noise how many rows of each are used

    @property
    def sizes(self) -> FloatArray:
        """How many rows persons have."""
        return np.arange(1.0, self.most_rows + 1)

    @property
    def mean_used(self) -> float:
        """Rows of a person that are used, on average."""
        assert self.privacy_unit.max_rows is not None
        return float(np.minimum(self.sizes, self.privacy_unit.max_rows).mean())

    def variances(self, limits: Sequence[int], n_persons: int, *, noise: float, weighted: bool) -> FloatArray:
        """Return the expected squared error of a centre for some numbers of rows per person, as ``center_variances`` does."""
        persons = np.full(self.most_rows, n_persons / self.most_rows)
        return center_variances(limits, self.sizes, persons, noise=noise, weighted=weighted)

    def limited(self, max_rows: int) -> "Persons":
        """Return the same with so many rows at most."""
        return replace(self, privacy_unit=self.privacy_unit.limited(max_rows))


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
        if self.persons is None or self.counted == "person":
            return self.n_rows
        return round(self.n_rows * self.persons.mean_used)

    @property
    def _counts_first(self) -> bool:
        """Whether a fit that is given the number of persons must count rows with noise."""
        return self.unit != self.counted and self.persons is not None and self.persons.privacy_unit.max_rows != 1

    def limited(self, max_rows: int) -> "Setting":
        """Return the same with so many rows of a person at most."""
        assert self.persons is not None
        return replace(self, persons=self.persons.limited(max_rows))

    def chance(self, size: float) -> float:
        """Return how far the accident of which units were collected moves the mean of so many, in parts of their radius."""
        if self.persons is None:
            return 1 / math.sqrt(size)
        privacy_unit = self.persons.privacy_unit
        assert privacy_unit.max_rows is not None
        variances = self.persons.variances([privacy_unit.max_rows], self.n_rows, noise=0.0, weighted=privacy_unit.is_weighted)
        return math.sqrt(float(variances[0]) * self.size / size)

    def at_strength(self, value: float) -> "Setting":
        """Return the same with another epsilon, rho or mu."""
        return replace(self, guarantee=self.guarantee.with_strength(value))

    def plan(self) -> Plan:
        """Return the plan of a fit that is given the number of rows, in a box."""
        model = self.method.estimator(
            self.n_clusters,
            guarantee=self.guarantee,
            bounds=(-1.0, 1.0),
            neighbours=self.relation.value,
            n_rows=self.n_rows,
            **self.options,
            **({"describe": self.describe} if self.describe else {}),
            **self._unit_parameters(),
        )
        max_rows = None if self.persons is None else self.persons.privacy_unit.max_rows
        return plan_fit(model, self.n_features, max_rows=max_rows, expected=float(self.size))

    def _unit_parameters(self) -> dict[str, Any]:
        if self.persons is None:
            return {}
        privacy_unit = self.persons.privacy_unit
        max_rows = "auto" if self.persons.finds else privacy_unit.max_rows
        return {"privacy_unit": privacy_unit.noun, "max_rows_per_unit": max_rows, "weighting": privacy_unit.weighting}

    def steps(self) -> tuple[Step, ...]:
        """Return what a fit of the method asks, in order."""
        return (self.outlook().plan if self.method.name == KMeans.__name__ else self.plan()).all_steps

    def request(self) -> Request:
        """Return what a fit is asked to do."""
        return Request(
            n_clusters=self.n_clusters,
            guarantee=self.guarantee,
            cost=self.guarantee.noise_budget(),
            relation=Neighbours(self.relation, None if self.persons is None else self.persons.privacy_unit),
            n_rows=None if self._counts_first else self.n_rows,
            n_units=self.n_rows,
            entropy=Entropy(0),
        )

    def outlook(self) -> "Outlook":
        """Plan a fit of KMeans that is given the number of rows or persons, and say what follows."""
        request = self.request()
        first, n_rows = self._first(request), float(self.size)
        planner = Planner.of(request, first=first.share + self.describe)
        plan = make_plan(n_rows, self.n_features, self.n_clusters, planner=planner)
        return Outlook(replace(plan, preliminary=first.steps, closing=self._closing(request, first)))

    def _closing(self, request: Request, first: FirstSteps) -> tuple[Step, ...]:
        """Return what is asked of the clusters, if anything."""
        if not self.describe:
            return ()
        frame, given = Box(-1.0, 1.0).spread(self.n_features).frame(), {"share": self.describe, "n_rows": float(self.size)}
        return (Description.plan("plan.describe", request, frame, {}, first=first, **given).step,)

    def _first(self, request: Request) -> FirstSteps:
        """Return what a fit in a box asks before its own plan: what is missing."""
        return plan_first(
            request,
            Box(-1.0, 1.0).spread(self.n_features),
            scaling="none",
            n_rows=float(self.size),
            sizes=self.persons is not None and self.persons.finds,
            counts=self._counts_first,
            bounds_share=KMeans.bounds_share,
            cells=True,
        )
