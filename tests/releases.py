# SPDX-License-Identifier: Apache-2.0
"""Releases and synopses of any size made by hand, whose truth and noise are known."""

from typing import Any

import numpy as np

from cloister import Box, PureDP, Release, Synopsis
from cloister.privacy import Receipt
from cloister.synopsis import Grid

__all__ = ["release_by_hand", "synopsis_by_hand"]


def release_by_hand(n_clusters: int = 3, n_features: int = 2, **parts: Any) -> Release:
    """Return a release whose centres lie on the diagonal of a box from 0 to 100."""
    places = np.linspace(10.0, 90.0, n_clusters)[:, None]
    given = {
        "method": "KMeans",
        "parameters": {"n_clusters": n_clusters},
        "cluster_centers": places + np.linspace(0.0, 5.0, n_features),
        "center_errors": np.full((n_clusters, n_features), 0.25),
        "cluster_counts": 100.0 * np.arange(1, n_clusters + 1),
        "count_errors": np.full(n_clusters, 7.0),
        "domain": Box(np.zeros(n_features), np.full(n_features, 100.0)),
        "scaling": "none",
        "receipt": Receipt(guarantee=PureDP(1.0), neighbours="add-remove", events=()),
        **parts,
    }
    return Release(**given)


def synopsis_by_hand(counts: Any, *, domain: Box | None = None, rule: str = "clip", **parts: Any) -> Synopsis:
    """Return the synopsis of a grid with these counts, over the unit cube."""
    counts = np.asarray(counts, dtype=np.float64)
    box = domain or Box(np.zeros(counts.ndim), np.ones(counts.ndim))
    given = {
        "method": "GridSynopsis",
        "scaling": "none",
        "sigma": 1.0,
        "receipt": Receipt(guarantee=PureDP(1.0), neighbours="add-remove", events=()),
        **parts,
    }
    grid = Grid(box=box, cells=counts.shape, counts=rule)
    return Synopsis(noisy_counts=counts.ravel(), grid=grid, frame=box.frame(scaling=given["scaling"]), **given)
