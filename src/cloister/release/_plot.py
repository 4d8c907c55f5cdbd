# SPDX-License-Identifier: Apache-2.0
"""Pictures of a release: its numbers, arranged for the functions of :mod:`cloister.plotting`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister import validate
from cloister.columns import ColumnDomain, Date, FloatArray, Number
from cloister.plotting import mark_seeded, plot_curve, plot_map, plot_profiles
from cloister.release._geometry import plane_of_centers, rank_columns
from cloister.release._profile import date_of, described_columns
from cloister.text import plain_text, with_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cloister.release._release import Release

__all__ = ["RELEASE_PLOTS", "plot_release"]

WHERE = "Release.plot"
RELEASE_PLOTS = ("map", "profiles", "curve")
DRAWN_COLUMNS = 40  # of a heat map, unless columns are named
LEAST_SHARE = 0.005  # of the spread between centres, that an axis is named for
HELD_OUT = "held-out mean squared distance"


def plot_release(release: "Release", kind: str, columns: Sequence[int | str] | None, ax: Any) -> "Axes":
    """Draw a release; errors carry the name of its method."""
    validate.one_of(
        WHERE, kind, RELEASE_PLOTS, remedy='Draw it of a synopsis: synopsis.plot("tree").' if kind == "tree" else ""
    )
    if kind == "curve":
        drawn = _plot_choice(release, ax)
    else:
        picked = None if columns is None else validate.columns(f"{WHERE}.columns", columns, release.columns)
        drawn = (_plot_map if kind == "map" else _plot_profiles)(release, picked, ax)
    return mark_seeded(drawn, seeded=release.receipt.seeded)


def _plot_choice(release: "Release", ax: Any) -> "Axes":
    """Draw the curve that spoke for the number of clusters, where it was chosen."""
    choice = release.details.get("choice")
    if choice is None:
        remedy = 'Fit KMeans("auto"), or draw the curve of a synopsis: synopsis.plot("curve").'
        validate.refuse(f"{WHERE}.kind", "a release whose number of clusters was chosen", "curve", remedy=remedy)
    return plot_curve(
        choice["n_clusters"], choice["held_out"], choice["held_out_error"], choice["best"], ax, name=HELD_OUT, where=WHERE
    )


def _plot_map(release: "Release", picked: list[int] | None, ax: Any) -> "Axes":
    """Draw one or two columns as they are, of more the plane in which the centres differ most."""
    if picked is None and release.n_features <= 2:
        picked = list(range(release.n_features))
    if picked is None:
        plane = plane_of_centers(release)
        names = [_axis_name(*pair) for pair in zip(plane.shares, plane.loadings, strict=True)]
        counts, counted = _seen_counts(release), release.receipt.counted
        return plot_map(plane.positions, plane.errors, counts, names=names, counted=counted, where=WHERE, ax=ax)
    if len(picked) > 2:
        validate.refuse(f"{WHERE}.columns", "one or two columns of a map", picked, remedy="Name two, or leave them out.")
    kinds, names = _date_columns(release), [_label(release, index) for index in picked]
    places = [release.cluster_centers[:, index] for index in picked]
    errors, dates = [release.center_errors[:, index] for index in picked], [index in kinds for index in picked]
    if len(picked) == 1:
        places, errors = [*places, release.cluster_counts], [*errors, release.count_errors]
        names, dates = [*names, f"{release.receipt.counted} (noisy)"], [*dates, False]
    stacked, spreads = np.stack(places, axis=1), np.stack(errors, axis=1)
    counts, counted = _seen_counts(release), release.receipt.counted
    return plot_map(stacked, spreads, counts, names=names, dates=dates, counted=counted, where=WHERE, ax=ax)


def _seen_counts(release: "Release") -> FloatArray:
    """Return the noisy numbers of rows; none of clusters that cannot be told from noise."""
    return np.where(release.stands_out, release.cluster_counts, 0.0)


def _plot_profiles(release: "Release", picked: list[int] | None, ax: Any) -> "Axes":
    """Draw all columns, of very many those that tell the centres apart best, in their own order."""
    if picked is None:
        picked = sorted(rank_columns(release)[:DRAWN_COLUMNS])
    dated, shares = _date_columns(release), _share_columns(release)
    centers, errors = release.cluster_centers[:, picked], release.center_errors[:, picked]
    words = [
        [_words(value, error, dated.get(index), index in shares) for value, error, index in zip(*pair, picked, strict=True)]
        for pair in zip(centers.tolist(), errors.tolist(), strict=True)
    ]
    names = [release.columns[index] for index in picked]
    return plot_profiles(centers, errors, release.cluster_counts, names=names, words=words, where=WHERE, ax=ax)


def _words(value: float, error: float, dated: Date | None, share: bool) -> str:
    if dated is not None:
        return date_of(dated, value)
    return f"{100 * value:.0f} %" if share else with_error(value, error)[0]


def _date_columns(release: "Release") -> dict[int, Date]:
    """Return the coordinates that are dates."""
    return {cut.start: declared for _, declared, cut in described_columns(release) if isinstance(declared, Date)}


def _share_columns(release: "Release") -> set[int]:
    """Return the coordinates that are shares: of levels, of yes, of missing values."""
    if not isinstance(release.domain, ColumnDomain):
        return set()
    found = set()
    for _, declared, cut in described_columns(release):
        found |= set(range(cut.start + isinstance(declared, Number | Date), cut.stop))
    return found


def _label(release: "Release", index: int) -> str:
    name = plain_text(release.columns[index]).replace("$", r"\$")
    return f"{name} (share)" if index in _share_columns(release) else name


def _axis_name(share: float, loadings: list[list[Any]]) -> str:
    """Name an axis by the columns that grow or fall along it, and the part of the spread between centres it shows."""
    if not loadings or share < LEAST_SHARE:
        return "no spread"
    parts = [f"{plain_text(name)} {'up' if weight > 0 else 'down'}".replace("$", r"\$") for name, weight in loadings]
    return f"{', '.join(parts)} ({share:.0%} of the spread)"
