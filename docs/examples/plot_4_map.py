# SPDX-License-Identifier: Apache-2.0
"""
A map of places on a grid
=========================

Where do emergency calls come from? A noisy histogram of a grid is paid for once. Heat maps, clusters, shapes and counts of
districts are then arithmetic on it, and cost nothing more.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle

from cloister import GridSynopsis

plt.style.use("tableau-colorblind10")

# %%
# Made-up calls in a region of 20 by 14 km: two towns, a village, houses along a bent road, and some from anywhere.

generator = np.random.default_rng(11)
along = generator.uniform(0, 1, 5_000)
road = np.column_stack([2 + 16 * along, 2 + 9 * along + 1.3 * np.sin(6.3 * along)]) + generator.normal(0, 0.22, (5_000, 2))
parts = [
    generator.normal([4.5, 10.2], [1.2, 0.9], (9_000, 2)),
    generator.normal([15.5, 4.2], [0.9, 1.0], (6_000, 2)),
    generator.normal([10.7, 12.1], [0.4, 0.4], (1_500, 2)),
    road,
    generator.uniform([0, 0], [20, 14], (2_500, 2)),
]
calls = pd.DataFrame(np.vstack(parts), columns=["east_km", "north_km"])

# %%
# The borders of the region are public. ``rule`` could choose the number of cells from epsilon and the number of rows; here a
# cell is to be half a kilometre wide.

region = {"east_km": (0, 20), "north_km": (0, 14)}
synopsis = GridSynopsis(epsilon=1.0, bounds=region, rule=(40, 28), random_state=0).fit(calls).synopsis_
synopsis

# %%
# **A heat map.** Every cell has noise, empty or not: whether a cell is empty is nobody's business. With epsilon 1 it is about
# ±1.4 calls in each cell.

east, north = synopsis.grid.edges
area = (east[1] - east[0]) * (north[1] - north[0])


def draw_region(height):
    figure, axis = plt.subplots(figsize=(5.6, height), layout="constrained")
    axis.set(
        xlim=(0, 20),
        ylim=(0, 14),
        aspect="equal",
        xlabel="east (km)",
        ylabel="north (km)",
        xticks=range(0, 21, 5),
        yticks=range(0, 15, 5),
    )
    return figure, axis


figure, axis = draw_region(3.9)
image = axis.pcolormesh(east, north, synopsis.histogram.T / area, cmap="cividis", vmin=0)
figure.colorbar(image, label="calls per km² (noisy)", shrink=0.85)

# %%
# **Clusters for any k.** Where would three, or six, ambulances stand best? The synopsis answers as often as it is asked.
# Crosses are six centres, their areas are what is nearest to each.

six, three = (synopsis.cut(k, random_state=0) for k in (6, 3))
points = np.stack(np.meshgrid((east[1:] + east[:-1]) / 2, (north[1:] + north[:-1]) / 2, indexing="ij"), axis=-1)
owner = np.argmin(np.linalg.norm(points[:, :, None] - six.cluster_centers, axis=-1), axis=2)

figure, axis = draw_region(4.3)
soft = ListedColormap(["#A2C8EC", "#FFBC79", "#CFCFCF", "#5F9ED1", "#E8D5B5", "#ABABAB"])
axis.pcolormesh(east, north, owner.T, cmap=soft, alpha=0.7)
for release, mark, name in ((six, "X", "six centres"), (three, "o", "three centres")):
    axis.scatter(
        *release.cluster_centers.T, s=90, marker=mark, color="C3" if mark == "X" else "C5", edgecolor="white", label=name
    )
figure.legend(loc="outside upper center", ncols=2, frameon=False)

# %%
# **Clusters of any shape.** k-means cuts the road to pieces. ``density_clusters`` joins neighbouring cells that are denser than
# chance explains. So the road is one cluster, each town another, and what lies between is in none.

found = synopsis.density_clusters(min_density=1.5)
for label, (count, error) in enumerate(zip(found.cluster_counts, found.count_errors, strict=True)):
    (west, right), (south, top) = found.extents[label]
    place = f"{west:.1f} to {right:.1f} km east, {south:.1f} to {top:.1f} km north"
    print(f"cluster {label}: {count:5.0f} ± {error:2.0f} calls, {place}")

figure, axis = draw_region(3.9)
shown = np.ma.masked_less(found.cell_labels, 0)
strong = ListedColormap(["#006BA4", "#FF800E", "#595959", "#5F9ED1"][: found.n_clusters])
axis.pcolormesh(east, north, shown.T, cmap=strong)
for label in range(found.n_clusters):
    cells = np.argwhere(found.cell_labels == label)
    middle = cells[np.argmin(np.linalg.norm(cells - cells.mean(axis=0), axis=1))]
    axis.text(
        east[middle[0]] + 0.25, north[middle[1]] + 0.25, str(label), color="white", weight="bold", ha="center", va="center"
    )

# %%
# **Counts of districts.** Any box can be counted, with a standard error. Here, four districts that somebody draws afterwards,
# beside the true number, which only the owner of the calls knows. Noise adds up over cells. Where a district cuts through
# cells, as the southwest does, calls are taken to be spread evenly in them. That is an assumption: at the edge of a town, let a
# border follow the grid.

districts = {
    "old town": ((2, 8), (7, 12.5)),
    "new town": ((13, 1.5), (18, 7)),
    "village": ((9.5, 10.5), (12, 13.5)),
    "southwest": ((0, 0), (10.2, 7)),
}
places = calls.to_numpy()
figure, (map_axis, axis) = plt.subplots(2, 1, figsize=(5.4, 6.0), height_ratios=(3, 2), layout="constrained")
map_axis.pcolormesh(east, north, synopsis.histogram.T / area, cmap="cividis", vmin=0)
map_axis.set(aspect="equal", xlabel="east (km)", ylabel="north (km)", xticks=range(0, 21, 5), yticks=range(0, 15, 5))
for line, (name, (low, high)) in enumerate(districts.items()):
    counted = synopsis.count((low, high))
    truth = int(((places >= low) & (places <= high)).all(axis=1).sum())
    print(f"{name:9} {counted} calls, in truth {truth:,}")
    axis.errorbar(counted.value - truth, line, xerr=1.96 * counted.standard_error, fmt="o", color="C0", capsize=3)
    map_axis.add_patch(Rectangle(low, *np.subtract(high, low), fill=False, edgecolor="white", linewidth=1.5))
    map_axis.text(low[0] + 0.2, low[1] + 0.2, name, color="white", va="bottom")
axis.axvline(0, color="C5", linestyle="--")
axis.set_yticks(range(len(districts)), districts)
axis.set(xlabel="noisy count less the true one (calls), 95 % intervals", ylim=(3.5, -0.5))
axis.spines[["top", "right"]].set_visible(False)

# %%
# How the number of cells is chosen, adaptive grids, and when a grid is the wrong tool: :doc:`/grids`.
