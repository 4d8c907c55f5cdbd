# SPDX-License-Identifier: Apache-2.0
"""The question for principal axes: second moments of the rows' offsets from a public point, clipped at a radius."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns import BLOCK_NUMBERS, FloatArray, IntArray, Relation, grid_step, row_blocks
from cloister.questions._base import Question, public_points, refuse_misfit
from cloister.questions._sums import clip_steps, whole_radius

RESOLUTION = 1 << 12  # steps in the radius; what they hide is far below the noise of one row
# A product of two columns stands for two equal entries of a symmetric matrix. Weighted with the root of two it would move the
# answer in l2 exactly as far as both entries together, so its noise is less at the same cost. 7/5 is just below that root.
SQUARE_WEIGHT, PRODUCT_WEIGHT = 5, 7
LARGEST_MOVE = SQUARE_WEIGHT * RESOLUTION**2


@dataclass(frozen=True, kw_only=True, eq=False)
class SecondMoments(Question):
    """The sum over all rows of q q^T, where q is the offset of a row from a public point, shortened to a radius.

    The answer is the upper triangle in row-major order: squares (0, 0), products (0, 1), (0, 2), ..., then (1, 1) and so on.
    Products have a weight of their own; :func:`symmetric` takes it out and returns the matrix.

    Parameters
    ----------
    center : array of shape (n_features,)
        Public; offsets are measured from it.
    radius : float
        Longer offsets are shortened to it; rounded down to whole steps of the grid.

    Examples
    --------
    >>> question = SecondMoments(center=[0.0, 0.0], radius=0.5)
    >>> answer = question.exact(np.array([[0.25, 0.0], [0.0, 4.0]]))
    >>> symmetric(answer * question.unit, 2)
    array([[0.0625    , 0.        ],
           [0.        , 0.24987794]])
    """

    center: FloatArray
    radius: float
    name: ClassVar[str] = "second_moments"

    def __post_init__(self) -> None:
        center = np.asarray(self.center, dtype=np.float64)
        if center.ndim != 1 or not center.size:
            remedy = "Pass one point."
            validate.refuse("SecondMoments.center", "an array of shape (n_features,)", center.shape, remedy=remedy)
        radius = whole_radius("SecondMoments.radius", self.radius, step=grid_step(center.size))
        self.keep(center=public_points("SecondMoments.center", center[None])[0], radius=radius)

    @property
    def shape(self) -> tuple[int, ...]:
        """The squares of the columns and the products of each two."""
        return (len(self.center) * (len(self.center) + 1) // 2,)

    @property
    def unit(self) -> float:
        """A square of one step, over the weight of squares."""
        return (self.radius / RESOLUTION) ** 2 / SQUARE_WEIGHT

    def exact(self, rows: FloatArray) -> IntArray:
        """Add up the weighted products of one block."""
        d = len(self.center)
        total = np.zeros((d, d), dtype=np.int64)
        # Whole numbers q with |q| <= 2**12 have products of at most 2**24, and their sums over at most 2**18 rows stay below
        # 2**53 in any order of summation: a product of matrices in double precision is exact.
        for part in row_blocks(len(rows), max(1, BLOCK_NUMBERS // d)):
            steps = self._steps(rows[part])
            total += (steps.T @ steps).astype(np.int64)
        row, column = np.triu_indices(d)
        return np.asarray(np.where(row == column, SQUARE_WEIGHT, PRODUCT_WEIGHT) * total[row, column], dtype=np.int64)

    def _steps(self, rows: FloatArray) -> FloatArray:
        """Return offsets in whole numbers of coarse steps; none is longer than RESOLUTION of them."""
        unit = grid_step(len(self.center))
        steps = clip_steps(rows - self.center, radius=self.radius, unit=unit)
        # clip_steps keeps within the radius, and truncating makes nothing longer. Rounding of the factor and of the product
        # adds less than a part in 2**50 to the squared length, which is a whole number: below 2**24 + 1 it is at most 2**24.
        steps *= RESOLUTION * unit / self.radius
        return np.trunc(steps, out=steps)

    def l1_sensitivity(self, relation: Relation) -> float:
        # A row q of squared length s <= R^2 adds the squares, 5 s, and the products, 7/2 ((sum |q_i|)^2 - s) <= 7/2 (d - 1) s.
        # Replacing moves the matrix by M = x x^T - y y^T, whose entries have squares that add up to at most 2 R^4 (below). By
        # Cauchy and Schwarz 5 sum |M_ii| + 7 sum |M_ij| is at most the root of 2 R^4 (d 5^2 + d (d - 1) / 2 (7^2 / 2)). It is a
        # whole number, so the root may be rounded down.
        d = len(self.center)
        products = d * (d - 1) // 2
        if relation is Relation.ADD_REMOVE or not products:
            return (SQUARE_WEIGHT + PRODUCT_WEIGHT * (d - 1) / 2) * RESOLUTION**2
        return float(math.isqrt(RESOLUTION**4 * (2 * SQUARE_WEIGHT**2 * d + PRODUCT_WEIGHT**2 * products)))

    def l2_sensitivity(self, relation: Relation) -> float:
        # 7^2 < 2 * 5^2, so the move is at most 5 times the root of the sum of squares of all entries of the matrix. That is
        # |q|^2 <= R^2 for a row, and for a row x replaced by y it is the root of |x|^4 + |y|^4 - 2 (x.y)^2 <= 2 R^4, attained
        # by two rows at right angles. In one dimension there are none: (x^2 - y^2)^2 <= R^4.
        if relation is Relation.ADD_REMOVE or len(self.center) == 1:
            return float(LARGEST_MOVE)
        return math.nextafter(math.sqrt(2 * LARGEST_MOVE**2), math.inf)


def symmetric(values: npt.ArrayLike, n_features: int) -> FloatArray:
    """Return the symmetric matrix whose upper triangle :class:`SecondMoments` answered, exactly or with noise.

    Parameters
    ----------
    values : array of shape (n_features * (n_features + 1) / 2,)
        In the order and with the weights of the question.
    n_features : int
        Number of columns.

    Returns
    -------
    array of shape (n_features, n_features)
        Sum over rows of q q^T. The standard deviation of the noise on the diagonal is that of the answer; beside the diagonal
        it is 5/7 of it.

    Examples
    --------
    >>> symmetric([1.0, 1.4, 3.0], 2)
    array([[1., 1.],
           [1., 3.]])
    """
    flat = np.asarray(values, dtype=np.float64)
    refuse_misfit("symmetric.values", flat.shape, (n_features * (n_features + 1) // 2,))
    row, column = np.triu_indices(n_features)
    matrix = np.empty((n_features, n_features))
    matrix[row, column] = np.where(row == column, flat, flat * (SQUARE_WEIGHT / PRODUCT_WEIGHT))
    matrix[column, row] = matrix[row, column]
    return matrix


def spectral_edge(deviation: float, n_features: int) -> float:
    """Return the size that eigenvalues of pure noise reach, for an answer with noise of this standard deviation.

    Entries beside the diagonal have noise t = 5/7 of the deviation, those on it about the root of two times t: a matrix of the
    Gaussian orthogonal ensemble, whose spectrum ends near 2 t sqrt(n_features).

    Examples
    --------
    >>> spectral_edge(0.7, 16)
    4.0
    """
    return 2 * deviation * (SQUARE_WEIGHT / PRODUCT_WEIGHT) * math.sqrt(n_features)
