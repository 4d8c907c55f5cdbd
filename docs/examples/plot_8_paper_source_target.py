# SPDX-License-Identifier: Apache-2.0
"""
From the source-target paper: cost against epsilon
==================================================

A public target must be covered by k of its own points, while a private source covers part of it already (Schnapp and Sabato).
NNA and NAS are two ways to ask the source with noise. This is a **small version** of the paper's Figure 3, on a pair like its
second synthetic one; the full measurement is in :doc:`/results`.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from scipy.stats import t

from cloister import SourceTargetKMedoids
from cloister.algorithms import choose_medoids

plt.style.use("tableau-colorblind10")
# sphinx_gallery_thumbnail_number = 2

# %%
# Think of streets (the target, public) and of volunteers who live in some of them (the source, private). Where to send ten more
# helpers, so that every street has one nearby? On the right there are volunteers already; those at the top live where there is
# no street.


def make_pair(seed):
    generator = np.random.default_rng(seed)
    steps = 0.1 * np.array([[x, y] for x in range(3) for y in range(3)])
    left, right, top_left, top_right = (steps + np.array(corner) for corner in ((0.1, 0.1), (0.6, 0.1), (0.1, 0.7), (0.6, 0.7)))
    source = np.repeat(np.vstack([top_left, top_right, right]), 100, axis=0)
    target = np.repeat(np.vstack([left, right]), 50, axis=0)
    return tuple(rows + generator.normal(0, 0.01, rows.shape) for rows in (source, target))


source, target = make_pair(0)
model = SourceTargetKMedoids(10, epsilon=1.0, random_state=0).fit(target, source=source)

figure, axis = plt.subplots(figsize=(5.2, 5.2), layout="constrained")
axis.plot(*source.T, ".", color="C9", markersize=3, label="private source (volunteers)")
axis.plot(*target.T, ".", color="C4", markersize=3, label="public target (streets)")
axis.plot(*model.sanitized_source_.T, "D", color="C3", markersize=5, label="released: stands for the source")
axis.plot(
    *model.cluster_centers_.T, "*", color="C5", markersize=14, markeredgecolor="white", label="released: ten chosen points"
)
axis.set(aspect="equal", xlabel="east (km)", ylabel="north (km)")
axis.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside upper center", ncols=2, frameon=False, markerscale=1.2, fontsize=9)

# %%
# **Cost against epsilon.** The cost is the mean distance of a target point to the nearest chosen point or true source point.
# Two lines frame it: the choice that ignores the source, and the one that sees it. ``calibration="paper"`` draws the paper's
# own noise, which is larger than needed.


def cost(chosen, source, target):
    return cKDTree(np.vstack([source, chosen])).query(target)[0].mean()


def choose_openly(target, caps=None):
    """Return ten target points, chosen without noise; `caps` are distances to the source, if it may be seen."""
    found = choose_medoids(cdist(target, target), 10, generator=np.random.default_rng(0), caps=caps, restarts=2)
    return target[found.indices]


epsilons = (0.3, 1.0, 3.0, 10.0)
methods = {
    "NAS": ({"method": "nas"}, "D", "C1"),
    "NNA, paper's noise": ({"method": "nna", "calibration": "paper"}, "^", "C4"),
    "NNA": ({"method": "nna"}, "o", "C0"),
}
pairs = [make_pair(seed) for seed in range(1, 5)]
ignoring = np.mean([cost(choose_openly(target), source, target) for source, target in pairs])
seeing = np.mean([cost(choose_openly(target, cKDTree(source).query(target)[0]), source, target) for source, target in pairs])

# %%
figure, axis = plt.subplots(figsize=(5.4, 4.2), layout="constrained")
axis.axhline(1000 * ignoring, color="C3", linestyle="--", linewidth=1.2, label="target only")
for name, (options, mark, colour) in methods.items():
    costs = [
        [
            1000
            * cost(
                SourceTargetKMedoids(10, epsilon=epsilon, n_init=1, random_state=0, **options)
                .fit(there, source=here)
                .cluster_centers_,
                here,
                there,
            )
            for here, there in pairs
        ]
        for epsilon in epsilons
    ]
    reach = t.ppf(0.975, len(pairs) - 1) * np.std(costs, axis=1, ddof=1) / np.sqrt(len(pairs))
    axis.errorbar(epsilons, np.mean(costs, axis=1), yerr=reach, marker=mark, markersize=5, color=colour, capsize=3, label=name)
axis.axhline(1000 * seeing, color="C3", linestyle=":", linewidth=1.5, label="not private")
axis.set(xscale="log", xlabel="epsilon (pure)", ylabel="mean distance to the nearest (m)", ylim=(0, None))
axis.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
axis.minorticks_off()
axis.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside upper center", ncols=2, frameon=False)

# %%
# Means of four draws of the pair with 95 % intervals. NNA helps from a small epsilon on. NAS asks for averages around every
# target point, which one volunteer can all change, so up to epsilon 3 it is no better here than ignoring the source. All pairs,
# guarantees and numbers of points: ``python -m benchmarks source-target``, in :doc:`/results`; how it works:
# :doc:`/source-target`; every theorem and figure of the paper: :doc:`/papers`.
