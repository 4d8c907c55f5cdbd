# SPDX-License-Identifier: Apache-2.0
"""A release or a synopsis as plain data, arranged for readers: clusters, receipt, a plane to draw in, the steps of a fit.

Everything here is arithmetic on published numbers. Nothing is rounded; that is the printer's business.
"""

import math
from typing import Any

import numpy as np

from cloister.columns import Box, Category, ColumnDomain
from cloister.privacy import Receipt
from cloister.release import Release, columns_of, plane_of_centers, rank_columns, rank_table
from cloister.report._choice import choice_of
from cloister.report._column_words import cells_of, table_of
from cloister.report._profiles import profiles_of
from cloister.report._source_target import source_target_of
from cloister.report._steps import group_events, panels_of, steps_of
from cloister.report._words import meaning_of
from cloister.synopsis import Synopsis, WeightedPoints, noise_words
from cloister.text import count_of, number, share_text, with_error

__all__ = ["coordinates_of", "loss_summary", "rank_columns", "rank_table", "summary", "synopsis_summary"]


UNITS = {"bounds": "half the widths of the bounds", "spread": "spreads of the columns"}
CLEAR = 2.0  # standard errors by which a gain must exceed zero to be reported
LEAST_GAIN = 0.005  # of the loss of one centre: what is less reads 0 %


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
        **source_target_of(release),
    }


def loss_summary(release: Release) -> dict[str, Any] | None:
    """Return the private estimate of the loss, with its error and a sentence about it; None if the method makes none.

    Examples
    --------
    >>> from cloister import KMeans
    >>> model = KMeans(n_clusters=2, epsilon=9.0, bounds=(0, 1), random_state=0).fit([[0.1, 0.1], [0.9, 0.8]] * 500)
    >>> loss_summary(model.release_)["words"][:51]
    'Estimated mean squared distance of a row to its cen'
    """
    try:
        value, error, single = (float(release.details[name]) for name in ("loss", "loss_error", "loss_of_one_centre"))
    except (KeyError, TypeError, ValueError):
        return None
    if not all(map(math.isfinite, (value, error, single))):
        return None
    unit = UNITS.get(release.scaling, "the units of the input")
    rounded = " ± ".join(with_error(value, error))
    words = f"Estimated mean squared distance of a row to its centre: {rounded} (distances in {unit})."
    gain = 1 - value / single if single > 0 else 0.0
    if release.n_clusters > 1 and (single - value < CLEAR * error or gain < LEAST_GAIN):
        words += " Compared with a single centre, there is no gain that stands out from the noise."
    elif release.n_clusters > 1:
        words += f" Around a single centre it would be about {number(float(f'{single:.3g}'))}; "
        words += f"{count_of(release.n_clusters, 'centre')} reduce it by {share_text(gain)}."
    return {"value": value, "error": error, "of_one_centre": single, "words": words}


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
    counts, noise = synopsis.noisy_counts, np.asarray(synopsis.sigma)
    if isinstance(synopsis, WeightedPoints):
        sizes = {"n_points": synopsis.n_points, "max_clusters": synopsis.max_clusters}
        about = {
            "kind": "points",
            "method": "PointSynopsis",
            "domain": synopsis.domain.to_dict()["kind"],
            **sizes,
            "parameters": {**sizes, "scaling": synopsis.scaling},
        }
    else:
        if synopsis.split is not None:
            counts, noise = synopsis.cell_counts, synopsis.noise.of_leaves
        about = {
            "kind": "grid",
            "adaptive": synopsis.split is not None,
            "noise": noise_words(synopsis),
            "method": "GridSynopsis",
            "domain": "box",
            "cells": list(synopsis.cells),
            "n_cells": synopsis.n_cells,
            "parameters": {"cells": list(synopsis.cells), "counts": synopsis.counts, "scaling": synopsis.scaling},
        }
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
        "full": float(np.mean(counts > 2 * noise)),  # part of the cells, leaves or points above twice their noise
        "receipt": _receipt(synopsis.receipt),
        "versions": synopsis.versions,
        **about,
    }


def _bounds(release: Release | Synopsis | WeightedPoints) -> list[list[float]]:
    """Return the bounds of each number that is published; shares lie between 0 and 1."""
    domain = release.domain
    if isinstance(domain, ColumnDomain):
        pairs = []
        for index, cut in enumerate(domain.slices()):
            is_share = isinstance(domain.columns[index], Category)
            own = [] if is_share else [list(domain.interval(index))]
            pairs += [*own, *[[0.0, 1.0]] * (cut.stop - cut.start - len(own))]
        return pairs
    if isinstance(domain, Box):
        low, high = np.atleast_1d(domain.low), np.atleast_1d(domain.high)
    else:
        center = np.atleast_1d(domain.center)
        low, high = center - domain.radius, center + domain.radius
    ends = np.broadcast_to(np.stack([low, high], axis=1), (release.n_features, 2))
    return [[float(first), float(last)] for first, last in ends]


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
    spent, meaning, unit, paid = receipt.spent, meaning_of(receipt), receipt.privacy_unit, receipt.ledger
    persons = None  # where one row is protected
    if unit is not None:
        persons = {"noun": unit.noun, "explanation": unit.explain(), "stated": unit.stated, **unit.to_dict()}
    # Where the fit left the ledger that paid for it; None where it was paid from a budget of its own.
    ledger = None if paid is None else {**paid.to_dict(), "budget_text": str(paid.budget), "left_text": paid.left_words}
    return {
        "guarantee": receipt.guarantee.to_dict(),
        "guarantee_text": str(receipt.guarantee),
        "neighbours": receipt.neighbours,
        "protects": receipt.protects,
        "counted": receipt.counted,
        "persons": persons,
        "spent": "nothing" if spent.empty else spent.describe(receipt.guarantee),
        "seeded": receipt.seeded,
        "account": receipt.account,
        "explanation": receipt.explain(),
        "promised": receipt.promise(),
        "dataset": receipt.dataset,
        "purpose": receipt.purpose,
        "ledger": ledger,
        "meaning": meaning,
        "best_guess": meaning["best_guess"],
        "groups": group_events(receipt.events),
        "fits": len(receipt.fits),
        "events": [
            {**event.to_line(), "fit": index} for index, fit in enumerate(receipt.fits, start=1) for event in fit.events
        ],
    }
