# SPDX-License-Identifier: Apache-2.0
"""What a fit asks after its centres are found, if it is asked to: histograms of every column in every cluster.

The share of the budget is taken before the method's own plan. A part of it looks at the whole table, column by column, and says
where bins are worth having; how many there are follows from public numbers. A row adds one to one bin of each histogram,
wherever their edges are, so that what a question costs does not depend on what the first one found.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cloister import validate
from cloister.algorithms import MORE_BINS, look_edges, place_edges
from cloister.cluster._first import FirstSteps
from cloister.cluster._plan import Planner, Request
from cloister.columns import Declaration, FloatArray, Frame, declare_columns
from cloister.privacy import Step
from cloister.questions import Ask, ColumnBins, NearestHistograms, deviation
from cloister.release import ColumnProfile, Profiles

DESCRIBE = "describe"  # name of the step
SMALLEST_SHARE, LARGEST_SHARE = 0.001, 0.9  # of less, noise might be too large to be drawn
FEWEST_BINS, USUAL_BINS, MOST_BINS = 5, 12, 48  # of a number or a date; usual where the number of rows is not known
ROWS_A_BIN = 6.0  # that an average cluster has in a bin, were they even, in standard deviations of the noise
LOOK_PART = 0.2  # of the share, that looks at the whole table
LARGEST = 1 << 24  # numbers, each of which gets its own draw of noise
ROUNDING = 1e-9  # of shares that are added up


def read_share(where: str, share: object) -> float:
    """Check ``describe=``."""
    remedy = "Pass the part of the budget that says what clusters look like, such as 0.1; 0 asks nothing."
    if isinstance(share, str | Mapping | Sequence):
        remedy = "Pass describe=0.1, and columns that are not clustered by as describe_columns={...}."
    found = validate.number(where, share, low=0.0, high=LARGEST_SHARE, remedy=remedy)
    if 0 < found < SMALLEST_SHARE:
        validate.refuse(where, f"0, or at least {SMALLEST_SHARE:g}", found, remedy=remedy)
    return found


def read_columns(where: str, columns: object, *, share: float, bounds: object) -> dict[str, Declaration]:
    """Check ``describe_columns=`` and return what each of them is."""
    if columns is None:
        return {}
    example = '{"income": (0, 200_000), "region": Category(["north", "south"])}'
    if not isinstance(columns, Mapping):
        validate.refuse(where, "a mapping of columns to what they are", columns, remedy=f"Pass {example}.")
    if not share:
        validate.refuse(
            where, "a share of the budget to describe columns with", f"describe={share:g}", remedy="Pass describe=0.1."
        )
    if not isinstance(bounds, Mapping):
        remedy = 'Pass bounds={"age": (0, 120), ...} with the columns to cluster by.'
        validate.refuse(where, "bounds that name the columns to cluster by", bounds, remedy=remedy)
    found = declare_columns(where, columns)
    for name, one in found.items():
        if name in bounds:
            remedy = "Leave it out: columns that are clustered by are described anyway."
            validate.refuse(where, "columns that are not in bounds", name, remedy=remedy)
        if one.is_private:
            remedy = "Pass (low, high), known without looking at the data."
            validate.refuse(f"{where}[{name!r}]", "public bounds", "private ones", remedy=remedy)
    return found


@dataclass(frozen=True, eq=False)
class Description:
    """What will be asked of the clusters: the step, and how many bins a number is cut into."""

    step: Step
    n_bins: int
    columns: tuple[Declaration, ...]  # what each is, those that are only described last

    @classmethod
    def plan(
        cls,
        where: str,
        request: Request,
        frame: Frame,
        extra: Mapping[str, Declaration],
        *,
        first: FirstSteps,
        share: float,
        n_rows: float,
    ) -> "Description":
        """Return the step, with as many bins as noise and rows allow."""
        # Shares must leave something for the centres. What else may be asked first is a twentieth, at most.
        bounds = sum(step.share for step in first.ranges)
        if share + bounds > LARGEST_SHARE + ROUNDING:
            rule = f"at most {LARGEST_SHARE:g} of the budget, with the {bounds:.2g} that finds bounds"
            validate.refuse(where, rule, share, remedy="Lower it, or bounds_share.")
        columns = (*frame.domain.columns, *extra.values())
        planner = Planner(request.cost, request.relation)
        looks, example = _looks(columns), [_even(one, FEWEST_BINS) for one in columns]
        counts = _question(frame, list(enumerate(example))), (1 - LOOK_PART if looks else 1.0) * share
        sigma = deviation(counts[0], planner.budget.share(counts[1]), planner.relation)
        n_bins = _n_bins(where, columns, request.n_clusters, n_rows, sigma)
        size = request.n_clusters * sum(_even(one, n_bins).size for one in columns)
        purpose = "What the clusters look like: histograms of every column in each of them"
        if not looks:
            return cls(planner.step(DESCRIBE, purpose, n_points=size, counts=counts), n_bins, columns)
        look = _question(frame, looks), LOOK_PART * share
        return cls(planner.step(DESCRIBE, purpose, n_points=size, look=look, counts=counts), n_bins, columns)

    def ask(self, ask: Ask, frame: Frame, centers: FloatArray, names: tuple[str, ...]) -> Profiles:
        """Ask for the histograms of the clusters around these centres, in the unit ball's coordinates."""
        edges = dict(self._look(ask, frame))
        bins = [ColumnBins.between(edges[place]) if place in edges else _levels(one) for place, one in enumerate(self.columns)]
        question = _question(frame, list(enumerate(bins)), points=frame.clip_unit(centers))
        answer = ask(question, self.step["counts"])
        parts = np.split(answer.value, np.cumsum([one.size for one in bins])[:-1], axis=1)
        made = tuple(
            ColumnProfile(
                name=name,
                kind=one.kind,
                clustered=place < frame.n_raw,
                noisy_counts=part,
                sigma=answer.sigma,
                edges=edges.get(place),
                levels=one.level_names if one.has_levels else None,
                log=one.is_log,
            )
            for place, (name, one, part) in enumerate(zip(names, self.columns, parts, strict=True))
        )
        return Profiles(columns=made)

    def _look(self, ask: Ask, frame: Frame) -> Iterator[tuple[int, FloatArray]]:
        """Look at the whole table, and yield the edges of the bins of each number and date."""
        looks = _looks(self.columns)
        if not looks:
            return
        answer = ask(_question(frame, looks), self.step["look"])
        ends = np.cumsum([one.size for _, one in looks])
        seen = [part[:-1] for part in np.split(answer.value[0], ends[:-1])]
        for (place, _), coarse, fine in zip(looks[::2], seen[::2], seen[1::2], strict=True):
            column = self.columns[place]
            edges = place_edges(coarse, fine, look_edges(*_ends(column))[1], answer.sigma, self.n_bins)
            edges = np.exp(edges) if column.is_log else edges
            edges[[0, -1]] = column.interval
            yield place, edges


