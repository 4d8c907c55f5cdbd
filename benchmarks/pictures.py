# SPDX-License-Identifier: Apache-2.0
"""The picture of docs/kmeans.md, from a real fit of generated rows: ``python -m benchmarks.pictures docs/images``."""

import sys
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from cloister import KMeans
from cloister.algorithms import locate, refine

from ._arrays import Array
from ._generate import clusters


def main(arguments: list[str] | None = None) -> int:
    folder = Path((arguments or sys.argv[1:] or ["."])[0])
    rows = clusters(np.random.default_rng(5), [600, 500, 400, 300, 250, 200, 150, 100], 2)
    seen: dict[str, Any] = {}
    with (
        mock.patch("cloister.cluster._kmeans.locate", lambda *given, **named: _keep(seen, "located", locate(*given, **named))),
        mock.patch("cloister.cluster._kmeans.refine", lambda *given, **named: _keep(seen, "refined", refine(*given, **named))),
    ):
        model = KMeans(8, epsilon=1.0, bounds=(-1, 1), random_state=1).fit(rows)
    _draw(rows, seen["located"], seen["refined"], reach=2**0.5, path=folder / "kmeans.png")
    print(f"epsilon 1, {len(rows)} rows: loss {-model.score(rows) / len(rows):.4f}, estimated {model.loss_:.4f}")
    return 0


def _keep(seen: dict[str, Any], name: str, value: Any) -> Any:
    seen[name] = value
    return value


def _draw(rows: Array, located: Any, refined: Any, *, reach: float, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 4, figsize=(13, 3.9), sharex=True, sharey=True, dpi=110)
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
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    pyplot.close(figure)


if __name__ == "__main__":
    sys.exit(main())
