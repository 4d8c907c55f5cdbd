# SPDX-License-Identifier: Apache-2.0
"""What answers about two neighbouring tables prove about the loss, for tests of whole methods."""

import math

import numpy as np

from cloister.audit._attacks import at_least, at_most
from cloister.columns import FloatArray

__all__ = ["FALSE_ALARM", "proven_epsilon"]

FALSE_ALARM = 1e-6


def proven_epsilon(left: FloatArray, right: FloatArray, thresholds: FloatArray, delta: float) -> float:
    """Return the best epsilon over thresholds fixed beforehand, either table first, and either side of the threshold."""
    level = FALSE_ALARM / (8 * len(thresholds))
    best = 0.0
    for one, other in ((left, right), (right, left)):
        for threshold in thresholds:
            for said in (np.greater_equal, np.less):
                hits, alarms = (int(np.count_nonzero(said(table, threshold))) for table in (one, other))
                least, most = at_least(hits, one.size, level), at_most(alarms, other.size, level)
                best = max(best, math.log((least - delta) / most) if least > delta else 0.0)
    return best
