# SPDX-License-Identifier: Apache-2.0
"""A release as plain data, arranged for readers: clusters, receipt, a plane to draw them in, the steps of the fit.

Everything here is arithmetic on published numbers. Nothing is rounded; that is the printer's business.
"""

from typing import Any

import numpy as np
from scipy.special import ndtr

from cloister.algorithms import plane_of
from cloister.domain import Box, Category, ColumnDomain, FloatArray
from cloister.privacy import Receipt, to_dict
from cloister.release import Release, columns_of
from cloister.report._column_words import cells_of, table_of
from cloister.report._loss import loss_summary
from cloister.report._profiles import profiles_of
from cloister.report._shares import group_events
from cloister.report._source_target import source_target_map, source_target_summary
from cloister.report._steps import panels_of, steps_of
from cloister.synopsis import Synopsis

__all__ = ["rank_columns", "rank_table", "summary", "synopsis_summary"]

SMALLEST_ERROR = 1e-6  # of the domain: what is more exact than this counts as exact


def summary(release: Release) -> dict[str, Any]:
    """Return what a release says as plain data, ready for JSON, a table or the report.

    Parameters
    ----------
    release : Release
        What a fit published.

    Returns
    -------
    dict
        Numbers and words only.

    Notes
    -----
    **Privacy.** Post-processing of a release; costs nothing.

    Examples
    --------
    >>> from cloister import PEMeans
    >>> model = PEMeans(n_clusters=2, epsilon=5.0, bounds=(0, 1), random_state=0).fit([[0.1, 0.1], [0.9, 0.8]] * 500)
    >>> found = summary(model.release_)
    >>> found["n_clusters"], found["columns"], found["receipt"]["seeded"]
    (2, ['x0', 'x1'], True)
    """
    loss = loss_summary(release)
    return {
        "method": release.method,
        "created": release.created,
        "n_clusters": release.n_clusters,
        "n_features": release.n_features,
        "n_columns": release.n_columns,
        "columns": list(release.columns),
        "bounds": _bounds(release),
        "domain": release.domain.to_dict()["kind"],
        "scaling": release.scaling,
        "ranking": rank_columns(release),
        "table": table_of(release),
        "table_ranking": rank_table(release),
        "cells": cells_of(release),
        "profiles": profiles_of(release),
        "clusters": _clusters(release),
        "total_count": float(release.cluster_counts.sum()),
        "receipt": _receipt(release.receipt),
        "plane": _plane(release),
        "projected": any("dimension" in step.picture for step in release.steps),
        "steps": steps_of(release),
        "panels": panels_of(release),
        "parameters": release.parameters,
        "versions": release.versions,
        **({} if loss is None else {"loss": loss}),
        **_source_target(release),
    }


def synopsis_summary(synopsis: Synopsis) -> dict[str, Any]:
    """Return what a synopsis says as plain data: the grid, its noise and the receipt. The counts are left out.

    Examples
    --------
    >>> from cloister import GridSynopsis
    >>> model = GridSynopsis(2, epsilon=5.0, bounds=(0, 1), rule=4, n_rows=500, random_state=0).fit([[0.1, 0.1]] * 500)
    >>> found = synopsis_summary(model.synopsis_)
    >>> found["cells"], found["n_cells"], found["n_rows"], found["n_rows_error"]
    ([4, 4], 16, 500.0, 0.0)
    """
    return {
        "method": "GridSynopsis",
        "created": synopsis.receipt.day,
        "n_features": synopsis.n_features,
        "columns": list(synopsis.columns),
        "bounds": _bounds(synopsis),
        "domain": "box",
        "table": table_of(synopsis),
        "scaling": synopsis.scaling,
        "cells": list(synopsis.cells),
        "n_cells": int(synopsis.noisy_counts.size),
        "sigma": synopsis.sigma,
        "n_rows": synopsis.n_rows,
        "n_rows_error": synopsis.n_rows_error,
        "cells_of_columns": cells_of(synopsis),
        "full": float(np.mean(synopsis.noisy_counts > 2 * synopsis.sigma)),
        "receipt": _receipt(synopsis.receipt),
        "parameters": {"cells": list(synopsis.cells), "counts": synopsis.counts, "scaling": synopsis.scaling},
        "versions": synopsis.versions,
    }


def rank_columns(release: Release) -> list[int]:
    """Return the columns by how well they tell the centres apart, best first; noisy differences count less."""
    scale = release.frame.scale
    points = release.cluster_centers / scale
    weights = 1 / np.maximum(release.center_errors / scale, SMALLEST_ERROR) ** 2
    middle = (weights * points).sum(axis=0) / weights.sum(axis=0)
    spread = (weights * (points - middle) ** 2).sum(axis=0)
    return [int(index) for index in np.argsort(-spread, kind="stable")]


