# SPDX-License-Identifier: Apache-2.0
"""Methods that others proposed, rebuilt from their papers with correct accounting: to compare with, and to learn from.

The room shows the recipe for a method. A question that only it asks, with its sensitivity, stands in ``_questions``; everything
else is one module: the plan, the estimator, and arithmetic on noisy answers. It imports ``cluster``, ``algorithms``,
``questions``, ``privacy`` and ``columns``, so it cannot reach a row but through ``ask``.
"""

from cloister.rivals._coreset import CoresetKMeans
from cloister.rivals._fast_lloyd import FastLloyd
from cloister.rivals._lloyd import LloydKMeans
from cloister.rivals._questions import (
    BoundedCounts,
    BoundedSums,
    CubeCounts,
    HashCounts,
    HashSums,
    SetCosts,
    SwapCosts,
)
from cloister.rivals._tree import TreeKMeans

__all__ = [
    "BoundedCounts",
    "BoundedSums",
    "CoresetKMeans",
    "CubeCounts",
    "FastLloyd",
    "HashCounts",
    "HashSums",
    "LloydKMeans",
    "SetCosts",
    "SwapCosts",
    "TreeKMeans",
]
