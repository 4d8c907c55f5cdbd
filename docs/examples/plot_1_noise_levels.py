# SPDX-License-Identifier: Apache-2.0
"""
Blobs and noise levels
======================

One table, three budgets. A small epsilon promises more and says less: the centres carry more noise, and the release says how
much.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse
from sklearn import cluster

from cloister import KMeans

plt.style.use("tableau-colorblind10")  # colours that stay apart for colour-blind readers

# %%
# Three thousand made-up rows in five blobs. The bounds are known beforehand: both columns are shares, from 0 to 1.

generator = np.random.default_rng(1)
blobs = np.array([[0.20, 0.25], [0.75, 0.20], [0.50, 0.55], [0.20, 0.80], [0.80, 0.78]])
rows = generator.normal(blobs[generator.integers(5, size=3000)], 0.06)
bounds = (0, 1)

# %%
# k-means without privacy is what we compare with. The three private fits differ in epsilon only. ``random_state`` makes this
# page come out the same every time; a seed is for examples, not for publication, because whoever knows it can subtract the
# noise.

plain = cluster.KMeans(5, n_init=10, random_state=0).fit(rows).cluster_centers_
releases = {
    epsilon: KMeans(5, epsilon=epsilon, bounds=bounds, random_state=3).fit(rows).release_ for epsilon in (0.1, 0.5, 2.0)
}

# %%
# ``release.center_errors`` are standard errors against k-means without noise, by cluster and column. They are drawn as
# ellipses: 2.45 errors to each side hold 95 % of a normal distribution in two independent columns.

REACH = 2.45


def draw_centers(axis, release):
    for center, error in zip(release.cluster_centers, release.center_errors, strict=True):
        axis.add_patch(Ellipse(center, *(2 * REACH * error), facecolor="C0", alpha=0.25, edgecolor="C0"))
    axis.plot(*release.cluster_centers.T, "o", color="C0", markersize=4)


figure, axes = plt.subplots(2, 2, figsize=(5.4, 5.8), sharex=True, sharey=True, layout="constrained")
for axis, epsilon in zip(axes.flat, (None, *releases), strict=True):
    axis.scatter(*rows[::3].T, s=2, color="C9", linewidths=0)
    axis.plot(*plain.T, "x", color="C5", markersize=7, markeredgewidth=1.8)
    if epsilon is None:
        axis.set_title("no privacy", fontsize=11)
    else:
        draw_centers(axis, releases[epsilon])
        axis.set_title(f"epsilon {epsilon:g}", fontsize=11)
    axis.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
figure.supxlabel("first share", fontsize=11)
figure.supylabel("second share", fontsize=11)
handles = [
    plt.Line2D([], [], marker="x", linestyle="", color="C5", markeredgewidth=1.8, label="k-means\nwithout privacy"),
    plt.Line2D([], [], marker="o", linestyle="", color="C0", label="released centre,\n95 % ellipse"),
]
figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False)

# %%
# The grey rows are drawn for the reader; no row is in the release. At epsilon 0.1 it says of itself how little it knows: five
# centres are too many for so few rows. At 0.5 and 2 the ellipses are hardly larger than the dots.
#
# Numbers of rows are noisy, too. Their errors are in ``count_errors``:

for epsilon, release in releases.items():
    counts = ", ".join(f"{count:.0f}" for count in release.cluster_counts)
    print(f"epsilon {epsilon:<4g} rows by cluster: {counts}, each ± {release.count_errors[0]:.0f}")

# %%
# How fast do errors fall? The line is what releases say of themselves, the marks are how far their centres are from k-means
# without privacy, in three fits for each epsilon. The noise itself goes as 1 / epsilon (dashed). Below 0.5 errors grow faster
# than that: the noise now also leaves open which of several solutions is the best one. On your own rows you would see the line
# alone, which is the point of it.

epsilons = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
stated, measured = [], []
for epsilon in epsilons:
    fits = [KMeans(5, epsilon=epsilon, bounds=bounds, n_init=3, random_state=seed).fit(rows).release_ for seed in range(3)]
    stated.append(np.mean([np.sqrt(np.mean(np.sum(fit.center_errors**2, axis=1))) for fit in fits]))
    distances = [np.linalg.norm(fit.cluster_centers[:, None] - plain, axis=2).min(axis=1) for fit in fits]
    measured.append([np.sqrt(np.mean(distance**2)) for distance in distances])

figure, axis = plt.subplots(figsize=(5.4, 3.6), layout="constrained")
axis.plot(epsilons, stated, color="C0", label="stated by the release")
axis.plot(epsilons, stated[3] / np.array(epsilons), "--", color="C3", linewidth=1, label="1 / epsilon, to compare")
axis.plot(
    np.repeat(epsilons, 3), np.ravel(measured), "o", color="C5", markersize=5, alpha=0.8, label="measured, three fits each"
)
axis.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="typical error of a centre (share)")
axis.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
axis.minorticks_off()
axis.spines[["top", "right"]].set_visible(False)
axis.grid(color="0.9")
axis.legend(frameon=False)

# %%
# What errors cover, and what they do not: :doc:`/errors`. What to expect before anything is spent: :doc:`/plan`.
