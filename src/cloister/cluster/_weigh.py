# SPDX-License-Identifier: Apache-2.0
"""How much levels weigh beside numbers, where nobody says so: small fits, each at another weight, and the best of them.

Numbers are measured in their noisy standard deviations. No weight of categories and flags beside them serves all tables: at a
quarter clusters of numbers are found whatever the categories do, at 2 those of categories. So a small fit is made at each of a
few weights, and the one whose clusters explain most of what columns have to do with each other is kept. The fits have shares
of the budget that public numbers and the noisy number of rows decide; the choice is arithmetic on their noisy answers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cloister.algorithms import Measured, Move, Refined, explained_dependence, locate, quantile, refine
from cloister.cluster._kmeans_plan import MAX_NOISE, KMeansPlan, make_plan
from cloister.cluster._kmeans_recipe import GAUSSIAN, PURE, for_trial
from cloister.cluster._plan import Decision, Planner
from cloister.columns import Frame, Table
from cloister.privacy import Step
from cloister.questions import Ask, NearestSquares, NearestSums, deviation

WEIGHTS = (0.1, 1.0, 2.0)  # of categories and flags, times their own, where numbers have their standard deviation for a unit
USUAL_WEIGHT = 1.0  # where there are too few rows to compare any
SHARE_LOW, SHARE_HIGH = 0.03, 0.1  # least and most for each fit
CENTER_NOISE = 0.04  # of a centre, all coordinates together, in units of the radius of clipping: what its share should reach
BLIND = 0.5  # the same, beyond which a fit finds nothing: weights are not compared
MOST_CLUSTERS = 12  # that a small fit looks for
SQUARES_PART = 0.15  # of the share of a fit: how far rows scatter around its centres
TOTAL_PART = 0.5  # as large a part of such a share again: how far numbers scatter around their mean
FARTHER = 2.5  # standard deviations beyond the usual length of a row at which these are clipped
RESTARTS = 3
MOST_ROWS, NEARLY_ALL = 0.99, 0.9  # lie within the distance where a fit looks for a radius; where squares are clipped
SMALLEST_RADIUS = 2.0**-12


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A small fit at one weight of categories and flags."""

    weight: float
    plan: KMeansPlan
    step: Step  # all of its questions: one line of the plan

    def run(self, ask: Ask, frame: Frame, generator: np.random.Generator) -> Refined:
        """Find its centres."""
        plan = self.plan
        located = locate(ask, plan.locate_steps, frame, n_rows=plan.n_sampled, generator=generator)
        return refine(
            ask,
            plan.rounds_without(plan.locate_steps.origin[located.origin.n_asked :]),
            frame.clip_unit(located.space.lift(located.points)),
            located.space,
            n_rows=plan.n_rows,
            length=quantile(located.origin.profile, n_rows=plan.n_sampled, part=MOST_ROWS),
            generator=generator,
            restarts=RESTARTS,
        )

    def within(self, ask: Ask, found: Refined) -> Measured:
        """Ask how far rows lie from their centre in each coordinate."""
        n_rows = max(self.plan.n_sampled, 1.0)
        radius = min(max(quantile(found.lengths, n_rows=n_rows, part=NEARLY_ALL), SMALLEST_RADIUS), 1.0)
        answer = ask(NearestSquares(points=found.centers, radius=radius), self.step["squares"])
        error = answer.sigma * math.sqrt(len(found.centers)) / n_rows
        return Measured(answer.value.sum(axis=0) / n_rows, error)


@dataclass(frozen=True, kw_only=True)
class Trials:
    """The small fits, and what is asked once for all of them."""

    fits: tuple[Trial, ...] = ()
    squares: Step | None = None  # how far the numbers of a row lie from their mean

    @property
    def steps(self) -> tuple[Step, ...]:
        """All of it, in order."""
        first, *others = (one.step for one in self.fits)
        return (first, *([] if self.squares is None else [self.squares]), *others)


