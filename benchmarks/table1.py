# SPDX-License-Identifier: Apache-2.0
"""Rows of Table I of the PE-means paper for PEMeans: ``python -m benchmarks.table1 iris sklearn_4_4 --repeats 5``."""

import argparse
import sys

import numpy as np
from joblib import Parallel, delayed

from benchmarks._data import EPSILONS, DataSet, area, load
from benchmarks._harness import Report
from cloister import Ball, PEMeans

# Public figures of the paper: area under the loss for PE-means and HDPE-means.
PAPER = {
    "iris": (0.2894, None),
    "adult": (0.0056, None),
    "letter": (0.2852, None),
    "gas": (0.1081, None),
    "g2_4": (0.4761, None),
    "g2_16": (0.7800, None),
    "g2_64": (1.1538, 1.1295),
    "g2_128": (1.7237, 1.4055),
    "sklearn_4_4": (0.0778, None),
    "sklearn_16_4": (0.0445, None),
    "sklearn_64_4": (0.0379, None),
    "sklearn_4_16": (0.0955, None),
    "sklearn_16_16": (0.0668, None),
    "sklearn_64_16": (0.1183, None),
    "sklearn_4_64": (0.0993, 0.0974),
    "sklearn_16_64": (0.1192, 0.1189),
    "sklearn_64_64": (0.3070, 0.4678),
    "sklearn_4_128": (0.1333, 0.1097),
    "sklearn_16_128": (0.1942, 0.1562),
    "sklearn_64_128": (0.5740, 0.7190),
}
BARS = {"iris": 1.08, **dict.fromkeys(["sklearn_4_4", "sklearn_16_4", "sklearn_64_4", "sklearn_4_16", "sklearn_16_16"], 1.05)}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["iris", "sklearn_4_4", "sklearn_16_4"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", help="folder with the real data sets; CLOISTER_DATA by default")
    parser.add_argument("--max-candidates", type=int, default=8192)
    options = parser.parse_args(arguments)
    report = Report("table1", repeats=options.repeats, max_candidates=options.max_candidates)
    for name in options.names:
        data = load(name, options.data)
        tasks = [(epsilon, seed) for epsilon in EPSILONS for seed in range(options.repeats)]
        losses = Parallel(options.jobs)(delayed(_loss)(data, epsilon, seed, options.max_candidates) for epsilon, seed in tasks)
        table = np.array(losses).reshape(len(EPSILONS), options.repeats)
        means = dict(zip(EPSILONS, table.mean(axis=1).tolist(), strict=True))
        found = area(means)
        error = area(dict(zip(EPSILONS, (table.std(axis=1) / options.repeats**0.5).tolist(), strict=True)))
        paper = PAPER.get(name, (float("nan"), None))
        published = paper[1] if paper[1] is not None and data.rows.shape[1] > 32 else paper[0]
        report.line(
            f"   {name:15s} AUC {found:.4f} (standard error at most {error:.4f})   paper {published}   "
            f"ratio {found / published:.3f}   " + " ".join(f"{value:.4f}" for value in means.values()),
            data=name,
            auc=found,
            paper=published,
            losses=means,
        )
        if name in BARS:
            report.floor(f"{name} over the paper's figure", found / published, at_most=BARS[name])
    return report.finish()


def _loss(data: DataSet, epsilon: float, seed: int, max_candidates: int) -> float:
    model = PEMeans(
        data.n_clusters,
        epsilon=epsilon,
        delta=data.delta,
        bounds=Ball(1.0),
        n_rows=len(data.rows),
        max_candidates=max_candidates,
        random_state=seed,
        n_jobs=1,
    )
    return data.loss(model.fit(data.rows).cluster_centers_)


if __name__ == "__main__":
    sys.exit(main())
