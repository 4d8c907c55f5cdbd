# SPDX-License-Identifier: Apache-2.0
"""FastLloyd: Lloyd's iterations on noisy offsets from the present centres, of the rows within a radius (Diaa et al. 2025).

DPLloyd adds up the rows themselves. Here rows beyond a radius are left out, so noise is needed for it instead of the domain.
"""

import numpy as np

from cloister import validate
from cloister.algorithms import Space
from cloister.cluster import estimator
from cloister.columns import FloatArray
from cloister.privacy import Step
from cloister.questions import Ask
from cloister.rivals._lloyd import LloydEstimator, LloydRound
from cloister.rivals._questions import BoundedCounts, BoundedSums

LARGEST_ALPHA = 2.0  # with one cluster it is the diameter of the domain: no row is left out
SMALLEST_ALPHA = 1e-3


@estimator
class FastLloyd(LloydEstimator):
    """k-means by Lloyd's iterations on noisy offsets from the present centres, of the rows within a radius of them.

    Parameters
    ----------
    n_rounds : int or "auto", default=6
        ``"auto"`` is the rule of :class:`LloydKMeans`, with the noise of the smaller radius.
    alpha : float, default=0.8
        From the second round on rows farther than ``alpha R / n_clusters^(1/d)`` from their centre are left out, with R the
        radius of the domain (half the diagonal of a box): `alpha` times half the diagonal of one of k equal parts.

    Attributes
    ----------
    cluster_counts_ : array of shape (n_clusters,)
        Noisy numbers of rows, of the last round: of those within the radius of the centres it began with.

    Notes
    -----
    **Privacy.** Each round asks how many rows belong to each centre and for the sum of their offsets. For adding or removing a
    row the counts have sensitivity 1; the sums have r in l2 and sqrt(d) r in l1, with r the radius of the round. For
    replacing a row the counts have 2 in l1 and sqrt(2) in l2, the sums twice the above. A row beyond the radius moves
    nothing. Rounds get equal shares. Every number has an independent draw, also in empty cells. The bounds and, if given,
    n_rows are taken as public. Not covered: labels, and the score of rows you pass.

    The method is that of Diaa, Humphries and Kerschbaum, *FastLloyd* (2025), for one holder of the rows: the secure aggregation
    between several is left out. The paper's first round bounds offsets by the diagonal of the domain, which leaves no row
    out; here that round measures them from the middle of the domain, which leaves none out either and halves the noise. The
    radius of the later rounds is the paper's "diagonal then fraction", read for a domain of radius R. Centres that leave a
    box are reflected at its faces, as in the paper; those that leave a ball at its surface, along their ray. A centre whose
    noisy count is below one stays. The split of the budget is the paper's principle, the smallest expected error, with
    exact GDP composition and the sensitivities of the relation.
    """

    n_rounds: int | str = 6
    alpha: float = 0.8

    def _radius(self, n_clusters: int, n_features: int) -> float:
        alpha = validate.number(self._where("alpha"), self.alpha, low=SMALLEST_ALPHA, high=LARGEST_ALPHA)
        return float(alpha * n_clusters ** (-1 / n_features))  # a cube cut into k equal cubes has parts that much narrower

    def _round(self, ask: Ask, step: Step, points: FloatArray, space: Space, *, radius: float | None) -> LloydRound:
        if radius is None:
            return super()._round(ask, step, points, space, radius=None)
        questions = [BoundedCounts(points=points, radius=radius), BoundedSums(points=points, radius=radius)]
        counts, sums = ask(questions, [step["counts"], step["sums"]])
        return self._move(points, points, counts, sums, space, radius=radius)

    def _into_domain(self, points: FloatArray, space: Space) -> FloatArray:
        return space.clip(fold(points, space.half_widths))


def fold(points: FloatArray, half_widths: FloatArray | None = None) -> FloatArray:
    """Reflect points that left the domain at its boundary: at the faces of a box, or at the unit sphere along their ray."""
    if half_widths is not None:
        return _reflect(points, half_widths)
    lengths = np.sqrt(np.sum(points * points, axis=1, keepdims=True))
    return np.where(lengths <= 1, points, points * (_reflect(lengths, np.ones(1)) / np.maximum(lengths, 1.0)))


def _reflect(values: FloatArray, limits: FloatArray) -> FloatArray:
    """Reflect numbers at plus and minus the limits until they lie between; those between stay exactly as they are."""
    place = np.mod(values + limits, 4 * limits)
    return np.asarray(np.where(np.abs(values) <= limits, values, np.minimum(place, 4 * limits - place) - limits))
