# SPDX-License-Identifier: Apache-2.0
"""Releases and synopses made by hand: of any size, and of declared columns with their tables."""

import dataclasses
from datetime import date, timedelta
from typing import Any

import numpy as np

from cloister import Box, PEMeans, PureDP, Release, Synopsis
from cloister.columns import Category, Date, Flag, Number, Table, days_of
from cloister.privacy import Receipt
from cloister.release import CellSummary
from cloister.synopsis import Grid

COLUMNS = {
    "age": Number(0, 120),
    "glucose": Number(40, 400, missing="own"),
    "sex": Category(["f", "m"]),
    "ward": Category(["north", "south", 3], missing="own"),
    "smoker": Flag(),
    "admitted": Date("2020-01-01", "2026-12-31"),
}
# One cluster a line: age, glucose and its share missing, two levels, three levels and missing, flag, date.
CENTERS = [
    [30.25, 90.5, 0.125, 0.62, 0.38, 0.5, 0.25, 0.125, 0.125, 0.34, days_of("2021-03-04")],
    [70.0, 180.0, 0.0, 0.1, 0.9, 0.0, 0.0, 1.0, 0.0, 0.9, days_of("2025-06-07")],
]
ERRORS = [[0.5, 2.0, 0.01, 0.01, 0.01, 0.02, 0.02, 0.02, 0.02, 0.01, 3.5]] * 2
PEOPLE: dict[str, list[Any]] = {  # a table that has more columns, in another order
    "patient": ["p1", 'p"2', "p,3", "p4"],
    "admitted": [date(2021, 3, 4), date(2025, 6, 7) + timedelta(days=3), None, date(2025, 6, 7)],
    "smoker": [False, True, False, None],
    "sex": ["f", "m", "f", " m "],
    "ward": ["north", "3", "south", "elsewhere"],
    "glucose": [88.0, 190.0, None, 175.0],
    "age": [29.0, 71.0, 33.0, float("nan")],
}
LABELS = [0, 1, 0, 1]


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


def declared_release(names: tuple[str, ...] | None = None, **changes: Any) -> Release:
    """Return a release of two clusters of people, as a fit would publish it."""
    rows = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    made = PEMeans(2, epsilon=2.0, bounds=(-1, 1), n_rounds=2, n_variations=4, n_init=1, n_rows=200).fit(rows).release_
    domain = Table(tuple(COLUMNS.values()))
    given = {
        "cluster_centers": np.array(CENTERS),
        "center_errors": np.array(ERRORS),
        "cluster_counts": np.array([1200.0, 800.0]),
        "count_errors": np.array([10.0, 10.0]),
        "domain": domain,
        "scaling": "bounds",
        "feature_names": names or tuple(COLUMNS),
        "cells": CellSummary(
            places=domain.frame(scaling="bounds").center,
            missing=[0.0, 0.15, 0.0, 0.1, 0.02, 0.0],
            outside=[0.001, 0.0, 0.03, 0.05, 0.0, 0.0],
            error=0.004,
        ),
    }
    return dataclasses.replace(made, **{**given, **changes})
