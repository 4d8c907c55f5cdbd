# SPDX-License-Identifier: Apache-2.0
"""Private local search (Gupta et al. 2010, Balcan et al. 2017), and the way back to the full space.

A step swaps one centre for one candidate, chosen by the exponential mechanism among all such swaps. It may make things
worse, so in the end one of the sets passed through is chosen, by the exponential mechanism again. Noisy averages of the rows
nearest to the chosen centres become the centres in the full space.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cloister.algorithms._evolution import Averages
from cloister.algorithms._space import Space
from cloister.columns import FloatArray
from cloister.questions import Ask, NearestCounts, NearestSums, SetCosts, Spend, SwapCosts

__all__ = ["Search", "local_search", "noisy_averages"]


@dataclass(frozen=True, eq=False)
class Search:
    """The sets of centres passed through, the first one the start, and which of them was chosen; all of it public."""

    sets: FloatArray  # (n_swaps + 1, n_clusters, n_dimensions)
    chosen: int

    @property
    def centers(self) -> FloatArray:
        """The chosen set."""
        return np.asarray(self.sets[self.chosen])


def local_search(
    ask: Ask,
    start: FloatArray,
    space: Space,
    *,
    candidates: FloatArray,
    swaps: Sequence[Spend],
    choice: Spend,
    cap: float,
) -> Search:
    """Make one swap for each of `swaps`, then choose among the start and all sets after it."""
    sets, projection = [start], space.projection
    for query in swaps:
        # The centres are candidates, too: swapping one for itself is to stay.
        question = SwapCosts(centers=sets[-1], candidates=np.vstack([sets[-1], candidates]), cap=cap, projection=projection)
        leaves, comes = ask(question, query).index
        centers = sets[-1].copy()
        centers[leaves] = question.candidates[comes]
        sets.append(centers)
    passed = np.stack(sets)
    (chosen,) = ask(SetCosts(sets=passed, cap=cap, projection=projection), choice).index
    return Search(passed, chosen)


def noisy_averages(ask: Ask, points: FloatArray, space: Space, *, counts: Spend, sums: Spend, radius: float) -> Averages:
    """Average the rows nearest to each point: a count and a sum of offsets, each with its own draw for every number.

    Offsets are measured from the points themselves, and from the origin of the full space if there is a projection; they
    are cut at `radius`.
    """
    questions = (
        NearestCounts(points=points, projection=space.projection),
        NearestSums(points=points, radius=radius, projection=space.projection),
    )
    number, total = ask(questions, (counts, sums))
    # A cluster that the noise hides is taken to be as large as the noise: its centre then stays near where it was.
    sizes = np.maximum(number.value, max(1.0, number.sigma))[:, None]
    offsets = total.value / sizes
    # Delta method for a quotient: the noise of the sum, and the noise of the count times the offset.
    errors = np.hypot(total.sigma, offsets * number.sigma) / sizes
    return Averages(
        centers=space.full.clip(offsets if space.projection is not None else points + offsets),
        errors=np.minimum(errors, 1.0),
        counts=number.value,
        count_sigma=number.sigma,
    )
