# SPDX-License-Identifier: Apache-2.0
"""What a fit asks before its own plan: how many rows there are, where columns lie that nobody knows, what is missing.

Each of these steps has a share of the budget that public numbers decide. The rest is the method's own.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cloister.algorithms import N_INTERVALS, N_LOOKS, find_ranges
from cloister.cluster._plan import COUNT, Decision, Outcome, Planner, Request, steps_in
from cloister.cluster._privacy_unit import SIZES, SIZES_SHARE, STARTS
from cloister.cluster._weigh import Trials, choose_weight, plan_trials
from cloister.columns import FloatArray, Frame, Table
from cloister.privacy import Step
from cloister.questions import (
    Ask,
    CellStates,
    ColumnIntervals,
    ColumnMagnitudes,
    NearestMissing,
    NearestSums,
    Question,
    RowCount,
    RowsPerUnit,
    deviation,
)
from cloister.release import CellSummary

CELLS = "cells"  # name of the step that asks what is missing
SIZE_SHARE = 0.02  # of the budget, for the number of rows where it is not public
BOUNDS_SHARE = 0.05  # for bounds that are not public and for spreads, where nobody knows the number of rows
BOUNDS_LOW, BOUNDS_HIGH = 0.02, 0.2  # least and most where it is known: as much as the search needs
BOUNDS_ERROR = 0.0025  # part of the rows that the noise of its first histogram should not exceed
AT_ONE_PLACE = 2.0**-12  # of the width of public bounds
BOUNDS_BLIND = 0.1  # part of the rows: where the noise exceeds it even at the most, nothing is asked
MAGNITUDES_PART, FIRST_LOOK_PART = 0.3, 0.34  # of the share for bounds; further looks divide the rest
CELLS_LOW, CELLS_HIGH = 0.002, 0.01  # least and most for what is missing or outside; as much again for means and clusters
CELL_ERROR = 0.005  # part of the rows that the noise of such a count should not exceed
BLIND = 0.2  # part of the rows: where the noise exceeds it even at the most, nothing is asked
FEWEST_PRESENT = 0.02  # part of a cluster's cells: of fewer, nothing is said
SURE_OF_MISSING = 3.0  # standard deviations from which on a column is taken to have missing values
CONFIRMED = 2.0  # the same for all clusters together, below which their centres are not corrected


@dataclass(frozen=True, eq=False)
class TableSpec:
    """What is declared about the rows."""

    domain: Table  # private bounds are provisional
    scaling: str
    nullable: tuple[bool, ...]  # whether the type of a column allows a missing value
    names: tuple[str, ...]  # of all columns that are read, those that are only described last

    @property
    def frame(self) -> Frame:
        """How rows are seen, as long as nothing was found."""
        return self.domain.frame(scaling=self.scaling)


@dataclass(frozen=True, kw_only=True)
class FirstSteps:
    """The steps before a method's own; those that are not needed are None."""

    sizes: Step | None = None
    count: Step | None = None
    ranges: tuple[Step, ...] = ()
    cells: Step | None = None
    trials: Trials | None = None  # small fits that choose how much levels weigh
    share: float = 0.0  # of the budget, all together

    @property
    def steps(self) -> tuple[Step, ...]:
        """All of them, in order."""
        return (*steps_in(vars(self).values()), *(() if self.trials is None else self.trials.steps))


@dataclass(frozen=True, kw_only=True, eq=False)
class Ready:
    """What the first steps have found: where rows lie and how they are seen, and what to say of single cells."""

    frame: Frame
    scaling: str
    cells: CellSummary
    n_rows: float  # as the cells say; NaN where they were not asked about
    filled: tuple[int, ...] = ()  # raw columns whose missing values were placed at a mean
    decisions: dict[str, Decision] = field(default_factory=dict)  # by step