def plan_trials(planner: Planner, table: Table, *, n_rows: float, n_clusters: int, rest: float) -> Trials | None:
    """Return the small fits, of which each gets a part of the `rest` of the budget; None where there are too few rows."""
    n_features, n_clusters = table.frame().n_features, min(n_clusters, MOST_CLUSTERS)
    sums, squares = (kind(points=np.zeros((1, n_features)), radius=1.0) for kind in (NearestSums, NearestSquares))
    budget = planner.budget.share(rest)
    noise = math.sqrt(n_features) * deviation(sums, budget, planner.relation) * n_clusters / max(n_rows, 1.0)
    share = min(SHARE_HIGH, max(SHARE_LOW, budget.share_for_noise(noise / CENTER_NOISE)))
    if n_clusters == 1 or share < budget.share_for_noise(noise / BLIND):
        return None
    recipe = for_trial(GAUSSIAN if planner.budget.is_gaussian else PURE)
    fits = []
    for number, weight in enumerate(WEIGHTS, 1):
        name, part = f"weight {number}", share * rest
        own = replace(
            planner, budget=planner.budget.share((1 - SQUARES_PART) * part), part=(1 - SQUARES_PART) * part, within=name
        )
        plan = make_plan(n_rows, n_features, n_clusters, planner=own, recipe=recipe)
        purpose = f"A small fit with categories and flags at {weight:g} times their weight, to choose one"
        last = planner.step(
            name, purpose, n_points=n_clusters, row_share=plan.row_share, squares=(squares, SQUARES_PART * part)
        )
        queries = tuple(query for step in (*plan.steps, last) for query in step.queries)
        fits.append(Trial(weight=weight, plan=plan, step=replace(last, queries=queries)))
    part = TOTAL_PART * share * rest
    purpose, row_share = "How far numbers scatter around their mean", fits[0].plan.row_share
    step = planner.step("scatter", purpose, n_points=1, row_share=row_share, squares=(squares, part))
    quiet = all(one["squares"].sigma <= MAX_NOISE * squares.unit for one in (step, *(one.step for one in fits)))
    return Trials(fits=tuple(fits), squares=step) if quiet and all(one.plan.can_be_drawn for one in fits) else None


@dataclass(frozen=True, kw_only=True, eq=False)
class Weighed:
    """The table with the weights that were chosen, and what to record of the small fits."""

    table: Table
    decisions: dict[str, Decision]


def choose_weight(
    ask: Ask, trials: Trials, table: Table, *, see: Callable[[Table], Frame], generator: np.random.Generator
) -> Weighed:
    """Run the small fits, and return the table at the weight whose clusters explain most; `see` shows rows through a table."""
    best, decisions, total = (-math.inf, USUAL_WEIGHT), {}, None
    for trial in trials.fits:
        frame = see(table.weigh_levels(trial.weight))
        found = trial.run(ask, frame, generator)
        last, within = found.last, trial.within(ask, found)
        if total is None:
            total = _relative_variances(ask, trials, frame, last)
        known = np.asarray(frame.spreads) ** 2
        here = Measured(total.values * known, total.error * float(known.max()))
        score = explained_dependence(frame, last.centers, errors=last.errors, counts=last.counts, total=here, within=within)
        figures = {"n_points": float(len(last.centers)), "count_error": last.count_sigma, "weight": trial.weight}
        decisions[trial.step.name] = Decision(figures={**figures, "explained": score})
        best = max(best, (score, trial.weight))
    return Weighed(table=table.weigh_levels(best[1]), decisions=decisions)


def _relative_variances(ask: Ask, trials: Trials, frame: Frame, last: Move) -> Measured:
    """Ask for the variance of each coordinate, and return it over the square of the spread by which the table measures it.

    Of the first fit, in which levels count for little: nearly all length is that of numbers.
    """
    assert trials.squares is not None
    counts = np.maximum(last.counts, 0.0) + 1e-300
    known = np.asarray(frame.spreads)
    radius = min(math.sqrt(float(known @ known)) + FARTHER * float(known.max()), 1.0)
    question = NearestSquares(points=frame.clip_unit(counts[None] @ last.centers / counts.sum()), radius=radius)
    answer = ask(question, trials.squares["squares"])
    n_rows = max(trials.fits[0].plan.n_sampled, 1.0)
    return Measured(answer.value[0] / n_rows / known**2, answer.sigma / n_rows / float(known.max()) ** 2)
