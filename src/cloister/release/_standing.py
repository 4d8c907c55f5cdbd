# SPDX-License-Identifier: Apache-2.0
"""Which clusters can be told from noise, by their noisy counts alone."""

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from cloister.domain import FloatArray

__all__ = ["NONE_ABOVE_NOISE", "BoolArray", "stands_out"]

BoolArray = npt.NDArray[np.bool_]
FALSE_ALARM = 0.025  # chance that the noise alone lifts one of the counts so far that its cluster stands out
NONE_ABOVE_NOISE = "none above the noise"


def stands_out(counts: FloatArray, noise: FloatArray) -> BoolArray:
    """Return which counts are so large that noise alone would lift none of them so far, but in 2.5 % of all fits.

    Examples
    --------
    >>> stands_out(np.array([20.0, -3.0, 900.0]), np.array([10.0, 10.0, 10.0])).tolist()
    [False, False, True]
    """
    limit = float(ndtri(1 - FALSE_ALARM / max(len(counts), 1)))
    return np.asarray((counts > 0) & (counts >= limit * noise), dtype=np.bool_)
