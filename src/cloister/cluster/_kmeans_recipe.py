# SPDX-License-Identifier: Apache-2.0
"""The constants by which :class:`cloister.KMeans` divides its budget, for each kind of noise."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The constants of the plan, all shares being parts of the whole budget; the defaults are for Gaussian noise."""

    mean: float = 0.01  # the mean of the rows, each time that it is asked
    scale_low: float = 0.02  # how far rows lie from it: least and most
    scale_high: float = 0.08
    scale_later: float = 0.04  # most for each further time, where rows fill little of the domain
    distance_snr: float = 8.0  # standard deviations that all rows together should stand out by there
    axes_low: float = 0.005  # least and most for the principal axes
    axes_high: float = 0.05
    axes_edge: float = 0.03  # eigenvalues of the noise that are wanted, as a part of the squared radius of the rows
    axes_edge_most: float = 0.2  # the same from which on nothing is asked: no axis would stand out
    vote_snr: float = 4.0  # standard deviations that a cluster of average size should stand out by in a vote
    vote_low: float = 0.04  # least and most that a vote may take
    vote_high: float = 0.1
    n_votes: int = 3  # rounds of votes
    flat: int = 4  # dimensions that are few: a search among many candidates is quick
    density: float = 0.25  # rows per candidate, in standard deviations of a vote's noise
    per_cluster: int = 32  # candidates per cluster: more find no more
    per_cluster_flat: int = 64  # the same in few dimensions
    max_candidates: int = 2048
    max_first: int = 1024  # of the first vote, which need not see details
    max_candidates_flat: int = 4096  # of all votes in few dimensions
    extra_start: float = 3.0  # centres at the start, times k
    n_rounds_low: int = 2  # least and most rounds of counts and sums that join extra centres, and a last one
    n_rounds_high: int = 6
    n_settling: int = 12  # most rounds before the last in which k centres settle
    settling_noise: float = 0.03  # of a coordinate of a mean offset in them, as a part of the radius
    settling_part: float = 0.4  # of what all rounds get that they may take
    round_snr: float = 5.0  # for each round: standard deviations at the whole budget that an average cluster stands out by
    growth: float = 1.3  # of their shares, from round to round
    projected: int = 2  # rounds in which rows belong to centres of the projection
    distances: float = 0.06  # part of a round for the histogram of distances
    counts: float = 0.5  # counts get 1 / (1 + counts sqrt(d)) of the rest
    project_above: int = 10
    project_to: int = 8
    grid_snr: float = (
        11.0  # a cluster of average size over the noise of a count at the whole budget, below which a grid is asked
    )
    laplace_snr: float = 8.0  # the same, below which votes and sums draw Laplace noise where they may
    sample_rows: float = 1024.0  # per cluster: of so many, more would tell a vote or an early round nothing new
    sample_snr: float = 40.0  # standard deviations that a cluster of average size should stand out by in a vote of the sample
    sample_least: float = 16384.0  # rows in all
    ends_on_all_rows: bool = True  # whether the last round asks all rows, also where the others ask a sample


GAUSSIAN = Recipe()
# Laplace noise adds up faster over rounds (in proportion to their number, not to its root), so there are fewer of them.
PURE = Recipe(
    mean=0.015,
    scale_later=0.02,
    scale_high=0.2,
    vote_snr=6.0,
    vote_low=0.08,
    vote_high=0.25,
    n_votes=2,
    extra_start=2.0,
    n_rounds_high=2,
    settling_noise=0.015,
    projected=1,
    grid_snr=50.0,
    distances=0.08,
)


def for_trial(recipe: Recipe) -> Recipe:
    """Return the constants of a small fit that only has to find out how good its centres could be."""
    return replace(recipe, n_votes=2, n_rounds_high=3, n_settling=2, ends_on_all_rows=False)
