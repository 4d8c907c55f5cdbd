# SPDX-License-Identifier: Apache-2.0
"""Pictures of the docs, first page included: ``python -m benchmarks.pictures docs/images [NAMES]``."""

import sys
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from cloister import KMeans
from cloister.algorithms import locate, refine
from cloister.grids import cells_per_axis, grid_bound

from ._arrays import Array
from ._generate import clusters
from .errors import Table, match, solve

REACH = 1.96  # standard errors to each side
SHOWN = 2_000  # rows in a picture
NOISE_COLOUR, TOTAL_COLOUR, TRUE_COLOUR = "#c23b22", "#4a6fa5", "black"


def main(arguments: list[str] | None = None) -> int:
    folder, *names = arguments or sys.argv[1:] or ["."]
    for name in names or PICTURES:
        PICTURES[name](Path(folder))
    return 0


def draw_hero(folder: Path) -> None:
    """Draw a table that nobody may see, and what may be published of it: centres, noisy counts, their errors."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Ellipse, FancyArrowPatch

    generator = np.random.default_rng(8)
    middles = np.array([[0.16, 0.30], [0.40, 0.74], [0.50, 0.26], [0.78, 0.62], [0.84, 0.20]])
    sizes, widths = np.array([1500, 1100, 800, 1400, 500]), np.array([0.055, 0.06, 0.045, 0.07, 0.035])
    owner = np.repeat(np.arange(5), sizes)
    rows = generator.normal(middles[owner], widths[owner, None])
    release = KMeans(5, epsilon=0.25, bounds=(0, 1), random_state=2).fit(rows).release_

    figure, (inside, outside) = pyplot.subplots(1, 2, figsize=(10, 4.4), dpi=150, gridspec_kw={"wspace": 0.34})
    figure.subplots_adjust(left=0.03, right=0.97, top=0.86, bottom=0.05)
    for axis, edge, title in ((inside, "#1f2430", "rows nobody may see"), (outside, "#2f6fb0", "clusters you may publish")):
        axis.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
        for spine in axis.spines.values():
            spine.set(color=edge, linewidth=2.5)
        axis.set_title(title, fontsize=17, color=edge, pad=12)
    inside.set_facecolor("#e9ebf0")
    inside.scatter(*rows.T, s=5, color="#1f2430", alpha=0.35, linewidths=0)
    shown = zip(release.cluster_centers, release.center_errors, release.cluster_counts, release.count_errors, strict=True)
    for center, errors, count, error in shown:
        size = 1.4 * np.sqrt(count)  # of a disc whose area is the noisy count
        outside.plot(*center, "o", color="#2f6fb0", alpha=0.3, markersize=size, markeredgewidth=0)
        outside.add_patch(Ellipse(center, *(2 * 2.45 * errors), facecolor="#2f6fb0", edgecolor="none"))
        place = {"xytext": (0, size / 2 + 3), "textcoords": "offset points", "ha": "center", "va": "bottom"}
        outside.annotate(f"{count:,.0f} ± {error:,.0f}", center, fontsize=13, color="#1f2430", **place)
    arrow = FancyArrowPatch((0.452, 0.40), (0.548, 0.40), transform=figure.transFigure, arrowstyle="simple", mutation_scale=34)
    arrow.set(color="#e08a3c")
    figure.add_artist(arrow)
    for height, words in ((0.56, "noise,"), (0.50, "paid for")):
        figure.text(0.5, height, words, ha="center", fontsize=14, color="#8a4a12")
    _save(figure, pyplot, folder / "hero.png")
    print(f"{len(rows)} rows, {release.receipt.guarantee}")


def draw_kmeans(folder: Path) -> None:
    """Draw the stages of one fit."""
    rows = clusters(np.random.default_rng(5), [600, 500, 400, 300, 250, 200, 150, 100], 2)
    seen: dict[str, Any] = {}
    with (
        mock.patch("cloister.cluster._kmeans.locate", lambda *given, **named: _keep(seen, "located", locate(*given, **named))),
        mock.patch("cloister.cluster._kmeans.refine", lambda *given, **named: _keep(seen, "refined", refine(*given, **named))),
    ):
        model = KMeans(8, epsilon=1.0, bounds=(-1, 1), random_state=1).fit(rows)
    _draw(rows, seen["located"], seen["refined"], reach=2**0.5, path=folder / "kmeans.png")
    print(f"epsilon 1, {len(rows)} rows: loss {-model.score(rows) / len(rows):.4f}, estimated {model.loss_:.4f}")


def draw_errors(folder: Path) -> list[dict[str, float]]:
    """Draw released centres with both kinds of errors beside those of k-means without noise: no clusters, and clusters.

    Returns the coverage of the two kinds, for each of these tables.
    """
    covered = []
    generator = np.random.default_rng(3)
    blobs = np.array([[0.2, 0.25], [0.75, 0.2], [0.5, 0.55], [0.2, 0.8], [0.8, 0.8]])
    tables = {
        "uniform rows: five clusters that could lie elsewhere": generator.uniform(size=(20_000, 2)),
        "five clusters: all errors are smaller than the marks": generator.normal(
            blobs[generator.integers(5, size=20_000)], 0.05
        ),
    }
    figure, axes, pyplot = _axes(len(tables), (10.5, 5.6))
    for axis, (title, rows) in zip(axes, tables.items(), strict=True):
        table = Table(rows, 5, (0, 1))
        release = KMeans(5, epsilon=0.5, bounds=table.bounds, random_state=4).fit(rows).release_
        truth = solve(table, release)
        _draw_bars(axis, rows, release, truth.centers)
        axis.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], aspect="equal")
        axis.set_title(title, fontsize=10)
        away = np.abs(release.cluster_centers - truth.centers[match(release.cluster_centers, truth.centers)])
        assert release.center_noise is not None
        within = {"noise": release.center_noise, "total": release.center_errors}
        covered.append({name: float(np.mean(away <= REACH * errors)) for name, errors in within.items()})
        print(f"{title}: coverage " + ", ".join(f"{name} {part:.2f}" for name, part in covered[-1].items()))
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=3, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.06, 1, 0.97))
    _save(figure, pyplot, folder / "errors.png")
    return covered


def draw_grid_bound(folder: Path) -> None:
    """Draw h and its three terms over the number of cells per axis, with its smallest value and EUGkM's choice."""
    figure, axes, pyplot = _axes(2, (10.5, 4.2))
    for axis, epsilon in zip(axes, (0.1, 1.0), strict=True):
        sizes = {"n_rows": 1600, "n_features": 2, "n_clusters": 8, "epsilon": epsilon}
        cells = np.unique(np.geomspace(1, 60, 80).round().astype(int))
        bounds = [grid_bound(int(one), **sizes) for one in cells]
        for name, colour in (("noise", NOISE_COLOUR), ("cross", "0.6"), ("rounding", TOTAL_COLOUR), ("total", TRUE_COLOUR)):
            label = {"total": "h, their sum"}.get(name, name)
            axis.plot(cells, [getattr(one, name) for one in bounds], color=colour, label=label)
        for rule, mark in (("rugnik", "o"), ("eugkm", "x")):
            chosen = cells_per_axis(rule, **sizes)
            axis.plot(chosen, grid_bound(chosen, **sizes).total, mark, color=TRUE_COLOUR, label=f"{rule}: {chosen} cells")
        axis.set(xscale="log", yscale="log", ylim=(0.3, 3000), xlabel="cells per axis", title=f"epsilon {epsilon:g}")
        axis.legend(frameon=False, fontsize=8)
    figure.suptitle("1,600 rows, 2 columns, 8 clusters", fontsize=10)
    figure.tight_layout()
    _save(figure, pyplot, folder / "grid-bound.png")


