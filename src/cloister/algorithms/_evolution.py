# SPDX-License-Identifier: Apache-2.0
"""Private evolution (PE-means, Humphries, Lin and Yekhanin): candidates evolve, rows only vote for the nearest one.

Algorithm 1 with the modified histogram of Algorithm 2, and Algorithm 3 for many dimensions. Rows are reached through
``ask`` alone; everything else here is arithmetic on public numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gamma

from cloister.algorithms._packing import pack_sphere, uniform
from cloister.algorithms._select import clean_votes, select_centers
from cloister.algorithms._space import Space
from cloister.columns import FloatArray
from cloister.questions import Ask, NearestCounts, NearestSums, Spend, Step

FEWEST_VARIATIONS = 4
FIRST_CANDIDATES = ("packing", "uniform")


@dataclass(frozen=True, kw_only=True)
class EvolutionSettings:
    """Public settings of a run; the defaults are the paper's."""

    n_variations: int  # per centre, at the start
    selection: str = "kmeans"  # one of SELECTIONS
    vote_rule: str = "cut"  # one of VOTE_RULES
    vote_threshold: float = 2.0  # of the rule "threshold", in standard deviations of the noise
    first_candidates: str = "packing"  # one of FIRST_CANDIDATES
    adaptive: bool = True  # halve the variations while noise hides the votes
    step: float = 0.01  # gamma: size of a variation, in units of the domain's radius
    levy_exponent: float = 1.75  # beta: the smaller, the heavier the tails
    n_init: int = 10  # restarts of each weighted k-means


@dataclass(frozen=True, eq=False)
class Generation:
    """One round, all of it public."""

    candidates: FloatArray
    votes: FloatArray  # noisy, after the rule for votes
    centers: FloatArray
    sigma: float


def evolve(
    ask: Ask,
    votes: Sequence[Spend],
    space: Space,
    *,
    n_clusters: int,
    n_rows: float,
    settings: EvolutionSettings,
    generator: np.random.Generator,
) -> tuple[Generation, ...]:
    """Run Algorithm 1: one round for each of `votes`, which say what a round costs. The last one holds the centres."""
    n_variations = settings.n_variations
    draw = pack_sphere if settings.first_candidates == "packing" else uniform
    first = draw(generator, (n_variations + 1) * n_clusters, space.dimension, half_widths=space.half_widths)
    candidates = space.clip(first)
    generations: list[Generation] = []
    for query in votes:
        answer = ask(NearestCounts(points=candidates, projection=space.projection), query)
        floor = settings.vote_threshold * answer.sigma
        kept = clean_votes(answer.value, settings.vote_rule, n_rows=n_rows, floor=floor)
        found = select_centers(
            candidates,
            kept,
            answer.value,
            n_clusters,
            selection=settings.selection,
            generator=generator,
            restarts=settings.n_init,
        )
        centers = space.clip(found)
        generations.append(Generation(candidates, kept, centers, answer.sigma))
        # The expected squared length of the noise is sigma^2 per candidate: below it there is more noise than signal.
        if settings.adaptive and np.sum(kept**2) < len(kept) * answer.sigma**2:
            n_variations = max(n_variations // 2, FEWEST_VARIATIONS)
        origins = np.repeat(centers, n_variations, axis=0)
        variations = origins + settings.step * levy_flight(generator, origins.shape, settings.levy_exponent)
        candidates = np.vstack([centers, space.clip(variations)])
    return tuple(generations)


@dataclass(frozen=True, kw_only=True, eq=False)
class Averages:
    """Noisy averages and what is known of their errors; all of it public."""

    centers: FloatArray  # (n_clusters, n_features)
    errors: FloatArray  # standard errors of the coordinates
    counts: FloatArray  # (n_clusters,), noisy
    count_sigma: float


def lift(ask: Ask, average: Step, centers: FloatArray, space: Space) -> Averages:
    """Take projected centres back to the full space by noisy averaging (Algorithm 3).

    Every cell is noised and every coordinate has its own draw, also in cells that happen to be empty.
    """
    counts = ask(NearestCounts(points=centers, projection=space.projection), average["counts"])
    sums = ask(NearestSums(points=centers, radius=1.0, projection=space.projection), average["sums"])
    sizes = np.maximum(counts.value, 1.0)[:, None]
    lifted = space.full.clip(sums.value / sizes)
    # Delta method for a quotient: the noise of the sum, and the noise of the count times the centre.
    errors = np.sqrt(sums.sigma**2 + (lifted * counts.sigma) ** 2) / sizes
    return Averages(centers=lifted, errors=np.minimum(errors, 1.0), counts=counts.value, count_sigma=counts.sigma)


def random_projection(generator: np.random.Generator, n_features: int, dimension: int) -> FloatArray:
    """Return a Gaussian matrix that keeps squared norms on average (Johnson and Lindenstrauss)."""
    return np.asarray(generator.standard_normal((n_features, dimension)) / math.sqrt(dimension))


def levy_flight(generator: np.random.Generator, shape: tuple[int, ...], exponent: float) -> FloatArray:
    """Draw steps with heavy tails by Mantegna's method."""
    numerator = gamma(1 + exponent) * math.sin(math.pi * exponent / 2)
    denominator = gamma((1 + exponent) / 2) * exponent * 2 ** ((exponent - 1) / 2)
    scale = (numerator / denominator) ** (1 / exponent)
    steps = scale * generator.standard_normal(shape)
    return np.asarray(steps / np.abs(generator.standard_normal(shape)) ** (1 / exponent))