def plan_first(
    request: Request,
    domain: Table,
    *,
    scaling: str,
    n_rows: float | None,
    counts: bool,
    bounds_share: float | None,
    cells: bool,
    sizes: bool = False,
    weighs: bool = False,
    left_over: float = 1.0,
) -> FirstSteps:
    """Return the steps before a method's own.

    `sizes`, `counts` and `cells` say whether to ask how many rows persons have, how many rows there are and what is missing;
    `n_rows`, public or noisy, is None while nobody knows it; `bounds_share` is spent where bounds or spreads are to be found,
    None: as much as that needs.
    `weighs` says whether to compare weights of levels, which takes a part of what is `left_over` for the method.
    """
    planner = Planner(request.cost, request.relation)
    size, question = None, RowsPerUnit(starts=STARTS)
    if sizes:
        size = planner.step(SIZES, "How many persons have how many rows", n_points=len(STARTS), counts=(question, SIZES_SHARE))
    count, privacy_unit = None, planner.relation.privacy_unit
    if counts:
        unit = "persons" if privacy_unit is not None and privacy_unit.is_weighted else "rows"
        count = planner.step(COUNT, f"How many {unit} there are", n_points=1, counts=(RowCount(), SIZE_SHARE))
    ranges = _ranges(planner, domain, scaling=scaling, share=bounds_share, n_rows=n_rows, counts=counts)
    step = _cells(planner, domain, n_rows=n_rows) if cells else None
    steps = [SIZE_SHARE if counts else 0.0, *(one.share for one in ranges), 0.0 if step is None else step.share]
    share = sum(steps) + (0.0 if size is None else size.share)
    trials = None
    if weighs and ranges and n_rows is not None:  # spreads are found, or levels count as declared
        trials = plan_trials(planner, domain, n_rows=n_rows, n_clusters=request.n_clusters, rest=max(left_over - share, 0.0))
    share += 0.0 if trials is None else sum(one.share for one in trials.steps)
    return FirstSteps(sizes=size, count=count, ranges=ranges, cells=step, trials=trials, share=share)


def _ranges(
    planner: Planner, domain: Table, *, scaling: str, share: float | None, n_rows: float | None, counts: bool
) -> tuple[Step, ...]:
    looked_at = domain.measured if scaling == "spread" else domain.private
    if not looked_at:
        return ()
    if share is None:
        share = _needed_share(planner, len(looked_at), n_rows=n_rows, counts=counts)
    if not share:
        return ()
    steps = []
    if domain.private:
        purpose = "The order of magnitude of columns whose bounds are private"
        question: Question = ColumnMagnitudes(columns=domain.private)
        asked = question, MAGNITUDES_PART * share
        steps.append(planner.step("magnitudes", purpose, n_points=question.shape[1], counts=asked))
    first = FIRST_LOOK_PART + (0.0 if domain.private else MAGNITUDES_PART)
    rest = (1 - MAGNITUDES_PART - FIRST_LOOK_PART) / (N_LOOKS - 1)
    width = len(looked_at)
    question = ColumnIntervals(columns=looked_at, low=np.zeros(width), high=np.ones(width), n_intervals=N_INTERVALS)
    for index in range(N_LOOKS):
        asked = question, share * (first if index == 0 else rest)
        steps.append(
            planner.step(f"intervals {index + 1}", "Where the values of columns lie", n_points=N_INTERVALS, counts=asked)
        )
    return tuple(steps)


def _needed_share(planner: Planner, n_columns: int, *, n_rows: float | None, counts: bool) -> float:
    """Return the share of the search for bounds at which noise hides few rows; the most while rows are yet to be counted.

    None at all where the noise would hide everything.
    """
    if n_rows is None:
        return BOUNDS_HIGH if counts else BOUNDS_SHARE
    noise = deviation(ColumnMagnitudes(columns=tuple(range(n_columns))), planner.budget, planner.relation)
    blind, needed = (
        planner.budget.share_for_noise(noise / (part * max(n_rows, 1.0))) / MAGNITUDES_PART
        for part in (BOUNDS_BLIND, BOUNDS_ERROR)
    )
    return 0.0 if blind > BOUNDS_HIGH else min(BOUNDS_HIGH, max(BOUNDS_LOW, needed))


