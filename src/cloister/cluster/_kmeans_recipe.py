# SPDX-License-Identifier: Apache-2.0
"""The constants by which :class:`cloister.KMeans` divides its budget, for each kind of noise."""

from dataclasses import dataclass, replace

__all__ = ["GAUSSIAN", "PURE", "Recipe"]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The constants of the plan, all shares being parts of the whole budget."""

    mean: float  # the mean of the rows, each time that it is asked
    scale_low: float  # how far rows lie from it: least and most
    scale_high: float
    scale_later: float  # most for each further time, where rows fill little of the domain
    distance_snr: float  # standard deviations that all rows together should stand out by there
    axes_low: float  # least and most for the principal axes
    axes_high: float
    axes_edge: float  # eigenvalues of the noise that are wanted, as a part of the squared radius of the rows
    axes_edge_most: float  # the same from which on nothing is asked: no axis would stand out
    vote_snr: float  # standard deviations that a cluster of average size should stand out by in a vote
    vote_low: float  # least and most that a vote may take
    vote_high: float
    n_votes: int  # rounds of votes
    flat: int  # dimensions that are few: a search among many candidates is quick
    density: float  # rows per candidate, in standard deviations of a vote's noise
    per_cluster: int  # candidates per cluster: more find no more
    per_cluster_flat: int  # the same in few dimensions
    max_candidates: int
    max_first: int  # of the first vote, which need not see details
    max_candidates_flat: int  # of all votes in few dimensions
    extra_start: float  # centres at the start, times k
    n_rounds_low: int  # least and most rounds of counts and sums that join extra centres, and a last one
    n_rounds_high: int
    n_settling: int  # most rounds before the last in which k centres settle
    settling_noise: float  # of a coordinate of a mean offset in them, as a part of the radius
    settling_part: float  # of what all rounds get that they may take
    round_snr: float  # standard deviations that a cluster of average size stands out by, at the whole budget, for each round
    growth: float  # of their shares, from round to round
    projected: int  # rounds in which rows belong to centres of the projection
    distances: float  # part of a round for the histogram of distances
    counts: float  # counts get 1 / (1 + counts sqrt(d)) of the rest
    project_above: int
    project_to: int
    sample_rows: float  # per cluster: of so many, more would tell a vote or an early round nothing new
    sample_snr: float  # standard deviations that a cluster of average size should stand out by in a vote of the sample
    sample_least: float  # rows in all


GAUSSIAN = Recipe(
    mean=0.01,
    scale_low=0.02,
    scale_high=0.08,
    scale_later=0.04,
    distance_snr=8.0,
    axes_low=0.005,
    axes_high=0.05,
    axes_edge=0.03,
    axes_edge_most=0.2,
    vote_snr=4.0,
    vote_low=0.04,
    vote_high=0.1,
    n_votes=3,
    flat=4,
    density=0.25,
    per_cluster=32,
    per_cluster_flat=64,
    max_candidates=2048,
    max_first=1024,
    max_candidates_flat=4096,
    extra_start=3.0,
    n_rounds_low=2,
    n_rounds_high=6,
    n_settling=12,
    settling_noise=0.03,
    settling_part=0.4,
    round_snr=5.0,
    growth=1.3,
    projected=2,
    distances=0.06,
    counts=0.5,
    project_above=10,
    project_to=8,
    sample_rows=1024.0,
    sample_snr=40.0,
    sample_least=16384.0,
)
# Laplace noise adds up faster over rounds (in proportion to their number, not to its root), so there are fewer of them.
PURE = replace(
    GAUSSIAN,
    mean=0.015,
    scale_later=0.02,
    scale_high=0.2,
    vote_snr=6.0,
    vote_low=0.08,
    vote_high=0.25,
    n_votes=2,
    extra_start=2.0,
    n_rounds_low=2,
    n_rounds_high=2,
    settling_noise=0.015,
    projected=1,
    distances=0.08,
)
