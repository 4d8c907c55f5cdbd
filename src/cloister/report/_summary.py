# SPDX-License-Identifier: Apache-2.0
"""A release as plain data, arranged for readers: clusters, receipt, a plane to draw them in, the steps of the fit.

Everything here is arithmetic on published numbers. Nothing is rounded; that is the printer's business.
"""

from typing import Any

import numpy as np

from cloister.columns import Box, Category, ColumnDomain
from cloister.privacy import Receipt, to_dict
from cloister.release import Release, columns_of, plane_of_centers, rank_columns, rank_table
from cloister.report._choice import choice_of
from cloister.report._column_words import cells_of, table_of
from cloister.report._loss import loss_summary
from cloister.report._meaning import ledger_summary, meaning_of
from cloister.report._profiles import profiles_of
from cloister.report._shares import group_events
from cloister.report._source_target import source_target_map, source_target_summary
from cloister.report._steps import panels_of, steps_of
from cloister.synopsis import Synopsis, WeightedPoints, noise_words

__all__ = ["coordinates_of", "rank_columns", "rank_table", "summary", "synopsis_summary"]


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
        "coordinates": coordinates_of(release),
        "ranking": rank_columns(release),
        "table": table_of(release),
        "table_ranking": rank_table(release),
        "cells": cells_of(release),
        "profiles": profiles_of(release),
        "clusters": _clusters(release),
        "errors_are_total": release.errors_are_total,
        "total_count": float(release.cluster_counts.sum()),
        "receipt": _receipt(release.receipt),
        "plane": plane_of_centers(release).to_dict(),
        "projected": any("dimension" in step.picture for step in release.steps),
        "steps": steps_of(release),
        "panels": panels_of(release),
        "choice": choice_of(release.details),
        "parameters": release.parameters,
        "versions": release.versions,
        **({} if loss is None else {"loss": loss}),
        **_source_target(release),
    }


def synopsis_summary(synopsis: Synopsis | WeightedPoints) -> dict[str, Any]:
    """Return what a synopsis says as plain data: its size, its noise and the receipt. The counts are left out.

    Examples
    --------
    >>> from cloister import GridSynopsis
    >>> model = GridSynopsis(2, epsilon=5.0, bounds=(0, 1), rule=4, n_rows=500, random_state=0).fit([[0.1, 0.1]] * 500)
    >>> found = synopsis_summary(model.synopsis_)
    >>> found["cells"], found["n_cells"], found["n_rows"], found["n_rows_error"]
    ([4, 4], 16, 500.0, 0.0)
    """
    table = table_of(synopsis)
    return {
        "created": synopsis.receipt.day,
        "n_features": synopsis.n_features,
        "n_columns": len(table),
        "columns": list(synopsis.columns),
        "bounds": _bounds(synopsis),
        "table": table,
        "scaling": synopsis.scaling,
        "sigma": synopsis.sigma,
        "n_rows": synopsis.n_rows,
        "n_rows_error": synopsis.n_rows_error,
        "cells_of_columns": cells_of(synopsis),
        "full": _full(synopsis),
        "receipt": _receipt(synopsis.receipt),
        "versions": synopsis.versions,
        **(_points_summary(synopsis) if isinstance(synopsis, WeightedPoints) else _grid_summary(synopsis)),
    }


def _full(synopsis: Synopsis | WeightedPoints) -> float:
    """Return the part of the cells, leaves or points that are above twice their noise."""
    if isinstance(synopsis, Synopsis) and synopsis.split is not None:
        return float(np.mean(synopsis.cell_counts > 2 * synopsis.noise.of_leaves))
    return float(np.mean(synopsis.noisy_counts > 2 * synopsis.sigma))


def _grid_summary(synopsis: Synopsis) -> dict[str, Any]:
    return {
        "kind": "grid",
        "adaptive": synopsis.split is not None,
        "noise": noise_words(synopsis),
        "method": "GridSynopsis",
        "domain": "box",
        "cells": list(synopsis.cells),
        "n_cells": synopsis.n_cells,
        "parameters": {"cells": list(synopsis.cells), "counts": synopsis.counts, "scaling": synopsis.scaling},
    }


