# SPDX-License-Identifier: Apache-2.0
"""Algorithm 1 as one would write it down from the paper, without the library: the yardstick for speed and accuracy.

Same first population, rounds, number of candidates and variations as PEMeans; plain loops, scikit-learn for the nearest
candidate and for the weighted k-means, floating-point noise. Not private enough to publish with: that is what the
library is for.
"""

import math

import numpy as np
from scipy.special import gamma
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from cloister import ApproxDP

from ._arrays import Array
from ._data import DataSet


def pe_means(data: DataSet, *, epsilon: float, seed: int) -> Array:
    """Return the centres."""
    rng = np.random.default_rng(seed)
    rows, k = data.rows, data.n_clusters
    n, d = rows.shape
    rounds = int(4 * math.sqrt(d))
    rounds = int(epsilon * rounds) if epsilon > 1 else rounds
    variations = max(int(n / (5 * k)), 4)
    sigma = math.sqrt(rounds) / ApproxDP(epsilon, data.delta).gaussian_budget().mu
    candidates = sphere_packing(rng, (variations + 1) * k, d)
    centers = candidates[:k]
    for _ in range(rounds):
        votes = np.bincount(pairwise_distances_argmin(rows, candidates), minlength=len(candidates))
        votes = votes + rng.normal(0, sigma, len(candidates))
        order = np.argsort(-votes)
        total, last = 0.0, 0
        while last < len(order) and total <= n:
            total += votes[order[last]]
            last += 1
        votes[order[last:]] = 0
        votes = np.maximum(votes, 0)
        alive = votes > 0
        if alive.sum() > k:
            model = KMeans(k, n_init=10, random_state=int(rng.integers(2**31)))
            centers = model.fit(candidates[alive], sample_weight=votes[alive]).cluster_centers_
        else:
            centers = candidates[order[:k]]
        if np.sum(votes**2) / (len(votes) * sigma**2) < 1:
            variations = max(variations // 2, 4)
        population = [centers]
        for _ in range(variations):
            moved = centers + 0.01 * levy(rng, centers.shape)
            population.append(moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1))
        candidates = np.vstack(population)
    return centers


def sphere_packing(rng: np.random.Generator, size: int, d: int) -> Array:
    """Spread points in the unit ball, one at a time."""
    radius, kept, failures = 0.5, [], 0
    while len(kept) < size:
        point = rng.normal(size=d)
        point *= (1 - radius) * rng.random() ** (1 / d) / np.linalg.norm(point)
        if not kept or np.min(np.sum((np.array(kept) - point) ** 2, axis=1)) >= 4 * radius**2:
            kept.append(point)
            failures = 0
        else:
            failures += 1
            if failures >= 100:
                radius, failures = radius / 2, 0
    return np.array(kept)


def levy(rng: np.random.Generator, shape: tuple[int, ...], beta: float = 1.75) -> Array:
    """Mantegna's steps."""
    ratio = gamma(1 + beta) * math.sin(math.pi * beta / 2) / (gamma((1 + beta) / 2) * beta * 2 ** ((beta - 1) / 2))
    return rng.normal(0, ratio ** (1 / beta), shape) / np.abs(rng.normal(size=shape)) ** (1 / beta)
