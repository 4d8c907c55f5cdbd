# SPDX-License-Identifier: Apache-2.0
"""Figure 1 of the PE-means paper: votes that are split between good candidates make the older rule lose a cluster.

Four round clusters in the plane, no noise to speak of, four rounds of private evolution. A cluster is kept while it is the
nearest one of at least one selected point.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from cloister import Ball, PEMeans
from cloister.exceptions import PrivacyWarning

from .._arrays import Array
from .._clock import timed
from .._jobs import Choice, Context, Job, Plan
from .._page import Block, Check, Figure, Section, Table, say
from .._plots import new_figure
from .._results import Results
from .._stats import mean_of
from ._base import Suite, chosen_names, failures, turn_by_turn

__all__ = ["VoteSplitting", "make_rows", "measure_votes"]

KIND, DATA = "votes", "four blobs"
N_ROWS, N_CLUSTERS, N_ROUNDS, DATA_SEED = 1000, 4, 4, 3
RULES = {"top-k": "top-k", "kmeans": "weighted k-means"}
EPSILON = 1000.0  # as good as no noise: its deviation is below a tenth of a vote
REPEATS = {"quick": 20, "paper": 200}


class VoteSplitting(Suite):
    """The two rules of selection side by side."""

    name = "vote-splitting"
    kinds = (KIND,)

    def plan(self, choice: Choice) -> Plan:
        rules = chosen_names("--methods", choice.methods, list(RULES), list(RULES))
        chosen_names("--datasets", choice.datasets, [DATA], [DATA])
        return Plan(
            turn_by_turn(
                Job(kind=KIND, data=DATA, method=rule, epsilon=epsilon, repeat=repeat, base_seed=choice.seed)
                for rule in rules
                for epsilon in choice.epsilons or (EPSILON,)
                for repeat in range(choice.repeats or REPEATS[choice.profile])
            )
        )

    def section(self, results: Results, folder: Path) -> Section:
        blocks: list[Block] = [_numbers(results)]
        drawn = _typical(results)
        if drawn:
            _draw(folder, drawn)
            blocks.append(
                Figure(
                    "vote-splitting",
                    "Four rounds from the same first candidates: top-k selection (above) and weighted k-means (below). Grey: "
                    "rows; dots: candidates; crosses: the selected points. Of the runs in which top-k starts best, one that "
                    f"ends as the middle one of all runs does, with {drawn['top-k']['kept'][-1]} of the four clusters.",
                )
            )
        return Section(self.title, [*blocks, *failures(results)], _checks(results))


def make_rows() -> tuple[Array, Array]:
    """Return rows in the unit ball and the true centres."""
    rows, _, centers = make_blobs(N_ROWS, 2, centers=N_CLUSTERS, random_state=DATA_SEED, return_centers=True)
    middle = rows.mean(axis=0)
    size = np.linalg.norm(rows - middle, axis=1).max()
    return (rows - middle) / size, (centers - middle) / size


def measure_votes(job: Job, context: Context) -> dict[str, Any]:
    """Run four rounds; return how many clusters are kept in each, and what a picture needs."""
    rows, truth = make_rows()
    model = PEMeans(
        N_CLUSTERS,
        epsilon=job.epsilon,
        delta=N_ROWS**-1.1,
        bounds=Ball(1.0),
        n_rows=N_ROWS,
        n_rounds=N_ROUNDS,
        selection=job.method,
        random_state=job.seed,
        n_jobs=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # of an epsilon that is meant to add no noise
        model, spent = timed(lambda: model.fit(rows))
    rounds = model.generations_
    losses = [float(np.mean(_squares(rows, one.centers).min(axis=1))) for one in rounds]
    return {
        "loss": losses[-1],
        "losses": losses,
        "kept": [len(set(_squares(one.centers, truth).argmin(axis=1).tolist())) for one in rounds],
        "candidates": [one.candidates.round(3).tolist() for one in rounds],
        "selected": [one.centers.round(3).tolist() for one in rounds],
        **spent,
    }


def _squares(points: Array, others: Array) -> Array:
    return np.asarray(((points[:, None, :] - others) ** 2).sum(axis=2))


def _numbers(results: Results) -> Table:
    rows = []
    for epsilon in results.names("epsilon"):
        for rule in [rule for rule in RULES if rule in results.names("method")]:
            mine = list(results.good.of(method=rule, epsilon=epsilon))
            kept = np.array([record["kept"] for record in mine])
            rows.append(
                [
                    RULES[rule],
                    f"{epsilon:g}",
                    str(len(mine)),
                    *(f"{value:.2f}" for value in kept.mean(axis=0)),
                    f"{np.mean(kept[:, -1] < N_CLUSTERS):.0%}",
                    say(mean_of([record["loss"] for record in mine])),
                ]
            )
    columns = ["selection", "epsilon", "runs", *(f"round {number}" for number in range(1, N_ROUNDS + 1)), "lose one", "loss"]
    return Table(
        f"Clusters kept, of {N_CLUSTERS}",
        columns,
        rows,
        note="Mean over the runs; 'lose one': share of runs that end with fewer.",
    )


def _typical(results: Results) -> dict[str, dict[str, Any]]:
    """Return the two runs with one seed to draw: top-k starts with all clusters if it ever does, and ends as most runs do."""
    pairs: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for record in results.good:
        pairs.setdefault((-record["epsilon"], record["base_seed"], record["repeat"]), {})[record["method"]] = record
    whole = [pairs[key] for key in sorted(pairs) if set(pairs[key]) == set(RULES)]
    if not whole:
        return {}
    middle = float(np.median([pair["top-k"]["kept"][-1] for pair in whole]))
    return min(whole, key=lambda pair: (-pair["top-k"]["kept"][0], abs(pair["top-k"]["kept"][-1] - middle)))


def _draw(folder: Path, drawn: dict[str, dict[str, Any]]) -> None:
    rows, _ = make_rows()
    with new_figure(folder, "vote-splitting", (11, 5.8)) as figure:
        axes = figure.subplots(len(RULES), N_ROUNDS, sharex=True, sharey=True)
        for line, rule in enumerate(RULES):
            record = drawn[rule]
            for number in range(N_ROUNDS):
                axis = axes[line][number]
                candidates, selected = np.array(record["candidates"][number]), np.array(record["selected"][number])
                axis.scatter(*rows.T, s=3, color="0.75", linewidths=0)
                axis.scatter(*candidates.T, s=16, color="#0072b2", marker=".", linewidths=0)
                axis.scatter(*selected.T, s=60, color="#c1121f", marker="x", linewidths=2)
                axis.set_title(f"{RULES[rule]}, round {number + 1}: keeps {record['kept'][number]}")
                axis.set(xticks=[], yticks=[], aspect="equal", xlim=(-1, 1), ylim=(-1, 1))


def _checks(results: Results) -> list[Check]:
    kept = {
        rule: [record["kept"][-1] for record in results.good.of(method=rule) if record["epsilon"] >= EPSILON] for rule in RULES
    }
    checks = []
    if kept["top-k"]:
        lost = float(np.mean([count < N_CLUSTERS for count in kept["top-k"]]))
        checks.append(Check("runs in which top-k loses a cluster", f"{lost:.0%}", "at least 50%", lost >= 0.5))
    if kept["kmeans"]:
        fewest = min(kept["kmeans"])
        checks.append(Check("clusters that weighted k-means keeps, worst run", str(fewest), "4", fewest == N_CLUSTERS))
    return checks