def _draw_bars(axis: Any, rows: Array, release: Any, truth: Array) -> None:
    x, y = release.cluster_centers.T
    axis.scatter(*rows[:SHOWN].T, s=2, color="0.85", linewidths=0)
    for errors, colour, width, name in (
        (release.center_errors, TOTAL_COLOUR, 1.6, "released centre, total error (95 %)"),
        (release.center_noise, NOISE_COLOUR, 3.0, "noise alone (95 %)"),
    ):
        across, along = REACH * errors.T
        axis.errorbar(x, y, along, across, fmt="none", ecolor=colour, elinewidth=width, label=name)
    axis.scatter(*truth.T, s=60, color=TRUE_COLOUR, marker="x", zorder=4, label="k-means without noise")


def _keep(seen: dict[str, Any], name: str, value: Any) -> Any:
    seen[name] = value
    return value


def _draw(rows: Array, located: Any, refined: Any, *, reach: float, path: Path) -> None:
    figure, axes, pyplot = _axes(4, (13, 3.9))
    votes = np.maximum(located.votes.value, 0.0)
    axes[0].scatter(*(reach * located.candidates.T), s=0.4 * votes, color="0.35", linewidths=0)
    axes[0].set_title("the last votes: area is the noisy count", fontsize=9)
    stages = [
        (located.points, "where refining starts: more points than clusters"),
        (refined.moves[1].centers, "after two rounds of sums"),
    ]
    stages.append((refined.centers, "the centres that are released"))
    for axis, (points, title) in zip(axes[1:], stages, strict=True):
        axis.scatter(*rows.T, s=1, color="0.8", linewidths=0)
        axis.scatter(*(reach * points.T), s=36, color="black", marker="x")
        axis.set_title(title, fontsize=9)
    for axis in axes:
        axis.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), xticks=[], yticks=[], aspect="equal")
    figure.text(0.5, 0.02, "The grey rows are drawn for the reader; the algorithm never sees them.", ha="center", fontsize=8)
    figure.tight_layout(rect=(0, 0.05, 1, 0.96))
    _save(figure, pyplot, path)


def _axes(count: int, size: tuple[float, float]) -> tuple[Any, Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, count, figsize=size, sharex=True, sharey=True, dpi=110)
    return figure, axes, pyplot


def _save(figure: Any, pyplot: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    pyplot.close(figure)


PICTURES = {"hero": draw_hero, "kmeans": draw_kmeans, "errors": draw_errors, "grid-bound": draw_grid_bound}


if __name__ == "__main__":
    sys.exit(main())
