# SPDX-License-Identifier: Apache-2.0
"""What a fit asks after its centres are found, if it is asked to: histograms of every column in every cluster.

The share of the budget is taken before the method's own plan. Which bins are asked for follows from public numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cloister import validate
from cloister.cluster._first import FirstSteps
from cloister.cluster._plan import Planner, Request
from cloister.columns import Declaration, FloatArray, Frame, declare_columns
from cloister.privacy import Step
from cloister.questions import Ask, ColumnBins, NearestHistograms, deviation
from cloister.release import ColumnProfile, Profiles

DESCRIBE = "describe"  # name of the step
SMALLEST_SHARE, LARGEST_SHARE = 0.001, 0.9  # of less, noise might be too large to be drawn
FEWEST_BINS, USUAL_BINS, MOST_BINS = 5, 12, 24  # of a number or a date; usual where the number of rows is not known
ROWS_A_BIN = 4.0  # that an average cluster has in a bin, were they even, in standard deviations of the noise
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
    """What will be asked of the clusters: the step, and the bins of each column."""

    step: Step
    bins: tuple[ColumnBins, ...]
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
        example = tuple(_bins(one, FEWEST_BINS) for one in columns)
        sigma = deviation(_question(frame, example), planner.budget.share(share), planner.relation)
        n_bins = _n_bins(where, columns, request.n_clusters, n_rows, sigma)
        bins = tuple(_bins(one, n_bins) for one in columns)
        purpose = "What the clusters look like: histograms of every column in each of them"
        size = request.n_clusters * sum(one.size for one in bins)
        step = planner.step(DESCRIBE, purpose, n_points=size, counts=(_question(frame, bins), share))
        return cls(step, bins, columns)

    def ask(self, ask: Ask, frame: Frame, centers: FloatArray, names: tuple[str, ...]) -> Profiles:
        """Ask for the histograms of the clusters around these centres, in the unit ball's coordinates."""
        answer = ask(_question(frame, self.bins, points=frame.clip_unit(centers)), self.step["counts"])
        ends = np.cumsum([one.size for one in self.bins])[:-1]
        parts = np.split(answer.value, ends, axis=1)
        made = tuple(
            ColumnProfile(
                name=name,
                kind=one.kind,
                clustered=index < frame.n_raw,
                noisy_counts=part,
                sigma=answer.sigma,
                edges=None if bins.are_levels else one.edges(bins.n_bins),
                levels=one.level_names if bins.are_levels else None,
            )
            for index, (name, one, bins, part) in enumerate(zip(names, self.columns, self.bins, parts, strict=True))
        )
        return Profiles(columns=made)


def _bins(declared: Declaration, n_bins: int) -> ColumnBins:
    if declared.has_levels:
        return ColumnBins.of_levels(len(declared.level_names))
    low, high = declared.interval
    return ColumnBins(low=low, high=high, n_bins=n_bins, log=declared.is_log)


def _n_bins(where: str, columns: tuple[Declaration, ...], n_clusters: int, n_rows: float, sigma: float) -> int:
    """Return into how many bins a number is cut: so that a bin of an average cluster stands out of the noise."""
    fewest = [_bins(one, FEWEST_BINS) for one in columns]
    n_measured = sum(not one.are_levels for one in fewest)
    needed = n_clusters * sum(one.size for one in fewest)
    if needed > LARGEST:
        remedy = "Describe fewer columns, or use fewer clusters."
        validate.refuse(where, f"at most {LARGEST:,} bins in all clusters", needed, remedy=remedy)
    room = FEWEST_BINS + (LARGEST - needed) // (n_clusters * max(n_measured, 1))
    wanted = int(min(n_rows / (n_clusters * ROWS_A_BIN * sigma), MOST_BINS)) if n_rows > 1 else USUAL_BINS
    return min(max(wanted, FEWEST_BINS), room)


def _question(frame: Frame, bins: tuple[ColumnBins, ...], points: FloatArray | None = None) -> NearestHistograms:
    """Return the question; without points, one of the same sensitivity."""
    given = np.zeros((1, frame.n_features)) if points is None else points
    return NearestHistograms(points=given, frame=frame, columns=tuple(range(len(bins))), bins=bins)
