# SPDX-License-Identifier: Apache-2.0
"""Pictures of a release: its numbers, arranged for the functions of :mod:`cloister.plotting`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister import validate
from cloister.plotting import mark_seeded, plot_curve, plot_map, plot_profiles
from cloister.release._geometry import plane_of_centers, rank_columns
from cloister.release._words import axis_words, coordinates_of
from cloister.text import plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cloister.release._release import Release

WHERE = "Release.plot"
RELEASE_PLOTS = ("map", "profiles", "curve")
DRAWN_COLUMNS = 40  # of a heat map, unless columns are named


def plot_release(release: "Release", kind: str, columns: Sequence[int | str] | None, ax: Any) -> "Axes":
    """Draw a release; errors carry the name of its method."""
    validate.one_of(
        WHERE, kind, RELEASE_PLOTS, remedy='Draw it of a synopsis: synopsis.plot("tree").' if kind == "tree" else ""
    )
    if kind == "curve":
        choice = release.details.get("choice")
        if choice is None:
            remedy = 'Fit KMeans("auto"), or draw the curve of a synopsis: synopsis.plot("curve").'
            validate.refuse(f"{WHERE}.kind", "a release whose number of clusters was chosen", "curve", remedy=remedy)
        drawn = plot_curve(choice["n_clusters"], choice["held_out"], choice["held_out_error"], choice["best"], ax, where=WHERE)
    else:
        picked = None if columns is None else validate.columns(f"{WHERE}.columns", columns, release.columns)
        drawn = (_plot_map if kind == "map" else _plot_profiles)(release, picked, ax)
    return mark_seeded(drawn, seeded=release.receipt.seeded)


def _plot_map(release: "Release", picked: list[int] | None, ax: Any) -> "Axes":
    """Draw one or two columns as they are, of more the plane in which the centres differ most."""
    if picked is None and release.n_features <= 2:
        picked = list(range(release.n_features))
    counts, counted = np.where(release.stands_out, release.cluster_counts, 0.0), release.receipt.counted
    dates = [False, False]
    if picked is None:
        plane = plane_of_centers(release)
        names = [axis_words(*pair, spread="spread") for pair in zip(plane.shares, plane.loadings, strict=True)]
        places, errors = plane.positions, plane.errors
    else:
        if len(picked) > 2:
            validate.refuse(f"{WHERE}.columns", "one or two columns of a map", picked, remedy="Name two, or leave them out.")
        known = coordinates_of(release.domain, release.columns)
        drawn = [known[index] for index in picked]
        names = [f"{plain_text(one.name)} (share)" if one.is_share else plain_text(one.name) for one in drawn]
        dates[: len(drawn)] = [one.is_date for one in drawn]
        places, errors = release.cluster_centers[:, picked], release.center_errors[:, picked]
        if len(picked) == 1:
            names = [*names, f"{counted} (noisy)"]
            places, errors = np.column_stack([places, release.cluster_counts]), np.column_stack([errors, release.count_errors])
    return plot_map(places, errors, counts, names=names, dates=dates, counted=counted, ax=ax)


def _plot_profiles(release: "Release", picked: list[int] | None, ax: Any) -> "Axes":
    """Draw all columns, of very many those that tell the centres apart best, in their own order."""
    if picked is None:
        picked = sorted(rank_columns(release)[:DRAWN_COLUMNS])
    known = coordinates_of(release.domain, release.columns)
    drawn = [known[index] for index in picked]
    centers, errors = release.cluster_centers[:, picked], release.center_errors[:, picked]
    return plot_profiles(
        centers,
        errors,
        release.cluster_counts,
        units=np.array([one.unit for one in drawn]),
        names=[one.name for one in drawn],
        words=[
            [one.words(value, error)[0] for one, value, error in zip(drawn, *line, strict=True)]
            for line in zip(centers.tolist(), errors.tolist(), strict=True)
        ],
        ax=ax,
    )
