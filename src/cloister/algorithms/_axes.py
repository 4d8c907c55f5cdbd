# SPDX-License-Identifier: Apache-2.0
"""The principal axes of the rows, from a noisy matrix of second moments.

Noise of standard deviation s in the entries of a symmetric matrix of d columns has eigenvalues up to 2 s sqrt(d) (Wigner). What
stands out beyond that edge is a direction in which the rows do vary; how much of such an eigenvalue is noise is known
(Benaych-Georges and Nadakuditi 2011), and is taken away. Other directions share what is left of the trace.
"""

from dataclasses import dataclass

import numpy as np

from cloister.columns import FloatArray
from cloister.questions import Ask, SecondMoments, Spend, spectral_edge, symmetric

__all__ = ["Axes", "find_axes"]

BEYOND_THE_EDGE = 1.1  # times the edge of the noise's spectrum: in finite dimensions it is not sharp


@dataclass(frozen=True, eq=False)
class Axes:
    """Orthogonal directions, those with the largest spread first."""

    directions: FloatArray  # (n_features, n_features), one per column
    spreads: FloatArray  # standard deviation of the rows along each
    n_seen: int  # that stand out of the noise

    def n_leading(self, energy: float) -> int:
        """Return how many axes hold the given part of the variance."""
        parts = np.cumsum(self.spreads**2)
        return int(np.searchsorted(parts, energy * parts[-1])) + 1


def find_axes(ask: Ask, query: Spend, origin: FloatArray, *, radius: float, n_rows: float) -> Axes:
    """Ask for the second moments of the offsets from `origin`, clipped at `radius`."""
    answer = ask(SecondMoments(center=origin, radius=radius), query)
    n_features = len(origin)
    values, vectors = np.linalg.eigh(symmetric(answer.value, n_features) / max(n_rows, 1.0))
    values, vectors = values[::-1], vectors[:, ::-1]
    edge = spectral_edge(answer.sigma, n_features) / max(n_rows, 1.0)
    n_seen = int(np.count_nonzero(values > BEYOND_THE_EDGE * edge))
    seen = (values[:n_seen] + np.sqrt(values[:n_seen] ** 2 - edge**2)) / 2
    rest = max(float(values.sum() - seen.sum()), edge / 2) / max(n_features - n_seen, 1)
    variances = np.concatenate([seen, np.full(n_features - n_seen, min(rest, *seen) if n_seen else rest)])
    return Axes(vectors, np.sqrt(variances), n_seen)
