# SPDX-License-Identifier: Apache-2.0
"""What one draw of noise for all coordinates of a cluster's sum does: ``python -m benchmarks.shared_noise``.

Algorithm 3 of the PE-means paper ends with noisy sums of the rows of each cluster. Here it is simulated with a draw for every
number, as it is stated, and with one draw for every cluster, which is not what is stated and not private: the areas of both
stand beside the published column. Then an attacker who knows all rows but one reads that row from such a sum. The fault lives
in this file alone; votes are those of the package, with ordinary floating-point noise.
"""

import argparse
import math
import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import stats

from cloister import ApproxDP, Ball
from cloister.algorithms import EvolutionSettings, Space, evolve, random_projection
from cloister.columns import snap
from cloister.questions import NearestCounts

from ._arrays import Array
from ._data import DataSet, load
from ._harness import Report
from ._methods import PROJECTED_TO
from ._page import say
from ._papers import table1
from ._stats import EPSILONS, area_of

__all__ = ["Lift", "attack", "lift_centers", "simulate"]

ROUNDS, QUESTIONS = 14, 16  # votes, and votes with the two questions of the way back
MOST_CANDIDATES = 8192
ATTACK_ROWS, ATTACK_COLUMNS, ATTACK_RUNS = 300, 64, 2000


@dataclass(frozen=True)
class Lift:
    """A way to noise the sums of the clusters."""

    words: str
    shared: bool  # one draw for all coordinates of a cluster
    clipped: bool  # centres are moved into the domain
    questions: int = QUESTIONS  # that the noise is computed for


LIFTS = (
    Lift("a draw for every number, centres kept in the ball (the package)", shared=False, clipped=True),
    Lift("a draw for every number (Algorithm 3)", shared=False, clipped=False),
    Lift("one draw for every cluster", shared=True, clipped=False),
    Lift("one draw for every cluster, noise of two questions too few", shared=True, clipped=False, questions=ROUNDS),
)


