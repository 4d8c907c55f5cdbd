# SPDX-License-Identifier: Apache-2.0
"""The public side of source-target clustering: the target, its distances, the choice among its points, and its picture."""

import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import pairwise_distances

from cloister import validate
from cloister.algorithms import Medoids, choose_medoids, tree_coreset
from cloister.cluster._progress import Progress
from cloister.columns import BLOCK_NUMBERS, Ball, FloatArray, Frame, IntArray, row_blocks
from cloister.data import LocalRows, open_rows
from cloister.exceptions import DataError
from cloister.nearest import nearest_point

if TYPE_CHECKING:
    from cloister.cluster._source_target import SourceTargetKMedoids

DIAMETER = 2.0  # of the unit ball
EXACT_TARGETS = 6000  # up to so many target points the solver looks at all pairs
SMALLEST_RADIUS = 1e-3  # of the unit ball
LARGEST_PICTURE = 1500  # target points kept for the report
FITTED_METRICS = {"mahalanobis", "precomputed", "seuclidean"}  # no function of two points: they depend on the other points


@dataclass(frozen=True, eq=False)
class Target:
    """Public points, and the names of their columns if they have any."""

    matrix: FloatArray
    names: tuple[str, ...] | None


def read_target(where: str, target: object) -> Target:
    """Return the public target as finite doubles; unlike private rows, bad ones are named."""
    rows = open_rows(target, n_jobs=1, where=where)
    if not isinstance(rows, LocalRows):
        raise DataError(f"{where}: expected rows of this machine. The target is public and is held in memory.")
    matrix = np.concatenate([np.empty((0, rows.n_features)), *rows.blocks()])
    if not len(matrix):
        validate.refuse(where, "at least one row", matrix.shape, remedy="Pass the public points to choose from.")
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if bad.size:
        raise DataError(
            f"{where}: expected finite numbers, got others in row {bad[0]}. The target is public: drop or fill them."
        )
    return Target(matrix, rows.feature_names)


@dataclass(frozen=True, eq=False)
class Cover:
    """How well chosen points and the sanitised source cover the target, on public numbers."""

    served: FloatArray  # target points of each chosen one
    details: dict[str, Any]  # what a release keeps