def _points_summary(synopsis: WeightedPoints) -> dict[str, Any]:
    parameters = {"n_points": synopsis.n_points, "max_clusters": synopsis.max_clusters, "scaling": synopsis.scaling}
    return {
        "kind": "points",
        "method": "PointSynopsis",
        "domain": synopsis.domain.to_dict()["kind"],
        "n_points": synopsis.n_points,
        "max_clusters": synopsis.max_clusters,
        "parameters": parameters,
    }


def _bounds(release: Release | Synopsis | WeightedPoints) -> list[list[float]]:
    domain = release.domain
    if isinstance(domain, ColumnDomain):
        return [
            pair for index, cut in enumerate(domain.slices()) for pair in _column_bounds(domain, index, cut.stop - cut.start)
        ]
    if isinstance(domain, Box):
        low, high = np.atleast_1d(domain.low), np.atleast_1d(domain.high)
    else:
        center = np.atleast_1d(domain.center)
        low, high = center - domain.radius, center + domain.radius
    pairs = np.broadcast_to(np.stack([low, high], axis=1), (release.n_features, 2))
    return [[float(first), float(last)] for first, last in pairs]


def _column_bounds(domain: ColumnDomain, index: int, size: int) -> list[list[float]]:
    """Return the bounds of each number that a column publishes; shares lie between 0 and 1."""
    share = [0.0, 1.0]
    if isinstance(domain.columns[index], Category):
        return [share] * size
    return [list(domain.interval(index)), *[share] * (size - 1)]


def coordinates_of(release: Release) -> list[dict[str, Any]]:
    """Return what each number of a centre is, and its unit: the width of the bounds, or the spread where that was found."""
    widths = [high - low for low, high in _bounds(release)]
    kinds = ["number"] * release.n_features
    domain = release.domain
    if isinstance(domain, ColumnDomain):
        for index, cut in enumerate(domain.slices()):
            own = domain.columns[index].kind
            kinds[cut] = [own if own in ("number", "date") else "share", *["share"] * (cut.stop - cut.start - 1)]
            if domain.spreads is not None and np.isfinite(domain.spreads[index]) and domain.spreads[index] > 0:
                widths[cut.start] = float(domain.spreads[index])
    parts = zip(release.columns, kinds, widths, strict=True)
    return [{"name": name, "kind": kind, "unit": width if width > 0 else 1.0} for name, kind, width in parts]


def _clusters(release: Release) -> list[dict[str, Any]]:
    seen = release.stands_out
    return [
        {
            "label": label,
            "count": float(release.cluster_counts[label]),
            "count_error": float(release.count_errors[label]),
            "stands_out": bool(seen[label]),
            "stability": None if release.stability is None else float(release.stability[label]),
            "center": release.cluster_centers[label].tolist(),
            "center_error": release.center_errors[label].tolist(),
            "columns": columns,
        }
        for label, columns in enumerate(columns_of(release))
    ]


def _receipt(receipt: Receipt) -> dict[str, Any]:
    spent, meaning = receipt.spent, meaning_of(receipt)
    return {
        "guarantee": to_dict(receipt.guarantee),
        "guarantee_text": str(receipt.guarantee),
        "neighbours": receipt.neighbours,
        "protects": receipt.protects,
        "counted": receipt.counted,
        "persons": _persons(receipt),
        "spent": "nothing" if spent.empty else spent.describe(receipt.guarantee),
        "seeded": receipt.seeded,
        "account": receipt.account,
        "explanation": receipt.explain(),
        "promised": receipt.promise(),
        "dataset": receipt.dataset,
        "purpose": receipt.purpose,
        "ledger": ledger_summary(receipt),
        "meaning": meaning,
        "best_guess": meaning["best_guess"],
        "groups": group_events(receipt.events),
        "fits": len(receipt.fits),
        "events": [
            {**event.to_line(), "fit": index} for index, fit in enumerate(receipt.fits, start=1) for event in fit.events
        ],
    }


def _persons(receipt: Receipt) -> dict[str, Any] | None:
    """Return whom the receipt protects; None where it protects one row."""
    privacy_unit = receipt.privacy_unit
    if privacy_unit is None:
        return None
    return {
        "noun": privacy_unit.noun,
        "explanation": privacy_unit.explain(),
        "stated": privacy_unit.stated,
        **privacy_unit.to_dict(),
    }


def _source_target(release: Release) -> dict[str, Any]:
    if release.free_centers is None:
        return {}
    return {"source_target": source_target_summary(release), "map": source_target_map(release)}