def _cells(planner: Planner, domain: Table, *, n_rows: float | None) -> Step | None:
    """Return the step that asks what is missing, unless there are too few rows for an answer that says anything."""
    low, high = domain.ranges
    states = CellStates(low=low, high=high)
    size = 1.0 if n_rows is None else max(n_rows, 1.0)
    noise = deviation(states, planner.budget, planner.relation)
    share = min(CELLS_HIGH, max(CELLS_LOW, planner.budget.share_for_noise(noise / (CELL_ERROR * size))))
    if deviation(states, planner.budget.share(share), planner.relation) > BLIND * size:
        return None
    dimension = domain.frame().n_features
    sums = NearestSums(points=np.zeros((1, dimension)), radius=1.0)
    purpose = "What part of each column is missing or outside its bounds, and the means for missing values"
    return planner.step(CELLS, purpose, n_points=len(low), counts=(states, share), sums=(sums, share), clusters=(states, share))


def weigh_levels(
    ask: Ask, first: FirstSteps, ready: Ready, *, generator: np.random.Generator, use: Callable[[Frame], None]
) -> Ready:
    """Return how rows are seen with the weight of categories and flags that small fits have chosen."""

    def see(table: Table) -> Frame:
        frame = table.frame(scaling=ready.scaling, missing=ready.cells.places)
        use(frame)
        return frame

    assert first.trials is not None
    weighed = choose_weight(ask, first.trials, ready.frame.domain, see=see, generator=generator)
    return replace(ready, frame=see(weighed.table), decisions=weighed.decisions)


def ask_first(
    ask: Ask,
    first: FirstSteps,
    setting: TableSpec,
    *,
    n_rows: float | None,
    use: Callable[[Frame], None],
    refuse: Callable[[Sequence[str]], None],
) -> Ready:
    """Ask for bounds and missing values, and return how rows are seen from then on.

    `use` tells the vault how to see the rows. The number of rows is not asked for here. `refuse` is given the names of columns
    whose bounds are not to be found.
    """
    scaling = setting.scaling
    domain, unseen = _find_bounds(ask, first.ranges, setting.domain, scaling=scaling, n_rows=n_rows)
    if unseen:
        refuse([setting.names[index] for index in unseen])
    places = domain.places(None)
    frame = domain.frame(scaling=scaling, missing=places)
    use(frame)
    if first.cells is None:
        return Ready(frame=frame, scaling=scaling, cells=CellSummary(places=places), n_rows=math.nan)
    low, high = domain.ranges
    answer = ask(CellStates(low=low, high=high), first.cells["counts"])
    n_rows = max(float(answer.value.sum(axis=1).mean()) if n_rows is None else n_rows, 1.0)
    absent, outside = answer.value[:, CellStates.MISSING], answer.value[:, CellStates.OUTSIDE]
    unplaced = absent + np.where(_have_levels(domain), outside, 0.0)
    # Columns that need a mean: they take it, their type allows missing values, and there seem to be some.
    takes = np.array([one.missing == "mean" for one in domain.columns]) & (np.array(setting.nullable) | _have_levels(domain))
    filled = tuple(int(index) for index in np.flatnonzero(takes & (unplaced > SURE_OF_MISSING * answer.sigma)))
    if filled:
        present = np.maximum(n_rows - unplaced, 1.0)
        sums = ask(NearestSums(points=np.zeros((1, frame.n_features)), radius=1.0), first.cells["sums"])
        places = domain.places(_means(frame, sums.value[0], sums.sigma, present))
        frame = domain.frame(scaling=scaling, missing=places)
        use(frame)
    parts = [np.clip(counts / n_rows, 0.0, 1.0) for counts in (absent, outside)]
    cells = CellSummary(places=places, missing=parts[0], outside=parts[1], error=answer.sigma / n_rows)
    return Ready(frame=frame, scaling=scaling, cells=cells, n_rows=n_rows, filled=filled)


