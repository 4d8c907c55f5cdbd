# SPDX-License-Identifier: Apache-2.0
"""What a fit is asked to do, what it plans to ask, and what its algorithm returns: public numbers only."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from cloister.algorithms import Scatter
from cloister.columns import FloatArray, Frame, Neighbours
from cloister.privacy import Cost, Entropy, Guarantee, Step
from cloister.questions import Question, plan_query
from cloister.release import Release

COUNT = "count"  # name of the step that asks for the number of rows
REFERENCE_DELTA = 1e-6  # at which rho or mu is read as an epsilon, for heuristics only


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a fit is asked to do, checked: public numbers only."""

    n_clusters: int
    guarantee: Guarantee
    cost: Cost  # the whole budget of the fit, in the currency of its noise
    relation: Neighbours
    n_rows: int | None  # what counts add up to; None: not public
    n_units: int | None = None  # rows or persons, whatever is protected; None: not public
    entropy: Entropy

    @property
    def epsilon(self) -> float:
        """The guarantee read as an epsilon, for heuristics."""
        return self.guarantee.nominal_epsilon(REFERENCE_DELTA)

    @property
    def row_epsilon(self) -> float:
        """The epsilon of one row that is as noisy: that of a person, divided by how far a person moves a count."""
        privacy_unit = self.relation.privacy_unit
        return self.epsilon if privacy_unit is None else self.epsilon * privacy_unit.steps / privacy_unit.factor


@dataclass(frozen=True)
class Planner:
    """Makes the steps of a plan: a budget, the part of the fit that it is, and which tables are neighbours."""

    budget: Cost
    relation: Neighbours
    part: float = 1.0
    within: str = ""  # name of the step that all questions belong to, where they are listed as one

    def step(
        self, name: str, purpose: str, *, n_points: int, row_share: float = 1.0, **queries: tuple[Question, float]
    ) -> Step:
        """Return a step; each query is a question of the same sensitivity as the one to be asked, and its share.

        With a `row_share` below 1 its questions are answered on a secret random sample of that part of the rows.
        """
        given: dict[str, Any] = {**vars(self), "row_share": row_share}
        owner = given.pop("within") or name
        made = tuple(plan_query(owner, key, question, share=share, **given) for key, (question, share) in queries.items())
        return Step(name=name, purpose=purpose, n_points=n_points, queries=made)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What public numbers decide before the first question."""

    preliminary: tuple[Step, ...] = ()  # asked before the method's own steps
    closing: tuple[Step, ...] = ()  # asked after them

    @property
    def can_be_drawn(self) -> bool:
        """Whether the noise of all answers can be drawn, as far as the plan tells."""
        return True

    @property
    def steps(self) -> tuple[Step, ...]:
        """What the method will ask, in the order of the fields that hold steps; answers may make some of them pointless."""
        own = (getattr(self, one.name) for one in fields(self) if one.name not in ("preliminary", "closing"))
        return tuple(steps_in(own))

    @property
    def all_steps(self) -> tuple[Step, ...]:
        """What will be asked, in order, that before and after the method's own steps included."""
        return (*self.preliminary, *self.steps, *self.closing)


def steps_in(values: Iterable[object]) -> Iterator[Step]:
    """Yield the steps among some values and in the tuples among them."""
    for value in values:
        if isinstance(value, Step):
            yield value
        elif isinstance(value, tuple):
            yield from steps_in(value)


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What a step decided: figures by their names in ``privacy.FIGURES``, and what to draw of it.

    How many points were asked about, and how noisy their counts are, its events say.
    """

    figures: dict[str, float] = field(default_factory=dict)
    picture: dict[str, Any] = field(default_factory=dict)


class TotalErrorsLater(Protocol):
    """Knows the total errors of an outcome, which are worked out when its release is first read."""

    def complete(self, release: Release, outcome: "Outcome", frame: Frame) -> Release:
        """Return the release of an outcome, which states the errors of the noise, with total errors."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What an algorithm returns to its estimator, in the coordinates of the unit ball; all of it public."""

    centers: FloatArray
    center_errors: FloatArray  # of the noise alone
    counts: FloatArray
    count_errors: FloatArray  # of the noise alone
    n_rounds: int
    error_inputs: TotalErrorsLater | None = None  # None: nothing is known of errors beyond the noise
    scatter: Scatter | None = None  # of the rows around their centre; where centres are points of a synopsis
    n_rows: float = 0.0  # public or noisy; of a synopsis
    seed: int = 0  # for what is computed from the outcome, on public numbers
    decisions: dict[str, Decision] = field(default_factory=dict)  # by step
    details: dict[str, Any] = field(default_factory=dict)
