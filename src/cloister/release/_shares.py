# SPDX-License-Identifier: Apache-2.0
"""The shares of one noisy histogram: none negative, one in all, and the errors that noise makes of what follows from them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.columns import FloatArray, project_to_simplex

CLEAR = 3.0  # standard deviations of its noise above which a bin is taken to hold rows
TOGETHER = 3.0  # the same for several bins beyond these, together


@dataclass(frozen=True, eq=False)
class Shares:
    """One cluster: the shares nearest to the noisy ones that are not negative and add up to one.

    Of numbers and dates, only bins between the first and the last that hold rows for certain count, and those beyond them that
    do so together: what noise alone leaves far away would make every spread too large.
    """

    values: FloatArray
    noise: float  # of a share
    kept: npt.NDArray[np.bool_]  # bins that count
    counts: FloatArray  # noisy ones, of what is not missing
    sigma: float

    @classmethod
    def of(cls, counts: FloatArray, sigma: float, *, ordered: bool) -> "Shares | None":
        """Return the shares of noisy counts; None where those that count add up to nothing."""
        kept = np.ones(len(counts), dtype=bool)
        clear = np.flatnonzero(counts[:-1] > CLEAR * sigma)
        if ordered and clear.size:  # the last bin, that of missing values, always counts
            kept[: clear[0] - _reach(counts[: clear[0]][::-1], sigma)] = False
            kept[clear[-1] + 1 + _reach(counts[clear[-1] + 1 : -1], sigma) : -1] = False
        total = float(counts[kept].sum())
        if total <= 0:
            return None
        values = np.zeros(len(counts))
        values[kept] = project_to_simplex(counts[None, kept] / total)[0]
        return cls(values, sigma / total, kept, counts[:-1], sigma)

    def errors(self) -> FloatArray:
        """Return the standard error of every share; where it was cut to zero, what the noise of its count alone makes.

        Around the shares, the projection subtracts from every bin that is positive what these exceed one by, divided by their
        number; and all counts make up the total by which they were divided.
        """
        positive = self.values > 0
        inside = positive.astype(float)
        own = np.diag(inside) - np.outer(inside, inside) / inside.sum()
        by_total = self.values - inside / inside.sum()
        moved = own - np.outer(by_total, self.kept)
        return np.where(positive, self.noise * np.sqrt(np.sum(moved**2, axis=1)), self.noise)


def _reach(counts: FloatArray, sigma: float) -> int:
    """Return how many bins beyond the last clear one count: as long as the next ones together exceed the noise."""
    taken = 0
    while taken < len(counts):
        sums = np.cumsum(counts[taken:]) / np.sqrt(np.arange(1, len(counts) - taken + 1))
        best = int(np.argmax(sums))
        if sums[best] <= TOGETHER * sigma:
            break
        taken += best + 1
    return taken
