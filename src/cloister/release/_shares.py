# SPDX-License-Identifier: Apache-2.0
"""The shares of one noisy histogram: none negative, one in all, and the errors that noise makes of what follows from them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.columns import FloatArray, project_to_simplex

CLEAR = 3.0  # standard deviations of its noise from which on a bin stands out


@dataclass(frozen=True, eq=False)
class Shares:
    """One cluster: the shares nearest to the noisy ones that are not negative and add up to one.

    Of numbers and dates, only bins between the first and the last that stand out of the noise count, and one more to each side:
    what noise alone leaves far away would make every spread too large.
    """

    values: FloatArray
    noise: float  # of a share
    kept: npt.NDArray[np.bool_]  # bins that count
    counts: FloatArray  # noisy ones, of what is not missing; zero where a bin does not count
    left_out: FloatArray  # the others
    sigma: float

    @classmethod
    def of(cls, counts: FloatArray, sigma: float, *, ordered: bool) -> "Shares | None":
        """Return the shares of noisy counts; None where those that count add up to nothing."""
        kept = np.ones(len(counts), dtype=bool)
        clear = np.flatnonzero(counts[:-1] > CLEAR * sigma)
        if ordered and clear.size:  # the last bin, that of missing values, always counts
            kept[: max(clear[0] - 1, 0)] = False
            kept[clear[-1] + 2 : -1] = False
        total = float(counts[kept].sum())
        if total <= 0:
            return None
        values = np.zeros(len(counts))
        values[kept] = project_to_simplex(counts[None, kept] / total)[0]
        own = np.where(kept, counts, 0.0)[:-1]
        return cls(values, sigma / total, kept, own, counts[:-1] - own, sigma)

    @property
    def total(self) -> float:
        """Noisy number of rows whose value is not missing."""
        return float(self.counts.sum())

    def error(self, moves: FloatArray) -> float:
        """Return the standard error of a ratio to the total that each further row in a bin moves by `moves` over the total.

        Rows that the bins left out on either side seem to hold are taken to lie at their near end.
        """
        inside = np.flatnonzero(self.kept[:-1])
        sides = ((slice(0, inside[0]), inside[0] - 1), (slice(inside[-1] + 1, len(moves)), inside[-1] + 1))
        hidden = [max(float(self.left_out[side].sum()), 0.0) * moves[end] for side, end in sides if self.left_out[side].size]
        return float(np.linalg.norm([*(self.sigma * moves[inside]), *hidden])) / self.total

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
