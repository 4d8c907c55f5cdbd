# SPDX-License-Identifier: Apache-2.0
"""Private local search (Gupta et al. 2010, Balcan et al. 2017), and the way back to the full space.

A step swaps one centre for one candidate, chosen by the exponential mechanism among all such swaps. It may make things
worse, so in the end one of the sets passed through is chosen, by the exponential mechanism again. Noisy averages of the rows
nearest to the chosen centres become the centres in the full space.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cloister.domain import FloatArray
from cloister.questions import Ask, Cost, NearestCounts, NearestSums, SetCosts, SwapCosts

__all__ = ["Averages", "Search", "local_search", "noisy_averages"]


@dataclass(frozen=True, eq=False)
class Search:
    """The sets of centres passed through, the first one the start, and which of them was chosen; all of it public."""

    sets: FloatArray  # (n_swaps + 1, n_clusters, n_dimensions)
    chosen: int

    @property
    def centers(self) -> FloatArray:
        """The chosen set."""
        return np.asarray(self.sets[self.chosen])


@dataclass(frozen=True, kw_only=True, eq=False)
class Averages:
    """Noisy averages and what is known of their errors; all of it public."""

    centers: FloatArray  # (n_clusters, n_features)
    errors: FloatArray  # standard errors of the coordinates
    counts: FloatArray  # (n_clusters,), noisy
    count_sigma: float


def local_search(
    ask: Ask,
    start: FloatArray,
    *,
    candidates: FloatArray,
    n_swaps: int,
    swap_cost: Cost,
    choice_cost: Cost,
    cap: float,
    projection: FloatArray | None = None,
    watch: Callable[[], None] | None = None,
) -> Search:
    """Make `n_swaps` swaps, each at `swap_cost`, then choose among the start and all sets after it at `choice_cost`."""
    sets = [start]
    for _ in range(n_swaps):
        # The centres are candidates, too: swapping one for itself is to stay.
        question = SwapCosts(centers=sets[-1], candidates=np.vstack([sets[-1], candidates]), cap=cap, projection=projection)
        leaves, comes = ask(question, swap_cost).index
        centers = sets[-1].copy()
        centers[leaves] = question.candidates[comes]
        sets.append(centers)
        if watch is not None:
            watch()
    passed = np.stack(sets)
    (chosen,) = ask(SetCosts(sets=passed, cap=cap, projection=projection), choice_cost).index
    return Search(passed, chosen)


def noisy_averages(
    ask: Ask,
    points: FloatArray,
    *,
    count_cost: Cost,
    sum_cost: Cost,
    radius: float,
    clip: Callable[[FloatArray], FloatArray],
    projection: FloatArray | None = None,
) -> Averages:
    """Average the rows nearest to each point: a count and a sum of offsets, each with its own draw for every number.

    Offsets are measured from the points themselves, and from the origin of the full space if there is a projection; they
    are cut at `radius`.
    """
    questions = (
        NearestCounts(points=points, projection=projection),
        NearestSums(points=points, radius=radius, projection=projection),
    )
    counts, sums = ask(questions, (count_cost, sum_cost))
    # A cluster that the noise hides is taken to be as large as the noise: its centre then stays near where it was.
    sizes = np.maximum(counts.value, max(1.0, counts.sigma))[:, None]
    offsets = sums.value / sizes
    # Delta method for a quotient: the noise of the sum, and the noise of the count times the offset.
    errors = np.hypot(sums.sigma, offsets * counts.sigma) / sizes
    return Averages(
        centers=clip(offsets if projection is not None else points + offsets),
        errors=np.minimum(errors, 1.0),
        counts=counts.value,
        count_sigma=counts.sigma,
    )
