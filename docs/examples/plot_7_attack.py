# SPDX-License-Identifier: Apache-2.0
"""
The attack that works on a leaky k-means and fails on ours
==========================================================

"We only publish the centres and how many people belong to each." That is enough to read off one person's row, exactly, for
somebody who knows the others. Differential privacy is a promise against that very attacker. Here the same attack is tried on
both.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from scipy.stats import beta
from sklearn import cluster

from cloister import KMeans

plt.style.use("tableau-colorblind10")
# sphinx_gallery_thumbnail_number = 2

# %%
# A hundred made-up people with an age and a yearly income. The attacker knows 99 of them, perhaps because they are the same
# people as in last year's publication, and wants to know about the hundredth: an income that not many have.

generator = np.random.default_rng(4)
low, high = np.array([0.0, 0.0]), np.array([100.0, 200.0])
middles = np.array([[35.0, 40.0], [60.0, 75.0]])
others = np.clip(generator.normal(middles[generator.integers(2, size=99)], [8.0, 12.0]), low, high)
person = np.array([52.0, 183.0])
everybody = np.vstack([others, person])

# %%
# **The attack.** A centre times its count is the sum of a cluster's rows, so all centres and counts together give the sum of
# all rows. Subtract the rows that are known; what remains is the person's.


def attack(centers, counts):
    return counts @ centers - others.sum(axis=0)


def fit_leaky(rows, seed):
    model = cluster.KMeans(2, n_init=1, tol=0, random_state=seed).fit(rows)
    return model.cluster_centers_, np.bincount(model.labels_, minlength=2)


print("leaky, person there:    ", attack(*fit_leaky(everybody, 0)).round(6))
print("leaky, person not there:", attack(*fit_leaky(others, 0)).round(6))

# %%
# With the person, the attack reads age 52 and income 183,000. Without, it reads zeros: it also tells who is there. Now the same
# attack on releases of ``cloister.KMeans`` with epsilon 1, of the same two tables, 80 times each. (An attacker sees one
# release. We fit so often to measure how often the attack is right; seeds make this page repeatable, and are not for
# publication.)

EPSILON, FITS = 1.0, 80


def fit_private(rows, seed):
    release = KMeans(2, epsilon=EPSILON, bounds=(low, high), scaling="bounds", n_init=1, random_state=seed).fit(rows).release_
    return release.cluster_centers, release.cluster_counts


with_person = np.array([attack(*fit_private(everybody, seed)) for seed in range(FITS)])
without = np.array([attack(*fit_private(others, FITS + seed)) for seed in range(FITS)])

# %%
figure, axis = plt.subplots(figsize=(5.4, 4.4), layout="constrained")
axis.add_patch(
    Rectangle(
        low, *(high - low), fill=False, edgecolor="black", linewidth=1.5, zorder=3, label="the bounds: where rows can lie"
    )
)
axis.plot(*with_person.T, "o", color="C0", markersize=4, alpha=0.7, label="read from a release, person there")
axis.plot(*without.T, "^", color="C1", markersize=4, alpha=0.7, label="read from a release, person not there")
axis.plot(
    *attack(*fit_leaky(everybody, 0)),
    "*",
    color="C5",
    markersize=15,
    markeredgecolor="white",
    zorder=4,
    label="read from the leaky k-means: the truth",
)
axis.set(xlabel="age that the attack reads (years)", ylabel="income that the attack reads\n(thousands a year)")
axis.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside upper left", frameon=False)

# %%
# Nearly everything that the attack reads from the releases lies outside the bounds, the small box under the star, and both
# tables look alike.
#
# **Does it tell whether the person is there?** Let the score be how far along the person's own row the remainder lies: 1 with
# the leaky k-means if the person is there, 0 if not. Whoever claims "there" above a threshold is sometimes right (true
# positives) and sometimes not (false positives). Epsilon bounds this trade, for every attack and every threshold, by the shaded
# region's edge: at most e^epsilon times as many true positives as false ones, and the same for the negatives.

DELTA = 1e-6  # the default of KMeans
direction = (person - low) / (high - low)


def score(found):
    return found / (high - low) @ direction / (direction @ direction)


there, absent = score(with_person), score(without)
thresholds = np.sort(np.concatenate([there, absent, [-np.inf, np.inf]]))
true_positives = np.array([(there >= one).mean() for one in thresholds])
false_positives = np.array([(absent >= one).mean() for one in thresholds])


def interval(hits, level=0.975):
    """Return the share of hits, and where it lies with confidence `level` (the exact interval of Clopper and Pearson)."""
    tail = (1 - level) / 2
    least = beta.ppf(tail, hits, FITS - hits + 1) if hits else 0.0
    most = beta.ppf(1 - tail, hits + 1, FITS - hits) if hits < FITS else 1.0
    return hits / FITS, float(least), float(most)


# %%
# The threshold of the leaky attack, 1/2, was fixed beforehand, so an exact interval can be given for it. Both shares lie in
# their intervals with confidence 95 % together.

right, right_least, right_most = interval(int((there >= 0.5).sum()))
wrong, wrong_least, wrong_most = interval(int((absent >= 0.5).sum()))

figure, axis = plt.subplots(figsize=(5.2, 5.0), layout="constrained")
grid = np.linspace(0, 1, 201)
most = np.minimum(1, np.minimum(np.exp(EPSILON) * grid + DELTA, 1 - np.exp(-EPSILON) * (1 - DELTA - grid)))
axis.fill_between(grid, most, 1, color="C9", alpha=0.6, linewidth=0, label=f"ruled out by epsilon {EPSILON:g}")
axis.plot([0, 1], [0, 1], "--", color="C3", linewidth=1, label="guessing")
axis.step(false_positives, true_positives, color="C0", where="post", label=f"attack on KMeans, {FITS} + {FITS} fits")
axis.errorbar(
    wrong,
    right,
    xerr=[[wrong - wrong_least], [wrong_most - wrong]],
    yerr=[[right - right_least], [right_most - right]],
    fmt="o",
    color="C0",
    capsize=3,
    label="at threshold 1/2, with 95 % intervals",
)
axis.plot(0, 1, "*", color="C5", markersize=16, clip_on=False, zorder=5, label="attack on the leaky k-means")
axis.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="false positives", ylabel="true positives")
axis.spines[["top", "right"]].set_visible(False)
axis.legend(loc="lower right", fontsize=9)

# %%
# In numbers: the advantage is true less false positives; 1 for the leaky k-means.

bound = (np.exp(EPSILON) - 1 + 2 * DELTA) / (np.exp(EPSILON) + 1)
least, greatest = right_least - wrong_most, right_most - wrong_least
print(f"advantage of the attack on KMeans: {right - wrong:+.2f}, from {least:+.2f} to {greatest:+.2f} (95 %)")
print(f"most that epsilon {EPSILON:g} allows any attack: {bound:.2f}")

# %%
# **What this shows, and what not.** This attack fails. That proves nothing about cleverer ones: the guarantee rests on a proof
# for all of them (:doc:`/proofs/README`), and the bound leaves room for better attacks than this one. Statistics can only find
# faults, and ``cloister audit`` looks for them with attacks on every mechanism: :doc:`/audit`. Epsilon is a choice, too: at
# epsilon 10 the shaded region all but vanishes.
