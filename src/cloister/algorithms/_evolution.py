# SPDX-License-Identifier: Apache-2.0
"""Private evolution (PE-means, Humphries, Lin and Yekhanin): candidates evolve, rows only vote for the nearest one.

Algorithm 1 with the modified histogram of Algorithm 2, and Algorithm 3 for many dimensions. Rows are reached through
``ask`` alone; everything else here is arithmetic on public numbers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gamma

from cloister.algorithms._packing import pack_sphere
from cloister.algorithms._select import keep_votes, select_kmeans, select_top
from cloister.domain import FloatArray
from cloister.questions import Ask, Cost, NearestCounts, NearestSums

__all__ = [
    "FEWEST_VARIATIONS",
    "Evolution",
    "EvolutionSettings",
    "Generation",
    "evolve",
    "levy_flight",
    "lift",
    "random_projection",
]

FEWEST_VARIATIONS = 4


@dataclass(frozen=True, kw_only=True)
class EvolutionSettings:
    """Public settings of a run; the defaults are the paper's."""

    n_rounds: int
    n_variations: int  # per centre, at the start
    selection: str = "kmeans"  # or "top-k"
    adaptive: bool = True  # halve the variations while the votes drown in noise
    step: float = 0.01  # gamma: size of a variation, in units of the domain's radius
    levy_exponent: float = 1.75  # beta: the smaller, the heavier the tails
    n_init: int = 10  # restarts of each weighted k-means


@dataclass(frozen=True, eq=False)
class Generation:
    """One round, all of it public."""

    candidates: FloatArray
    votes: FloatArray  # noisy, after the cut of Algorithm 2
    centers: FloatArray
    sigma: float


@dataclass(frozen=True, eq=False)
class Evolution:
    """The outcome: the generations, the last of which holds the centres."""

    generations: tuple[Generation, ...]

    @property
    def centers(self) -> FloatArray:
        """The centres of the last round."""
        return self.generations[-1].centers


def evolve(
    ask: Ask,
    cost: Cost,
    *,
    n_clusters: int,
    n_rows: float,
    dimension: int,
    settings: EvolutionSettings,
    generator: np.random.Generator,
    clip: Callable[[FloatArray], FloatArray],
    half_widths: FloatArray | None = None,
    projection: FloatArray | None = None,
    watch: Callable[[Generation], None] | None = None,
) -> Evolution:
    """Run Algorithm 1: `settings.n_rounds` votes, each at `cost`."""
    n_variations = settings.n_variations
    candidates = clip(pack_sphere(generator, (n_variations + 1) * n_clusters, dimension, half_widths=half_widths))
    generations: list[Generation] = []
    for _ in range(settings.n_rounds):
        answer = ask(NearestCounts(points=candidates, projection=projection), cost)
        votes = keep_votes(answer.value, n_rows)
        centers = clip(_select(candidates, votes, answer.value, n_clusters, settings, generator))
        generations.append(Generation(candidates, votes, centers, answer.sigma))
        if watch is not None:
            watch(generations[-1])
        # The expected squared length of the noise is sigma^2 per candidate: below it there is more noise than signal.
        if settings.adaptive and np.sum(votes**2) < len(votes) * answer.sigma**2:
            n_variations = max(n_variations // 2, FEWEST_VARIATIONS)
        candidates = np.vstack([centers, clip(_vary(centers, n_variations, settings, generator))])
    return Evolution(tuple(generations))


def lift(
    ask: Ask, cost: Cost, centers: FloatArray, *, projection: FloatArray, clip: Callable[[FloatArray], FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Take projected centres back to the full space by noisy averaging (Algorithm 3); two questions, each at `cost`.

    Every cell is noised and every coordinate has its own draw, also in cells that happen to be empty. Returns the centres, the
    noisy counts and the standard error of each centre's coordinates.
    """
    counts = ask(NearestCounts(points=centers, projection=projection), cost)
    sums = ask(NearestSums(points=centers, radius=1.0, projection=projection), cost)
    sizes = np.maximum(counts.value, 1.0)[:, None]
    lifted = clip(sums.value / sizes)
    # Delta method for a quotient: the noise of the sum, and the noise of the count times the centre.
    errors = np.sqrt(sums.sigma**2 + (lifted * counts.sigma) ** 2) / sizes
    return lifted, counts.value, np.minimum(errors, 1.0)


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


def _select(
    candidates: FloatArray,
    votes: FloatArray,
    noisy_votes: FloatArray,
    n_clusters: int,
    settings: EvolutionSettings,
    generator: np.random.Generator,
) -> FloatArray:
    if settings.selection == "top-k" or np.count_nonzero(votes) <= n_clusters:
        return select_top(candidates, noisy_votes, n_clusters)
    return select_kmeans(candidates, votes, n_clusters, generator=generator, restarts=settings.n_init)


def _vary(centers: FloatArray, n_variations: int, settings: EvolutionSettings, generator: np.random.Generator) -> FloatArray:
    origins = np.repeat(centers, n_variations, axis=0)
    return np.asarray(origins + settings.step * levy_flight(generator, origins.shape, settings.levy_exponent))