@dataclass(frozen=True, kw_only=True, eq=False)
class Representatives:
    """What the source is asked about: public points that stand for the target, in the unit ball's coordinates."""

    frame: Frame
    points: FloatArray
    weights: FloatArray  # target points that each of them stands for
    coreset_radius: float  # largest distance of a target point to the one that stands for it
    radius: float  # beyond it no source point can help

    @classmethod
    def unknown(cls, frame: Frame, n_points: int) -> "Representatives":
        """Return as many as there will be, as if they lay at the edge of the domain."""
        edge = np.zeros((n_points, frame.n_features))
        edge[:, 0] = 1.0
        return cls(frame=frame, points=edge, weights=np.ones(n_points), coreset_radius=0.0, radius=1.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """What the target and public numbers decide before the source is asked, and the choice afterwards."""

    target: FloatArray  # in the units of the input
    choice: "SourceTargetKMedoids"
    asked: Representatives
    solved: IntArray  # target points among which the solver chooses, and on which it measures
    weights: FloatArray
    pairs: npt.NDArray[np.float32]  # their distances, over `scale`
    scale: float
    alone: IntArray  # the choice that ignores the source, as target points
    generator: np.random.Generator  # for public choices

    def with_clusters(self, choice: "SourceTargetKMedoids", generator: np.random.Generator, progress: Progress) -> "Problem":
        """Return the same target for another number of clusters: its coreset and its distances stay as they are."""
        new, frame = replace(self, choice=choice, generator=generator), self.asked.frame
        alone = self.solved[new._solve(None, progress, "choosing as if there were no source").indices]
        target = frame.to_unit(frame.domain.clip(self.target))
        farthest = float(nearest_point(target, target[alone], "euclidean").distances.max())
        # A source point that is farther from all target points is nearer to none of them than the centre it has when
        # the source is ignored. Offsets start at representatives, so they may be as long as the coreset is coarse.
        radius = min(max(farthest, self.asked.coreset_radius, SMALLEST_RADIUS), DIAMETER)
        return replace(new, alone=alone, asked=replace(self.asked, radius=radius))

    def choose(self, source: FloatArray, progress: Progress) -> IntArray:
        """Choose target points beside the sanitised source: never worse, on public numbers, than the choice that ignores it."""
        caps = nearest_point(self.target[self.solved], source, self.choice.metric).distances / self.scale
        found = self._solve(caps, progress, "choosing beside the source")
        alone = np.searchsorted(self.solved, self.alone)
        ignoring = np.minimum(self.pairs[alone].min(axis=0), caps) @ self.weights / self.weights.sum()
        return self.solved[found.indices] if found.cost <= ignoring else self.alone

    def cover(self, chosen: IntArray, source: FloatArray) -> Cover:
        """Measure how well chosen target points and the sanitised source cover the target."""
        metric = self.choice.metric
        nearest = nearest_point(self.target, self.target[chosen], metric)
        covered = nearest_point(self.target, source, metric).distances
        by_source = covered < nearest.distances
        # A report draws the target, which is public: evenly picked rows, to a millionth of their spread.
        size, spread = len(self.target), float(np.max(np.ptp(self.target, axis=0)))
        picked = self.target[np.unique(np.linspace(0, size - 1, min(size, LARGEST_PICTURE)).round().astype(np.int64))]
        digits = 6 - int(np.floor(np.log10(spread))) if spread > 0 else 6
        details = {
            "target": (np.round(picked, digits) if abs(digits) < 100 else picked).tolist(),
            "n_target": size,
            "target_cost": float(np.mean(np.minimum(nearest.distances, covered))),  # to the nearest centre of either kind
            "cost_of_chosen": float(np.mean(nearest.distances)),
            "cost_alone": float(np.mean(nearest_point(self.target, self.target[self.alone], metric).distances)),
            "served_by_source": int(np.count_nonzero(by_source)),
        }
        return Cover(np.bincount(nearest.indices[~by_source], minlength=len(chosen)).astype(np.float64), details)

    def _solve(self, caps: FloatArray | None, progress: Progress, words: str) -> Medoids:
        passes = count(1)
        progress.say(words)
        return choose_medoids(
            self.pairs,
            self.choice.n_clusters,
            generator=self.generator,
            caps=caps,
            weights=self.weights,
            restarts=self.choice.n_init,
            watch=lambda: progress.say(f"{words}, pass {next(passes)}"),
        )


def state_problem(
    choice: "SourceTargetKMedoids",
    public: FloatArray,
    frame: Frame,
    *,
    coreset_radius: float,
    generator: np.random.Generator,
    progress: Progress,
) -> Problem:
    """Represent the target by a coreset, measure its distances, and choose as if there were no source."""
    progress.say(f"representing {len(public):,} target points")
    target = frame.to_unit(frame.domain.clip(public))
    coreset = tree_coreset(target, coreset_radius * DIAMETER, max_size=choice.max_representatives)
    solved, weights = np.arange(len(target)), np.ones(len(target))
    if choice.solver == "representatives" or (choice.solver == "auto" and len(target) > EXACT_TARGETS):
        # What the solver looks at costs time, not noise: as many as allowed, and enough to choose from.
        finest = tree_coreset(target, 0.0, max_size=max(choice.max_representatives, 2 * choice.n_clusters))
        solved, weights = finest.indices, finest.weights
    farthest = float(np.max(pairwise_distances(public[solved[:1]], public[solved], metric=choice.metric)))
    scale = farthest if 0 < farthest < np.inf else 1.0  # so that single precision is enough whatever the unit
    pairs = all_pairs(public[solved], choice.metric, scale)
    if not np.isfinite(pairs).all():
        where, remedy = f"{type(choice).__name__}.metric", "Pass another metric, or other target points."
        validate.refuse(where, "a distance between any two target points", choice.metric, remedy=remedy)
    problem = Problem(
        target=public,
        choice=choice,
        asked=Representatives(
            frame=frame,
            points=target[coreset.indices],
            weights=coreset.weights,
            coreset_radius=coreset.radius,
            radius=DIAMETER,
        ),
        solved=solved,
        weights=weights,
        pairs=pairs,
        scale=scale,
        alone=solved[:0],
        generator=generator,
    )
    return problem.with_clusters(choice, generator, progress)


def all_pairs(points: FloatArray, metric: str, scale: float = 1.0) -> npt.NDArray[np.float32]:
    """Return all distances among points over `scale`, in single precision and a block at a time."""
    table = np.empty((len(points), len(points)), dtype=np.float32)
    size = max(1, BLOCK_NUMBERS // max(len(points), 1))
    around = points - points.mean(axis=0) if metric == "euclidean" else points  # large coordinates would cancel
    for part in row_blocks(len(points), size):
        table[part] = pairwise_distances(around[part], around, metric=metric) / scale
    return table


def ball_around(points: FloatArray, margin: float) -> Ball:
    """Return the ball around the mean of public points that holds them, `margin` times as wide."""
    center = points.mean(axis=0)
    radius = margin * float(np.sqrt(np.max(np.sum((points - center) ** 2, axis=1))))
    return Ball(max(radius, 1e-9 * float(np.abs(center).max())) or 1.0, center)


def check_metric(where: str, metric: object, probe: FloatArray) -> None:
    """Refuse what is no distance between two points."""
    rule, remedy = "a distance that scikit-learn knows", 'Pass "euclidean", "manhattan", ...'
    if not isinstance(metric, str) or metric in FITTED_METRICS:
        validate.refuse(where, f"{rule} and that is a function of two points", metric, remedy=remedy)
    with suppress(TypeError, ValueError, KeyError, DataConversionWarning), warnings.catch_warnings():
        warnings.simplefilter("error", DataConversionWarning)  # a distance between truth values, such as Jaccard's
        pairwise_distances(probe, metric=metric)
        return
    validate.refuse(where, rule, metric, remedy=remedy)