def _looks(columns: tuple[Declaration, ...]) -> list[tuple[int, ColumnBins]]:
    """Return two histograms of each number and date, a coarse and a fine one, with its place."""
    found = []
    for place, one in enumerate(columns):
        for edges in () if one.has_levels else look_edges(*_ends(one)):
            edges = np.exp(edges) if one.is_log else edges
            found.append((place, ColumnBins.between(edges)))
    return found


def _ends(column: Declaration) -> tuple[float, float]:
    """Return the bounds of a column, on the scale on which its bins are placed."""
    low, high = column.interval
    return (math.log(low), math.log(high)) if column.is_log else (low, high)


def _levels(column: Declaration) -> ColumnBins:
    return ColumnBins.of_levels(len(column.level_names))


def _even(column: Declaration, n_bins: int) -> ColumnBins:
    """Return as many bins as a column will have, where only their number matters."""
    return _levels(column) if column.has_levels else ColumnBins(low=0.0, high=1.0, n_bins=n_bins)


def _n_bins(where: str, columns: tuple[Declaration, ...], n_clusters: int, n_rows: float, sigma: float) -> int:
    """Return into how many bins a number is cut: so that a bin of an average cluster stands out of the noise."""
    n_measured = sum(not one.has_levels for one in columns)
    needed = n_clusters * (sum(_even(one, FEWEST_BINS).size for one in columns) + n_measured * MORE_BINS)
    if needed > LARGEST:
        remedy = "Describe fewer columns, or use fewer clusters."
        validate.refuse(where, f"at most {LARGEST:,} bins in all clusters", needed, remedy=remedy)
    room = FEWEST_BINS + (LARGEST - needed) // (n_clusters * max(n_measured, 1))
    wanted = int(min(n_rows / (n_clusters * ROWS_A_BIN * sigma), MOST_BINS)) if n_rows > 1 else USUAL_BINS
    return min(max(wanted, FEWEST_BINS), room)


def _question(frame: Frame, bins: Sequence[tuple[int, ColumnBins]], points: FloatArray | None = None) -> NearestHistograms:
    """Return the question about columns at some places; without points, about all rows together."""
    given = np.zeros((1, frame.n_features)) if points is None else points
    places, parts = zip(*bins, strict=True)
    return NearestHistograms(points=given, frame=frame, columns=places, bins=parts)
