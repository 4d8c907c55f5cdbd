# SPDX-License-Identifier: Apache-2.0
"""A release or a synopsis as plain data: clusters, columns, receipt, a plane to draw in, the steps of a fit.

Everything here is arithmetic on published numbers. Nothing is rounded; that is the printer's business.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cloister.release import Release, columns_of, coordinates_of, distance_words, plane_of_centers, rank_columns, rank_table
from cloister.report._receipt import receipt_summary
from cloister.report._source_target import source_target_of
from cloister.report._steps import panels_of, steps_of
from cloister.synopsis import Synopsis, noise_words
from cloister.text import count_of, number, share_text, with_error

UNITS = {"bounds": "half the widths of the bounds", "spread": "spreads of the columns"}
CLEAR = 2.0  # standard errors by which a gain must exceed zero to be reported
LEAST_GAIN = 0.005  # of the loss of one centre: what is less reads 0 %
PLACES = {"middle": "the middle", "own": "a place of their own"}  # of missing values
SERIES = ("loss", "held_out", "held_out_error", "even")  # of a choice


def summary(release: Release) -> dict[str, Any]:
    """Return what a release says as plain data, ready for JSON, a table or the report: numbers and words only."""
    loss, plane = loss_summary(release), plane_of_centers(release)
    return {
        **{name: getattr(release, name) for name in ("method", "created", "n_clusters", "n_features", "n_columns")},
        "columns": list(release.columns),
        "bounds": [[one.low, one.high] for one in coordinates_of(release.domain, release.columns)],
        "domain": release.domain.to_dict()["kind"],
        "scaling": release.scaling,
        "ranking": rank_columns(release),
        "table": table_of(release),
        "table_ranking": rank_table(release),
        "cells": cells_of(release),
        "warnings": warnings_of(release),
        "clusters": [
            {
                **{name: one[name] for name in ("label", "stands_out", "stability")},
                "count": one["rows"],
                "count_error": one["rows_error"],
                "center": release.cluster_centers[label].tolist(),
                "center_error": release.center_errors[label].tolist(),
                "columns": columns,
                "distributions": one.get("distributions"),
            }
            for label, (one, columns) in enumerate(zip(release.profile(), columns_of(release), strict=True))
        ],
        "errors_are_total": release.errors_are_total,
        "total_count": release.n_rows,
        "total_count_error": release.n_rows_error,
        "receipt": receipt_summary(release.receipt),
        "plane": {
            "positions": plane.positions.tolist(),
            "errors": plane.errors.tolist(),
            "shares": list(plane.shares),
            "loadings": list(plane.loadings),
        },
        "projected": any("dimension" in step.picture for step in release.steps),
        "steps": steps_of(release),
        "panels": panels_of(release),
        "choice": choice_of(release.details),
        "parameters": release.parameters,
        "versions": release.versions,
        **({} if loss is None else {"loss": loss}),
        "distances": {"shares": release.distance_shares, "words": distance_words(release)},
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


def synopsis_summary(synopsis: Synopsis) -> dict[str, Any]:
    """Return what a synopsis says as plain data: its size, its noise and the receipt. The counts are left out."""
    table = table_of(synopsis)
    if synopsis.grid is None:
        sizes = {"n_points": synopsis.n_points, "max_clusters": synopsis.max_clusters}
        about = {
            "kind": "points",
            "domain": synopsis.domain.to_dict()["kind"],
            **sizes,
            "parameters": {**sizes, "scaling": synopsis.scaling},
        }
    else:
        grid = synopsis.grid
        about = {
            "kind": "grid",
            "adaptive": grid.split is not None,
            "noise": noise_words(synopsis),
            "domain": "box",
            "cells": list(grid.cells),
            "n_cells": synopsis.n_points,
            "parameters": {"cells": list(grid.cells), "counts": grid.counts, "scaling": synopsis.scaling},
        }
    return {
        "created": synopsis.receipt.day,
        "method": synopsis.method,
        "n_features": synopsis.n_features,
        "n_columns": len(table),
        "columns": list(synopsis.columns),
        "bounds": [[one.low, one.high] for one in coordinates_of(synopsis.domain, synopsis.columns)],
        "table": table,
        **{name: getattr(synopsis, name) for name in ("scaling", "sigma", "n_rows", "n_rows_error")},
        "cells_of_columns": cells_of(synopsis),
        "warnings": warnings_of(synopsis),
        "full": float(
            np.mean(synopsis.noisy_counts > 2 * synopsis.noise.of_each)
        ),  # part of the cells, leaves or points above twice their noise
        "receipt": receipt_summary(synopsis.receipt),
        "versions": synopsis.versions,
        **about,
    }


def table_of(published: Release | Synopsis) -> list[dict[str, Any]]:
    """Return what is known of each column of the table: name, type, bounds or levels, and what was found with noise."""
    domain = published.domain
    shared = {"missing": "mean", "weight": 1.0} if domain.is_declared else {}
    pairs = zip(domain.names(published.feature_names), domain.plain_columns(), strict=True)
    return [{**shared, "name": name, **one} for name, one in pairs]


def warnings_of(published: Release | Synopsis) -> list[dict[str, Any]]:
    """Return what to know before believing a document, each with its remedy."""
    return [one.to_dict() for one in published.warnings]


def cells_of(published: Release | Synopsis) -> dict[str, Any] | None:
    """Return what part of each column was missing or outside, and where missing values were placed; None if nobody asked."""
    cells = published.cells if isinstance(published, Release) else published.column_cells
    if cells is None or cells.missing is None or cells.outside is None:
        return None
    domain = published.domain
    places = [None if cells.places is None else cells.places[cut].tolist() for cut in domain.slices()]
    names, parts = domain.names(published.feature_names), (cells.missing.tolist(), cells.outside.tolist())
    columns = []
    for name, one, missing, outside, place in zip(names, domain.columns, *parts, places, strict=True):
        placed = PLACES.get(str(one.missing), str(one.missing))
        if one.missing == "mean":
            placed = PLACES["middle"] if place is None else one.place_words(place)
        columns.append({"name": name, "missing": missing, "outside": outside, "placed": placed})
    return {"error": cells.error, "columns": columns}


def choice_of(details: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the choice that the details of a release hold; None if there is none that can be drawn."""
    try:
        choice: Any = details["choice"]
        numbers = [int(one) for one in choice["n_clusters"]]
        series = {name: [float(one) for one in choice[name]] for name in SERIES}
        best, elbow, supported = (int(choice[name]) for name in ("best", "elbow", "supported"))
        as_good = [int(one) for one in choice.get("as_good", ())]
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return None
    fits = all(len(values) == len(numbers) and all(map(math.isfinite, values)) for values in series.values())
    if not fits or not {best, *as_good} <= set(numbers):
        return None
    return {"n_clusters": numbers, **series, "best": best, "elbow": elbow, "supported": supported, "as_good": as_good}
