# SPDX-License-Identifier: Apache-2.0
"""Total errors of released centres: noise, the choice among solutions, and clusters that do not stand out of the noise."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from cloister.algorithms._resample import Beyond
from cloister.columns import FloatArray, Frame

FALSE_ALARM = 0.025  # chance that the noise alone lifts one of the counts so far that its cluster stands out
WITHIN_RANGE = 0.95 / 1.96  # of half a range: an interval of 1.96 errors around its middle then covers 95 % of it


@dataclass(frozen=True, kw_only=True, eq=False)
class TotalErrors:
    """Standard errors against k-means on the same rows, in the coordinates of the unit ball."""

    centers: FloatArray  # of shape (n_clusters, n_features)
    counts: FloatArray
    loss: float  # beyond the noise of the loss itself
    stability: FloatArray | None


def add_beyond(
    noise: FloatArray,
    counts: FloatArray,
    count_noise: FloatArray,
    beyond: Beyond,
    *,
    n_rows: float,
    hidden: FloatArray,
    frame: Frame,
) -> TotalErrors:
    """Return total errors of k centres, of which the first are those that were judged and the others are listed again.

    A cluster that does not stand out of the noise may be anywhere among the rows: `hidden`. Those that stand out hold its rows
    besides their own, one of them for each that does not; which of them is not known. Where the whole table does not stand
    out, no cluster does. Stability is not known only where nothing was drawn of several clusters that stand out.
    """
    missing = len(counts) - len(beyond.count_errors)
    centers = np.hypot(noise, np.concatenate([beyond.center_errors, np.zeros((missing, noise.shape[1]))]))
    unseen = ~stands_out(np.minimum(counts, n_rows), count_noise)
    n_unseen = int(np.count_nonzero(unseen))
    part = np.where(unseen, 1.0, min(1.0, n_unseen / max(len(unseen) - n_unseen, 1)))
    centers = np.hypot(centers, np.sqrt(part)[:, None] * hidden)
    back = beyond.stability
    if back is None and len(beyond.count_errors) == 1:
        back = np.ones(1)  # a single cluster holds all rows, whatever is drawn
    if back is None and unseen.all():
        back = np.zeros(len(beyond.count_errors))
    stability = None if back is None else np.where(unseen, 0.0, np.concatenate([back, np.zeros(missing)]))
    return TotalErrors(
        centers=np.minimum(centers, unknown_errors(frame)),
        counts=np.hypot(count_noise, np.concatenate([beyond.count_errors, np.zeros(missing)])),
        loss=beyond.loss_error,
        stability=stability,
    )


def unknown_errors(frame: Frame) -> FloatArray:
    """Return the standard error, per coordinate, of a point that may be anywhere in the domain."""
    if frame.half_widths is None:
        return np.full(frame.n_features, 1 / math.sqrt(frame.n_features + 2))  # evenly spread in the unit ball
    return np.asarray(WITHIN_RANGE * frame.half_widths)


def stands_out(counts: FloatArray, noise: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which counts are so large that noise alone would lift none of them so far, but in 2.5 % of all fits."""
    limit = float(ndtri(1 - FALSE_ALARM / max(len(counts), 1)))
    return np.asarray((counts > 0) & (counts >= limit * noise), dtype=np.bool_)
