# SPDX-License-Identifier: Apache-2.0
"""The exponential mechanism, drawn exactly: one index, chosen with probability proportional to exp(-cost / scale).

Costs are integers and the scale is a whole number times a power of two, so the gap between a cost and the smallest one,
divided by the scale, is a fraction: a whole number w and a rest r with 0 <= r < 1, both exact. An index is proposed uniformly
and kept with probability exp(-w) exp(-r): the first factor by a geometric number that is at least w, the second by a coin of
probability exp(-r) made of coins of probability r (see ``_samplers``). The first index that is kept is the answer. Integer
arithmetic throughout, no number of digits is cut off, so the probabilities hold exactly.

Proof of the cost. Let the costs of one table be u and of its neighbour u + c, where the largest and the smallest entry of c
differ by at most s. The probability of index i changes by the factor exp(c_i / scale) Z(u + c) / Z(u), with Z the sum of
exp(-u / scale), and Z(u + c) <= exp(-min(c) / scale) Z(u): a factor of at most exp(s / scale). So it is (s / scale)-DP.
What counts is how unevenly the costs move: a move that all of them share is free.
"""

import numpy as np

from cloister.columns import IntArray
from cloister.privacy._entropy import Entropy
from cloister.privacy._samplers import Bools, Scale, _Draws, _exp_coins, _wholes

__all__ = ["exponential_choice"]

FEWEST_PROPOSALS, MOST_PROPOSALS = 1 << 8, 1 << 16  # at a time
LARGEST_QUOTIENT = 1 << 20  # beyond it (kept with probability below exp(-2**20)) a gap is divided with Python integers


def exponential_choice(entropy: Entropy, scale: Scale, costs: IntArray) -> int:
    """Draw an index i with probability proportional to ``exp(-costs[i] / scale)``; the costs span less than 2**63."""
    draws = _Draws(entropy)
    gaps = costs - costs.min()
    count = FEWEST_PROPOSALS
    while True:
        proposed = draws.below(len(gaps), count).astype(np.int64)
        kept = np.flatnonzero(_keep(draws, gaps[proposed], scale))
        if kept.size:
            return int(proposed[kept[0]])
        count = min(2 * count, MOST_PROPOSALS)


def _keep(draws: _Draws, gaps: IntArray, scale: Scale) -> Bools:
    """Toss coins of probability exp(-gap / scale)."""
    # gap / scale = gap 2**shift / whole_scale, where whole_scale has at most 28 bits if there is a shift, of at most 33.
    whole_scale, shift = scale.factor << max(scale.exponent, 0), max(-scale.exponent, 0)
    quotients, rests = np.divmod(gaps, whole_scale)
    steps, rests = np.divmod(rests << shift, whole_scale)
    wholes = (np.minimum(quotients, LARGEST_QUOTIENT) << shift) + steps
    reached = _wholes(draws, len(gaps), 1)  # at least w with probability exp(-w)
    kept = reached >= wholes
    for index in np.flatnonzero(kept & (quotients > LARGEST_QUOTIENT)):
        kept[index] = int(reached[index]) >= (int(gaps[index]) << shift) // whole_scale
    alive = np.flatnonzero(kept)
    rest_of = rests[alive].astype(np.uint64)
    kept[alive] = _exp_coins(draws, len(alive), lambda index: draws.below(whole_scale, len(index)) < rest_of[index])
    return np.asarray(kept)