def _find_bounds(
    ask: Ask, steps: tuple[Step, ...], domain: Table, *, scaling: str, n_rows: float | None
) -> tuple[Table, list[int]]:
    """Return the table with the bounds and spreads that were found, and the columns whose bounds were not."""
    if not steps:
        return domain, list(domain.private)
    columns, looked_at = domain.columns, domain.measured if scaling == "spread" else domain.private
    known = {index: None if columns[index].is_private else columns[index].interval for index in looked_at}
    found = find_ranges(ask, steps, known, n_rows=n_rows)
    spreads, bounds = None, {index: (found[index].low, found[index].high) for index in domain.private}
    if scaling == "spread":
        spreads = np.array([found[index].spread if index in found else math.nan for index in range(domain.n_columns)])
    for index, one in found.items():
        low, high = columns[index].interval
        if one.narrowed and columns[index].can_be_private and not columns[index].has_place:
            inside = max(one.low, low), min(one.high, high)
            at_an_end = low in inside or high in inside
            # Rows at a single place at an end were moved there: bounds that say so tell of a mistaken unit, others hide it.
            if inside[1] - inside[0] > AT_ONE_PLACE * (high - low) or not at_an_end:
                bounds[index] = inside
    return domain.with_bounds(bounds, spreads), [index for index in domain.private if not found[index].seen]


def _have_levels(domain: Table) -> "np.typing.NDArray[np.bool_]":
    """Say in which columns a value outside is placed as a missing one is: it is no level."""
    return np.array([one.has_levels for one in domain.columns])


def correct_for_missing(ask: Ask, first: FirstSteps, ready: Ready, outcome: Outcome) -> Outcome:
    """Return centres of what is there: missing values were placed at the mean of their column, which draws centres to it.

    Of the rows of a cluster a part f was placed at m, so that its centre is (1 - f) times the mean of the others plus f m. One
    more question tells f for every cluster and column; where the noise says little about it, the part in the whole table
    says more.
    """
    if not ready.filled or first.cells is None:
        return outcome
    frame, places = ready.frame, ready.frame.to_unit(np.asarray(ready.cells.places)[None])[0]
    lowest = np.where(_have_levels(frame.domain)[list(ready.filled)], 0.0, -np.inf)
    question = NearestMissing(points=frame.clip_unit(outcome.centers), frame=frame, columns=ready.filled, lowest=lowest)
    answer = ask(question, first.cells["clusters"])
    centers, errors = outcome.centers.copy(), outcome.center_errors.copy()
    ends = np.cumsum((0, *frame.widths))
    for position, column in enumerate(ready.filled):
        total = float(answer.value[:, position].sum())
        if total < CONFIRMED * answer.sigma * math.sqrt(len(answer.value)):
            continue  # nothing may be missing, and in a domain much too wide the place is far from all rows
        cut, overall = slice(ends[column], ends[column + 1]), total / ready.n_rows
        part, part_error = _parts(answer.value[:, position], answer.sigma, outcome.counts, overall)
        there = 1 - part[:, None]
        centers[:, cut] = (centers[:, cut] - part[:, None] * places[cut]) / there
        moved = part_error[:, None] * (centers[:, cut] - places[cut])  # the place itself is a public point: it adds no error
        errors[:, cut] = np.where(there > FEWEST_PRESENT, np.hypot(errors[:, cut], moved) / there, 1.0)
    return replace(outcome, centers=frame.clip_unit(centers), center_errors=np.minimum(errors, 1.0))


def _parts(missing: FloatArray, sigma: float, counts: FloatArray, overall: float) -> tuple[FloatArray, FloatArray]:
    """Return which part of each cluster is missing, drawn to the part in the whole table as far as its noise demands."""
    sizes = np.maximum(counts, 1.0)
    parts, variances = missing / sizes, (sigma / sizes) ** 2
    varied = max(float(np.average((parts - overall) ** 2 - variances, weights=1 / variances)), 0.0)
    weights = varied / (varied + variances)
    most = 1 - FEWEST_PRESENT
    return np.clip(weights * parts + (1 - weights) * overall, 0.0, most), np.sqrt(np.maximum(weights, 0.05) * variances)


def _means(frame: Frame, sums: FloatArray, sigma: float, present: FloatArray) -> FloatArray:
    """Return the mean of what is not missing in each column, shrunk towards its middle as far as its noise demands.

    Missing cells lie at the middle so far and add nothing to the sums.
    """
    sizes = np.repeat(present, frame.widths)
    means = sums / sizes
    squares = means**2
    shrunk = means * np.maximum(1 - (sigma / sizes) ** 2 / np.maximum(squares, 1e-300), 0.0)
    return np.asarray(frame.from_unit(shrunk[None])[0])
