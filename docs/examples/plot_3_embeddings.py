# SPDX-License-Identifier: Apache-2.0
"""
Embeddings of text in 384 columns
=================================

Sentence models turn a text into a unit vector of 384 numbers, say. Such vectors have natural public bounds, whatever the texts:
the ball of radius 1. This example clusters them under differential privacy, and counts how often the topic of a text is found.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn import cluster
from sklearn.metrics import adjusted_rand_score

from cloister import Ball, KMeans

plt.style.use("tableau-colorblind10")

# %%
# **The embeddings are made up.** A model would be a large download, and the topics of real texts are a matter of opinion. Here
# a topic is a random direction in 384 dimensions, a text its topic's direction plus noise twice as long, and the sum is scaled
# to length 1. Two texts of one topic have a cosine similarity of about 0.2, two others of about 0.

generator = np.random.default_rng(7)
names = ["billing", "delivery", "returns", "passwords", "outages", "refunds", "contracts", "praise"]
directions = generator.normal(size=(8, 384))
directions /= np.linalg.norm(directions, axis=1, keepdims=True)
topics = generator.choice(8, size=8_000, p=[0.22, 0.18, 0.14, 0.12, 0.11, 0.09, 0.08, 0.06])
noise = generator.normal(size=(8_000, 384)) / np.sqrt(384)
texts = directions[topics] + 2.0 * noise
texts /= np.linalg.norm(texts, axis=1, keepdims=True)

# %%
# ``Ball(1.0)`` says that no row is longer than 1. A row that is longer would be shortened, so the guarantee does not depend on
# the model that made the rows. Two fits for each of four epsilons, to see how much luck there is:

epsilons = (0.25, 0.5, 1.0, 2.0)
models = {
    (epsilon, seed): KMeans(8, epsilon=epsilon, bounds=Ball(1.0), n_init=2, random_state=seed).fit(texts)
    for epsilon in epsilons
    for seed in (1, 2)
}
release = models[1.0, 1].release_
print(release.receipt.guarantee)
for count, error, seen in zip(release.cluster_counts, release.count_errors, release.stands_out, strict=True):
    print(f"{count:6.0f} ± {error:.0f} texts" + ("" if seen else ": cannot be told from noise"))

# %%
# Which topics are in which cluster? The topics were planted, so we may look. Labels of rows are for the owner of the texts:
# they are not covered by the guarantee, and neither are these pictures.

figure, axes = plt.subplots(1, 2, figsize=(5.6, 3.3), sharey=True, layout="constrained")
for axis, epsilon in zip(axes, (0.25, 1.0), strict=True):
    table = np.zeros((8, 8))
    np.add.at(table, (topics, models[epsilon, 1].predict(texts)), 1)
    order = np.argsort(np.argmax(table, axis=0), kind="stable")
    image = axis.imshow(100 * table[:, order] / table.sum(axis=1, keepdims=True), cmap="Blues", vmin=0, vmax=100)
    axis.set_xticks(range(8), order)
    axis.set_yticks(range(8), names)
    axis.set_title(f"epsilon {epsilon:g}", fontsize=11)
    axis.set_xlabel("cluster")
axes[0].set_ylabel("planted topic")
figure.colorbar(image, ax=axes, label="texts of the topic (%)", location="bottom", shrink=0.6, aspect=30)

# %%
# Agreement is the adjusted Rand index of clusters and planted topics: 1 if they are the same, about 0 by chance.

agreement = {key: adjusted_rand_score(topics, model.predict(texts)) for key, model in models.items()}
plain = adjusted_rand_score(topics, cluster.KMeans(8, n_init=3, random_state=0).fit_predict(texts))

figure, axis = plt.subplots(figsize=(5.4, 3.4), layout="constrained")
axis.axhline(plain, color="C3", linestyle="--", label=f"k-means without privacy: {plain:.2f}")
means = [(agreement[epsilon, 1] + agreement[epsilon, 2]) / 2 for epsilon in epsilons]
axis.plot(epsilons, means, color="C0", label="cloister.KMeans, mean")
axis.plot([epsilon for epsilon, _ in agreement], list(agreement.values()), "o", color="C0", alpha=0.7, label="each of two fits")
axis.set(xscale="log", xlabel="epsilon", ylabel="agreement with planted topics", ylim=(0, 1.05))
axis.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
axis.minorticks_off()
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False, loc="lower right")

# %%
# In many columns noise is longer than in few, and more texts make up for it: as a rule of thumb, twice as many texts are worth
# twice the epsilon. ``cloister.plan`` says what to expect before anything is spent: :doc:`/plan`.