def simulate(data: DataSet, *, epsilon: float, seed: int) -> dict[Lift, float]:
    """Return the loss of each way back from one run of PE-means in a projection."""
    rng = np.random.default_rng(seed)
    budget, rows = _budget(epsilon, data.delta), snap(data.rows)
    n_rows, n_features = data.rows.shape
    space = Space(Ball(1.0, np.zeros(n_features)).frame(), random_projection(rng, n_features, PROJECTED_TO))
    sigma = math.sqrt(QUESTIONS) / budget

    def ask(question: NearestCounts, _: object) -> Any:
        counts = question.exact(rows)
        return SimpleNamespace(value=counts + rng.normal(0, sigma, counts.shape), sigma=sigma)

    wanted = max(int(n_rows / (5 * data.n_clusters)), 4)
    settings = EvolutionSettings(n_variations=min(wanted, MOST_CANDIDATES // data.n_clusters - 1))
    found: Any = evolve(
        ask, [None] * ROUNDS, space, n_clusters=data.n_clusters, n_rows=n_rows, settings=settings, generator=rng
    )
    owner = _nearest(data.rows @ space.projection, found[-1].centers)
    sums = np.stack([np.bincount(owner, weights=column, minlength=data.n_clusters) for column in data.rows.T], axis=1)
    counts = np.bincount(owner, minlength=data.n_clusters)
    return {lift: data.loss(lift_centers(sums, counts, lift, budget=budget, rng=rng)) for lift in LIFTS}


def lift_centers(sums: Array, counts: Array, lift: Lift, *, budget: float, rng: np.random.Generator) -> Array:
    """Return noisy averages; `budget` is the mu of Gaussian differential privacy for all questions together."""
    sigma = math.sqrt(lift.questions) / budget
    noisy = noisy_sums(sums, lift, sigma=sigma, rng=rng)
    centers = noisy / np.maximum(counts + rng.normal(0, sigma, counts.shape), 1.0)[:, None]
    return centers / np.maximum(np.linalg.norm(centers, axis=1, keepdims=True), 1.0) if lift.clipped else centers


def noisy_sums(sums: Array, lift: Lift, *, sigma: float, rng: np.random.Generator) -> Array:
    """Return sums with noise: of shape (clusters, columns), or the fault, (clusters, 1)."""
    return np.asarray(sums + rng.normal(0, sigma, (len(sums), 1 if lift.shared else sums.shape[1])))


@dataclass(frozen=True)
class Attack:
    """What an attacker who knows all rows but one gets out of one noisy sum."""

    error: float  # of the differences between coordinates of the unknown row, root mean square
    told_apart: float  # part of the runs in which it is told right whether the row is there
    most: float  # that a mechanism with this guarantee allows


def attack(lift: Lift, *, epsilon: float, seed: int, runs: int = ATTACK_RUNS) -> Attack:
    """Read a row, and whether it is there, from the differences between coordinates of a cluster's noisy sum."""
    rng = np.random.default_rng(seed)
    known = rng.normal(size=(ATTACK_ROWS, ATTACK_COLUMNS)) / (4 * math.sqrt(ATTACK_COLUMNS))
    victim = rng.normal(size=ATTACK_COLUMNS)
    victim /= np.linalg.norm(victim)
    budget = _budget(epsilon, ATTACK_ROWS**-1.1)
    sigma = math.sqrt(QUESTIONS) / budget
    errors, right = [], 0
    wanted = np.diff(victim)
    for run in range(runs):
        there = run % 2 == 0
        exact = known.sum(axis=0) + there * victim
        seen = np.diff(noisy_sums(exact[None, :], lift, sigma=sigma, rng=rng)[0]) - np.diff(known.sum(axis=0))
        right += bool((seen @ wanted > wanted @ wanted / 2) == there)
        if there:
            errors.append(np.mean((seen - wanted) ** 2))
    return Attack(float(np.sqrt(np.mean(errors))), right / runs, float(stats.norm.cdf(budget / 2)))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shared_noise", description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=["sklearn_64_64", "sklearn_64_128"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", help="folder with the real data sets")
    given = parser.parse_args()
    report = Report("shared_noise", **vars(given))
    _compare_areas(report, given.datasets, repeats=given.repeats, folder=given.data)
    _compare_attacks(report)
    return report.finish()


def _compare_areas(report: Report, datasets: list[str], *, repeats: int, folder: str | None) -> None:
    report.head("data", *(lift.words for lift in LIFTS), "published")
    for name in datasets:
        data = load(name, folder)
        losses: dict[Lift, dict[float, list[float]]] = {lift: {epsilon: [] for epsilon in EPSILONS} for lift in LIFTS}
        for epsilon in EPSILONS:
            for repeat in range(repeats):
                for lift, loss in simulate(data, epsilon=epsilon, seed=1000 * repeat + int(100 * epsilon)).items():
                    losses[lift][epsilon].append(loss)
        areas = {lift: area_of(found) for lift, found in losses.items()}
        row = table1().get(name)
        printed = None if row is None else row.area("hdpe_means_auc")
        figures = {lift.words: area.value for lift, area in areas.items()}
        report.row(name, *(say(area) for area in areas.values()), "-" if printed is None else f"{printed:.4f}", areas=figures)


def _compare_attacks(report: Report) -> None:
    report.head("noise of a sum", "epsilon", "error of a read difference", "presence told right", "most that is allowed")
    for lift in (LIFTS[1], LIFTS[2]):
        for epsilon in (0.01, 1.0):
            found = attack(lift, epsilon=epsilon, seed=0)
            cells = f"{found.error:.2g}", f"{found.told_apart:.1%}", f"{found.most:.1%}"
            report.row(lift.words, f"{epsilon:g}", *cells, error=found.error, told_apart=found.told_apart)
            if lift.shared:
                report.floor(f"presence told right from a shared draw, epsilon {epsilon:g}", found.told_apart, at_least=1.0)
            else:
                at_most = found.most + 4 * math.sqrt(0.25 / ATTACK_RUNS)
                report.floor(f"presence told right, epsilon {epsilon:g}", found.told_apart, at_most=at_most)


def _budget(epsilon: float, delta: float) -> float:
    return float(ApproxDP(epsilon, delta).gaussian_budget().mu)


def _nearest(points: Array, centers: Array) -> Array:
    scores = np.sum(centers**2, axis=1) - 2 * (points @ centers.T)
    return np.asarray(np.argmin(scores, axis=1))


if __name__ == "__main__":
    sys.exit(main())
