# SPDX-License-Identifier: Apache-2.0
"""
One synopsis, every k
=====================

Nobody knows the number of clusters beforehand, and nobody can pay for twenty fits. A point synopsis is paid for once; every
number of clusters is then a cut of the same weighted points.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn import cluster

from cloister import PointSynopsis
from cloister.demo import make_patients

plt.style.use("tableau-colorblind10")
# sphinx_gallery_thumbnail_number = 3

# %%
# Twenty thousand fictitious patients in four columns of numbers. Glucose is missing for some: here they are left out, so that
# we can compare with k-means without privacy, which knows no missing values.

columns = {"age": (0, 110), "body_mass_index": (10, 60), "systolic_pressure": (70, 230), "glucose": (40, 320)}
patients = make_patients(20_000).to_pandas()[list(columns)].dropna()
synopsis = PointSynopsis(max_clusters=12, epsilon=1.0, bounds=columns, scaling="bounds", random_state=0).fit(patients).synopsis_
synopsis

# %%
# **The loss of every k.** ``synopsis.loss(k)`` estimates the mean squared distance of a row to the nearest of k centres, with
# an error. Squared distances are measured after scaling each column to half its bounds (``scaling="bounds"``). Beside them:
# k-means without privacy, fitted anew for every k.

numbers = range(1, 13)
losses = [synopsis.loss(k, random_state=0) for k in numbers]
low, high = np.array(list(columns.values()), dtype=float).T
scaled = 2 * (patients.to_numpy() - low) / (high - low)
plain = [cluster.KMeans(k, n_init=2, random_state=0).fit(scaled).inertia_ / len(scaled) for k in numbers]

figure, axis = plt.subplots(figsize=(5.4, 3.6), layout="constrained")
axis.plot(numbers, plain, "x", color="C5", markersize=7, markeredgewidth=1.8, label="k-means without privacy, 12 fits")
values, errors = [loss.value for loss in losses], [1.96 * loss.error for loss in losses]
axis.errorbar(
    numbers, values, yerr=errors, marker="o", markersize=4, color="C0", capsize=3, label="one synopsis, 95 % intervals"
)
axis.set(xlabel="number of clusters", ylabel="mean squared distance (scaled)", xticks=numbers, ylim=(0, None))
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False)

# %%
# **How many clusters?** More clusters always lower the loss. ``choose_k`` compares with rows that have no clusters, fits
# centres to one half of the noise and judges them on the other. It may also say 1. The patients were made up from five groups,
# which nothing in the fit knew.

choice = synopsis.choose_k(numbers, random_state=0)
print(choice)
axis = synopsis.plot("curve", n_clusters=numbers, random_state=0)
axis.figure.set_size_inches(5.4, 3.4)
axis.set_ylabel("held-out mean squared distance")

# %%
# **A tree.** Which clusters join when there are fewer? The leaves are the points of the synopsis, with their noisy numbers of
# rows.

axis = synopsis.plot("tree", n_clusters=choice.best)
axis.figure.set_size_inches(5.6, 3.8)

# %%
# **Any cut is a release**: centres with errors, ``predict``, a report. Three and seven clusters, from the same synopsis. Bars
# are wide where a number of clusters does not suit the rows: errors cover the choice among solutions that are about as good.

figure, axes = plt.subplots(2, 1, figsize=(5.4, 6.2), sharex=True, sharey=True, layout="constrained")
for axis, k in zip(axes, (3, 7), strict=True):
    synopsis.cut(k, random_state=0).plot("map", columns=["age", "glucose"], ax=axis)
    axis.set_title(f"{k} clusters", loc="left", fontsize=11)
    axis.set(xlabel="age (years)" if k == 7 else "", ylabel="glucose (mg/dl)")

# %%
# All of this was paid for once. The receipt lists what was asked of the rows, and it does not grow:

print(f"{synopsis.receipt.guarantee}; {len(synopsis.receipt.events)} questions")

# %%
# How it works, and how good a cut is beside a fit of its own: :doc:`/synopsis`.
