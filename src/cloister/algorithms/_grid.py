# SPDX-License-Identifier: Apache-2.0
"""Uniform grids: their shape, and what to make of their noisy counts."""

import math

import numpy as np

from cloister import validate
from cloister.columns import FloatArray

COUNT_RULES = ("clip", "none", "nonnegative-total")


def grid_shape(per_axis: int, half_widths: FloatArray) -> tuple[int, ...]:
    """Return cells per axis for a box: `per_axis` for a cube, else in proportion to the widths, about as many in all."""
    widths = np.asarray(half_widths, dtype=np.float64)
    if np.ptp(widths) <= 1e-9 * widths.max():
        return (per_axis,) * len(widths)
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
    """Project onto the non-negative vectors with the given sum (Duchi et al. 2008)."""
    flat = np.sort(np.asarray(values, dtype=np.float64).ravel())[::-1]
    goal = max(float(total), 0.0)
    excess = (np.cumsum(flat) - goal) / np.arange(1, len(flat) + 1)
    kept = np.flatnonzero(flat > excess)
    if not kept.size:  # the sum is nothing beside the largest value, or nothing at all
        largest = np.asarray(values) == flat[0]
        return np.asarray(np.where(largest, goal / largest.sum(), 0.0))
    return np.asarray(np.maximum(values - excess[kept[-1]], 0.0))