def rank_table(release: Release) -> list[int]:
    """Return the columns of the table by how well they tell the centres apart, each by the best of its coordinates."""
    ranking = rank_columns(release)
    if not isinstance(release.domain, ColumnDomain):
        return ranking
    owner = {place: index for index, cut in enumerate(release.domain.slices()) for place in range(cut.start, cut.stop)}
    return list(dict.fromkeys(owner[place] for place in ranking))


def _bounds(release: Release | Synopsis) -> list[list[float]]:
    domain = release.domain
    if isinstance(domain, ColumnDomain):
        return [pair for index in range(domain.n_columns) for pair in _column_bounds(domain, index)]
    if isinstance(domain, Box):
        low, high = np.atleast_1d(domain.low), np.atleast_1d(domain.high)
    else:
        center = np.atleast_1d(domain.center)
        low, high = center - domain.radius, center + domain.radius
    pairs = np.broadcast_to(np.stack([low, high], axis=1), (release.n_features, 2))
    return [[float(first), float(last)] for first, last in pairs]


def _column_bounds(domain: ColumnDomain, index: int) -> list[list[float]]:
    """Return the bounds of each number that a column publishes; shares lie between 0 and 1."""
    cut = domain.slices()[index]
    share = [0.0, 1.0]
    if isinstance(domain.columns[index], Category):
        return [share] * (cut.stop - cut.start)
    return [list(domain.interval(index)), *[share] * (cut.stop - cut.start - 1)]


def _clusters(release: Release) -> list[dict[str, Any]]:
    return [
        {
            "label": label,
            "count": float(release.cluster_counts[label]),
            "count_error": float(release.count_errors[label]),
            "center": release.cluster_centers[label].tolist(),
            "center_error": release.center_errors[label].tolist(),
            "columns": columns,
        }
        for label, columns in enumerate(columns_of(release))
    ]


def _receipt(receipt: Receipt) -> dict[str, Any]:
    spent = receipt.spent
    return {
        "guarantee": to_dict(receipt.guarantee),
        "guarantee_text": str(receipt.guarantee),
        "neighbours": receipt.neighbours,
        "spent": "nothing" if spent.empty else spent.describe(receipt.guarantee),
        "seeded": receipt.seeded,
        "account": receipt.account,
        "explanation": receipt.explain(),
        # Telling two neighbours apart is at most as easy as telling N(0, 1) from N(mu, 1): right with chance Phi(mu / 2).
        "best_guess": float(ndtr(spent.all_mu / 2)),
        "groups": group_events(receipt.events),
        "events": [event.to_line() for event in receipt.events],
    }


def _plane(release: Release) -> dict[str, Any]:
    """Project the centres, as distances see them, on their first two principal axes."""
    frame = release.frame
    points = frame.to_unit(release.cluster_centers)
    plane = plane_of(points)
    errors = np.sqrt((_unit_errors(release) ** 2) @ plane.axes**2)
    return {
        "positions": plane.project(points).tolist(),
        "errors": errors.tolist(),
        "shares": list(plane.shares),
        "loadings": [_loadings(release.columns, axis) for axis in _published_axes(release, plane.axes)],
    }


def _unit_errors(release: Release) -> FloatArray:
    """Return the errors of the centres in the unit ball's coordinates; of a category, a common one for all of them."""
    relative = release.center_errors / release.frame.scale
    if not isinstance(release.domain, ColumnDomain):
        return np.asarray(relative)
    parts = zip(release.domain.slices(), release.domain.parts(release.scaling), strict=True)
    means = [(relative[:, cut].mean(axis=1, keepdims=True), part.dimension) for cut, part in parts]
    return np.concatenate([np.repeat(mean, dimension, axis=1) for mean, dimension in means], axis=1)


def _published_axes(release: Release, axes: FloatArray) -> list[FloatArray]:
    """Return how much each published number grows along an axis."""
    if not isinstance(release.domain, ColumnDomain):
        return list(axes.T)
    frame, small = release.frame, 1e-6
    middle = frame.to_unit(frame.center[None])
    moved = (frame.from_unit(middle + small * axes.T) - frame.center) / frame.scale / small
    return list(moved)


def _source_target(release: Release) -> dict[str, Any]:
    if release.free_centers is None:
        return {}
    return {"source_target": source_target_summary(release), "map": source_target_map(release)}


def _loadings(columns: tuple[str, ...], axis: FloatArray) -> list[list[Any]]:
    """Name the columns an axis consists of, the most important first: at most three."""
    order = np.argsort(-np.abs(axis), kind="stable")[:3]
    return [[columns[index], float(axis[index])] for index in order if abs(axis[index]) > 0.2 * np.abs(axis).max(initial=0.0)]
