# SPDX-License-Identifier: Apache-2.0
"""Uniform grids: their shape, and what to make of their noisy counts."""

import math

import numpy as np

from cloister import validate
from cloister.columns import FloatArray

COUNT_RULES = ("clip", "none", "nonnegative-total")


def grid_shape(per_axis: float, half_widths: FloatArray) -> tuple[int, ...]:
    """Return cells per axis for a box: about `per_axis` for a cube, else in proportion to the widths, about as many in all."""
    widths = np.asarray(half_widths, dtype=np.float64)
    if np.ptp(widths) <= 1e-9 * widths.max():
        return (max(1, round(per_axis)),) * len(widths)
    side = math.exp(float(np.mean(np.log(widths)))) / per_axis
    return tuple(max(1, round(float(width / side))) for width in widths)


def denoise_counts(noisy_counts: FloatArray, rule: str, *, total: float) -> FloatArray:
    """Return counts that can serve as weights: post-processing, so it costs nothing.

    ``"clip"`` sets negative counts to zero; ``"nonnegative-total"`` moves the counts to the nearest non-negative ones that
    add up to `total`; ``"none"`` leaves them.
    """
    validate.one_of("counts", rule, COUNT_RULES)
    if rule == "none":
        return np.asarray(noisy_counts, dtype=np.float64)
    if rule == "clip":
        return np.maximum(noisy_counts, 0.0)
    return project_to_total(noisy_counts, total)


def project_to_total(values: FloatArray, total: float) -> FloatArray:
    """Project onto the non-negative vectors with the given sum."""
    return project_lines(np.reshape(values, (1, -1)), np.array([max(float(total), 0.0)])).reshape(np.shape(values))


def project_lines(values: FloatArray, totals: FloatArray) -> FloatArray:
    """Project each line onto the non-negative vectors with its sum (Duchi et al. 2008)."""
    ordered = np.sort(values, axis=1)[:, ::-1]
    excess = (np.cumsum(ordered, axis=1) - totals[:, None]) / np.arange(1, values.shape[1] + 1)
    above = ordered > excess
    n_kept = values.shape[1] - np.argmax(above[:, ::-1], axis=1)
    found = np.maximum(values - excess[np.arange(len(values)), n_kept - 1, None], 0.0)
    tiny = ~above.any(axis=1)  # the sum is nothing beside the largest value, or nothing at all
    largest = values[tiny] == ordered[tiny, :1]
    found[tiny] = largest * (totals[tiny] / largest.sum(axis=1))[:, None]
    return np.asarray(found)
